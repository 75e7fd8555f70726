//! Text columns that are dictionaries, as ours are, read by the numbers of their entries: the
//! library makes a string of its own of each row, which takes several times as long.

use crate::names::Name;
use crate::rows::Recording;
use document::unprintable;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;

/// The names of a column in a row group, `None` for a null. `Ok(None)` where a page is encoded in
/// another way: then the library must read it.
pub fn names(
    mut pages: Box<dyn PageReader>,
    rows: usize,
    nullable: bool,
    to: &mut Recording,
) -> Result<Option<Vec<Option<Name>>>, ParquetError> {
    let mut entries = Vec::new();
    let mut all = Vec::with_capacity(rows);
    let mut numbers = Vec::new();
    let mut levels = Vec::new();
    while let Some(page) = pages.get_next_page()? {
        match page {
            Page::DictionaryPage {
                buf, num_values, ..
            } => entries = dictionary(&buf, num_values as usize, to)?,
            Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding,
                ..
            } => {
                let known = matches!(
                    encoding,
                    Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY
                );
                if !known || (nullable && def_level_encoding != Encoding::RLE) {
                    return Ok(None);
                }
                let count = num_values as usize;
                // A page of a few bytes can stand for 2^32 rows.
                if count > rows - all.len() {
                    return Err(wrong(&format!("more than the {rows} values that must be")));
                }
                let page = DataPage {
                    buf: &buf,
                    count,
                    nullable,
                };
                page.read(&entries, &mut numbers, &mut levels, &mut all)?;
            }
            Page::DataPageV2 { .. } => return Ok(None),
        }
    }
    if all.len() == rows {
        Ok(Some(all))
    } else {
        Err(wrong(&format!("{} values where {rows} must be", all.len())))
    }
}

/// A page of `count` values whose entries stand in a dictionary.
struct DataPage<'p> {
    buf: &'p [u8],
    count: usize,
    nullable: bool,
}

impl DataPage<'_> {
    /// Adds the values to `all`; `numbers` and `levels` are room to work in.
    fn read(
        &self,
        entries: &[Name],
        numbers: &mut Vec<u32>,
        levels: &mut Vec<u32>,
        all: &mut Vec<Option<Name>>,
    ) -> Result<(), ParquetError> {
        let mut rest = self.buf;
        levels.clear();
        if self.nullable {
            let (length, behind) = rest.split_first_chunk::<4>().ok_or_else(short)?;
            let length = u32::from_le_bytes(*length) as usize;
            let (packed, behind) = behind.split_at_checked(length).ok_or_else(short)?;
            hybrid(packed, 1, self.count, levels)?;
            rest = behind;
        }
        let there = if self.nullable {
            levels.iter().filter(|level| **level > 0).count()
        } else {
            self.count
        };
        numbers.clear();
        if there > 0 {
            let (width, packed) = rest.split_first().ok_or_else(short)?;
            hybrid(packed, u32::from(*width), there, numbers)?;
        }
        let entry = |number: u32| {
            entries
                .get(number as usize)
                .copied()
                .ok_or_else(|| wrong("an entry that its dictionary lacks"))
        };
        if !self.nullable {
            for number in &*numbers {
                all.push(Some(entry(*number)?));
            }
            return Ok(());
        }
        let mut there = numbers.iter();
        for level in &*levels {
            let number = if *level > 0 { there.next() } else { None };
            all.push(number.map(|number| entry(*number)).transpose()?);
        }
        Ok(())
    }
}

fn wrong(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

fn short() -> ParquetError {
    wrong("a page that is cut short")
}

/// Bytes of a name: far more than one needs, and few enough that what repeats it for each row stays
/// small.
const LONGEST_NAME: usize = 4096;

/// Refuses a name that would steer a terminal, or that is too long to be one.
pub fn check_name(text: &str) -> Result<(), ParquetError> {
    if text.len() > LONGEST_NAME {
        let start: String = text.chars().take(40).collect();
        let (length, start) = (text.len(), start.escape_debug());
        return Err(wrong(&format!(
            "a name of {length} bytes, \"{start}...\"; one may have up to {LONGEST_NAME}"
        )));
    }
    if text.contains(unprintable) {
        Err(wrong(&format!(
            "a name with a control character, \"{}\"",
            text.escape_debug()
        )))
    } else {
        Ok(())
    }
}

/// The entries of a dictionary page: each a length of four bytes and its text.
fn dictionary(
    mut bytes: &[u8],
    count: usize,
    to: &mut Recording,
) -> Result<Vec<Name>, ParquetError> {
    let mut entries = Vec::new();
    for _ in 0..count {
        let (length, behind) = bytes.split_first_chunk::<4>().ok_or_else(short)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (text, behind) = behind.split_at_checked(length).ok_or_else(short)?;
        let text = std::str::from_utf8(text).map_err(|_| wrong("a text that is not UTF-8"))?;
        check_name(text)?;
        entries.push(to.name(text));
        bytes = behind;
    }
    Ok(entries)
}

/// Reads `count` numbers of `width` bits each, in Parquet's hybrid of runs and packed groups of
/// eight.
fn hybrid(
    mut bytes: &[u8],
    width: u32,
    count: usize,
    numbers: &mut Vec<u32>,
) -> Result<(), ParquetError> {
    if width > 32 {
        return Err(wrong("numbers of more than 32 bits"));
    }
    while numbers.len() < count {
        let (header, behind) = varint(bytes)?;
        bytes = behind;
        let left = count - numbers.len();
        if header & 1 == 0 {
            let run = ((header >> 1) as usize).min(left);
            let (value, behind) = bytes
                .split_at_checked(width.div_ceil(8) as usize)
                .ok_or_else(short)?;
            let value = value
                .iter()
                .rev()
                .fold(0, |value, byte| value << 8 | u32::from(*byte));
            if run == 0 {
                return Err(wrong("a run of nothing"));
            }
            numbers.extend(std::iter::repeat_n(value, run));
            bytes = behind;
        } else {
            let groups = (header >> 1) as usize;
            // The last group may be cut short where its numbers end.
            let length = groups.saturating_mul(width as usize).min(bytes.len());
            let (packed, behind) = bytes.split_at(length);
            let values = groups.saturating_mul(8).min(left);
            if values == 0 || (packed.len() * 8) < values * width as usize {
                return Err(short());
            }
            unpack(packed, width, values, numbers);
            bytes = behind;
        }
    }
    Ok(())
}

fn unpack(packed: &[u8], width: u32, values: usize, numbers: &mut Vec<u32>) {
    let mask = if width == 32 {
        u32::MAX
    } else {
        (1 << width) - 1
    };
    let (mut held, mut bits, mut bytes) = (0_u64, 0, packed.iter());
    for _ in 0..values {
        while bits < width {
            held |= u64::from(bytes.next().copied().unwrap_or(0)) << bits;
            bits += 8;
        }
        numbers.push(held as u32 & mask);
        held >>= width;
        bits -= width;
    }
}

fn varint(bytes: &[u8]) -> Result<(u64, &[u8]), ParquetError> {
    let mut value = 0;
    for (place, byte) in bytes.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok((value, &bytes[place + 1..]));
        }
    }
    Err(short())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(bytes: &[u8], width: u32, count: usize) -> Result<Vec<u32>, String> {
        let mut numbers = Vec::new();
        hybrid(bytes, width, count, &mut numbers)
            .map(|()| numbers)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn runs_and_packed_groups_as_the_format_has_them() {
        // The format's own example: 0 to 7 in three bits each.
        assert_eq!(
            numbers(&[0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010], 3, 8).unwrap(),
            [0, 1, 2, 3, 4, 5, 6, 7]
        );
        assert_eq!(
            numbers(&[8, 5, 0b11, 0b0000_0010], 1, 6).unwrap(),
            [5, 5, 5, 5, 0, 1]
        );
        assert_eq!(numbers(&[6], 0, 3).unwrap(), [0, 0, 0]);
    }

    #[test]
    fn damage_is_an_error() {
        for (bytes, width) in [
            (&[][..], 1),
            (&[0], 0),
            (&[6], 8),
            (&[3], 3),
            (&[0x80], 1),
            (&[2, 1], 40),
            (&[0xff; 12], 1),
        ] {
            assert!(numbers(bytes, width, 100).is_err(), "{bytes:?}");
        }
    }
}

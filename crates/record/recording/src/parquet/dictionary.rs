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
    let (mut entries, mut all) = (Vec::new(), Vec::with_capacity(rows));
    while let Some(page) = pages.get_next_page()? {
        match page {
            Page::DictionaryPage {
                buf, num_values, ..
            } => entries = dictionary(&buf, num_values, to)?,
            Page::DataPage {
                buf,
                num_values,
                encoding: Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY,
                def_level_encoding,
                ..
            } if !nullable || def_level_encoding == Encoding::RLE => {
                let count = num_values as usize;
                if count > rows - all.len() {
                    return Err(wrong(&format!("more than the {rows} values that must be")));
                }
                add(&buf, count, nullable, &entries, &mut all)?;
            }
            _ => return Ok(None),
        }
    }
    if all.len() == rows {
        Ok(Some(all))
    } else {
        Err(wrong(&format!("{} values where {rows} must be", all.len())))
    }
}

/// Adds the values of a page, whose entries stand in a dictionary.
fn add(
    mut page: &[u8],
    count: usize,
    nullable: bool,
    entries: &[Name],
    all: &mut Vec<Option<Name>>,
) -> Result<(), ParquetError> {
    let levels = if nullable {
        hybrid(counted(&mut page)?, 1, count)?
    } else {
        vec![1; count]
    };
    let there = levels.iter().filter(|level| **level > 0).count();
    let numbers = if there > 0 {
        let width = page.split_off_first().ok_or_else(short)?;
        hybrid(page, u32::from(*width), there)?
    } else {
        Vec::new()
    };
    let mut numbers = numbers.into_iter();
    for level in levels {
        let number = if level > 0 { numbers.next() } else { None };
        let entry = number.map(|number| entries.get(number as usize).copied());
        let lacks = || wrong("an entry that its dictionary lacks");
        all.push(entry.map(|entry| entry.ok_or_else(lacks)).transpose()?);
    }
    Ok(())
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

/// The entries of a dictionary page.
fn dictionary(mut bytes: &[u8], count: u32, to: &mut Recording) -> Result<Vec<Name>, ParquetError> {
    let mut entry = |_| {
        let text = std::str::from_utf8(counted(&mut bytes)?);
        let text = text.map_err(|_| wrong("a text that is not UTF-8"))?;
        check_name(text)?;
        Ok(to.name(text))
    };
    (0..count).map(&mut entry).collect()
}

/// Takes bytes whose number stands before them, in four.
fn counted<'b>(bytes: &mut &'b [u8]) -> Result<&'b [u8], ParquetError> {
    let (length, behind) = bytes.split_first_chunk::<4>().ok_or_else(short)?;
    *bytes = behind;
    let length = u32::from_le_bytes(*length) as usize;
    bytes.split_off(..length).ok_or_else(short)
}

/// Reads `count` numbers of `width` bits each, in Parquet's hybrid of runs and packed groups of
/// eight.
fn hybrid(mut bytes: &[u8], width: u32, count: usize) -> Result<Vec<u32>, ParquetError> {
    if width > 32 {
        return Err(wrong("numbers of more than 32 bits"));
    }
    let mut numbers = Vec::with_capacity(count);
    while numbers.len() < count {
        let (header, left) = (varint(&mut bytes)?, count - numbers.len());
        let length = (header >> 1) as usize;
        if header & 1 == 0 {
            let value = bytes.split_off(..width.div_ceil(8) as usize);
            let value = value
                .ok_or_else(short)?
                .iter()
                .rev()
                .fold(0, |value, byte| value << 8 | u32::from(*byte));
            if length == 0 {
                return Err(wrong("a run of nothing"));
            }
            numbers.extend(std::iter::repeat_n(value, length.min(left)));
        } else {
            // The last group may be cut off behind its last value.
            let packed = length.saturating_mul(width as usize).min(bytes.len());
            let (packed, behind) = bytes.split_at(packed);
            let values = length.saturating_mul(8).min(left);
            if values == 0 || packed.len() * 8 < values * width as usize {
                return Err(short());
            }
            unpack(packed, width, values, &mut numbers);
            bytes = behind;
        }
    }
    Ok(numbers)
}

fn unpack(packed: &[u8], width: u32, values: usize, numbers: &mut Vec<u32>) {
    let (mut held, mut bits, mut bytes) = (0_u64, 0, packed.iter());
    for _ in 0..values {
        while bits < width {
            held |= u64::from(bytes.next().copied().unwrap_or(0)) << bits;
            bits += 8;
        }
        numbers.push((held & ((1 << width) - 1)) as u32);
        held >>= width;
        bits -= width;
    }
}

fn varint(bytes: &mut &[u8]) -> Result<u64, ParquetError> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let byte = bytes.split_off_first().ok_or_else(short)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(short())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(bytes: &[u8], width: u32, count: usize) -> Result<Vec<u32>, String> {
        hybrid(bytes, width, count).map_err(|error| error.to_string())
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

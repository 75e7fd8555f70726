//! The sizes that pages claim, looked at before a page is read: the library makes room for whatever
//! a page's header says, up to 2 GiB, and a file of some hundred bytes can say so.
//!
//! A page's header is a structure in Thrift's compact protocol; its first three fields are the kind
//! and the two sizes.

use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

/// Bytes of a page, unpacked. Writers aim at 1 MiB or less; a dictionary of long names may have
/// more.
pub const MOST_PAGE: u64 = 64 << 20;

/// Bytes of a column of a row group, unpacked: all its pages may be held at a time.
pub const MOST_COLUMN: u64 = 512 << 20;

/// Bytes of a page's header: it may hold the least and the greatest name of the page.
const MOST_HEADER: u64 = 1 << 20;

/// Refuses a column of a row group in which a page, or all pages together, claim more than may be.
pub fn check(file: &File, column: &ColumnChunkMetaData) -> Result<(), ParquetError> {
    let (mut at, length) = column.byte_range();
    let end = at
        .checked_add(length)
        .ok_or_else(|| wrong("a column beyond the end of the file"))?;
    let mut file = BufReader::with_capacity(512, file);
    let mut sum = 0_u64;
    while at < end {
        file.seek(SeekFrom::Start(at))?;
        let (header, [unpacked, packed]) = page_sizes(&mut file)?;
        if unpacked > MOST_PAGE {
            return Err(wrong(&format!(
                "a page that claims {unpacked} bytes; one may have up to {MOST_PAGE}"
            )));
        }
        sum += unpacked;
        if sum > MOST_COLUMN {
            return Err(wrong(&format!(
                "a column of a row group of more than {MOST_COLUMN} bytes"
            )));
        }
        let left = end - at;
        if header + packed > left {
            return Err(wrong(&format!(
                "a page of {packed} bytes where {left} are left"
            )));
        }
        at += header + packed;
    }
    Ok(())
}

/// The length of a page's header, and the page's sizes unpacked and packed.
fn page_sizes(file: &mut impl Read) -> Result<(u64, [u64; 2]), ParquetError> {
    let mut bytes = Bytes {
        from: file.take(MOST_HEADER),
        read: 0,
    };
    let mut sizes = [None, None];
    let mut field = 0;
    loop {
        let (number, kind) = match bytes.field(field)? {
            None => break,
            Some(next) => next,
        };
        field = number;
        match (number, kind) {
            (2 | 3, I32) => {
                let size =
                    u64::try_from(bytes.signed()?).map_err(|_| wrong("a page of negative size"))?;
                sizes[usize::from(number == 3)] = Some(size);
            }
            _ => bytes.skip(kind, 0)?,
        }
    }
    match sizes {
        [Some(unpacked), Some(packed)] => Ok((bytes.read, [unpacked, packed])),
        _ => Err(wrong("a page without its size")),
    }
}

const I32: u8 = 5;

/// Structures in each other; a page's header has three.
const DEEPEST: u32 = 16;

struct Bytes<R> {
    from: R,
    read: u64,
}

impl<R: Read> Bytes<R> {
    fn byte(&mut self) -> Result<u8, ParquetError> {
        let mut byte = [0];
        self.from
            .read_exact(&mut byte)
            .map_err(|_| wrong("a page's header that is cut short, or has no end"))?;
        self.read += 1;
        Ok(byte[0])
    }

    fn varint(&mut self) -> Result<u64, ParquetError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(wrong("a number of more than 64 bits in a page's header"))
    }

    fn signed(&mut self) -> Result<i64, ParquetError> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// Number and kind of the next field, after the field of this number; `None` at the structure's
    /// end.
    fn field(&mut self, before: i64) -> Result<Option<(i64, u8)>, ParquetError> {
        let byte = self.byte()?;
        match (byte >> 4, byte & 0xf) {
            (_, 0) => Ok(None),
            (0, kind) => Ok(Some((self.signed()?, kind))),
            (more, kind) => Ok(Some((before.saturating_add(i64::from(more)), kind))),
        }
    }

    /// Passes over a value.
    fn skip(&mut self, kind: u8, depth: u32) -> Result<(), ParquetError> {
        if depth > DEEPEST {
            return Err(wrong("a page's header of too many parts in each other"));
        }
        match kind {
            // The kind is the value.
            1 | 2 => {}
            3 => _ = self.byte()?,
            4..=6 => _ = self.varint()?,
            7 => self.pass(8)?,
            8 => {
                let length = self.varint()?;
                self.pass(length)?;
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 {
                    self.varint()?
                } else {
                    u64::from(head >> 4)
                };
                // In a list a truth value takes a byte of its own.
                for _ in 0..count {
                    match head & 0xf {
                        1 | 2 => _ = self.byte()?,
                        kind => self.skip(kind, depth + 1)?,
                    }
                }
            }
            12 => {
                let mut field = 0;
                while let Some((number, kind)) = self.field(field)? {
                    field = number;
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => return Err(wrong("a value of an unknown kind in a page's header")),
        }
        Ok(())
    }

    fn pass(&mut self, length: u64) -> Result<(), ParquetError> {
        (0..length).try_for_each(|_| self.byte().map(drop))
    }
}

fn wrong(what: &str) -> ParquetError {
    ParquetError::General(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of a data page: kind 0, the sizes, and a structure with a list and a text, as
    /// statistics are.
    fn header(unpacked: u32, packed: u32) -> Vec<u8> {
        let mut bytes = vec![0x15, 0x00];
        for size in [unpacked, packed] {
            bytes.push(0x15);
            let mut rest = u64::from(size) << 1;
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
        }
        bytes.extend([
            0x2c, 0x19, 0x25, 0x02, 0x04, 0x18, 0x03, b'a', b'b', b'c', 0x11, 0x00, 0x00,
        ]);
        bytes
    }

    #[test]
    fn sizes_are_read_and_what_stands_behind_them_is_passed_over() {
        for (unpacked, packed) in [(0, 0), (100, 64), (i32::MAX.cast_unsigned(), 3)] {
            let bytes = header(unpacked, packed);
            let read = page_sizes(&mut bytes.as_slice()).unwrap();
            assert_eq!(read, (bytes.len() as u64, [unpacked.into(), packed.into()]));
        }
    }

    #[test]
    fn a_header_cut_short_or_without_end_is_an_error() {
        let bytes = header(100, 64);
        for length in 0..bytes.len() {
            assert!(page_sizes(&mut &bytes[..length]).is_err(), "{length} bytes");
        }
        for byte in 0..=255 {
            let _ = page_sizes(&mut std::io::repeat(byte)).unwrap_err();
        }
    }
}

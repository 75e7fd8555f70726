//! Bytes, numbers and texts of a file, and what is compressed in it.

use crate::ftrace::input::RECORD_AGAIN;
use crate::text::number;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// The bytes that the file begins with.
pub const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// An error in a file, with its place.
pub struct Bad {
    /// The byte, from 0.
    pub at: u64,
    pub what: String,
    pub right: &'static str,
}

impl Bad {
    pub fn new(at: u64, what: impl Into<String>) -> Self {
        let what = what.into();
        let right = RECORD_AGAIN;
        Self { at, what, right }
    }
}

/// More than any part but the events themselves has: kallsyms and the formats take some 10 MB.
const MOST_BYTES: u64 = 256 << 20;
/// Texts end in a zero byte; longer ones are none.
const LONGEST_TEXT: usize = 4096;

/// A file that is read from its beginning, with jumps.
pub struct File<R> {
    input: R,
    pub big: bool,
    pub at: u64,
}

impl<R: Read + Seek> File<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            big: false,
            at: 0,
        }
    }

    /// Bytes of the file as one of their own, in the same byte order.
    pub fn within(&self, bytes: Vec<u8>) -> File<Cursor<Vec<u8>>> {
        File {
            big: self.big,
            ..File::new(Cursor::new(bytes))
        }
    }

    pub fn bad(&self, what: impl Into<String>) -> Bad {
        Bad::new(self.at, what)
    }

    pub fn seek(&mut self, to: u64) -> Result<(), Bad> {
        self.input
            .seek(SeekFrom::Start(to))
            .map_err(|error| self.bad(format!("cannot be read: {error}")))?;
        self.at = to;
        Ok(())
    }

    /// The given number of bytes, neither more nor less.
    pub fn bytes(&mut self, count: u64) -> Result<Vec<u8>, Bad> {
        if count > MOST_BYTES {
            return Err(self.bad(format!("a part of {count} bytes is longer than any can be")));
        }
        // The file may be shorter than it says: memory grows with what is there.
        let mut bytes = Vec::new();
        (&mut self.input)
            .take(count)
            .read_to_end(&mut bytes)
            .map_err(|error| self.bad(format!("cannot be read: {error}")))?;
        if (bytes.len() as u64) < count {
            return Err(self.bad(format!(
                "the file ends where {count} bytes should follow, {} are there",
                bytes.len()
            )));
        }
        self.at += count;
        Ok(bytes)
    }

    fn number<const N: usize>(&mut self) -> Result<u64, Bad> {
        let mut bytes = [0; N];
        self.input
            .read_exact(&mut bytes)
            .map_err(|_| self.bad(format!("the file ends where {N} bytes should follow")))?;
        self.at += N as u64;
        Ok(number(&bytes, self.big))
    }

    pub fn u8(&mut self) -> Result<u8, Bad> {
        self.number::<1>().map(|number| number as u8)
    }

    pub fn u16(&mut self) -> Result<u16, Bad> {
        self.number::<2>().map(|number| number as u16)
    }

    pub fn u32(&mut self) -> Result<u32, Bad> {
        self.number::<4>().map(|number| number as u32)
    }

    pub fn u64(&mut self) -> Result<u64, Bad> {
        self.number::<8>()
    }

    /// A text that ends in a zero byte.
    pub fn text(&mut self) -> Result<Vec<u8>, Bad> {
        let mut text = Vec::new();
        loop {
            match self.u8()? {
                0 => return Ok(text),
                _ if text.len() >= LONGEST_TEXT => return Err(self.bad("a text has no end")),
                byte => text.push(byte),
            }
        }
    }
}

/// The compression of parts of a file.
#[derive(Clone, Copy, Default, PartialEq)]
pub enum Compression {
    #[default]
    None,
    Zlib,
    Zstd,
}

impl Compression {
    pub fn find(name: &[u8]) -> Option<Self> {
        match name {
            b"none" => Some(Self::None),
            b"zlib" => Some(Self::Zlib),
            b"zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Unpacks a part that stands in the file as two lengths and the bytes.
    pub fn unpack(self, file: &mut File<impl Read + Seek>) -> Result<Vec<u8>, Bad> {
        let begin = file.at;
        let (packed, length) = (file.u32()?, file.u32()?);
        if u64::from(length) > MOST_BYTES {
            return Err(file.bad(format!(
                "a part of {length} bytes is longer than any can be"
            )));
        }
        let packed = file.bytes(packed.into())?;
        let unpacked = || -> io::Result<Vec<u8>> {
            let packed = packed.as_slice();
            let from: Box<dyn Read> = match self {
                Self::None => Box::new(packed),
                Self::Zlib => Box::new(flate2::read::ZlibDecoder::new(packed)),
                Self::Zstd => Box::new(
                    ruzstd::decoding::StreamingDecoder::new(packed).map_err(io::Error::other)?,
                ),
            };
            let mut bytes = Vec::new();
            // One byte more than there should be shows that there are too many.
            from.take(u64::from(length) + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bad = |what: String| Bad::new(begin, what);
        let bytes = unpacked()
            .map_err(|error| bad(format!("a compressed part cannot be unpacked: {error}")))?;
        if bytes.len() != length as usize {
            return Err(bad(format!(
                "a compressed part has not the {length} bytes that it should have"
            )));
        }
        Ok(bytes)
    }
}

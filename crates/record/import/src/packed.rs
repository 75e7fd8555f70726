//! Files that gzip, xz or zstd packed, and standard input, read as if they were plain files.

use crate::error::ImportError;
use crate::text::some_bytes;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Memory that unpacking xz may take at most: its highest setting takes 65 MiB.
const MOST_DICTIONARY_KIB: u32 = 128 * 1024;

/// Bytes that a packed file unpacks to at most: 64 GiB, hours of tracing.
const MOST_UNPACKED: u64 = 64 << 30;

/// A program that packs files.
#[derive(Clone, Copy)]
pub enum Packer {
    Gzip,
    Xz,
    Zstd,
}

impl Packer {
    /// The one that packed a file, by its first six bytes; `None` if none did.
    pub fn of_start(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
        }
    }

    /// The packed file, unpacked.
    pub fn unpack<'r>(self, packed: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
        Ok(match self {
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(packed)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(
                packed,
                true,
                MOST_DICTIONARY_KIB,
            )),
            Self::Zstd => {
                Box::new(ruzstd::decoding::StreamingDecoder::new(packed).map_err(io::Error::other)?)
            }
        })
    }

    /// The error of a packed file that does not unpack.
    pub fn damaged(self, file: &str, error: &io::Error) -> ImportError {
        ImportError::whole(
            file,
            format!("what {} packed is cut off or damaged: {error}", self.name()),
            "send the file again, whole",
        )
    }
}

/// The name of a file for people: `-` is standard input.
pub fn shown(path: &Path) -> String {
    if path == Path::new("-") {
        "stdin".to_owned()
    } else {
        path.display().to_string()
    }
}

/// The first bytes of a text in UTF-16, as Windows writes it.
const UTF_16: [u8; 2] = [0xff, 0xfe];

/// Opens a file of any length; a packed one, standard input (`-`) and `<(...)` of a shell unpacked,
/// and UTF-16 as UTF-8, in a temporary file that goes when it is closed. `name` is the file's name
/// for errors.
///
/// # Errors
/// It cannot be read; what packed it was cut off; there is no room for it unpacked.
pub fn open(path: &Path, name: &str) -> Result<File, ImportError> {
    let wrong = |error: io::Error| ImportError::unreadable(name, &error);
    if path == Path::new("-") {
        return spooled(&mut io::stdin().lock(), name);
    }
    if path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd") {
        return spooled(&mut File::open(path).map_err(wrong)?, name);
    }
    let mut file = disk::open(path).map_err(wrong)?;
    let mut start = Vec::new();
    (&mut file).take(6).read_to_end(&mut start).map_err(wrong)?;
    file.seek(SeekFrom::Start(0)).map_err(wrong)?;
    if Packer::of_start(&start).is_some() || start.starts_with(&UTF_16) {
        spooled(&mut file, name)
    } else {
        Ok(file)
    }
}

/// Copies an input into a temporary file, unpacked if it is packed.
pub fn spooled(input: &mut dyn Read, name: &str) -> Result<File, ImportError> {
    let no_room = |error: io::Error| {
        ImportError::whole(
            name,
            format!("it cannot be unpacked: {error}"),
            "make room where TMPDIR says",
        )
    };
    let mut input = BufReader::new(input);
    let mut start = Vec::new();
    (&mut input)
        .take(6)
        .read_to_end(&mut start)
        .map_err(no_room)?;
    let packer = Packer::of_start(&start);
    let mut whole = start.as_slice().chain(input);
    let mut out = tempfile::tempfile().map_err(no_room)?;
    let failed = |error: io::Error| match packer {
        Some(packer) => packer.damaged(name, &error),
        None => ImportError::unreadable(name, &error),
    };
    let mut from: Box<dyn Read + '_> = match packer {
        Some(packer) => packer.unpack(whole).map_err(failed)?,
        None if start.starts_with(&UTF_16) => {
            let mut bytes = Vec::new();
            (&mut whole)
                .take(disk::MOST_BYTES)
                .read_to_end(&mut bytes)
                .map_err(failed)?;
            let units = bytes[2..]
                .chunks_exact(2)
                .map(|of| u16::from_le_bytes([of[0], of[1]]));
            let text: String = char::decode_utf16(units)
                .map(|of| of.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect();
            Box::new(io::Cursor::new(text))
        }
        None => Box::new(whole),
    };
    let mut buffer = vec![0; 1 << 16];
    let mut length = 0;
    loop {
        let read = some_bytes(&mut from, &mut buffer).map_err(failed)?;
        if read == 0 {
            break;
        }
        length += read as u64;
        if length > MOST_UNPACKED {
            return Err(ImportError::whole(
                name,
                format!("it unpacks to more than {} GiB", MOST_UNPACKED >> 30),
                "trace for a shorter time",
            ));
        }
        out.write_all(&buffer[..read]).map_err(no_room)?;
    }
    out.seek(SeekFrom::Start(0)).map_err(no_room)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut file = spooled(&mut &bytes[..], "a.gz").map_err(|error| error.to_string())?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).unwrap();
        Ok(text)
    }

    #[test]
    fn what_was_packed_is_read_whatever_its_length_and_what_was_not_as_it_is() {
        let long = b"some words of a trace\n".repeat(20_000);
        for text in [&b""[..], b"abc", b"123456", &long] {
            assert_eq!(read(text).unwrap(), text);
            assert_eq!(read(&gzip(text)).unwrap(), text);
        }
        // Two files of gzip one after the other are one, as `cat` makes them.
        assert_eq!(
            read(&[gzip(b"abc"), gzip(b"def")].concat()).unwrap(),
            b"abcdef"
        );
    }

    #[test]
    fn what_windows_and_a_shell_hand_over_is_text() {
        let wide = "\u{feff}a line\nü\n".encode_utf16();
        let wide: Vec<u8> = wide.flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&wide).unwrap(), "a line\nü\n".as_bytes());
        assert_eq!(read(&wide[..3]).unwrap(), b"");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, &wide).unwrap();
        let held = File::open(&path).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&held);
        for path in [path, format!("/dev/fd/{number}").into()] {
            let mut text = String::new();
            open(&path, "log")
                .unwrap()
                .read_to_string(&mut text)
                .unwrap();
            assert_eq!(text, "a line\nü\n");
        }
    }

    #[test]
    fn what_is_cut_off_is_said_with_what_packed_it() {
        let packed = gzip(&b"some words of a trace\n".repeat(20_000));
        let error = read(&packed[..packed.len() / 2]).unwrap_err();
        assert!(
            error.starts_with("a.gz: what gzip packed is cut off or damaged"),
            "{error}"
        );
        let error = read(b"\x28\xb5\x2f\xfd").unwrap_err();
        assert!(
            error.contains("what zstd packed is cut off or damaged"),
            "{error}"
        );
    }
}

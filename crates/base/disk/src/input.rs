//! Opening what somebody named.

use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Longest text that is read whole: 64 MiB, far more than any platform file, workload or header of
/// a recording has.
pub const MOST_TEXT: u64 = 64 << 20;

/// Longest binary file that is read whole, such as a capture or a firmware image: 1 GiB.
pub const MOST_BYTES: u64 = 1 << 30;

/// Opens a regular file for reading. It may be of any length: for readers that hold a part of it at
/// a time.
///
/// # Errors
/// The system refuses; it is a folder, a FIFO, a socket or a device.
pub fn open(path: &Path) -> io::Result<File> {
    // Looked at before it is opened, because opening a FIFO waits for a writer.
    regular(fs::metadata(path)?.file_type())?;
    let file = File::open(path)?;
    regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a regular file whole, if it has at most `most` bytes. No more than that is ever held.
///
/// # Errors
/// As [`open`]; it is longer.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The length that the system tells may be wrong: a file may grow, and those of /proc have none.
    open(path)?
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= most {
        Ok(bytes)
    } else {
        Err(io::Error::new(
            ErrorKind::FileTooLarge,
            format!(
                "it has more than {} MiB, and nothing that is read here has",
                most >> 20
            ),
        ))
    }
}

/// Reads a text of at most [`MOST_TEXT`] bytes.
///
/// # Errors
/// As [`read`]; it is not UTF-8.
pub fn text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path, MOST_TEXT)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::new(
            ErrorKind::InvalidData,
            format!("it is not text (UTF-8) from byte {at} on"),
        )
    })
}

fn regular(kind: FileType) -> io::Result<()> {
    let what = match kind {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    };
    let right = "only a regular file is read; write what it gives into a file, and name that";
    Err(io::Error::new(
        ErrorKind::InvalidInput,
        format!("it is {what}: {right}"),
    ))
}

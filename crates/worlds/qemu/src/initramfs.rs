//! The files that a kernel finds when it starts, as an archive.

use crate::carried::write_whole;
use crate::{Error, Result};
use std::io::Write;
use std::path::Path;

/// A file of the archive.
pub struct Entry {
    name: String,
    mode: u32,
    contents: Vec<u8>,
    device: Option<(u32, u32)>,
}

/// The mode of a file that may be executed.
const PROGRAM: u32 = 0o100_755;

impl Entry {
    fn new(name: &str, mode: u32, contents: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.to_owned(),
            mode,
            contents: contents.into(),
            device: None,
        }
    }

    /// A folder.
    pub fn folder(name: &str) -> Self {
        Self::new(name, 0o040_755, [])
    }

    /// A copy of a file that may be executed.
    pub fn copy(name: &str, from: &Path) -> Result<Self> {
        let contents = std::fs::read(from).map_err(Error::file(from))?;
        Ok(Self::new(name, PROGRAM, contents))
    }

    fn device(name: &str, major: u32, minor: u32) -> Self {
        Self {
            device: Some((major, minor)),
            ..Self::new(name, 0o020_600, [])
        }
    }
}

/// The files that every guest has: busybox under the names of `programs`, a console, and the first
/// process.
pub fn basic(programs: &str, busybox: &Path, init: &str) -> Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = ["bin", "dev", "proc", "sys"]
        .into_iter()
        .map(Entry::folder)
        .collect();
    entries.push(Entry::device("dev/console", 5, 1));
    entries.push(Entry::device("dev/null", 1, 3));
    entries.extend(
        programs
            .split_whitespace()
            .map(|name| Entry::new(&format!("bin/{name}"), 0o120_777, "busybox")),
    );
    entries.push(Entry::copy("bin/busybox", busybox)?);
    entries.push(Entry::new("init", PROGRAM, init));
    Ok(entries)
}

/// Writes the archive, whole or not at all: another run may be reading it.
pub fn write(output: &Path, entries: &[Entry]) -> Result {
    write_whole(output, |file| {
        let mut archive = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        for (number, entry) in (1..).zip(entries) {
            let mut header = cpio::newc::Builder::new(&entry.name)
                .ino(number)
                .mode(entry.mode)
                .nlink(1);
            if let Some((major, minor)) = entry.device {
                header = header.rdev_major(major).rdev_minor(minor);
            }
            let mut writer = header.write(&mut archive, entry.contents.len() as u32);
            writer
                .write_all(&entry.contents)
                .and_then(|()| writer.finish().map(drop))
                .map_err(Error::file(output))?;
        }
        cpio::newc::trailer(&mut archive).map_err(Error::file(output))?;
        archive.finish().map(drop).map_err(Error::file(output))
    })
}

//! Folders, archives and packed files, and which of the forms a text has.

use super::files::{Files, place};
use super::state::{Counts, Dump, FORMS};
use super::{columns, unnamed};
use crate::error::ImportError;
use crate::packed::Packer;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The content of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// The counters at a moment.
    Dump(Dump),
    /// A table of what was counted.
    Table(Vec<Counts>),
}

/// Bytes that an unpacked input has at most.
const MOST_UNPACKED: u64 = disk::MOST_TEXT;
/// Bytes of a file of sysfs at most.
const PAGE: u64 = 64 * 1024;
/// Folders that are looked into at most, and how deep.
const MOST_FOLDERS: usize = 100_000;
const DEEPEST: usize = 16;

/// Reads a folder or a file.
///
/// # Errors
/// It cannot be read; it is none of the forms; it is cut off or damaged.
pub fn read_path(path: &Path) -> Result<Content, ImportError> {
    let file = path.display().to_string();
    if path.is_dir() {
        return folder(path, &file)?.dump(&file).map(Content::Dump);
    }
    let bytes = disk::read(path, MOST_UNPACKED).map_err(|error| unreadable(&file, &error))?;
    read_bytes(&file, &bytes)
}

/// Reads the folder of a machine's CPUs; `None` if the machine counts no idle states.
///
/// # Errors
/// The folder cannot be read; a state lacks a file.
pub fn read_live(path: &Path) -> Result<Option<Dump>, ImportError> {
    let file = path.display().to_string();
    let files = folder(path, &file)?;
    if files.is_empty() {
        return Ok(None);
    }
    files.dump(&file).map(Some)
}

fn unreadable(file: &str, error: &std::io::Error) -> ImportError {
    ImportError::whole(file, format!("cannot be read: {error}"), FORMS)
}

/// Reads what a file holds; `file` is its name, for errors.
///
/// # Errors
/// As [`read_path`].
pub fn read_bytes(file: &str, bytes: &[u8]) -> Result<Content, ImportError> {
    let unpacked;
    let bytes = match unpack(file, bytes)? {
        Some(of) => {
            unpacked = of;
            unpacked.as_slice()
        }
        None => bytes,
    };
    // A header of a tar archive has this word at 257.
    if bytes.get(257..262) == Some(b"ustar") {
        return archive(file, bytes).map(Content::Dump);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("it is neither text nor an archive, from byte {} on", error.valid_up_to());
        ImportError::whole(file, message, FORMS)
    })?;
    if columns::is_table(text) {
        return columns::read(file, text).map(Content::Table);
    }
    let named = named(file, text)?;
    match named.is_empty() {
        true => unnamed::read(file, text),
        false => named.dump(file),
    }
    .map(Content::Dump)
}

/// Lines `PATH:CONTENT`. Others are passed over: they may be a mail around the dump.
fn named(file: &str, text: &str) -> Result<Files, ImportError> {
    let mut files = Files::default();
    for (number, line) in (1..).zip(text.lines()) {
        // A mail's mark of a quotation is no part of the path.
        let line = line.trim_start_matches(['>', ' ', '\t']);
        if let Some((path, content)) = line.split_once(':') {
            files.take(path, content, file, number)?;
        }
    }
    Ok(files)
}

/// The bytes of a packed file; `None` if it is not packed.
fn unpack(file: &str, bytes: &[u8]) -> Result<Option<Vec<u8>>, ImportError> {
    let Some(packer) = Packer::of_start(bytes) else { return Ok(None) };
    let mut unpacked = Vec::new();
    let read = packer.unpack(bytes).and_then(|from| from.take(MOST_UNPACKED + 1).read_to_end(&mut unpacked));
    read.map_err(|error| packer.damaged(file, &error))?;
    if unpacked.len() as u64 > MOST_UNPACKED {
        let message = format!("it unpacks to more than {} MiB", MOST_UNPACKED >> 20);
        return Err(ImportError::whole(file, message, "pack the folders cpu*/cpuidle alone"));
    }
    Ok(Some(unpacked))
}

/// Reads a tar archive.
fn archive(file: &str, bytes: &[u8]) -> Result<Dump, ImportError> {
    let cut_off = |error: &dyn std::fmt::Display| {
        let message = format!("the archive is cut off or damaged: {error}");
        ImportError::whole(file, message, "pack it again, or send it whole")
    };
    let mut files = Files::default();
    let mut archive = tar::Archive::new(bytes);
    for entry in archive.entries().map_err(|error| cut_off(&error))? {
        let mut entry = entry.map_err(|error| cut_off(&error))?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if !entry.header().entry_type().is_file() || place(&path).is_none() {
            continue;
        }
        let mut text = String::new();
        let size = entry.size();
        let length = (&mut entry).take(PAGE).read_to_string(&mut text);
        let length = length.map_err(|error| cut_off(&format!("{path}: {error}")))?;
        if (length as u64) < size.min(PAGE) {
            return Err(cut_off(&format!("{path} has {length} of its {size} bytes")));
        }
        files.take(&path, &text, &format!("{file}: {path}"), 1)?;
    }
    files.dump(file)
}

/// Reads a folder of which CPUs' folders are a part.
fn folder(path: &Path, file: &str) -> Result<Files, ImportError> {
    let mut files = Files::default();
    let mut folders: Vec<(PathBuf, usize)> = vec![(path.to_owned(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = folders.pop() {
        seen += 1;
        if seen > MOST_FOLDERS || depth > DEEPEST {
            let message = format!("there are more than {MOST_FOLDERS} folders, or {DEEPEST} within each other");
            return Err(ImportError::whole(file, message, "name the folder of the CPUs: /sys/devices/system/cpu"));
        }
        let entries = std::fs::read_dir(&folder).map_err(|error| unreadable(&folder.display().to_string(), &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&folder.display().to_string(), &error))?;
            let at = entry.path();
            let shown = at.display().to_string();
            // Links are not followed: /sys has circles of them.
            let kind = entry.file_type().map_err(|error| unreadable(&shown, &error))?;
            let relative = at.strip_prefix(path).unwrap_or(&at).display().to_string();
            if kind.is_dir() {
                folders.push((at, depth + 1));
            } else if kind.is_file() && place(&relative).is_some() {
                let bytes = disk::read(&at, PAGE).map_err(|error| unreadable(&shown, &error))?;
                files.take(&relative, &String::from_utf8_lossy(&bytes), &shown, 1)?;
            }
        }
    }
    Ok(files)
}

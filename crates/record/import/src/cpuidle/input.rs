//! Folders, archives and texts, and which of the forms a text has.

use super::files::{Files, place};
use super::reader::read_text;
use super::state::{Content, Dump, FORMS};
use super::unnamed;
use crate::error::ImportError;
use crate::packed::{Packer, spooled};
use crate::text;
use std::io::Read;
use std::path::Path;

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
    let file = crate::shown(path);
    if path.is_dir() {
        return folder(path, &file)?.dump(&file, "usage").map(Content::Dump);
    }
    read(&file, crate::open(path, &file)?)
}

/// Reads the states of a folder, with or without counts, or those of a file.
///
/// # Errors
/// As [`read_path`]; it is a table of what was counted.
pub fn read_states(path: &Path) -> Result<Dump, ImportError> {
    let file = crate::shown(path);
    if path.is_dir() {
        return folder(path, &file)?.dump(&file, "name");
    }
    match read_path(path)? {
        Content::Dump(dump) => Ok(dump),
        Content::Table(_) => Err(ImportError::whole(
            &file,
            "it is a table of what was counted",
            FORMS,
        )),
    }
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
    files.dump(&file, "usage").map(Some)
}

fn unreadable(file: &str, error: &std::io::Error) -> ImportError {
    ImportError::whole(file, format!("cannot be read: {error}"), FORMS)
}

/// Reads what a file holds, packed or not; `file` is its name, for errors.
///
/// # Errors
/// As [`read_path`].
pub fn read_bytes(file: &str, bytes: &[u8]) -> Result<Content, ImportError> {
    match Packer::of_start(bytes) {
        Some(_) => read(file, spooled(&mut &bytes[..], file)?),
        None => read(file, bytes),
    }
}

fn read(file: &str, mut input: impl Read) -> Result<Content, ImportError> {
    let mut start = Vec::new();
    (&mut input)
        .take(262)
        .read_to_end(&mut start)
        .map_err(|error| unreadable(file, &error))?;
    let start = start.as_slice();
    // A header of a tar archive has this word at 257.
    if start.ends_with(b"ustar") {
        return archive(file, start.chain(input)).map(Content::Dump);
    }
    if let Err(error) = std::str::from_utf8(start)
        && error.error_len().is_some()
    {
        return Err(ImportError::whole(
            file,
            format!(
                "it is neither text nor an archive, from byte {} on",
                error.valid_up_to()
            ),
            FORMS,
        ));
    }
    let text = text::text(start.chain(input), file, None)?;
    let read = read_text(file, &text)?;
    if read.is_empty() {
        return unnamed::read(file, &text).map(Content::Dump);
    }
    read.content(file)
}

/// Reads a tar archive.
fn archive(file: &str, input: impl Read) -> Result<Dump, ImportError> {
    let cut_off = |error: &dyn std::fmt::Display| {
        ImportError::whole(
            file,
            format!("the archive is cut off or damaged: {error}"),
            "pack it again, or send it whole",
        )
    };
    let mut files = Files::default();
    let mut archive = tar::Archive::new(input);
    for entry in archive.entries().map_err(|error| cut_off(&error))? {
        let mut entry = entry.map_err(|error| cut_off(&error))?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if !entry.header().entry_type().is_file() || place(&path).is_none() {
            continue;
        }
        let mut text = String::new();
        let size = entry.size();
        let length = (&mut entry)
            .take(PAGE)
            .read_to_string(&mut text)
            .map_err(|error| cut_off(&format!("{path}: {error}")))?;
        if (length as u64) < size.min(PAGE) {
            return Err(cut_off(&format!("{path} has {length} of its {size} bytes")));
        }
        files.take(&path, &text, (&format!("{file}: {path}"), 1))?;
    }
    files.dump(file, "usage")
}

/// Reads a folder of which CPUs' folders are a part.
fn folder(path: &Path, file: &str) -> Result<Files, ImportError> {
    let mut files = Files::default();
    let mut folders = vec![(path.to_owned(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = folders.pop() {
        seen += 1;
        if seen > MOST_FOLDERS || depth > DEEPEST {
            return Err(ImportError::whole(
                file,
                format!(
                    "there are more than {MOST_FOLDERS} folders, or {DEEPEST} within each other"
                ),
                "name the folder of the CPUs: /sys/devices/system/cpu",
            ));
        }
        let wrong =
            |at: &Path, error: &std::io::Error| unreadable(&at.display().to_string(), error);
        for entry in std::fs::read_dir(&folder).map_err(|error| wrong(&folder, &error))? {
            let entry = entry.map_err(|error| wrong(&folder, &error))?;
            let at = entry.path();
            // Links are not followed: /sys has circles of them.
            let kind = entry.file_type().map_err(|error| wrong(&at, &error))?;
            let relative = at.strip_prefix(path).unwrap_or(&at).display().to_string();
            if kind.is_dir() {
                folders.push((at, depth + 1));
            } else if kind.is_file() && place(&relative).is_some() {
                let bytes = disk::read(&at, PAGE).map_err(|error| wrong(&at, &error))?;
                let shown = at.display().to_string();
                files.take(&relative, &String::from_utf8_lossy(&bytes), (&shown, 1))?;
            }
        }
    }
    Ok(files)
}

//! The folder of a recording: its files, its header, and what may be replaced.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::FORMAT_VERSION;
use crate::error::Error;
use crate::header::Header;

pub(crate) const EVENTS_FILE: &str = "events.parquet";
pub(crate) const MEASURES_FILE: &str = "measures.parquet";
pub(crate) const CAUSES_FILE: &str = "causes.parquet";
pub(crate) const HEADER_FILE: &str = "recording.toml";
const FORMAT: &str = "stopwatt-recording";

#[derive(Serialize)]
struct Written<'a> {
    format: &'static str,
    version: u32,
    #[serde(flatten)]
    header: &'a Header,
}

#[derive(Deserialize)]
struct Marks {
    format: Option<String>,
    version: Option<i64>,
}

/// The text of `recording.toml`.
pub(crate) fn header_text(path: &Path, header: &Header) -> Result<String, Error> {
    toml::to_string(&Written { format: FORMAT, version: FORMAT_VERSION, header })
        .map_err(|error| Error::Toml { path: path.to_owned(), message: error.to_string() })
}

pub(crate) fn read_header(path: &Path) -> Result<Header, Error> {
    let wrong = |message: String| Error::Toml { path: path.to_owned(), message };
    let bytes = fs::read(path).map_err(Error::io(path, "read"))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        wrong(format!("not text from byte {} on: copy the recording again", e.utf8_error().valid_up_to()))
    })?;
    let marks: Marks = toml::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    if marks.format.as_deref() != Some(FORMAT) {
        return Err(wrong(format!("this is not a recording's header: the first line must be format = \"{FORMAT}\"")));
    }
    let version = marks.version.ok_or_else(|| wrong(format!("`version` is missing; it must be {FORMAT_VERSION}")))?;
    if version != i64::from(FORMAT_VERSION) {
        return Err(Error::Version { path: path.to_owned(), found: version, supported: FORMAT_VERSION });
    }
    toml::from_str(&text).map_err(|e| wrong(e.to_string()))
}

/// Whether a recording is there that may be replaced; an error if something else is.
pub(crate) fn is_replaceable(folder: &Path) -> Result<bool, Error> {
    let not = |why: String| Error::NotARecording { path: folder.to_owned(), why };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => return Err(not("it is a file".to_owned())),
        Err(e) => return Err(Error::io(folder, "list")(e)),
    };
    let mut empty = true;
    let mut marked = false;
    for entry in entries {
        let name = entry.map_err(Error::io(folder, "list"))?.file_name();
        empty = false;
        match name.to_str() {
            Some(HEADER_FILE) => marked = true,
            Some(EVENTS_FILE | MEASURES_FILE | CAUSES_FILE) => {}
            _ => return Err(not(format!("it holds {}", name.to_string_lossy()))),
        }
    }
    if empty {
        return Ok(true);
    }
    let header = folder.join(HEADER_FILE);
    let text = if marked { fs::read_to_string(&header).map_err(Error::io(&header, "read"))? } else { String::new() };
    if toml::from_str::<Marks>(&text).is_ok_and(|marks| marks.format.as_deref() == Some(FORMAT)) {
        Ok(true)
    } else {
        Err(not(format!("{HEADER_FILE} with format = \"{FORMAT}\" is not there")))
    }
}

//! The folder of a recording: its files, its header, and what may be replaced.

use crate::FORMAT_VERSION;
use crate::error::{Error, Result};
use crate::header::Header;
use document::{Document, LAYOUT, printable, printable_lines, unprintable};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

pub const EVENTS_FILE: &str = "events.parquet";
pub const MEASURES_FILE: &str = "measures.parquet";
pub const CAUSES_FILE: &str = "causes.parquet";
pub const HEADER_FILE: &str = "recording.toml";
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
pub fn header_text(path: &Path, header: &Header) -> Result<String> {
    let mut header = header.clone();
    header.make_printable();
    toml::to_string(&Written {
        format: FORMAT,
        version: FORMAT_VERSION,
        header: &header,
    })
    .map_err(|error| Error::header(path, error.to_string()))
}

pub fn read_header(path: &Path) -> Result<Header> {
    let text = disk::text(path).map_err(Error::io(path, "read"))?;
    let document = Document::new(path.display().to_string(), text);
    let wrong = |message: String| Error::header(path, message);
    let marks: Marks = document.read_measured()?;
    if marks.format.as_deref() != Some(FORMAT) {
        return Err(wrong(format!(
            "this is not a recording's header: the first line must be format = \"{FORMAT}\""
        )));
    }
    let version = marks
        .version
        .ok_or_else(|| wrong(format!("`version` is missing; it must be {FORMAT_VERSION}")))?;
    if version != i64::from(FORMAT_VERSION) {
        return Err(Error::wrong(
            path,
            format!("format version {version}; this program reads version {FORMAT_VERSION}"),
        ));
    }
    let header: Header = document.read_measured()?;
    if !TIME_UNITS.contains(&header.time.unit.as_str()) {
        return Err(document
            .wrong(
                document.place("time", "unit"),
                format!(
                    "there is no unit of time `{}`",
                    printable(&header.time.unit)
                ),
                format!("the units are {}", TIME_UNITS.join(", ")),
            )
            .into());
    }
    if let Some(hz) = header.time.counter_hz.filter(|hz| !COUNTER_HZ.contains(hz)) {
        let (least, most) = (COUNTER_HZ.start(), COUNTER_HZ.end());
        return Err(wrong(format!(
            "counter_hz is {hz}; a counter has {least} to {most} ticks a second"
        )));
    }
    let table: toml::Table = document.read_measured()?;
    if let Some((key, text)) = table
        .iter()
        .find_map(|(key, value)| unprintable_text(key, value))
    {
        return Err(wrong(format!(
            "`{key}` holds a control character: \"{text}\"; texts have line ends and tabs, no others"
        )));
    }
    Ok(header)
}

/// Units in which a recording may give the time of its events.
const TIME_UNITS: [&str; 5] = ["ps", "ns", "us", "ticks", "instructions"];

/// Frequencies of a counter: any that Arm's generic timer or a processor's cycle counter can have,
/// with room on both sides.
const COUNTER_HZ: RangeInclusive<u64> = 1..=1_000_000_000_000;

/// The first text that would steer a terminal, under its key, as it may be shown.
fn unprintable_text(key: &str, value: &toml::Value) -> Option<(String, String)> {
    let bad = |text: &str| text.contains(|letter| unprintable(letter) && !LAYOUT.contains(&letter));
    let shown = |text: &str| text.escape_debug().take(60).collect::<String>();
    match value {
        _ if bad(key) => Some((shown(key), shown(key))),
        toml::Value::String(text) if bad(text) => Some((shown(key), shown(text))),
        toml::Value::Array(values) => values.iter().find_map(|value| unprintable_text(key, value)),
        toml::Value::Table(table) => table
            .iter()
            .find_map(|(key, value)| unprintable_text(key, value)),
        _ => None,
    }
}

/// A value whose texts have every character that would steer a terminal as what it is.
fn made_printable(value: toml::Value) -> toml::Value {
    match value {
        toml::Value::String(old) => toml::Value::String(printable_lines(&old)),
        toml::Value::Array(values) => {
            toml::Value::Array(values.into_iter().map(made_printable).collect())
        }
        toml::Value::Table(table) => toml::Value::Table(
            table
                .into_iter()
                .map(|(key, value)| (printable_lines(&key), made_printable(value)))
                .collect(),
        ),
        other => other,
    }
}

impl Header {
    /// Shows every character that would steer a terminal as what it is, `\u{1b}`; line ends and
    /// tabs stay. A header that is written is so in any case; this is for who prints one that was
    /// not read.
    pub fn make_printable(&mut self) {
        let Ok(table) = toml::Table::try_from(&*self) else {
            return;
        };
        if table
            .iter()
            .any(|(key, value)| unprintable_text(key, value).is_some())
            && let Ok(header) = made_printable(toml::Value::Table(table)).try_into()
        {
            *self = header;
        }
    }
}

/// True if a recording is there that may be replaced; an error if something else is.
pub fn is_replaceable(folder: &Path) -> Result<bool> {
    let not = |why: String| Error::not_a_recording(folder, &why);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            return Err(not("it is a file".to_owned()));
        }
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
    let text = if marked {
        disk::text(&header).map_err(Error::io(&header, "read"))?
    } else {
        String::new()
    };
    if toml::from_str::<Marks>(&text).is_ok_and(|marks| marks.format.as_deref() == Some(FORMAT)) {
        Ok(true)
    } else {
        Err(not(format!(
            "{HEADER_FILE} with format = \"{FORMAT}\" is not there"
        )))
    }
}

//! Comma-separated values.

use crate::document::Document;
use crate::error::Error;
use serde::de::DeserializeOwned;
use std::fmt;
use std::io::{self, Read};
use toml::Spanned;

pub use csv::StringRecord as Record;

/// Why a record cannot be had.
#[derive(Debug)]
pub enum RecordError {
    /// The system cannot read on.
    Io(io::Error),
    /// The record is wrong, as a sentence says.
    Wrong(String),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(cause) => cause.fmt(f),
            Self::Wrong(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for RecordError {}

/// The records of comma-separated values, the header among them, with the number of their line,
/// counted from 1. Space around cells is taken off. They are read one by one: a text may be longer
/// than memory.
pub struct Records<R> {
    reader: csv::Reader<R>,
    line: u64,
}

impl<R: Read> Records<R> {
    /// The records of a text whose cells are separated by `delimiter`.
    pub fn new(text: R, delimiter: u8) -> Self {
        let mut how = csv::ReaderBuilder::new();
        how.has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .trim(csv::Trim::All);
        Self {
            reader: how.from_reader(text),
            line: 0,
        }
    }

    /// Bytes that were read so far.
    fn bytes(&self) -> usize {
        self.reader.position().byte() as usize
    }
}

impl<R: Read> Iterator for Records<R> {
    type Item = (u64, Result<Record, RecordError>);

    fn next(&mut self) -> Option<Self::Item> {
        let mut record = Record::new();
        let read = self.reader.read_record(&mut record);
        self.line = record.position().map_or(self.line + 1, csv::Position::line);
        match read {
            Ok(true) => Some((self.line, Ok(record))),
            Ok(false) => None,
            Err(error) => {
                let wrong = RecordError::Wrong(cause(&error));
                let error = match error.into_kind() {
                    csv::ErrorKind::Io(error) => RecordError::Io(error),
                    _ => wrong,
                };
                Some((self.line, Err(error)))
            }
        }
    }
}

/// Reads a record into a type whose fields are named as in the header.
///
/// # Errors
/// The record is longer or shorter than the header; a cell is not what its field takes.
pub fn row<T: DeserializeOwned>(record: &Record, header: &Record) -> Result<T, String> {
    if record.len() == header.len() {
        record
            .deserialize(Some(header))
            .map_err(|error| cause(&error))
    } else {
        Err(format!(
            "{} cells where the header has {}",
            record.len(),
            header.len()
        ))
    }
}

/// The error without the library's own account of where it was.
fn cause(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => match err.field() {
            Some(field) => format!("field {}: {}", field + 1, err.kind()),
            None => err.kind().to_string(),
        },
        csv::ErrorKind::Utf8 { .. } => "the row is not UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

impl Document {
    /// The rows of comma-separated values below a header line, each with its place.
    ///
    /// # Errors
    /// There is no header; a row has more or fewer cells than it; a cell is not what its field
    /// takes; a text of more than [`disk::MOST_TEXT`] bytes.
    pub fn rows<T: DeserializeOwned>(&self) -> Result<Vec<Spanned<T>>, Error> {
        self.check_length()?;
        let mut records = Records::new(self.text().as_bytes(), b',');
        let mut header = None;
        let mut rows = Vec::new();
        while let Some((_, record)) = records.next() {
            let end = records.bytes().min(self.text().len());
            let record = match record {
                Ok(record) => record,
                Err(error) => return Err(self.refused(&error.to_string(), Some(end..end), None)),
            };
            // The library counts the empty lines before a record to it.
            let whole = &self.text()[record.position().map_or(end, |at| at.byte() as usize)..end];
            let start = end - whole.trim_start().len();
            let place = start..start + whole.trim().len();
            match &header {
                None => header = Some(record),
                Some(header) => {
                    let value = row(&record, header).map_err(|message| {
                        let columns = header.iter().collect::<Vec<_>>().join(",");
                        self.wrong(place.clone(), message, format!("the columns are {columns}"))
                    })?;
                    rows.push(Spanned::new(place, value));
                }
            }
        }
        match header {
            Some(_) => Ok(rows),
            None => Err(self.wrong_as_a_whole(
                "there is no header line",
                "the first line names the columns",
            )),
        }
    }
}

//! What can be wrong with published figures.

use experiment::{Files, FilesError};
use serde::de::DeserializeOwned;

/// What is wrong with a reference.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] FilesError),
    /// A line is wrong.
    #[error("{path}:{line}: {message}")]
    Line {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong, and what would be right.
        message: String,
    },
}

/// Reads a TOML file.
pub(crate) fn parse<T: DeserializeOwned>(files: &dyn Files, name: &str) -> Result<T, Error> {
    let text = files.read(name)?;
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count() as u64);
        let message = error.message().lines().next().unwrap_or("not a reference").to_owned();
        Error::Line { path: files.shown(name), line, message }
    })
}

/// The rows of a CSV file.
pub(crate) fn rows<T: serde::de::DeserializeOwned>(files: &dyn Files, name: &str) -> Result<Vec<T>, Error> {
    let text = files.read(name)?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().enumerate().map(|(index, row)| {
        row.map_err(|error| Error::Line { path: files.shown(name), line: index as u64 + 2, message: error.to_string() })
    });
    rows.collect()
}

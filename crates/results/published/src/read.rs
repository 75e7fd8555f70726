//! Tables and their figures, read.

use document::{Result, Spanned, readers, within};
use experiment::Files;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The rows of a table.
pub fn figures<F: DeserializeOwned>(files: &dyn Files, name: &str) -> Result<Vec<F>> {
    let rows = files.document(&format!("{name}.csv"))?.rows()?;
    Ok(rows.into_iter().map(Spanned::into_inner).collect())
}

/// A table with its description, if there is one of this name.
pub fn table<R: DeserializeOwned, F: DeserializeOwned>(
    files: &dyn Files,
    name: &str,
    place: fn(&mut R) -> &mut Vec<F>,
) -> Result<Option<R>> {
    let description = format!("{name}.toml");
    if !files.list("")?.contains(&description) {
        return Ok(None);
    }
    let mut read = files.document(&description)?.read()?;
    *place(&mut read) = figures(files, name)?;
    Ok(Some(read))
}

readers! {
    /// Reads a figure by which others are divided.
    pub positive: f64 = |from| {
        let above_zero = f64::MIN_POSITIVE..=f64::MAX;
        within(f64::deserialize(from)?, above_zero, "is not greater than 0")
    };
}

//! What the small kernel's own work takes: `kernel/costs.toml` of the platform files.

use experiment::{Error, Files};
use soc::config::Document;

const PATH: &str = "kernel/costs.toml";

/// The file, for the small kernel to read.
///
/// # Errors
/// It is not there.
pub fn kernel_costs(files: &dyn Files) -> Result<Document, Error> {
    let text = files.read(PATH).map_err(Error::failed)?;
    Ok(Document::new(files.shown(PATH), text))
}

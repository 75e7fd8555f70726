//! The costs of the small kernel's own work: `kernel/costs.toml` of the platform files.

use document::Document;
use experiment::{Error, Files};

/// The file, for the small kernel to read.
///
/// # Errors
/// It is not there.
pub fn kernel_costs(files: &dyn Files) -> Result<Document, Error> {
    Ok(files.document("kernel/costs.toml")?)
}

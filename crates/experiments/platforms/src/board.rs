//! A board as its own files describe it, and the platform file that is made of it.
//!
//! | file | what it is about |
//! |---|---|
//! | `what.rs` | what is known of a board |
//! | `blob.rs` | the nodes of a device tree blob |
//! | `device_tree.rs` | what a device tree says of the board |
//! | `source.rs` | a device tree's source, compiled by `cpp` and `dtc` |
//! | `kernel_files.rs` | the kernel's files of its CPUs |
//! | `energy_model.rs` | dumps of the kernel's energy model |
//! | `platform_file.rs` | the platform file; what no board says is in `machine.toml` |

mod blob;
mod device_tree;
mod energy_model;
mod kernel_files;
mod platform_file;
mod source;
mod what;

pub use what::Board;

use document::{Document, Result};
use soc::config::{IdlePlatform, Platform};
use std::path::Path;

impl Board {
    /// Reads a device tree, its source, or the kernel's files of its CPUs.
    ///
    /// # Errors
    /// The file, the node or the line, and the property that are wrong, and what would be right.
    pub fn open(path: &Path) -> Result<Self> {
        let file = document::printable(
            &path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy(),
        );
        let bytes = if path.is_dir() {
            Vec::new()
        } else {
            source::bytes(path)?
        };
        if blob::is_blob(&bytes) {
            device_tree::board(&file, &bytes)
        } else if source::is_source(path, &bytes) {
            device_tree::board(&file, &source::compiled(path, &bytes)?)
        } else {
            kernel_files::board(&file, path)
        }
    }

    /// Takes operating points from a dump of the kernel's `energy_model`, in place of others. `unit`
    /// is the microwatts of its powers' unit, where the dump need not say it.
    ///
    /// # Errors
    /// It is no such dump, or it is of other CPUs.
    pub fn take_energy_model(&mut self, path: &Path, unit: Option<u64>) -> Result {
        let text = source::bytes(path)?;
        let (file, text) = (path.display().to_string(), String::from_utf8_lossy(&text));
        energy_model::take(self, &file, &text, unit)
    }

    /// The text of a platform file: the machine, and its idle states. It can be read.
    ///
    /// # Errors
    /// There are no idle states; what a file says makes no platform.
    pub fn platform_file(&self, name: &str) -> Result<String> {
        let text = platform_file::text(self, name)?;
        let document = Document::new(format!("the platform of {}", self.file), text.as_str());
        IdlePlatform::read(&document)?;
        Platform::read(&document)?;
        Ok(text)
    }
}

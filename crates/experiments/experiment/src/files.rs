//! Text files of a data folder, wherever they are: in a folder of this machine, or built into the
//! program.

use document::{Document, Error, Result};
use std::fs;
use std::io;
use std::path::PathBuf;

/// Text files by their path, whose parts are separated by `/`.
pub trait Files: Sync {
    /// The text of a file.
    ///
    /// # Errors
    /// The file is not there, or is not text.
    fn read(&self, path: &str) -> Result<String>;

    /// A file as a document, which goes by what [`Files::shown`] calls it.
    ///
    /// # Errors
    /// As [`Files::read`].
    fn document(&self, path: &str) -> Result<Document> {
        Ok(Document::new(self.shown(path), self.read(path)?))
    }

    /// Names of the files in a folder, in alphabetical order; none for a folder that is not there.
    ///
    /// # Errors
    /// The folder cannot be read.
    fn list(&self, folder: &str) -> Result<Vec<String>>;

    /// The name of a file in messages.
    fn shown(&self, path: &str) -> String;

    /// The names without `.toml` of a folder's TOML files.
    ///
    /// # Errors
    /// As [`Files::list`].
    fn stems(&self, folder: &str) -> Result<Vec<String>> {
        Ok(self
            .list(folder)?
            .iter()
            .filter_map(|name| name.strip_suffix(".toml"))
            .map(str::to_owned)
            .collect())
    }
}

/// A folder of this machine.
pub struct Folder(pub PathBuf);

impl Files for Folder {
    fn read(&self, path: &str) -> Result<String> {
        disk::text(&self.0.join(path)).map_err(|cause| Error::unreadable(&self.shown(path), cause))
    }

    fn list(&self, folder: &str) -> Result<Vec<String>> {
        let wrong = |cause| Error::unreadable(&self.shown(folder), cause);
        let entries = match fs::read_dir(self.0.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(wrong(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(wrong)?;
            if entry.path().is_file() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn shown(&self, path: &str) -> String {
        self.0.join(path).display().to_string()
    }
}

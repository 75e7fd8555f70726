//! Text files of a data folder, wherever they are: in a folder of this machine, or built into the program.

use std::fs;
use std::io;
use std::path::PathBuf;

/// Why a file cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {path}: {cause}")]
pub struct FilesError {
    /// The file or folder.
    pub path: String,
    /// Why not; part of the message already, so not a source that would be printed again.
    pub cause: io::Error,
}

/// Text files by their path, whose parts are separated by `/`.
pub trait Files: Sync {
    /// The text of a file.
    ///
    /// # Errors
    /// The file is not there, or is not text.
    fn read(&self, path: &str) -> Result<String, FilesError>;

    /// Names of the files in a folder, in alphabetical order; none for a folder that is not there.
    ///
    /// # Errors
    /// The folder cannot be read.
    fn list(&self, folder: &str) -> Result<Vec<String>, FilesError>;

    /// What to call a file in messages.
    fn shown(&self, path: &str) -> String;

    /// The names without `.toml` of a folder's TOML files.
    ///
    /// # Errors
    /// As [`Files::list`].
    fn stems(&self, folder: &str) -> Result<Vec<String>, FilesError> {
        let names = self.list(folder)?;
        Ok(names.iter().filter_map(|name| name.strip_suffix(".toml")).map(str::to_owned).collect())
    }
}

/// A folder of this machine.
#[derive(Clone, Debug)]
pub struct Folder(pub PathBuf);

impl Files for Folder {
    fn read(&self, path: &str) -> Result<String, FilesError> {
        disk::text(&self.0.join(path)).map_err(|cause| FilesError { path: self.shown(path), cause })
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, FilesError> {
        let wrong = |cause| FilesError { path: self.shown(folder), cause };
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

//! The files of a sweep: platform files are read once, and each chunk notes which it used and which
//! its settings name.

use document::Result;
use experiment::Files;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files that are read once and kept: every point sees the same text, whatever happens to the file
/// meanwhile.
pub struct FileCache<'f> {
    files: &'f dyn Files,
    texts: Mutex<BTreeMap<String, Result<String>>>,
    lists: Mutex<BTreeMap<String, Result<Vec<String>>>>,
}

/// What a lock holds, whatever became of those that held it before.
pub fn held<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'f> FileCache<'f> {
    pub fn new(files: &'f dyn Files) -> Self {
        Self {
            files,
            texts: Mutex::default(),
            lists: Mutex::default(),
        }
    }
}

impl Files for FileCache<'_> {
    fn read(&self, path: &str) -> Result<String> {
        held(&self.texts)
            .entry(path.to_owned())
            .or_insert_with(|| self.files.read(path))
            .clone()
    }

    fn list(&self, folder: &str) -> Result<Vec<String>> {
        held(&self.lists)
            .entry(folder.to_owned())
            .or_insert_with(|| self.files.list(folder))
            .clone()
    }

    fn shown(&self, path: &str) -> String {
        self.files.shown(path)
    }
}

/// The CRC-32 of a file that a setting names; `None` for what is no file, such as the folder of a
/// recording, or cannot be read.
pub fn sum_of(path: &Path) -> Option<u32> {
    recording::checksum(path).ok().map(|(_, sum)| sum)
}

/// Files whose readers are noted: what a chunk was made from.
pub struct NotedFiles<'f> {
    files: &'f dyn Files,
    seen: Mutex<BTreeMap<String, u32>>,
}

impl<'f> NotedFiles<'f> {
    pub fn new(files: &'f dyn Files) -> Self {
        Self {
            files,
            seen: Mutex::default(),
        }
    }

    /// The files that were read, each with the CRC-32 of its text.
    pub fn seen(&self) -> BTreeMap<String, u32> {
        held(&self.seen).clone()
    }
}

impl Files for NotedFiles<'_> {
    fn read(&self, path: &str) -> Result<String> {
        let text = self.files.read(path)?;
        held(&self.seen)
            .entry(path.to_owned())
            .or_insert_with(|| crc32fast::hash(text.as_bytes()));
        Ok(text)
    }

    fn list(&self, folder: &str) -> Result<Vec<String>> {
        self.files.list(folder)
    }

    fn shown(&self, path: &str) -> String {
        self.files.shown(path)
    }
}

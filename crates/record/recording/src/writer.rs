//! Writing a recording: rows go to disk as they come, and the folder is there whole or not at all.

use crate::error::{Error, Result};
use crate::folder::{HEADER_FILE, header_text, is_replaceable};
use crate::header::Header;
use crate::part::PartWriter;
use crate::rows::{Recording, RowKinds};
use disk::Partial;
use std::fs;
use std::path::{Path, PathBuf};

impl Recording {
    /// Says if a recording may be written to a folder: nothing is there, or an older recording. For
    /// those who would rather know before a long run than after it.
    ///
    /// # Errors
    /// As [`Recording::write`], for what is there.
    pub fn check_target(folder: impl AsRef<Path>) -> Result {
        is_replaceable(folder.as_ref()).map(|_| ())
    }

    /// Writes the recording as a folder: see [`Writer`], which does so for rows that are not in
    /// memory at once.
    ///
    /// # Errors
    /// Something that is no recording is in the way, or the system refuses. A failure leaves
    /// nothing behind.
    pub fn write(&self, folder: impl AsRef<Path>) -> Result {
        let mut writer = Writer::create(folder, &self.header)?;
        writer.files.write_whole(self)?;
        writer.finish(&self.header)
    }
}

/// Writes a recording of any length in bounded memory.
///
/// The files are written beside the target and moved there by [`Writer::finish`]; a writer that is
/// dropped before leaves nothing behind. An older recording at the target is replaced; anything
/// else there is left alone, with an error.
pub struct Writer {
    folder: PathBuf,
    partial: Partial,
    files: PartWriter,
}

impl Writer {
    /// Starts a recording in `folder`. Of the header only the time base must be final: the rest is
    /// written by [`Writer::finish`].
    ///
    /// # Errors
    /// Something that is no recording is in the way, or the system refuses.
    pub fn create(folder: impl AsRef<Path>, header: &Header) -> Result<Self> {
        let folder = folder.as_ref();
        is_replaceable(folder)?;
        let partial = beside(folder, "partial")?;
        let parent = partial.path().parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(Error::io(parent, "create"))?;
        fs::create_dir(partial.path()).map_err(Error::io(partial.path(), "create"))?;
        Ok(Self {
            folder: folder.to_owned(),
            files: PartWriter::start(partial.path(), header, RowKinds::ALL, false)?,
            partial,
        })
    }

    /// Adds the rows of a recording; its header is not looked at.
    ///
    /// # Errors
    /// The system refuses.
    pub fn append(&mut self, part: &Recording) -> Result {
        self.files.append(0, part)
    }

    /// Ends the recording with its header, and moves it to its place.
    ///
    /// # Errors
    /// The system refuses; then nothing is left behind, and an older recording is still there.
    pub fn finish(self, header: &Header) -> Result {
        let Self {
            folder,
            partial,
            files,
        } = self;
        let mut header = header.clone();
        header.files = files.finish()?;
        let text = header_text(&folder.join(HEADER_FILE), &header)?;
        let path = partial.path().join(HEADER_FILE);
        fs::write(&path, text).map_err(Error::io(&path, "write"))?;
        move_there(&partial, &folder)
    }
}

/// Moves a whole folder to its place, over an older recording.
fn move_there(partial: &Partial, folder: &Path) -> Result {
    // Once more: something may have come into the way while rows were written.
    if !is_replaceable(folder)? {
        return fs::rename(partial.path(), folder).map_err(Error::io(folder, "create"));
    }
    let old = beside(folder, "replaced")?;
    fs::rename(folder, old.path()).map_err(Error::io(folder, "replace"))?;
    fs::rename(partial.path(), folder).map_err(|source| {
        let _ = fs::rename(old.path(), folder);
        Error::io(folder, "replace")(source)
    })
}

/// A path beside the folder, of this process alone.
fn beside(folder: &Path, what: &str) -> Result<Partial> {
    Partial::beside(folder, what).map_err(|why| Error::not_a_recording(folder, &why))
}

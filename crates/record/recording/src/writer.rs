//! Writing a recording: rows go to disk as they come, and the folder is there whole or not at all.

use crate::columns::Row;
use crate::error::{Error, Result};
use crate::folder::{HEADER_FILE, header_text, is_replaceable};
use crate::header::{FileFacts, Header};
use crate::parquet::{GROUP_ROWS, TableWriter};
use crate::rows::{CauseRow, Event, Measure, Recording};
use disk::Partial;
use parquet::errors::ParquetError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
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
        writer.write_whole(self)?;
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
    /// Rows that do not fill a row group yet, and the names of all.
    rows: Recording,
    events: Open<Event>,
    measures: Open<Measure>,
    causes: Open<CauseRow>,
}

pub type Out = ChecksumWriter<BufWriter<File>>;

/// A file that is being written.
pub struct Open<R: Row> {
    path: PathBuf,
    table: TableWriter<R, Out>,
    /// The runs of the rows that wait for it, where it has their numbers.
    pub numbers: Vec<u64>,
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
            events: Open::new(partial.path(), header, false)?,
            measures: Open::new(partial.path(), header, false)?,
            causes: Open::new(partial.path(), header, false)?,
            partial,
            rows: Recording::new(header.clone()),
        })
    }

    /// Adds the rows of a recording; its header is not looked at.
    ///
    /// # Errors
    /// The system refuses.
    pub fn append(&mut self, part: &Recording) -> Result {
        self.rows.append(part);
        self.flush(GROUP_ROWS)
    }

    /// Writes what fills a row group of `least` rows.
    fn flush(&mut self, least: usize) -> Result {
        self.events.flush(&mut self.rows, least)?;
        self.measures.flush(&mut self.rows, least)?;
        self.causes.flush(&mut self.rows, least)
    }

    /// Writes all rows of a recording that has them in memory, without a copy.
    fn write_whole(&mut self, whole: &Recording) -> Result {
        self.events.write(whole, whole.events().len())?;
        self.measures.write(whole, whole.measures().len())?;
        self.causes.write(whole, whole.causes().len())
    }

    /// Ends the recording with its header, and moves it to its place.
    ///
    /// # Errors
    /// The system refuses; then nothing is left behind, and an older recording is still there.
    pub fn finish(mut self, header: &Header) -> Result {
        self.flush(1)?;
        let Self {
            folder,
            partial,
            events,
            measures,
            causes,
            ..
        } = self;
        let mut header = header.clone();
        header.files.clear();
        for (name, facts) in [events.finish()?, measures.finish()?, causes.finish()?] {
            header.files.insert(name.to_owned(), facts);
        }
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

impl<R: Row> Open<R> {
    /// Starts the file in a folder, with the numbers of runs or without.
    pub fn new(folder: &Path, header: &Header, numbered: bool) -> Result<Self> {
        let path = folder.join(R::FILE);
        let out = ChecksumWriter::create(&path)?;
        let table =
            TableWriter::new(out, header, numbered).map_err(|error| failed(&path, error))?;
        let numbers = Vec::new();
        Ok(Self {
            path,
            table,
            numbers,
        })
    }

    /// Writes the first rows of a recording, with their numbers where the file has them.
    fn write(&mut self, rows: &Recording, count: usize) -> Result {
        let numbers = &self.numbers[..count.min(self.numbers.len())];
        self.table
            .write(rows, &R::of(rows)[..count], numbers)
            .map_err(|error| failed(&self.path, error))
    }

    /// Writes what fills a row group of `least` rows, at least 1, and takes it out of the
    /// recording; a group's size does not depend on how the rows were handed over.
    pub fn flush(&mut self, rows: &mut Recording, least: usize) -> Result {
        while R::of(rows).len() >= least {
            let count = R::of(rows).len().min(GROUP_ROWS);
            self.write(rows, count)?;
            R::of_mut(rows).drain(..count);
            self.numbers.drain(..count.min(self.numbers.len()));
        }
        Ok(())
    }

    pub fn finish(self) -> Result<(&'static str, FileFacts)> {
        let (rows, out) = self
            .table
            .finish()
            .map_err(|error| failed(&self.path, error))?;
        Ok((R::FILE, out.facts(&self.path, rows)?))
    }
}

pub fn failed(path: &Path, error: ParquetError) -> Error {
    let cause = match error {
        ParquetError::External(inner) => io::Error::other(inner),
        other => io::Error::other(other.to_string()),
    };
    Error::Io {
        path: path.to_owned(),
        doing: "write",
        cause,
    }
}

/// Counts and sums what is written through it.
pub struct ChecksumWriter<W> {
    out: W,
    bytes: u64,
    crc: crc32fast::Hasher,
}

impl Out {
    /// A new file.
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(Error::io(path, "create"))?;
        Ok(Self {
            out: BufWriter::new(file),
            bytes: 0,
            crc: crc32fast::Hasher::new(),
        })
    }

    /// Closes the file; returns its rows and its checksum.
    pub fn facts(mut self, path: &Path, rows: u64) -> Result<FileFacts> {
        self.flush().map_err(Error::io(path, "write"))?;
        Ok(FileFacts {
            rows,
            bytes: self.bytes,
            crc32: self.crc.finalize(),
        })
    }
}

impl<W: Write> Write for ChecksumWriter<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let n = self.out.write(buffer)?;
        self.crc.update(&buffer[..n]);
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

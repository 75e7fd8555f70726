//! A file of a recording that is being written.

use crate::columns::Row;
use crate::error::{Error, Result};
use crate::header::{FileFacts, Header};
use crate::parquet::{GROUP_ROWS, TableWriter};
use crate::rows::Recording;
use parquet::errors::ParquetError;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

pub type Out = ChecksumWriter<BufWriter<File>>;

/// A file that is being written.
pub struct Open<R: Row> {
    path: PathBuf,
    table: TableWriter<R, Out>,
    /// The runs of the rows that wait for it, where it has their numbers.
    pub numbers: Option<Vec<u64>>,
}

impl<R: Row> Open<R> {
    /// Starts the file in a folder if it is kept, with the numbers of runs or without.
    pub fn start(
        folder: &Path,
        header: &Header,
        kept: bool,
        numbered: bool,
    ) -> Result<Option<Self>> {
        if !kept {
            return Ok(None);
        }
        let path = folder.join(R::FILE);
        let out = ChecksumWriter::create(&path)?;
        let table =
            TableWriter::new(out, header, numbered).map_err(|error| failed(&path, error))?;
        let numbers = numbered.then(Vec::new);
        Ok(Some(Self {
            path,
            table,
            numbers,
        }))
    }

    /// Writes the first rows of a recording, with their numbers where the file has them.
    pub fn write(&mut self, rows: &Recording, count: usize) -> Result {
        let numbers = self.numbers.as_ref().map_or(&[][..], |all| &all[..count]);
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
            if let Some(numbers) = &mut self.numbers {
                numbers.drain(..count);
            }
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

/// The length and the CRC-32 of a file.
///
/// # Errors
/// It cannot be read, or is no regular file.
pub fn checksum(path: &Path) -> io::Result<(u64, u32)> {
    let mut sum = ChecksumWriter::new(io::sink());
    let mut file = BufReader::with_capacity(1 << 16, disk::open(path)?);
    io::copy(&mut file, &mut sum)?;
    Ok((sum.bytes, sum.crc.finalize()))
}

impl Out {
    /// A new file.
    pub fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(Error::io(path, "create"))?;
        Ok(Self::new(BufWriter::new(file)))
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

impl<W> ChecksumWriter<W> {
    fn new(out: W) -> Self {
        Self {
            out,
            bytes: 0,
            crc: crc32fast::Hasher::new(),
        }
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

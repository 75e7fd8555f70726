//! The folder: written whole or not at all, read with care.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use serde::{Deserialize, Serialize};

use crate::FORMAT_VERSION;
use crate::error::Error;
use crate::header::{FileFacts, Header};
use crate::parquet_files;
use crate::rows::Recording;

const EVENTS: &str = "events.parquet";
const MEASURES: &str = "measures.parquet";
const HEADER: &str = "recording.toml";
const FORMAT: &str = "stopwatt-recording";

#[derive(Serialize)]
struct Written<'a> {
    format: &'static str,
    version: u32,
    #[serde(flatten)]
    header: &'a Header,
}

#[derive(Deserialize)]
struct Marks {
    format: Option<String>,
    version: Option<i64>,
}

impl Recording {
    /// Whether a recording may be written to a folder: nothing is there, or an older recording. For those who would rather know before a long
    /// run than after it.
    ///
    /// # Errors
    /// As [`Recording::write`], for what is there.
    pub fn check_target(folder: impl AsRef<Path>) -> Result<(), Error> {
        is_replaceable(folder.as_ref()).map(|_| ())
    }

    /// Writes the recording as a folder.
    ///
    /// The three files are written beside the target and moved there when whole; a failure leaves nothing behind.
    /// An older recording at the target is replaced; anything else there is left alone, with an error.
    pub fn write(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        let folder = folder.as_ref();
        let replaces = is_replaceable(folder)?;
        let name = folder.file_name().ok_or_else(|| Error::NotARecording {
            path: folder.to_owned(),
            why: "the path does not end in a name".to_owned(),
        })?;
        let parent = folder.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(Error::io(parent, "create"))?;
        let sibling = |what: &str| parent.join(format!(".{}.{what}-{}", name.to_string_lossy(), std::process::id()));

        let partial = Doomed(sibling("partial"));
        let _ = fs::remove_dir_all(&partial.0);
        fs::create_dir(&partial.0).map_err(Error::io(&partial.0, "create"))?;
        let mut header = self.header.clone();
        header.files.clear();
        let rows = self.events().len() as u64;
        header.files.insert(
            EVENTS.to_owned(),
            write_file(&partial.0.join(EVENTS), rows, |out| parquet_files::write_events(self, out))?,
        );
        let rows = self.measures().len() as u64;
        header.files.insert(
            MEASURES.to_owned(),
            write_file(&partial.0.join(MEASURES), rows, |out| parquet_files::write_measures(self, out))?,
        );
        let text = toml::to_string(&Written { format: FORMAT, version: FORMAT_VERSION, header: &header })
            .map_err(|e| Error::Toml { path: folder.join(HEADER), message: e.to_string() })?;
        let path = partial.0.join(HEADER);
        fs::write(&path, text).map_err(Error::io(&path, "write"))?;

        if !replaces {
            return fs::rename(&partial.0, folder).map_err(Error::io(folder, "create"));
        }
        let old = Doomed(sibling("replaced"));
        fs::rename(folder, &old.0).map_err(Error::io(folder, "replace"))?;
        fs::rename(&partial.0, folder).map_err(|source| {
            let _ = fs::rename(&old.0, folder);
            Error::io(folder, "replace")(source)
        })
    }

    /// Reads a recording from its folder, and checks it: nothing is guessed and nothing left out.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, Error> {
        let folder = folder.as_ref();
        if folder.is_file() {
            return Err(Error::NotAFolder { path: folder.to_owned() });
        }
        let header = read_header(&folder.join(HEADER))?;
        let (events, measures) = (folder.join(EVENTS), folder.join(MEASURES));
        let facts = [header.files.get(EVENTS).cloned(), header.files.get(MEASURES).cloned()];
        for (path, facts) in [&events, &measures].into_iter().zip(&facts) {
            check(path, facts.as_ref())?;
        }
        let mut recording = Self::new(header);
        parquet_files::read_events(&mut recording, &events)?;
        parquet_files::read_measures(&mut recording, &measures)?;
        recording.header.files.clear();
        Ok(recording)
    }
}

fn read_header(path: &Path) -> Result<Header, Error> {
    let wrong = |message: String| Error::Toml { path: path.to_owned(), message };
    let bytes = fs::read(path).map_err(Error::io(path, "read"))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        wrong(format!("not text from byte {} on: copy the recording again", e.utf8_error().valid_up_to()))
    })?;
    let marks: Marks = toml::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    if marks.format.as_deref() != Some(FORMAT) {
        return Err(wrong(format!("this is not a recording's header: the first line must be format = \"{FORMAT}\"")));
    }
    let version = marks.version.ok_or_else(|| wrong(format!("`version` is missing; it must be {FORMAT_VERSION}")))?;
    if version != i64::from(FORMAT_VERSION) {
        return Err(Error::Version { path: path.to_owned(), found: version, supported: FORMAT_VERSION });
    }
    toml::from_str(&text).map_err(|e| wrong(e.to_string()))
}

/// Whether a recording is there that may be replaced; an error if something else is.
fn is_replaceable(folder: &Path) -> Result<bool, Error> {
    let not = |why: String| Error::NotARecording { path: folder.to_owned(), why };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => return Err(not("it is a file".to_owned())),
        Err(e) => return Err(Error::io(folder, "list")(e)),
    };
    let mut empty = true;
    let mut marked = false;
    for entry in entries {
        let name = entry.map_err(Error::io(folder, "list"))?.file_name();
        empty = false;
        match name.to_str() {
            Some(HEADER) => marked = true,
            Some(EVENTS | MEASURES) => {}
            _ => return Err(not(format!("it holds {}", name.to_string_lossy()))),
        }
    }
    if empty {
        return Ok(true);
    }
    let header = folder.join(HEADER);
    let text = if marked { fs::read_to_string(&header).map_err(Error::io(&header, "read"))? } else { String::new() };
    if toml::from_str::<Marks>(&text).is_ok_and(|marks| marks.format.as_deref() == Some(FORMAT)) {
        Ok(true)
    } else {
        Err(not(format!("{HEADER} with format = \"{FORMAT}\" is not there")))
    }
}

fn write_file(
    path: &Path,
    rows: u64,
    write: impl FnOnce(&mut Summing<BufWriter<File>>) -> Result<(), ParquetError>,
) -> Result<FileFacts, Error> {
    let file = File::create(path).map_err(Error::io(path, "create"))?;
    let mut out = Summing { out: BufWriter::new(file), bytes: 0, crc: crc32fast::Hasher::new() };
    write(&mut out).map_err(|e| Error::Io {
        path: path.to_owned(),
        doing: "write",
        cause: match e {
            ParquetError::External(inner) => io::Error::other(inner),
            other => io::Error::other(other.to_string()),
        },
    })?;
    out.flush().map_err(Error::io(path, "write"))?;
    Ok(FileFacts { rows, bytes: out.bytes, crc32: out.crc.finalize() })
}

fn check(path: &Path, facts: Option<&FileFacts>) -> Result<(), Error> {
    let mut file = File::open(path).map_err(Error::io(path, "read"))?;
    let Some(facts) = facts else { return Ok(()) };
    let mut crc = crc32fast::Hasher::new();
    let (mut bytes, mut buffer) = (0_u64, vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).map_err(Error::io(path, "read"))? {
            0 => break,
            n => {
                crc.update(&buffer[..n]);
                bytes += n as u64;
            }
        }
    }
    if bytes != facts.bytes {
        return Err(Error::Length { path: path.to_owned(), found: bytes, expected: facts.bytes });
    }
    let found = crc.finalize();
    if found != facts.crc32 {
        return Err(Error::Checksum { path: path.to_owned(), found, expected: facts.crc32 });
    }
    Ok(())
}

/// Counts and sums what is written through it.
struct Summing<W> {
    out: W,
    bytes: u64,
    crc: crc32fast::Hasher,
}

impl<W: Write> Write for Summing<W> {
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

/// A folder that is removed when this goes out of scope, if it is still there.
struct Doomed(PathBuf);

impl Drop for Doomed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

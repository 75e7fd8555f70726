//! Images that a program carries, so that it needs no checkout: what `cargo xtask dist` builds has
//! them, and a plain build has none.

use crate::{Error, Result};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The ELF files by their names; empty in a plain build.
static CARRIED: [(&str, &[u8]); 3] = [
    ("el3", include_bytes!(concat!(env!("OUT_DIR"), "/el3"))),
    (
        "el3-plain",
        include_bytes!(concat!(env!("OUT_DIR"), "/el3-plain")),
    ),
    (
        "payload",
        include_bytes!(concat!(env!("OUT_DIR"), "/payload")),
    ),
];

/// True if this program carries images.
pub fn are_there() -> bool {
    CARRIED.iter().all(|(_, bytes)| !bytes.is_empty())
}

/// The folder in which this program keeps what it would have to make or fetch again: Stopwatt's
/// among the user's caches.
pub fn cache() -> PathBuf {
    let variable = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    variable("XDG_CACHE_HOME")
        .or_else(|| Some(variable("HOME")?.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("stopwatt")
}

/// A carried image as a file in the cache.
pub fn file(name: &str) -> Result<PathBuf> {
    let bytes = CARRIED
        .iter()
        .find(|(known, _)| *known == name)
        .map_or(&[][..], |(_, bytes)| bytes);
    // Programs of several versions share the cache: each has a folder by what it carries.
    let of_all = CARRIED.iter().fold(0, |sum, (_, bytes)| {
        crc32fast::hash(bytes).rotate_left(7) ^ sum
    });
    let folder = cache().join(format!("firmware-{of_all:08x}"));
    std::fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let path = folder.join(name);
    if std::fs::read(&path).is_ok_and(|known| known == bytes) {
        return Ok(path);
    }
    write_whole(&path, |file| {
        file.write_all(bytes).map_err(Error::file(&path))
    })?;
    Ok(path)
}

/// Writes a file that is there whole or not at all, which another run may be reading.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut File) -> Result) -> Result {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut whole = tempfile::NamedTempFile::new_in(folder).map_err(Error::file(folder))?;
    fill(whole.as_file_mut())?;
    whole
        .persist(path)
        .map(drop)
        .map_err(|error| Error::file(path)(error.error))
}

//! The file that is being written.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Everything that is not whole at the moment.
static OPEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn open() -> MutexGuard<'static, Vec<PathBuf>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The path of a file or a folder that is being written. What is there is removed when this is
/// dropped.
pub struct Partial(PathBuf);

impl Partial {
    /// A path beside `target` for what is to be moved there once it is whole: `.NAME.WHAT-PID`.
    ///
    /// Nothing is there yet. What a program that was killed left under such a name is removed.
    ///
    /// # Errors
    /// The target's path does not end in a name.
    pub fn beside(target: &Path, what: &str) -> io::Result<Self> {
        let name = target.file_name().ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "the path does not end in a name; name a file or a folder",
            )
        })?;
        let mut start = OsString::from(".");
        start.push(name);
        start.push(format!(".{what}-"));
        let parent = target
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        remove_stale(parent, &start);
        start.push(process::id().to_string());
        Ok(Self::at(parent.join(start)))
    }

    /// A path in the system's folder for temporary files, of this program and this call alone.
    /// Nothing is there yet.
    pub fn temporary(what: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self::at(std::env::temp_dir().join(format!("{what}-{}-{number}", process::id())))
    }

    fn at(path: PathBuf) -> Self {
        remove(&path);
        open().push(path.clone());
        Self(path)
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        remove(&self.0);
        open().retain(|path| *path != self.0);
    }
}

/// Removes everything that is not whole. The program must end right afterwards: whoever still
/// writes finds its files gone.
pub fn remove_partials() {
    // Held to the end of the program, so that nothing begins that nobody would remove.
    let open = open();
    open.iter().for_each(|path| remove(path));
    std::mem::forget(open);
}

/// Removes a file or a folder. Whoever still writes finds the folder gone, and adds nothing to it
/// meanwhile.
fn remove(path: &Path) {
    let mut gone = path.as_os_str().to_owned();
    gone.push(".gone");
    if fs::remove_file(path).is_err() && fs::rename(path, &gone).is_ok() {
        let _ = fs::remove_dir_all(gone);
    }
}

/// Removes what programs that are no more left in a folder: a program that is killed cannot clean
/// up.
fn remove_stale(folder: &Path, start: &OsString) {
    // Without /proc nobody can tell who is still there.
    if !Path::new("/proc/self").exists() {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let process = entry
            .file_name()
            .as_encoded_bytes()
            .strip_prefix(start.as_encoded_bytes())
            .and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new("/proc").join(process.to_string()).exists()) {
            remove(&entry.path());
        }
    }
}

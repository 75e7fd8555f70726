//! The code that runs at the moment, in a memory that outlives the process that runs it: whoever
//! watches the process finds there whose code crashed or hung.
//!
//! The memory is a file without a name, which processes that are started later have open as well.
//! It starts with a word for each thread, 0 or the number of a text; behind the words are the
//! texts, a line each.
#![expect(unsafe_code, reason = "two processes share a mapping")]

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::mman::{MapFlags, ProtFlags, mmap};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU32, Ordering};

/// Most threads that have a word.
pub const THREADS_MAX: usize = 64;

const WORDS_BYTES: usize = THREADS_MAX * size_of::<AtomicU32>();

/// The memory, as the process has it that watches.
pub struct WatchedMemory(File);

impl WatchedMemory {
    /// Makes the memory. A process that is started after this has it open as well.
    ///
    /// # Errors
    /// The system has none.
    pub fn new() -> io::Result<Self> {
        let file = tempfile::tempfile()?;
        fcntl(&file, FcntlArg::F_SETFD(FdFlag::empty()))?;
        file.set_len(WORDS_BYTES as u64)?;
        Ok(Self(file))
    }

    /// The argument that tells the process where the memory is.
    pub fn argument(&self) -> OsString {
        self.0.as_raw_fd().to_string().into()
    }

    /// The texts of what runs at the moment, each once.
    pub fn running(&self) -> Vec<String> {
        let mut all = Vec::new();
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = self.0.read_at(&mut piece, all.len() as u64) {
            all.extend_from_slice(&piece[..count]);
        }
        if all.len() < WORDS_BYTES {
            return Vec::new();
        }
        let (words, texts) = all.split_at(WORDS_BYTES);
        let texts = String::from_utf8_lossy(texts);
        let mut running: Vec<u32> = words
            .chunks_exact(4)
            .filter_map(|word| Some(u32::from_ne_bytes(word.try_into().ok()?)))
            .filter(|word| *word > 0)
            .collect();
        running.sort_unstable();
        running.dedup();
        running
            .iter()
            .filter_map(|word| texts.lines().nth(*word as usize - 1))
            .map(str::to_owned)
            .collect()
    }
}

/// The memory, as the process has it that is watched.
pub struct Places {
    file: File,
    words: &'static [AtomicU32; THREADS_MAX],
    texts: u32,
    end: u64,
}

/// The word of a thread.
#[derive(Clone, Copy)]
pub struct Place(&'static AtomicU32);

impl Place {
    /// From now on the code of a text runs.
    #[inline(always)]
    pub fn enter(self, text: u32) {
        self.0.store(text, Ordering::Relaxed);
    }

    /// From now on our own code runs.
    #[inline(always)]
    pub fn leave(self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Places {
    /// Finds the memory by the argument of [`WatchedMemory::argument`].
    ///
    /// # Errors
    /// There is none.
    pub fn open(argument: &str) -> io::Result<Self> {
        let number: u32 = argument.parse().map_err(io::Error::other)?;
        let file = File::options()
            .read(true)
            .write(true)
            .open(format!("/proc/self/fd/{number}"))?;
        let length = NonZeroUsize::new(WORDS_BYTES).ok_or(io::ErrorKind::InvalidInput)?;
        if file.metadata()?.len() < WORDS_BYTES as u64 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping that touches no other one.
        let mapping = unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, &file, 0) }?;
        // SAFETY: the mapping has that many bytes, which the file has as well, is never unmapped,
        // and any bytes are words. The process that watches reads them and no more.
        let words = unsafe { mapping.cast::<[AtomicU32; THREADS_MAX]>().as_ref() };
        Ok(Self {
            file,
            words,
            texts: 0,
            end: WORDS_BYTES as u64,
        })
    }

    /// The word of a thread, by its number below [`THREADS_MAX`].
    pub fn thread(&self, number: usize) -> Place {
        Place(&self.words[number % THREADS_MAX])
    }

    /// Adds a text that says whose code it is, and what of it; returns its number.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn add(&mut self, text: &str) -> io::Result<u32> {
        let line = format!("{}\n", text.replace('\n', " "));
        self.file.write_all_at(line.as_bytes(), self.end)?;
        self.end += line.len() as u64;
        self.texts += 1;
        Ok(self.texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_is_seen_from_outside() {
        let watched = WatchedMemory::new().unwrap();
        assert_eq!(watched.running(), [""; 0]);
        let mut places = Places::open(watched.argument().to_str().unwrap()).unwrap();
        let [first, second] =
            ["run of `a`", "set_up\nof `b`"].map(|text| places.add(text).unwrap());
        places.thread(3).enter(second);
        assert_eq!(watched.running(), ["set_up of `b`"]);
        places.thread(0).enter(first);
        places.thread(1).enter(first);
        assert_eq!(watched.running(), ["run of `a`", "set_up of `b`"]);
        for thread in [0, 1, 3] {
            places.thread(thread).leave();
        }
        assert_eq!(watched.running(), [""; 0]);
        assert!(Places::open("none").is_err() && Places::open("1000000").is_err());
    }
}

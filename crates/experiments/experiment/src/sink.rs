//! Where an experiment's rows go.

use crate::error::Error;
use recording::{Header, Recording, Writer};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Takes an experiment's rows as they come.
pub trait Sink {
    /// Starts the recording. The header's unit of time and counter frequency are final; the rest may change until the run ends.
    ///
    /// # Errors
    /// The place where the recording is to lie is not free.
    fn start(&mut self, header: Header) -> Result<(), Error>;

    /// The header, to be completed. Before [`Sink::start`] it is an empty one.
    fn header(&mut self) -> &mut Header;

    /// Adds the rows of a recording, whose header is not looked at.
    ///
    /// # Errors
    /// They cannot be written.
    fn append(&mut self, rows: &Recording) -> Result<(), Error>;

    /// How far the run is, and whether it is to stop; threads may share it.
    fn progress(&self) -> Arc<Progress>;
}

/// How far a run is, and whether it is to stop.
#[derive(Debug, Default)]
pub struct Progress {
    total: AtomicU64,
    done: AtomicU64,
    doing: Mutex<String>,
    cancelled: AtomicBool,
    silent: AtomicBool,
    abandonable: AtomicBool,
    /// What this is a part of.
    whole: Option<Arc<Progress>>,
}

impl Progress {
    /// The progress of a part of something: its steps are its own, and it is to stop when the whole is.
    pub fn of_part(whole: &Arc<Self>) -> Arc<Self> {
        Arc::new(Self { whole: Some(whole.clone()), ..Self::default() })
    }

    /// There will be so many steps; `what` they are is shown, in the plural.
    pub fn expect(&self, total: u64, what: &str) {
        self.total.fetch_add(total, Relaxed);
        self.say(what);
    }

    /// A step is done.
    pub fn step(&self) {
        self.done.fetch_add(1, Relaxed);
    }

    /// What is going on now.
    pub fn say(&self, what: &str) {
        what.clone_into(&mut self.doing.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Steps done, and how many there will be; 0 where that is not known.
    pub fn steps(&self) -> (u64, u64) {
        (self.done.load(Relaxed), self.total.load(Relaxed))
    }

    /// What is going on.
    pub fn doing(&self) -> String {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The run itself writes on the terminal from now on: progress must not be drawn over it.
    pub fn leave_terminal(&self) {
        self.silent.store(true, Relaxed);
    }

    /// Whether progress is not to be drawn.
    pub fn is_silent(&self) -> bool {
        self.silent.load(Relaxed)
    }

    /// Says whether the run may be left in the middle of a step: nothing of it is kept before its end, and there is nothing to clear up.
    pub fn set_abandonable(&self, abandonable: bool) {
        self.abandonable.store(abandonable, Relaxed);
    }

    /// Whether the run may be left in the middle of a step.
    pub fn is_abandonable(&self) -> bool {
        self.abandonable.load(Relaxed)
    }

    /// Asks the run to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// [`Error::Cancelled`] if the run is to stop: for long runs to ask now and then.
    ///
    /// # Errors
    /// The run is to stop.
    pub fn check(&self) -> Result<(), Error> {
        match self.cancelled.load(Relaxed) {
            true => Err(Error::Cancelled),
            false => self.whole.as_ref().map_or(Ok(()), |whole| whole.check()),
        }
    }
}

/// Keeps the rows in memory.
pub struct Memory {
    recording: Recording,
    progress: Arc<Progress>,
}

impl Memory {
    /// An empty sink.
    pub fn new(progress: Arc<Progress>) -> Self {
        Self { recording: Recording::new(Header::new("", "", "")), progress }
    }

    /// What was recorded.
    pub fn finish(self) -> Recording {
        self.recording
    }
}

impl Sink for Memory {
    fn start(&mut self, header: Header) -> Result<(), Error> {
        self.recording.header = header;
        Ok(())
    }

    fn header(&mut self) -> &mut Header {
        &mut self.recording.header
    }

    fn append(&mut self, rows: &Recording) -> Result<(), Error> {
        self.recording.append(rows);
        Ok(())
    }

    fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }
}

/// Streams the rows into a folder: for runs whose rows are too many for memory.
pub struct Disk<'f> {
    folder: &'f Path,
    header: Header,
    writer: Option<Writer>,
    progress: Arc<Progress>,
}

impl<'f> Disk<'f> {
    /// A sink that writes to `folder`.
    pub fn new(folder: &'f Path, progress: Arc<Progress>) -> Self {
        Self { folder, header: Header::new("", "", ""), writer: None, progress }
    }

    /// Moves the recording to its place.
    ///
    /// # Errors
    /// It cannot be written; nothing is left behind.
    pub fn finish(self) -> Result<(), Error> {
        self.writer.map_or(Ok(()), |writer| Ok(writer.finish(&self.header)?))
    }
}

impl Sink for Disk<'_> {
    fn start(&mut self, header: Header) -> Result<(), Error> {
        self.writer = Some(Writer::create(self.folder, &header)?);
        self.header = header;
        Ok(())
    }

    fn header(&mut self) -> &mut Header {
        &mut self.header
    }

    fn append(&mut self, rows: &Recording) -> Result<(), Error> {
        match &mut self.writer {
            Some(writer) => Ok(writer.append(rows)?),
            None => Err(Error::Failed("rows came before the recording was started".to_owned())),
        }
    }

    fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }
}

//! Sinks: receivers of an experiment's rows.

use crate::error::{Error, Result};
use console::Progress;
use recording::{Header, Recording, Writer};
use std::path::Path;
use std::sync::Arc;

/// Takes an experiment's rows as they come.
pub trait Sink {
    /// Starts the recording. The header's unit of time and counter frequency are final; the rest
    /// may change until the run ends.
    ///
    /// # Errors
    /// Something else is in the recording's folder.
    fn start(&mut self, header: Header) -> Result;

    /// The header, to be completed. Before [`Sink::start`] it is an empty one.
    fn header(&mut self) -> &mut Header;

    /// Adds the rows of a recording, whose header is not looked at.
    ///
    /// # Errors
    /// They cannot be written.
    fn append(&mut self, rows: &Recording) -> Result;

    /// Starts the recording with the header of another one, and adds its rows.
    ///
    /// # Errors
    /// Those of [`Sink::start`] and [`Sink::append`].
    fn whole(&mut self, recording: &Recording) -> Result {
        self.start(recording.header.clone())?;
        self.append(recording)
    }

    /// Adds the rows of a recording that nobody needs any more.
    ///
    /// # Errors
    /// They cannot be written.
    fn take(&mut self, rows: Recording) -> Result {
        self.append(&rows)
    }

    /// True if somebody looks at the events. Where nobody does, a run may leave them out.
    fn wants_events(&self) -> bool {
        true
    }

    /// True if somebody looks at what the header says of platform, settings and costs: of the runs
    /// of a sweep only at that of one. Where nobody does, a run may leave it out.
    fn wants_description(&self) -> bool {
        true
    }

    /// The progress of the run, and the wish to stop it; threads may share it.
    fn progress(&self) -> Arc<Progress>;
}

/// Keeps the rows in memory.
pub struct Memory {
    recording: Recording,
    wants_events: bool,
    wants_description: bool,
    progress: Arc<Progress>,
}

impl Memory {
    /// An empty sink.
    pub fn new(progress: Arc<Progress>) -> Self {
        let recording = Recording::new(Header::new("", "", ""));
        Self {
            recording,
            wants_events: true,
            wants_description: true,
            progress,
        }
    }

    /// Says whether anybody looks at the events, and at what the header says of the platform.
    #[must_use]
    pub fn wanting(self, events: bool, description: bool) -> Self {
        Self {
            wants_events: events,
            wants_description: description,
            ..self
        }
    }

    /// The recording.
    pub fn finish(self) -> Recording {
        self.recording
    }
}

impl Sink for Memory {
    fn start(&mut self, header: Header) -> Result {
        self.recording.header = header;
        Ok(())
    }

    fn header(&mut self) -> &mut Header {
        &mut self.recording.header
    }

    fn append(&mut self, rows: &Recording) -> Result {
        self.recording.append(rows);
        Ok(())
    }

    fn take(&mut self, mut rows: Recording) -> Result {
        if !self.recording.is_empty() {
            return self.append(&rows);
        }
        std::mem::swap(&mut self.recording.header, &mut rows.header);
        self.recording = rows;
        Ok(())
    }

    fn wants_events(&self) -> bool {
        self.wants_events
    }

    fn wants_description(&self) -> bool {
        self.wants_description
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
        Self {
            folder,
            header: Header::new("", "", ""),
            writer: None,
            progress,
        }
    }

    /// Moves the recording to its place.
    ///
    /// # Errors
    /// It cannot be written; nothing is left behind.
    pub fn finish(self) -> Result {
        self.writer
            .map_or(Ok(()), |writer| Ok(writer.finish(&self.header)?))
    }
}

impl Sink for Disk<'_> {
    fn start(&mut self, header: Header) -> Result {
        self.writer = Some(Writer::create(self.folder, &header)?);
        self.header = header;
        Ok(())
    }

    fn header(&mut self) -> &mut Header {
        &mut self.header
    }

    fn append(&mut self, rows: &Recording) -> Result {
        match &mut self.writer {
            Some(writer) => Ok(writer.append(rows)?),
            None => Err(Error::Failed(
                "rows came before the recording was started".to_owned(),
            )),
        }
    }

    fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }
}

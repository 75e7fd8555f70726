//! The idle intervals of a trace: from a recording, or from the trace itself, which is imported
//! first.

use crate::counters::Counters;
use experiment::Error;
use idle::Kind;
use import::ftrace;
use recording::facts::{Away, KernelTrace};
use recording::{Header, Reader};
use sleeps::{Sleep, Summary};
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

/// The idle intervals of a trace.
#[derive(Debug, Default)]
pub struct TracedIntervals {
    /// Sleeps of each CPU, in the order of time.
    pub cpus: Vec<Vec<Sleep>>,
    /// The summary of what is known of them.
    pub summary: Summary,
    /// The importer's notes about the trace.
    pub notes: Vec<String>,
    /// Names of the traced kernel's idle states by number, where the trace says them.
    pub states: Vec<String>,
    /// The traced kernel's governor, where the trace says which and of which release.
    pub governor: Option<Kind>,
    /// True if no task is seen to wait for input or output, in a trace that would show it.
    pub has_no_waiters: bool,
    /// The kernel's own counts, where the trace holds them.
    pub counters: Counters,
    /// Times in which CPUs were offline.
    pub offline: Vec<Away>,
    /// Numbers of each CPU's intervals in which the hardware refused the state, where the trace
    /// says so; in order.
    pub refused: Vec<Vec<usize>>,
}

impl TracedIntervals {
    /// The intervals as they come.
    pub fn from_sleeps(sleeps: impl IntoIterator<Item = Sleep>) -> Self {
        let mut traced = Self::default();
        for sleep in sleeps {
            traced.summary.count(&sleep);
            traced.push(sleep);
        }
        traced
    }

    fn push(&mut self, sleep: Sleep) {
        let cpu = usize::from(sleep.cpu);
        if self.cpus.len() <= cpu {
            self.cpus.resize(cpu + 1, Vec::new());
            self.refused.resize(cpu + 1, Vec::new());
        }
        self.cpus[cpu].push(sleep);
    }

    /// All intervals, CPU by CPU.
    pub fn all(&self) -> impl Iterator<Item = &Sleep> {
        self.cpus.iter().flatten()
    }

    /// True if the numbers of the trace's states mean the states of a platform. Where the trace
    /// does not name its states they are taken to.
    pub fn has_states_of<'a>(&self, names: impl Iterator<Item = &'a str>) -> bool {
        self.states.is_empty() || self.states.iter().map(String::as_str).eq(names)
    }

    /// The time by which a stay is longer by the trace than by the kernel's own clock, in
    /// nanoseconds; `None` where the trace does not tell.
    pub fn tracing_ns(&self) -> Option<u64> {
        self.counters.tracing_ns(&self.cpus, &self.refused)
    }

    /// Reads the recording of a trace, or a trace.
    ///
    /// # Errors
    /// It cannot be read, or has no idle interval.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::recording(TraceFolder::open(path)?.path())
    }

    /// Reads the trace that the program brings along.
    ///
    /// # Errors
    /// There is no room for a temporary recording.
    pub fn sample() -> Result<Self, Error> {
        let sample = Cursor::new(ftrace::SAMPLE);
        let folder = TraceFolder::imported(sample, "the sample trace".to_owned())?;
        let mut traced = Self::recording(folder.path())?;
        traced.notes.push(
            "No trace was named, so this is the sample that Stopwatt brings along: Linux on two CPUs of QEMU's virt machine."
                .to_owned(),
        );
        Ok(traced)
    }

    fn recording(folder: &Path) -> Result<Self, Error> {
        let reader = Reader::open(folder)?;
        let mut traced = Self::from_sleeps([]);
        let notes = reader.header().notes.clone();
        // A trace that another program recorded says nothing of its kernel.
        let kernel = reader.header().facts().unwrap_or_default();
        traced.governor = own_governor(&kernel);
        traced.has_no_waiters = kernel.uninterrupted_waits == Some(0);
        let states = kernel.states.into_iter().map(|state| state.name).collect();
        let offline = kernel.away.into_iter();
        traced.offline = offline.filter(|of| of.why == Away::OFFLINE).collect();
        let counters = Counters::new(&kernel.usage);
        let summary = sleeps::sleeps(folder, |sleep| traced.push(sleep)).map_err(Error::failed)?;
        for &(cpu, at_ns) in &summary.refused {
            let cpu = usize::from(cpu);
            let Some(sleeps) = traced.cpus.get(cpu) else {
                continue;
            };
            // The kernel says so after the interval.
            let number = sleeps
                .partition_point(|sleep| sleep.exit_ns <= at_ns)
                .checked_sub(1);
            let refused = &mut traced.refused[cpu];
            if let Some(number) = number
                && refused.last() != Some(&number)
            {
                refused.push(number);
            }
        }
        (traced.summary, traced.notes, traced.states, traced.counters) =
            (summary, notes, states, counters);
        if traced.cpus.is_empty() {
            let help = "record the event power:cpu_idle, for instance with `trace-cmd record -e power:cpu_idle -e timer -e irq`";
            return Err(Error::usage("the trace has no idle interval", help));
        }
        Ok(traced)
    }
}

/// The folder of a trace's recording, which goes with this value where it was imported for it.
pub enum TraceFolder {
    /// A recording that is there.
    Recorded(PathBuf),
    /// A trace that was imported.
    Imported(disk::Partial),
}

impl TraceFolder {
    /// The recording of a trace, or a trace, which is imported.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if path.is_dir() {
            return Ok(Self::Recorded(path.to_owned()));
        }
        let shown = import::shown(path);
        let file = import::open(path, &shown).map_err(Error::file)?;
        Self::imported(BufReader::new(file), shown)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        match self {
            Self::Recorded(path) => path,
            Self::Imported(folder) => folder.path(),
        }
    }

    fn imported(text: impl Read + Seek, file: String) -> Result<Self, Error> {
        // The events of a long trace do not fit into memory; what is made of them does.
        let folder = disk::Partial::temporary("stopwatt-trace");
        let options = ftrace::Options {
            file,
            ..ftrace::Options::default()
        };
        let header = Header::new("ftrace", "import", "ns");
        ftrace::record(text, &options, "trace", header, folder.path()).map_err(
            |error| match error {
                ftrace::Error::Import(error) => Error::file(error),
                ftrace::Error::Recording(error) => Error::failed(error),
            },
        )?;
        Ok(Self::Imported(folder))
    }
}

/// The governor that a trace says its kernel had. Of menu and teo it must say the release as well.
fn own_governor(kernel: &KernelTrace) -> Option<Kind> {
    let name = kernel.governor.as_deref()?;
    Kind::find(name)
        .filter(|kind| *kind == Kind::Ladder)
        .or_else(|| Kind::find(&format!("{name}@{}", kernel.release.as_deref()?)))
}

//! The process that runs a loop, from outside: it is asked, and watched.

use crate::protocol::{Cell, Learned, LoopAbout, Measure, Request, Source};
use crate::worker::ARGUMENT;
use itertools::Itertools;
use serde::de::DeserializeOwned;
use std::time::Duration;
use worker_process::Failure;

/// A process that has a loop open.
pub struct Process {
    process: worker_process::Process,
    patience: Duration,
    /// The loop's name, and where it is from.
    pub name: String,
    /// The loop.
    pub about: LoopAbout,
}

impl Process {
    /// Starts a process and opens a loop in it. With `huge_pages`, what it allocates lies in huge
    /// pages where C library and kernel have them. It may take `patience` for each answer.
    ///
    /// # Errors
    /// There is no such loop, or it cannot be started.
    pub fn start(source: &Source, huge_pages: bool, patience: Duration) -> Result<Self, Failure> {
        let process = worker_process::Process::start("a loop", &[ARGUMENT.into()], huge_pages)
            .map_err(Failure::Refused)?;
        let name = match &source.name {
            Some(name) => format!("`{name}` of {}", source.path.display()),
            None => format!("of {}", source.path.display()),
        };
        let mut process = Self {
            process,
            patience,
            name,
            about: LoopAbout::default(),
        };
        let about: LoopAbout = process.ask(&Request::Open(source.clone()), "as it was loaded")?;
        process.name = format!("`{}` of {}", about.name, source.path.display());
        process.about = about;
        Ok(process)
    }

    /// Makes records; the bytes of memory that they take, `None` if there is no memory for them.
    ///
    /// # Errors
    /// The loop crashed or hung.
    pub fn set_up(&mut self, count: u64) -> Result<Option<u64>, Failure> {
        self.ask(
            &Request::SetUp { count },
            &format!("as it set up {count} records"),
        )
    }

    /// Ticks per record of a cell, measured once.
    ///
    /// # Errors
    /// The loop crashed or hung.
    pub fn measure(&mut self, measure: &Measure) -> Result<f64, Failure> {
        let Cell { records, frames } = measure.cell;
        let doing = format!(
            "with {}, in batches of {frames} of {records} records",
            self.about.words(&measure.values)
        );
        self.ask(&Request::Measure(measure.clone()), &doing)
    }

    /// Finds out how calls of `frames` records can be compared, by what they leave with `values`.
    ///
    /// # Errors
    /// The loop crashed or hung.
    pub fn learn(&mut self, frames: Vec<u64>, values: Vec<u32>) -> Result<Learned, Failure> {
        let doing = self.doing(&frames, &values);
        self.ask(&Request::Learn { frames, values }, &doing)
    }

    /// True if calls of the frames that were learned leave the same behind with other values.
    ///
    /// # Errors
    /// The loop crashed or hung.
    pub fn check(&mut self, frames: &[u64], values: Vec<u32>) -> Result<bool, Failure> {
        let doing = self.doing(frames, &values);
        self.ask(&Request::Check { values }, &doing)
    }

    fn doing(&self, frames: &[u64], values: &[u32]) -> String {
        let frames = frames.iter().join(", ");
        format!("with {}, in batches of {frames}", self.about.words(values))
    }

    fn ask<A: DeserializeOwned>(&mut self, request: &Request, doing: &str) -> Result<A, Failure> {
        let name = &self.name;
        self.process.ask(
            request,
            self.patience,
            &|| format!("the loop {name}"),
            doing,
        )
    }
}

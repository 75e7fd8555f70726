//! The process that runs a loop, from outside: it is asked, and watched.

use crate::protocol::{Changed, LoopAbout, Made, Measure, Request, Source};
use crate::worker::ARGUMENT;
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

    /// Makes records; `None` if there is no memory for them.
    ///
    /// # Errors
    /// The loop crashed or hung.
    pub fn set_up(&mut self, count: u64) -> Result<Option<Made>, Failure> {
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
        let of = format!("{} of {} records", measure.batch, measure.records);
        let doing = format!(
            "with {}, in batches of {of}",
            self.about.words(&measure.values)
        );
        self.ask(&Request::Measure(measure.clone()), &doing)
    }

    /// What a call of the loop with `batch` records changes in memory; `None` where that cannot be
    /// found out.
    ///
    /// # Errors
    /// The loop crashed or hung.
    pub fn check(&mut self, batch: u64, values: &[u32]) -> Result<Option<Changed>, Failure> {
        self.ask(
            &Request::Check {
                batch,
                values: values.to_vec(),
            },
            &format!("with {}, in batches of {batch}", self.about.words(values)),
        )
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

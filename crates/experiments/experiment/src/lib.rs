//! The interface of experiments.
//!
//! An experiment is a procedure that leaves a recording. It says what it can be told ([`About`]),
//! is told so ([`Request`]), and returns its rows. It knows no command line, no file format of
//! reports and no published figure. From its `About` the command makes `stopwatt run`,
//! `what-if`, `list`, their help, their errors and their progress; whoever adds an experiment adds
//! a crate that implements [`Experiment`], and a line in the command's list.
//!
//! `examples/clock_read.rs` is a whole experiment in some fifty lines.
//!
//! | file | what it is about |
//! |---|---|
//! | `about.rs` | an experiment's description of itself: worlds, needs, settings |
//! | `world.rs` | the kinds of worlds |
//! | `setting.rs` | settings: constants with types |
//! | `settings.rs` | what it was told, checked against its description |
//! | `request.rs` | a request: world, settings, platform files, conditions of published runs |
//! | `observer.rs` | who waits for a run, and what it looks at |
//! | `files.rs` | text files of a data folder, or built into the program |
//! | `jobs.rs` | jobs that are done side by side |
//! | `kept.rs` | what is made of files once for many runs |
//! | `sweep.rs` | every combination of some settings |
#![forbid(unsafe_code)]

mod about;
mod error;
mod files;
mod jobs;
mod kept;
mod observer;
mod request;
pub mod setting;
mod settings;
pub mod sweep;
mod world;

pub use about::About;
pub use console::Progress;
pub use error::{Error, Result};
pub use files::{Files, Folder};
pub use jobs::side_by_side;
pub use kept::{Kept, KeptKey};
pub use observer::Observer;
pub use request::{Conditions, Request};
pub use setting::{Kind, Setting};
pub use settings::Settings;
pub use world::World;

use recording::Recording;

/// A procedure that leaves a recording.
pub trait Experiment: Sync {
    /// The description of the experiment and of its settings.
    fn about(&self) -> &'static About;

    /// Finds what is wrong with a request, without running it: a platform that is not there, a
    /// setting that contradicts another.
    ///
    /// # Errors
    /// The error, and what would be right.
    fn check(&self, request: &Request<'_>) -> Result {
        let _ = request;
        Ok(())
    }

    /// Runs, and returns the recording. The order of its rows must not depend on threads or on time,
    /// where the world is repeatable.
    ///
    /// A check that fails is no error: it becomes one of the header's complaints. The recording is
    /// kept, and the command's answer is no.
    ///
    /// # Errors
    /// Why there is no recording. [`Error::Cancelled`] when the observer's progress says so and it
    /// stopped.
    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording>;
}

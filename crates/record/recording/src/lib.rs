//! The recording: what a run leaves behind, whichever world it ran in.
//!
//! A recording is a folder of four files that need nothing of ours to be read:
//!
//! | file | holds |
//! |---|---|
//! | `events.parquet` | time-stamped events at named points, per CPU |
//! | `measures.parquet` | named numbers with units, for a case, an iteration, a CPU or another subject |
//! | `causes.parquet` | what each measured span was spent on, and who was waited for |
//! | `recording.toml` | what repeats the run ([`Header`]), and in `[run]` what differs from run to run |
//!
//! Filling a recording is cheap: names are interned once, and an event is one `Vec` push of 32
//! bytes.
//!
//! ```
//! use recording::{Header, Recording};
//!
//! let mut recording = Recording::new(Header::new("psci-latency", "sim", "ps"));
//! let series = recording.series("v2.12", "suspend-deepest", "parallel");
//! let enter = recording.point("enter-psci");
//! let exit = recording.point("exit-psci");
//! recording.event(series, 0, 3, 1_000_000, 50, enter, 0);
//! recording.event(series, 0, 3, 6_000_000, 300, exit, 0);
//! let wakeup = recording.measure(series, 0, "wakeup", "us", 26.9);
//! wakeup.cpu = Some(3);
//!
//! # let folder = std::env::temp_dir().join(format!("recording-doc-{}", std::process::id()));
//! recording.write(&folder)?;
//! assert_eq!(Recording::read(&folder)?.events().len(), 2);
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), recording::Error>(())
//! ```
//!
//! # Same inputs, same bytes
//! Both Parquet files depend on nothing but the rows and their order: not on the order in which
//! names were interned, on threads, on the build or on the time. `recording.toml` is equal outside
//! `[run]`. Who runs many simulations side by side appends their recordings in a fixed order
//! ([`Recording::append`]).
#![forbid(unsafe_code)]

mod columns;
mod error;
pub mod facts;
mod folder;
mod header;
pub mod idle;
mod in_order;
pub mod metrics;
mod names;
mod open;
mod parquet;
mod part;
mod reader;
mod rows;
pub mod stats;
pub mod table;
pub mod units;
mod writer;

pub use error::{Error, Result};
pub use header::{
    Axis, FileFacts, Header, Interval, Lane, Picture, PictureKind, Platform, Run, TimeBase,
    TimerMode, TimerOwners, conditions,
};
pub use in_order::{distinct, grouped, place_of, total_order};
pub use names::Name;
pub use open::checksum;
pub use part::PartWriter;
pub use reader::{MOST_HELD, Reader};
pub use rows::{CauseRow, Event, Measure, PointName, Recording, RowKinds, Series, SeriesNames};
pub use writer::Writer;

/// The version of the format that this crate writes, and the only one it reads.
pub const FORMAT_VERSION: u32 = 1;

//! Sweeps: an experiment run at every point of a plan, on one machine or on many.
//!
//! A [`Plan`] is a TOML file. It expands to numbered points, the same everywhere, and fixes the
//! chunks that they are written in. Whoever runs it (all cores of one machine, the tasks of a Slurm
//! array, the workers of a Dask cluster) runs a [`Share`] of its chunks. Each chunk is a folder of
//! Parquet files that is there whole or not at all, so a sweep that was killed goes on where it was
//! ([ADR 0015](../../../docs/adr/0015-the-plan-fixes-the-chunks.md)).
//!
//! | file | what it is about |
//! |---|---|
//! | `draw.rs` | random numbers and permutations that are functions of a seed, a key and an index |
//! | `axis.rs` | what varies: grids, lists, draws, repetitions |
//! | `plan.rs` | a plan as it is written, and its points |
//! | `parse.rs` | the text of a plan |
//! | `fits.rs` | a plan held to the description of its experiment |
//! | `inputs.rs` | the platform files of a sweep: read once, and noted |
//! | `manifest.rs` | what is said of a data set and of each of its chunks |
//! | `dataset.rs` | the folder of a data set |
//! | `read.rs` | a data set as a recording, for comparisons and reports of single points |
//! | `chunk.rs` | a chunk is run and written |
//! | `run.rs` | a share of the chunks is run, on all cores |
//! | `summary.rs` | one figure per measure of each point, for reports of sweeps |
#![forbid(unsafe_code)]

mod axis;
mod chunk;
mod dataset;
mod draw;
mod error;
mod fits;
mod inputs;
mod manifest;
mod parse;
mod plan;
mod read;
mod run;
mod summary;

pub use axis::Value;
pub use chunk::Environment;
pub use dataset::{Dataset, is_sweep};
pub use error::{Error, Result};
pub use fits::Fitting;
pub use manifest::FailedPoint;
pub use plan::{DEFAULT_MOST, Plan, Point};
pub use read::read;
pub use run::{Outcome, Share, Unwritten, run, some_point_can_run};
pub use summary::{PointSummary, Quantity, Summary, summary};

//! The data plane's experiments: whole graphs at full load, ours and those of others, on generated
//! packets or those of an interface; the highest rate without loss; the stride study on this
//! machine and on a modelled core; frame sizes.
//!
//! Nothing here can reach a published figure: a prediction is told which cells to predict, a fit is
//! handed the cells that it may use.
#![deny(unsafe_code)]

mod batch;
#[cfg(target_os = "linux")]
mod event_counters;
mod events;
pub mod frame_path;
pub mod graphs;
pub mod host;
pub mod latency;
mod loaded;
pub mod model;
#[cfg(target_os = "linux")]
mod own_graph;
pub mod places;
pub mod platform;
mod prefetch;
pub mod results;
pub mod slice;
mod trial;

pub use batch::Batch;
pub use loaded::Dataplane;
#[cfg(target_os = "linux")]
pub use own_graph::{ARGUMENT as GRAPH_WORKER, check as check_graph, work as run_graph};
pub use prefetch::Prefetch;

use ::dataplane::study::Work;
use ::dataplane::walk::Strides;
use experiment::World;
use experiment::setting::{self, CheckedSetting, Choice, Number, Or, Switch};
use places::CacheLevel;
use recording::Header;

const HOST: &[World] = &[World::Host];
const SIM: &[World] = &[World::Sim];

const PLATFORM: Or<setting::Platform> =
    setting::Platform::new("platform", "Platform of the modelled core.")
        .only(SIM)
        .or("macchiatobin");

/// Packets of a frame.
pub const FRAME_SIZE: Or<CheckedSetting<usize>> = CheckedSetting::new(
    "frame-size",
    "N",
    frame_size,
    "Packets of a frame: 64, 128, 256, 512 or 1024.",
)
.or("256");

// The settings of the stride study that `prefetch` and `batch` share; those for all worlds also
// mean something on a modelled core.

const FRAMES: Number<usize> = Number::new(
    "frames",
    1..=100_000,
    "Frames of a measurement [default: 48 on this machine; on a modelled core 400, and 100 for batch].",
);

const REPETITIONS: Or<Number<usize>> =
    Number::new("repetitions", 1..=10_000, "Measurements of each cell.")
        .only(HOST)
        .or(15);

const BUFFERS: Or<Number<usize>> = Number::new(
    "buffers",
    1024..=1 << 22,
    "Buffers gone through before one comes again.",
)
.only(HOST)
.or(131_072);

const ROUNDS: Or<Number<u32>> =
    Number::new("rounds", 0..=u32::MAX, "Rounds of extra work per packet.")
        .only(HOST)
        .or(48);

const IN_FRAME: Switch = Switch::new(
    "in-frame",
    "Keep metadata in the frame's columns: one line per packet.",
)
.only(HOST);

const WORK: Or<Choice<Work>> = Choice::new(
    "work",
    &[
        (
            "chained",
            Work::Chained,
            "each round needs the one before: loops of several packets overlap them",
        ),
        (
            "independent",
            Work::Independent,
            "four chains side by side: the core overlaps them by itself",
        ),
    ],
    "What the rounds of extra work depend on.",
)
.only(HOST)
.or(Work::Chained);

const HEADER_IN: Choice<CacheLevel> = Choice::new(
    "header-in",
    CacheLevel::CHOICES,
    "Where the metadata lies before a frame [default: l2 on a modelled core, dram here].",
);

const DATA_IN: Choice<CacheLevel> = Choice::new(
    "data-in",
    CacheLevel::CHOICES,
    "Where the packet's data lies before a frame [default: dram].",
);

/// A number of packets of a frame.
///
/// # Errors
/// The sizes that there are.
pub fn frame_size(text: &str) -> Result<usize, String> {
    dataplane::plane::Settings::checked_frame_size(
        text.parse().map_err(|_| format!("`{text}` is no number"))?,
    )
}

/// Prefetch strides, as `4` or `2/13`, each of which `number` reads.
fn parse_strides<E>(text: &str, number: impl Fn(&str) -> Result<usize, E>) -> Result<Strides, E> {
    match text.split_once('/') {
        Some((header, data)) => Ok(Strides {
            header: number(header)?,
            data: number(data)?,
        }),
        None => number(text).map(Strides::both),
    }
}

/// A header for what this machine measures: in ticks of its counter.
pub fn host_header(experiment: &str, iterations: u32) -> Header {
    let mut header = Header::new(experiment, World::Host.name(), "ticks");
    header.iterations = iterations;
    header.time.counter_hz = Some(dataplane::machine::counter_hz());
    header.run.counter = Some(dataplane::machine::COUNTER.to_owned());
    header
}

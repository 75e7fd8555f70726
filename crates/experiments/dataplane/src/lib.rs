//! The data plane's experiments: whole graphs at full load, the stride study on this machine and on a modelled core, frame sizes.
//!
//! Nothing here can reach a published figure: a prediction is told which cells to predict, a fit is handed the cells that it may use.
#![forbid(unsafe_code)]

mod accesses;
mod batch;
#[cfg(target_os = "linux")]
mod events;
pub mod fit;
pub mod footprint;
pub mod graphs;
pub mod host;
pub mod latency;
mod loaded;
pub mod model;
mod patterns;
pub mod places;
pub mod platform;
mod prefetch;
pub mod results;

pub use batch::Batch;
pub use loaded::Dataplane;
pub use patterns::Patterns;
pub use prefetch::Prefetch;

use experiment::{Kind, Setting, World};
use places::Place;
use recording::Header;

const HOST: &[World] = &[World::Host];

/// The settings of the stride study that `prefetch` and `batch` share; the first ones also mean something on a modelled core.
const STUDY_SETTINGS: [Setting; 9] = [
    Setting::new("frame-size", Kind::Checked(frame_size, "N"), "Packets of a frame: 64, 128, 256, 512 or 1024.")
        .or("256"),
    Setting::new(
        "frames",
        Kind::Number { min: 1, max: 100_000 },
        "Frames of a measurement: 48 on this machine and 400 on a modelled core where it is not given.",
    ),
    Setting::new("repetitions", Kind::Number { min: 1, max: 10_000 }, "Measurements of each cell.").or("15").only(HOST),
    Setting::new("buffers", Kind::Number { min: 1024, max: 1 << 22 }, "Buffers gone through before one comes again.")
        .or("131072")
        .only(HOST),
    Setting::new("rounds", Kind::Number { min: 0, max: u32::MAX as u64 }, "Rounds of extra work per packet.")
        .or("48")
        .only(HOST),
    Setting::new("in-frame", Kind::Switch, "Keep metadata in the frame's lanes: one line per packet.").only(HOST),
    Setting::new(
        "work",
        Kind::Choice(&[
            ("chained", "each round needs the one before: loops of several packets overlap them"),
            ("independent", "four chains side by side: the core overlaps them by itself"),
        ]),
        "What the rounds of extra work depend on.",
    )
    .or("chained")
    .only(HOST),
    Setting::new(
        "header-in",
        Kind::Choice(Place::CHOICES),
        "Where the metadata lies before a frame [default: l2 on a modelled core, dram here].",
    ),
    Setting::new(
        "data-in",
        Kind::Choice(Place::CHOICES),
        "Where the packet's data lies before a frame [default: dram].",
    ),
];

/// Checks a number of packets of a frame.
///
/// # Errors
/// The sizes that there are.
pub fn frame_size(text: &str) -> Result<(), String> {
    let size = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    dataplane::plane::Settings::checked_frame_size(size).map(|_| ())
}

/// A header for what this machine measures: in ticks of its counter.
pub fn host_header(experiment: &str, iterations: u32) -> Header {
    let mut header = Header::new(experiment, World::Host.name(), "ticks");
    header.iterations = iterations;
    header.versions.insert("stopwatt".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    header.time.counter_hz = Some(dataplane::machine::counter_hz());
    header.run.counter = Some(dataplane::machine::COUNTER.to_owned());
    header
}

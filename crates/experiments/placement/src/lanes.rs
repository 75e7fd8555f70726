//! The timeline: a second of the first seed, under each policy. A run of which less is simulated
//! begins in the same way.

use crate::input::Input;
use crate::seed_run::outcome;
use experiment::Result;
use minikernel::placement::Kind;
use recording::Recording;
use std::ops::Range;
use timeline::Timelines;

/// The case of the events.
const CASE: &str = "timeline";
/// Loads settle before the kept part begins, in nanoseconds.
const WARM_UP_NS: u64 = 1_000_000_000;
/// The time that is kept, in nanoseconds.
const KEPT_NS: u64 = 1_000_000_000;

/// The part that is kept, in nanoseconds from the beginning.
pub fn kept(input: &Input) -> Range<u64> {
    let to = (WARM_UP_NS + KEPT_NS).min(input.time_ns);
    to.saturating_sub(KEPT_NS)..to
}

/// Runs a policy for as long as is needed, and keeps its events.
pub fn add(
    recording: &mut Recording,
    timelines: &mut Timelines,
    input: &Input,
    kind: Kind,
) -> Result {
    let kept = kept(input);
    let outcome = outcome(input, kind, input.seeds.0, true, kept.end)?;
    let series = recording.series(kind.name(), CASE, "");
    timelines.add(recording, series, &input.hardware, &outcome, kept);
    Ok(())
}

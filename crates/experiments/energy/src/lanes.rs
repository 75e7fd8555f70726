//! The timelines: a short part of each benchmark in each configuration, at the central point with
//! the first of its seeds.

use crate::board::Board;
use crate::configuration::Configuration;
use crate::plan::{Kind, Visit};
use crate::runs::simulate;
use experiment::{Progress, Result};
use recording::Recording;
use timeline::Timelines;

/// The mode of the events.
pub const MODE: &str = "timeline";
/// The part that is kept, in nanoseconds from the beginning: loads have settled, and the recording
/// stays small.
pub const KEPT_NS: std::ops::Range<u64> = 1_000_000_000..1_200_000_000;

/// Adds the timelines of what was visited.
///
/// # Errors
/// A benchmark cannot be run as its file says, or the run was told to stop.
pub fn add<'v, 's: 'v>(
    recording: &mut Recording,
    board: &Board,
    visits: impl Iterator<Item = &'v Visit<'s>>,
    progress: &Progress,
) -> Result {
    let mut timelines = Timelines::default();
    for visit in visits.filter(|visit| visit.kind == Kind::Central && visit.number == 0) {
        for configuration in Configuration::ALL {
            progress.check()?;
            let run = simulate(
                board,
                visit.benchmark,
                configuration,
                &visit.point,
                KEPT_NS.end,
                true,
            )?;
            let series = recording.series(configuration.name(), &visit.benchmark.name, MODE);
            timelines.add(recording, series, &run.hardware, &run.outcome, KEPT_NS);
        }
    }
    timelines.name_tasks(&mut recording.header);
    let [from, to] = [KEPT_NS.start, KEPT_NS.end].map(|ns| ns as f64 / 1e9);
    let note = format!(
        "The timelines hold {from:.1} s to {to:.1} s of each benchmark, at the central point with the first seed."
    );
    recording.header.notes.push(note);
    Ok(())
}

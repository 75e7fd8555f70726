//! From a recording to its idle intervals.

use crate::sleep::{Reason, Sleep, SleepLength, Summary, Waker};
use recording::{Reader, Recording};
use std::collections::BTreeMap;

/// Why a recording has no idle intervals to read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] recording::Error),
    /// The recording is not one of a trace.
    #[error(
        "a recording of `{experiment}` whose time counts {unit} holds no idle intervals; expected a trace, as `stopwatt import` makes it, in ns"
    )]
    NotATrace {
        /// Its experiment.
        experiment: String,
        /// What its time counts.
        unit: String,
    },
}

/// Hands over each idle interval of a trace: for each CPU in the order of time.
///
/// # Errors
/// The recording is damaged, or is not one of a trace.
pub fn sleeps(reader: &mut Reader, mut each: impl FnMut(Sleep)) -> Result<Summary, Error> {
    let header = reader.header().clone();
    if header.time.unit != "ns" {
        return Err(Error::NotATrace { experiment: header.experiment, unit: header.time.unit });
    }
    let mut summary = Summary::default();
    let mut open: BTreeMap<u16, (u64, u8)> = BTreeMap::new();
    let mut rows = Recording::new(header);
    while reader.next_events(&mut rows)? {
        let (enter, exit) = (rows.find_point("idle-enter"), rows.find_point("idle-exit"));
        for event in rows.events() {
            if Some(event.point) == enter {
                open.insert(event.cpu, (event.time, event.argument as u8));
            } else if Some(event.point) == exit
                && let Some((enter_ns, state)) = open.remove(&event.cpu)
            {
                let sleep = Sleep {
                    cpu: event.cpu,
                    enter_ns,
                    exit_ns: event.time.max(enter_ns),
                    state,
                    length: SleepLength::Unknown { reason: Reason::NoWaker },
                    waker: Waker::Unknown,
                    tick_stopped: None,
                };
                summary.count(&sleep);
                each(sleep);
            }
        }
        rows.clear();
    }
    Ok(summary)
}

//! Scheduling policies by rt-app's names.

use crate::values::Source;
use document::json::Item;
use document::{Error, quoted};

/// The class of a scheduling policy.
#[derive(Clone, Copy)]
pub enum Class {
    Fair,
    RealTime,
}

/// The words that say what to write in place of deadlines.
pub const NO_DEADLINES: &str = "write `\"policy\": \"SCHED_FIFO\"` with a `priority` that is higher the shorter the task's period is, \
     and leave the `dl-` keys out: tasks then run in the same order where none takes more than its `dl-runtime`";

/// Reads a policy's name.
pub fn class(source: &Source, item: &Item) -> Result<Class, Error> {
    match source.string(item, "a policy")? {
        "SCHED_OTHER" => Ok(Class::Fair),
        "SCHED_FIFO" => Ok(Class::RealTime),
        "SCHED_DEADLINE" => {
            source.wrong(item.at, "SCHED_DEADLINE is not simulated", NO_DEADLINES)
        }
        known @ ("SCHED_RR" | "SCHED_IDLE" | "SCHED_BATCH") => {
            source.wrong(item.at, format!("{known} is not simulated"), "`SCHED_FIFO` runs until it blocks; `SCHED_OTHER` has shares by `priority` from -20 to 19")
        }
        other => {
            source.wrong(item.at, format!("{} is no policy", quoted(other)), "there are `SCHED_OTHER` and `SCHED_FIFO`")
        }
    }
}

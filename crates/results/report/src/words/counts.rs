//! Counts of instructions: of calls beside other firmware's, and by function.

use super::listed;
use crate::blocks::{Cell, Number, fixed, percent, whole};
use findings::functions::of_first_build;
use findings::psci_calls::{Call, Calls};
use recording::facts::Functions;

/// A number of instructions: whole where it is whole.
pub fn count(value: f64) -> Number {
    crate::blocks::quantity(value, "instructions")
}

/// The count of a build; a range where the machine's clock alone tells.
pub fn counted(call: &Call<'_>, build: &str) -> Cell {
    let off = call.uncertainty as f64;
    call.counts
        .get(build)
        .map_or(Cell::Empty, |&value| match call.uncertainty {
            0 => fixed(value, usize::from(value.fract().abs() >= 0.05)).into(),
            _ => Cell::Range(
                whole((value - off).max(0.0).floor()),
                whole((value + off).ceil()),
            ),
        })
}

/// The count of another firmware, from its lower end to its upper.
pub fn between(low: u64, high: u64) -> Cell {
    Cell::Range(whole(low as f64), whole(high as f64))
}

/// The first call in the first build, beside other firmware's.
pub fn first_call(calls: &Calls<'_>) -> Option<String> {
    let call = calls.calls.first()?;
    let build = call.builds.first()?;
    let others = call.others.iter().filter(|other| other.build == *build);
    let others = others.map(|of| {
        let range = between(of.low, of.high).plain();
        format!("{range} in {}", of.implementation)
    });
    let ours = call.counts.get_key_value("stopwatt");
    let ours = ours.map(|(ours, _)| format!("{} in Stopwatt's", counted(call, ours).plain()));
    let others = listed(others.chain(ours));
    let beside = if others.is_empty() {
        others
    } else {
        format!(", {others}")
    };
    let own = counted(call, build).plain();
    Some(format!(
        "`{}` takes {own} instructions in the build {build}{beside}.",
        call.call
    ))
}

/// The function with the most instructions of one passage; a sum over several says nothing of any.
pub fn by_function(counts: &Functions) -> Option<String> {
    let sums = of_first_build(counts).filter(|sums| sums.passages == 1)?;
    let of_all = format!("the {} instructions", count(sums.all()));
    let (share, build) = (percent(sums.share_of(1), 0), &sums.build);
    let name = sums.functions.first().map_or("", |(name, _)| name);
    Some(format!("`{name}` has {share} of {of_all} ({build})."))
}

//! A loop that somebody tunes: whether its best values are told from today's, and how sure that is.

use super::clocks;
use crate::blocks::{Blocks, fixed};
use evidence::share_less;
use findings::tune::{Best, Less, Partial, Tune};
use itertools::Itertools;
use recording::facts::{ComparedBy, MissedLine};

/// A difference in percent that no user would act on.
const ALIKE: f64 = 1.0;

/// Values of knobs.
pub fn values(tune: &Tune<'_>, values: &[u32]) -> String {
    tune.facts
        .knobs
        .iter()
        .zip(values)
        .map(|(knob, value)| format!("{} {value}", knob.name))
        .join(", ")
}

/// The sentence about the best and today's values.
fn verdict(tune: &Tune<'_>, best: &Best) -> String {
    let (found, of) = (values(tune, &best.values), &tune.facts.name);
    // A loop without a source has no values in it.
    let mut knobs = tune.facts.knobs.iter();
    let today = if knobs.any(|knob| knob.define.is_some() || knob.today > 0 && knob.is_distance) {
        "with today's values"
    } else {
        "without prefetch"
    };
    let takes = format!("{} per record", clocks::words(&tune.ticks, best.clocks));
    if !tune.facts.is_checked {
        return format!(
            "With {found} `{of}` took the least time, {takes}, but may have done less work: nothing that it leaves behind was compared"
        );
    }
    let taken = |less: &Less| share_less(less.interval.map(|percent| percent / 100.0));
    match &best.less_than_today {
        Some(less) if less.is_certain() && less.percent > 0.0 => format!(
            "With {found} `{of}` takes the least time of what was tried: {takes}, {} than {today}",
            taken(less)
        ),
        Some(less) if less.interval.iter().all(|end| end.abs() < ALIKE) && !less.drifts => {
            format!("`{of}` takes the same time {today} as with {found}, within {ALIKE} %: {takes}")
        }
        Some(less) => {
            let why = if less.drifts {
                ": the first half of the rounds contradicts the second"
            } else {
                ""
            };
            format!(
                "Whether `{of}` takes less time than {today} cannot be told here now; with {found} it takes {}{why}",
                taken(less)
            )
        }
        None if best.today == Some(best.clocks) => {
            format!("Nothing that was tried takes less time than `{of}` {today}: {found}, {takes}")
        }
        None => format!(
            "`{of}` took {takes} with {found}; {} rounds are too few to compare that with today's values, and a longer `--for` may tell",
            tune.facts.rounds
        ),
    }
}

/// The sentence about vectors that are not full.
fn not_full(tune: &Tune<'_>, partial: &Partial) -> String {
    let found = values(tune, &partial.values);
    let [least, most] = partial.frames;
    match &partial.less_than_best {
        Some(less) if less.is_certain() && less.percent > ALIKE => format!(
            "In calls of {least} to {most} records, as of a router that is not busy, {found} takes {} than these values.",
            share_less(less.interval.map(|percent| percent / 100.0))
        ),
        _ => format!(
            "In calls of {least} to {most} records, as of a router that is not busy, nothing that was tried surely takes {ALIKE} % less."
        ),
    }
}

/// The sentence about a line at which loads miss.
fn missed(line: &MissedLine) -> String {
    let (percent, place) = (fixed(100.0 * line.share, 0), &line.place);
    let wants = line.unnamed.as_ref().map(|name| {
        format!("; no prefetch of its source names `{name}`, so it is a candidate for a knob")
    });
    format!(
        " {percent} % of perf's samples are at {place}{}.",
        wants.unwrap_or_default()
    )
}

/// The sentences about the best.
pub fn tell(tune: &Tune<'_>, best: &Best, told: &mut Blocks) {
    let facts = &tune.facts;
    let none = best.none.map(|none| {
        format!(
            " Without prefetch it takes {}.",
            clocks::words(&tune.ticks, none)
        )
    });
    let bytes = facts.sets.last().map_or(0, |set| set.bytes);
    let asked = match facts.asked_bytes {
        asked if asked > 0 && asked.abs_diff(bytes) > asked / 16 => {
            format!(", where {} MB were asked for", asked >> 20)
        }
        _ => String::new(),
    };
    told.answer(format!(
        "{}.{} The records have {} MB of lines{asked}, in batches of {}.{}",
        verdict(tune, best),
        facts.missed.iter().map(missed).join(""),
        bytes >> 20,
        facts.batch,
        none.unwrap_or_default()
    ));
    if !best.defines.is_empty() {
        told.verbatim(format!("{}\n", best.defines.join("\n")));
    }
    warn(tune, best, told);
    if let Some(partial) = &tune.partial {
        told.paragraph(not_full(tune, partial));
    }
    if facts.at_the_end {
        told.warning(
            "The best is at the end of what can be tried: a record's work is so short against a line from memory that a whole \
             batch should be asked for first.",
        );
    }
}

/// What a reader should know before he uses the values.
fn warn(tune: &Tune<'_>, best: &Best, told: &mut Blocks) {
    let facts = &tune.facts;
    if facts.is_overwriting {
        told.warning(format!(
            "`{}` overwrites what it reads: a second call on the same records leaves something else in them than the first. What was \
             measured is mostly work on records that it has changed before.",
            facts.name
        ));
    }
    if !facts.is_checked {
        told.warning(
            "No call leaves anything in the records that is the same each time, or nothing was to be compared. A function \
             `stopwatt_results` in the loop's source says what came of a record.",
        );
    }
    if let Some(first) = facts.left_out.first() {
        let others = match facts.compared_by {
            Some(ComparedBy::Results) => "has other results",
            Some(ComparedBy::Records) | None => "leaves other records",
        };
        told.warning(format!(
            "`{}` {others} with {} than without prefetch ({} values of those that came far): it does other work there, such as a loop \
             that forgets the last records of a batch. They are left out; `stopwatt_results` may say what counts, and \
             --results-may-differ measures all.",
            facts.name,
            values(tune, first),
            facts.left_out.len()
        ));
    }
    if let Some(rival) = &best.rival {
        told.warning(format!(
            "The search is not sure: {} may take up to {} % less than the best. A quieter machine, or more time (--for), may tell.",
            values(tune, &rival.values),
            fixed(rival.less_percent, 1)
        ));
    }
}

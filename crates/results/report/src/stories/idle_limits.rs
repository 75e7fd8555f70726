//! What a limit of latency, or a state that is switched off, costs a governor on a trace.

use super::idle_bounds::{cell, tenths};
use crate::blocks::{Table, Text, listed, name, text, whole};
use evidence::share_less;
use findings::idle_replay::{Bounds, Governor, Replay};
use itertools::Itertools;

/// The cost of the tightest limit.
pub fn answer(replay: &Replay<'_>) -> Text {
    let rows = replay.limits.first().and_then(|limit| {
        Some((
            limit,
            replay.governor(limit.name)?,
            replay.governor(limit.of)?,
        ))
    });
    let Some((limit, under, without)) = rows else {
        return "No governor was replayed under the limit.".into();
    };
    let mut words = text![name(limit.name), " may enter "];
    words.extend(listed(limit.left.iter().map(name)));
    words.push(if limit.left.len() == 1 { " alone" } else { "" });
    if limit.is_same {
        words.push(", and enters the states that it enters without the limit on this trace.");
        return words;
    }
    let plain = |share: Option<Bounds>| {
        share.map_or_else(String::new, |share| cell(share, tenths).plain().to_string())
    };
    let p99 = |of: &Governor<'_>| {
        of.delay_us
            .p99
            .map_or_else(String::new, |us| cell(us, whole).plain().to_string())
    };
    let waits = match (p99(under), p99(without)) {
        (limited, free) if limited == free => format!("{limited} us, as without the limit"),
        (limited, free) => format!("{limited} us, in place of {free}"),
    };
    let state = without.states.last().map_or("", |state| state.name);
    words.push(format!(
        "; 99 of 100 wake-ups wait at most {waits}. It spends {} % of the idle time in {state}, in place of {} %.",
        plain(time_percent(under, state)),
        plain(time_percent(without, state)),
    ));
    if let Some(less) = limit.less {
        let share = share_less([less.low, less.high]);
        words.push(if (less.low > 0.0) == (less.high > 0.0) {
            format!(" It takes {share} energy than without the limit.")
        } else {
            format!(" Whether it takes more energy cannot be told: {share}.")
        });
    }
    words
}

/// The share of the idle time that a governor spends in a state, in percent.
fn time_percent(of: &Governor<'_>, state: &str) -> Option<Bounds> {
    let all: f64 = of
        .states
        .iter()
        .filter_map(|state| state.residency_us)
        .map(Bounds::middle)
        .sum();
    let time = of
        .states
        .iter()
        .find(|known| known.name == state)?
        .residency_us?;
    (all > 0.0).then(|| time.times(100.0 / all))
}

/// Each limit: the states that it leaves, the time in each, energy and delay.
pub fn table(replay: &Replay<'_>) -> Table {
    let rows = replay
        .limits
        .iter()
        .filter_map(|limit| Some((limit, replay.governor(limit.name)?)))
        .collect_vec();
    let states = rows
        .iter()
        .take(1)
        .flat_map(|(_, of)| of.states.iter().map(|state| state.name))
        .collect_vec();
    Table::with_rows(&rows)
        .words("% of idle time under a limit", |(limit, _)| {
            name(limit.name)
        })
        .each(states, |table, state| {
            table.numbers(state, move |(limit, governor)| {
                let is_left = limit.left.iter().any(|left| left == state);
                time_percent(governor, state)
                    .filter(|_| is_left)
                    .map(|share| cell(share, tenths))
            })
        })
        .numbers("less energy, %", |(limit, _)| {
            limit.less.map(|less| cell(less.times(100.0), tenths))
        })
        .numbers("delay p99, us", |(_, governor)| {
            governor.delay_us.p99.map(|us| cell(us, whole))
        })
        .done()
}

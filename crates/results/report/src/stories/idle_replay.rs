//! `idle-replay`: what governors did with a trace, and what it cost.

use super::story::Story;
use crate::blocks::{Blocks, Drawing, IntervalRow, Picture, Table, fixed, whole};
use crate::words::idle::{self as words, between as cell, energy, tenths, time_percent};
use findings::idle_replay::{Bounds, Counters, Governor, Intervals, Replay};
use itertools::Itertools;
use recording::distinct;

impl Story for Replay<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(words::replay(self));
        if let Some(picture) = picture(self) {
            told.picture(picture);
        }
        if let Some(next) = words::undecided(self) {
            told.warning(next);
        }
        if self.powers_sourced {
            told.warning(
                "Energies are intervals: sources for the cost of a transition differ by a factor of several hundred.",
            );
        }
        told.table(limits(self));
        told.table(power_domains(self));
        told.table(table(self));
        provenance(self, told);
        agreement(self, told);
        counted(self, told);
    }
}

/// The energy of each governor, and beside it how often it misses; the misses alone where powers
/// have no source.
fn picture(replay: &Replay<'_>) -> Option<Picture> {
    let mut units = replay.governors.iter().filter_map(|of| replay.energy(of));
    let unit = units.next().filter(|_| replay.powers_sourced);
    let row = |governor: &Governor<'_>| {
        let (beside, interval) = match &unit {
            Some(_) => {
                let whole =
                    |share: Bounds| cell(share, |value| fixed(value, 0)).plain().to_string();
                let shares =
                    governor
                        .above_percent
                        .zip(governor.below_percent)
                        .map(|(deep, flat)| {
                            format!(" ({} % deep, {} % shallow)", whole(deep), whole(flat))
                        });
                (shares.unwrap_or_default(), replay.energy(governor)?.0)
            }
            None => (String::new(), governor.wrong_percent?),
        };
        let ends = [interval.low, interval.middle(), interval.high];
        Some(IntervalRow::new(format!("{}{beside}", governor.name), ends).of(governor.name))
    };
    // Under limits: the governor of the answer alone, beside the yardsticks.
    let is_shown = |governor: &&Governor<'_>| {
        let of = replay
            .limits
            .iter()
            .find(|limit| limit.name == governor.name)
            .map_or(governor.name, |limit| limit.of);
        replay
            .limits
            .first()
            .is_none_or(|first| of == first.of || !governor.is_real())
    };
    let rows = replay
        .governors
        .iter()
        .filter(is_shown)
        .filter_map(row)
        .collect_vec();
    let drawing = Drawing::Intervals(rows);
    Some(match &unit {
        Some((_, unit)) => Picture::new("Energy of each governor", "energy", unit, drawing),
        None => Picture::new(
            "Sleeps in a state that was too deep or too shallow",
            "of all sleeps",
            "%",
            drawing,
        ),
    })
}

fn table(replay: &Replay<'_>) -> Table {
    let states = replay
        .governors
        .iter()
        .map(|of| &of.states)
        .max_by_key(|states| states.len());
    let names = states.map_or_else(Vec::new, |states| {
        states.iter().map(|state| state.name).collect()
    });
    let mut units = replay.governors.iter().filter_map(|of| replay.energy(of));
    let unit = units.next().map_or_else(String::new, |(_, unit)| unit);
    let count =
        |between: Option<Bounds>| between.map(|between| cell(between, |value| fixed(value, 0)));
    Table::with_rows(&replay.governors)
        .words("governor", |governor| governor.name)
        .each(names, |table, wanted| {
            table.numbers(wanted, move |governor| {
                count(
                    governor
                        .states
                        .iter()
                        .find(|state| state.name == wanted)?
                        .entered,
                )
            })
        })
        .numbers("above", |governor| count(governor.above))
        .numbers("below", |governor| count(governor.below))
        .numbers(format!("energy, {unit}"), |governor| {
            energy(replay, governor)
        })
        .numbers("delay p50, us", |governor| count(governor.delay_us.p50))
        .numbers("p99", |governor| count(governor.delay_us.p99))
        .done()
}

/// Each limit: the states that it leaves, the time in each, energy and delay.
fn limits(replay: &Replay<'_>) -> Table {
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
        .words("% of idle time under a limit", |(limit, _)| limit.name)
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

/// The time in which all CPUs of a power domain were idle, and that of the domain's own states.
fn power_domains(replay: &Replay<'_>) -> Table {
    let names = distinct(
        replay
            .power_domains
            .iter()
            .flat_map(|domain| &domain.states)
            .map(|state| state.name),
    );
    let ms = |time: Option<Bounds>| time.map(|us| cell(us.times(1e-3), tenths));
    Table::with_rows(&replay.power_domains)
        .words("power domain, ms", |domain| {
            format!("{}, {}", domain.name, domain.governor)
        })
        .numbers("CPUs idle together", |domain| ms(domain.together_us))
        .each(names, |table, wanted| {
            table.numbers(wanted, move |domain| {
                ms(domain
                    .states
                    .iter()
                    .find(|state| state.name == wanted)?
                    .residency_us)
            })
        })
        .done()
}

/// The facts about the trace's intervals.
fn provenance(replay: &Replay<'_>, told: &mut Blocks) {
    let Intervals {
        known,
        bounded,
        unknown,
    } = replay.intervals;
    told.paragraph(format!(
        "{} idle intervals on {}. Sleep length known in {known}, bounded in {bounded}, unknown in {unknown}.",
        known + bounded + unknown,
        replay.platform.unwrap_or("")
    ));
    let reasons = replay.unknown_because.0.iter();
    told.list(reasons.map(|(reason, count)| format!("unknown because {reason}: {:.0}", count.low)));
}

fn agreement(replay: &Replay<'_>, told: &mut Blocks) {
    let rows = replay
        .governors
        .iter()
        .filter_map(|governor| Some((governor.name, governor.agreement.as_ref()?)))
        .collect_vec();
    let share = |share: Option<f64>| share.map(|share| fixed(100.0 * share, 1));
    let table = Table::with_rows(&rows)
        .words("chooses as the traced kernel did, %", |(governor, _)| {
            *governor
        })
        .numbers("of known intervals", |(_, agreement)| {
            let compared = agreement.compared.unwrap_or(0);
            fixed(100.0 * agreement.same, 1).after(format!(" ({compared})"))
        })
        .numbers("mean over states", |(_, of)| share(of.balanced))
        .numbers("commonest state alone", |(_, of)| share(of.commonest_state));
    told.table(table);
}

fn counted(replay: &Replay<'_>, told: &mut Blocks) {
    let Some(Counters {
        kernel,
        trace,
        tracing_ns,
    }) = &replay.kernel_counters
    else {
        return;
    };
    let taken_off = tracing_ns.map_or_else(String::new, |ns| {
        format!(" A stay is {ns:.0} ns longer by the trace than by the kernel's clock; that is taken off.")
    });
    told.paragraph(format!(
        "Between the marks in the trace the kernel counted {} stays, {} above and {} below, and {} that the hardware refused; the \
         trace has {} of both kinds, with {} above and {} below by our accounting.{taken_off}",
        whole(kernel.entered.low),
        whole(kernel.above.low),
        whole(kernel.below.low),
        whole(kernel.rejected.low),
        whole(trace.entered.low),
        whole(trace.above.low),
        whole(trace.below.low)
    ));
}

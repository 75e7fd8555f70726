//! `idle-replay`: what governors did with a trace, and what it cost.

use super::idle_bounds::{cell, tenths};
use super::idle_limits;
use super::story::Story;
use crate::blocks::{
    Blocks, Cell, Drawing, IntervalRow, Picture, Table, Text, figure, fixed, listed, name, text,
    whole,
};
use evidence::share_less;
use findings::idle_replay::{Agreement, Bounds, Counters, Governor, Intervals, RECORDED, Replay};
use itertools::Itertools;
use recording::distinct;

impl Story for Replay<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(verdict(self));
        if let Some(picture) = picture(self) {
            told.picture(picture);
        }
        if self.powers_sourced {
            told.warning(
                "Energies are intervals: sources for the cost of a transition differ by a factor of several hundred.",
            );
        }
        if let Some((us, state)) = &self.s2idle {
            told.paragraph(text![
                "s2idle enters ",
                name(state),
                format!(" within a limit of {us} us.")
            ]);
        }
        told.table(idle_limits::table(self));
        told.table(power_domains(self));
        told.table(table(self));
        provenance(self, told);
        agreement(self, told);
        counted(self, told);
    }
}

/// The first sentences: what the trace bears, and nothing beyond it.
fn verdict(replay: &Replay<'_>) -> Text {
    let verdict = &replay.verdict;
    let mut words = outside(replay);
    if !replay.limits.is_empty() {
        words.extend(idle_limits::answer(replay));
        return words;
    }
    let Some(best) = verdict.best.and_then(|best| replay.governor(best)) else {
        return "No governor was replayed.".into();
    };
    let is_first = words.is_empty() && verdict.alike.len() < 2;
    if verdict.alike.len() > 1 {
        let Intervals {
            known,
            bounded,
            unknown,
        } = replay.intervals;
        words.extend(listed(verdict.alike.iter().map(|of| name(*of))));
        let all = whole((known + bounded + unknown) as f64);
        words.push(format!(" enter the same states in all {all} sleeps. "));
    }
    let other = verdict.reference.and_then(|other| replay.governor(other));
    match (other, verdict.less) {
        (Some(other), Some(less)) if replay.powers_sourced => {
            words.extend(of_energy(replay, best, other, less));
        }
        (Some(other), _) => words.extend(of_misses(replay, best, other)),
        (None, _) => {}
    }
    if other.is_none() || is_first && best.above_percent.is_some() {
        let share = |of: Option<Bounds>| of.map_or_else(String::new, percent);
        words.extend(text![
            if words.is_empty() { "" } else { " " },
            name(best.name),
            format!(
                " is too deep in {} of its sleeps and too shallow in {}.",
                share(best.above_percent),
                share(best.below_percent)
            )
        ]);
    }
    words
}

/// Percents as a range, in words.
fn percent(share: Bounds) -> String {
    format!("{} %", cell(share, tenths).plain())
}

/// That the kernel did what the replay does not.
fn outside(replay: &Replay<'_>) -> Text {
    let (Some(first), Some(own)) = (replay.verdict.outside.first(), replay.own_governor) else {
        return Text::default();
    };
    text![
        "The traced kernel entered ",
        name(first.state),
        format!(" {} times, its governor ", whole(first.recorded)),
        name(own),
        format!(
            " in this replay {} times: the trace lacks something, so no saving is claimed. ",
            cell(first.replayed, whole).plain()
        )
    ]
}

/// The energy of a governor in the unit of all, as a cell.
fn energy(replay: &Replay<'_>, of: &Governor<'_>) -> Option<Cell> {
    let (energy, unit) = replay.energy(of)?;
    let number = if unit.starts_with('%') {
        tenths
    } else {
        figure
    };
    Some(cell(energy, number))
}

/// Which of two takes less energy, if that can be told.
fn of_energy(replay: &Replay<'_>, best: &Governor<'_>, other: &Governor<'_>, less: Bounds) -> Text {
    let unit = replay
        .energy(best)
        .map_or_else(String::new, |(_, unit)| unit);
    let taken =
        |of| energy(replay, of).map_or_else(String::new, |energy| energy.plain().to_string());
    let share = share_less([less.low, less.high]);
    let mut words = match replay.verdict.saving {
        Some(_) => {
            let would = if other.name == RECORDED {
                " would have taken "
            } else {
                " takes "
            };
            text![
                name(best.name),
                format!("{would}{share} energy than "),
                name(other.name),
                " on this trace."
            ]
        }
        None => text![
            "Whether ",
            name(best.name),
            " takes less energy than ",
            name(other.name),
            format!(" on this trace cannot be told: {share}.")
        ],
    };
    words.push(format!(
        " They take {} and {} {unit}.",
        taken(best),
        taken(other)
    ));
    words
}

/// Which of two is wrong less often, if that can be told; where powers have no source, or nothing
/// is said about energy.
fn of_misses(replay: &Replay<'_>, best: &Governor<'_>, other: &Governor<'_>) -> Text {
    let share = |of: &Governor<'_>| of.wrong_percent.map_or_else(String::new, percent);
    let mut words = if replay.verdict.is_certain {
        text![
            name(best.name),
            format!(" is wrong in {} of its sleeps on this trace, ", share(best)),
            name(other.name),
            format!(" in {}.", share(other))
        ]
    } else {
        text![
            "Which is wrong less often on this trace cannot be told: ",
            name(best.name),
            format!(" ({} of its sleeps) or ", share(best)),
            name(other.name),
            format!(" ({}).", share(other))
        ]
    };
    if !replay.powers_sourced && best.energy_unit_s.is_some() {
        words.push(" The platform's powers have no source, so energy stands last in the table.");
    }
    words
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
                let shares = governor.above_percent.zip(governor.below_percent);
                let shares = shares.map(|(deep, flat)| {
                    format!(" ({} % deep, {} % shallow)", whole(deep), whole(flat))
                });
                (shares.unwrap_or_default(), replay.energy(governor)?.0)
            }
            None => (String::new(), governor.wrong_percent?),
        };
        let ends = [interval.low, interval.middle(), interval.high];
        let row = IntervalRow::new(format!("{}{beside}", governor.name), ends);
        Some(row.of(governor.name))
    };
    // Under limits: the governor of the answer alone, beside the yardsticks.
    let is_shown = |governor: &&Governor<'_>| {
        let of = replay
            .limits
            .iter()
            .find(|limit| limit.name == governor.name);
        let of = of.map_or(governor.name, |limit| limit.of);
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
    let names: Vec<&str> = states.map_or_else(Vec::new, |states| {
        states.iter().map(|state| state.name).collect()
    });
    let mut units = replay.governors.iter().filter_map(|of| replay.energy(of));
    let unit = units.next().map_or_else(String::new, |(_, unit)| unit);
    let count =
        |between: Option<Bounds>| between.map(|between| cell(between, |value| fixed(value, 0)));
    Table::with_rows(&replay.governors)
        .words("governor", |governor| name(governor.name))
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
            text![name(domain.name), ", ", name(domain.governor)]
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
    let reason = |(reason, count): &(&str, Bounds)| {
        Text::from(format!("unknown because {reason}: {:.0}", count.low))
    };
    told.list(replay.unknown_because.0.iter().map(reason).collect());
}

fn agreement(replay: &Replay<'_>, told: &mut Blocks) {
    let rows = replay
        .governors
        .iter()
        .filter_map(|governor| Some((governor.name, governor.agreement.as_ref()?)))
        .collect_vec();
    let share = |share: Option<f64>| share.map(|share| fixed(100.0 * share, 1));
    let same = |(_, agreement): &(&str, &Agreement)| {
        let compared = agreement.compared.unwrap_or(0);
        fixed(100.0 * agreement.same, 1).after(format!(" ({compared})"))
    };
    let table = Table::with_rows(&rows)
        .words("chooses as the traced kernel did, %", |(governor, _)| {
            name(*governor)
        })
        .numbers("of known intervals", same)
        .numbers("mean over states", |(_, of)| share(of.balanced))
        .numbers("commonest state alone", |(_, of)| share(of.commonest_state));
    told.table(table.done());
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

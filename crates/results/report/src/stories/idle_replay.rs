//! `idle-replay`: what governors did with a trace, and what it cost.

use super::idle_bounds::{cell, percent_less, tenths};
use super::idle_limits;
use super::story::Story;
use crate::blocks::{
    Blocks, Cell, Drawing, IntervalRow, Picture, Table, Text, figure, fixed, name, text, whole,
};
use findings::idle_replay::{
    Agreement, Bounds, Counters, Governor, Intervals, RECORDED, Replay, Verdict,
};
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
        told.list(worst(self));
        told.table(wins(self));
        agreement(self, told);
        counted(self, told);
    }
}

/// The first sentences: what the trace bears, and nothing beyond it.
fn verdict(replay: &Replay<'_>) -> Text {
    if !replay.limits.is_empty() {
        let mut words = outside(replay);
        words.extend(idle_limits::answer(replay));
        return words;
    }
    let Verdict {
        best, reference, ..
    } = &replay.verdict;
    let of = |name: &Option<&str>| {
        replay
            .governors
            .iter()
            .find(|governor| Some(governor.name) == *name)
    };
    let Some(best) = of(best) else {
        return "No governor was replayed.".into();
    };
    let mut words = outside(replay);
    words.extend(match (of(reference), replay.verdict.less) {
        (Some(other), Some(less)) if replay.powers_sourced => of_energy(replay, best, other, less),
        (other, _) => of_misses(replay, best, other),
    });
    words
}

/// That the kernel did what the replay does not.
fn outside(replay: &Replay<'_>) -> Text {
    let (Some(first), Some(own)) = (replay.verdict.outside.first(), replay.own_governor) else {
        return Text::default();
    };
    text![
        "The traced kernel entered ",
        name(first.state),
        format!(" {} times, and its own governor, ", whole(first.recorded)),
        name(own),
        format!(
            ", {} times in the replay: the trace lacks what that choice rested on, so no saving is claimed. ",
            cell(first.replayed, whole).plain()
        )
    ]
}

/// The energy of a governor in the unit of all, as a cell.
fn energy(replay: &Replay<'_>, of: &Governor<'_>) -> Option<Cell> {
    let (_, unit) = replay.energy_unit()?;
    Some(cell(
        replay.energy_of(of)?,
        if unit.starts_with('%') {
            tenths
        } else {
            figure
        },
    ))
}

/// Which of two takes less energy, if that can be told.
fn of_energy(replay: &Replay<'_>, best: &Governor<'_>, other: &Governor<'_>, less: Bounds) -> Text {
    let unit = replay
        .energy_unit()
        .map_or_else(String::new, |(_, unit)| unit);
    let taken =
        |of| energy(replay, of).map_or_else(String::new, |energy| energy.plain().to_string());
    let would = if other.name == RECORDED {
        " would have taken "
    } else {
        " takes "
    };
    let mut words = match replay.verdict.saving {
        Some(saving) => {
            text![
                name(best.name),
                would,
                percent_less(saving),
                " than ",
                name(other.name),
                " on this trace."
            ]
        }
        None => text![
            "It cannot be told whether ",
            name(best.name),
            would,
            "less energy than ",
            name(other.name),
            format!(" on this trace ({}).", percent_less(less))
        ],
    };
    words.push(format!(
        " They take {} and {} {unit}.",
        taken(best),
        taken(other)
    ));
    if best.above_percent.is_some() {
        words.extend(text![" ", name(best.name), " is too ", misses(best), "."]);
    }
    words
}

/// How often a governor is wrong: `deep in 1.0 % of its sleeps and too shallow in 2.0 %`.
fn misses(of: &Governor<'_>) -> String {
    let share = |share: Option<Bounds>| {
        share.map_or_else(String::new, |share| cell(share, tenths).plain().to_string())
    };
    format!(
        "deep in {} % of its sleeps and too shallow in {} %",
        share(of.above_percent),
        share(of.below_percent)
    )
}

/// Which of two is wrong less often, if that can be told; where powers have no source, or nothing
/// is said about energy.
fn of_misses(replay: &Replay<'_>, best: &Governor<'_>, other: Option<&Governor<'_>>) -> Text {
    let Some(other) = other else {
        return text![name(best.name), " is too ", misses(best), "."];
    };
    let less = if other.name == RECORDED {
        " would have been wrong less often than "
    } else {
        " is wrong less often than "
    };
    let mut words = if replay.verdict.is_certain {
        Text::default()
    } else {
        "It cannot be told whether ".into()
    };
    words.extend(text![
        name(best.name),
        less,
        name(other.name),
        " on this trace: too ",
        misses(best),
        " against too ",
        misses(other),
        "."
    ]);
    if !replay.powers_sourced && best.energy().is_some() {
        words.push(" The platform's powers have no source, so energy stands last in the table.");
    }
    words
}

/// The energy of each governor, and beside it how often it misses; the misses alone where powers
/// have no source.
fn picture(replay: &Replay<'_>) -> Option<Picture> {
    let unit = replay.energy_unit().filter(|_| replay.powers_sourced);
    let row = |governor: &Governor<'_>| {
        let (beside, interval) = match &unit {
            Some(_) => {
                let whole =
                    |share: Bounds| cell(share, |value| fixed(value, 0)).plain().to_string();
                let shares = governor.above_percent.zip(governor.below_percent);
                let shares = shares.map(|(deep, flat)| {
                    format!(" ({} % deep, {} % shallow)", whole(deep), whole(flat))
                });
                (shares.unwrap_or_default(), replay.energy_of(governor)?)
            }
            None => (String::new(), governor.wrong_percent?),
        };
        Some(IntervalRow {
            name: format!("{}{beside}", governor.name),
            series: governor.name.to_owned(),
            low: interval.low,
            middle: interval.middle(),
            high: interval.high,
            published: None,
        })
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
    let rows: Vec<IntervalRow> = replay
        .governors
        .iter()
        .filter(is_shown)
        .filter_map(row)
        .collect();
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
    let unit = replay
        .energy_unit()
        .map_or_else(String::new, |(_, unit)| unit);
    let count =
        |between: Option<Bounds>| between.map(|between| cell(between, |value| fixed(value, 0)));
    Table::with_rows(&replay.governors)
        .words("governor", |governor| name(governor.name))
        .each(names, |table, wanted| {
            table.numbers(wanted, "", move |governor| {
                count(
                    governor
                        .states
                        .iter()
                        .find(|state| state.name == wanted)?
                        .entered,
                )
            })
        })
        .numbers("above", "", |governor| count(governor.above))
        .numbers("below", "", |governor| count(governor.below))
        .numbers("energy", &unit, |governor| energy(replay, governor))
        .numbers("delay p50", "us", |governor| count(governor.delay_us.p50))
        .numbers("p99", "", |governor| count(governor.delay_us.p99))
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
        .numbers("CPUs idle together", "", |domain| ms(domain.together_us))
        .each(names, |table, wanted| {
            table.numbers(wanted, "", move |domain| {
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

/// Which governor takes less energy than which, and in what share of the range of what a round
/// trip costs.
fn wins(replay: &Replay<'_>) -> Table {
    let real: Vec<&Governor<'_>> = replay
        .governors
        .iter()
        .filter(|governor| !governor.wins.0.is_empty())
        .collect();
    if real.len() < 2 {
        return Table::default();
    }
    // Numbers in the place of names keep the table narrow.
    let numbered: Vec<(usize, &Governor<'_>)> = (1..).zip(real).collect();
    Table::with_rows(&numbered)
        .words(
            "takes less energy than, in % of the range",
            |(number, governor)| text![format!("{number} "), name(governor.name)],
        )
        .each(numbered.iter(), |table, (number, other)| {
            table.numbers(number.to_string(), "", |(_, governor)| {
                governor
                    .wins
                    .get(other.name)
                    .map(|share| fixed(100.0 * share, 0))
            })
        })
        .done()
}

fn agreement(replay: &Replay<'_>, told: &mut Blocks) {
    let rows: Vec<(&str, &Agreement)> = replay
        .governors
        .iter()
        .filter_map(|governor| Some((governor.name, governor.agreement.as_ref()?)))
        .collect();
    let share = |share: Option<f64>| share.map(|share| fixed(100.0 * share, 1));
    let same = |(_, agreement): &(&str, &Agreement)| {
        let compared = agreement.compared.unwrap_or(0);
        fixed(100.0 * agreement.same, 1).after(format!(" ({compared})"))
    };
    let table = Table::with_rows(&rows)
        .words("chooses as the traced kernel did, %", |(governor, _)| {
            name(*governor)
        })
        .numbers("of known intervals", "", same)
        .numbers("mean over states", "", |(_, of)| share(of.balanced))
        .numbers("commonest state alone", "", |(_, of)| {
            share(of.commonest_state)
        });
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

/// The interval that cost each governor most.
fn worst(replay: &Replay<'_>) -> Vec<Text> {
    let item = |governor: &Governor<'_>| {
        let worst = governor.decided_by.first()?;
        Some(text![
            name(governor.name),
            format!(
                " lost most on CPU {} at {:.6} s: ",
                worst.cpu.map_or_else(String::new, |cpu| cpu.to_string()),
                worst.at_us.unwrap_or(0.0) / 1e6
            ),
            name(worst.chosen),
            format!(
                " for {} us, where ",
                figure(worst.interval_us.unwrap_or(0.0))
            ),
            name(worst.cheapest),
            " was cheapest",
            replay
                .reference()
                .map_or_else(String::new, |(name, energy)| {
                    format!(
                        " ({} % of {name}'s energy)",
                        figure(100.0 * worst.excess_unit_s / energy)
                    )
                }),
            "."
        ])
    };
    replay.governors.iter().filter_map(item).collect()
}

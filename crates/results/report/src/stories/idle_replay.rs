//! `idle-replay`: what governors did with a trace, and what it cost.

use super::story::Story;
use crate::blocks::{
    Blocks, Cell, Drawing, IntervalRow, Number, Picture, Table, Text, figure, fixed, name, text, whole,
};
use findings::Run;
use findings::rows::{InOrder, role, subject};
use recording::facts::{self, FactsError};
use recording::metrics::{self, Metric};
use recording::{Measure, Recording};
use serde::{Serialize, Serializer};

const CASE: &str = "idle-replay";
const TRACE: &str = "trace";
/// Rules that no kernel has: they show what the ends are.
const YARDSTICKS: [&str; 3] = [SHALLOWEST, "always-deepest", "oracle"];

/// The traced kernel's own choices.
const RECORDED: &str = "recorded";

/// The yardstick that enters the shallowest state, whatever comes.
const SHALLOWEST: &str = "never-deep";

/// Governors on a trace.
#[derive(Serialize)]
pub(super) struct Replay<'r> {
    intervals: Intervals,
    unknown_because: InOrder<'r, Between>,
    kernel_counters: Option<Counters>,
    platform: Option<&'r str>,
    governors: Vec<Governor<'r>>,
    notes: &'r [String],
    recording: &'r str,
}

/// The idle intervals of the trace, by what is known of their sleep lengths.
#[derive(Serialize)]
struct Intervals {
    known: u64,
    bounded: u64,
    unknown: u64,
}

/// A governor's choices and their cost.
#[derive(Serialize)]
struct Governor<'r> {
    name: &'r str,
    states: Vec<State<'r>>,
    energy_j: Option<Ends>,
    energy_unit_s: Option<Ends>,
    delay_us: Delays,
    /// In what share of the range of what a round trip costs it takes less energy than another.
    wins: InOrder<'r, f64>,
    decided_by: Vec<Decision<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agreement: Option<Agreement<'r>>,
    /// The energy at each point of the range, with the series and the point's name.
    #[serde(skip)]
    energies: Vec<(&'r str, &'r str, f64)>,
}

#[derive(Serialize)]
struct State<'r> {
    name: &'r str,
    entered: Option<Between>,
    above: Option<Between>,
    below: Option<Between>,
    residency_us: Option<Between>,
}

#[derive(Serialize)]
struct Delays {
    p50: Option<Between>,
    p99: Option<Between>,
}

/// The number of times that a governor chooses as the traced kernel did.
#[derive(Serialize)]
struct Agreement<'r> {
    same: f64,
    balanced: Option<f64>,
    commonest_state: Option<f64>,
    compared: Option<u64>,
    /// The choices that differ, with how often.
    differing: InOrder<'r, Between>,
}

/// An interval in which a governor lost much.
#[derive(Serialize)]
struct Decision<'r> {
    cpu: Option<u16>,
    at_us: Option<f64>,
    interval_us: Option<f64>,
    chosen: &'r str,
    cheapest: &'r str,
    excess_unit_s: f64,
}

/// The kernel's own counts and those of the trace, where the trace holds the kernel's.
#[derive(Serialize)]
struct Counters {
    kernel: Counts,
    trace: Counts,
    tracing_ns: Option<f64>,
}

/// Counts of idle states over the same time.
#[derive(Serialize)]
struct Counts {
    entered: Between,
    above: Between,
    below: Between,
    rejected: Between,
    residency_us: Between,
}

/// A figure that is known, or known to lie between two.
#[derive(Clone, Copy, PartialEq)]
struct Between {
    low: f64,
    high: f64,
}

/// Both ends of a figure, even where it is known.
#[derive(Clone, Copy)]
struct Ends(Between);

/// A count without a decimal point.
#[derive(Serialize)]
#[serde(untagged)]
enum Whole {
    Count(i64),
    Figure(f64),
}

impl From<f64> for Whole {
    fn from(value: f64) -> Self {
        if value.fract() == 0.0 && value.abs() < 9e15 { Self::Count(value as i64) } else { Self::Figure(value) }
    }
}

impl Serialize for Between {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.low == self.high {
            true => Whole::from(self.low).serialize(serializer),
            false => Ends(*self).serialize(serializer),
        }
    }
}

impl Serialize for Ends {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Both {
            low: Whole,
            high: Whole,
        }
        Both { low: self.0.low.into(), high: self.0.high.into() }.serialize(serializer)
    }
}

impl Between {
    fn new(values: impl Iterator<Item = f64>) -> Option<Self> {
        values.fold(None, |so_far: Option<Self>, value| {
            let Self { low, high } = so_far.unwrap_or(Self { low: value, high: value });
            Some(Self { low: low.min(value), high: high.max(value) })
        })
    }

    fn exactly(value: f64) -> Self {
        Self { low: value, high: value }
    }

    fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, high: self.high * factor }
    }

    fn cell(self, number: fn(f64) -> Number) -> Cell {
        Cell::Range(number(self.low), number(self.high))
    }

    fn middle(self) -> f64 {
        (self.low + self.high) / 2.0
    }
}

/// The measures of a governor.
#[derive(Clone, Copy)]
struct Measured<'r> {
    recording: &'r Recording,
    name: &'r str,
}

impl<'r> Measured<'r> {
    fn all(recording: &'r Recording) -> Vec<Self> {
        let mut names: Vec<&str> = Vec::new();
        for series in recording.all_series() {
            let (variant, case, _) = recording.series_texts(series);
            if case == CASE && variant != TRACE && !names.contains(&variant) {
                names.push(variant);
            }
        }
        // The order in which series are numbered is that of their first rows: governors as they
        // were asked for, and what was best last.
        names.into_iter().map(|name| Self { recording, name }).collect()
    }

    fn measures(self, case: &'static str, metric: Metric) -> impl Iterator<Item = &'r Measure> {
        let (recording, name) = (self.recording, self.name);
        recording.measures().iter().filter(move |measure| {
            let (variant, of, _) = recording.series_texts(measure.series);
            of == case && variant == name && recording.text(measure.metric) == metric.name
        })
    }

    fn between(self, metric: Metric, of: &str) -> Option<Between> {
        let values = self.measures(CASE, metric).filter(|measure| subject(self.recording, measure) == of);
        Between::new(values.map(|measure| measure.value))
    }

    fn state_names(self) -> Vec<&'r str> {
        let mut names = Vec::new();
        for measure in self.measures(CASE, metrics::IDLE_ENTERED) {
            let name = subject(self.recording, measure);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn agreement(self) -> Option<Agreement<'r>> {
        let share = |what: &str| self.between(metrics::IDLE_AGREEMENT, what).map(|share| share.low);
        let measures = self.measures("agreement", metrics::IDLE_INTERVALS);
        let differing = measures.map(|measure| (subject(self.recording, measure), Between::exactly(measure.value)));
        Some(Agreement {
            same: share("same")?,
            balanced: share("balanced"),
            commonest_state: share("commonest"),
            compared: share("compared").map(|count| count as u64),
            differing: differing.collect(),
        })
    }

    /// The intervals in which it lost most, the worst first.
    fn decided_by(self) -> Vec<Decision<'r>> {
        let recording = self.recording;
        let is_own = |measure: &&Measure| {
            let (variant, case, _) = recording.series_texts(measure.series);
            variant == self.name && case == "deciding"
        };
        let all: Vec<&Measure> = recording.measures().iter().filter(is_own).collect();
        let ranks = all.iter().map(|measure| measure.iteration).max().map_or(0, |last| last + 1);
        let value = |rank: u32, metric: &str| {
            all.iter().find(|measure| measure.iteration == rank && recording.text(measure.metric) == metric).copied()
        };
        let decision = |rank| {
            let excess = value(rank, metrics::IDLE_EXCESS.name)?;
            Some(Decision {
                cpu: excess.cpu,
                at_us: value(rank, "idle_entered_at").map(|measure| measure.value),
                interval_us: value(rank, metrics::IDLE_TIME.name).map(|measure| measure.value),
                chosen: subject(recording, excess),
                cheapest: role(recording, excess),
                excess_unit_s: excess.value,
            })
        };
        (0..ranks).filter_map(decision).collect()
    }

    fn governor(self, others: &[Self], watts: Option<f64>) -> Governor<'r> {
        let state = |name: &'r str| State {
            name,
            entered: self.between(metrics::IDLE_ENTERED, name),
            above: self.between(metrics::IDLE_ABOVE, name),
            below: self.between(metrics::IDLE_BELOW, name),
            residency_us: self.between(metrics::IDLE_TIME, name),
        };
        // Units of the platform's table times seconds.
        let mode = |measure: &Measure| self.recording.series_texts(measure.series).2;
        let energies = self.measures(CASE, metrics::IDLE_ENERGY);
        let energies = energies.map(|measure| (mode(measure), subject(self.recording, measure), measure.value));
        let energies: Vec<(&str, &str, f64)> = energies.collect();
        let energy = Between::new(energies.iter().map(|(.., energy)| *energy));
        let wins = others.iter().filter_map(|other| {
            let share = self.between(metrics::IDLE_WINS, other.name)?;
            Some((other.name, share.low))
        });
        Governor {
            name: self.name,
            states: self.state_names().into_iter().map(state).collect(),
            energy_j: energy.zip(watts).map(|(energy, watts)| Ends(energy.times(watts))),
            energy_unit_s: energy.map(Ends),
            delay_us: Delays {
                p50: self.between(metrics::IDLE_DELAY, "p50"),
                p99: self.between(metrics::IDLE_DELAY, "p99"),
            },
            wins: wins.collect(),
            decided_by: self.decided_by(),
            agreement: self.agreement(),
            energies,
        }
    }
}

fn counters(recording: &Recording) -> Option<Counters> {
    let value = |mode: &str, metric: Metric| {
        let found = recording.measures().iter().find(|measure| {
            recording.series_texts(measure.series) == ("recorded", "counters", mode)
                && recording.text(measure.metric) == metric.name
        });
        found.map(|measure| measure.value)
    };
    let of = |mode| {
        let count = |metric| value(mode, metric).map(Between::exactly);
        Some(Counts {
            entered: count(metrics::IDLE_ENTERED)?,
            above: count(metrics::IDLE_ABOVE)?,
            below: count(metrics::IDLE_BELOW)?,
            rejected: count(metrics::IDLE_REJECTED)?,
            residency_us: count(metrics::IDLE_TIME)?,
        })
    };
    Some(Counters { kernel: of("kernel")?, trace: of("trace")?, tracing_ns: value("", metrics::TRACING) })
}

/// Reads a replay.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Replay<'r>, FactsError> {
    let recording = run.recording;
    let facts: facts::Replay = recording.header.facts()?;
    let watts = facts.power.and_then(|power| power.watts_per_unit);
    let trace = Measured { recording, name: TRACE };
    let intervals = |what| trace.between(metrics::IDLE_INTERVALS, what).map_or(0, |count| count.low as u64);
    let reasons = trace.measures(CASE, metrics::IDLE_INTERVALS);
    let reasons = reasons.filter(|measure| role(recording, measure) == "reason");
    let governors = Measured::all(recording);
    Ok(Replay {
        intervals: Intervals {
            known: intervals("known"),
            bounded: intervals("bounded"),
            unknown: intervals("unknown"),
        },
        unknown_because: reasons
            .map(|measure| (subject(recording, measure), Between::exactly(measure.value)))
            .collect(),
        kernel_counters: counters(recording),
        platform: recording.header.platform.as_ref().map(|platform| platform.name.as_str()),
        governors: governors.iter().map(|governor| governor.governor(&governors, watts)).collect(),
        notes: &recording.header.notes,
        recording: run.folder,
    })
}

impl Governor<'_> {
    fn sum(&self, of: fn(&State<'_>) -> Option<Between>) -> Option<Between> {
        let parts: Vec<Between> = self.states.iter().filter_map(of).collect();
        let sum = |end: fn(&Between) -> f64| parts.iter().map(end).sum();
        (!parts.is_empty()).then(|| Between { low: sum(|part| part.low), high: sum(|part| part.high) })
    }

    /// The energy in joules, or in units times seconds where the platform says no watts.
    fn energy(&self) -> Option<(Between, &'static str)> {
        let joules = self.energy_j.map(|energy| (energy.0, "J"));
        joules.or_else(|| self.energy_unit_s.map(|energy| (energy.0, "unit s")))
    }

    /// The share by which it takes less energy than another, over the range of what a round trip
    /// costs and over what the trace does not say.
    fn less_than(&self, other: &Self) -> Option<Between> {
        let same = |(mode, point, _): &(&str, &str, f64), (of, at, _): &(&str, &str, f64)| {
            point == at && (mode == of || mode.is_empty() || of.is_empty())
        };
        let pairs = self.energies.iter().flat_map(|own| {
            other.energies.iter().filter(move |theirs| same(own, theirs)).map(move |theirs| (own.2, theirs.2))
        });
        Between::new(pairs.filter(|(_, theirs)| *theirs > 0.0).map(|(own, theirs)| 1.0 - own / theirs))
    }

    /// True if it is a governor that a kernel has, and no yardstick.
    fn is_real(&self) -> bool {
        !YARDSTICKS.contains(&self.name)
    }

    /// The shares of entries that turned out too deep and too shallow.
    fn misses(&self) -> Option<[f64; 2]> {
        let entered = self.sum(|state| state.entered)?.middle();
        let share = |of: Option<Between>| of.map_or(0.0, |of| 100.0 * of.middle() / entered.max(1.0));
        Some([share(self.sum(|state| state.above)), share(self.sum(|state| state.below))])
    }
}

impl Story for Replay<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(self.verdict());
        if let Some(picture) = self.picture() {
            told.picture(picture);
        }
        told.table(self.table());
        self.provenance(told);
        told.rest();
        told.list(self.worst());
        told.table(self.wins());
        self.agreement(told);
        self.counted(told);
    }
}

/// A share that is known as a range, in words: `12 to 14 % less`, `between 40 % less and 5 % more`.
fn percent_less(Between { low, high }: Between) -> String {
    let percent = |share: f64| format!("{:.0}", 100.0 * share.abs());
    let (least, most) = (percent(low), percent(high));
    match (low >= 0.0, high >= 0.0) {
        _ if least == most && (low >= 0.0) == (high >= 0.0) => {
            format!("{most} % {}", if low >= 0.0 { "less" } else { "more" })
        }
        (true, _) => format!("{least} to {most} % less"),
        (_, false) => format!("{most} to {least} % more"),
        _ => format!("between {most} % less and {least} % more"),
    }
}

impl Replay<'_> {
    /// Which governor takes least energy, and by how much; how often each is wrong.
    fn verdict(&self) -> Text {
        let real = || self.governors.iter().filter(|governor| governor.is_real());
        let with_energy = || real().filter_map(|governor| Some((governor, governor.energy()?)));
        let middle = |(_, (energy, _)): &(&Governor<'_>, (Between, &str))| energy.middle();
        let least = with_energy().min_by(|a, b| middle(a).total_cmp(&middle(b)));
        let Some((best, (energy, unit))) = least else {
            return self.verdict_on_misses();
        };
        let mut words = text![name(best.name)];
        match self.reference(best).and_then(|other| Some((other, best.less_than(other)?))) {
            Some((other, less)) => {
                words.push(if other.name == RECORDED { " would have taken " } else { " takes " });
                words.extend(text![percent_less(less), " than ", name(other.name)]);
            }
            None => words.push(" takes least energy"),
        }
        words.push(format!(" on this trace: {} {unit}.", energy.cell(figure).plain()));
        if let Some([above, below]) = best.misses() {
            words.push(format!(" It is wrong too deep in {above:.1} % of its sleeps, too shallow in {below:.1} %."));
        }
        // What never looks at the trace is the least that a governor has to beat.
        let trivial = self.governors.iter().find(|governor| governor.name == SHALLOWEST);
        if let Some((trivial, (taken, _))) = trivial.and_then(|trivial| Some((trivial, trivial.energy()?))) {
            let beaten = if taken.middle() < energy.middle() { ", takes even less: " } else { ", takes " };
            words.extend(text![
                " The rule that predicts nothing, ",
                name(trivial.name),
                format!("{beaten}{}.", taken.cell(figure).plain())
            ]);
        }
        words
    }

    /// Which governor is wrong least often, where nothing is said about energy.
    fn verdict_on_misses(&self) -> Text {
        let missing = |governor: &Governor<'_>| governor.misses().map(|[above, below]| above + below);
        let real = || self.governors.iter().filter(|governor| governor.is_real());
        let least =
            real().filter_map(|governor| Some((governor, missing(governor)?))).min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((best, _)) = least else { return "No governor was replayed.".into() };
        let share = |[above, below]: [f64; 2]| {
            format!("too deep in {above:.1} % of its sleeps and too shallow in {below:.1} %")
        };
        let mut words = text![
            name(best.name),
            " is wrong least often on this trace: ",
            best.misses().map_or_else(String::new, share)
        ];
        if let Some(recorded) = real().find(|governor| governor.name == RECORDED && governor.name != best.name) {
            let misses = recorded.misses().map_or_else(String::new, share);
            words.extend(text![", where the traced kernel was ", misses]);
        }
        words.push(".");
        words
    }

    /// The governor that another is compared with in the verdict: the traced kernel's own choices,
    /// or else the next best of those that a kernel has.
    fn reference(&self, best: &Governor<'_>) -> Option<&Governor<'_>> {
        let others = || self.governors.iter().filter(|other| other.is_real() && other.name != best.name);
        let middle = |other: &&Governor<'_>| other.energy().map_or(f64::INFINITY, |(energy, _)| energy.middle());
        let recorded = others().find(|other| other.name == RECORDED);
        recorded.or_else(|| others().min_by(|a, b| middle(a).total_cmp(&middle(b))))
    }

    /// The energy of each governor, and beside it how often it misses.
    fn picture(&self) -> Option<Picture> {
        let unit = self.governors.iter().find_map(Governor::energy)?.1;
        let row = |governor: &Governor<'_>| {
            let (energy, _) = governor.energy()?;
            let misses = governor
                .misses()
                .map_or_else(String::new, |[above, below]| format!(" ({above:.0} % deep, {below:.0} % shallow)"));
            Some(IntervalRow {
                name: format!("{}{misses}", governor.name),
                series: governor.name.to_owned(),
                low: energy.low,
                middle: energy.middle(),
                high: energy.high,
                published: None,
            })
        };
        let rows = self.governors.iter().filter_map(row).collect();
        let picture = Picture::new("Energy of each governor", "and its misses", unit, Drawing::Intervals(rows));
        Some(picture.noted("An interval, because sources for what a transition costs differ by hundreds."))
    }

    fn table(&self) -> Table {
        let states = self.governors.iter().map(|of| &of.states).max_by_key(|states| states.len());
        let names: Vec<&str> = states.map_or_else(Vec::new, |states| states.iter().map(|state| state.name).collect());
        let unit = self.governors.iter().find_map(Governor::energy).map_or("unit s", |(_, unit)| unit);
        let count = |between: Option<Between>| between.map(|between| between.cell(|value| fixed(value, 0)));
        Table::with_rows(&self.governors)
            .words("governor", |governor| name(governor.name))
            .each(names, |table, wanted| {
                table.numbers(wanted, "", move |governor| {
                    count(governor.states.iter().find(|state| state.name == wanted)?.entered)
                })
            })
            .numbers("above", "", |governor| count(governor.sum(|state| state.above)))
            .numbers("below", "", |governor| count(governor.sum(|state| state.below)))
            .numbers("energy", unit, |governor| governor.energy().map(|(energy, _)| energy.cell(figure)))
            .numbers("delay p50", "us", |governor| count(governor.delay_us.p50))
            .numbers("p99", "", |governor| count(governor.delay_us.p99))
            .done()
    }

    /// The facts about the trace's intervals.
    fn provenance(&self, told: &mut Blocks) {
        let Intervals { known, bounded, unknown } = self.intervals;
        told.paragraph(format!(
            "{} idle intervals on {}. Sleep length known in {known}, bounded in {bounded}, unknown in {unknown}.",
            known + bounded + unknown,
            self.platform.unwrap_or("")
        ));
        let reason =
            |(reason, count): &(&str, Between)| Text::from(format!("unknown because {reason}: {:.0}", count.low));
        told.list(self.unknown_because.0.iter().map(reason).collect());
    }

    /// Which governor takes less energy than which, and in what share of the range of what a round
    /// trip costs.
    fn wins(&self) -> Table {
        let real: Vec<&Governor<'_>> = self.governors.iter().filter(|governor| !governor.wins.0.is_empty()).collect();
        if real.len() < 2 {
            return Table::default();
        }
        // Numbers in the place of names keep the table narrow.
        let numbered: Vec<(usize, &Governor<'_>)> = (1..).zip(real).collect();
        Table::with_rows(&numbered)
            .words("takes less energy than, in % of the range", |(number, governor)| {
                text![format!("{number} "), name(governor.name)]
            })
            .each(numbered.iter(), |table, (number, other)| {
                table.numbers(number.to_string(), "", |(_, governor)| {
                    governor.wins.get(other.name).map(|share| fixed(100.0 * share, 0))
                })
            })
            .done()
    }

    fn agreement(&self, told: &mut Blocks) {
        let rows: Vec<(&str, &Agreement<'_>)> =
            self.governors.iter().filter_map(|governor| Some((governor.name, governor.agreement.as_ref()?))).collect();
        let share = |share: Option<f64>| share.map(|share| fixed(100.0 * share, 1));
        let same = |(_, agreement): &(&str, &Agreement<'_>)| {
            let compared = agreement.compared.unwrap_or(0);
            fixed(100.0 * agreement.same, 1).after(format!(" ({compared})"))
        };
        let table = Table::with_rows(&rows)
            .words("chooses as the traced kernel did, %", |(governor, _)| name(*governor))
            .numbers("of known intervals", "", same)
            .numbers("mean over states", "", |(_, of)| share(of.balanced))
            .numbers("commonest state alone", "", |(_, of)| share(of.commonest_state));
        told.table(table.done());
        // For the governor that agrees most, what the rest is.
        let nearest = rows.iter().max_by(|a, b| a.1.same.total_cmp(&b.1.same));
        if let Some((governor, agreement)) = nearest.filter(|(_, agreement)| !agreement.differing.0.is_empty()) {
            let rest: Vec<String> =
                agreement.differing.0.iter().map(|(what, count)| format!("{what} {:.0}", count.low)).collect();
            told.paragraph(text![name(*governor), format!(" chose otherwise: {}.", rest.join("; "))]);
        }
    }

    fn counted(&self, told: &mut Blocks) {
        let Some(Counters { kernel, trace, tracing_ns }) = &self.kernel_counters else { return };
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
    fn worst(&self) -> Vec<Text> {
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
                format!(" for {} us, where ", figure(worst.interval_us.unwrap_or(0.0))),
                name(worst.cheapest),
                format!(" was cheapest ({} unit s).", figure(worst.excess_unit_s))
            ])
        };
        self.governors.iter().filter_map(item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_shares_is_less_more_or_both() {
        let words = |low: f64, high: f64| percent_less(Between { low, high });
        assert_eq!(words(0.12, 0.14), "12 to 14 % less");
        assert_eq!(words(0.12, 0.121), "12 % less");
        assert_eq!(words(-0.30, -0.05), "5 to 30 % more");
        assert_eq!(words(-0.05, 0.40), "between 40 % less and 5 % more");
    }
}

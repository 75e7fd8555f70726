//! `idle-replay`: what governors did with a trace, and what it cost.

use super::rows::{role, subject};
use super::{Run, Style};
use crate::grid::{PLAIN, fitted, paragraph, right, table};
use crate::words::number;
use recording::metrics::{self, Metric};
use recording::{Measure, Recording};
use serde_json::{Value, json};
use std::fmt::Write;

const CASE: &str = "idle-replay";
const TRACE: &str = "trace";

/// A figure that is known, or known to lie between two.
#[derive(Clone, Copy, PartialEq)]
struct Between {
    low: f64,
    high: f64,
}

impl Between {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        values.fold(None, |so_far: Option<Self>, value| {
            let Self { low, high } = so_far.unwrap_or(Self { low: value, high: value });
            Some(Self { low: low.min(value), high: high.max(value) })
        })
    }

    fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, high: self.high * factor }
    }

    /// A number where it is known, and else both ends.
    fn json(self) -> Value {
        if self.low == self.high { json!(whole(self.low)) } else { self.ends() }
    }

    fn ends(self) -> Value {
        json!({ "low": whole(self.low), "high": whole(self.high) })
    }

    fn text(self) -> String {
        let ends = [number(self.low), number(self.high)];
        if ends[0] == ends[1] { ends[0].clone() } else { ends.join("–") }
    }

    fn count(self) -> String {
        if self.low == self.high { format!("{:.0}", self.low) } else { format!("{:.0}–{:.0}", self.low, self.high) }
    }
}

/// Counts without a decimal point.
fn whole(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

/// The measures of a governor.
struct Governor<'r> {
    recording: &'r Recording,
    name: &'r str,
}

impl<'r> Governor<'r> {
    fn all(recording: &'r Recording) -> Vec<Self> {
        let mut names: Vec<&str> = Vec::new();
        for series in recording.all_series() {
            let (variant, case, _) = recording.series_texts(series);
            if case == CASE && variant != TRACE && !names.contains(&variant) {
                names.push(variant);
            }
        }
        // The order in which series are numbered is that of their first rows: governors as they were asked for, and what was best last.
        names.into_iter().map(|name| Self { recording, name }).collect()
    }

    fn measures(&self, case: &'static str, metric: Metric) -> impl Iterator<Item = &'r Measure> {
        let (recording, name) = (self.recording, self.name);
        recording.measures().iter().filter(move |measure| {
            let (variant, of, _) = recording.series_texts(measure.series);
            of == case && variant == name && recording.text(measure.metric) == metric.name
        })
    }

    fn between(&self, metric: Metric, of: &str) -> Option<Between> {
        let values = self.measures(CASE, metric).filter(|measure| subject(self.recording, measure) == of);
        Between::of(values.map(|measure| measure.value))
    }

    fn states(&self) -> Vec<&'r str> {
        let mut names = Vec::new();
        for measure in self.measures(CASE, metrics::IDLE_ENTERED) {
            let name = subject(self.recording, measure);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Units of the platform's table times seconds.
    fn energy(&self) -> Option<Between> {
        Between::of(self.measures(CASE, metrics::IDLE_ENERGY).map(|measure| measure.value))
    }

    fn sum(&self, metric: Metric) -> Option<Between> {
        let parts: Vec<Between> = self.states().into_iter().filter_map(|state| self.between(metric, state)).collect();
        let [low, high] =
            [|part: &Between| part.low, |part: &Between| part.high].map(|end| parts.iter().map(end).sum());
        (!parts.is_empty()).then_some(Between { low, high })
    }

    fn wins(&self, over: &str) -> Option<f64> {
        self.between(metrics::IDLE_WINS, over).map(|share| share.low)
    }

    fn agreement(&self, what: &str) -> Option<f64> {
        self.between(metrics::IDLE_AGREEMENT, what).map(|share| share.low)
    }
}

/// How many watts a unit of the platform's table is, if it says so.
fn watts(recording: &Recording) -> Option<f64> {
    let figures = &recording.header.platform.as_ref()?.figures;
    figures.get("watts_per_unit")?.as_float()
}

fn intervals(recording: &Recording, what: &str) -> u64 {
    let trace = Governor { recording, name: TRACE };
    trace.between(metrics::IDLE_INTERVALS, what).map_or(0, |count| count.low as u64)
}

/// Why nothing is known of some intervals, with how many.
fn reasons(recording: &Recording) -> Vec<(&str, f64)> {
    let trace = Governor { recording, name: TRACE };
    let all: Vec<&Measure> = trace.measures(CASE, metrics::IDLE_INTERVALS).collect();
    let reasons = all.into_iter().filter(|measure| role(recording, measure) == "reason");
    reasons.map(|measure| (subject(recording, measure), measure.value)).collect()
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let recording = run.recording;
    let governors = Governor::all(recording);
    let watts = watts(recording);
    let of_governor = |governor: &Governor<'_>| {
        let count = |metric, state| governor.between(metric, state).map_or(Value::Null, Between::json);
        let states: Vec<Value> = governor
            .states()
            .into_iter()
            .map(|state| {
                json!({
                    "name": state,
                    "entered": count(metrics::IDLE_ENTERED, state),
                    "above": count(metrics::IDLE_ABOVE, state),
                    "below": count(metrics::IDLE_BELOW, state),
                    "residency_us": count(metrics::IDLE_TIME, state),
                })
            })
            .collect();
        let energy = governor.energy();
        let joules = energy.zip(watts).map(|(energy, watts)| energy.times(watts));
        let delay = |which| governor.between(metrics::IDLE_DELAY, which).map_or(Value::Null, Between::json);
        let wins: serde_json::Map<String, Value> = governors
            .iter()
            .filter_map(|other| Some((other.name.to_owned(), json!(governor.wins(other.name)?))))
            .collect();
        let mut json = json!({
            "name": governor.name,
            "states": states,
            "energy_j": joules.map_or(Value::Null, Between::ends),
            "energy_unit_s": energy.map_or(Value::Null, Between::ends),
            "delay_us": { "p50": delay("p50"), "p99": delay("p99") },
            "wins": wins,
            "decided_by": deciding(recording, governor),
        });
        if let Some(same) = governor.agreement("same") {
            json["agreement"] = json!({
                "same": same,
                "balanced": governor.agreement("balanced"),
                "commonest_state": governor.agreement("commonest"),
                "compared": governor.agreement("compared").map(|count| count as u64),
                "differing": differing(governor).into_iter().map(|(what, count)| (what.to_owned(), whole(count))).collect::<serde_json::Map<_, _>>(),
            });
        }
        json
    };
    let reasons: serde_json::Map<String, Value> =
        reasons(recording).into_iter().map(|(reason, count)| (reason.to_owned(), whole(count))).collect();
    json!({
        "intervals": {
            "known": intervals(recording, "known"),
            "bounded": intervals(recording, "bounded"),
            "unknown": intervals(recording, "unknown"),
        },
        "unknown_because": reasons,
        "kernel_counters": counters(recording).map(|[kernel, trace]| json!({
            "kernel": kernel.json(),
            "trace": trace.json(),
            "tracing_ns": tracing_ns(recording),
        })),
        "platform": recording.header.platform.as_ref().map(|platform| platform.name.clone()),
        "governors": governors.iter().map(of_governor).collect::<Vec<_>>(),
        "notes": recording.header.notes,
        "recording": run.folder,
    })
}

/// The intervals in which a governor lost most, the worst first.
fn deciding(recording: &Recording, governor: &Governor<'_>) -> Vec<Value> {
    let all: Vec<&Measure> = recording
        .measures()
        .iter()
        .filter(|measure| {
            let (variant, case, _) = recording.series_texts(measure.series);
            variant == governor.name && case == "deciding"
        })
        .collect();
    let ranks = all.iter().map(|measure| measure.iteration).max().map_or(0, |last| last + 1);
    let value = |rank: u32, metric: &str| {
        let found = all.iter().find(|measure| measure.iteration == rank && recording.text(measure.metric) == metric);
        found.copied()
    };
    (0..ranks)
        .filter_map(|rank| {
            let excess = value(rank, metrics::IDLE_EXCESS.name)?;
            Some(json!({
                "cpu": excess.cpu,
                "at_us": value(rank, "idle_entered_at").map(|measure| measure.value),
                "interval_us": value(rank, metrics::IDLE_TIME.name).map(|measure| measure.value),
                "chosen": subject(recording, excess),
                "cheapest": role(recording, excess),
                "excess_unit_s": excess.value,
            }))
        })
        .collect()
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let recording = run.recording;
    let governors = Governor::all(recording);
    let mut text = String::new();
    let platform = recording.header.platform.as_ref().map_or("", |platform| platform.name.as_str());
    let [known, bounded, unknown] = ["known", "bounded", "unknown"].map(|what| intervals(recording, what));
    let _ = writeln!(
        text,
        "{} idle intervals on {platform}. Sleep length known in {known}, bounded in {bounded}, unknown in {unknown}.",
        known + bounded + unknown
    );
    for (reason, count) in reasons(recording) {
        let _ = writeln!(text, "  unknown because {reason}: {count:.0}");
    }
    let watts = watts(recording);
    let unit = if watts.is_some() { "energy, J" } else { "energy, unit s" };
    let names = governors.iter().map(Governor::states).max_by_key(Vec::len).unwrap_or_default();
    let mut drawn = table(style);
    let mut headings = vec!["governor".to_owned()];
    headings.extend(names.iter().map(|name| (*name).to_owned()));
    headings.extend(["above", "below", unit, "delay p50, us", "p99"].map(str::to_owned));
    drawn.set_header(headings);
    for governor in &governors {
        let mut cells = vec![governor.name.into()];
        let shown = |value: Option<String>| right(value.unwrap_or_default());
        let entered = |name: &&str| shown(governor.between(metrics::IDLE_ENTERED, name).map(Between::count));
        cells.extend(names.iter().map(entered));
        cells.push(shown(governor.sum(metrics::IDLE_ABOVE).map(Between::count)));
        cells.push(shown(governor.sum(metrics::IDLE_BELOW).map(Between::count)));
        cells.push(shown(governor.energy().map(|energy| energy.times(watts.unwrap_or(1.0)).text())));
        cells.extend(
            ["p50", "p99"].map(|which| shown(governor.between(metrics::IDLE_DELAY, which).map(Between::count))),
        );
        drawn.add_row(cells);
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
    text.push_str(&wins(&governors, style));
    text.push_str(&agreement(&governors, style));
    text.push_str(&counted(recording, style));
    text.push_str(&decided(recording, &governors, style));
    text
}

/// Which governor takes less energy than which, and in what share of the range of what a round trip costs.
fn wins(governors: &[Governor<'_>], style: Style) -> String {
    let real: Vec<&Governor<'_>> =
        governors.iter().filter(|governor| governors.iter().any(|other| governor.wins(other.name).is_some())).collect();
    if real.len() < 2 {
        return String::new();
    }
    // Numbers in the place of names keep the table narrow.
    let numbered = || real.iter().enumerate().map(|(at, governor)| (at + 1, governor));
    let mut drawn = table(style);
    drawn.set_header(
        std::iter::once("takes less energy than, in % of the range".to_owned())
            .chain(numbered().map(|(number, _)| number.to_string())),
    );
    for (number, governor) in numbered() {
        let mut cells = vec![format!("{number} {}", governor.name).into()];
        cells.extend(real.iter().map(|other| {
            let share = governor.wins(other.name);
            right(share.map_or(String::new(), |share| format!("{:.0}", 100.0 * share)))
        }));
        drawn.add_row(cells);
    }
    format!("{}\n", fitted(drawn, style))
}

fn agreement(governors: &[Governor<'_>], style: Style) -> String {
    if governors.iter().all(|governor| governor.agreement("same").is_none()) {
        return String::new();
    }
    let mut drawn = table(style);
    drawn.set_header([
        "chooses as the traced kernel did, %",
        "of known intervals",
        "mean over states",
        "commonest state alone",
    ]);
    for governor in governors {
        let Some(compared) = governor.agreement("compared") else { continue };
        let percent = |what| governor.agreement(what).map_or(String::new(), |share| format!("{:.1}", 100.0 * share));
        let same = format!("{} ({compared:.0})", percent("same"));
        drawn.add_row([governor.name.into(), right(same), right(percent("balanced")), right(percent("commonest"))]);
    }
    let mut text = format!("{}\n", fitted(drawn, style));
    // For the governor that agrees most, what the rest is.
    let same = |governor: &&Governor<'_>| governor.agreement("same").unwrap_or(0.0);
    let nearest = governors.iter().max_by(|a, b| same(a).total_cmp(&same(b)));
    if let Some(nearest) = nearest {
        let rest: Vec<String> =
            differing(nearest).into_iter().map(|(what, count)| format!("{what} {count:.0}")).collect();
        if !rest.is_empty() {
            let words = format!("{} chose otherwise: {}.", nearest.name, rest.join("; "));
            paragraph(&mut text, &words, ("", "  "), PLAIN, style);
        }
    }
    text
}

/// Counts of idle states over the same time: the traced kernel's own, or our accounting of the trace.
struct Counts {
    entered: f64,
    above: f64,
    below: f64,
    rejected: f64,
    residency_us: f64,
}

impl Counts {
    fn json(&self) -> Value {
        json!({
            "entered": whole(self.entered),
            "above": whole(self.above),
            "below": whole(self.below),
            "rejected": whole(self.rejected),
            "residency_us": whole(self.residency_us),
        })
    }
}

fn of_counters(recording: &Recording, mode: &str, metric: Metric) -> Option<f64> {
    let found = recording.measures().iter().find(|measure| {
        recording.series_texts(measure.series) == ("recorded", "counters", mode)
            && recording.text(measure.metric) == metric.name
    });
    found.map(|measure| measure.value)
}

/// The kernel's own counts and those of the trace, where the trace holds the kernel's.
fn counters(recording: &Recording) -> Option<[Counts; 2]> {
    let of = |mode| {
        let value = |metric| of_counters(recording, mode, metric);
        Some(Counts {
            entered: value(metrics::IDLE_ENTERED)?,
            above: value(metrics::IDLE_ABOVE)?,
            below: value(metrics::IDLE_BELOW)?,
            rejected: value(metrics::IDLE_REJECTED)?,
            residency_us: value(metrics::IDLE_TIME)?,
        })
    };
    Some([of("kernel")?, of("trace")?])
}

fn tracing_ns(recording: &Recording) -> Option<f64> {
    of_counters(recording, "", metrics::TRACING)
}

fn counted(recording: &Recording, style: Style) -> String {
    let mut text = String::new();
    let Some([kernel, trace]) = counters(recording) else { return text };
    let taken_off = match tracing_ns(recording) {
        Some(ns) => format!(" A stay is {ns:.0} ns longer by the trace than by the kernel's clock; that is taken off."),
        None => String::new(),
    };
    let words = format!(
        "Between the marks in the trace the kernel counted {:.0} stays, {:.0} above and {:.0} below, and {:.0} that the hardware refused; the trace has {:.0} of both kinds, with {:.0} above and {:.0} below by our accounting.{taken_off}",
        kernel.entered, kernel.above, kernel.below, kernel.rejected, trace.entered, trace.above, trace.below
    );
    paragraph(&mut text, &words, ("", "  "), PLAIN, style);
    text
}

/// What a governor chose otherwise than the traced kernel, with how often.
fn differing<'r>(governor: &Governor<'r>) -> Vec<(&'r str, f64)> {
    let measures = governor.measures("agreement", metrics::IDLE_INTERVALS);
    measures.map(|measure| (subject(governor.recording, measure), measure.value)).collect()
}

/// The interval that cost each governor most.
fn decided(recording: &Recording, governors: &[Governor<'_>], style: Style) -> String {
    let mut text = String::new();
    for governor in governors {
        let Some(worst) = deciding(recording, governor).into_iter().next() else { continue };
        let figure = |key: &str| worst[key].as_f64().unwrap_or(0.0);
        let words = format!(
            "{} lost most on CPU {} at {:.6} s: {} for {} us, where {} was cheapest ({} unit s).",
            governor.name,
            worst["cpu"],
            figure("at_us") / 1e6,
            worst["chosen"].as_str().unwrap_or(""),
            number(figure("interval_us")),
            worst["cheapest"].as_str().unwrap_or(""),
            number(figure("excess_unit_s")),
        );
        paragraph(&mut text, &words, ("", "  "), PLAIN, style);
    }
    text
}

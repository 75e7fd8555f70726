//! `rcu-lazy`: what an idle system saves if callbacks may wait, beside what was published.

use super::story::Story;
use crate::blocks::{Blocks, Drawing, IntervalRow, Picture, Table, fixed, name};
use findings::Run;
use findings::rows::values_of;
use recording::facts::{FactsError, LazyCallbacks};
use recording::metrics::{self, Metric};
use recording::stats;
use serde::Serialize;

/// The configuration that lazy callbacks are compared with, as the published figures are.
const YARDSTICK: &str = "offloaded";
const LAZY: &str = "lazy";

/// Configurations of RCU on an idle system.
#[derive(Serialize)]
pub(super) struct Lazy<'r> {
    title: String,
    platform: Option<&'r str>,
    draws: u32,
    configurations: Vec<Configuration<'r>>,
    published: Vec<Published<'r>>,
    /// The least and the most that is saved of a chip's power, in percent.
    published_saves_percent: Option<[f64; 2]>,
    published_source: Option<&'r str>,
    published_conditions: Option<&'r str>,
    recording: &'r str,
}

/// A configuration; intervals hold 95 % of the draws.
#[derive(Serialize)]
struct Configuration<'r> {
    name: &'r str,
    /// In mW where a unit is known in watts, in units of the platform's table otherwise.
    power_mw: Option<Interval>,
    power_units: Option<Interval>,
    /// Of the power of offloaded callbacks that do not wait.
    saved_percent: Option<Interval>,
    deepest_percent: Option<Interval>,
    wake_ups_per_s: Option<Interval>,
    idle_ticks_per_s: Option<Interval>,
}

/// A published figure.
#[derive(Serialize)]
struct Published<'r> {
    system: &'r str,
    metric: &'r str,
    without: f64,
    with: f64,
    change_percent: f64,
}

#[derive(Clone, Copy, Serialize)]
struct Interval {
    low: f64,
    median: f64,
    high: f64,
}

impl Interval {
    fn new(values: &[f64]) -> Option<Self> {
        let at = |q| stats::quantile(values, q);
        Some(Self { low: at(0.025)?, median: at(0.5)?, high: at(0.975)? })
    }

    fn times(self, factor: f64) -> Self {
        Self { low: self.low * factor, median: self.median * factor, high: self.high * factor }
    }

    fn words(self, digits: usize) -> String {
        format!("{:.digits$} ({:.digits$} to {:.digits$})", self.median, self.low, self.high)
    }
}

/// Reads the configurations.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Lazy<'r>, FactsError> {
    let recording = run.recording;
    let facts: LazyCallbacks = recording.header.facts()?;
    let powers = |configuration: &str| -> Vec<f64> {
        let energies = values_of(recording, configuration, metrics::ENERGY);
        let times = values_of(recording, configuration, metrics::RUN_TIME);
        energies.iter().zip(times).map(|(energy, time)| energy / time).collect()
    };
    let yardstick = powers(YARDSTICK);
    let of = |name: &'r str| {
        let interval = |metric: Metric| Interval::new(&values_of(recording, name, metric));
        let own = powers(name);
        let saved: Vec<f64> = yardstick.iter().zip(&own).map(|(other, own)| 100.0 * (1.0 - own / other)).collect();
        let power = Interval::new(&own);
        Configuration {
            name,
            power_mw: power.zip(facts.watts_per_unit).map(|(power, watts)| power.times(1e3 * watts)),
            power_units: power,
            saved_percent: Interval::new(&saved).filter(|_| name != YARDSTICK),
            deepest_percent: interval(metrics::ASLEEP).map(|share| share.times(100.0)),
            wake_ups_per_s: interval(metrics::WAKE_UP_RATE),
            idle_ticks_per_s: interval(metrics::IDLE_TICK_RATE),
        }
    };
    let mut names: Vec<&str> = Vec::new();
    for series in recording.all_series() {
        let (variant, ..) = recording.series_texts(series);
        if !names.contains(&variant) {
            names.push(variant);
        }
    }
    let reference = run.published.lazy.as_ref();
    let figures = reference.map_or(&[][..], |reference| &reference.figures);
    let published = figures.iter().map(|figure| Published {
        system: &figure.system,
        metric: &figure.metric,
        without: figure.without,
        with: figure.with,
        change_percent: 100.0 * (figure.with / figure.without - 1.0),
    });
    Ok(Lazy {
        title: facts.title.clone(),
        platform: recording.header.platform.as_ref().map(|platform| platform.name.as_str()),
        draws: recording.header.iterations,
        configurations: names.into_iter().map(of).collect(),
        published: published.collect(),
        published_saves_percent: reference.map(|reference| reference.saves_percent),
        published_source: reference.map(|reference| reference.source.as_str()),
        published_conditions: reference.map(|reference| reference.conditions.as_str()),
        recording: run.folder,
    })
}

impl Story for Lazy<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(self.answer());
        told.picture(self.picture());
        told.table(self.table());
        if !self.published.is_empty() {
            told.table(self.published_table());
        }
        if let (Some(source), Some(conditions)) = (self.published_source, self.published_conditions) {
            told.note(format!("Published: {source}; {conditions}."));
        }
    }
}

impl Lazy<'_> {
    fn find(&self, name: &str) -> Option<&Configuration<'_>> {
        self.configurations.iter().find(|of| of.name == name)
    }

    fn answer(&self) -> String {
        let Some(saved) = self.find(LAZY).and_then(|lazy| lazy.saved_percent) else {
            return "Nothing ran with lazy callbacks.".to_owned();
        };
        let mut words = format!(
            "Lazy callbacks save {} % of the power of offloaded ones that do not wait, over {} draws",
            saved.words(1),
            self.draws
        );
        if let Some([least, most]) = self.published_saves_percent {
            let median = match saved.median {
                median if median < least => "below",
                median if median > most => "above",
                _ => "within",
            };
            words += &format!(
                "; Linux says {least:.0} to {most:.0} % of a whole chip's power, and the median is {median} that: here only cores and \
                 clusters have power"
            );
        }
        words.push('.');
        if let Some(cores) = self.published.iter().find(|figure| figure.metric == "cores_w") {
            let holds = (saved.low..=saved.high).contains(&-cores.change_percent);
            words += &format!(
                " The cores of a Chromebook saved {:.0} %, which lies {} the interval.",
                -cores.change_percent,
                if holds { "within" } else { "outside" }
            );
        }
        if let Some(bound) = self.find("lazy-bound").and_then(|bound| bound.saved_percent) {
            let than = match bound.median - saved.median {
                ..-0.05 => "less",
                0.05.. => "more",
                _ => "as much",
            };
            words += &format!(" With RCU's threads bound to one CPU {} % is saved: {than}.", bound.words(1));
        }
        words
    }

    fn picture(&self) -> Picture {
        let row = |of: &Configuration<'_>| {
            let saved = of.saved_percent?;
            Some(IntervalRow {
                name: of.name.to_owned(),
                series: of.name.to_owned(),
                low: saved.low,
                middle: saved.median,
                high: saved.high,
                published: None,
            })
        };
        let rows = Drawing::Intervals(self.configurations.iter().filter_map(row).collect());
        Picture::new("Power saved against offloaded callbacks", "95 % of the draws", "%", rows)
    }

    fn table(&self) -> Table {
        let unit = if self.configurations.iter().any(|of| of.power_mw.is_some()) { "mW" } else { "units" };
        let words = |interval: Option<Interval>, digits| interval.map_or_else(String::new, |of| of.words(digits));
        Table::with_rows(&self.configurations)
            .words("configuration", |of| name(of.name))
            .words(format!("power, {unit}"), |of| words(of.power_mw.or(of.power_units), 1))
            .words("saved, %", |of| words(of.saved_percent, 1))
            .words("deepest, %", |of| words(of.deepest_percent, 1))
            .words("wake-ups/s", |of| words(of.wake_ups_per_s, 0))
            .words("ticks of idle CPUs/s", |of| words(of.idle_ticks_per_s, 0))
            .done()
            .titled(format!(
                "{} on {}: medians over {} draws, and what 95 % of them lie between.",
                self.title,
                self.platform.unwrap_or("a board"),
                self.draws
            ))
            .noted("Deepest: the share of the time that clusters are in their deepest state, the mean of the clusters. Only cores and clusters have power here.")
    }

    fn published_table(&self) -> Table {
        Table::with_rows(&self.published)
            .words("published", |of| format!("{}, {}", of.system, of.metric.replace('_', " ")))
            .numbers("offloaded", "", |of| fixed(of.without, 2))
            .numbers("lazy", "", |of| fixed(of.with, 2))
            .numbers("change", "%", |of| fixed(of.change_percent, 1).signed())
            .done()
    }
}

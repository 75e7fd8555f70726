//! `rcu-lazy`: what an idle system saves if callbacks may wait, beside what was published.

use crate::rows::values_of;
use crate::{Interval, Run};
use recording::distinct;
use recording::facts::{FactsError, LazyCallbacks};
use recording::metrics::{self, Metric};
use schemars::JsonSchema;
use serde::Serialize;

/// The configuration that lazy callbacks are compared with, as the published figures are.
const YARDSTICK: &str = "offloaded";

/// The name of the configuration with lazy callbacks.
pub const LAZY: &str = "lazy";

/// Configurations of RCU on an idle system.
#[derive(Serialize, JsonSchema)]
pub struct Lazy<'r> {
    /// The kernel and system that ran, as a title.
    pub title: String,
    /// The platform's name.
    pub platform: Option<&'r str>,
    /// The number of draws; 0 where nothing was drawn.
    pub draws: u32,
    /// The configurations, in the order in which they ran.
    pub configurations: Vec<Configuration<'r>>,
    /// Published figures with lazy callbacks and without.
    pub published: Vec<PublishedFigure<'r>>,
    /// The least and the most that is saved of a chip's power, in percent.
    pub published_saves_percent: Option<[f64; 2]>,
    /// The source of the published figures.
    pub published_source: Option<&'r str>,
    /// The conditions of the published figures.
    pub published_conditions: Option<&'r str>,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
}

/// A configuration; intervals hold 95 % of the draws, or are the range of fewer than 39.
#[derive(Serialize, JsonSchema)]
pub struct Configuration<'r> {
    /// The configuration's name.
    pub name: &'r str,
    /// Power in mW; `None` where no unit is known in watts.
    pub power_mw: Option<Interval>,
    /// Power in units of the platform's table.
    pub power_units: Option<Interval>,
    /// Power saved against offloaded callbacks that do not wait, in percent; `None` of those.
    pub saved_percent: Option<Interval>,
    /// The share of the time that clusters are in their deepest state, in percent.
    pub deepest_percent: Option<Interval>,
    /// Wake-ups of idle CPUs per second.
    pub wake_ups_per_s: Option<Interval>,
    /// Ticks of idle CPUs per second.
    pub idle_ticks_per_s: Option<Interval>,
}

/// A published figure.
#[derive(Serialize, JsonSchema)]
pub struct PublishedFigure<'r> {
    /// The system that was measured.
    pub system: &'r str,
    /// The name of the figure.
    pub metric: &'r str,
    /// The figure with callbacks that do not wait.
    pub without: f64,
    /// The figure with lazy callbacks.
    pub with: f64,
    /// The relative change in percent, signed.
    pub change_percent: f64,
}

/// Reads the configurations.
pub fn read<'r>(run: &Run<'r>) -> Result<Lazy<'r>, FactsError> {
    let recording = run.recording;
    let facts: LazyCallbacks = recording.header.facts()?;
    let powers = |configuration: &str| -> Vec<f64> {
        let energies = values_of(recording, configuration, metrics::ENERGY);
        let times = values_of(recording, configuration, metrics::RUN_TIME);
        energies
            .iter()
            .zip(times)
            .map(|(energy, time)| energy / time)
            .collect()
    };
    let yardstick = powers(YARDSTICK);
    let of = |name: &'r str| {
        let interval = |metric: Metric| Interval::of_draws(&values_of(recording, name, metric));
        let own = powers(name);
        let saved: Vec<f64> = yardstick
            .iter()
            .zip(&own)
            .map(|(other, own)| 100.0 * (1.0 - own / other))
            .collect();
        let power = Interval::of_draws(&own);
        Configuration {
            name,
            power_mw: power
                .zip(facts.watts_per_unit)
                .map(|(power, watts)| power.times(1e3 * watts)),
            power_units: power,
            saved_percent: Interval::of_draws(&saved).filter(|_| name != YARDSTICK),
            deepest_percent: interval(metrics::ASLEEP).map(|share| share.times(100.0)),
            wake_ups_per_s: interval(metrics::WAKE_UP_RATE),
            idle_ticks_per_s: interval(metrics::IDLE_TICK_RATE),
        }
    };
    let names = distinct(
        recording
            .all_series()
            .map(|series| recording.series_texts(series).0),
    );
    let reference = run.published.lazy.as_ref();
    let figures = reference.map_or(&[][..], |reference| &reference.figures);
    let published = figures.iter().map(|figure| PublishedFigure {
        system: &figure.system,
        metric: &figure.metric,
        without: figure.without,
        with: figure.with,
        change_percent: 100.0 * (figure.with / figure.without - 1.0),
    });
    Ok(Lazy {
        title: facts.title.clone(),
        platform: recording
            .header
            .platform
            .as_ref()
            .map(|platform| platform.name.as_str()),
        draws: recording.header.iterations,
        configurations: names.into_iter().map(of).collect(),
        published: published.collect(),
        published_saves_percent: reference.map(|reference| reference.saves_percent),
        published_source: reference.map(|reference| reference.source.as_str()),
        published_conditions: reference.map(|reference| reference.conditions.as_str()),
        recording: run.folder,
    })
}

impl Lazy<'_> {
    /// The configuration of a name.
    pub fn find(&self, name: &str) -> Option<&Configuration<'_>> {
        self.configurations.iter().find(|of| of.name == name)
    }
}

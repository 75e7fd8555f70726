//! `rcu-doses`: what closing files costs idle CPUs, in a guest and in the small kernel.

use crate::Run;
use recording::Recording;
use recording::metrics::{self, Metric};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The name of the guest kernel's measurements.
pub const GUEST: &str = "guest";

/// The name of the small kernel's predictions.
pub const SMALL: &str = "small kernel";

/// Configurations of callbacks: ordinary, offloaded, lazy.
pub const MODES: [&str; 3] = ["ordinary", "offloaded", "lazy"];

const NEITHER: &str = "neither";

/// Figures of which the small kernel should come within this share of the guest's.
const NEAR: f64 = 0.25;

const METRICS: [Metric; 5] = [
    metrics::WAKE_UP_RATE,
    metrics::IDLE_TICK_RATE,
    metrics::CALLBACK_RATE,
    metrics::SOFTIRQ_CALLBACK_RATE,
    metrics::THREAD_CALLBACK_RATE,
];

/// Rates of closes, and what they do.
#[derive(Serialize, JsonSchema)]
pub struct Doses<'r> {
    /// The figures of each rate and configuration, by metric.
    pub metrics: BTreeMap<&'static str, Vec<Dose>>,
    /// The configuration that wakes idle CPUs more, by rate of closes.
    pub wakes_more: Vec<ExtraWakeups>,
    /// Wake-ups that lazy callbacks save, by rate of closes.
    pub lazy: Vec<WakeupSavings>,
    /// Sentences that the run left about itself.
    pub notes: &'r [String],
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
}

/// Figures of one rate and mode, per second.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Dose {
    /// Files closed per second, at least 0.
    pub closes_per_s: u64,
    /// The configuration of callbacks.
    pub configuration: &'static str,
    /// The guest's figure in each run, per second.
    pub guest: Vec<f64>,
    /// The small kernel's figure, per second.
    pub small_kernel: f64,
    /// The small kernel does nothing beside; what the guest does at dose 0 is added to it.
    pub small_kernel_and_background: f64,
    /// True at 0 closes, which the small kernel's figure was set by.
    pub used_in_fit: bool,
    /// True if the small kernel is near the guest, or within what the guest's own runs differ by.
    pub near: bool,
}

/// The mode in which idle CPUs wake more often.
#[derive(Serialize, JsonSchema)]
pub struct ExtraWakeups {
    /// Files closed per second, above 0.
    pub closes_per_s: u64,
    /// The configuration in the guest; `None` where its runs do not agree.
    pub guest: Option<&'static str>,
    /// The configuration in the small kernel; `neither` where both are equal.
    pub small_kernel: &'static str,
}

/// Wake-ups of idle CPUs with lazy callbacks, of those with offloaded ones that do not wait.
#[derive(Serialize, JsonSchema)]
pub struct WakeupSavings {
    /// Files closed per second, above 0.
    pub closes_per_s: u64,
    /// Wake-ups fewer in the guest, in percent; what both kernels do at 0 is in it.
    pub guest_percent: f64,
    /// Wake-ups fewer in the small kernel, in percent.
    pub small_kernel_percent: f64,
}

/// The share of wake-ups that lazy callbacks save, by rate; none where nobody was lazy.
fn saved(doses: &[Dose]) -> Vec<WakeupSavings> {
    let of = |rate, mode| {
        doses
            .iter()
            .find(move |dose| (dose.closes_per_s, dose.configuration) == (rate, mode))
    };
    let saved = |lazy: &Dose| {
        let other = of(lazy.closes_per_s, MODES[1])?;
        let percent = |other: f64, own: f64| {
            if other > 0.0 {
                100.0 * (1.0 - own / other)
            } else {
                0.0
            }
        };
        Some(WakeupSavings {
            closes_per_s: lazy.closes_per_s,
            guest_percent: percent(mean(&other.guest), mean(&lazy.guest)),
            small_kernel_percent: percent(
                other.small_kernel_and_background,
                lazy.small_kernel_and_background,
            ),
        })
    };
    let lazy = doses
        .iter()
        .filter(|dose| dose.configuration == MODES[2] && dose.closes_per_s > 0);
    lazy.filter_map(saved).collect()
}

/// The mean of some values; 0 of none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn rates(recording: &Recording) -> Vec<u64> {
    let mut rates: Vec<u64> = recording
        .all_series()
        .filter_map(|series| recording.series_texts(series).1.parse().ok())
        .collect();
    rates.sort_unstable();
    rates.dedup();
    rates
}

fn doses(recording: &Recording, metric: Metric) -> Vec<Dose> {
    let values = |who: &str, rate: u64, mode: &str| -> Vec<f64> {
        let is_of = |measure: &&recording::Measure| {
            let (variant, case, of) = recording.series_texts(measure.series);
            (variant, of) == (who, mode)
                && case.parse() == Ok(rate)
                && measure.cpu.is_none()
                && recording.text(measure.metric) == metric.name
        };
        recording
            .measures()
            .iter()
            .filter(is_of)
            .map(|measure| measure.value)
            .collect()
    };
    let dose = |mode: &'static str, rate| {
        let guest = values(GUEST, rate, mode);
        let small_kernel = values(SMALL, rate, mode).first().copied().unwrap_or(0.0);
        let expected = small_kernel + mean(&values(GUEST, 0, mode));
        let middle = mean(&guest);
        let spread = guest
            .iter()
            .fold(0.0_f64, |most, value| most.max((value - middle).abs()));
        Dose {
            closes_per_s: rate,
            configuration: mode,
            near: (expected - middle).abs() <= (NEAR * middle).max(spread),
            guest,
            small_kernel,
            small_kernel_and_background: expected,
            used_in_fit: rate == 0,
        }
    };
    let has = |mode: &&str| {
        recording
            .all_series()
            .any(|series| recording.series_texts(series).2 == *mode)
    };
    let all = MODES
        .into_iter()
        .filter(has)
        .flat_map(|mode| rates(recording).into_iter().map(move |rate| (mode, rate)));
    all.map(|(mode, rate)| dose(mode, rate)).collect()
}

/// For each rate but 0 the mode that wakes idle CPUs more: in the guest, if all of its runs agree,
/// and in the small kernel, to which is added what the guest does at 0: that is the boot's own, and
/// another in each mode.
fn order(doses: &[Dose]) -> Vec<ExtraWakeups> {
    let more = |[first, second]: [f64; 2]| match first.total_cmp(&second) {
        std::cmp::Ordering::Greater => MODES[0],
        std::cmp::Ordering::Less => MODES[1],
        std::cmp::Ordering::Equal => NEITHER,
    };
    let of = |rate, mode| {
        doses
            .iter()
            .find(move |dose| (dose.closes_per_s, dose.configuration) == (rate, mode))
    };
    let mut rates: Vec<u64> = doses
        .iter()
        .map(|dose| dose.closes_per_s)
        .filter(|&rate| rate != 0)
        .collect();
    rates.sort_unstable();
    rates.dedup();
    let order = |rate| {
        let [first, second] = [of(rate, MODES[0])?, of(rate, MODES[1])?];
        let all: Vec<&str> = first
            .guest
            .iter()
            .zip(&second.guest)
            .map(|(a, b)| more([*a, *b]))
            .collect();
        let agreed = all
            .first()
            .filter(|first| all.iter().all(|other| other == *first));
        Some(ExtraWakeups {
            closes_per_s: rate,
            guest: agreed.map(|_| more([first.guest[0], second.guest[0]])),
            small_kernel: more([
                first.small_kernel_and_background,
                second.small_kernel_and_background,
            ]),
        })
    };
    rates.into_iter().filter_map(order).collect()
}

/// Reads the doses.
pub fn read<'r>(run: &Run<'r>) -> Doses<'r> {
    let recording = run.recording;
    let metrics: BTreeMap<_, _> = METRICS
        .into_iter()
        .map(|metric| (metric.name, doses(recording, metric)))
        .collect();
    Doses {
        lazy: saved(&metrics[metrics::WAKE_UP_RATE.name]),
        wakes_more: order(&metrics[metrics::WAKE_UP_RATE.name]),
        metrics,
        notes: &recording.header.notes,
        recording: run.folder,
    }
}

impl Doses<'_> {
    /// The figures of a metric; empty if it was not recorded.
    pub fn doses(&self, metric: Metric) -> &[Dose] {
        self.metrics.get(metric.name).map_or(&[], Vec::as_slice)
    }
}

impl Doses<'_> {
    /// The number of rates above 0 at which the small kernel's figure is near the guest's, and the
    /// number of all such rates, over all configurations.
    pub fn near(&self, metric: Metric) -> (usize, usize) {
        let predicted = self
            .doses(metric)
            .iter()
            .filter(|dose| dose.closes_per_s != 0);
        predicted.fold((0, 0), |(near, all), dose| {
            (near + usize::from(dose.near), all + 1)
        })
    }
}

impl Dose {
    /// The least and the greatest figure of the guest's runs, per second.
    pub fn ends(&self) -> [f64; 2] {
        [
            self.guest.iter().copied().fold(f64::INFINITY, f64::min),
            self.guest.iter().copied().fold(0.0, f64::max),
        ]
    }
}

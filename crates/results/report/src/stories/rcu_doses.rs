//! `rcu-doses`: what closing files costs idle CPUs, in a guest and in the small kernel.

use super::story::Story;
use crate::blocks::{Blocks, Cell, Curve, Drawing, Figure, Picture, Table, figure, whole};
use findings::Run;
use recording::Recording;
use recording::metrics::{self, Metric};
use serde::Serialize;
use std::collections::BTreeMap;

const GUEST: &str = "guest";
const SMALL: &str = "small kernel";
const MODES: [&str; 3] = ["ordinary", "offloaded", "lazy"];
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
#[derive(Serialize)]
pub(super) struct Doses<'r> {
    metrics: BTreeMap<&'static str, Vec<Dose>>,
    wakes_more: Vec<More>,
    lazy: Vec<Saved>,
    notes: &'r [String],
    recording: &'r str,
}

/// Figures of one rate and mode, per second.
#[derive(Clone, Serialize)]
struct Dose {
    closes_per_s: u64,
    configuration: &'static str,
    /// By run.
    guest: Vec<f64>,
    small_kernel: f64,
    /// The small kernel does nothing beside; what the guest does at dose 0 is added to it.
    small_kernel_and_background: f64,
    used_in_fit: bool,
    /// True if the small kernel is near the guest, or within what the guest's own runs differ by.
    near: bool,
}

/// The mode in which idle CPUs wake more often.
#[derive(Serialize)]
struct More {
    closes_per_s: u64,
    /// In the guest, if all of its runs agree.
    guest: Option<&'static str>,
    small_kernel: &'static str,
}

/// Wake-ups of idle CPUs with lazy callbacks, of those with offloaded ones that do not wait.
#[derive(Serialize)]
struct Saved {
    closes_per_s: u64,
    /// In percent fewer; what both kernels do at 0 is in it.
    guest_percent: f64,
    small_kernel_percent: f64,
}

/// The share of wake-ups that lazy callbacks save, by rate; none where nobody was lazy.
fn saved(doses: &[Dose]) -> Vec<Saved> {
    let of = |rate, mode| doses.iter().find(move |dose| (dose.closes_per_s, dose.configuration) == (rate, mode));
    let saved = |lazy: &Dose| {
        let other = of(lazy.closes_per_s, MODES[1])?;
        let percent = |other: f64, own: f64| if other > 0.0 { 100.0 * (1.0 - own / other) } else { 0.0 };
        Some(Saved {
            closes_per_s: lazy.closes_per_s,
            guest_percent: percent(mean(&other.guest), mean(&lazy.guest)),
            small_kernel_percent: percent(other.small_kernel_and_background, lazy.small_kernel_and_background),
        })
    };
    let lazy = doses.iter().filter(|dose| dose.configuration == MODES[2] && dose.closes_per_s > 0);
    lazy.filter_map(saved).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn rates(recording: &Recording) -> Vec<u64> {
    let mut rates: Vec<u64> =
        recording.all_series().filter_map(|series| recording.series_texts(series).1.parse().ok()).collect();
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
        recording.measures().iter().filter(is_of).map(|measure| measure.value).collect()
    };
    let dose = |mode: &'static str, rate| {
        let guest = values(GUEST, rate, mode);
        let small_kernel = values(SMALL, rate, mode).first().copied().unwrap_or(0.0);
        let expected = small_kernel + mean(&values(GUEST, 0, mode));
        let middle = mean(&guest);
        let spread = guest.iter().fold(0.0_f64, |most, value| most.max((value - middle).abs()));
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
    let has = |mode: &&str| recording.all_series().any(|series| recording.series_texts(series).2 == *mode);
    let all = MODES.into_iter().filter(has).flat_map(|mode| rates(recording).into_iter().map(move |rate| (mode, rate)));
    all.map(|(mode, rate)| dose(mode, rate)).collect()
}

/// For each rate but 0 the mode that wakes idle CPUs more: in the guest, if all of its runs agree,
/// and in the small kernel, to which is added what the guest does at 0: that is the boot's own, and
/// another in each mode.
fn order(doses: &[Dose]) -> Vec<More> {
    let more = |[first, second]: [f64; 2]| match first.total_cmp(&second) {
        std::cmp::Ordering::Greater => MODES[0],
        std::cmp::Ordering::Less => MODES[1],
        std::cmp::Ordering::Equal => NEITHER,
    };
    let of = |rate, mode| doses.iter().find(move |dose| (dose.closes_per_s, dose.configuration) == (rate, mode));
    let mut rates: Vec<u64> = doses.iter().map(|dose| dose.closes_per_s).filter(|&rate| rate != 0).collect();
    rates.sort_unstable();
    rates.dedup();
    let order = |rate| {
        let [first, second] = [of(rate, MODES[0])?, of(rate, MODES[1])?];
        let all: Vec<&str> = first.guest.iter().zip(&second.guest).map(|(a, b)| more([*a, *b])).collect();
        let agreed = all.first().filter(|first| all.iter().all(|other| other == *first));
        Some(More {
            closes_per_s: rate,
            guest: agreed.map(|_| more([first.guest[0], second.guest[0]])),
            small_kernel: more([first.small_kernel_and_background, second.small_kernel_and_background]),
        })
    };
    rates.into_iter().filter_map(order).collect()
}

/// Reads the doses.
pub(super) fn read<'r>(run: &Run<'r>) -> Doses<'r> {
    let recording = run.recording;
    let metrics: BTreeMap<_, _> = METRICS.into_iter().map(|metric| (metric.name, doses(recording, metric))).collect();
    Doses {
        lazy: saved(&metrics[metrics::WAKE_UP_RATE.name]),
        wakes_more: order(&metrics[metrics::WAKE_UP_RATE.name]),
        metrics,
        notes: &recording.header.notes,
        recording: run.folder,
    }
}

impl Doses<'_> {
    fn doses(&self, metric: Metric) -> &[Dose] {
        self.metrics.get(metric.name).map_or(&[], Vec::as_slice)
    }

    /// A curve for each mode and kernel.
    fn picture(&self, metric: Metric) -> Picture {
        let curve = |mode: &'static str, who: &str, value: fn(&Dose) -> f64| {
            let of_mode = self.doses(metric).iter().filter(|dose| dose.configuration == mode);
            let points = of_mode.map(|dose| (dose.closes_per_s as f64, Figure { value: value(dose), published: None }));
            Curve { name: format!("{mode}, {who}"), points: points.collect(), best: None }
        };
        let there = |mode: &&str| self.doses(metric).iter().any(|dose| dose.configuration == *mode);
        let curves = MODES.into_iter().filter(there).flat_map(|mode| {
            [curve(mode, GUEST, |dose| mean(&dose.guest)), curve(mode, SMALL, |dose| dose.small_kernel_and_background)]
        });
        let drawing = Drawing::Curves { x: "closes per second".to_owned(), curves: curves.collect() };
        Picture::new("Wake-ups of idle CPUs against closes", "", "1/s", drawing)
    }
}

impl Story for Doses<'_> {
    fn tell(&self, told: &mut Blocks) {
        let waking = self.doses(metrics::WAKE_UP_RATE);
        let predicted = waking.iter().filter(|dose| dose.closes_per_s != 0);
        let (near, all) = predicted.fold((0, 0), |(near, all), dose| (near + usize::from(dose.near), all + 1));
        told.answer(format!(
            "The small kernel wakes idle CPUs as often as the guest does, within 25 % or the guest's own spread, at {near} of {all} rates \
             of closes."
        ));
        told.picture(self.picture(metrics::WAKE_UP_RATE));
        let shown = [
            (metrics::WAKE_UP_RATE, "wake-ups/s"),
            (metrics::IDLE_TICK_RATE, "ticks/s"),
            (metrics::SOFTIRQ_CALLBACK_RATE, "softirq/s"),
            (metrics::THREAD_CALLBACK_RATE, "threads/s"),
        ];
        let rows: Vec<usize> = (0..waking.len()).collect();
        let range = |dose: &Dose| {
            let (least, most) = dose.guest.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), v| (l.min(*v), m.max(*v)));
            Cell::Range(figure(least), figure(most))
        };
        let table = Table::with_rows(&rows)
            .numbers("closes/s", "", |&row| whole(waking[row].closes_per_s as f64))
            .words("CPUs", |&row| waking[row].configuration)
            .each(shown, |table, (metric, heading)| {
                let of = self.doses(metric);
                table
                    .numbers(heading, "", move |&row| of.get(row).map(range))
                    .numbers("small", "", move |&row| of.get(row).map(|dose| figure(dose.small_kernel)))
            });
        told.table(table.done());
        for (metric, _) in shown.into_iter().take(2) {
            for mode in MODES {
                let of_mode: Vec<&Dose> = self.doses(metric).iter().filter(|dose| dose.configuration == mode).collect();
                if of_mode.is_empty() {
                    continue;
                }
                let near = of_mode.iter().filter(|dose| dose.near).count();
                told.paragraph(format!(
                    "{}, {mode}: within 25 % of the guest, or within its spread, at {near} of {} doses, when what the guest does at 0 \
                     closes is added. At 0 that is no prediction.",
                    metrics::heading(metric.name).to_lowercase(),
                    of_mode.len()
                ));
            }
        }
        for Saved { closes_per_s, guest_percent, small_kernel_percent } in &self.lazy {
            told.paragraph(format!(
                "{closes_per_s} closes/s: lazy callbacks save {guest_percent:.0} % of the wake-ups in the guest, {small_kernel_percent:.0} % \
                 in the small kernel with what the guest does at 0."
            ));
        }
        for More { closes_per_s, guest, small_kernel } in &self.wakes_more {
            told.paragraph(match guest {
                None => format!("{closes_per_s} closes/s: the guest's own runs do not agree which CPUs wake more."),
                Some(guest) if guest == small_kernel => format!("{closes_per_s} closes/s: {guest} CPUs wake more, in both."),
                Some(guest) => format!(
                    "{closes_per_s} closes/s: {guest} CPUs wake more in the guest, {small_kernel} ones in the small kernel."
                ),
            });
        }
    }
}

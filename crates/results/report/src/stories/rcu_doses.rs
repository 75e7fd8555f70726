//! `rcu-doses`: what closing files costs idle CPUs, in a guest and in the small kernel.

use super::{Run, Style};
use crate::grid::{PLAIN, fitted, paragraph, right, table};
use crate::words::number;
use recording::Recording;
use recording::metrics::{self, Metric};
use serde_json::{Value, json};
use std::fmt::Write;

const GUEST: &str = "guest";
const SMALL: &str = "small kernel";
const MODES: [&str; 2] = ["ordinary", "offloaded"];
const NEITHER: &str = "neither";
/// Figures of which the small kernel should come within this share of the guest's.
const NEAR: f64 = 0.25;

/// Figures of one rate and mode, per second.
#[derive(Clone, Debug)]
struct Dose {
    rate: u64,
    mode: &'static str,
    /// By run.
    guest: Vec<f64>,
    /// The small kernel's own.
    small: f64,
    /// What the guest does without closes: the mean of its runs at dose 0.
    background: f64,
}

impl Dose {
    fn mean(&self) -> f64 {
        self.guest.iter().sum::<f64>() / self.guest.len().max(1) as f64
    }

    /// The small kernel does nothing beside; what the guest does at dose 0 is added to it.
    fn expected(&self) -> f64 {
        self.small + self.background
    }

    /// Whether the small kernel is near the guest, or within what the guest's own runs differ by.
    fn is_near(&self) -> bool {
        let spread = self.guest.iter().fold(0.0_f64, |most, value| most.max((value - self.mean()).abs()));
        (self.expected() - self.mean()).abs() <= (NEAR * self.mean()).max(spread)
    }
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
        let at_rest = values(GUEST, 0, mode);
        Dose {
            rate,
            mode,
            guest: values(GUEST, rate, mode),
            small: values(SMALL, rate, mode).first().copied().unwrap_or(0.0),
            background: at_rest.iter().sum::<f64>() / at_rest.len().max(1) as f64,
        }
    };
    MODES
        .into_iter()
        .flat_map(|mode| rates(recording).into_iter().map(move |rate| (mode, rate)))
        .map(|(mode, rate)| dose(mode, rate))
        .collect()
}

/// For each rate but 0 which mode wakes idle CPUs more: in the guest, if all of its runs agree, and in the small kernel, to which is added what
/// the guest does at 0: that is the boot's own, and another in each mode.
fn order(doses: &[Dose]) -> Vec<(u64, Option<&'static str>, &'static str)> {
    let more = |[first, second]: [f64; 2]| match first.total_cmp(&second) {
        std::cmp::Ordering::Greater => MODES[0],
        std::cmp::Ordering::Less => MODES[1],
        std::cmp::Ordering::Equal => NEITHER,
    };
    let of = |rate, mode| doses.iter().find(move |dose| (dose.rate, dose.mode) == (rate, mode));
    let mut rates: Vec<u64> = doses.iter().map(|dose| dose.rate).filter(|&rate| rate != 0).collect();
    rates.sort_unstable();
    rates.dedup();
    let order = |rate| {
        let [first, second] = [of(rate, MODES[0])?, of(rate, MODES[1])?];
        let all: Vec<&str> = first.guest.iter().zip(&second.guest).map(|(a, b)| more([*a, *b])).collect();
        let agreed = all.first().filter(|first| all.iter().all(|other| other == *first));
        let guest = agreed.map(|_| more([first.guest[0], second.guest[0]]));
        Some((rate, guest, more([first.expected(), second.expected()])))
    };
    rates.into_iter().filter_map(order).collect()
}

const METRICS: [Metric; 5] = [
    metrics::WAKE_UP_RATE,
    metrics::IDLE_TICK_RATE,
    metrics::CALLBACK_RATE,
    metrics::SOFTIRQ_CALLBACK_RATE,
    metrics::THREAD_CALLBACK_RATE,
];

pub(super) fn json(run: &Run<'_>) -> Value {
    let recording = run.recording;
    let metric = |metric: Metric| {
        let rows: Vec<Value> = doses(recording, metric)
            .iter()
            .map(|dose| {
                json!({
                    "closes_per_s": dose.rate,
                    "configuration": dose.mode,
                    "guest": dose.guest,
                    "small_kernel": dose.small,
                    "small_kernel_and_background": dose.expected(),
                    "used_in_fit": dose.rate == 0,
                    "near": dose.is_near(),
                })
            })
            .collect();
        (metric.name.to_owned(), json!(rows))
    };
    let wakes: Vec<Value> = order(&doses(recording, metrics::WAKE_UP_RATE))
        .into_iter()
        .map(|(rate, guest, small)| json!({ "closes_per_s": rate, "guest": guest, "small_kernel": small }))
        .collect();
    json!({
        "metrics": METRICS.into_iter().map(metric).collect::<serde_json::Map<_, _>>(),
        "wakes_more": wakes,
        "notes": recording.header.notes,
        "recording": run.folder,
    })
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let recording = run.recording;
    let mut text = String::new();
    let mut drawn = table(style);
    drawn.set_header([
        "closes/s",
        "CPUs",
        "wake-ups/s",
        "small",
        "ticks/s",
        "small",
        "softirq/s",
        "small",
        "threads/s",
        "small",
    ]);
    let shown =
        [metrics::WAKE_UP_RATE, metrics::IDLE_TICK_RATE, metrics::SOFTIRQ_CALLBACK_RATE, metrics::THREAD_CALLBACK_RATE];
    let columns = shown.map(|metric| doses(recording, metric));
    for row in 0..columns[0].len() {
        let dose = &columns[0][row];
        let mut cells = vec![right(dose.rate.to_string()), dose.mode.into()];
        for column in &columns {
            let of = &column[row];
            let (least, most) = of.guest.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), v| (l.min(*v), m.max(*v)));
            let ends = [number(least), number(most)];
            cells.push(right(if ends[0] == ends[1] { ends[0].clone() } else { ends.join("–") }));
            cells.push(right(number(of.small)));
        }
        drawn.add_row(cells);
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
    for (metric, column) in shown.iter().zip(&columns).take(2) {
        for mode in MODES {
            let of_mode: Vec<&Dose> = column.iter().filter(|dose| dose.mode == mode).collect();
            let near = of_mode.iter().filter(|dose| dose.is_near()).count();
            let name = metrics::heading(metric.name).to_lowercase();
            let words = format!(
                "{name}, {mode}: within 25 % of the guest, or within its spread, at {near} of {} doses, when what the guest does at 0 closes is added. At 0 that is no prediction.",
                of_mode.len()
            );
            paragraph(&mut text, &words, ("", "  "), PLAIN, style);
        }
    }
    for (rate, guest, small) in order(&columns[0]) {
        let words = match guest {
            None => format!("{rate} closes/s: the guest's own runs do not agree which CPUs wake more."),
            Some(guest) if guest == small => format!("{rate} closes/s: {guest} CPUs wake more, in both."),
            Some(guest) => {
                format!("{rate} closes/s: {guest} CPUs wake more in the guest, {small} ones in the small kernel.")
            }
        };
        paragraph(&mut text, &words, ("", "  "), PLAIN, style);
    }
    text
}

//! Hypotheses of what could be missing: each hypothesis tried alone, and how many published figures
//! it would hold.

use super::cells::{Energy, Interval, REFERENCE, saved};
use super::values::{HYPOTHESIS, Measured, Values, at};
use crate::blocks::{Blocks, Table, Text, fixed, text, whole};
use recording::{facts, stats};
use serde::Serialize;

/// The benchmark whose reference's power is predicted too low by most, and that says how large an
/// idle base would be.
const RESTS: &str = "cyclictest";
/// The benchmark of whose reference the sleep of the big cluster is told.
const SLEEPS: &str = "audio";

/// A hypothesis, and what comes out under it.
#[derive(Serialize)]
pub(super) struct Tried<'r> {
    pub(super) hypothesis: &'r str,
    about: String,
    /// The number of published figures that were used to choose it: to size it, and not to judge.
    fitted_to: usize,
    /// Of the published benefits in energy: how many lie within their intervals, how many there
    /// are, and the sum of the medians of that of the published ones.
    energy_held: usize,
    energy_published: usize,
    medians_of_published_percent: f64,
    /// Of the published benefits in time, how many lie within their intervals.
    time_held: usize,
    /// Power of the reference of the benchmark that rests most, in W.
    cyclictest_power_w: Option<f64>,
    /// Share of the time in which the big cluster is down, in audio's reference.
    big_cluster_asleep: Option<f64>,
}

/// The measures that the predictions of all cells are made of.
struct Predictions<'v, 'r> {
    energy: &'v Values<'r>,
    time: &'v Values<'r>,
    asleep: &'v Values<'r>,
    mode: &'static str,
    /// Power that does not depend on RCU and is added to all, in units.
    base: f64,
}

impl Predictions<'_, '_> {
    fn energies(&self, benchmark: &str, configuration: &str) -> Vec<f64> {
        let energies = at(self.energy, benchmark, configuration, self.mode);
        let times = at(self.time, benchmark, configuration, self.mode);
        energies.iter().zip(times).map(|(energy, time)| energy + self.base * time).collect()
    }

    fn told<'r>(&self, energy: &Energy<'_>, hypothesis: &'r str, about: String, fitted_to: usize) -> Tried<'r> {
        let mut tried = Tried {
            hypothesis,
            about,
            fitted_to,
            energy_held: 0,
            energy_published: 0,
            medians_of_published_percent: 0.0,
            time_held: 0,
            cyclictest_power_w: None,
            big_cluster_asleep: stats::median(at(self.asleep, SLEEPS, REFERENCE, self.mode)),
        };
        let (mut medians, mut published) = (0.0, 0.0);
        for cell in &energy.cells {
            let Some(figure) = cell.published else { continue };
            let reference = self.energies(cell.benchmark, REFERENCE);
            let benefits = saved(&reference, &self.energies(cell.benchmark, cell.configuration));
            if let (Some(benefit), Some(interval)) = (figure.benefit, Interval::new(&benefits)) {
                tried.energy_published += 1;
                tried.energy_held += usize::from(interval.holds(benefit));
                (medians, published) = (medians + interval.median, published + benefit);
            }
            let times = |configuration| at(self.time, cell.benchmark, configuration, self.mode);
            let saved_time = saved(times(REFERENCE), times(cell.configuration));
            if let (Some(benefit), Some(interval)) = (figure.time_benefit, Interval::new(&saved_time)) {
                tried.time_held += usize::from(interval.holds(benefit));
            }
        }
        if published != 0.0 {
            tried.medians_of_published_percent = 100.0 * medians / published;
        }
        let powers: Vec<f64> = self
            .energies(RESTS, REFERENCE)
            .iter()
            .zip(at(self.time, RESTS, REFERENCE, self.mode))
            .map(|(energy, time)| energy / time)
            .collect();
        tried.cyclictest_power_w = stats::median(&powers).zip(energy.scale).map(|(power, scale)| power * scale);
        tried
    }
}

/// The predictions as they are, then under each hypothesis that was run, then with an idle base;
/// none where no hypothesis was run or nothing was published.
pub(super) fn tried<'r>(measured: &Measured<'r>, energy: &Energy<'r>, facts: &[facts::Hypothesis]) -> Vec<Tried<'r>> {
    if measured.tried.is_empty() || energy.reference.is_none() {
        return Vec::new();
    }
    let plain = Predictions {
        energy: &measured.energy,
        time: &measured.time,
        asleep: &measured.asleep,
        mode: energy.mode,
        base: 0.0,
    };
    let mut all = vec![plain.told(energy, "none", "the predictions as they are".to_owned(), 0)];
    for of in &measured.tried {
        let about = facts.iter().find(|fact| fact.name == of.name).map_or_else(String::new, |fact| fact.about.clone());
        let predictions =
            Predictions { energy: &of.energy, time: &of.time, asleep: &of.asleep, mode: HYPOTHESIS, base: 0.0 };
        all.push(predictions.told(energy, of.name, about, 0));
    }
    // What the power of the reference that rests most lacks, added to every configuration.
    let bench = energy.bench(RESTS);
    let missing = bench.and_then(|bench| Some(bench.published_power? / energy.scale? - bench.power.median));
    if let Some(base) = missing.filter(|missing| *missing > 0.0) {
        let watts = base * energy.scale.unwrap_or(1.0);
        let about = format!(
            "{watts:.3} W more in every configuration, idle or not: what the reference of {RESTS} lacks, to which it is fitted"
        );
        all.push(Predictions { base, ..plain }.told(energy, "idle base", about, 1));
    }
    all
}

/// Tells of the hypotheses.
pub(super) fn tell(all: &[Tried<'_>], told: &mut Blocks) {
    if all.is_empty() {
        return;
    }
    let table = Table::with_rows(all)
        .words("hypothesis", |of| of.hypothesis)
        .numbers("energy held", "", |of| whole(of.energy_held as f64))
        .numbers("of", "", |of| whole(of.energy_published as f64))
        .numbers("medians", "%", |of| fixed(of.medians_of_published_percent, 1))
        .numbers("times held", "", |of| whole(of.time_held as f64))
        .numbers("cyclictest", "W", |of| of.cyclictest_power_w.map(|watts| fixed(watts, 3)))
        .numbers("big cluster down in audio", "%", |of| of.big_cluster_asleep.map(|share| fixed(100.0 * share, 0)))
        .done()
        .titled("What could be missing, each tried alone: how many of the published benefits it would hold.")
        .noted(
            "Medians: their sum, in percent of the sum of the published benefits. Cyclictest: the power of its reference. The last two \
             are medians, of the reference; none of this is used anywhere else.",
        );
    told.table(table);
    told.list(all.iter().map(|of| -> Text { text![format!("{}: {}.", of.hypothesis, of.about)] }).collect());
}

//! `rcu-energy`: the talk's table, with the predictions beside the published figures.
//!
//! | file | what it reads |
//! |---|---|
//! | `cells.rs` | benefits over draws with the published ones beside, and references |
//! | `effects.rs` | owners of energy, latencies, the big cluster's sleep, the talk's claims |
//! | `predictions.rs` | the medians beside predictors that know nothing of RCU; figures without a fit |
//! | `measured.rs` | the measures, once; all else is reckoned from them |
//! | `statistics.rs` | intervals over draws, and rank correlation |

mod cells;
mod effects;
mod measured;
mod predictions;
mod statistics;

pub use cells::{CONFIGURATIONS, Cell, DecidingUnknown, REFERENCE, Reference};
pub use effects::{Claim, Effects, Latencies, Lateness, Shares, SleepShares, Steadiness};
pub use predictions::{Power, Predictor, Sysbench, ThreadPower, UnfittedFigures};

use crate::{Findings, Interval};
use cells::Cells;
use measured::EnergyMeasures;
use published::EnergyReference;
use recording::facts::{self, FactsError};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The talk's table: benchmarks in configurations, each beside its published figure.
#[derive(Serialize, JsonSchema)]
pub struct Savings<'r> {
    /// Each benchmark in each configuration.
    pub cells: Vec<Cell<'r>>,
    /// Each benchmark in its reference.
    pub references: Vec<Reference<'r>>,
    /// Shares of the owners of energy in each cell.
    pub owners: Vec<Shares<'r>>,
    /// Watts of a unit of the platform's table, fitted to one benchmark; `None` without published
    /// figures.
    pub watts_per_unit: Option<f64>,
    /// Effects beside energy.
    pub effects: Effects<'r>,
    /// The medians beside other predictors of the published benefits, the nearest first.
    pub predictors: Vec<Predictor>,
    /// The name of the nearest predictor; `None` where several are as near.
    pub nearest: Option<&'static str>,
    /// The name of the predictor that orders the benefits best; `None` where several do as well.
    pub best_order: Option<&'static str>,
    /// Figures that no fit was made for.
    pub without_a_fit: UnfittedFigures<'r>,
    /// The talk's claims, by benchmark.
    pub claims: Vec<Claim<'r>>,
    /// The number of draws; 0 where nothing was drawn.
    pub draws: u32,
    /// The first seed.
    pub seed: u64,
    /// The settings of the run, by name.
    pub settings: &'r BTreeMap<String, String>,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// The published figures of this platform.
    #[serde(skip)]
    pub reference: Option<&'r EnergyReference>,
    /// `draws`, or `central` where nothing was drawn: what intervals are over.
    pub mode: &'static str,
    /// The number of predictions of a cell.
    pub count: usize,
}

/// Published benefits beside predicted ones, over all cells.
pub struct Judgement {
    /// The number of published benefits, at least 1.
    pub published: usize,
    /// The number of those that lie within their intervals.
    pub held: usize,
    /// The number of those that are more than RCU costs at all.
    pub exceeding: usize,
    /// The sum of the predicted medians, in percent of the published ones' sum.
    pub medians_percent: f64,
}

/// Reads the table.
///
/// # Errors
/// The recording's facts are of another version or form.
pub fn read<'r>(findings: &Findings<'r>) -> Result<Savings<'r>, FactsError> {
    let header = &findings.recording.header;
    let facts: facts::Energy = header.facts()?;
    let measured = EnergyMeasures::read(findings.recording);
    let cells = Cells::read(findings, &measured, &facts.benchmarks);
    let predictors = predictions::predictors(&cells);
    let [nearest, best_order] = predictions::best(&predictors);
    Ok(Savings {
        claims: effects::claims(&measured, &cells),
        nearest,
        best_order,
        predictors,
        without_a_fit: predictions::read(&measured, &cells, &facts),
        owners: effects::shares(&measured, &cells),
        watts_per_unit: cells.scale,
        effects: effects::read(&measured, &cells),
        draws: header.iterations,
        seed: header.seed,
        settings: &header.settings,
        recording: findings.folder,
        reference: cells.published,
        mode: cells.mode,
        count: cells.count,
        cells: cells.cells,
        references: cells.references,
    })
}

impl<'r> Savings<'r> {
    /// True if there are draws from the ranges, and enough of them: seeds of one point and a few
    /// draws make no sign certain.
    pub fn is_drawn(&self) -> bool {
        self.draws as usize >= Interval::ENOUGH
    }

    /// The cells that save something against their reference, with what they save of its energy, in
    /// percent.
    pub fn saving(&self) -> impl Iterator<Item = (&Cell<'r>, Interval)> {
        self.cells
            .iter()
            .filter_map(|cell| Some((cell, cell.energy_benefit_percent?)))
    }

    /// The number of cells whose sign is certain.
    pub fn certain(&self) -> usize {
        self.cells
            .iter()
            .filter(|cell| cell.verdict == Some("certain"))
            .count()
    }

    /// The greatest distance of the owners' sum from the energy, as a part of it.
    pub fn owners_off_by(&self) -> f64 {
        self.owners
            .iter()
            .map(|shares| shares.sum_off_by)
            .fold(0.0, f64::max)
    }

    /// The published benefits beside the predicted ones; `None` where none was published.
    pub fn judged(&self) -> Option<Judgement> {
        let published: Vec<(Interval, f64)> = self
            .saving()
            .filter_map(|(cell, of)| Some((of, cell.published_energy_benefit_percent?)))
            .collect();
        let total: f64 = published.iter().map(|(_, value)| value).sum();
        let medians: f64 = published.iter().map(|(of, _)| of.median).sum();
        (!published.is_empty()).then(|| Judgement {
            published: published.len(),
            held: published
                .iter()
                .filter(|(of, value)| of.holds(*value))
                .count(),
            exceeding: self
                .cells
                .iter()
                .filter(|cell| cell.exceeds_rcu == Some(true))
                .count(),
            medians_percent: 100.0 * medians / total,
        })
    }
}

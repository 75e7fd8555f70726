//! Benefits over draws, with the published ones beside, and what RCU costs in each benchmark's
//! reference.

use super::measured::{EnergyMeasures, at};
use super::statistics::{saved, spearman};
use crate::{Findings, Interval};
use itertools::Itertools;
use published::{EnergyFigure, EnergyReference};
use recording::{facts, total_order};
use schemars::JsonSchema;
use serde::Serialize;

/// The configuration that others are compared with.
pub const REFERENCE: &str = "reference";
/// The reference where nobody queues callbacks.
const SILENT: &str = "no-callbacks";
/// The owners of what RCU takes.
const OF_RCU: [&str; 3] = ["callbacks", "tick for RCU", "RCU threads"];
/// The configurations that are compared with the reference.
pub const CONFIGURATIONS: [&str; 3] = ["rcu-offload", "enforced-idle", "both"];

/// A benchmark in a configuration. Intervals are over the draws.
#[derive(Serialize, JsonSchema)]
pub struct Cell<'r> {
    /// The benchmark's name.
    pub benchmark: &'r str,
    /// The configuration's name.
    pub configuration: &'static str,
    /// Energy in joules; `None` where no unit is known in watts.
    pub energy_j: Option<Interval>,
    /// Energy in units of the platform's table times seconds.
    pub energy_unit_s: Interval,
    /// Findings time in seconds.
    pub time_s: Interval,
    /// Energy saved against the reference, in percent of it; `None` in the reference itself.
    pub energy_benefit_percent: Option<Interval>,
    /// Time saved against the reference, in percent of it; `None` in the reference itself.
    pub time_benefit_percent: Option<Interval>,
    /// Energy saved at the central point, over its seeds; `None` in the reference itself.
    pub central_energy_benefit_percent: Option<Interval>,
    /// `certain` where the benefit's interval excludes zero, else `undecided`; `None` in the
    /// reference and where fewer than 39 draws were made.
    pub verdict: Option<&'static str>,
    /// True if the sign is certain and the published one is the other.
    pub wrong_sign: bool,
    /// The unknown that goes most with the benefit; `None` of fewer than 39 draws.
    pub decides: Option<DecidingUnknown<'r>>,
    /// True if the published benefit is more than RCU costs at all in 97.5 % of the draws; `None`
    /// without a published benefit and of fewer than 39 draws.
    pub exceeds_rcu: Option<bool>,
    /// The cost of RCU that 97.5 % of the draws stay below, in percent of the reference; of fewer
    /// than 39 draws the most.
    pub rcu_bound_percent: Option<f64>,
    /// Published energy in joules.
    pub published_energy_j: Option<f64>,
    /// Published run time in seconds.
    pub published_time_s: Option<f64>,
    /// Published benefit in energy, in percent of the reference.
    pub published_energy_benefit_percent: Option<f64>,
    /// Published benefit in time, in percent of the reference.
    pub published_time_benefit_percent: Option<f64>,
    /// True if the published figure gave the scale.
    pub used_in_fit: bool,
}

/// The unknown that goes most with a benefit.
#[derive(Serialize, JsonSchema)]
pub struct DecidingUnknown<'r> {
    /// The unknown's name.
    pub unknown: &'r str,
    /// Spearman's rank correlation with the benefit, from -1 to 1.
    pub spearman: f64,
}

/// A benchmark in its reference. Intervals are over the draws.
#[derive(Serialize, JsonSchema)]
pub struct Reference<'r> {
    /// The benchmark's name.
    pub benchmark: &'r str,
    /// True if the benchmark is of those that keep CPUs busy.
    pub busy: bool,
    /// Power in units of the platform's table.
    pub power_unit: Interval,
    /// Power in watts; `None` where no unit is known in watts.
    pub power_w: Option<Interval>,
    /// Published power in watts.
    pub published_power_w: Option<f64>,
    /// The cost of RCU as a whole: the reference less the same without callbacks, in percent of the
    /// reference.
    pub rcu_bound_percent: Interval,
    /// The share of RCU's owners in the energy, in percent.
    pub rcu_owned_percent: Interval,
}

impl Reference<'_> {
    /// Error of the median power against the published one in percent, signed; `None` where either
    /// is not known in watts.
    pub fn error_percent(&self) -> Option<f64> {
        Some(100.0 * (self.power_w?.median / self.published_power_w? - 1.0))
    }
}

/// Cells and references, and what they were read with.
pub struct Cells<'r> {
    pub references: Vec<Reference<'r>>,
    pub cells: Vec<Cell<'r>>,
    /// Watts per unit.
    pub scale: Option<f64>,
    /// The mode that intervals are over: draws, or the central point's seeds where nothing was
    /// drawn.
    pub mode: &'static str,
    /// The number of those in it.
    pub count: usize,
    pub published: Option<&'r EnergyReference>,
}

impl<'r> Cells<'r> {
    pub fn reference(&self, benchmark: &str) -> Option<&Reference<'r>> {
        self.references
            .iter()
            .find(|reference| reference.benchmark == benchmark)
    }

    pub fn read(
        findings: &Findings<'r>,
        measured: &EnergyMeasures<'r>,
        benchmarks: &[facts::Benchmark],
    ) -> Self {
        let header = &findings.recording.header;
        let published = findings
            .published
            .energy
            .as_ref()
            .filter(|of| header.platform_name() == Some(&of.platform));
        let mode = if header.iterations > 0 {
            "draws"
        } else {
            "central"
        };
        let enough = header.iterations as usize >= Interval::ENOUGH;
        let reader = Reader {
            measured,
            mode,
            enough,
            published,
        };
        let mut references = benchmarks
            .iter()
            .filter_map(|of| reader.reference(of))
            .collect_vec();
        let scale = published.and_then(|published| {
            let reference = references
                .iter()
                .find(|reference| reference.benchmark == published.scale)?;
            Some(reference.published_power_w? / reference.power_unit.median)
        });
        for reference in &mut references {
            reference.power_w = scale.map(|scale| reference.power_unit.times(scale));
        }
        let cells = references
            .iter()
            .flat_map(|reference| {
                std::iter::once(REFERENCE)
                    .chain(CONFIGURATIONS)
                    .filter_map(|configuration| reader.cell(reference, configuration, scale))
            })
            .collect();
        let count = references
            .first()
            .map_or(0, |first| reader.energies(first.benchmark, REFERENCE).len());
        Self {
            references,
            cells,
            scale,
            mode,
            count,
            published,
        }
    }
}

/// The measures and figures from which all cells of a recording are read.
struct Reader<'m, 'r> {
    measured: &'m EnergyMeasures<'r>,
    mode: &'static str,
    /// True if there are draws enough for intervals that hold 95 %.
    enough: bool,
    published: Option<&'r EnergyReference>,
}

impl<'r> Reader<'_, 'r> {
    fn energies(&self, benchmark: &str, configuration: &str) -> &[f64] {
        at(&self.measured.energy, benchmark, configuration, self.mode)
    }

    fn times(&self, benchmark: &str, configuration: &str) -> &[f64] {
        at(&self.measured.time, benchmark, configuration, self.mode)
    }

    /// The benefits of the seeds at the central point.
    fn central(&self, benchmark: &str, configuration: &str) -> Vec<f64> {
        let of = |configuration| at(&self.measured.energy, benchmark, configuration, "central");
        saved(of(REFERENCE), of(configuration))
    }

    /// A benchmark's reference; `None` of a benchmark without rows.
    fn reference(&self, benchmark: &facts::Benchmark) -> Option<Reference<'r>> {
        // The name as the rows have it.
        let [name, ..] = self
            .measured
            .energy
            .keys()
            .find(|[case, ..]| *case == benchmark.name)
            .copied()?;
        let all = self.energies(name, REFERENCE);
        let powers = all
            .iter()
            .zip(self.times(name, REFERENCE))
            .map(|(energy, time)| energy / time)
            .collect_vec();
        let owned = self
            .measured
            .owned
            .iter()
            .filter(|(owner, _)| OF_RCU.contains(owner))
            .map(|(_, values)| values)
            .collect_vec();
        let shares = all
            .iter()
            .enumerate()
            .map(|(draw, all)| {
                100.0
                    * owned
                        .iter()
                        .map(|values| {
                            at(values, name, REFERENCE, self.mode)
                                .get(draw)
                                .copied()
                                .unwrap_or(0.0)
                        })
                        .sum::<f64>()
                    / all
            })
            .collect_vec();
        let bounds = saved(all, self.energies(name, SILENT));
        Some(Reference {
            benchmark: name,
            busy: benchmark.busy,
            power_unit: Interval::of_draws(&powers)?,
            power_w: None,
            published_power_w: self.published.and_then(|published| published.power(name)),
            rcu_bound_percent: Interval::of_draws(&bounds)?,
            rcu_owned_percent: Interval::of_draws(&shares)?,
        })
    }

    /// A cell; `None` where it has no rows.
    fn cell(
        &self,
        reference: &Reference<'r>,
        configuration: &'static str,
        scale: Option<f64>,
    ) -> Option<Cell<'r>> {
        let name = reference.benchmark;
        let is_reference = configuration == REFERENCE;
        let times = self.times(name, configuration);
        let energies = Interval::of_draws(self.energies(name, configuration))?;
        let benefits = saved(
            self.energies(name, REFERENCE),
            self.energies(name, configuration),
        );
        let benefit = Interval::of_draws(&benefits).filter(|_| !is_reference);
        let time_benefits = saved(self.times(name, REFERENCE), times);
        let figure = self
            .published
            .and_then(|published| published.figure(name, configuration));
        let of_figure = |of: fn(&EnergyFigure) -> Option<f64>| figure.and_then(of);
        let published_benefit = of_figure(|figure| figure.printed_energy_benefit_percent);
        let drawn = benefit.filter(|_| self.enough);
        let bound = reference.rcu_bound_percent.high;
        Some(Cell {
            benchmark: name,
            configuration,
            energy_j: scale.map(|scale| energies.times(scale)),
            energy_unit_s: energies,
            time_s: Interval::of_draws(times)?,
            energy_benefit_percent: benefit,
            time_benefit_percent: Interval::of_draws(&time_benefits).filter(|_| !is_reference),
            central_energy_benefit_percent: Interval::of_all(&self.central(name, configuration))
                .filter(|_| !is_reference),
            verdict: drawn.map(|benefit| {
                if benefit.excludes_zero() {
                    "certain"
                } else {
                    "undecided"
                }
            }),
            wrong_sign: drawn
                .zip(published_benefit)
                .is_some_and(|(benefit, published)| {
                    benefit.excludes_zero() && (benefit.median > 0.0) != (published > 0.0)
                }),
            decides: self
                .decides(&benefits)
                .filter(|_| self.enough && !is_reference),
            exceeds_rcu: published_benefit
                .filter(|_| self.enough)
                .map(|benefit| benefit > bound),
            rcu_bound_percent: Some(bound),
            published_energy_j: of_figure(|figure| Some(figure.energy_j)),
            published_time_s: of_figure(|figure| Some(figure.time_s)),
            published_energy_benefit_percent: published_benefit,
            published_time_benefit_percent: of_figure(|figure| figure.printed_time_benefit_percent),
            used_in_fit: is_reference
                && self
                    .published
                    .is_some_and(|published| published.scale == name),
        })
    }

    /// The unknown that goes most with the benefits.
    fn decides(&self, benefits: &[f64]) -> Option<DecidingUnknown<'r>> {
        self.measured
            .unknowns
            .iter()
            .filter_map(|(unknown, values)| {
                Some(DecidingUnknown {
                    unknown,
                    spearman: spearman(values, benefits)?,
                })
            })
            .max_by_key(|of| total_order(of.spearman.abs()))
    }
}

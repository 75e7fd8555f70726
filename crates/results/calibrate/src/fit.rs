//! The fit.

use crate::cell_fit::CellFit;
use crate::gate::{Gate, information};
use crate::parameters::{self, Parameter, Plan};
use document::Error;
use itertools::{Itertools, izip};
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::storage::Owned;
use nalgebra::{DMatrix, DVector, Dyn};
use psci_cases::{CASES, Case, Mode};
use published::{Cell, PsciReference};
use rayon::prelude::*;
use recording::metrics::{self, Metric};
use recording::total_order;
use soc::config::{Costs, Machine, Platform, Release};
use soc::{Conditions, Order, ProcedureStamps};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::iter;

/// Parameters that the used cells cannot tell apart: all can move together and the cells hardly
/// change.
pub struct Indistinct {
    /// Keys with their part of the direction, largest first; the sign says which move against each
    /// other.
    pub members: Vec<(String, f64)>,
    /// The uncertainty of the direction, as a part of the priors: more than 1 is not determined at
    /// all.
    pub uncertainty: f64,
}

/// A fit and all that belongs to it.
pub struct Calibration {
    /// The release.
    pub release: String,
    /// The session of the board that its cells were measured in.
    pub session: String,
    /// The platform.
    pub platform: String,
    /// The fitted costs, rounded as written.
    pub costs: Costs,
    /// Key, value in microseconds (or a share), its standard error, and its prior.
    pub parameters: Vec<(Parameter, f64, f64)>,
    /// Used cells with what the fit makes of them.
    pub cells: Vec<CellFit>,
    /// The uncertainty of the parameters together: the lower triangle by rows. A draw adds to each
    /// parameter its row times as many independent standard normal numbers, in microseconds, or as
    /// a share.
    pub factor: Vec<Vec<f64>>,
    /// Other values of all parameters that fit alike, in their order; the priors are nearer to
    /// those that were taken.
    pub valleys: Vec<Vec<f64>>,
    /// The directions that the data cannot tell apart.
    pub indistinct: Vec<Indistinct>,
    /// Rules that chose the cells.
    pub rules: Vec<String>,
    /// Root of the mean square of the residuals, in microseconds.
    pub rms_us: f64,
    /// True if the fit can be trusted, and why not.
    pub gate: Gate,
    /// Each CPU as (cluster, core), and how far the deepest wakeups are from the published ones if
    /// it owns the timer: the root of the mean square of the logarithms of their ratios. Nearest
    /// first; empty where there is nothing to compare with.
    pub timers: Vec<(u16, u16, f64)>,
    /// The CPU that the reference declares to own the timer.
    pub declared_timer: Option<(u16, u16)>,
    /// Release from which the carried parameters started.
    pub carried_from: Option<String>,
}

/// The case whose wakeups show who owns the timer.
const DEEPEST: &str = "suspend-deepest";

/// Relative accuracy that is asked of a cell: the model is not better than this, however finely a
/// cell is printed.
pub const RELATIVE: f64 = 0.005;
/// And in microseconds.
pub const ABSOLUTE: f64 = 0.05;
/// Step of the numeric derivative, as a part of the prior.
const STEP: f64 = 0.02;
/// Parts of a cost that two valleys differ by.
const VALLEY: f64 = 0.1;
/// A direction that is less certain than this part of the priors is not told by the data.
const INDISTINCT: f64 = 0.5;

const OTHER_PRIORS: &str = "give the plan of the fit other priors";

fn no_cells(release: &Release) -> Error {
    Error::new(
        format!(
            "the reference has no cell of {} that a fit may use",
            release.name
        ),
        "name a release of which the reference declares cells for fits",
    )
}

/// The cells of a release that a fit may use: all that [`fit`] sees of the published figures.
pub fn usable_cells(release: &str, reference: &PsciReference) -> Vec<Cell> {
    reference
        .cells
        .iter()
        .filter(|cell| cell.release == release && cell.used_in_fit)
        .cloned()
        .collect()
}

/// Fits a release's costs to the cells of `reference` that fits may use.
///
/// # Errors
/// See [`Error`].
pub fn fit(
    platform: &Platform,
    release: &Release,
    reference: &PsciReference,
    plan: &Plan,
    carried: Option<&Costs>,
) -> Result<Calibration, Error> {
    let cells = usable_cells(&release.name, reference);
    if cells.is_empty() {
        return Err(no_cells(release));
    }
    let parameters = plan.parameters(platform, carried)?;
    // A counter that resolves picoseconds: the fit wants to see small steps.
    let mut fine = platform.clone();
    fine.counter_frequency = 1_000_000_000_000;
    let model = Model {
        platform: &fine,
        release,
        orders: orders(platform, release, reference),
        parameters: &parameters,
        cells: &cells,
    };
    let (scales, others) = model.minimize()?;
    let valleys = others.iter().map(|scales| model.rounded(scales)).collect();
    let values = model.rounded(&scales);
    let costs = model.costs(&values);
    let fitted = model.simulate(&costs)?;
    let data = model.derivative(&scales)?;
    let timers = model.timers(&costs, reference)?;
    let squares = cells
        .iter()
        .zip(&fitted)
        .map(|(cell, fitted)| (fitted - cell.value_us).powi(2));
    let rms = (squares.sum::<f64>() / cells.len() as f64).sqrt();
    let errors = standard_errors(&data, &parameters);
    let factor = factor(&data, &parameters);
    let sigmas = cells.iter().map(sigma).collect_vec();
    let fitted_parameters = izip!(parameters.iter().cloned(), values, errors).collect_vec();
    let cells = cells
        .into_iter()
        .zip(fitted)
        .map(|(cell, fitted)| CellFit { cell, fitted })
        .collect_vec();
    Ok(Calibration {
        timers,
        declared_timer: reference.wake_ups(&release.name, DEEPEST).0,
        gate: Gate::new(&cells, &sigmas, &fitted_parameters, &data),
        release: release.name.clone(),
        session: reference
            .sessions
            .get(&release.name)
            .unwrap_or(&release.name)
            .clone(),
        platform: platform.name.clone(),
        indistinct: indistinct(&data, &parameters),
        valleys,
        parameters: fitted_parameters,
        cells,
        rules: reference.fit_rules.clone(),
        rms_us: rms,
        factor,
        carried_from: plan.carry_from.clone().filter(|_| carried.is_some()),
        costs,
    })
}

/// The declared orders as CPU numbers, by case.
fn orders(
    platform: &Platform,
    release: &Release,
    reference: &PsciReference,
) -> BTreeMap<&'static str, Order> {
    let cpus = &platform.topology.cpus;
    let number = |&place: &(u16, u16)| cpus.iter().position(|cpu| (cpu.cluster, cpu.core) == place);
    CASES
        .iter()
        .filter(|case| case.mode == Mode::Parallel)
        .map(|case| {
            let scp = reference.scp_order(&release.name, case.name, case.mode.name());
            let (timer, wakes) = reference.wake_ups(&release.name, case.name);
            let order = Order {
                scp: scp.iter().filter_map(number).collect(),
                timer: timer.as_ref().and_then(number),
                wakes: wakes.iter().filter_map(number).collect(),
            };
            (case.name, order)
        })
        .collect()
}

/// Scales that differ in a parameter that several starts were tried of; those nearest to the priors
/// of these parameters come first.
fn valleys(
    parameters: &[Parameter],
    found: impl Iterator<Item = DVector<f64>>,
) -> Vec<DVector<f64>> {
    let tried = (0..parameters.len())
        .filter(|&at| parameters[at].starts.len() > 1)
        .collect_vec();
    let distance = |scales: &DVector<f64>| -> f64 {
        tried
            .iter()
            .map(|&at| {
                if scales[at] > 0.0 {
                    scales[at].ln().powi(2)
                } else {
                    f64::INFINITY
                }
            })
            .sum()
    };
    let mut valleys: Vec<DVector<f64>> = Vec::new();
    for scales in found {
        if !valleys.iter().any(|valley| {
            tried
                .iter()
                .all(|&at| (valley[at] - scales[at]).abs() <= VALLEY * valley[at].abs())
        }) {
            valleys.push(scales);
        }
    }
    valleys.sort_by_key(|of| total_order(distance(of)));
    valleys
}

struct Model<'a> {
    platform: &'a Platform,
    release: &'a Release,
    orders: BTreeMap<&'static str, Order>,
    parameters: &'a [Parameter],
    cells: &'a [Cell],
}

impl Model<'_> {
    /// The scales with the least squares of those found from each start of the plan, and those of
    /// other valleys that fit alike. Where CPUs change places, the cells bend, and a fit may not
    /// come past the bend. Among valleys that fit alike the priors decide, since the cells do not.
    fn minimize(&self) -> Result<(DVector<f64>, Vec<DVector<f64>>), Error> {
        let starts = self.parameters.iter();
        let found: Vec<_> = starts
            .map(|parameter| parameter.starts.iter().copied())
            .multi_cartesian_product()
            .map(|start| self.minimize_from(DVector::from_vec(start)))
            .collect::<Result<_, _>>()?;
        // There is at least the start at the priors.
        let best = found.iter().min_by_key(|of| total_order(of.1)).cloned();
        let mut best = best.ok_or_else(|| no_cells(self.release))?;
        // A step that went below 0 finds no slope there: what ended at 0 is tried once more from
        // half of its prior.
        let again = best.0.map(|scale| if scale <= 0.0 { 0.5 } else { scale });
        if again != best.0 {
            let other = self.minimize_from(again)?;
            if other.1 < best.1 {
                best = other;
            }
        }
        let alike = best.1 + self.alike(best.1);
        let found = found
            .into_iter()
            .filter(|(_, objective)| *objective <= alike)
            .map(|(scales, _)| scales);
        let mut valleys = valleys(self.parameters, iter::once(best.0).chain(found));
        let chosen = valleys.remove(0);
        Ok((chosen, valleys))
    }

    /// The difference from a least objective, half of a sum of squares, that does not tell two fits
    /// apart: two standard errors, where one is as large as the cells' own misfit.
    fn alike(&self, least: f64) -> f64 {
        let freedom = self
            .cells
            .len()
            .saturating_sub(self.parameters.len())
            .max(1);
        2.0 * (2.0 * least / freedom as f64).max(1.0)
    }

    /// The scales to which a start leads, and their sum of squares.
    fn minimize_from(&self, start: DVector<f64>) -> Result<(DVector<f64>, f64), Error> {
        // A start that cannot be simulated is told as what it is.
        self.residuals(&start)?;
        let problem = Problem {
            model: self,
            scales: start,
        };
        let (problem, outcome) = LevenbergMarquardt::new()
            .with_patience(40)
            .minimize(problem);
        use levenberg_marquardt::TerminationReason::{LostPatience, NoImprovementPossible};
        let is_found = outcome.termination.was_successful()
            || matches!(outcome.termination, LostPatience | NoImprovementPossible(_));
        if is_found {
            Ok((problem.scales, outcome.objective_function))
        } else {
            let why = outcome.termination;
            let message = format!("the fit of {} did not converge: {why:?}", self.release.name);
            Err(Error::new(message, OTHER_PRIORS))
        }
    }

    /// Values at a point, each a multiple of its prior.
    fn values(&self, scales: &DVector<f64>) -> Vec<f64> {
        let parameters = self.parameters.iter().zip(scales.iter());
        parameters
            .map(|(parameter, scale)| scale * parameter.prior.value)
            .collect()
    }

    /// The costs that some values are of.
    fn costs(&self, values: &[f64]) -> Costs {
        let mut costs = parameters::zero(self.platform);
        for (parameter, value) in self.parameters.iter().zip(values) {
            parameters::set(&mut costs, &parameter.key, *value);
        }
        costs
    }

    /// Values as they will be read again from the file.
    fn rounded(&self, scales: &DVector<f64>) -> Vec<f64> {
        let values = self.parameters.iter().zip(self.values(scales));
        values
            .map(|(parameter, value)| parameters::written(&parameter.key, value).1)
            .collect()
    }

    fn machine(&self, costs: &Costs) -> Machine {
        Machine {
            platform: self.platform.clone(),
            release: self.release.clone(),
            costs: costs.clone(),
        }
    }

    /// The measurements of a case once caches hold what they hold from then on.
    fn settled(
        &self,
        machine: &Machine,
        case: Case,
        order: Order,
    ) -> Result<Vec<ProcedureStamps>, Error> {
        let conditions = Conditions {
            case,
            iterations: soc::SETTLED + 1,
            seed: 0,
            order,
            events: 0,
            spread: false,
        };
        Ok(soc::run(machine, &conditions)
            .map_err(|error| {
                let (release, mode) = (&self.release.name, case.mode.name());
                let message = format!("while fitting {release}, {} in {mode}: {error}", case.name);
                Error::new(message, OTHER_PRIORS)
            })?
            .measured
            .into_iter()
            .filter(|measured| measured.iteration == soc::SETTLED)
            .collect())
    }

    /// Each CPU as the owner of the timer, and how far the wakeups of the deepest parallel table
    /// then are from the published ones: the root of the mean square of the logarithms of their
    /// ratios, nearest first. Empty where no order or no such table is published.
    fn timers(
        &self,
        costs: &Costs,
        reference: &PsciReference,
    ) -> Result<Vec<(u16, u16, f64)>, Error> {
        let Some(case) = CASES
            .into_iter()
            .find(|case| case.name == DEEPEST && case.mode == Mode::Parallel)
        else {
            return Ok(Vec::new());
        };
        let Some(order) = self
            .orders
            .get(DEEPEST)
            .filter(|order| !order.scp.is_empty())
        else {
            return Ok(Vec::new());
        };
        let machine = self.machine(costs);
        let published = |cluster: u16, core: u16| {
            let cells = reference
                .cells
                .iter()
                .filter(|cell| cell.release == self.release.name);
            let mut cells =
                cells.filter(|cell| cell.case == DEEPEST && cell.mode == case.mode.name());
            cells
                .find(|cell| {
                    cell.metric == metrics::WAKEUP.name
                        && (cell.cluster, cell.core) == (cluster, core)
                })
                .map(|cell| cell.value_us)
        };
        let cpus = &self.platform.topology.cpus;
        let mut timers = Vec::new();
        for (number, timer) in cpus.iter().enumerate() {
            let mut squares = Vec::new();
            for measured in self.settled(
                &machine,
                case,
                Order {
                    timer: Some(number),
                    ..order.clone()
                },
            )? {
                let cpu = &cpus[measured.cpu];
                let both =
                    interval_us(&metrics::WAKEUP, &measured).zip(published(cpu.cluster, cpu.core));
                squares.extend(both.map(|(us, published)| (us / published).ln().powi(2)));
            }
            if !squares.is_empty() {
                let mean = squares.iter().sum::<f64>() / squares.len() as f64;
                timers.push((timer.cluster, timer.core, mean.sqrt()));
            }
        }
        timers.sort_by_key(|of| total_order(of.2));
        Ok(timers)
    }

    fn simulate_at(&self, scales: &DVector<f64>) -> Result<Vec<f64>, Error> {
        self.simulate(&self.costs(&self.values(scales)))
    }

    /// The used cells in microseconds, simulated.
    fn simulate(&self, costs: &Costs) -> Result<Vec<f64>, Error> {
        let machine = self.machine(costs);
        let mut values = BTreeMap::new();
        for case in CASES {
            let order = self
                .orders
                .get(case.name)
                .filter(|_| case.mode == Mode::Parallel)
                .cloned();
            let mode = case.mode.name();
            for measured in self.settled(&machine, case, order.unwrap_or_default())? {
                let cpu = &self.platform.topology.cpus[measured.cpu];
                for metric in metrics::intervals_of(case.name) {
                    let key = (case.name, mode, cpu.cluster, cpu.core, metric.name);
                    values.extend(interval_us(&metric, &measured).map(|us| (key, us)));
                }
            }
        }
        let value = |cell: &Cell| {
            let (case, mode, metric) = (&*cell.case, &*cell.mode, &*cell.metric);
            let key = (case, mode, cell.cluster, cell.core, metric);
            values.get(&key).copied().unwrap_or(0.0)
        };
        Ok(self.cells.iter().map(value).collect())
    }

    /// Weighted residuals: cells first, then priors.
    fn residuals(&self, scales: &DVector<f64>) -> Result<DVector<f64>, Error> {
        let simulated = self.simulate_at(scales)?;
        let cells = self
            .cells
            .iter()
            .zip(simulated)
            .map(|(cell, value)| (value - cell.value_us) / sigma(cell));
        let priors = self
            .parameters
            .iter()
            .zip(scales.iter())
            .map(|(parameter, scale)| (scale - 1.0) / parameter.prior.within);
        let all = cells.chain(priors).collect_vec();
        Ok(DVector::from_vec(all))
    }

    /// Derivative of the weighted cells by the scales: central differences, one parameter a thread.
    fn derivative(&self, scales: &DVector<f64>) -> Result<DMatrix<f64>, Error> {
        let columns: Result<Vec<Vec<f64>>, Error> = (0..self.parameters.len())
            .into_par_iter()
            .map(|index| {
                let (mut above, mut below) = (scales.clone(), scales.clone());
                // Costs end at 0: a step below it would not be one.
                above[index] = scales[index].max(0.0) + STEP;
                below[index] = (scales[index].max(0.0) - STEP).max(0.0);
                let width = above[index] - below[index];
                let (above, below) = (self.simulate_at(&above)?, self.simulate_at(&below)?);
                Ok(self
                    .cells
                    .iter()
                    .zip(above.into_iter().zip(below))
                    .map(|(cell, (above, below))| (above - below) / width / sigma(cell))
                    .collect())
            })
            .collect();
        let columns = columns?.into_iter().map(DVector::from_vec).collect_vec();
        Ok(DMatrix::from_columns(&columns))
    }
}

/// The length of a metric's interval on a CPU, in microseconds of the picoseconds that are counted.
fn interval_us(metric: &Metric, measured: &ProcedureStamps) -> Option<f64> {
    let us = |point: &str| Some(soc::stamp_at(&measured.stamps, point)? as f64 / 1e6);
    let (from, to) = metric.bounds(us)?;
    Some(to - from)
}

/// Standard deviation that is granted to a cell, in microseconds.
fn sigma(cell: &Cell) -> f64 {
    cell.resolution_us
        .max(RELATIVE * cell.value_us)
        .max(ABSOLUTE)
}

struct Problem<'a> {
    model: &'a Model<'a>,
    scales: DVector<f64>,
}

impl LeastSquaresProblem<f64, Dyn, Dyn> for Problem<'_> {
    type ParameterStorage = Owned<f64, Dyn>;
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;

    fn set_params(&mut self, scales: &DVector<f64>) {
        self.scales.copy_from(scales);
    }

    fn params(&self) -> DVector<f64> {
        self.scales.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        self.model.residuals(&self.scales).ok()
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let cells = self.model.derivative(&self.scales).ok()?;
        let count = self.model.parameters.len();
        let mut jacobian = DMatrix::zeros(cells.nrows() + count, count);
        jacobian.rows_mut(0, cells.nrows()).copy_from(&cells);
        for (index, parameter) in self.model.parameters.iter().enumerate() {
            jacobian[(cells.nrows() + index, index)] = 1.0 / parameter.prior.within;
        }
        Some(jacobian)
    }
}

/// The trust that draws have in a prior, as a part of its value. In the fit priors are as good as
/// free, so that the data decide; where the data say nothing, a draw from such a prior would be ten
/// times what it says.
const DRAWN_WITHIN: f64 = 0.5;

/// The factor of the parameters' covariance; see [`Calibration::factor`].
fn factor(data: &DMatrix<f64>, parameters: &[Parameter]) -> Vec<Vec<f64>> {
    let withins = parameters
        .iter()
        .map(|parameter| parameter.prior.within.min(DRAWN_WITHIN));
    let information = information(data, withins);
    // The priors make it positive definite.
    let Some(covariance) = information.cholesky().map(|factor| factor.inverse()) else {
        return Vec::new();
    };
    let Some(factor) = covariance.cholesky().map(|factor| factor.l()) else {
        return Vec::new();
    };
    parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| {
            (0..=index)
                .map(|column| factor[(index, column)] * parameter.prior.value)
                .collect()
        })
        .collect()
}

/// Standard errors of the parameters in microseconds (or of a share), priors included.
fn standard_errors(data: &DMatrix<f64>, parameters: &[Parameter]) -> Vec<f64> {
    let withins = parameters.iter().map(|parameter| parameter.prior.within);
    match information(data, withins).try_inverse() {
        Some(covariance) => parameters
            .iter()
            .enumerate()
            .map(|(i, p)| covariance[(i, i)].max(0.0).sqrt() * p.prior.value)
            .collect(),
        None => vec![f64::INFINITY; parameters.len()],
    }
}

/// Directions in which the cells hardly change, from the singular values of the derivative alone.
fn indistinct(data: &DMatrix<f64>, parameters: &[Parameter]) -> Vec<Indistinct> {
    // Rows of zeros make the decomposition show directions that no cell sees at all.
    let mut padded = DMatrix::zeros(data.nrows().max(parameters.len()), parameters.len());
    padded.rows_mut(0, data.nrows()).copy_from(data);
    let decomposition = padded.svd(false, true);
    let Some(directions) = decomposition.v_t else {
        return Vec::new();
    };
    let mut found = decomposition
        .singular_values
        .iter()
        .enumerate()
        .map(|(row, &value)| (row, 1.0 / value.max(1e-9)))
        .filter(|&(_, uncertainty)| uncertainty > INDISTINCT)
        .map(|(row, uncertainty)| {
            let mut members = parameters
                .iter()
                .zip(directions.row(row).iter())
                .filter(|&(_, &part)| part.abs() > 0.2)
                .map(|(parameter, &part)| (parameter.key.clone(), part))
                .collect_vec();
            members.sort_by_key(|of| Reverse(total_order(of.1.abs())));
            // A direction and its opposite are the same: let the first member be positive.
            if members.first().is_some_and(|first| first.1 < 0.0) {
                members.iter_mut().for_each(|member| member.1 = -member.1);
            }
            Indistinct {
                members,
                uncertainty,
            }
        })
        .collect_vec();
    found.sort_by_key(|of| Reverse(total_order(of.uncertainty)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Prior;

    /// One of two parameters is tried from several starts: of fits that differ in it the one nearer
    /// to its prior comes first, and fits that differ elsewhere are one valley.
    #[test]
    fn of_valleys_that_fit_alike_the_prior_takes_one() {
        let parameter = |key: &str, starts: &[f64]| Parameter {
            key: key.to_owned(),
            prior: Prior {
                value: 50.0,
                within: 10.0,
            },
            starts: starts.to_vec(),
        };
        let parameters = [
            parameter("scp.core_on", &[0.5, 1.0, 2.0]),
            parameter("scp.take", &[1.0]),
        ];
        let found = [
            [0.34, 1.0],
            [1.1, 3.0],
            [1.12, 1.0],
            [0.34, 2.0],
            [-1.0, 1.0],
        ];
        let valleys = valleys(
            &parameters,
            found.iter().map(|scales| DVector::from_row_slice(scales)),
        );
        let firsts: Vec<f64> = valleys.iter().map(|scales| scales[0]).collect();
        assert_eq!(firsts, [1.1, 0.34, -1.0]);
    }
}

//! True if a fit can be trusted: the figures by which that is judged, and the judgement.

use crate::cell_fit::CellFit;
use crate::parameters::Parameter;
use itertools::Itertools;
use nalgebra::DMatrix;
use serde::Serialize;

/// The figures by which a fit is judged.
#[derive(Debug)]
pub struct Gate {
    /// Values of the model that differ by 50 ns or more. Cells with the same value are one
    /// observation to the fit: equal cores, each alone, give equal values.
    pub distinct: usize,
    /// Parameters that the distinct values determine, priors left aside: the trace of the hat
    /// matrix.
    pub effective: f64,
    /// Root of the mean square of residuals, each as a multiple of what its cell is granted.
    pub weighted_rms: f64,
    /// Costs that the fit would have below 0, and which ended there.
    pub pinned: Vec<String>,
    /// Those of them for which the cells leave no doubt.
    certainly_zero: Vec<String>,
    /// Leave-one-out error.
    pub left_out: LeaveOneOut,
    /// Why the fit is bad, a clause each; empty for a good fit.
    pub reasons: Vec<String>,
}

/// The quality with which a fit to all other values foretells a distinct value, by linear
/// approximation at the fit.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LeaveOneOut {
    /// Distinct values that the others say something about.
    pub values: usize,
    /// Distinct values that alone determine a cost: without them the prior would be all that there
    /// is.
    pub alone: usize,
    /// Root of the mean square of the errors of the former, in microseconds.
    pub rms_us: f64,
    /// Median of their magnitudes, as a part of the published value.
    pub median: f64,
}

/// More than this multiple of what cells are granted is no fit: a model that holds stays near 1.
const MOST_RESIDUAL: f64 = 3.0;
/// A greater median leave-one-out error, as a part of the value, is no prediction.
const MOST_LEFT_OUT: f64 = 0.1;
/// With fewer degrees of freedom than this, the fit would look good whatever the cells said.
const LEAST_FREEDOM: f64 = 2.0;
/// A cost that ended at 0 speaks against a fit if its standard error is below this part of its
/// prior: the cells then say that there is none. Of a greater error, they know a sum that it is
/// part of.
const CERTAIN: f64 = 0.1;
/// A value of which the fit follows more than this part of any change has nothing but itself to go
/// by.
const ALONE: f64 = 0.9;
/// Values that differ by less are one, in microseconds. It is the least that a cell is granted.
const SAME: f64 = 0.05;

impl Gate {
    /// Judges a fit. `derivative` holds the change of each cell with each parameter's scale, and
    /// `sigmas` what each cell is granted, in microseconds; the derivative is in multiples of it.
    pub(crate) fn new(
        cells: &[CellFit],
        sigmas: &[f64],
        parameters: &[(Parameter, f64, f64)],
        derivative: &DMatrix<f64>,
    ) -> Self {
        let groups = groups(cells);
        let observed = one_row_each(&groups, derivative);
        let hat = hat(&observed, parameters);
        let residuals = cells
            .iter()
            .zip(sigmas)
            .map(|(cell, sigma)| (cell.fitted - cell.cell.value_us) / sigma)
            .collect_vec();
        let weighted_rms = root_mean_square(residuals.iter().copied());
        let at_zero = |certainly: bool| -> Vec<String> {
            let ended = parameters
                .iter()
                .filter(|(parameter, value, _)| *value <= 0.0 && parameter.prior.value > 0.0);
            let certain = |(parameter, _, error): &&(Parameter, f64, f64)| {
                *error < CERTAIN * parameter.prior.value
            };
            ended
                .filter(|it| !certainly || certain(it))
                .map(|(parameter, ..)| parameter.key.clone())
                .collect()
        };
        let mut gate = Self {
            distinct: groups.len(),
            effective: hat.iter().sum(),
            weighted_rms,
            pinned: at_zero(false),
            certainly_zero: at_zero(true),
            left_out: left_out(cells, &groups, &hat),
            reasons: Vec::new(),
        };
        gate.reasons = gate.judge();
        gate
    }

    /// Degrees of freedom that are left to check the fit with.
    pub fn freedom(&self) -> f64 {
        self.distinct as f64 - self.effective
    }

    /// True if the fit may be used without a warning.
    pub fn passed(&self) -> bool {
        self.reasons.is_empty()
    }

    fn judge(&self) -> Vec<String> {
        // A figure that is no number speaks against a fit as well.
        let exceeds = |value: f64, most: f64| value.is_nan() || value > most;
        let mut reasons = Vec::new();
        if exceeds(self.weighted_rms, MOST_RESIDUAL) {
            reasons.push(format!(
                "residuals are {:.1} times what the cells are granted (at most {MOST_RESIDUAL:.0})",
                self.weighted_rms
            ));
        }
        // The cells may determine a sum and not its parts. A part may then end at 0, and the
        // residuals judge the sum.
        if !self.certainly_zero.is_empty() {
            reasons.push(format!(
                "the cells put costs at 0: {}",
                self.certainly_zero.join(", ")
            ));
        }
        if exceeds(-self.freedom(), -LEAST_FREEDOM) {
            reasons.push(format!(
                "{} distinct values leave {:.1} degrees of freedom (at least {LEAST_FREEDOM:.0})",
                self.distinct,
                self.freedom()
            ));
        }
        if exceeds(self.left_out.median, MOST_LEFT_OUT) {
            reasons.push(format!(
                "a value that is left out is missed by {:.0} % in the median (at most {:.0} %)",
                100.0 * self.left_out.median,
                100.0 * MOST_LEFT_OUT
            ));
        }
        reasons
    }
}

/// The cells of each distinct value, by place.
fn groups(cells: &[CellFit]) -> Vec<Vec<usize>> {
    let mut sorted = (0..cells.len()).collect_vec();
    sorted.sort_by_key(|&at| (recording::total_order(cells[at].fitted), at));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for place in sorted {
        match groups.last_mut() {
            Some(group) if cells[place].fitted - cells[group[0]].fitted < SAME => group.push(place),
            _ => groups.push(vec![place]),
        }
    }
    groups
}

/// One row for each distinct value: n cells that move together weigh as one whose deviation is
/// smaller by the root of n.
fn one_row_each(groups: &[Vec<usize>], derivative: &DMatrix<f64>) -> DMatrix<f64> {
    let mut rows = DMatrix::zeros(groups.len(), derivative.ncols());
    for (row, group) in groups.iter().enumerate() {
        for column in 0..derivative.ncols() {
            let squares: f64 = group
                .iter()
                .map(|&place| derivative[(place, column)].powi(2))
                .sum();
            rows[(row, column)] = squares.sqrt().copysign(derivative[(group[0], column)]);
        }
    }
    rows
}

/// What observations, a row each, and priors of these standard deviations say of parameters.
pub fn information(rows: &DMatrix<f64>, withins: impl Iterator<Item = f64>) -> DMatrix<f64> {
    let mut information = rows.transpose() * rows;
    for (index, within) in withins.enumerate() {
        information[(index, index)] += within.powi(-2);
    }
    information
}

/// The share of a change of each distinct value that the fit follows: the diagonal of the hat
/// matrix, 0 to 1.
fn hat(rows: &DMatrix<f64>, parameters: &[(Parameter, f64, f64)]) -> Vec<f64> {
    let withins = parameters
        .iter()
        .map(|(parameter, ..)| parameter.prior.within);
    let Some(covariance) = information(rows, withins).try_inverse() else {
        return vec![1.0; rows.nrows()];
    };
    (0..rows.nrows())
        .map(|row| {
            let row = rows.row(row);
            (row * &covariance * row.transpose())[(0, 0)].clamp(0.0, 1.0)
        })
        .collect()
}

fn left_out(cells: &[CellFit], groups: &[Vec<usize>], hat: &[f64]) -> LeaveOneOut {
    let mut errors = Vec::new();
    let mut parts = Vec::new();
    for (group, &follows) in groups.iter().zip(hat) {
        if follows > ALONE {
            continue;
        }
        let count = group.len() as f64;
        let mean = |of: &dyn Fn(&CellFit) -> f64| {
            group.iter().map(|&place| of(&cells[place])).sum::<f64>() / count
        };
        let published = mean(&|cell| cell.cell.value_us);
        let error = (mean(&|cell| cell.fitted) - published) / (1.0 - follows);
        errors.push(error);
        parts.push(if published > 0.0 {
            (error / published).abs()
        } else {
            f64::INFINITY
        });
    }
    parts.sort_by(f64::total_cmp);
    LeaveOneOut {
        values: errors.len(),
        alone: groups.len() - errors.len(),
        rms_us: root_mean_square(errors.iter().copied()),
        median: parts
            .get(parts.len().saturating_sub(1) / 2)
            .copied()
            .unwrap_or(0.0),
    }
}

fn root_mean_square(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    (values.map(|value| value * value).sum::<f64>() / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Prior;
    use published::Cell;

    fn cell(published: f64, fitted: f64) -> CellFit {
        let cell = Cell {
            value_us: published,
            published,
            resolution_us: 1.0,
            used_in_fit: true,
            ..Cell::default()
        };
        CellFit { cell, fitted }
    }

    fn parameter(key: &str, value: f64) -> (Parameter, f64, f64) {
        (
            Parameter {
                starts: vec![1.0],
                key: key.to_owned(),
                prior: Prior {
                    value: 1.0,
                    within: 1000.0,
                },
            },
            value,
            0.0,
        )
    }

    /// A line through six values: two parameters, both determined.
    fn line(residuals: [f64; 6], slope: f64) -> Gate {
        let cells: Vec<CellFit> = (0..6)
            .map(|at| {
                cell(
                    100.0 + f64::from(at) - residuals[at as usize],
                    100.0 + f64::from(at),
                )
            })
            .collect();
        let derivative = DMatrix::from_fn(
            6,
            2,
            |row, column| if column == 0 { 1.0 } else { row as f64 },
        );
        Gate::new(
            &cells,
            &[1.0; 6],
            &[parameter("offset", 100.0), parameter("slope", slope)],
            &derivative,
        )
    }

    #[test]
    fn a_line_through_its_values_passes_and_counts_what_it_has() {
        let gate = line([0.5, -0.5, 0.5, -0.5, 0.5, -0.5], 1.0);
        assert!(gate.passed(), "{:?}", gate.reasons);
        assert_eq!(
            (gate.distinct, gate.left_out.values, gate.left_out.alone),
            (6, 6, 0)
        );
        assert!(
            (gate.effective - 2.0).abs() < 1e-3 && (gate.freedom() - 4.0).abs() < 1e-3,
            "{gate:?}"
        );
        assert!((gate.weighted_rms - 0.5).abs() < 1e-9);
        // The ends weigh most: by the textbook's 1 / n + (x - mean)^2 / sum of squares they follow
        // 11 / 21 of a change.
        let one = line([0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 1.0);
        assert!(
            (one.left_out.rms_us - (21.0 / 10.0) / 6f64.sqrt()).abs() < 1e-3,
            "{one:?}"
        );
    }

    #[test]
    fn each_fault_of_a_fit_is_a_reason() {
        let reason = |gate: &Gate, part: &str| {
            assert!(
                gate.reasons.iter().any(|said| said.contains(part)),
                "{part}: {gate:?}"
            )
        };
        reason(
            &line([5.0, -5.0, 5.0, -5.0, 5.0, -5.0], 1.0),
            "residuals are 5.0 times",
        );
        reason(&line([0.0; 6], 0.0), "the cells put costs at 0: slope");
        // A cost of which the cells know hardly anything but a sum may end at 0.
        let (slope, _, _) = parameter("slope", 0.0);
        let derivative = DMatrix::from_fn(
            6,
            2,
            |row, column| if column == 0 { 1.0 } else { row as f64 },
        );
        let cells: Vec<CellFit> = (0..6)
            .map(|at| cell(f64::from(at), f64::from(at)))
            .collect();
        let parameters = [parameter("offset", 100.0), (slope, 0.0, 0.5)];
        let unsure = Gate::new(&cells, &[1.0; 6], &parameters, &derivative);
        assert!(unsure.passed() && unsure.pinned == ["slope"], "{unsure:?}");
        reason(
            &line([50.0, -50.0, 50.0, -50.0, 50.0, -50.0], 1.0),
            "left out is missed",
        );
        reason(&line([f64::NAN; 6], 1.0), "residuals");

        // Six cells, but three values only: equal cores measured alone.
        let cells: Vec<CellFit> = (0..6)
            .map(|at| cell(f64::from(at / 2), f64::from(at / 2)))
            .collect();
        let derivative = DMatrix::from_fn(
            6,
            2,
            |row, column| if column == 0 { 1.0 } else { (row / 2) as f64 },
        );
        let gate = Gate::new(
            &cells,
            &[1.0; 6],
            &[parameter("offset", 1.0), parameter("slope", 1.0)],
            &derivative,
        );
        assert_eq!(gate.distinct, 3);
        reason(&gate, "3 distinct values leave 1.0 degrees of freedom");
    }
}

//! Repetitions of a measurement, whether one figure may stand for them, and whether a machine
//! repeats itself.

use recording::stats;
use schemars::JsonSchema;
use serde::Serialize;

/// Values whose quartiles lie apart by more than this share of their median have no figure that
/// stands for all of them.
const SCATTER: f64 = 0.1;

/// The range of some values.
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub struct Spread {
    /// The least and the greatest.
    pub range: [f64; 2],
    /// True if they lie too far apart for one figure.
    pub scatters: bool,
    /// The median, or the value that stands for them.
    #[serde(skip)]
    pub median: f64,
}

impl Spread {
    /// The range of some values; `None` of none.
    pub(crate) fn new(values: &[f64]) -> Option<Self> {
        Some(Self {
            range: stats::ends(values.iter().copied()),
            scatters: scatters(values),
            median: stats::median(values)?,
        })
    }
}

/// The first and the third quartile of some values; 0 of none.
pub fn quartiles(values: &[f64]) -> [f64; 2] {
    [0.25, 0.75].map(|q| stats::quantile(values, q).unwrap_or(0.0))
}

/// The distance between the quartiles of some values as a share of their median; `None` of fewer
/// than two.
pub(crate) fn apart(values: &[f64]) -> Option<f64> {
    let [low, high] = quartiles(values);
    (values.len() > 1)
        .then(|| (high - low) / stats::median(values).unwrap_or(0.0).max(f64::MIN_POSITIVE))
}

/// True if the median of some values does not stand for them.
pub(crate) fn scatters(values: &[f64]) -> bool {
    apart(values).is_some_and(|apart| apart > SCATTER)
}

/// Whether a machine repeats itself, over all that an experiment measured several times.
#[derive(Serialize, JsonSchema)]
pub struct Steadiness {
    /// The number of cells that were measured more than once.
    pub cells: usize,
    /// The cells among them whose repetitions scatter: their quartiles lie apart by more than a
    /// tenth of the median.
    pub scattering: usize,
    /// The distance between the quartiles of a cell's repetitions in percent of their median: the
    /// median over the cells.
    pub apart_percent: f64,
    /// True if what the answer rests on was repeated and does not scatter, and neither do three
    /// quarters of the cells. Otherwise no factor may be told.
    pub repeats: bool,
}

impl Steadiness {
    /// The steadiness of cells, and of those that the answer rests on, by the distance between the
    /// quartiles of each as a share of its median; `None` for a cell that was measured once.
    pub fn new(
        cells: impl IntoIterator<Item = Option<f64>>,
        decisive: impl IntoIterator<Item = Option<f64>>,
    ) -> Self {
        let cells: Vec<f64> = cells.into_iter().flatten().collect();
        let scattering = cells.iter().filter(|apart| **apart > SCATTER).count();
        Self {
            cells: cells.len(),
            scattering,
            apart_percent: 100.0 * stats::median(&cells).unwrap_or(0.0),
            repeats: 4 * scattering <= cells.len()
                && decisive.into_iter().flatten().all(|apart| apart <= SCATTER),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_does_not_repeat_itself_is_seen() {
        assert!(
            !scatters(&[318.0, 320.0, 322.0, 900.0, 319.0]),
            "one repetition alone does not move the median"
        );
        assert!(scatters(&[318.0, 320.0, 500.0, 900.0, 319.0]));
        let (steady, wild) = (apart(&[10.0, 10.1, 10.2]), apart(&[177.0, 800.0, 9034.0]));
        assert!(Steadiness::new([steady; 4], [steady]).repeats);
        assert!(
            Steadiness::new([steady, steady, steady, wild], [steady]).repeats,
            "one cell of four"
        );
        assert!(
            !Steadiness::new([steady, steady, steady, wild], [wild]).repeats,
            "the answer rests on it"
        );
        let half = Steadiness::new([steady, wild, apart(&[1.0])], [steady]);
        assert_eq!((half.cells, half.scattering, half.repeats), (2, 1, false));
    }
}

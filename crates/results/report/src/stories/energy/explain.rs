//! Solves `rcu-energy` backwards: which rate of callbacks, or which energy of a round trip, gives a
//! published benefit at the central point.

use super::cells::Energy;
use super::values::Measured;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The distance at which a benefit still counts as near the published one, in points.
const NEAR: f64 = 0.3;

/// A setting of which curves were recorded.
pub(super) struct Axis {
    /// Its name in JSON.
    pub(super) name: &'static str,
    /// The mode of its curve, which is the name of its axis too.
    mode: &'static str,
}

/// The settings that are solved for: the last is the rate of callbacks where a round trip costs as
/// much as any source says.
pub(super) const AXES: [Axis; 3] = [
    Axis { name: "callbacks.rate", mode: "rate" },
    Axis { name: "transition", mode: "transition" },
    Axis { name: "callbacks.rate with transition=1024", mode: "rate-dear" },
];

/// The value that a setting would have to have.
pub(super) enum Solution {
    /// This, a place that was run, so whoever sets it sees that benefit.
    At {
        /// The value of the setting.
        value: f64,
        /// The benefit there, in percent.
        benefit: f64,
    },
    /// Somewhere between these two places, neither of which is near enough.
    Between(f64, f64),
    /// There is none: the benefit stays between these.
    None {
        /// The least.
        least: f64,
        /// The most.
        most: f64,
    },
    /// No curve was recorded.
    Unknown,
}

/// The value that each setting would have to have for a published cell.
pub(super) struct Explained<'r> {
    pub(super) benchmark: &'r str,
    pub(super) configuration: &'static str,
    pub(super) published: f64,
    /// In the order of [`AXES`].
    pub(super) solutions: Vec<Solution>,
}

impl Serialize for Explained<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("benchmark", self.benchmark)?;
        map.serialize_entry("configuration", self.configuration)?;
        map.serialize_entry("published_energy_benefit_percent", &self.published)?;
        for (axis, solution) in AXES.iter().zip(&self.solutions) {
            map.serialize_entry(axis.name, solution)?;
        }
        map.end()
    }
}

impl Serialize for Solution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Form {
            At { value: f64, energy_benefit_percent: f64 },
            Between { value: Option<f64>, between: [f64; 2] },
            None { value: Option<f64>, low: f64, high: f64 },
            Unknown(Option<f64>),
        }
        let form = match *self {
            Self::At { value, benefit } => Form::At { value, energy_benefit_percent: benefit },
            Self::Between(low, high) => Form::Between { value: None, between: [low, high] },
            Self::None { least, most } => Form::None { value: None, low: least, high: most },
            Self::Unknown => Form::Unknown(None),
        };
        form.serialize(serializer)
    }
}

/// Solves for each published cell.
pub(super) fn explain<'r>(measured: &Measured<'r>, energy: &Energy<'r>) -> Vec<Explained<'r>> {
    let cells = energy.cells.iter().filter_map(|cell| Some((cell, cell.published?.benefit?)));
    cells
        .map(|(cell, published)| {
            let solve = |axis: &Axis| solve(&measured.curve(cell.benchmark, cell.configuration, axis.mode), published);
            let solutions = AXES.iter().map(solve).collect();
            Explained { benchmark: cell.benchmark, configuration: cell.configuration, published, solutions }
        })
        .collect()
}

/// A place of the curve that is near enough, for that was run. Between two places a benefit may be
/// anything: another rate puts every callback at another time.
fn solve(curve: &[(f64, f64)], wanted: f64) -> Solution {
    let distance = |at: &(f64, f64)| (at.1 - wanted).abs();
    let Some(nearest) = curve.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
        return Solution::Unknown;
    };
    if distance(nearest) <= NEAR {
        return Solution::At { value: nearest.0, benefit: nearest.1 };
    }
    let crosses = |pair: &&[(f64, f64)]| (pair[0].1 - wanted) * (pair[1].1 - wanted) <= 0.0;
    if let Some(pair) = curve.windows(2).find(crosses) {
        return Solution::Between(pair[0].0, pair[1].0);
    }
    let benefits = || curve.iter().map(|at| at.1);
    let (least, most) = (benefits().fold(f64::INFINITY, f64::min), benefits().fold(f64::NEG_INFINITY, f64::max));
    Solution::None { least, most }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_was_run_goes_before_one_between_two() {
        let curve = [(0.0, 0.0), (10.0, 4.0), (20.0, 8.0), (30.0, 6.0)];
        assert!(matches!(solve(&curve, 4.2), Solution::At { value: 10.0, benefit: 4.0 }));
        assert!(matches!(solve(&curve, 2.0), Solution::Between(0.0, 10.0)));
        assert!(matches!(solve(&curve, 9.0), Solution::None { least: 0.0, most: 8.0 }));
        assert!(matches!(solve(&curve, -1.0), Solution::None { .. }));
        assert!(matches!(solve(&[], 1.0), Solution::Unknown));
    }
}

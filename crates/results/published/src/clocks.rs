//! The cost of clocks of the kernel, and the results of divisions of a time.

use crate::figures;
use document::Result;
use experiment::{Conditions, Files};
use serde::Deserialize;

/// Name of the reference about clocks.
pub const CLOCKS: &str = "cpuidle-clock";

/// A published statistic of a clock.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockFigure {
    /// Which clock.
    pub clock: String,
    /// `average`, `stddev`, `minimum` or `maximum`.
    pub statistic: String,
    /// The figure.
    pub value: f64,
    /// Unit of the statistic, always `ns`.
    pub unit: String,
}

/// The results of two divisions of a time.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DivisionFigure {
    /// The time in nanoseconds.
    pub nsec: u64,
    /// Divided by 1000, in microseconds.
    pub div_1000_usec: f64,
    /// Shifted by 10 bits, in microseconds.
    pub shift_10_usec: f64,
}

/// Published costs of clocks, with how they were taken.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockReference {
    #[serde(rename = "figures")]
    clock_file: String,
    #[serde(rename = "divisions")]
    division_file: String,
    /// The source.
    pub source: String,
    /// Conditions under which they were measured.
    pub conditions: String,
    /// The clocks, in the file's order.
    #[serde(skip)]
    pub clocks: Vec<ClockFigure>,
    /// The divisions, in the file's order.
    #[serde(skip)]
    pub divisions: Vec<DivisionFigure>,
}

const STATISTICS: [&str; 4] = ["average", "stddev", "minimum", "maximum"];

impl ClockReference {
    /// Reads the reference among some files.
    ///
    /// # Errors
    /// The file and the line that are wrong.
    pub fn read(files: &dyn Files) -> Result<Self> {
        let mut read: Self = files.document(&format!("{CLOCKS}.toml"))?.read()?;
        read.clocks = figures(files, &read.clock_file, wrong)?;
        read.divisions = figures(files, &read.division_file, |_| None)?;
        Ok(read)
    }

    /// The names of the clocks, in the file's order.
    pub fn names(&self) -> Vec<&str> {
        recording::distinct(self.clocks.iter().map(|figure| figure.clock.as_str()))
    }

    /// A statistic of a clock in nanoseconds, if it was published.
    pub fn statistic(&self, clock: &str, statistic: &str) -> Option<f64> {
        self.clocks
            .iter()
            .find(|figure| figure.clock == clock && figure.statistic == statistic)
            .map(|figure| figure.value)
    }

    /// The conditions that an experiment may know: the clocks that are given to a simulated kernel,
    /// with what a read of each costs there. Nothing that is simulated predicts these costs.
    pub fn conditions(&self, conditions: &mut Conditions) {
        conditions.add(
            "clocks",
            &[CLOCKS],
            self.names().into_iter().map(str::to_owned),
        );
        for name in self.names() {
            let values = STATISTICS
                .iter()
                .filter_map(|statistic| self.statistic(name, statistic));
            conditions.add(
                "clock-read-ns",
                &[CLOCKS, name],
                values.map(|value| value.to_string()),
            );
        }
    }
}

fn wrong(figure: &ClockFigure) -> Option<(String, &'static str)> {
    if figure.unit != "ns" || !STATISTICS.contains(&figure.statistic.as_str()) {
        let message = format!("no statistic `{}` in `{}`", figure.statistic, figure.unit);
        let help = "the unit should be ns, the statistic average, stddev, minimum or maximum";
        return Some((message, help));
    }
    let is_time = figure.value > 0.0 && figure.value < 1e9;
    let message = format!("a read of {} ns", figure.value);
    let help = "a read should take more than 0 and less than 10^9 ns";
    (!is_time).then_some((message, help))
}

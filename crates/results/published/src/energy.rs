//! The published savings of configurations of RCU in benchmarks.

use crate::{figures, is_positive};
use document::{Error, Spanned};
use experiment::Files;
use serde::Deserialize;

/// Name of the reference about RCU and energy.
pub const ENERGY: &str = "rcu-energy";

/// A benchmark in a configuration, as published.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergyFigure {
    /// The benchmark.
    pub benchmark: String,
    /// The configuration.
    pub configuration: String,
    /// Energy of the benchmark in joules.
    pub energy_j: f64,
    /// The time that it took, in seconds.
    pub time_s: f64,
    /// Share of the reference's energy that was saved, in percent, as printed; none in the
    /// reference.
    pub printed_energy_benefit_percent: Option<f64>,
    /// Share of the reference's time that was saved, in percent, as printed; none in the reference.
    pub printed_time_benefit_percent: Option<f64>,
}

/// The published table.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergyReference {
    #[serde(rename = "figures")]
    file: String,
    /// The source.
    pub source: String,
    /// Conditions under which the figures were measured.
    pub conditions: String,
    /// The platform that it is of.
    pub platform: String,
    /// The benchmark whose power in the reference gives the size of the platform's unit.
    pub scale: Spanned<String>,
    /// The statement about invoking callbacks on LITTLE CPUs instead of big ones.
    pub callbacks_on_little: String,
    /// The figures, in the file's order.
    #[serde(skip)]
    pub figures: Vec<EnergyFigure>,
    /// The configuration that the others are compared with.
    pub reference: String,
}

impl EnergyReference {
    /// Reads the reference among some files.
    ///
    /// # Errors
    /// The file and the line that are wrong.
    pub fn read(files: &dyn Files) -> Result<Self, Error> {
        let description = files.document(&format!("{ENERGY}.toml"))?;
        let mut read: Self = description.read()?;
        read.figures = figures(files, &read.file, |figure: &EnergyFigure| {
            let is_reference = figure.configuration == read.reference;
            if !is_positive(figure.energy_j) || !is_positive(figure.time_s) {
                let help = "an energy in J and a time in s should be above 0";
                return Some(("no energy, or no time".to_owned(), help));
            }
            let help = "a benefit should stand in every row but those of the reference";
            (is_reference != figure.printed_energy_benefit_percent.is_none())
                .then(|| ("a benefit too many or too few".to_owned(), help))
        })?;
        let scale = &read.scale;
        if read.figure(scale.get_ref(), &read.reference).is_none() {
            let message = format!(
                "`scale` names {}, whose {} is not published",
                scale.get_ref(),
                read.reference
            );
            return Err(description.wrong(
                scale.span(),
                message,
                "name a benchmark of the figures",
            ));
        }
        Ok(read)
    }

    /// A benchmark in a configuration, if it was published.
    pub fn figure(&self, benchmark: &str, configuration: &str) -> Option<&EnergyFigure> {
        self.figures
            .iter()
            .find(|figure| figure.benchmark == benchmark && figure.configuration == configuration)
    }

    /// The power of a benchmark in the reference, in watts.
    pub fn power(&self, benchmark: &str) -> Option<f64> {
        self.figure(benchmark, &self.reference)
            .map(|figure| figure.energy_j / figure.time_s)
    }
}

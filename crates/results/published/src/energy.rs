//! The published savings of configurations of RCU in benchmarks.

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
#[derive(Clone)]
pub struct EnergyReference {
    /// The source.
    pub source: String,
    /// Conditions under which the figures were measured.
    pub conditions: String,
    /// The platform that it is of.
    pub platform: String,
    /// The benchmark whose power in the reference gives the size of the platform's unit.
    pub scale: String,
    /// The statement about invoking callbacks on LITTLE CPUs instead of big ones.
    pub callbacks_on_little: String,
    /// The figures, in the file's order.
    pub figures: Vec<EnergyFigure>,
    /// The configuration that the others are compared with.
    pub reference: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    figures: String,
    platform: String,
    reference: String,
    source: String,
    conditions: String,
    scale: Spanned<String>,
    callbacks_on_little: String,
}

impl EnergyReference {
    /// Reads the reference among some files.
    ///
    /// # Errors
    /// The file and the line that are wrong.
    pub fn read(files: &dyn Files) -> Result<Self, Error> {
        let description = files.document(&format!("{ENERGY}.toml"))?;
        let file: File = description.read()?;
        let document = files.document(&file.figures)?;
        let checked = |row: Spanned<EnergyFigure>| {
            let figure = row.get_ref();
            let sound = |value: f64| value.is_finite() && value > 0.0;
            if !sound(figure.energy_j) || !sound(figure.time_s) {
                let help = "an energy in J and a time in s should be above 0";
                return Err(document.wrong(row.span(), "no energy, or no time", help));
            }
            if (figure.configuration == file.reference)
                != figure.printed_energy_benefit_percent.is_none()
            {
                let help = "a benefit should stand in every row but those of the reference";
                return Err(document.wrong(row.span(), "a benefit too many or too few", help));
            }
            Ok(row.into_inner())
        };
        let figures = document
            .rows()?
            .into_iter()
            .map(checked)
            .collect::<Result<_, _>>()?;
        let this = Self {
            source: file.source,
            conditions: file.conditions,
            platform: file.platform,
            scale: file.scale.get_ref().clone(),
            callbacks_on_little: file.callbacks_on_little,
            figures,
            reference: file.reference,
        };
        if this.figure(&this.scale, &this.reference).is_none() {
            let message = format!(
                "`scale` names {}, whose {} is not published",
                this.scale, this.reference
            );
            return Err(description.wrong(
                file.scale.span(),
                message,
                "name a benchmark of the figures",
            ));
        }
        Ok(this)
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

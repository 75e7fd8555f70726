//! Published energy of small tasks under energy-aware scheduling.

use document::{Error, Spanned};
use experiment::Files;
use serde::Deserialize;

/// Name of the reference about tasks under energy-aware scheduling.
pub const EAS: &str = "eas-energy";

/// The energy of a number of tasks, as published.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EasFigure {
    /// The number of tasks.
    pub tasks: u32,
    /// The kernel's configuration.
    pub configuration: String,
    /// Energy in joules, the mean of several runs.
    pub energy_j: f64,
    /// The confidence interval that was printed beside it, in joules.
    pub interval_j: f64,
}

/// The published table.
pub struct EasReference {
    /// The source.
    pub source: String,
    /// Conditions under which the figures were measured.
    pub conditions: String,
    /// The platforms that stand for the board.
    pub platforms: Vec<String>,
    /// The tasks' period in milliseconds.
    pub period_ms: u64,
    /// The part of a period that each computed, in percent.
    pub duty_percent: u64,
    /// Duration of a run in seconds.
    pub seconds: u64,
    /// The configuration of the figures that are compared.
    pub configuration: String,
    /// All figures, in the file's order.
    pub figures: Vec<EasFigure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    figures: String,
    platforms: Vec<String>,
    period_ms: u64,
    duty_percent: u64,
    seconds: u64,
    configuration: Spanned<String>,
    source: String,
    conditions: String,
}

impl EasReference {
    /// Reads the reference among some files.
    ///
    /// # Errors
    /// The file and the line that are wrong.
    pub fn read(files: &dyn Files) -> Result<Self, Error> {
        let description = files.document(&format!("{EAS}.toml"))?;
        let file: File = description.read()?;
        let document = files.document(&file.figures)?;
        let checked = |row: Spanned<EasFigure>| {
            let figure = row.get_ref();
            let sound = |value: f64| value.is_finite() && value > 0.0;
            if figure.tasks == 0 || !sound(figure.energy_j) || !sound(figure.interval_j) {
                let help = "a number of tasks, an energy in J and its interval should be above 0";
                return Err(document.wrong(
                    row.span(),
                    "no tasks, no energy, or no interval",
                    help,
                ));
            }
            Ok(row.into_inner())
        };
        let figures: Vec<EasFigure> = document
            .rows()?
            .into_iter()
            .map(checked)
            .collect::<Result<_, _>>()?;
        let configuration = file.configuration.get_ref();
        if !figures
            .iter()
            .any(|figure| figure.configuration == *configuration)
        {
            let message = format!("no figure has the configuration `{configuration}`");
            return Err(description.wrong(
                file.configuration.span(),
                message,
                "name one of the figures",
            ));
        }
        Ok(Self {
            source: file.source,
            conditions: file.conditions,
            platforms: file.platforms,
            period_ms: file.period_ms,
            duty_percent: file.duty_percent,
            seconds: file.seconds,
            configuration: configuration.clone(),
            figures,
        })
    }

    /// The figure that is compared for a number of tasks.
    pub fn figure(&self, tasks: u32) -> Option<&EasFigure> {
        self.figures
            .iter()
            .find(|figure| figure.tasks == tasks && figure.configuration == self.configuration)
    }
}

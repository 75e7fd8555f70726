//! Published energy of small tasks under energy-aware scheduling.

use crate::{figures, is_positive};
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
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EasReference {
    #[serde(rename = "figures")]
    file: String,
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
    configuration: Spanned<String>,
    /// All figures, in the file's order.
    #[serde(skip)]
    pub figures: Vec<EasFigure>,
}

impl EasReference {
    /// Reads the reference among some files.
    ///
    /// # Errors
    /// The file and the line that are wrong.
    pub fn read(files: &dyn Files) -> Result<Self, Error> {
        let description = files.document(&format!("{EAS}.toml"))?;
        let mut read: Self = description.read()?;
        read.figures = figures(files, &read.file, |figure: &EasFigure| {
            let is_sound =
                figure.tasks > 0 && is_positive(figure.energy_j) && is_positive(figure.interval_j);
            let message = "no tasks, no energy, or no interval".to_owned();
            let help = "a number of tasks, an energy in J and its interval should be above 0";
            (!is_sound).then_some((message, help))
        })?;
        let configuration = read.configuration.get_ref();
        if !read
            .figures
            .iter()
            .any(|figure| figure.configuration == *configuration)
        {
            let message = format!("no figure has the configuration `{configuration}`");
            let place = read.configuration.span();
            return Err(description.wrong(place, message, "name one of the figures"));
        }
        Ok(read)
    }

    /// The figure that is compared for a number of tasks.
    pub fn figure(&self, tasks: u32) -> Option<&EasFigure> {
        let configuration = self.configuration.get_ref();
        self.figures
            .iter()
            .find(|figure| figure.tasks == tasks && figure.configuration == *configuration)
    }
}

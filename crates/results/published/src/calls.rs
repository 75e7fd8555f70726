//! Instructions of PSCI calls in other firmware.

use crate::figures;
use document::Error;
use experiment::Files;
use serde::Deserialize;

/// Name of the reference about PSCI calls in other firmware.
pub const CALLS: &str = "psci-calls-qemu";

/// A measured figure.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallFigure {
    /// Which call.
    pub call: String,
    /// Whose firmware.
    pub implementation: String,
    /// `plain` or `instrumented`.
    pub build: String,
    /// Fewest instructions.
    pub low: u64,
    /// Most.
    pub high: u64,
}

/// Figures of other firmware, with how they were taken.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallReference {
    #[serde(rename = "figures")]
    file: String,
    /// Conditions under which all of them were measured.
    pub conditions: String,
    /// The implementations, in the file's order.
    #[serde(rename = "implementation")]
    pub implementations: Vec<Implementation>,
    /// The figures, in the file's order.
    #[serde(skip)]
    pub figures: Vec<CallFigure>,
}

/// A firmware that was measured.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Implementation {
    /// The name.
    pub name: String,
    /// The model of the cores, as QEMU names it.
    pub cpu: String,
    /// Its version and build.
    pub source: String,
}

impl CallReference {
    /// Reads the reference among some files.
    ///
    /// # Errors
    /// The file and the line that are wrong.
    pub fn read(files: &dyn Files) -> Result<Self, Error> {
        let mut read: Self = files.document(&format!("{CALLS}.toml"))?.read()?;
        read.figures = figures(files, &read.file, |figure: &CallFigure| {
            if !read.has_implementation(figure) {
                let message = format!(
                    "`{}` has no [[implementation]] with its source",
                    figure.implementation
                );
                return Some((message, "add it to psci-calls-qemu.toml"));
            }
            let is_range = matches!(figure.build.as_str(), "plain" | "instrumented" | "debug")
                && figure.low <= figure.high;
            let help = "build should be plain, instrumented or debug, low at most high";
            (!is_range).then(|| ("no range of a build".to_owned(), help))
        })?;
        Ok(read)
    }

    fn has_implementation(&self, figure: &CallFigure) -> bool {
        let mut known = self.implementations.iter();
        known.any(|known| known.name == figure.implementation)
    }

    /// What was measured on cores of a model; `None` if nothing was.
    pub fn on(&self, cpu: &str) -> Option<Self> {
        let mut of = self.clone();
        of.implementations
            .retain(|implementation| implementation.cpu == cpu);
        let figures = self.figures.iter();
        of.figures = figures
            .filter(|figure| of.has_implementation(figure))
            .cloned()
            .collect();
        (!of.implementations.is_empty()).then_some(of)
    }

    /// The figure of a call, if there is one.
    pub fn find(&self, call: &str, implementation: &str, build: &str) -> Option<&CallFigure> {
        self.figures.iter().find(|figure| {
            (
                figure.call.as_str(),
                figure.implementation.as_str(),
                figure.build.as_str(),
            ) == (call, implementation, build)
        })
    }
}

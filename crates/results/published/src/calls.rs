//! Instructions of PSCI calls in other firmware.

use document::{Error, Spanned};
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
#[derive(Clone)]
pub struct CallReference {
    /// Conditions under which all of them were measured.
    pub conditions: String,
    /// The implementations, in the file's order.
    pub implementations: Vec<Implementation>,
    /// The figures, in the file's order.
    pub figures: Vec<CallFigure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    figures: String,
    conditions: String,
    implementation: Vec<Implementation>,
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
        let file: File = files.document(&format!("{CALLS}.toml"))?.read()?;
        let document = files.document(&file.figures)?;
        let checked = |row: Spanned<CallFigure>| {
            let figure = row.get_ref();
            if !file
                .implementation
                .iter()
                .any(|known| known.name == figure.implementation)
            {
                let message = format!(
                    "`{}` has no [[implementation]] with its source",
                    figure.implementation
                );
                return Err(document.wrong(row.span(), message, format!("add it to {CALLS}.toml")));
            }
            if !matches!(figure.build.as_str(), "plain" | "instrumented" | "debug")
                || figure.low > figure.high
            {
                let help = "build should be plain, instrumented or debug, low at most high";
                return Err(document.wrong(row.span(), "no range of a build", help));
            }
            Ok(row.into_inner())
        };
        let figures = document
            .rows()?
            .into_iter()
            .map(checked)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            conditions: file.conditions,
            implementations: file.implementation,
            figures,
        })
    }

    /// What was measured on cores of a model; `None` if nothing was.
    pub fn on(&self, cpu: &str) -> Option<Self> {
        let mut of = self.clone();
        of.implementations
            .retain(|implementation| implementation.cpu == cpu);
        of.figures.retain(|figure| {
            of.implementations
                .iter()
                .any(|known| known.name == figure.implementation)
        });
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

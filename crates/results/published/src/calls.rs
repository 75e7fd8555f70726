//! Instructions of PSCI calls in other firmware.

use crate::error::{Error, parse};
use experiment::Files;
use serde::Deserialize;

/// A measured figure.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
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
#[derive(Clone, Debug)]
pub struct CallReference {
    /// How all of them were taken.
    pub conditions: String,
    /// Names of the implementations with their versions, in the file's order.
    pub implementations: Vec<(String, String)>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Implementation {
    name: String,
    source: String,
}

impl CallReference {
    /// Reads the reference whose TOML file has this name among some files.
    ///
    /// # Errors
    /// The file and the line that are wrong.
    pub fn read_from(files: &dyn Files, name: &str) -> Result<Self, Error> {
        let file: File = parse(files, name)?;
        let figures_text = files.read(&file.figures)?;
        let wrong = |line: u64, message: String| Error::Line { path: files.shown(&file.figures), line, message };
        let mut figures = Vec::new();
        let mut reader = csv::Reader::from_reader(figures_text.as_bytes());
        for (index, row) in reader.deserialize::<CallFigure>().enumerate() {
            let line = index as u64 + 2;
            let figure = row.map_err(|error| wrong(line, error.to_string()))?;
            if !file.implementation.iter().any(|known| known.name == figure.implementation) {
                return Err(wrong(
                    line,
                    format!("`{}` has no [[implementation]] with its source", figure.implementation),
                ));
            }
            if !matches!(figure.build.as_str(), "plain" | "instrumented") || figure.low > figure.high {
                return Err(wrong(line, "build should be plain or instrumented, low at most high".to_owned()));
            }
            figures.push(figure);
        }
        Ok(Self {
            conditions: file.conditions,
            implementations: file.implementation.into_iter().map(|known| (known.name, known.source)).collect(),
            figures,
        })
    }

    /// The figure of a call, if there is one.
    pub fn find(&self, call: &str, implementation: &str, build: &str) -> Option<&CallFigure> {
        self.figures.iter().find(|figure| {
            (figure.call.as_str(), figure.implementation.as_str(), figure.build.as_str())
                == (call, implementation, build)
        })
    }
}

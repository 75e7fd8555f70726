//! Published savings of lazy callbacks.

use document::{Error, Spanned};
use experiment::Files;
use serde::Deserialize;

/// Name of the reference about lazy callbacks.
pub const LAZY: &str = "rcu-lazy";

/// A figure without lazy callbacks and with them, as published.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LazyFigure {
    /// The system that was measured.
    pub system: String,
    /// Quantity and unit.
    pub metric: String,
    /// With offloaded callbacks that do not wait.
    pub without: f64,
    /// With offloaded callbacks that may wait.
    pub with: f64,
}

/// The published figures.
#[derive(Clone, Debug)]
pub struct LazyReference {
    /// The source.
    pub source: String,
    /// Conditions under which the figures were measured.
    pub conditions: String,
    /// The least and the most that is saved of the power, in percent, as the commit says.
    pub saves_percent: [f64; 2],
    /// The figures, in the file's order.
    pub figures: Vec<LazyFigure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    figures: String,
    source: String,
    conditions: String,
    saves_percent: Spanned<[f64; 2]>,
}

impl LazyReference {
    /// Reads the reference among some files.
    ///
    /// # Errors
    /// The file and the line that are wrong.
    pub fn read(files: &dyn Files) -> Result<Self, Error> {
        let description = files.document(&format!("{LAZY}.toml"))?;
        let file: File = description.read()?;
        let saves_percent = *file.saves_percent.get_ref();
        if saves_percent[0].total_cmp(&saves_percent[1]).is_gt() {
            let help = "the least comes first: [5, 10]";
            return Err(description.wrong(
                file.saves_percent.span(),
                "the least is above the most",
                help,
            ));
        }
        let document = files.document(&file.figures)?;
        let checked = |row: Spanned<LazyFigure>| {
            let sound = |value: f64| value.is_finite() && value > 0.0;
            if !sound(row.get_ref().without) || !sound(row.get_ref().with) {
                return Err(document.wrong(
                    row.span(),
                    "a figure is not above 0",
                    "write what was measured",
                ));
            }
            Ok(row.into_inner())
        };
        let figures = document
            .rows()?
            .into_iter()
            .map(checked)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            source: file.source,
            conditions: file.conditions,
            saves_percent,
            figures,
        })
    }
}

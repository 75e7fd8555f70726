//! Reported counts of idle governors on workloads on which they choose badly.

use document::{Error, Spanned};
use experiment::Files;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the reference.
pub const IDLE_CASES: &str = "idle-cases";

/// The report on one governor and one workload.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseFigure {
    /// The workload.
    #[serde(skip_serializing)]
    pub case: String,
    /// The governor, as the report calls it.
    pub governor: String,
    /// The governor here that is nearest to it.
    #[serde(skip_serializing)]
    pub compared_with: String,
    /// Stays in idle states, where they were reported.
    pub stays: Option<u64>,
    /// Stays that were too short for their state.
    pub above: Option<u64>,
    /// Stays for which a deeper state would have paid.
    pub below: Option<u64>,
    /// Stays that were too short, in percent of all.
    pub above_percent: Option<f64>,
    /// Stays for which a deeper state would have paid, in percent of all.
    pub below_percent: Option<f64>,
    /// The time in the shallowest state, in percent of all idle time.
    pub shallowest_percent: Option<f64>,
    /// The time in the deepest state, likewise.
    pub deepest_percent: Option<f64>,
    /// Operations per second.
    pub per_second: Option<f64>,
}

/// A workload, with where it is from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseSource {
    /// Name of the workload.
    pub name: String,
    /// The title, a line.
    pub title: String,
    /// The source: who reported it, and when.
    pub source: String,
    /// The reported orders of governors.
    #[serde(default, rename = "sign")]
    pub signs: Vec<Sign>,
}

/// A reported order of two governors.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sign {
    /// The quantity of which one has more.
    pub of: SignOf,
    /// The governor that has more of it, by its name here.
    pub more: String,
    /// The governor that has less.
    pub less: String,
    /// The reason why it does not hold here, where it does not and one was found.
    #[serde(default, rename = "unless")]
    pub reason: String,
}

/// A quantity by which a report orders governors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignOf {
    /// The share of stays that were too short.
    Above,
    /// The share of stays for which a deeper state would have paid.
    Below,
    /// Both together.
    Misses,
    /// The share of the idle time in the shallowest state.
    Shallowest,
    /// The share of the idle time in the deepest state.
    Deepest,
    /// Operations per second.
    PerSecond,
}

impl SignOf {
    /// Relation in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Above => "too deep",
            Self::Below => "too shallow",
            Self::Misses => "wrong",
            Self::Shallowest => "time in the shallowest state",
            Self::Deepest => "time in the deepest state",
            Self::PerSecond => "operations per second",
        }
    }
}

/// Reported counts, with where they are from.
#[derive(Clone, Debug)]
pub struct CaseReference {
    /// The workloads, in the file's order.
    pub cases: Vec<CaseSource>,
    /// The counts, in the file's order.
    pub figures: Vec<CaseFigure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    figures: String,
    case: Vec<CaseSource>,
}

impl CaseReference {
    /// Reads the reference among some files.
    ///
    /// # Errors
    /// The file and the line that are wrong.
    pub fn read(files: &dyn Files) -> Result<Self, Error> {
        let file: File = files.document(&format!("{IDLE_CASES}.toml"))?.read()?;
        let document = files.document(&file.figures)?;
        let checked = |row: Spanned<CaseFigure>| {
            let case = &row.get_ref().case;
            match file.case.iter().any(|known| known.name == *case) {
                true => Ok(row.into_inner()),
                false => {
                    let message = format!("`{case}` has no [[case]] with its source");
                    Err(document.wrong(row.span(), message, format!("add it to {IDLE_CASES}.toml")))
                }
            }
        };
        let figures = document
            .rows()?
            .into_iter()
            .map(checked)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            cases: file.case,
            figures,
        })
    }
}

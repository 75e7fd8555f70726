//! Statements of published documents, each with the command that shows whether it holds.

use document::{Result, Spanned};
use experiment::Files;
use recording::total_order;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The statements of a document, in its order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// The document's title.
    pub title: String,
    /// Its place and date.
    pub source: String,
    /// Commands by the names that claims have for them.
    #[serde(default)]
    pub commands: BTreeMap<String, Shown>,
    /// The statements.
    pub claims: Vec<Claim>,
}

/// A command that shows what claims say.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// The line for a shell; the last thing that it prints is JSON.
    pub run: String,
    /// True if it takes longer than 3 CPU seconds, so that a judge alone runs it.
    #[serde(default)]
    pub is_long: bool,
}

/// A statement of a document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its place in the document.
    pub place: String,
    /// What it says, in our words.
    pub says: String,
    /// What came of it here.
    pub verdict: Verdict,
    /// The command among [`Claims::commands`] that shows it.
    pub by: Option<Spanned<String>>,
    /// The path of the figure in the command's JSON, as [`select`] reads it.
    pub value: Option<String>,
    /// The figure as it was when this was written.
    pub figure: Option<Value>,
    /// The unit of the figure.
    #[serde(default)]
    pub unit: String,
    /// The part in percent by which the figure may differ today: half a printed digit if none.
    #[serde(default = "half_a_digit")]
    pub tolerance: f64,
    /// What the figure must be for the statement to hold.
    #[serde(default)]
    pub holds: BTreeMap<Relation, Value>,
    /// The reason of the verdict.
    #[serde(default)]
    pub why: String,
}

/// Half of the last of three digits, in percent.
const fn half_a_digit() -> f64 {
    0.5
}

/// What came of a statement.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It holds here as well.
    Agrees,
    /// It does not hold here.
    Contradicts,
    /// Nothing here speaks for it or against it.
    NoEvidence,
    /// It needs a board.
    NeedsBoard,
}

impl Verdict {
    /// The verdict in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Contradicts => "contradicts",
            Self::NoEvidence => "no evidence",
            Self::NeedsBoard => "needs a board",
        }
    }
}

/// A relation of a figure to a number, and where one is more to another figure of the same command
/// by its path.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// It is as much, within the tolerance.
    Is,
    /// It is more.
    Above,
    /// It is less.
    Below,
}

impl Claims {
    /// The names of the documents whose statements are among some files.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(files: &dyn Files) -> Result<Vec<String>> {
        files.stems("")
    }

    /// Reads the statements of a document.
    ///
    /// # Errors
    /// The file and the line that are wrong.
    pub fn read(files: &dyn Files, name: &str) -> Result<Self> {
        let document = files.document(&format!("{name}.toml"))?;
        let claims: Self = document.read()?;
        let unknown = claims
            .claims
            .iter()
            .filter_map(|claim| claim.by.as_ref())
            .find(|by| !claims.commands.contains_key(by.get_ref()));
        match unknown {
            Some(by) => Err(document.wrong(
                by.span(),
                format!("there is no command `{}`", by.get_ref()),
                "name one of [commands]",
            )),
            None => Ok(claims),
        }
    }

    /// The command that shows a claim.
    pub fn command(&self, claim: &Claim) -> Option<&Shown> {
        self.commands.get(claim.by.as_ref()?.get_ref())
    }
}

impl Claim {
    /// The figure in what the claim's command printed; `None` where it names none.
    ///
    /// # Errors
    /// There is no such figure, it is another one than it was, or the verdict does not follow from
    /// it; with both figures.
    pub fn check(&self, printed: &Value) -> Result<Option<Value>, String> {
        let Some(path) = &self.value else {
            return Ok(None);
        };
        let found = select(printed, path)?;
        if let Some(figure) = &self.figure
            && !is_near(&found, figure, self.tolerance)
        {
            return Err(format!("it was {figure}, and is {found}"));
        }
        for (relation, of) in &self.holds {
            let of = match of {
                Value::String(path) if *relation != Relation::Is => select(printed, path)?,
                of => of.clone(),
            };
            let numbers = found.as_f64().zip(of.as_f64());
            let holds = match relation {
                Relation::Is => is_near(&found, &of, self.tolerance),
                Relation::Above => numbers.is_some_and(|(found, of)| found > of),
                Relation::Below => numbers.is_some_and(|(found, of)| found < of),
            };
            if holds != (self.verdict != Verdict::Contradicts) {
                let relation = format!("{relation:?}").to_lowercase();
                let not = if holds { "" } else { "not " };
                return Err(format!(
                    "the verdict is `{}`, but {found} is {not}{relation} {of}",
                    self.verdict.name()
                ));
            }
        }
        Ok(Some(found))
    }
}

/// True if two values are the same, numbers within some percent.
fn is_near(found: &Value, figure: &Value, percent: f64) -> bool {
    match (found.as_f64(), figure.as_f64()) {
        (Some(found), Some(figure)) => {
            (found - figure).abs() <= percent / 100.0 * figure.abs() + 1e-9
        }
        _ => found == figure,
    }
}

/// The value at a path of a JSON document: keys and places with `/` between them. A part
/// `key=value,key=value` stands for the items of a list that have these, and `*` for all items. Of
/// several values a word before the path makes one: `max`, `min`, `largest` (whatever its sign),
/// `sum` or `count`. Between two of all that, ` - ` and ` / ` make their difference and quotient.
///
/// # Errors
/// No value is there, or several.
pub fn select(printed: &Value, path: &str) -> Result<Value, String> {
    for (sign, of) in [
        (" - ", (|a, b| a - b) as fn(f64, f64) -> f64),
        (" / ", |a, b| a / b),
    ] {
        if let Some((one, other)) = path.split_once(sign) {
            let number = |path: &str| {
                let of = select(printed, path)?;
                of.as_f64()
                    .ok_or_else(|| format!("no number is at `{path}`"))
            };
            return Ok(of(number(one)?, number(other)?).into());
        }
    }
    let (word, places) = match path.split_once(' ') {
        Some((word @ ("count" | "max" | "min" | "largest" | "sum"), places)) => (word, places),
        _ => ("", path),
    };
    let mut found = vec![printed];
    for part in places.split('/') {
        found = found.into_iter().flat_map(|of| below(of, part)).collect();
    }
    let numbers = found.iter().filter_map(|of| of.as_f64());
    let one = match word {
        "count" => return Ok(found.len().into()),
        "max" => numbers.reduce(f64::max),
        "min" => numbers.reduce(f64::min),
        "largest" => numbers.max_by_key(|of| total_order(of.abs())),
        "sum" => Some(numbers.sum()),
        _ => None,
    };
    match (one, &found[..]) {
        (Some(number), _) => Ok(number.into()),
        (None, [value]) => Ok((*value).clone()),
        (None, values) => Err(format!("{} values are at `{path}`", values.len())),
    }
}

fn below<'v>(of: &'v Value, part: &str) -> Vec<&'v Value> {
    let has = |item: &Value| {
        part.split(',').all(|pair| {
            let (key, wanted) = pair.split_once('=').unwrap_or((pair, ""));
            match item.get(key) {
                Some(Value::String(text)) => text == wanted,
                Some(value) => format!("{value}") == wanted,
                None => false,
            }
        })
    };
    match of {
        Value::Array(items) if part == "*" => items.iter().collect(),
        Value::Array(items) if part.contains('=') => {
            items.iter().filter(|item| has(item)).collect()
        }
        Value::Object(items) if part == "*" => items.values().collect(),
        of => {
            let place = part.parse().ok().and_then(|at: usize| of.get(at));
            of.get(part).or(place).into_iter().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_leads_to_one_value() {
        let of =
            json!({ "cells": [{ "cpu": 1, "us": 2.0 }, { "cpu": 2, "us": 5.0 }], "name": "a" });
        let value = |path| select(&of, path).unwrap();
        assert_eq!(value("name"), "a");
        assert_eq!(value("cells/cpu=2/us"), 5.0);
        assert_eq!(value("cells/0/us"), 2.0);
        assert_eq!(value("max cells/*/us"), 5.0);
        assert_eq!(value("sum cells/*/us"), 7.0);
        assert_eq!(value("count cells/*"), 2);
        assert_eq!(value("cells/1/us - min cells/*/us"), 3.0);
        assert_eq!(
            select(&of, "cells/*/us").unwrap_err(),
            "2 values are at `cells/*/us`"
        );
    }

    #[test]
    fn a_claim_fails_with_both_figures() {
        let claim = |rest: &str| -> Claim {
            toml::from_str(&format!(
                "place = \"\"\nsays = \"\"\nvalue = \"us\"\n{rest}"
            ))
            .unwrap()
        };
        let check = |rest: &str| claim(rest).check(&json!({ "us": 10.0, "other": { "us": 12.0 } }));
        assert!(check("verdict = \"agrees\"\nfigure = 10.04").is_ok());
        assert_eq!(
            check("verdict = \"agrees\"\nfigure = 11").unwrap_err(),
            "it was 11, and is 10.0"
        );
        assert!(check("verdict = \"agrees\"\nholds = { below = \"other/us\", above = 9 }").is_ok());
        assert!(check("verdict = \"contradicts\"\nholds.above = 11").is_ok());
        assert_eq!(
            check("verdict = \"agrees\"\nholds.above = 11").unwrap_err(),
            "the verdict is `agrees`, but 10.0 is not above 11"
        );
    }
}

//! The inputs of the recordings: where simulated figures differ, the reason is here.

use itertools::Itertools;
use recording::Header;
use serde::Serialize;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// An input that is not the same in all recordings.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// The key: `costs.scp.take`, `psci.scp_send`, `seed`.
    #[serde(rename = "input")]
    pub key: String,
    /// Value of the input in each recording, as it was written.
    pub values: Vec<Option<String>>,
    /// The change of each but the first against the first in percent, where both are numbers of one
    /// unit.
    pub percent: Vec<Option<f64>>,
}

/// Names of things, not things.
const LABELS: [&str; 5] = ["name", "title", "source", "release", "fit"];

/// All inputs that differ, in order of their keys; none between a simulation and a board.
/// `variants` names the release that is compared in each recording.
pub fn differences(headers: &[&Header], variants: &[impl AsRef<str>]) -> Vec<Difference> {
    // Costs of a simulation beside none of a board would only say that the one is simulated.
    if headers
        .iter()
        .any(|header| header.is_repeatable() != headers[0].is_repeatable())
    {
        return Vec::new();
    }
    let inputs = headers
        .iter()
        .zip(variants)
        .map(|(header, variant)| inputs(header, variant.as_ref()))
        .collect_vec();
    let keys = inputs.iter().flat_map(BTreeMap::keys).sorted();
    keys.dedup()
        .filter_map(|key| {
            let values = inputs
                .iter()
                .map(|inputs| inputs.get(key).cloned())
                .collect_vec();
            let differ = values.iter().any(|value| *value != values[0]);
            let percent = values[1..]
                .iter()
                .map(|value| percent(values[0].as_deref()?, value.as_deref()?))
                .collect();
            differ.then(|| Difference {
                key: key.clone(),
                values,
                percent,
            })
        })
        .collect()
}

fn inputs(header: &Header, variant: &str) -> BTreeMap<String, String> {
    let mut inputs = BTreeMap::new();
    if header.is_repeatable() {
        inputs.insert("seed".to_owned(), header.seed.to_string());
        inputs.insert("iterations".to_owned(), header.iterations.to_string());
    }
    if header.world == "host" {
        // What was measured here depends on what built the program and on what it ran; what is
        // imported was measured by another.
        let run = &header.run;
        let of_run = [
            ("compiler", &run.compiler),
            ("C library", &run.c_library),
            ("kernel", &run.kernel),
            ("machine", &run.machine),
        ];
        inputs.extend(
            of_run
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), value.clone()?))),
        );
    }
    // Settings are in the costs, the release and the platform already, but for the platform's.
    inputs.extend(
        header
            .settings
            .iter()
            .map(|(key, value)| (format!("set {key}"), value.clone())),
    );
    if let Some(costs) = header.costs.get(variant) {
        flatten(&mut inputs, "costs", costs);
    }
    if let Some(platform) = &header.platform {
        // The text is as it was before any setting, so what the run used comes after it.
        if let Ok(facts) = platform.text.parse::<Table>() {
            flatten(&mut inputs, "", &facts);
        }
        if let Some(Value::Table(used)) = platform.figures.get(variant) {
            flatten(&mut inputs, "", used);
        }
    }
    inputs
}

fn flatten(inputs: &mut BTreeMap<String, String>, prefix: &str, table: &Table) {
    for (key, value) in table
        .iter()
        .filter(|(key, _)| !LABELS.contains(&key.as_str()))
    {
        let path = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        place(inputs, path, value);
    }
}

fn place(inputs: &mut BTreeMap<String, String>, path: String, value: &Value) {
    match value {
        Value::Table(table) => flatten(inputs, &path, table),
        Value::Array(values) if values.iter().any(Value::is_table) => {
            for (index, value) in values.iter().enumerate() {
                let name = value
                    .get("name")
                    .and_then(Value::as_str)
                    .map_or_else(|| index.to_string(), str::to_owned);
                place(inputs, format!("{path}.{name}"), value);
            }
        }
        Value::String(text) => {
            inputs.insert(path, text.clone());
        }
        other => {
            inputs.insert(path, other.to_string());
        }
    }
}

/// The change in percent of two quantities of one unit.
fn percent(from: &str, to: &str) -> Option<f64> {
    let quantity = |text: &str| {
        let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
        Some((number.parse::<f64>().ok()?, unit.to_owned()))
    };
    let ((from, unit), (to, other)) = (quantity(from)?, quantity(to)?);
    (unit == other && from != 0.0).then(|| (to - from) / from.abs() * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(take: &str, seed: u64) -> Header {
        let mut header = Header::new("e", "sim", "ps");
        header.seed = seed;
        let costs = format!(
            "release = \"r\"\n[scp]\ntake = \"{take}\"\ncore_off = \"1 us\"\n[fit]\nrms_us = {seed}\n"
        );
        header
            .costs
            .insert(format!("v{seed}"), costs.parse().unwrap());
        header
    }

    #[test]
    fn what_differs_is_named_with_its_change_and_what_does_not_is_not() {
        let (a, b) = (header("80 us", 1), header("84.0 us", 2));
        let found = differences(&[&a, &b], &["v1", "v2"]);
        let keys: Vec<_> = found
            .iter()
            .map(|difference| difference.key.as_str())
            .collect();
        assert_eq!(
            keys,
            ["costs.scp.take", "seed"],
            "neither core_off, which is equal, nor what the fit says"
        );
        assert_eq!(
            found[0].values,
            [Some("80 us".to_owned()), Some("84.0 us".to_owned())]
        );
        assert!((found[0].percent[0].unwrap() - 5.0).abs() < 1e-9);
        let board = Header::new("e", "import", "ticks");
        assert!(differences(&[&board, &b], &["v1", "v2"]).is_empty());
    }

    /// A platform's tables, lists of tables by name or by place, and a key that only one of the two
    /// has.
    #[test]
    fn a_platforms_facts_are_told_by_their_paths() {
        let with = |text: &str| {
            let mut header = Header::new("e", "sim", "ps");
            header
                .settings
                .insert("scp.channels".to_owned(), "2".to_owned());
            let figures = "[v]\nlead = 1".parse().unwrap();
            header.platform = Some(recording::Platform {
                name: "p".to_owned(),
                text: text.to_owned(),
                figures,
            });
            header
        };
        let one = with(
            "name = \"a\"\nlead = 7\n[[core]]\nname = \"big\"\nl1 = 32\n[[core]]\nl1 = 8\n[old]\nx = [1, 2]\n",
        );
        let other =
            with("name = \"b\"\nlead = 8\n[[core]]\nname = \"big\"\nl1 = 64\n[[core]]\nl1 = 16\n");
        let found: Vec<_> = differences(&[&one, &other], &["v", "v"])
            .into_iter()
            .map(|it| (it.key, it.values, it.percent))
            .collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            found,
            [
                (
                    "core.1.l1".to_owned(),
                    vec![text("8"), text("16")],
                    vec![Some(100.0)]
                ),
                (
                    "core.big.l1".to_owned(),
                    vec![text("32"), text("64")],
                    vec![Some(100.0)]
                ),
                ("old.x".to_owned(), vec![text("[1, 2]"), None], vec![None]),
            ],
            "names are no facts, and what the run used comes after what the file says"
        );
    }

    #[test]
    fn what_measured_here_is_named_where_it_differs() {
        let header = |world: &str, compiler: &str, library: &str| {
            let mut header = Header::new("e", world, "ticks");
            header.run.compiler = Some(compiler.to_owned());
            header.run.c_library = Some(library.to_owned());
            header
        };
        let compared = |world| {
            let (a, b) = (
                header(world, "rustc 1", "glibc 2.36"),
                header(world, "rustc 2", "glibc 2.41"),
            );
            let found = differences(&[&a, &b], &["v", "v"]);
            found
                .into_iter()
                .map(|difference| difference.key)
                .collect::<Vec<_>>()
        };
        assert_eq!(compared("host"), ["C library", "compiler"]);
        assert!(
            compared("import").is_empty(),
            "the program that imported measured nothing"
        );
    }

    #[test]
    fn quantities_of_other_units_have_no_percentage() {
        assert_eq!(percent("1 us", "1000 ns"), None);
        assert_eq!(percent("bakery", "ticket"), None);
        assert_eq!(percent("0 us", "1 us"), None);
        assert_eq!(
            (percent("-4 us", "-5 us"), percent("4", "5")),
            (Some(-25.0), Some(25.0))
        );
    }
}

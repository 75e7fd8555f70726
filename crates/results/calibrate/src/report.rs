//! A calibration as the costs file that a simulation reads.

use crate::cell_fit::CellFit;
use crate::fit::{ABSOLUTE, Calibration, Indistinct, RELATIVE};
use crate::parameters::written;
use itertools::Itertools;
use recording::grouped;

impl Calibration {
    /// The costs file: costs first, which a simulation reads; then the fit, which people read.
    pub fn to_toml(&self) -> String {
        [
            self.head(),
            self.costs_tables(),
            self.fit_table(),
            self.gate_table(),
            self.uncertainty_table(),
            self.valley_tables(),
            self.indistinct_tables(),
            self.cells.iter().map(cell_table).collect(),
        ]
        .concat()
    }

    fn head(&self) -> String {
        format!(
            "\
# Fitted costs of {release} on {platform}: written by `stopwatt calibrate` and by nothing else.
# A standard error stands behind each value; the [fit] tables below say what it was fitted to.

release = \"{release}\"
# Costs of another session hold for another state of the board as well: docs/compare.md.
session = \"{session}\"
",
            release = self.release,
            platform = self.platform,
            session = self.session
        )
    }

    /// The costs, in a table for each section of their keys.
    fn costs_tables(&self) -> String {
        let lines = self.parameters.iter().map(|(parameter, value, error)| {
            let key = parameter.key.as_str();
            let (section, name) = key.rsplit_once('.').unwrap_or(("shared", key));
            let [value, error] = [value, error].map(|value| written(key, *value).0);
            let line = format!("{name} = {value}  # +- {}\n", error.trim_matches('"'));
            (section, line)
        });
        grouped(lines)
            .into_iter()
            .map(|(section, lines)| format!("\n[{section}]\n{}", lines.concat()))
            .collect()
    }

    fn fit_table(&self) -> String {
        let carried = self
            .carried_from
            .iter()
            .map(|carried| format!("carried_from = \"{carried}\"\n"));
        let rules = self.rules.iter().map(|rule| format!("  \"{rule}\",\n"));
        format!(
            "\n[fit]\ncells = {}\nrms_us = {:.3}\n{}rules = [\n{}]\n",
            self.cells.len(),
            self.rms_us,
            carried.collect::<String>(),
            rules.collect::<String>()
        )
    }

    /// The gate: figures with which a reader judges the fit, and a warning for whoever runs with
    /// these costs.
    fn gate_table(&self) -> String {
        let gate = &self.gate;
        format!(
            "
# Whether the fit can be trusted. Results on costs that did not pass are shown with a warning.
[fit.gate]
passed = {}
distinct_values = {}
parameters = {}
effective_parameters = {:.1}
degrees_of_freedom = {:.1}
weighted_rms = {:.2}
leave_one_out_rms_us = {:.2}
leave_one_out_median_percent = {:.2}
values_that_alone_determine_a_cost = {}
pinned = [{}]
reasons = [{}]
",
            gate.passed(),
            gate.distinct,
            self.parameters.len(),
            gate.effective,
            gate.freedom(),
            gate.weighted_rms,
            gate.left_out.rms_us,
            100.0 * gate.left_out.median,
            gate.left_out.alone,
            quoted(&gate.pinned),
            quoted(&gate.reasons)
        )
    }

    /// The numbers that draws of the costs are made from.
    fn uncertainty_table(&self) -> String {
        let keys = self.parameters.iter().map(|(parameter, ..)| &parameter.key);
        let rows = self.factor.iter().map(|row| {
            let row = row.iter().map(|value| format!("{value:.2e}")).join(", ");
            format!("  [{row}],\n")
        });
        format!(
            "
# How uncertain the costs are together. A draw adds to each cost, in us or as a share, its row times as many independent standard
# normal numbers. A prior that no cell speaks against counts as known to a half.
[fit.uncertainty]
keys = [{}]
# What a cell is granted in the fit, as a part of its value and in us; the larger counts.
granted = [{RELATIVE}, {ABSOLUTE}]
factor = [
{}]
",
            quoted(keys),
            rows.collect::<String>()
        )
    }

    /// Other costs that fit alike, in the order of the uncertainty's keys.
    fn valley_tables(&self) -> String {
        let table = |values: &Vec<f64>| {
            format!(
                "
# Other costs that fit alike, in the order of the keys above; half of the draws begin there.
[[fit.valley]]
values = {values:?}
"
            )
        };
        self.valleys.iter().map(table).collect()
    }

    /// The groups of costs that the cells cannot tell apart.
    fn indistinct_tables(&self) -> String {
        let table = |group: &Indistinct| {
            let uncertainty = if group.uncertainty > 1e3 {
                "inf".to_owned()
            } else {
                format!("{:.2}", group.uncertainty)
            };
            let members = group
                .members
                .iter()
                .map(|(key, part)| format!("\"{key}\" = {part:.2}"))
                .join(", ");
            format!(
                "
[[fit.indistinct]]
uncertainty = {uncertainty}
members = {{ {members} }}
"
            )
        };
        let note = "
# What the cells cannot tell apart: the members can move together, by these parts of their priors, and the cells hardly
# change. Where the uncertainty is above 1 the prior decides.
";
        note.to_owned() + &self.indistinct.iter().map(table).collect::<String>()
    }
}

/// A cell that the fit used, with its residual.
fn cell_table(CellFit { cell, fitted }: &CellFit) -> String {
    format!(
        "
[[fit.cell]]
cell = \"{} {} {}.{} {}\"
published_us = {}
fitted_us = {fitted:.2}
residual_us = {:.2}
",
        cell.case,
        cell.mode,
        cell.cluster,
        cell.core,
        cell.metric,
        cell.value_us,
        fitted - cell.value_us
    )
}

/// Keys and clauses as TOML strings; neither has anything to escape.
fn quoted<'t>(texts: impl IntoIterator<Item = &'t String>) -> String {
    let texts = texts.into_iter();
    texts.map(|text| format!("\"{text}\"")).join(", ")
}

//! A calibration as the costs file that a simulation reads.

use crate::fit::{ABSOLUTE, Calibration, RELATIVE};
use crate::parameters::written;
use itertools::Itertools;
use std::fmt::Write;

impl Calibration {
    /// The costs file: costs first, which a simulation reads; then the fit, which people read.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let out = &mut text;
        line(
            out,
            format_args!(
                "# Fitted costs of {} on {}: written by `stopwatt calibrate` and by nothing else.",
                self.release, self.platform
            ),
        );
        line(
            out,
            format_args!(
                "# A standard error stands behind each value; the [fit] tables below say what it was fitted to."
            ),
        );
        line(out, format_args!(""));
        line(out, format_args!("release = \"{}\"", self.release));
        line(
            out,
            format_args!(
                "# Costs of another session hold for another state of the board as well: docs/compare.md."
            ),
        );
        line(out, format_args!("session = \"{}\"", self.session));
        self.write_costs(out);
        line(out, format_args!("\n[fit]"));
        line(out, format_args!("cells = {}", self.cells.len()));
        line(out, format_args!("rms_us = {:.3}", self.rms_us));
        if let Some(carried) = &self.carried_from {
            line(out, format_args!("carried_from = \"{carried}\""));
        }
        line(out, format_args!("rules = ["));
        for rule in &self.rules {
            line(out, format_args!("  \"{rule}\","));
        }
        line(out, format_args!("]"));
        self.write_gate(out);
        self.write_uncertainty(out);
        self.write_valleys(out);
        self.write_indistinct(out);
        self.write_cells(out);
        text
    }

    /// The costs, in a table for each section of their keys.
    fn write_costs(&self, out: &mut String) {
        let split = |key: &str| match key.rsplit_once('.') {
            Some((section, name)) => (section.to_owned(), name.to_owned()),
            None => ("shared".to_owned(), key.to_owned()),
        };
        for section in recording::distinct(
            self.parameters
                .iter()
                .map(|(parameter, ..)| split(&parameter.key).0),
        ) {
            line(out, format_args!("\n[{section}]"));
            for (parameter, value, error) in self
                .parameters
                .iter()
                .filter(|(p, ..)| split(&p.key).0 == section)
            {
                let (value, error) = (
                    written(&parameter.key, *value).0,
                    written(&parameter.key, *error).0,
                );
                line(
                    out,
                    format_args!(
                        "{} = {value}  # +- {}",
                        split(&parameter.key).1,
                        error.trim_matches('"')
                    ),
                );
            }
        }
    }

    /// The groups of costs that the cells cannot tell apart.
    /// Other costs that fit alike, in the order of the uncertainty's keys.
    fn write_valleys(&self, out: &mut String) {
        for values in &self.valleys {
            let what = "Other costs that fit alike, in the order of the keys above; half of the draws begin there.";
            line(
                out,
                format_args!("\n# {what}\n[[fit.valley]]\nvalues = {values:?}"),
            );
        }
    }

    fn write_indistinct(&self, out: &mut String) {
        line(
            out,
            format_args!(
                "\n# What the cells cannot tell apart: the members can move together, by these parts of their priors, and the cells hardly"
            ),
        );
        line(
            out,
            format_args!("# change. Where the uncertainty is above 1 the prior decides."),
        );
        for group in &self.indistinct {
            line(out, format_args!("\n[[fit.indistinct]]"));
            line(
                out,
                format_args!(
                    "uncertainty = {}",
                    if group.uncertainty > 1e3 {
                        "inf".to_owned()
                    } else {
                        format!("{:.2}", group.uncertainty)
                    }
                ),
            );
            line(
                out,
                format_args!(
                    "members = {{ {} }}",
                    group
                        .members
                        .iter()
                        .map(|(key, part)| format!("\"{key}\" = {part:.2}"))
                        .join(", ")
                ),
            );
        }
    }

    /// The cells that the fit used, with their residuals.
    fn write_cells(&self, out: &mut String) {
        for cell in &self.cells {
            let published = &cell.cell;
            line(out, format_args!("\n[[fit.cell]]"));
            line(
                out,
                format_args!(
                    "cell = \"{} {} {}.{} {}\"",
                    published.case,
                    published.mode,
                    published.cluster,
                    published.core,
                    published.metric
                ),
            );
            line(out, format_args!("published_us = {}", published.value_us));
            line(out, format_args!("fitted_us = {:.2}", cell.fitted));
            line(
                out,
                format_args!("residual_us = {:.2}", cell.fitted - published.value_us),
            );
        }
    }

    /// The numbers that draws of the costs are made from.
    fn write_uncertainty(&self, out: &mut String) {
        line(
            out,
            format_args!(
                "\n# How uncertain the costs are together. A draw adds to each cost, in us or as a share, its row times as many independent standard"
            ),
        );
        line(
            out,
            format_args!(
                "# normal numbers. A prior that no cell speaks against counts as known to a half."
            ),
        );
        line(out, format_args!("[fit.uncertainty]"));
        let keys = self
            .parameters
            .iter()
            .map(|(parameter, ..)| parameter.key.clone())
            .collect_vec();
        line(out, format_args!("keys = [{}]", quoted(&keys)));
        line(
            out,
            format_args!(
                "# What a cell is granted in the fit, as a part of its value and in us; the larger counts."
            ),
        );
        line(out, format_args!("granted = [{RELATIVE}, {ABSOLUTE}]"));
        line(out, format_args!("factor = ["));
        for row in &self.factor {
            let row = row.iter().map(|value| format!("{value:.2e}")).collect_vec();
            line(out, format_args!("  [{}],", row.join(", ")));
        }
        line(out, format_args!("]"));
    }

    /// The gate: figures with which a reader judges the fit, and a warning for whoever runs with
    /// these costs.
    fn write_gate(&self, out: &mut String) {
        let gate = &self.gate;
        line(
            out,
            format_args!(
                "\n# Whether the fit can be trusted. Results on costs that did not pass are shown with a warning."
            ),
        );
        line(out, format_args!("[fit.gate]"));
        line(out, format_args!("passed = {}", gate.passed()));
        line(out, format_args!("distinct_values = {}", gate.distinct));
        line(out, format_args!("parameters = {}", self.parameters.len()));
        line(
            out,
            format_args!("effective_parameters = {:.1}", gate.effective),
        );
        line(
            out,
            format_args!("degrees_of_freedom = {:.1}", gate.freedom()),
        );
        line(out, format_args!("weighted_rms = {:.2}", gate.weighted_rms));
        line(
            out,
            format_args!("leave_one_out_rms_us = {:.2}", gate.left_out.rms_us),
        );
        line(
            out,
            format_args!(
                "leave_one_out_median_percent = {:.2}",
                100.0 * gate.left_out.median
            ),
        );
        line(
            out,
            format_args!(
                "values_that_alone_determine_a_cost = {}",
                gate.left_out.alone
            ),
        );
        line(out, format_args!("pinned = [{}]", quoted(&gate.pinned)));
        line(out, format_args!("reasons = [{}]", quoted(&gate.reasons)));
    }
}

/// Keys and clauses as TOML strings; neither has anything to escape.
fn quoted(texts: &[String]) -> String {
    texts.iter().map(|text| format!("\"{text}\"")).join(", ")
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

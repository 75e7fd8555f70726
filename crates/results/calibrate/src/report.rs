//! A calibration as the costs file that a simulation reads.

use crate::fit::Calibration;
use crate::parameters::written;
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
        let split = |key: &str| match key.rsplit_once('.') {
            Some((section, name)) => (section.to_owned(), name.to_owned()),
            None => ("shared".to_owned(), key.to_owned()),
        };
        let mut sections: Vec<String> = Vec::new();
        for (parameter, ..) in &self.parameters {
            let (section, _) = split(&parameter.key);
            if !sections.contains(&section) {
                sections.push(section);
            }
        }
        for section in sections {
            line(out, format_args!("\n[{section}]"));
            for (parameter, value, error) in self.parameters.iter().filter(|(p, ..)| split(&p.key).0 == section) {
                let (value, error) = (written(&parameter.key, *value).0, written(&parameter.key, *error).0);
                line(out, format_args!("{} = {value}  # +- {}", split(&parameter.key).1, error.trim_matches('"')));
            }
        }

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
        line(
            out,
            format_args!(
                "\n# What the cells cannot tell apart: the members can move together, by these parts of their priors, and the cells hardly"
            ),
        );
        line(out, format_args!("# change. Where the uncertainty is above 1 the prior decides."));
        for group in &self.indistinct {
            line(out, format_args!("\n[[fit.indistinct]]"));
            line(
                out,
                format_args!(
                    "uncertainty = {}",
                    if group.uncertainty > 1e3 { "inf".to_owned() } else { format!("{:.2}", group.uncertainty) }
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
                        .collect::<Vec<_>>()
                        .join(", ")
                ),
            );
        }
        for cell in &self.cells {
            let published = &cell.cell;
            line(out, format_args!("\n[[fit.cell]]"));
            line(
                out,
                format_args!(
                    "cell = \"{} {} {}.{} {}\"",
                    published.case, published.mode, published.cluster, published.core, published.metric
                ),
            );
            line(out, format_args!("published_us = {}", published.value_us));
            line(out, format_args!("fitted_us = {:.2}", cell.fitted));
            line(out, format_args!("residual_us = {:.2}", cell.fitted - published.value_us));
        }
        text
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

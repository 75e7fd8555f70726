//! `stopwatt calibrate`.

use crate::arguments::{CalibrateOptions, Format};
use crate::data::DataFolder;
use crate::{Answer, output};
use calibrate::{Calibration, Plan};
use miette::{IntoDiagnostic, miette};
use serde_json::json;
use soc::config::{Costs, Platform, Release};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Fits the releases, the one that others carry from first, and writes or checks their costs files; the answer is no where a check fails.
pub fn run(data: &DataFolder, options: &CalibrateOptions) -> miette::Result<Answer> {
    let (name, document) = data.platform(&options.platform)?;
    let platform = Platform::read(&document)?;
    let plan = Plan::read(&data.open(&format!("platforms/{name}/calibration.toml"))?).into_diagnostic()?;
    let reference = data.psci_reference(&name)?.ok_or_else(|| {
        miette!(
            help = "put figures and a TOML file that names the platform in `published`",
            "there are no published figures of {name}"
        )
    })?;
    let wanted = match options.release.is_empty() {
        true => data.releases(&name)?,
        false => options.release.clone(),
    };
    let mut calibrations: Vec<Calibration> = Vec::new();
    let mut fitted: BTreeMap<String, Costs> = BTreeMap::new();
    let first = std::iter::once(plan.carry_from.clone());
    for release_name in first.chain(wanted.iter().filter(|&release| *release != plan.carry_from).cloned()) {
        let release = Release::read(&data.release(&name, &release_name)?, &platform)?;
        let carried = fitted.get(&plan.carry_from);
        let calibration = calibrate::fit(&platform, &release, &reference, &plan, carried).into_diagnostic()?;
        fitted.insert(release_name.clone(), calibration.costs.clone());
        if wanted.contains(&release_name) {
            calibrations.push(calibration);
        }
    }

    let mut differs = Vec::new();
    for calibration in &calibrations {
        let file = data.costs_name(&name, &calibration.release);
        let path = data.path(&file);
        let text = calibration.to_toml();
        if !options.check {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).into_diagnostic()?;
            }
            output::write_file(&path, text.as_bytes())?;
        } else if std::fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            differs.push(file);
        }
    }
    match options.format {
        Format::Json => output::print_json(&as_json(&calibrations))?,
        Format::Term => output::print(calibrations.iter().map(as_text).collect::<String>().as_bytes())?,
    }
    match differs.is_empty() {
        true => Ok(Answer::Yes),
        false => Ok(Answer::no(&miette!(
            help = "run `stopwatt calibrate` to write them anew",
            "not what a fresh calibration gives: {}",
            differs.join(", ")
        ))),
    }
}

fn as_text(calibration: &Calibration) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}: {} cells used, rms residual {:.2} us",
        calibration.release,
        calibration.cells.len(),
        calibration.rms_us
    );
    for (parameter, value, error) in &calibration.parameters {
        let unit = if parameter.key == "flush_port_share" { "" } else { " us" };
        let _ = writeln!(out, "  {:38} {value:10.4} +- {error:8.4}{unit}", parameter.key);
    }
    let mut worst: Vec<_> = calibration.cells.iter().collect();
    worst.sort_by(|a, b| (b.fitted - b.cell.value_us).abs().total_cmp(&(a.fitted - a.cell.value_us).abs()));
    let _ = writeln!(out, "  largest residuals:");
    for cell in worst.iter().take(5) {
        let published = &cell.cell;
        let _ = writeln!(
            out,
            "    {} {} {}.{} {}: published {}, fitted {:.2} us",
            published.case,
            published.mode,
            published.cluster,
            published.core,
            published.metric,
            published.value_us,
            cell.fitted
        );
    }
    let _ = writeln!(out, "  not told apart by the data (parts of the priors that can move together):");
    for group in &calibration.indistinct {
        let members: Vec<_> = group.members.iter().map(|(key, part)| format!("{key} {part:+.2}")).collect();
        let _ = writeln!(out, "    {}", members.join(", "));
    }
    out
}

fn as_json(calibrations: &[Calibration]) -> serde_json::Value {
    let releases: Vec<_> = calibrations
        .iter()
        .map(|calibration| {
            json!({
                "release": calibration.release,
                "rms_us": calibration.rms_us,
                "rules": calibration.rules,
                "parameters": calibration.parameters.iter().map(|(parameter, value, error)| json!({
                    "key": parameter.key, "value": value, "standard_error": error, "prior": parameter.prior.value,
                })).collect::<Vec<_>>(),
                "cells": calibration.cells.iter().map(|cell| json!({
                    "case": cell.cell.case, "mode": cell.cell.mode, "cluster": cell.cell.cluster, "core": cell.cell.core,
                    "metric": cell.cell.metric, "published_us": cell.cell.value_us, "fitted_us": cell.fitted,
                })).collect::<Vec<_>>(),
                "indistinct": calibration.indistinct.iter().map(|group| json!({
                    "uncertainty": group.uncertainty.min(1e9),
                    "members": group.members.iter().map(|(key, part)| (key.clone(), json!(part))).collect::<serde_json::Map<_, _>>(),
                })).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({ "releases": releases })
}

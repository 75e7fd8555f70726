//! `stopwatt calibrate`.

use crate::answer::Answer;
use crate::data::Data;
use crate::output::{self, Format};
use calibrate::{Calibration, Plan};
use clap::Args;
use console::Console;
use experiment::{Files, Progress};
use itertools::Itertools;
use miette::{IntoDiagnostic, Result, miette};
use platforms::PlatformFiles;
use published::PsciReference;
use recording::metrics::{POWERDOWN, WAKEUP};
use serde_json::json;
use soc::config::{Costs, Platform, Release};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Options of `calibrate`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt calibrate --platform juno-r1                  fit all releases and write their costs files
  stopwatt calibrate --release v2.12 --check             exit with 1 if the costs file is not what a fit gives")]
pub struct CalibrateOptions {
    /// Name of the platform.
    #[arg(long, default_value = "juno-r1", value_name = "NAME")]
    platform: String,
    /// A release, by its name or the end of it; may be given again. All by default.
    #[arg(long, value_name = "NAME")]
    release: Vec<String>,
    /// Compare with the costs files and write nothing.
    #[arg(long)]
    check: bool,
    /// The way to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// Writes a costs file of the platform files.
fn write_costs(console: &Console, data: &Data, file: &str, text: &str) -> Result<()> {
    let path = data.folder()?.join("platforms").join(file);
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).into_diagnostic()?;
    output::write_file(console, &path, text.as_bytes())
}

/// The answer of a check: no if files differ from what a fit gives.
fn checked(console: &Console, differs: &[String], command: &str) -> Answer {
    if differs.is_empty() {
        Answer::Yes
    } else {
        Answer::no(
            console,
            &miette!(
                help = format!("run `stopwatt {command}` to write them anew"),
                "not what a fresh fit gives: {}",
                differs.join(", ")
            ),
        )
    }
}

/// Fits the releases, the one that others carry from first, and writes or checks their costs files;
/// the answer is no where a check fails.
pub fn run(console: &Console, data: &Data, options: &CalibrateOptions) -> Result<Answer> {
    let files = data.platforms();
    let opened = PlatformFiles::open(&files, &options.platform)?;
    let name = opened.name().to_owned();
    let platform = Platform::read(opened.document())?;
    let plan = Plan::read(&files.document(&format!("{name}/calibration.toml"))?)?;
    let reference = PsciReference::for_platform(&data.published(), &name)?.ok_or_else(|| {
        miette!(
            help = format!("put figures and a file {name}-psci.toml that names the platform in `published`; docs/platforms.md has an example"),
            "there are no published figures of {name}"
        )
    })?;
    let wanted = if options.release.is_empty() {
        opened.releases()?
    } else {
        options
            .release
            .iter()
            .map(|given| opened.release_name(given))
            .collect::<Result<_, _>>()?
    };
    let calibrations = fit(
        console,
        (&files, &opened),
        (&platform, &plan, &reference),
        &wanted,
    )?;
    for cell in calibrations.iter().filter_map(doubtful) {
        console.note(&format!("warning: {cell}"));
    }
    let (mut differs, mut kept) = (Vec::new(), Vec::new());
    for calibration in &calibrations {
        let file = format!("{name}/costs/{}.toml", calibration.release);
        let text = calibration.to_toml();
        let before = files.read(&file).ok();
        if !options.check && before.is_some() && !calibration.gate.passed() {
            kept.push(format!(
                "platforms/{file}: {}",
                calibration.gate.reasons.join("; ")
            ));
        } else if !options.check {
            write_costs(console, data, &file, &text)?;
        } else if before.as_deref() != Some(text.as_str()) {
            differs.push(format!("platforms/{file}"));
        }
    }
    options.format.print(
        console,
        || as_json(&calibrations),
        || calibrations.iter().map(as_text).collect(),
    )?;
    if !kept.is_empty() {
        let help = "correct the published figures and their units, or delete the file to have the fit written with its warning";
        return Ok(Answer::no(
            console,
            &miette!(
                help = help,
                "a fit cannot be trusted, so its file stays: {}",
                kept.join(", ")
            ),
        ));
    }
    Ok(checked(console, &differs, "calibrate"))
}

/// Fits the wanted releases of a platform. Costs that others carry come from their release's file,
/// unless that release is fitted as well.
fn fit(
    console: &Console,
    (files, opened): (&impl Files, &PlatformFiles<'_>),
    (platform, plan, reference): (&Platform, &Plan, &PsciReference),
    wanted: &[String],
) -> Result<Vec<Calibration>> {
    let mut calibrations: Vec<Calibration> = Vec::new();
    let mut fitted: BTreeMap<String, Costs> = BTreeMap::new();
    let progress: Arc<Progress> = Arc::default();
    let shown = console.show_only(progress.clone());
    let mut first = plan.carry_from.clone();
    let kept = |release: &str| {
        let document = files
            .document(&format!("{}/costs/{release}.toml", opened.name()))
            .ok();
        document
            .map(|document| Costs::read(&document, platform))
            .transpose()
    };
    if let Some(carried) = first.clone().filter(|carried| !wanted.contains(carried))
        && let Some(costs) = kept(&carried)?
    {
        fitted.insert(carried, costs);
        first = None;
    }
    let others = wanted
        .iter()
        .filter(|&release| Some(release) != first.as_ref())
        .cloned();
    let all = first.clone().into_iter().chain(others).collect_vec();
    progress.expect(all.len() as u64, "releases");
    for release_name in all {
        progress.say(&format!("releases, fitting {release_name}"));
        let release = Release::read(&opened.release(&release_name)?, platform)?;
        let carried = plan
            .carry_from
            .as_ref()
            .and_then(|carried| fitted.get(carried));
        let calibration = calibrate::fit(platform, &release, reference, plan, carried)?;
        // What a fit is not trusted with is not carried either, if there are costs from before.
        let before = if calibration.gate.passed() {
            None
        } else {
            kept(&release_name)?
        };
        fitted.insert(
            release_name.clone(),
            before.unwrap_or_else(|| calibration.costs.clone()),
        );
        if wanted.contains(&release_name) {
            calibrations.push(calibration);
        }
        progress.step();
    }
    drop(shown);
    Ok(calibrations)
}

/// Microseconds that a powerdown or a wakeup of a CPU can take.
const CREDIBLE_US: std::ops::RangeInclusive<f64> = 1.0..=100_000.0;

/// The first figure of a fit that no CPU can have, in a sentence: its unit may be wrong.
fn doubtful(calibration: &Calibration) -> Option<String> {
    let mut cells = calibration.cells.iter().filter(|cell| {
        let cell = &cell.cell;
        [POWERDOWN.name, WAKEUP.name].contains(&&*cell.metric)
            && !CREDIBLE_US.contains(&cell.value_us)
    });
    let first = &cells.next()?.cell;
    Some(format!(
        "{}: the {} of {}.{} in {} {} is {} us, and {} more figures are as doubtful: are they in the right unit?",
        calibration.release,
        first.metric,
        first.cluster,
        first.core,
        first.case,
        first.mode,
        first.value_us,
        cells.count()
    ))
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
    out.push_str(&gate_text(calibration));
    for (parameter, value, error) in &calibration.parameters {
        let is_share = parameter.key == "flush_port_share";
        let unit = if is_share { "" } else { " us" };
        let _ = writeln!(
            out,
            "  {:38} {value:10.4} +- {error:8.4}{unit}",
            parameter.key
        );
    }
    let mut worst = calibration.cells.iter().collect_vec();
    worst.sort_by(|a, b| {
        (b.fitted - b.cell.value_us)
            .abs()
            .total_cmp(&(a.fitted - a.cell.value_us).abs())
    });
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
    for valley in &calibration.valleys {
        let costs = calibration
            .parameters
            .iter()
            .zip(valley)
            .filter(|((parameter, ..), _)| parameter.starts.len() > 1)
            .map(|((parameter, ..), value)| format!("{} {value:.1} us", parameter.key))
            .join(", ");
        let _ = writeln!(
            out,
            "  another valley fits alike: {costs}; the prior is nearer to the one above"
        );
    }
    let _ = writeln!(
        out,
        "  not told apart by the data (parts of the priors that can move together):"
    );
    for group in &calibration.indistinct {
        let members = group
            .members
            .iter()
            .map(|(key, part)| format!("{key} {part:+.2}"))
            .collect_vec();
        let _ = writeln!(out, "    {}", members.join(", "));
    }
    out
}

/// The figures by which the fit is judged, and the judgement.
fn gate_text(calibration: &Calibration) -> String {
    let gate = &calibration.gate;
    let left_out = gate.left_out;
    let pinned = if gate.pinned.is_empty() {
        "none".to_owned()
    } else {
        gate.pinned.join(", ")
    };
    let timer = timer_text(calibration).map_or_else(String::new, |words| format!("  {words}\n"));
    let verdict = if gate.passed() {
        "the fit passes".to_owned()
    } else {
        format!("a BAD FIT: {}", gate.reasons.join("; "))
    };
    format!(
        "  {} distinct values for {} parameters, of which they determine {:.1}: {:.1} degrees of freedom
  residuals: {:.2} times what the cells are granted
  leave one out: {} values missed by {:.2} us (rms), {:.1} % in the median; {} alone determine a cost
  costs that ended at 0: {pinned}
{timer}  {verdict}
",
        gate.distinct,
        calibration.parameters.len(),
        gate.effective,
        gate.freedom(),
        gate.weighted_rms,
        left_out.values,
        left_out.rms_us,
        100.0 * left_out.median,
        left_out.alone
    )
}

/// Wakeups that are farther off than this, as the logarithm of a ratio, tell nothing.
const SEEN: f64 = 0.5;

/// The owner of the timer, by the column of wakeups, in words; `None` where there is no such
/// column.
fn timer_text(calibration: &Calibration) -> Option<String> {
    let [(cluster, core, nearest), (.., next)] = *calibration.timers.get(..2)? else {
        return None;
    };
    let off = |log: f64| 100.0 * log.exp_m1();
    if nearest > SEEN || nearest * 2.0 > next {
        return Some(format!(
            "deepest wakeups do not tell who owns the timer: {:.0} % off at best",
            off(nearest)
        ));
    }
    let reads = format!(
        "deepest wakeups are nearest if CPU {cluster}.{core} owns the timer: {:.0} % off, and {:.0} % with the next best CPU",
        off(nearest),
        off(next)
    );
    Some(match calibration.declared_timer {
        Some(declared) if declared == (cluster, core) => {
            format!("{reads}; it is the one that is declared")
        }
        Some((cluster, core)) => format!("{reads}; {cluster}.{core} is declared"),
        None => format!("{reads}; declare it as `timer = [{cluster}, {core}]` beside `scp_order`"),
    })
}

fn as_json(calibrations: &[Calibration]) -> serde_json::Value {
    let releases = calibrations
        .iter()
        .map(|calibration| {
            let gate = &calibration.gate;
            json!({
                "release": calibration.release,
                "rms_us": calibration.rms_us,
                "rules": calibration.rules,
                "gate": {
                    "passed": gate.passed(),
                    "reasons": gate.reasons,
                    "distinct_values": gate.distinct,
                    "effective_parameters": gate.effective,
                    "degrees_of_freedom": gate.freedom(),
                    "weighted_rms": gate.weighted_rms,
                    "pinned": gate.pinned,
                    "leave_one_out": gate.left_out,
                },
                "timers": calibration.timers.iter().map(|(cluster, core, log)| json!({
                    "cpu": format!("{cluster}.{core}"), "rms_log_error": log,
                })).collect_vec(),
                "parameters": calibration.parameters.iter().map(|(parameter, value, error)| json!({
                    "key": parameter.key, "value": value, "standard_error": error, "prior": parameter.prior.value,
                })).collect_vec(),
                "cells": calibration.cells.iter().map(|cell| json!({
                    "case": cell.cell.case, "mode": cell.cell.mode, "cluster": cell.cell.cluster, "core": cell.cell.core,
                    "metric": cell.cell.metric, "published_us": cell.cell.value_us, "fitted_us": cell.fitted,
                })).collect_vec(),
                "indistinct": calibration.indistinct.iter().map(|group| json!({
                    "uncertainty": group.uncertainty.min(1e9),
                    "members": group.members.iter().map(|(key, part)| (key.clone(), json!(part))).collect::<serde_json::Map<_, _>>(),
                })).collect_vec(),
            })
        })
        .collect_vec();
    json!({ "releases": releases })
}

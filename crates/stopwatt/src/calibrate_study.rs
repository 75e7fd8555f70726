//! `stopwatt calibrate-prefetch --from`: a core fitted to recordings, and how well it predicts what
//! the fit did not use.

use crate::answer::Answer;
use crate::completion;
use crate::costs_files::write_costs_file;
use crate::data::Data;
use crate::output::{self, Format};
use crate::recordings::NamedRecording;
use calibrate::{
    MeasuredStudy, Prediction, Search, StudyFit, belong_together, fit_studies, predict,
};
use clap::{Args, ValueEnum};
use console::{Console, Style};
use dataplane_experiments::fit::Costs;
use dataplane_experiments::platform::CorePlatform;
use experiment::Progress;
use miette::miette;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Options of `calibrate-prefetch` that are about recordings.
#[derive(Args)]
pub struct StudyOptions {
    /// Fit a core to the single loops of a recording of `run prefetch --world host`, and predict
    /// the others; may be given again, for studies of one machine that differ in where lines lie.
    #[arg(long, value_name = "RECORDING", value_parser = NamedRecording::parser(), add = completion::recordings())]
    from: Vec<NamedRecording>,
    /// Predict a recording of which the fit uses nothing; may be given again.
    #[arg(long, value_name = "RECORDING", requires = "from", value_parser = NamedRecording::parser(), add = completion::recordings())]
    predict: Vec<NamedRecording>,
    /// Leave a part of the model out; may be given again.
    #[arg(long, value_name = "PART", requires = "from")]
    without: Vec<Part>,
    /// Also write the costs file of the platform, with which
    /// `run prefetch --world sim --platform NAME` predicts.
    #[arg(long, requires = "from", conflicts_with = "without")]
    save: bool,
    /// Frames of each run of the search.
    #[arg(long, value_name = "N", requires = "from", default_value_t = Search::USUAL.frames as u64,
          value_parser = clap::value_parser!(u64).range(1..=10_000))]
    frames: u64,
    /// Steps of the search from each of its starts.
    #[arg(long, value_name = "N", requires = "from", default_value_t = Search::USUAL.rounds as u64,
          value_parser = clap::value_parser!(u64).range(1..=100_000))]
    steps: u64,
}

/// A part of the model that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// A prefetch stays in the window until its address is translated.
    Hold,
    /// The second-level cache fetches the line beside one that is asked for.
    Neighbour,
}

impl StudyOptions {
    /// True if recordings are to be fitted to.
    pub fn any(&self) -> bool {
        !self.from.is_empty()
    }
}

/// Reads recordings as studies.
fn studies(given: &[NamedRecording]) -> miette::Result<Vec<MeasuredStudy>> {
    let read = |named: &NamedRecording| {
        MeasuredStudy::from_recording(&named.given, &named.read_only()?)
            .map_err(|error| miette!(help = error.help.clone(), "{error}"))
    };
    given.iter().map(read).collect()
}

/// Fits, predicts and prints.
pub fn run(
    console: &Console,
    data: &Data,
    platform: Option<&str>,
    options: &StudyOptions,
    format: Format,
) -> miette::Result<Answer> {
    // No core is the usual one: the facts of another vendor's would be taken silently.
    let Some(platform) = platform else {
        let known = CorePlatform::names(&data.platforms())?.join(", ");
        return Err(miette!(
            help = format!(
                "--platform NAME, one of {known}; for another core, a file as platforms/zen5.toml"
            ),
            "a fit to recordings needs the facts of the core that they are of"
        ));
    };
    let mut platform = CorePlatform::read(&data.platforms(), platform)?;
    for part in &options.without {
        match part {
            Part::Hold => platform.prefetch.holds = false,
            Part::Neighbour => platform.l2.fetches_neighbour = false,
        }
    }
    let (used, held_out) = (studies(&options.from)?, studies(&options.predict)?);
    let all: Vec<MeasuredStudy> = used.iter().chain(&held_out).cloned().collect();
    belong_together(&all).map_err(|error| miette!(help = error.help.clone(), "{error}"))?;
    let search = Search {
        frames: options.frames as usize,
        rounds: options.steps as usize,
    };
    let progress: Arc<Progress> = Arc::default();
    progress.say(&format!("fitting a core to {} recordings", used.len()));
    let shown = console.show_only(progress);
    let fit = fit_studies(&platform, &used, search);
    let told: Vec<StudyPrediction> = all
        .into_iter()
        .enumerate()
        .map(|(at, study)| StudyPrediction {
            predicted: predict(&fit, &study, search),
            study,
            used: at < used.len(),
        })
        .collect();
    drop(shown);
    if options.save {
        save(console, data, options, &platform, &fit.costs_file(&used))?;
    }
    match format {
        Format::Json => output::print_json(console, &as_json(&platform, &fit, &told))?,
        Format::Term => {
            output::print_text(console, &as_text(&platform, &fit, &told, console.style()))?
        }
    }
    Ok(Answer::Yes)
}

/// Writes the costs file, with the command line that makes it again.
fn save(
    console: &Console,
    data: &Data,
    options: &StudyOptions,
    platform: &CorePlatform,
    costs: &dataplane_experiments::platform::CostsFile,
) -> miette::Result<()> {
    let usual = Search::USUAL;
    let from: String = options
        .from
        .iter()
        .map(|from| format!(" --from {}", from.given))
        .collect();
    let number = |name, given, usual| {
        if given == usual {
            String::new()
        } else {
            format!(" --{name} {given}")
        }
    };
    let frames = number("frames", options.frames as usize, usual.frames);
    let steps = number("steps", options.steps as usize, usual.rounds);
    let given = format!("{from} --save{frames}{steps}");
    write_costs_file(console, data, &platform.platform.name, costs, &given)
}

/// A study with what the model says about it.
struct StudyPrediction {
    study: MeasuredStudy,
    predicted: Prediction,
    /// True if the fit used its single loop.
    used: bool,
}

impl StudyPrediction {
    fn is_fitted(&self, loop_name: &str) -> bool {
        self.used && loop_name == "single"
    }
}

/// The last part of a recording's name.
fn shown(name: &str) -> String {
    Path::new(name).file_name().map_or_else(
        || name.to_owned(),
        |last| last.to_string_lossy().into_owned(),
    )
}

fn named(costs: &Costs) -> Vec<(&'static str, f64)> {
    Costs::NAMES.into_iter().zip(costs.values()).collect()
}

/// The rows of a study's loops in the table.
fn rows_of(told: &StudyPrediction) -> Vec<Vec<String>> {
    let rows = told.predicted.scores.iter().map(|score| {
        let fitted = told.is_fitted(score.loop_name);
        let wins = match (fitted, score.best_trivial()) {
            (true, _) => "fitted",
            (_, None) => "",
            _ if score.model_wins() => "model",
            (_, Some((name, _))) => name,
        };
        let trivial = |wanted: &dyn Fn(&str) -> bool| {
            let found = score.trivial.iter().find(|(name, _)| wanted(name));
            found.map_or_else(String::new, |(_, error)| format!("{error:.2}\u{a0}%"))
        };
        vec![
            shown(&told.study.name),
            score.loop_name.to_owned(),
            format!("{:.2}\u{a0}%", score.model),
            trivial(&|name| name == calibrate::BEST_OF_SINGLE),
            trivial(&|name| name != calibrate::BEST_OF_SINGLE),
            wins.to_owned(),
        ]
    });
    rows.collect::<Vec<_>>()
}

fn as_text(
    platform: &CorePlatform,
    fit: &StudyFit,
    told: &[StudyPrediction],
    style: Style,
) -> String {
    let mut text = String::new();
    let study = &told[0].study;
    let _ = writeln!(
        text,
        "A core as {}, fitted to {} cells of the single loop ({}, frames of {}): rms {:.2} %",
        platform.platform.name,
        fit.used,
        study.work,
        study.frame_size,
        fit.rms * 100.0
    );
    let costs = |costs: &Costs| {
        let each: Vec<String> = named(costs)
            .iter()
            .map(|(name, cycles)| format!("{name} {cycles:.0}"))
            .collect();
        each.join(", ")
    };
    let _ = writeln!(
        text,
        "Cycles of {:.1} GHz: {}",
        platform.core.hz as f64 / 1e9,
        costs(&fit.costs)
    );
    for (other, rms) in &fit.others {
        let _ = writeln!(
            text,
            "From another start: rms {:.2} %, {}",
            rms * 100.0,
            costs(other)
        );
    }
    let rows = told.iter().flat_map(rows_of);
    let headings = [
        "Recording",
        "Loop",
        "Model",
        "Best of single",
        "Same distance",
        "Least error",
    ];
    let _ = write!(text, "\n{}", report::table_text(&headings, rows, 2, style));
    let predicted = || {
        told.iter()
            .flat_map(|told| told.predicted.scores.iter().map(move |score| (told, score)))
    };
    let contested = || {
        predicted()
            .filter(|(told, score)| !told.is_fitted(score.loop_name) && !score.trivial.is_empty())
    };
    let won = contested().filter(|(_, score)| score.model_wins()).count();
    let _ = writeln!(
        text,
        "The model is better than every trivial predictor in {won} of {} tables.",
        contested().count()
    );
    text.push_str(LIMITS);
    text
}

const LIMITS: &str = "\
Errors are root mean squares of relative errors, over the cells with a prefetch. Two predictors need
no model, and take the single loop of their own recording: its best cell, or the cell that prefetches
as many packets ahead. --format json has every cell.
";

fn as_json(platform: &CorePlatform, fit: &StudyFit, told: &[StudyPrediction]) -> Value {
    let costs = |costs: &Costs| {
        named(costs)
            .into_iter()
            .map(|(name, cycles)| (name.to_owned(), json!(cycles)))
    };
    let study = |told: &StudyPrediction| {
        let cells = told.study.cells.iter().zip(&told.predicted.ticks);
        json!({
            "recording": told.study.name,
            "used_in_fit": told.used,
            "work": told.study.work,
            "header_in": told.study.places.header.name(),
            "data_in": told.study.places.data.name(),
            "cells": cells.map(|(cell, ticks)| json!({
                "loop": cell.loop_name,
                "stride_first": cell.cell.strides.header,
                "stride_second": cell.cell.strides.data,
                "measured_ticks": cell.ticks,
                "model_ticks": ticks,
                "error_percent": (ticks / cell.ticks - 1.0) * 100.0,
                "used_in_fit": told.is_fitted(&cell.loop_name),
            })).collect::<Vec<_>>(),
            "scores": told.predicted.scores.iter().map(|score| json!({
                "loop": score.loop_name,
                "used_in_fit": told.is_fitted(score.loop_name),
                "model_rms_percent": score.model,
                "trivial": score.trivial.iter().map(|(name, error)| json!({
                    "predictor": name, "rms_percent": error,
                })).collect::<Vec<_>>(),
                "model_wins": score.model_wins(),
            })).collect::<Vec<_>>(),
        })
    };
    json!({
        "platform": platform.platform.name,
        "core_hz": platform.core.hz,
        "holds": platform.prefetch.holds,
        "fetches_neighbour": platform.l2.fetches_neighbour,
        "cycles": costs(&fit.costs).collect::<serde_json::Map<_, _>>(),
        "rms_percent": fit.rms * 100.0,
        "cells_used": fit.used,
        "other_starts": fit.others.iter().map(|(other, rms)| json!({
            "cycles": costs(other).collect::<serde_json::Map<_, _>>(), "rms_percent": rms * 100.0,
        })).collect::<Vec<_>>(),
        "studies": told.iter().map(study).collect::<Vec<_>>(),
    })
}

//! `rcu-energy`: the talk's table, with what is predicted beside what was published.

use super::energy_cells::{CONFIGURATIONS, Energy, EnergyCell, Interval, REFERENCE, Values, drawn};
use super::energy_effects::{asleep, effects, late};
use super::energy_explain::{AXES, Explained, Solution, curve, explain};
use super::energy_predictors::{best_order, predictors};
use super::{Run, Style, energy_owners};
use crate::grid::{PLAIN, fitted, paragraph, right, table};
use crate::words::number;
use recording::{metrics, stats};
use serde_json::{Value, json};
use std::fmt::Write;

fn is_explained(run: &Run<'_>) -> bool {
    run.recording.header.request.get("explain").is_some_and(|given| given == "true")
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let energy = Energy::read(run);
    let interval = |interval: Option<Interval>| {
        json!(interval.map(|of| json!({ "low": of.low, "median": of.median, "high": of.high })))
    };
    let joules = |of: Interval| {
        let scale = energy.scale?;
        Some(json!({ "low": scale * of.low, "median": scale * of.median, "high": scale * of.high }))
    };
    let cells = energy.cells.iter().map(|cell| {
        let published = |of: fn(&super::energy_cells::Published) -> Option<f64>| cell.published.as_ref().and_then(of);
        let bench = energy.bench(cell.benchmark);
        json!({
            "benchmark": cell.benchmark,
            "configuration": cell.configuration,
            "energy_j": joules(cell.energy),
            "energy_unit_s": interval(Some(cell.energy)),
            "time_s": interval(Some(cell.time)),
            "energy_benefit_percent": interval(cell.benefit),
            "time_benefit_percent": interval(cell.time_benefit),
            "central_energy_benefit_percent": cell.central.map(|[least, median, most]| json!({ "low": least, "median": median, "high": most })),
            "verdict": cell.verdict(),
            "wrong_sign": cell.is_wrong(),
            "decides": cell.decides.map(|(unknown, spearman)| json!({ "unknown": unknown, "spearman": spearman })),
            "exceeds_rcu": energy.exceeds(cell),
            "rcu_bound_percent": bench.map(|bench| bench.bound.high),
            "draws_beyond_bound": cell.beyond_bound.0,
            "most_points_beyond_bound": cell.beyond_bound.1,
            "published_energy_j": published(|figure| Some(figure.energy_j)),
            "published_time_s": published(|figure| Some(figure.time_s)),
            "published_energy_benefit_percent": published(|figure| figure.benefit),
            "published_time_benefit_percent": published(|figure| figure.time_benefit),
            "used_in_fit": energy.used_in_fit(cell),
        })
    });
    let cells: Vec<Value> = cells.collect();
    let references = energy.benches.iter().map(|bench| {
        json!({
            "benchmark": bench.name,
            "busy": bench.busy,
            "power_unit": interval(Some(bench.power)),
            "power_w": joules(bench.power),
            "published_power_w": bench.published_power,
            "rcu_bound_percent": interval(Some(bench.bound)),
            "rcu_owned_percent": interval(Some(bench.owned)),
            "draws_in_which_rcu_helps": bench.helps.0,
            "most_percent_by_which_rcu_helps": bench.helps.1,
        })
    });
    let references: Vec<Value> = references.collect();
    let all = predictors(&energy);
    let by_order = best_order(&all).map(|best| best.name);
    let compared = all.iter().map(|predictor| {
        json!({
            "name": predictor.name,
            "fitted_to_published_benefits": predictor.fitted,
            "rms_points": predictor.rms,
            "spearman": predictor.spearman,
        })
    });
    let compared: Vec<Value> = compared.collect();
    let explained = is_explained(run).then(|| {
        let cells = explain(run.recording, &energy);
        cells.iter().map(explained_json).collect::<Vec<_>>()
    });
    json!({
        "cells": cells,
        "references": references,
        "owners": energy_owners::json(run, &energy),
        "watts_per_unit": energy.scale,
        "predictors": compared,
        "nearest": all.first().map(|best| best.name),
        "best_order": by_order,
        "without_a_fit": without_a_fit(run, &energy),
        "claims": claims(run, &energy),
        "effects": effects(run, &energy),
        "doses": doses(run),
        "explained": explained,
        "draws": run.recording.header.iterations,
        "seed": run.recording.header.seed,
        "settings": run.recording.header.settings,
        "recording": run.folder,
    })
}

fn explained_json(cell: &Explained<'_>) -> Value {
    let mut json = json!({
        "benchmark": cell.benchmark,
        "configuration": cell.configuration,
        "published_energy_benefit_percent": cell.published,
    });
    for (axis, solution) in AXES.iter().zip(&cell.solutions) {
        json[axis.name] = match solution {
            Solution::At { value, benefit } => json!({ "value": value, "energy_benefit_percent": benefit }),
            Solution::Between(low, high) => json!({ "value": null, "between": [low, high] }),
            Solution::None { least, most } => json!({ "value": null, "low": least, "high": most }),
            Solution::Unknown => Value::Null,
        };
    }
    json
}

/// Figures that no fit was made for.
fn without_a_fit(run: &Run<'_>, energy: &Energy<'_>) -> Value {
    let watts = |name: &str| {
        let bench = energy.bench(name)?;
        let (scale, published) = (energy.scale?, bench.published_power?);
        Some((scale * bench.power.median, published))
    };
    let second = watts("andebench2").map(|(predicted, published)| {
        json!({
            "power_w": predicted,
            "published_power_w": published,
            "error_percent": 100.0 * (predicted / published - 1.0),
            "within_10_percent": (predicted / published - 1.0).abs() <= 0.1,
        })
    });
    let threads = by_threads(run, energy);
    let sysbench = watts("sysbench").filter(|_| !threads.is_empty()).map(|(_, published)| {
        let powers = || threads.iter().flat_map(|(_, [low, _, high])| [*low, *high]);
        let (least, most) = (powers().fold(f64::INFINITY, f64::min), powers().fold(f64::NEG_INFINITY, f64::max));
        json!({
            "by_threads": threads.iter().map(|(threads, [low, median, high])| json!({
                "threads": threads,
                "power_w": { "low": low, "median": median, "high": high },
            })).collect::<Vec<_>>(),
            "published_power_w": published,
            "covers_published": least <= published && published <= most,
        })
    });
    let figure = |key: &str| {
        let figures = &run.recording.header.platform.as_ref()?.figures;
        figures.get(key)?.as_float()
    };
    let ratio = |key: &str| Some(figure(&format!("big_{key}"))? / figure(&format!("little_{key}"))?);
    json!({
        "andebench2_reference": second,
        "sysbench_reference": sysbench,
        "callback_core_energy_big_to_little": ratio("core_energy_per_work"),
        "callback_time_little_to_big": ratio("time_per_work").map(|ratio| 1.0 / ratio),
        "talk_says": energy.reference.map(|reference| &reference.callbacks_on_little),
    })
}

/// Reference power of sysbench in watts, by its number of threads: least, median and most of the draws.
fn by_threads(run: &Run<'_>, energy: &Energy<'_>) -> Vec<(f64, [f64; 3])> {
    let (Some(scale), Some((_, threads))) =
        (energy.scale, drawn(run.recording).into_iter().find(|(name, _)| *name == "sysbench.threads"))
    else {
        return Vec::new();
    };
    let of = |metric| Values::of(run.recording, metric, "");
    let (energies, times) = (of(metrics::ENERGY), of(metrics::RUN_TIME));
    let get = |values: &Values<'_>| values.get("sysbench", REFERENCE, "draws").to_vec();
    let powers: Vec<f64> = get(&energies).iter().zip(get(&times)).map(|(energy, time)| scale * energy / time).collect();
    let mut kinds = threads.clone();
    kinds.sort_by(f64::total_cmp);
    kinds.dedup();
    let summary = |kind: f64| {
        let of = powers.iter().zip(&threads).filter(|(_, other)| **other == kind).map(|(power, _)| *power);
        let summary = stats::summary(&of.collect::<Vec<_>>())?;
        Some((kind, [summary.min, summary.median, summary.max]))
    };
    kinds.into_iter().filter_map(summary).collect()
}

/// In what share of the draws what the talk says comes out.
fn claims(run: &Run<'_>, energy: &Energy<'_>) -> Vec<Value> {
    let values = Values::of(run.recording, metrics::ENERGY, "");
    let times = Values::of(run.recording, metrics::RUN_TIME, "");
    let share = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
    let of = |bench: &super::energy_cells::Bench<'_>| {
        let [reference, offload, idle, both] = [REFERENCE, CONFIGURATIONS[0], CONFIGURATIONS[1], CONFIGURATIONS[2]]
            .map(|configuration| values.get(bench.name, configuration, energy.mode));
        let [offload_time, idle_time] = [CONFIGURATIONS[0], CONFIGURATIONS[1]]
            .map(|configuration| times.get(bench.name, configuration, energy.mode));
        // A recording of which a part is missing has fewer of some than of others.
        let all = [reference, offload, idle, both, offload_time, idle_time];
        let count = all.iter().map(|values| values.len()).min().unwrap_or(0);
        let draws = || 0..count;
        json!({
            "benchmark": bench.name,
            "enforced_idle_saves_more_than_offload": share(draws().filter(|&at| idle[at] < offload[at]).count(), count),
            "both_save_at_most_1_point_more_than_the_better": share(draws().filter(|&at| {
                100.0 * (offload[at].min(idle[at]) - both[at]) / reference[at] <= 1.0
            }).count(), count),
            "offload_is_faster_than_enforced_idle": share(draws().filter(|&at| offload_time[at] < idle_time[at]).count(), count),
        })
    };
    energy.benches.iter().map(of).collect()
}

/// Benefits against doses.
fn doses(run: &Run<'_>) -> Vec<Value> {
    let mut all = Vec::new();
    for benchmark in ["audio", "andebench8"] {
        for configuration in CONFIGURATIONS {
            let curve = curve(run.recording, benchmark, configuration, "dose");
            if !curve.is_empty() {
                let points: Vec<Value> = curve
                    .iter()
                    .map(|(dose, benefit)| json!({ "callbacks_per_second_and_cpu": dose, "energy_benefit_percent": benefit }))
                    .collect();
                all.push(json!({ "benchmark": benchmark, "configuration": configuration, "points": points }));
            }
        }
    }
    all
}

fn percent(value: f64) -> String {
    format!("{value:.2}")
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let energy = Energy::read(run);
    let mut text = String::new();
    let over = match energy.mode {
        "draws" => format!("{} draws from the ranges of what was not published", run.recording.header.iterations),
        _ => "the seeds at the central point; nothing was drawn".to_owned(),
    };
    let certain = if energy.mode == "draws" { " A sign is certain when they exclude 0." } else { "" };
    let head = format!(
        "Energy saved against the reference, in percent: published, and what 95 % of the predictions lie between, over {over}.{certain}"
    );
    paragraph(&mut text, &head, ("", ""), PLAIN, style);
    let mut drawn = table(style);
    drawn.set_header([
        "benchmark",
        "configuration",
        "published",
        "2.5 %",
        "median",
        "97.5 %",
        "sign",
        "seeds at the centre",
        "RCU costs",
        "",
    ]);
    for cell in energy.cells.iter().filter(|cell| cell.configuration != REFERENCE) {
        let Some(benefit) = cell.benefit else { continue };
        let published = cell.published.and_then(|published| published.benefit);
        let bound = energy.bench(cell.benchmark).map_or(0.0, |bench| bench.bound.high);
        let mut marks = Vec::new();
        if energy.exceeds(cell) == Some(true) {
            marks.push("exceeds RCU");
        }
        if cell.is_wrong() {
            marks.push("wrong sign");
        }
        let mut row = benefit_row(cell, published, benefit);
        row.add_cell(cell.verdict().unwrap_or("").into());
        row.add_cell(right(
            cell.central.map_or_else(String::new, |[least, _, most]| format!("{least:.2} to {most:.2}")),
        ));
        row.add_cell(right(format!("<{bound:.2}")));
        row.add_cell(marks.join(", ").into());
        drawn.add_row(row);
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
    let about = "RCU costs: the reference less the same run without callbacks, in percent of the reference; 97.5 % of the predictions are \
                 below. A published benefit above it exceeds what RCU costs at all.";
    paragraph(&mut text, about, ("", ""), PLAIN, style);
    let beyond: Vec<&EnergyCell<'_>> = energy.cells.iter().filter(|cell| cell.beyond_bound.0 > 0).collect();
    let count: usize = beyond.iter().map(|cell| cell.beyond_bound.0).sum();
    let worst = beyond.iter().max_by(|a, b| a.beyond_bound.1.total_cmp(&b.beyond_bound.1));
    let worst = worst.map_or_else(String::new, |cell| {
        format!("; by {:.2} points at most, in {} with {}", cell.beyond_bound.1, cell.benchmark, cell.configuration)
    });
    let of = energy.cells.iter().filter(|cell| cell.benefit.is_some()).count() * energy.count;
    let words = format!(
        "In {count} of {of} predictions more is saved than RCU costs in that draw and the seeds spread, at the centre or in that \
         draw{worst}."
    );
    paragraph(&mut text, &words, ("", ""), PLAIN, style);
    let helps = energy.benches.iter().filter(|bench| bench.helps.0 > 0).map(|bench| {
        format!("{} in {}, by {:.2} % of the reference at most", bench.name, bench.helps.0, bench.helps.1)
    });
    let helps: Vec<String> = helps.collect();
    if !helps.is_empty() {
        let words = format!(
            "RCU costs less than nothing in some of the {} runs of a benchmark, so that the bound there is 0: {}.",
            energy.count,
            helps.join("; ")
        );
        paragraph(&mut text, &words, ("", ""), PLAIN, style);
    }
    energy_owners::text(&mut text, run, &energy, style);
    times(&mut text, &energy, style);
    references(&mut text, &energy, style);
    compared(&mut text, &energy, style);
    unfitted(&mut text, run, &energy, style);
    decided(&mut text, &energy, style);
    claimed(&mut text, run, &energy, style);
    late(&mut text, run, &energy, style);
    asleep(&mut text, run, &energy, style);
    dosed(&mut text, run, style);
    if is_explained(run) {
        explained(&mut text, run, &energy, style);
    }
    if let Some(reference) = energy.reference {
        paragraph(
            &mut text,
            &format!("Published: {}; {}.", reference.source, reference.conditions),
            ("", ""),
            PLAIN,
            style,
        );
    }
    text
}

fn times(text: &mut String, energy: &Energy<'_>, style: Style) {
    let mut drawn = table(style);
    drawn.set_header(["benchmark", "configuration", "published", "2.5 %", "median", "97.5 %"]);
    let differs =
        |cell: &&EnergyCell<'_>| cell.time_benefit.is_some_and(|benefit| benefit.low != 0.0 || benefit.high != 0.0);
    for cell in energy.cells.iter().filter(differs) {
        let benefit = cell.time_benefit.unwrap_or_default();
        let published = cell.published.and_then(|published| published.time_benefit);
        drawn.add_row(benefit_row(cell, published, benefit));
    }
    if !drawn.is_empty() {
        text.push_str("\nTime saved, in percent; runs of a fixed length save none.\n");
        let _ = writeln!(text, "{}", fitted(drawn, style));
    }
}

/// A cell's name, what was published of it and what is predicted: the beginning of a row.
fn benefit_row(cell: &EnergyCell<'_>, published: Option<f64>, benefit: Interval) -> comfy_table::Row {
    let mut row = comfy_table::Row::from([cell.benchmark, cell.configuration]);
    row.add_cell(right(published.map_or_else(String::new, percent)));
    for value in [benefit.low, benefit.median, benefit.high] {
        row.add_cell(right(percent(value)));
    }
    row
}

fn references(text: &mut String, energy: &Energy<'_>, style: Style) {
    let scale = energy.scale.map_or_else(
        || "no unit is known in watts".to_owned(),
        |scale| format!("one unit of the platform's table is {scale:.4e} W, fitted to the benchmark that is marked"),
    );
    text.push('\n');
    paragraph(text, &format!("Power of the reference: {scale}."), ("", ""), PLAIN, style);
    let mut drawn = table(style);
    drawn.set_header([
        "benchmark",
        "published, W",
        "2.5 %",
        "median",
        "97.5 %",
        "error, %",
        "RCU costs, %",
        "RCU owns, %",
        "",
    ]);
    for bench in &energy.benches {
        let watts = |units: f64| right(energy.scale.map_or_else(String::new, |scale| format!("{:.3}", scale * units)));
        let error = energy
            .scale
            .zip(bench.published_power)
            .map(|(scale, published)| format!("{:+.1}", 100.0 * (scale * bench.power.median / published - 1.0)));
        let is_scale = energy.reference.is_some_and(|reference| reference.scale == bench.name);
        drawn.add_row([
            bench.name.into(),
            right(bench.published_power.map_or_else(String::new, |watts| format!("{watts:.3}"))),
            watts(bench.power.low),
            watts(bench.power.median),
            watts(bench.power.high),
            right(error.unwrap_or_default()),
            right(percent(bench.bound.median)),
            right(percent(bench.owned.median)),
            if is_scale { "used in the fit".into() } else { "".into() },
        ]);
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
    let about = "RCU costs: the median of the reference less the same run without callbacks. RCU owns: what is booked to callbacks, to ticks \
                 kept for them and to RCU's threads. The two differ, for a kept tick changes what others pay as well.";
    paragraph(text, about, ("", ""), PLAIN, style);
}

fn compared(text: &mut String, energy: &Energy<'_>, style: Style) {
    let all = predictors(energy);
    let Some(nearest) = all.first() else { return };
    text.push_str("\nThe medians beside predictors that know nothing of RCU, over all published benefits:\n");
    let mut drawn = table(style);
    drawn.set_header(["predictor", "fitted to them", "rms, points", "Spearman"]);
    for predictor in &all {
        drawn.add_row([
            predictor.name.into(),
            right(predictor.fitted.to_string()),
            right(percent(predictor.rms)),
            right(predictor.spearman.map_or_else(|| "none".to_owned(), percent)),
        ]);
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
    let order = best_order(&all).map_or("nobody", |best| best.name);
    let _ = writeln!(text, "Nearest: {}. Best order: {order}.", nearest.name);
}

fn unfitted(text: &mut String, run: &Run<'_>, energy: &Energy<'_>, style: Style) {
    let figures = without_a_fit(run, energy);
    text.push_str("\nPredicted without a fit:\n");
    let mut say = |words: String| paragraph(text, &words, ("  ", "  "), PLAIN, style);
    let of = |value: &Value| value.as_f64().unwrap_or(0.0);
    let second = &figures["andebench2_reference"];
    if !second.is_null() {
        say(format!(
            "andebench2's reference power: {:.3} W, published {:.3} W, {:+.1} %",
            of(&second["power_w"]),
            of(&second["published_power_w"]),
            of(&second["error_percent"])
        ));
    }
    let sysbench = &figures["sysbench_reference"];
    if !sysbench.is_null() {
        let rows = sysbench["by_threads"].as_array().map_or(&[][..], Vec::as_slice);
        let rows: Vec<String> = rows
            .iter()
            .map(|row| {
                let power = &row["power_w"];
                format!("{} threads {:.3} to {:.3} W", of(&row["threads"]), of(&power["low"]), of(&power["high"]))
            })
            .collect();
        let covers = if sysbench["covers_published"] == true { "covers" } else { "does not cover" };
        let published = of(&sysbench["published_power_w"]);
        say(format!("sysbench's reference power: {}; that {covers} the published {published:.3} W", rows.join(", ")));
    }
    let ratio = &figures["callback_core_energy_big_to_little"];
    if !ratio.is_null() {
        let said = figures["talk_says"].as_str().map_or_else(String::new, |said| format!("; the talk says {said}"));
        say(format!(
            "core energy of a callback, big to LITTLE at the highest operating points: {:.2}, and {:.2} times as long on LITTLE{said}",
            of(ratio),
            of(&figures["callback_time_little_to_big"])
        ));
    }
}

fn decided(text: &mut String, energy: &Energy<'_>, style: Style) {
    let is_told = |cell: &&EnergyCell<'_>| {
        cell.verdict() == Some("undecided") || (cell.benchmark == "audio" && cell.configuration == CONFIGURATIONS[0])
    };
    let told: Vec<&EnergyCell<'_>> =
        energy.cells.iter().filter(is_told).filter(|cell| cell.decides.is_some()).collect();
    if told.is_empty() {
        return;
    }
    text.push_str("\nWhat was not published and goes most with the benefit (Spearman):\n");
    for cell in told {
        let Some((unknown, spearman)) = cell.decides else { continue };
        let verdict = cell.verdict().unwrap_or_default();
        let words = format!("{}, {} ({verdict}): {unknown} {spearman:+.2}", cell.benchmark, cell.configuration);
        paragraph(text, &words, ("  ", "    "), PLAIN, style);
    }
}

fn claimed(text: &mut String, run: &Run<'_>, energy: &Energy<'_>, style: Style) {
    text.push_str("\nWhat the talk says of all benchmarks, and in what share of the predictions it comes out:\n");
    let mut drawn = table(style);
    drawn.set_header([
        "benchmark",
        "enforced idle saves more than offload",
        "combining adds 1 point at most",
        "offload is faster",
    ]);
    for claim in claims(run, energy) {
        let share = |key: &str| right(format!("{:.0} %", 100.0 * claim[key].as_f64().unwrap_or(0.0)));
        drawn.add_row([
            claim["benchmark"].as_str().unwrap_or_default().into(),
            share("enforced_idle_saves_more_than_offload"),
            share("both_save_at_most_1_point_more_than_the_better"),
            share("offload_is_faster_than_enforced_idle"),
        ]);
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
}

fn dosed(text: &mut String, run: &Run<'_>, style: Style) {
    let doses = doses(run);
    let Some(points) = doses.first().and_then(|first| first["points"].as_array()) else { return };
    let title = "Energy saved, in percent, at the central point with this many callbacks per second on each CPU, the median over its seeds:";
    text.push('\n');
    paragraph(text, title, ("", ""), PLAIN, style);
    let mut drawn = table(style);
    let heads = points.iter().map(|point| number_of(&point["callbacks_per_second_and_cpu"]));
    drawn.set_header(["benchmark", "configuration"].map(str::to_owned).into_iter().chain(heads));
    for row in &doses {
        let names = ["benchmark", "configuration"].map(|key| row[key].as_str().unwrap_or_default().into());
        let points = row["points"].as_array().map_or(&[][..], Vec::as_slice);
        let points = points.iter().map(|point| right(percent(point["energy_benefit_percent"].as_f64().unwrap_or(0.0))));
        drawn.add_row(names.into_iter().chain(points));
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
}

fn number_of(value: &Value) -> String {
    let value = value.as_f64().unwrap_or(0.0);
    if value.fract() == 0.0 { format!("{value:.0}") } else { number(value) }
}

fn explained(text: &mut String, run: &Run<'_>, energy: &Energy<'_>, style: Style) {
    text.push('\n');
    let title = "Settings that would give the published figure, all else at the central point, medians over its seeds:";
    paragraph(text, title, ("", ""), PLAIN, style);
    let mut drawn = table(style);
    drawn.set_header([
        "benchmark",
        "configuration",
        "published, %",
        "--set callbacks.rate=",
        "or --set transition=",
        "or, with --set transition=1024, --set callbacks.rate=",
    ]);
    for cell in explain(run.recording, energy) {
        let solution = |solution: &Solution| match solution {
            Solution::At { value, benefit } => format!("{value:.0} ({benefit:.2} %)"),
            Solution::Between(low, high) => format!("between {low:.0} and {high:.0}"),
            Solution::None { least, most } => format!("none: {least:.2} to {most:.2} %"),
            Solution::Unknown => "no curve".to_owned(),
        };
        let solutions = cell.solutions.iter().map(|of| right(solution(of)));
        let names = [cell.benchmark.into(), cell.configuration.into(), right(percent(cell.published))];
        drawn.add_row(names.into_iter().chain(solutions));
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
    let how =
        "To see one: stopwatt run rcu-energy --draws 0 --benchmarks NAME --set NAME=VALUE, which prints the median.";
    paragraph(text, how, ("", ""), PLAIN, style);
}

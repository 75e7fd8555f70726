//! `psci-latency` as JSON.

use crate::model::accuracy::accuracy;
use crate::model::compared::{Compared, Spread};
use crate::model::findings::Findings;
use crate::model::pictures::{Bar, Curve, Drawing, Figure, HeatMap, MeasurePicture, pictures};
use crate::model::told::Told;
use attribution::Cause;
use serde_json::{Map, Value, json};

/// The experiment's result for machines. Times are in microseconds.
///
/// `cells` are objects with `release`, `case`, `mode`, `cluster`, `core`, `role`, `metric`, `unit`, `published`, `simulated`,
/// `error_percent`, `used_in_fit` and `causes` (microseconds by cause, which add up to `simulated`).
pub fn psci_latency_json(compared: &[Compared], spreads: &[Spread], recording: Option<&std::path::Path>) -> Value {
    let cells: Vec<Value> = compared.iter().map(cell).collect();
    let accuracy: Vec<Value> = accuracy(compared)
        .iter()
        .map(|accuracy| {
            json!({
                "release": accuracy.release,
                "what": accuracy.what,
                "cells": accuracy.model.cells,
                "median_error_percent": accuracy.model.median_percent,
                "within_10_percent_or_1_us": accuracy.model.within,
                "worst_error_percent": accuracy.model.worst_percent,
                "intervals": accuracy.intervals.map(|intervals| json!({
                    "held": intervals.held,
                    "guess_held": intervals.guess_held,
                    "width_against_guess": intervals.width,
                })),
                "guess": accuracy.guess.map(|guess| json!({
                    "median_error_percent": guess.median_percent,
                    "within_10_percent_or_1_us": guess.within,
                    "worst_error_percent": guess.worst_percent,
                })),
            })
        })
        .collect();
    let spreads: Vec<Value> = spreads
        .iter()
        .map(|spread| {
            let ranks: Vec<Value> = spread
                .by_rank
                .iter()
                .map(|(min, median, max)| json!({ "min": min, "median": median, "max": max }))
                .collect();
            json!({
                "release": spread.variant,
                "case": spread.case,
                "seeds": spread.seeds,
                "orders": spread.orders,
                "powerdown_by_rank": ranks,
            })
        })
        .collect();
    json!({
        "experiment": "psci-latency",
        "recording": recording.map(|path| path.display().to_string()),
        "cells": cells,
        "accuracy": accuracy,
        "free_running": spreads,
    })
}

/// A recording for machines: [`psci_latency_json`] with its source, or for other experiments all measures.
pub fn json(findings: &Findings<'_>) -> Value {
    let header = &findings.recording.header;
    let mut value = match findings.compared.is_empty() {
        false => psci_latency_json(&findings.compared, &findings.spreads, Some(findings.folder.as_ref())),
        true => {
            let own = json!({ "experiment": header.experiment, "recording": findings.folder });
            with_story(own, findings)
        }
    };
    let measures: Vec<Value> = findings
        .measures
        .iter()
        .map(|row| {
            json!({
                "variant": row.variant, "case": row.case, "mode": row.mode, "cpu": row.cpu, "subject": row.subject,
                "metric": row.metric, "unit": row.unit, "values": row.count, "median": row.median, "min": row.min,
                "max": row.max,
            })
        })
        .collect();
    if let Some(object) = value.as_object_mut() {
        warn(object, findings);
    }
    let source: Map<String, Value> =
        findings.source().into_iter().map(|(what, fact)| (what.to_owned(), json!(fact))).collect();
    if let Some(object) = value.as_object_mut() {
        object.insert("source".to_owned(), Value::Object(source));
        object.insert("measures".to_owned(), Value::Array(measures));
        let pictures: Vec<Value> = pictures(findings).iter().map(picture).collect();
        if !pictures.is_empty() {
            object.insert("pictures".to_owned(), Value::Array(pictures));
        }
    }
    value
}

/// The keys of the experiment's own story beside these.
fn with_story(mut value: Value, findings: &Findings<'_>) -> Value {
    if let (Some(object), Some(Value::Object(story))) = (value.as_object_mut(), findings.told.as_ref().map(Told::json))
    {
        story.into_iter().for_each(|(key, told)| _ = object.entry(key).or_insert(told));
    }
    value
}

/// Adds `warnings` where something speaks against the figures.
pub(crate) fn warn(object: &mut Map<String, Value>, findings: &Findings<'_>) {
    let doubts = findings.doubts();
    if !doubts.is_empty() {
        object.insert("warnings".to_owned(), json!(doubts));
    }
}

/// A picture: `kind` is `bars`, `curves` or `heat-map`; a figure is an object with `value` and, where there is one, `published`.
fn picture(picture: &MeasurePicture) -> Value {
    let figure = |of: &Figure| match of.published {
        Some(published) => json!({ "value": of.value, "published": published }),
        None => json!({ "value": of.value }),
    };
    let mut value = json!({ "title": picture.title, "metric": picture.metric, "unit": picture.unit });
    let more = match &picture.drawing {
        Drawing::Bars(bars) => {
            let part = |(subject, of): &(String, Figure)| json!({ "subject": subject, "figure": figure(of) });
            let bar = |bar: &Bar| json!({ "name": bar.name, "parts": bar.parts.iter().map(part).collect::<Vec<_>>() });
            json!({ "kind": "bars", "bars": bars.iter().map(bar).collect::<Vec<_>>() })
        }
        Drawing::Curves { x, curves } => {
            let point = |(place, of): &(f64, Figure)| json!({ "x": place, "figure": figure(of) });
            let curve = |curve: &Curve| json!({ "name": curve.name, "points": curve.points.iter().map(point).collect::<Vec<_>>() });
            json!({ "kind": "curves", "x": x, "curves": curves.iter().map(curve).collect::<Vec<_>>() })
        }
        Drawing::HeatMap { x, y, maps } => {
            let line = |fields: &Vec<Option<Figure>>| fields.iter().map(|field| field.as_ref().map(figure)).collect();
            let map = |map: &HeatMap| {
                let fields: Vec<Vec<Option<Value>>> = map.fields.iter().map(line).collect();
                json!({ "name": map.name, "xs": map.xs, "ys": map.ys, "fields": fields })
            };
            json!({ "kind": "heat-map", "x": x, "y": y, "maps": maps.iter().map(map).collect::<Vec<_>>() })
        }
    };
    if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    value
}

fn cell(compared: &Compared) -> Value {
    let recorded = &compared.recorded;
    // A published cell is told in its own unit; what was recorded follows it.
    let published = compared.published.as_ref();
    let (unit, factor) = match published {
        Some(cell) if cell.unit == "ns" => ("ns", 1e3),
        _ => ("us", 1.0),
    };
    let mut causes = Map::new();
    for cause in Cause::ALL {
        if let Some(&ticks) = recorded.split.causes.get(&cause) {
            causes.insert(cause.name().to_owned(), json!(round(ticks as f64 * recorded.tick_us)));
        }
    }
    let waits: Vec<Value> = recorded
        .split
        .waits
        .iter()
        .map(|wait| {
            json!({
                "cause": wait.cause.name(),
                "on": wait.on,
                "holder": wait.holder,
                "us": round(wait.ticks as f64 * recorded.tick_us),
            })
        })
        .collect();
    json!({
        "release": recorded.variant,
        "case": recorded.case,
        "mode": recorded.mode,
        "cluster": published.map_or(recorded.cluster, |cell| cell.cluster),
        "core": published.map_or(recorded.core, |cell| cell.core),
        "cpu": recorded.cpu,
        "role": compared.role(),
        "metric": recorded.metric,
        "unit": unit,
        "published": published.map(|cell| cell.published),
        "simulated": round(recorded.value * factor),
        "error_percent": compared.error_percent(),
        "used_in_fit": compared.used_in_fit(),
        "interval": compared.interval.map(|(low, high)| [low, high]),
        "iterations": recorded.count,
        "min": round(recorded.min * factor),
        "max": round(recorded.max * factor),
        "causes": causes,
        "waits": waits,
    })
}

/// Picoseconds are exact enough, and read better than what binary fractions make of ticks.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

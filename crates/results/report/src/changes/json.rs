//! A comparison as JSON.

use super::PublishedChanges;
use comparison::{Basis, Comparison, Lack};
use itertools::Itertools;
use recording::stats::to_millionths;
use serde_json::{Map, Value, json};

/// A comparison for machines. Causes are in microseconds, all else in each row's unit.
///
/// `recordings` are the sides, the first being the base; `outcome` is `regression`, `no-regression`
/// or `cannot-be-judged`, or with `bounds` `held` or `exceeded`, and `in_common` what runs have in common; `rows` have `cells` (one a
/// recording: `n`, `value`, `min`, `max`) and `changes` (one a recording but the base).
/// `critical_paths` have for each table what its slowest CPU hangs on in each recording.
pub fn comparison_json(comparison: &Comparison, published: Option<&PublishedChanges>) -> Value {
    let name = |side: usize| &comparison.sides[side].name;
    let missing = comparison
        .missing
        .iter()
        .map(|of| {
            let lacks = match &of.lack {
                Lack::Row => json!("row"),
                Lack::Runs(has, runs) => json!({ "has_runs": has, "of": runs }),
                Lack::Unit(own, base) => json!({ "unit": own, "base_unit": base }),
            };
            json!({ "recording": name(of.side), "row": of.key.label(), "lacks": lacks })
        })
        .collect_vec();
    let odd_runs = comparison.odd_runs.iter().map(|of| {
        json!({ "recording": name(of.side), "run": of.run, "factor": of.factor, "rows": of.rows })
    });
    let conditions = comparison.conditions.iter().map(|of| {
        let table = of.table.as_ref().map(|[release, case, mode]| json!({ "release": release, "case": case, "mode": mode }));
        json!({ "condition": of.condition.name(), "recording": name(of.side), "values": of.values, "table": table })
    });
    let mut whole = json!({
        "recordings": comparison.sides,
        "warnings": comparison.warnings,
        "inputs_that_differ": comparison.differences,
        "threshold_percent": comparison.threshold,
        "alpha": comparison.alpha,
        "correction": "holm",
        "regression": comparison.has_regression(),
        "outcome": comparison.outcome().name(),
        "missing": missing,
        "stand_ins": comparison.stand_ins,
        "odd_runs": odd_runs.collect_vec(),
        "conditions": conditions.collect_vec(),
        "sessions": comparison.sessions.iter().map(|of| sessions(comparison, of)).collect_vec(),
        "in_common": comparison.shifts.iter().map(|shift| shift_json(comparison, shift)).collect_vec(),
        "rows": comparison.rows.iter().map(row).collect_vec(),
        "critical_paths": comparison.paths.iter().map(paths).collect_vec(),
        "functions": comparison.functions,
        "choices": comparison.choices,
        "published_changes": published,
    });
    if !comparison.bounds.is_empty() {
        whole["bounds"] = json!(comparison.bounds);
    }
    if let Some(of) = &comparison.on_board {
        whole["on_board"] = json!(of);
    }
    if !comparison.idle.is_empty() {
        whole["idle"] = comparison
            .idle
            .iter()
            .map(|test| idle(test, comparison.sides.len()))
            .collect();
    }
    whole
}

/// Two sessions of a board behind fitted costs.
fn sessions(comparison: &Comparison, of: &comparison::Sessions) -> Value {
    let moved = of
        .moved
        .iter()
        .map(|cost| json!({ "cost": cost.key, "us": cost.us }));
    json!({
        "recording": comparison.sides[of.side].name, "sessions": of.names, "board_costs_moved": moved.collect_vec(),
        "floors_percent": of.floors.iter().map(|(name, percent)| (name.join(" ").trim_start().to_owned(), json!(percent))).collect::<Map<_, _>>(),
        "granted_percent": of.granted, "bad_fits": of.bad_fits,
    })
}

/// What the rows of a measure have in common.
fn shift_json(comparison: &Comparison, shift: &comparison::Shift) -> Value {
    json!({
        "recording": comparison.sides[shift.side].name, "metric": shift.metric, "rows": shift.rows,
        "percent": shift.percent, "interval_percent": shift.interval, "p_corrected": shift.p, "verdict": shift.verdict.name(),
    })
}

/// A test of idle states: what each recording counted, and the changes against the base in points.
fn idle(test: &comparison::IdleTest, sides: usize) -> Value {
    let sums = (0..sides)
        .map(|side| {
            let [above, below, misses] = test.misses(side);
            json!({
                "entered": test.sums[side].map(|sum| sum.entered),
                "above_percent": above, "below_percent": below, "misses_percent": misses,
            })
        })
        .collect_vec();
    let changes = (1..sides)
        .map(|side| {
            let [above, below, misses] = test.changes(side);
            json!({ "above_points": above, "below_points": below, "misses_points": misses })
        })
        .collect_vec();
    json!({
        "release": test.variant, "case": test.case, "sums": sums, "changes": changes,
        "shares_of": if test.by_time { "idle time" } else { "entries" }, "states": test.states,
    })
}

/// The paths of a table's slowest CPUs, one a recording.
fn paths(table: &comparison::TablePaths) -> Value {
    let path = |path: &comparison::CriticalPath| {
        let parts: Map<String, Value> = path
            .parts
            .iter()
            .map(|(spent, us)| (spent.name().to_owned(), json!(to_millionths(*us))))
            .collect();
        json!({ "cpu": path.who.to_string(), "us": to_millionths(path.total()), "parts": parts })
    };
    json!({
        "release": table.table[0], "case": table.table[1], "mode": table.table[2], "metric": table.metric,
        "paths": table.paths.iter().map(|found| found.as_ref().map(path)).collect_vec(),
    })
}

fn row(row: &comparison::Row) -> Value {
    let changes = row
        .changes
        .iter()
        .map(|change| change.as_ref().map(change_json))
        .collect_vec();
    json!({
        "release": row.key.variant, "case": row.key.case, "mode": row.key.mode, "metric": row.key.metric, "row": row.key.row(),
        "unit": row.unit,
        "better": row.better,
        "cells": row.cells,
        "changes": changes,
    })
}

fn change_json(change: &comparison::Change) -> Value {
    let mut causes = Map::new();
    for cause in &change.causes {
        let value = json!({ "base": to_millionths(cause.base), "other": to_millionths(cause.other), "change": to_millionths(cause.absolute()) });
        causes.insert(cause.part.name().to_owned(), value);
    }
    let how = match change.basis {
        Basis::Exact => json!({ "kind": "exact" }),
        Basis::TooFew => json!({ "kind": "too-few-runs" }),
        Basis::Runs {
            p,
            interval,
            seen_from,
        } => json!({
            "kind": "runs", "test": "student", "p_corrected": p, "interval_percent": interval, "seen_from_percent": seen_from,
        }),
    };
    json!({
        "absolute": to_millionths(change.absolute), "percent": change.percent, "verdict": change.verdict.name(), "how": how,
        "causes_us": causes, "main_cause": change.main_cause().map(attribution::Cause::name),
    })
}

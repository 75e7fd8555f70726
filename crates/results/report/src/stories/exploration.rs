//! `explore psci` and `explore rcu`: what broke, and the schedule that breaks it.

use super::story::Story;
use crate::blocks::lanes::Lanes;
use crate::blocks::{Blocks, Picture, Table};
use findings::exploration::Exploration;
use itertools::Itertools;
use recording::facts;

/// The stretches and rows of the timeline.
const MOST_LANES: (usize, usize) = (4_000, 64);

impl Story for Exploration<'_> {
    fn tell(&self, told: &mut Blocks) {
        match self.schedule {
            Some(_) => schedule(self, told),
            None => nothing_found(self, told),
        }
    }
}

/// The reach of an exploration in which nothing broke.
fn nothing_found(explored: &Exploration<'_>, told: &mut Blocks) {
    let (schedules, operations) = (explored.schedules_tried, explored.operations_tried);
    let complete = explored
        .coverage
        .as_ref()
        .is_some_and(|coverage| coverage.complete);
    let reach = if complete {
        "Nothing was found, and no other run is possible within the search's bounds"
    } else {
        "Nothing was found; the search is not complete"
    };
    told.answer(format!(
        "{reach}. {schedules} schedules were tried, with {operations} operations."
    ));
    if let Some(coverage) = &explored.coverage {
        reached(coverage, told);
    }
}

/// The failure, its deviations in sentences, and how to run it again.
fn schedule(explored: &Exploration<'_>, told: &mut Blocks) {
    let operations = explored.operations.unwrap_or_default();
    if let Some(cause) = &explored.cause {
        told.answer(cause.clone());
    }
    for complaint in explored.complaints {
        told.answer(format!(
            "{} ({}).",
            complaint.trim_end_matches('.'),
            explored.invariant
        ));
    }
    told.answer(match explored.sentences.len() {
        0 => format!("The plainest run of this, {operations} operations, shows it."),
        1 => format!("It takes one deviation from the plainest run, in {operations} operations."),
        many => {
            format!("It takes {many} deviations from the plainest run, in {operations} operations.")
        }
    });
    let table = Table::with_rows(&explored.last)
        .words("who", |last| &last.who)
        .words("operation", |last| &last.operation)
        .words("does", |last| &last.does);
    told.table(table);
    let lanes = Lanes::from_recording(explored.source, MOST_LANES.0, MOST_LANES.1);
    if let Some(lanes) = lanes.into_iter().next() {
        told.picture(Picture::from(lanes));
    }
    told.list(&explored.scenario);
    let numbered = (1..).zip(&explored.sentences);
    told.list(numbered.map(|(number, sentence)| format!("{number}. {sentence}")));
    told.list_of(
        "What it saw there that others had stored, and that runs which break nothing hardly ever see:",
        &explored.causes,
    );
    let folder = explored.folder;
    told.list([
        format!("Again: `stopwatt explore replay {folder}`"),
        format!("Timeline: `stopwatt report {folder} -o timeline.html`"),
    ]);
}

/// An outcome that there should not be.
const OTHER: &str = "something else";

/// Branches that were never taken are named so often at most; the recording has all.
const NEVER_SHOWN: usize = 12;

/// What no run reached, a line each.
fn never_reached(coverage: &facts::Coverage, never: &[&facts::CoverageItem]) -> Vec<String> {
    let mut items = never
        .iter()
        .map(|reached| format!("{} {}", reached.of, reached.what).trim().to_owned())
        .collect_vec();
    let functions = coverage
        .never_called
        .iter()
        .map(|functions| format!("not called in {functions}"));
    items.extend(functions);
    let more = coverage.never_taken.len().saturating_sub(NEVER_SHOWN);
    items.extend(coverage.never_taken.iter().take(NEVER_SHOWN).cloned());
    if more > 0 {
        items.push(format!(
            "and {more} branches more, which the recording and --format json name"
        ));
    }
    items
}

/// The reach of the runs, and what lies beyond it.
fn reached(coverage: &facts::Coverage, told: &mut Blocks) {
    let never = coverage
        .counted
        .iter()
        .chain(&coverage.chosen)
        .filter(|reached| reached.count == 0 && reached.what != OTHER)
        .collect_vec();
    told.warning(format!(
        "In {} runs that were watched, {} of {} branches of the library were taken, and {} pairs of operations met in both orders; {} met in one order only.",
        coverage.watched, coverage.taken, coverage.branches, coverage.both_orders, coverage.one_order
    ));
    told.subheading("What was reached");
    let counted = coverage
        .counted
        .iter()
        .filter(|reached| reached.count > 0)
        .collect_vec();
    let table = Table::with_rows(&counted)
        .numbers("times", |reached| reached.count)
        .words("what", |reached| &reached.of)
        .words("came to", |reached| &reached.what);
    told.table(table);
    let chosen = coverage
        .chosen
        .iter()
        .filter(|reached| reached.count > 0)
        .collect_vec();
    let table = Table::with_rows(&chosen)
        .numbers("times", |reached| reached.count)
        .words("the machine chose that", |reached| &reached.what);
    told.table(table);
    told.list_of("Never reached:", never_reached(coverage, &never));
}

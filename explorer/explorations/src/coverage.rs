//! The reach of an exploration, as facts.

use crate::recorded::Recordable;
use explore::{Kind, TallyOf};
use recording::{Recording, facts};
use std::collections::BTreeMap;

/// Adds to a recording's facts what all runs of its exploration have reached.
pub fn add_coverage<S: Recordable>(recording: &mut Recording, tally: &TallyOf<S>) {
    let mut told: facts::Exploration = recording.header.facts().unwrap_or_default();
    told.coverage = Some(coverage::<S>(tally));
    recording.header.set_facts(&told);
}

/// The reach of an exploration's runs.
fn coverage<S: Recordable>(tally: &TallyOf<S>) -> facts::Coverage {
    let coverage = &tally.coverage;
    let item = |group: &str, of: &str, what: &str, count| facts::CoverageItem {
        group: group.to_owned(),
        of: of.to_owned(),
        what: what.to_owned(),
        count,
    };
    let counted = coverage.counted.iter().zip(&coverage.counts);
    let counted = counted.map(|(by, &count)| item(by.group, by.of, by.what, count));
    let chosen = Kind::ALL.iter().zip(coverage.chosen);
    let chosen =
        chosen.map(|(kind, count)| item("what the machine chose", "", kind.words(), count));
    let (both_orders, one_order): (Vec<bool>, Vec<bool>) = coverage.pairs().partition(|both| *both);
    let (never_called, never_taken) = never::<S>(&coverage.places);
    facts::Coverage {
        complete: tally.complete,
        schedules: tally.schedules,
        watched: coverage.watched,
        branches: coverage.places.len() as u64,
        taken: coverage.places_taken() as u64,
        both_orders: both_orders.len() as u64,
        one_order: one_order.len() as u64,
        counted: counted.collect(),
        chosen: chosen.collect(),
        never_called,
        never_taken,
    }
}

/// Functions that were never called, by file, and the branches of the others that were never taken.
fn never<S: Recordable>(reached: &[u64]) -> (Vec<String>, Vec<String>) {
    let mut called: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let (mut taken, mut inside) = (vec![], true);
    for (place, &count) in S::PLACES.iter().zip(reached) {
        if place.kind == "called" {
            inside = count > 0;
            if count == 0 {
                called.entry(place.file).or_default().push(place.function);
            }
        } else if inside && count == 0 {
            taken.push(format!(
                "{}:{} in {}, {}",
                place.file, place.line, place.function, place.kind
            ));
        }
    }
    (
        called
            .into_iter()
            .map(|(file, functions)| format!("{file}: {}", functions.join(", ")))
            .collect(),
        taken,
    )
}

//! Changes that a document prints beside its figures, and whether its own tables give them.

use attribution::lock_order_decides as by_rank;
use itertools::Itertools;
use published::{Cell, PsciReference};
use recording::metrics::POWERDOWN;
use recording::total_order;
use serde::Serialize;

/// The result of checking the printed changes of a release.
#[derive(Debug, PartialEq, Serialize)]
pub struct PublishedChanges {
    /// The release against which they would be.
    pub base: String,
    /// The release beside whose figures they are printed.
    pub other: String,
    /// The number of changes that are printed.
    pub printed: usize,
    /// The number of them that follow from the two tables, matched by label or by role.
    pub remade: usize,
    /// Those that do not.
    pub not_remade: Vec<PrintedChange>,
    /// Figures that changed by more than 2 % by label with nothing printed.
    #[serde(rename = "unprinted_above_2_percent")]
    pub silent: usize,
}

/// A printed change that cannot be re-made.
#[derive(Debug, PartialEq, Serialize)]
pub struct PrintedChange {
    /// Case, mode, metric and CPU.
    #[serde(rename = "row")]
    pub label: String,
    /// As printed, in percent.
    #[serde(rename = "printed_percent")]
    pub printed: f64,
    /// The figure that it is a change of, in microseconds: of a run that was not published.
    pub before_us: f64,
    /// The change in the tables for the same CPU, in percent.
    #[serde(rename = "by_label_percent")]
    pub by_label: Option<f64>,
    /// The change for the CPU of the same place in the lock order, where that decides.
    #[serde(rename = "by_role_percent")]
    pub by_role: Option<f64>,
}

/// Half of the last digit of a printed change, in percentage points.
const PRINTED_TO: f64 = 0.005;
/// A change of more than this that is not printed is counted.
const SILENT_ABOVE: f64 = 2.0;

/// Checks every change that the reference prints beside the figures of `other` against its figures
/// of `base`; `None` where nothing is printed or a release has no figures.
pub fn published_changes(
    reference: &PsciReference,
    base: &str,
    other: &str,
) -> Option<PublishedChanges> {
    let of = |release: &str| {
        reference
            .cells
            .iter()
            .filter(|cell| cell.release == release)
            .collect_vec()
    };
    let (before, after) = (of(base), of(other));
    let mut found = PublishedChanges {
        base: base.to_owned(),
        other: other.to_owned(),
        printed: after
            .iter()
            .filter(|cell| cell.printed_change_percent.is_some())
            .count(),
        remade: 0,
        not_remade: Vec::new(),
        silent: 0,
    };
    if before.is_empty() || found.printed == 0 {
        return None;
    }
    for cell in &after {
        let percent = |from: &Cell| (cell.value_us - from.value_us) / from.value_us * 100.0;
        let labelled = of_core(&before, cell, cell.core);
        let core = role(&after, cell).and_then(|place| order(&before, cell).get(place).copied());
        let in_role = core.and_then(|core| of_core(&before, cell, core));
        let (by_label, by_role) = (labelled.map(percent), in_role.map(percent));
        match cell.printed_change_percent {
            None => {
                found.silent +=
                    usize::from(by_label.is_some_and(|percent| percent.abs() > SILENT_ABOVE))
            }
            Some(printed) => {
                let agrees = |from: &Cell| (percent(from) - printed).abs() <= rounding(from, cell);
                if labelled.is_some_and(agrees) || in_role.is_some_and(agrees) {
                    found.remade += 1;
                } else {
                    let label = format!(
                        "{} {}, {}, {}.{}",
                        cell.case, cell.mode, cell.metric, cell.cluster, cell.core
                    );
                    found.not_remade.push(PrintedChange {
                        label,
                        printed,
                        before_us: cell.value_us / (1.0 + printed / 100.0),
                        by_label,
                        by_role,
                    });
                }
            }
        }
    }
    Some(found)
}

/// The error that a printed change may have, in percentage points, because both figures and the
/// change itself were rounded.
fn rounding(from: &Cell, to: &Cell) -> f64 {
    let share =
        to.resolution_us / from.value_us + to.value_us * from.resolution_us / from.value_us.powi(2);
    share * 100.0 + PRINTED_TO
}

fn same_table(a: &Cell, b: &Cell) -> bool {
    (&a.case, &a.mode, a.cluster) == (&b.case, &b.mode, b.cluster)
}

fn of_core<'c>(cells: &[&'c Cell], like: &Cell, core: u16) -> Option<&'c Cell> {
    cells
        .iter()
        .copied()
        .find(|cell| same_table(cell, like) && cell.core == core && cell.metric == like.metric)
}

/// Cores of the cell's cluster by powerdown, shortest first.
fn order(cells: &[&Cell], like: &Cell) -> Vec<u16> {
    let mut down = cells
        .iter()
        .filter(|cell| same_table(cell, like) && cell.metric == POWERDOWN.name)
        .collect_vec();
    down.sort_by_key(|of| total_order(of.value_us));
    down.iter().map(|cell| cell.core).collect()
}

/// Place of the cell's CPU in the lock order of its cluster, where that decides.
fn role(cells: &[&Cell], cell: &Cell) -> Option<usize> {
    let mut order = order(cells, cell).into_iter();
    order
        .position(|core| core == cell.core)
        .filter(|_| by_rank(&cell.case, &cell.mode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::Folder;
    use std::path::Path;

    #[test]
    fn no_printed_change_of_v2_12_follows_from_the_table_of_v2_11() {
        let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/published");
        let mut reference = PsciReference::read(&Folder(files), "juno-psci.toml").unwrap();
        let found = published_changes(&reference, "juno-v2.11", "juno-v2.12").unwrap();
        assert_eq!(
            (found.printed, found.remade, found.not_remade.len()),
            (21, 0, 21)
        );
        assert_eq!(found.silent, 51);
        assert_eq!(
            published_changes(&reference, "juno-v2.12", "juno-2017"),
            None,
            "2017 prints no changes"
        );

        // One that is right is found to be right, by label and by role.
        let chosen = |cell: &Cell, release: &str, core: u16| {
            (
                cell.release.as_str(),
                cell.case.as_str(),
                cell.mode.as_str(),
                cell.metric.as_str(),
                cell.cluster,
                cell.core,
            ) == (release, "suspend-level0", "parallel", "powerdown", 1, core)
        };
        let value = |core| {
            reference
                .cells
                .iter()
                .find(|cell| chosen(cell, "juno-v2.11", core))
                .unwrap()
                .value_us
        };
        // In v2.11 core 1 was the first of its cluster, in v2.12 core 0 is.
        let (label, role) = (value(0), value(1));
        for from in [label, role] {
            let cell = reference
                .cells
                .iter_mut()
                .find(|cell| chosen(cell, "juno-v2.12", 0))
                .unwrap();
            cell.printed_change_percent = Some((cell.value_us - from) / from * 100.0);
            let found = published_changes(&reference, "juno-v2.11", "juno-v2.12").unwrap();
            assert_eq!((found.printed, found.remade), (21, 1));
        }
    }
}

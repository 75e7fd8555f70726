//! The fit of the modelled core sees the cells that the reference declares as usable, and no
//! others.

use calibrate::{usable_cells, usable_strides};
use dataplane_experiments::fit::{Costs, STARTS, fit};
use dataplane_experiments::platform::{CorePlatform, CostsFile};
use experiment::Folder;
use published::{PsciReference, StrideReference};
use std::path::{Path, PathBuf};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn platform() -> CorePlatform {
    CorePlatform::read(&Folder(data().join("data/platforms")), "macchiatobin").unwrap()
}

fn reference() -> StrideReference {
    StrideReference::find(&Folder(data().join("data/published")))
        .unwrap()
        .unwrap()
}

/// Far from the best costs: enough to see what the search follows.
fn costs_after_a_short_fit(reference: &StrideReference) -> Costs {
    let mut used = usable_strides(&platform(), reference);
    for cell in &mut used {
        cell.effort.frames = 5;
    }
    fit(platform().hardware(), &used, &STARTS, 15).costs
}

fn scaled(loops: &[&str], factor: f64) -> StrideReference {
    let mut reference = reference();
    for cell in reference
        .cells
        .iter_mut()
        .filter(|cell| loops.contains(&cell.loop_name.as_str()))
    {
        cell.ticks *= factor;
    }
    reference
}

#[test]
fn a_fit_sees_the_single_loop_column_and_nothing_else() {
    let reference = reference();
    let usable: Vec<String> = reference
        .cells
        .iter()
        .filter(|cell| cell.may_be_fitted)
        .map(|cell| cell.label())
        .collect();
    assert_eq!(
        (usable.len(), usable_strides(&platform(), &reference).len()),
        (10, 10)
    );
    assert!(
        usable.iter().all(|label| label.starts_with("single+")),
        "{usable:?}"
    );
    assert_eq!(
        CostsFile::read(&Folder(data().join("data/platforms")), "macchiatobin")
            .unwrap()
            .fit
            .used,
        usable
    );
}

#[test]
fn scaling_a_cell_that_no_fit_uses_changes_no_cost() {
    assert_eq!(
        costs_after_a_short_fit(&scaled(&["dual", "single-split"], 1.5)),
        costs_after_a_short_fit(&reference())
    );
}

#[test]
fn scaling_the_cells_that_the_fit_uses_changes_the_costs() {
    let (before, after) = (
        costs_after_a_short_fit(&reference()),
        costs_after_a_short_fit(&scaled(&["single"], 1.1)),
    );
    assert!(after.work > before.work * 1.02, "{before:?} {after:?}");
}

#[test]
fn no_figure_is_among_the_conditions_that_a_prediction_is_told() {
    let conditions = |reference: &StrideReference| {
        let mut conditions = experiment::Conditions::default();
        reference.conditions(&mut conditions);
        conditions
    };
    assert_eq!(
        conditions(&scaled(&["single", "dual", "single-split"], 3.0)),
        conditions(&reference())
    );
    assert_eq!(
        conditions(&reference())
            .get("stride-cells", &["macchiatobin"])
            .len(),
        25
    );
}

#[test]
fn a_fit_of_a_release_sees_the_declared_cells_and_no_figure_of_the_others() {
    let read = |factor: f64| {
        let mut reference =
            PsciReference::read(&Folder(data().join("data/published")), "juno-psci.toml").unwrap();
        for cell in reference.cells.iter_mut().filter(|cell| !cell.used_in_fit) {
            cell.published *= factor;
            cell.value_us *= factor;
        }
        reference
    };
    let (before, after) = (read(1.0), read(1.5));
    for release in ["juno-2017", "juno-v2.11", "juno-v2.12"] {
        let cells = usable_cells(release, &before);
        assert_eq!(cells, usable_cells(release, &after), "{release}");
        assert!(
            cells.len() > 20
                && cells
                    .iter()
                    .all(|cell| cell.release == release && cell.used_in_fit),
            "{release}"
        );
    }
}

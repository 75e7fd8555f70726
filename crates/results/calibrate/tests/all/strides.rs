//! The fit of the modelled core sees the cells that the reference declares as usable, and no
//! others.

use calibrate::usable_cells;
use dataplane_experiments::platform::CostsFile;
use experiment::Folder;
use published::{PsciReference, StrideReference};
use std::path::{Path, PathBuf};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn reference() -> StrideReference {
    StrideReference::find(&Folder(data().join("data/published")))
        .unwrap()
        .unwrap()
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
fn the_fit_of_the_modelled_core_used_the_single_loop_column_alone() {
    let reference = reference();
    let usable: Vec<String> = reference
        .cells
        .iter()
        .filter(|cell| cell.may_be_fitted)
        .map(|cell| cell.label())
        .collect();
    assert_eq!(usable.len(), 10);
    assert!(
        usable.iter().all(|label| label.starts_with("single+")),
        "{usable:?}"
    );
    let folder = Folder(data().join("data/platforms"));
    let fit = CostsFile::read(&folder, "macchiatobin").unwrap().fit;
    let used = fit["used"].as_array().unwrap().iter();
    assert_eq!(
        used.map(|cell| cell.as_str().unwrap()).collect::<Vec<_>>(),
        usable
    );
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

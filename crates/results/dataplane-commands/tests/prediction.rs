//! The stride study on the modelled core: accuracy, honesty of the fit, sameness.

use std::fs;
use std::path::{Path, PathBuf};

use dataplane_commands::data::{CorePlatform, read_costs, read_published};
use dataplane_commands::prefetch::{Prediction, predict, print_prediction};
use dataplane_experiments::fit::{Costs, fit};
use dataplane_experiments::model::Effort;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

const EFFORT: Effort = Effort { frame_size: 256, frames: 200, seed: 1 };

fn score(prediction: &Prediction, loop_name: &str, predictor: &str) -> f64 {
    let score = prediction.scores.iter().find(|s| s.loop_name == loop_name && s.predictor == predictor);
    score.unwrap_or_else(|| panic!("no score of {predictor} for {loop_name}")).rms_percent
}

#[test]
fn the_tables_are_predicted_as_well_as_promised() {
    let prediction = predict(&data(), "macchiatobin", EFFORT).unwrap();
    let text = print_prediction(&prediction);
    assert!(score(&prediction, "single", "model") <= 1.0, "{text}");
    assert!(score(&prediction, "dual", "model") <= 5.0, "{text}");
    assert!(score(&prediction, "single-split", "model") <= 6.0, "{text}");
    assert!(score(&prediction, "dual", "model") < score(&prediction, "dual", "dual(k) = single(2k)"), "{text}");
    for best in prediction.best.iter().filter(|b| b.loop_name != "single-split") {
        assert!(best.cost_percent <= 1.0, "{text}");
    }
}

#[test]
fn another_seed_tells_the_same_story() {
    for seed in [2, 3] {
        let prediction = predict(&data(), "macchiatobin", Effort { seed, ..EFFORT }).unwrap();
        assert!(score(&prediction, "single", "model") <= 1.5, "seed {seed}");
        assert!(score(&prediction, "dual", "model") <= 5.0, "seed {seed}");
        assert!(score(&prediction, "single-split", "model") <= 6.5, "seed {seed}");
    }
}

#[test]
fn the_seventh_prefetch_of_a_burst_is_the_first_that_waits() {
    let burst = predict(&data(), "macchiatobin", EFFORT).unwrap().burst_of_eight;
    assert!(burst[..6].iter().all(|blocked| *blocked == 0.0), "{burst:?}");
    assert!(burst[6] > 0.2, "{burst:?}");
}

#[test]
fn a_fit_sees_the_single_loop_column_and_nothing_else() {
    let used: Vec<String> =
        read_published(&data()).unwrap().iter().filter(|c| c.used(80.0).is_some()).map(|c| c.label()).collect();
    assert_eq!(used.len(), 10);
    assert!(used.iter().all(|label| label.starts_with("single+")), "{used:?}");
    assert_eq!(read_costs(&data(), "macchiatobin").unwrap().fit.used, used);
}

/// No experiment can reach a published figure: the crates that predict do not depend on the one that reads references.
#[test]
fn what_predicts_cannot_read_references() {
    for name in ["worlds/core-model", "code/dataplane", "experiments/dataplane"] {
        let folder = data().join("crates").join(name);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for forbidden in ["dataplane-commands", "published"] {
            assert!(!manifest.contains(forbidden), "{name} depends on {forbidden}");
        }
        for file in fs::read_dir(folder.join("src")).unwrap() {
            let path = file.unwrap().path();
            if path.is_file() {
                let text = fs::read_to_string(&path).unwrap();
                assert!(!text.contains("published/"), "{} names the published figures", path.display());
            }
        }
    }
}

/// A copy of the data folder in which the clocks of some loops' published cells are multiplied.
fn scaled(name: &str, loops: &[&str], factor: f64) -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    for file in [
        "platforms/macchiatobin.toml",
        "platforms/macchiatobin/costs/prefetch.toml",
        "published/dataplane-prefetch.toml",
    ] {
        let to = scratch.join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(data().join(file), to).unwrap();
    }
    let csv = fs::read_to_string(data().join("published/dataplane-prefetch.csv")).unwrap();
    let scaled: Vec<String> = csv
        .lines()
        .map(|line| match line.rsplit_once(',') {
            Some((rest, clocks)) if loops.contains(&line.split(',').next().unwrap()) => {
                format!("{rest},{}", clocks.parse::<f64>().unwrap() * factor)
            }
            _ => line.to_owned(),
        })
        .collect();
    fs::write(scratch.join("published/dataplane-prefetch.csv"), scaled.join("\n")).unwrap();
    scratch
}

#[test]
fn scaling_a_cell_that_no_fit_uses_changes_neither_costs_nor_predictions() {
    let scratch = scaled("unused", &["dual", "single-split"], 1.5);
    let effort = Effort { frames: 20, ..EFFORT };
    let clocks =
        |prediction: Prediction| prediction.cells.iter().map(|c| c.clocks_per_packet.to_bits()).collect::<Vec<_>>();
    let (ours, theirs) = (predict(&data(), "macchiatobin", effort), predict(&scratch, "macchiatobin", effort));
    assert_eq!(clocks(ours.unwrap()), clocks(theirs.unwrap()));
    assert_eq!(costs_after_a_short_fit(&scratch), costs_after_a_short_fit(&data()));
    fs::remove_dir_all(scratch).unwrap();
}

#[test]
fn scaling_the_cells_that_the_fit_uses_changes_the_costs() {
    let scratch = scaled("used", &["single"], 1.1);
    let (before, after) = (costs_after_a_short_fit(&data()), costs_after_a_short_fit(&scratch));
    assert!(after.work > before.work * 1.02, "{before:?} {after:?}");
    fs::remove_dir_all(scratch).unwrap();
}

/// Far from the best costs: enough to see what the search follows.
fn costs_after_a_short_fit(data: &Path) -> Costs {
    let platform = CorePlatform::read(data, "macchiatobin").unwrap();
    let used: Vec<_> =
        read_published(data).unwrap().iter().filter_map(|cell| cell.used(platform.cycles_per_tick())).collect();
    fit(platform.hardware(), &used, Effort { frames: 5, ..EFFORT }, 15).costs
}

#[test]
fn a_wrong_platform_is_refused_with_file_and_line() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("platform-{}", std::process::id()));
    fs::create_dir_all(scratch.join("platforms")).unwrap();
    let text = fs::read_to_string(data().join("platforms/macchiatobin.toml")).unwrap();
    let said = |text: &str| {
        fs::write(scratch.join("platforms/p.toml"), text).unwrap();
        CorePlatform::read(&scratch, "p").unwrap_err().to_string()
    };
    let unknown = said(&text.replace("count = 6", "number = 6"));
    assert!(unknown.contains("p.toml") && unknown.contains("line") && unknown.contains("number"), "{unknown}");
    let none = said(&text.replace("count = 6", "count = 0"));
    assert!(none.contains("must be 1 or more"), "{none}");
    assert!(CorePlatform::read(&scratch, "nowhere").unwrap_err().to_string().contains("nowhere.toml"));
    fs::remove_dir_all(scratch).unwrap();
}

//! A fit to measured studies sees their single loops and nothing else, and finds what made them.

use calibrate::{MeasuredCell, MeasuredStudy, Search, belong_together, fit_studies, predict};
use dataplane::walk::{Shape, Strides};
use dataplane_experiments::fit::Costs;
use dataplane_experiments::model::{Cell, Effort, run};
use dataplane_experiments::places::{CacheLevel, CacheLevels};
use dataplane_experiments::platform::CorePlatform;
use experiment::Folder;
use std::path::Path;

const MADE_WITH: Costs = Costs {
    work: 130.0,
    window: 60.0,
    dram: 300.0,
    dram_spread: 200.0,
    translation: 120.0,
};
const SEARCH: Search = Search {
    frames: 1,
    rounds: 8,
};

fn platform() -> CorePlatform {
    CorePlatform::read(
        &Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms")),
        "zen5",
    )
    .unwrap()
}

/// The study that a core of known costs would have measured.
fn study(name: &str, places: CacheLevels) -> MeasuredStudy {
    let platform = platform();
    let effort = Effort {
        frame_size: 256,
        frames: 2,
        seed: 1,
        places,
        touched: true,
    };
    let cell = |loop_name: &str, shape, header, data| {
        let cell = Cell {
            shape,
            strides: Strides { header, data },
        };
        let ticks = run(MADE_WITH.on(platform.hardware()), cell, effort).cycles_per_packet / 2.0;
        MeasuredCell {
            loop_name: loop_name.to_owned(),
            cell,
            ticks,
        }
    };
    let single = (0..=10).map(|stride| cell("single", Shape::Single, stride, stride));
    let dual = (0..=5).map(|stride| cell("dual", Shape::Dual, stride, stride));
    let split = [
        cell("single-split", Shape::Single, 1, 8),
        cell("single-split", Shape::Single, 2, 13),
    ];
    MeasuredStudy {
        name: name.to_owned(),
        cells: single.chain(dual).chain(split).collect(),
        places,
        frame_size: 256,
        work: "48 rounds, chained".to_owned(),
        counter_hz: platform.core.hz / 2,
    }
}

fn near() -> CacheLevels {
    CacheLevels {
        header: CacheLevel::L2,
        data: CacheLevel::L2,
    }
}

#[test]
fn a_fit_finds_what_made_the_single_loops_and_predicts_the_others() {
    let studies = [study("cold", CacheLevels::COLD), study("near", near())];
    let fit = fit_studies(
        &platform(),
        &studies,
        Search {
            frames: 2,
            rounds: 60,
        },
    );
    assert_eq!(fit.used, 22);
    assert!(fit.rms < 0.02, "{fit:?}");
    let predicted = predict(
        &fit,
        &studies[0],
        Search {
            frames: 2,
            rounds: 1,
        },
    );
    let score = |name| {
        predicted
            .scores
            .iter()
            .find(|score| score.loop_name == name)
            .unwrap()
    };
    assert!(
        score("dual").model < 4.0 && score("dual").model_wins(),
        "{predicted:?}"
    );
    assert_eq!(score("dual").trivial[1].0, "single(2k)");
    assert_eq!(score("single-split").trivial[1].0, "single(min(S2, 10))");
}

#[test]
fn cells_of_other_loops_change_no_cost_and_cells_of_the_single_loop_do() {
    let fitted = |loops: &[&str], factor: f64| {
        let mut study = study("cold", CacheLevels::COLD);
        for cell in study
            .cells
            .iter_mut()
            .filter(|cell| loops.contains(&cell.loop_name.as_str()))
        {
            cell.ticks *= factor;
        }
        fit_studies(&platform(), &[study], SEARCH).costs
    };
    assert_eq!(fitted(&["dual", "single-split"], 3.0), fitted(&[], 1.0));
    assert_ne!(fitted(&["single"], 1.2), fitted(&[], 1.0));
}

#[test]
fn studies_of_different_work_are_not_of_one_core() {
    let (one, mut other) = (study("one", CacheLevels::COLD), study("other", near()));
    assert_eq!(belong_together(&[one.clone(), other.clone()]), Ok(()));
    other.work = "24 rounds, chained".to_owned();
    let error = belong_together(&[one, other]).unwrap_err().to_string();
    assert_eq!(
        error,
        "other: its work per packet: 24 rounds, chained; that of one: 48 rounds, chained"
    );
}

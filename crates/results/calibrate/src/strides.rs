//! Fits the modelled core to the stride study's declared cells.

use dataplane::walk::{Shape, Strides};
use dataplane_experiments::fit::{self, Costs, UsedCell};
use dataplane_experiments::model::{Cell, Effort};
use dataplane_experiments::places::CacheLevels;
use dataplane_experiments::platform::{CorePlatform, CostsFile, FitTable};
use published::{STRIDES, StrideCell, StrideReference};

/// Effort with which a fit runs the cells of the slides: an earlier node has touched the metadata.
const EFFORT: Effort = Effort {
    frame_size: 256,
    frames: 160,
    seed: 1,
    places: CacheLevels::RECEIVED,
    touched: true,
};
/// Steps of a fit's search.
const FIT_ROUNDS: usize = 120;

/// The cells that a fit may use, with the core cycles that were measured.
pub fn usable_strides(platform: &CorePlatform, reference: &StrideReference) -> Vec<UsedCell> {
    reference
        .cells
        .iter()
        .filter(|cell| cell.may_be_fitted)
        .map(|cell| {
            let shape = if cell.loop_name == "dual" {
                Shape::Dual
            } else {
                Shape::Single
            };
            let strides = Strides {
                header: cell.stride_first,
                data: cell.stride_second,
            };
            UsedCell {
                cell: Cell { shape, strides },
                cycles_per_packet: cell.ticks * platform.cycles_per_tick(),
                effort: EFFORT,
            }
        })
        .collect()
}

/// Fits the platform's costs to the cells that the reference declares, and returns the content of
/// the costs file; `None` where it declares none.
pub fn fit_strides(platform: &CorePlatform, reference: &StrideReference) -> Option<CostsFile> {
    let used = usable_strides(platform, reference);
    if used.is_empty() {
        return None;
    }
    let hardware = platform.hardware();
    let found = fit::fit(hardware, &used, &fit::STARTS, FIT_ROUNDS);
    let mut cannot_tell = Vec::new();
    for (what, direction) in [
        ("work and window together", [1.0, 1.0, 0.0, 0.0, 0.0]),
        ("window alone", [0.0, 1.0, 0.0, 0.0, 0.0]),
        ("dram_spread alone", [0.0, 0.0, 0.0, 1.0, 0.0]),
        (
            "dram against translation, their sum held",
            [0.0, 0.0, 1.0, 0.0, -1.0],
        ),
        (
            "dram against dram_spread, their sum held",
            [0.0, 0.0, 1.0, -1.0, 0.0],
        ),
    ] {
        let (down, up) = fit::freedom(hardware, &found, direction, &used);
        cannot_tell.push(format!(
            "{what}: -{down} to +{up} cycles fit alike (rms within a tenth)"
        ));
    }
    for (costs, rms) in &found.others {
        let values: Vec<String> = Costs::NAMES
            .iter()
            .zip(costs.values())
            .map(|(name, value)| format!("{name} {value:.0}"))
            .collect();
        cannot_tell.push(format!(
            "another valley, rms {:.2} %: {}",
            rms * 100.0,
            values.join(", ")
        ));
    }
    for count in [4, 5, 8, 12] {
        let hardware = core_model::Parameters {
            fill_buffers: count,
            ..hardware
        };
        let rms = fit::rms(hardware, found.costs, &used);
        cannot_tell.push(format!(
            "{count} fill buffers, others held: rms {:.2} %",
            rms * 100.0
        ));
    }
    let cycles = found.costs.rounded();
    Some(CostsFile {
        cycles,
        fit: FitTable {
            reference: STRIDES.to_owned(),
            used: reference
                .cells
                .iter()
                .filter(|cell| cell.may_be_fitted)
                .map(StrideCell::label)
                .collect(),
            rms_percent: (fit::rms(hardware, cycles, &used) * 1e4).round() / 100.0,
            cannot_tell,
        },
    })
}

//! Fits a core to the single loops of stride studies that were measured on a machine, and predicts
//! the other loops.

use core_model::Parameters;
use dataplane::walk::Shape;
use dataplane_experiments::fit::{self, Costs, UsedCell};
use dataplane_experiments::model::{Cell, Effort, run};
use dataplane_experiments::places::{CacheLevel, CacheLevels};
use dataplane_experiments::platform::{CorePlatform, CostsFile, FitTable};
use recording::{Recording, metrics, stats};

/// Why a recording is no study that a core can be fitted to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {message}")]
pub struct StudyError {
    /// The recording, as it was given.
    pub name: String,
    /// The error.
    pub message: String,
    /// The advice: what would be right.
    pub help: String,
}

/// A cell of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredCell {
    /// Loop of the cell: `single`, `dual`, `quad`, `single-split`.
    pub loop_name: String,
    /// The loop and its strides.
    pub cell: Cell,
    /// Median of the ticks per packet.
    pub ticks: f64,
}

/// A stride study as it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredStudy {
    /// As it was given.
    pub name: String,
    /// Cells of the stride study, in the recording's order.
    pub cells: Vec<MeasuredCell>,
    /// The places of lines.
    pub places: CacheLevels,
    /// Packets of a frame.
    pub frame_size: usize,
    /// The packets' work: `48 rounds, chained`.
    pub work: String,
    /// Ticks of the counter per second.
    pub counter_hz: u64,
}

/// Fewest cells of a single loop for a fit of five costs.
const FEWEST: usize = 6;

fn wrong(name: &str, message: String, help: &str) -> StudyError {
    StudyError {
        name: name.to_owned(),
        message,
        help: help.to_owned(),
    }
}

/// The loop of a subject, as the model has it, with its name.
fn cell_of<'r>(recording: &'r Recording, subject: &str) -> Result<(&'r str, Cell), String> {
    let at = recording.header.coordinates.get(subject);
    let number = |key: &str| usize::try_from(at?.get(key)?.as_integer()?).ok();
    let loop_name = at.and_then(|at| at.get("loop")?.as_str());
    let (Some(loop_name), Some(header), Some(data)) =
        (loop_name, number("stride_first"), number("stride_second"))
    else {
        return Err(format!("does not say which loop `{subject}` is"));
    };
    let shape: Shape = loop_name.trim_end_matches("-split").parse()?;
    let strides = dataplane::walk::Strides { header, data };
    Ok((loop_name, Cell { shape, strides }))
}

/// The cells of a study, each with the median of its repetitions.
fn measured_cells(name: &str, recording: &Recording) -> Result<Vec<MeasuredCell>, StudyError> {
    let wrong = |message: String, help: &str| wrong(name, message, help);
    let mut found: Vec<(String, Cell, Vec<f64>)> = Vec::new();
    for measure in recording.measures() {
        let (_, case, layout) = recording.series_texts(measure.series);
        let Some(subject) = measure.subject.map(|subject| recording.text(subject)) else {
            continue;
        };
        if case != "prefetch" || recording.text(measure.metric) != metrics::CLOCKS_PER_PACKET.name {
            continue;
        }
        if layout != "in-buffer" {
            let message =
                "has its metadata in the frame's lanes, and the modelled loops have a line for it";
            return Err(wrong(message.to_owned(), "a study without --in-frame"));
        }
        let (loop_name, cell) =
            cell_of(recording, subject).map_err(|what| wrong(what, "record it anew"))?;
        if !(measure.value.is_finite() && measure.value > 0.0) {
            return Err(wrong(
                format!("`{subject}` took {} ticks", measure.value),
                "record it anew",
            ));
        }
        match found
            .iter_mut()
            .find(|(name, known, _)| name == loop_name && *known == cell)
        {
            Some((_, _, values)) => values.push(measure.value),
            None => found.push((loop_name.to_owned(), cell, vec![measure.value])),
        }
    }
    Ok(found
        .into_iter()
        .filter_map(|(loop_name, cell, values)| {
            Some(MeasuredCell {
                loop_name,
                cell,
                ticks: stats::median(&values)?,
            })
        })
        .collect())
}

impl MeasuredStudy {
    /// Reads a recording of `stopwatt run prefetch` on a host, which goes by `name` in errors.
    ///
    /// # Errors
    /// What the recording is instead, or what it lacks.
    pub fn from_recording(name: &str, recording: &Recording) -> Result<Self, StudyError> {
        let wrong = |message: String, help: &str| wrong(name, message, help);
        let header = &recording.header;
        if (header.experiment.as_str(), header.world.as_str()) != ("prefetch", "host") {
            let is = format!(
                "is a recording of `{}` in the world {}",
                header.experiment, header.world
            );
            return Err(wrong(
                is,
                "a recording of `stopwatt run prefetch --world host`",
            ));
        }
        let setting = |key: &str| header.settings.get(key).map(String::as_str);
        let frame_size = setting("frame_size").and_then(|text| text.parse().ok());
        let frame_size = frame_size.filter(|size| (1..=dataplane::frame::FRAME_MAX).contains(size));
        let (Some(frame_size), Some(counter_hz)) =
            (frame_size, header.time.counter_hz.filter(|hz| *hz > 0))
        else {
            return Err(wrong(
                "does not say its frame size and its counter's frequency".to_owned(),
                "record it anew",
            ));
        };
        let place = |key| match setting(key) {
            Some("l2") => Ok(CacheLevel::L2),
            None | Some("dram") => Ok(CacheLevel::Dram),
            Some(other) => Err(wrong(
                format!("{key} is {other}, which the modelled core has not"),
                "l2 or dram",
            )),
        };
        let places = CacheLevels {
            header: place("header_in")?,
            data: place("data_in")?,
        };
        let work = format!(
            "{} rounds, {}",
            setting("rounds").unwrap_or("0"),
            setting("work").unwrap_or("chained")
        );
        let cells = measured_cells(name, recording)?;
        let singles = cells
            .iter()
            .filter(|cell| cell.loop_name == "single")
            .count();
        if singles < FEWEST {
            let message = format!(
                "has {singles} cells of the single loop, and five costs are fitted to them"
            );
            return Err(wrong(message, "a whole study"));
        }
        Ok(Self {
            name: name.to_owned(),
            cells,
            places,
            frame_size,
            work,
            counter_hz,
        })
    }

    /// `metadata in dram, data in l2`.
    pub fn conditions(&self) -> String {
        format!(
            "metadata in {}, data in {}",
            self.places.header.name(),
            self.places.data.name()
        )
    }

    fn effort(&self, frames: usize) -> Effort {
        Effort {
            frame_size: self.frame_size,
            frames,
            seed: 1,
            places: self.places,
            touched: true,
        }
    }
}

/// Says what keeps studies from being of one core that does one kind of work.
///
/// # Errors
/// Two studies differ in the work, in the frame size or in the counter.
pub fn belong_together(studies: &[MeasuredStudy]) -> Result<(), StudyError> {
    let Some((first, others)) = studies.split_first() else {
        return Ok(());
    };
    for other in others {
        // A counter whose frequency is measured differs by some tenths of a thousandth from run to
        // run.
        let same_counter = (other.counter_hz as f64 / first.counter_hz as f64 - 1.0).abs() < 0.001;
        let pairs = [
            (
                "work per packet",
                first.work.clone(),
                other.work.clone(),
                first.work == other.work,
            ),
            (
                "packets of a frame",
                first.frame_size.to_string(),
                other.frame_size.to_string(),
                first.frame_size == other.frame_size,
            ),
            (
                "counter's frequency",
                first.counter_hz.to_string(),
                other.counter_hz.to_string(),
                same_counter,
            ),
        ];
        if let Some((what, one, two, _)) = pairs.into_iter().find(|(.., same)| !same) {
            return Err(StudyError {
                name: other.name.clone(),
                message: format!("its {what}: {two}; that of {}: {one}", first.name),
                help: "studies of one machine that differ only in where lines lie before a frame"
                    .to_owned(),
            });
        }
    }
    Ok(())
}

/// The thoroughness of a fit's search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// Frames of a run.
    pub frames: usize,
    /// Steps from each start.
    pub rounds: usize,
}

impl Search {
    /// The effort that is used unless a test is in a hurry.
    pub const USUAL: Self = Self {
        frames: 16,
        rounds: 120,
    };
}

/// A core that was fitted to the single loops of studies.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyFit {
    /// Costs in cycles of the platform's core.
    pub costs: Costs,
    /// Root mean square of the relative errors over the used cells.
    pub rms: f64,
    /// Cells that were used.
    pub used: usize,
    /// Costs to which the other starts of the search led, each with its error.
    pub others: Vec<(Costs, f64)>,
    hardware: Parameters,
    cycles_per_second: f64,
}

impl StudyFit {
    /// The content of a costs file: the fit to these studies.
    pub fn costs_file(&self, studies: &[MeasuredStudy]) -> CostsFile {
        let names: Vec<&str> = studies.iter().map(|study| study.name.as_str()).collect();
        let singles = studies.iter().flat_map(|study| {
            let cells = study.cells.iter().filter(|cell| cell.loop_name == "single");
            cells.map(|cell| format!("single+{} of {}", cell.cell.strides.header, study.name))
        });
        let others = self.others.iter().map(|(costs, rms)| {
            let values: Vec<String> = Costs::NAMES
                .iter()
                .zip(costs.values())
                .map(|(name, value)| format!("{name} {value:.0}"))
                .collect();
            format!(
                "from another start, rms {:.2} %: {}",
                rms * 100.0,
                values.join(", ")
            )
        });
        CostsFile {
            cycles: self.costs.rounded(),
            fit: FitTable {
                reference: names.join(", "),
                used: singles.collect(),
                rms_percent: (self.rms * 1e4).round() / 100.0,
                cannot_tell: others.collect(),
            },
        }
    }
}

/// Fits a core to the cells of the single loop with one stride, of each study; no other cell is
/// looked at. The platform says what is known of the core.
pub fn fit_studies(platform: &CorePlatform, studies: &[MeasuredStudy], search: Search) -> StudyFit {
    let (hardware, cycles_per_second) = (platform.hardware(), platform.core.hz as f64);
    let mut used = Vec::new();
    for study in studies {
        let singles = study.cells.iter().filter(|cell| cell.loop_name == "single");
        used.extend(singles.map(|cell| UsedCell {
            cell: cell.cell,
            cycles_per_packet: cell.ticks * cycles_per_second / study.counter_hz as f64,
            effort: study.effort(search.frames),
        }));
    }
    let found = fit::fit(hardware, &used, &fit::starts(&used), search.rounds);
    StudyFit {
        costs: found.costs,
        rms: found.rms,
        used: used.len(),
        others: found.others,
        hardware,
        cycles_per_second,
    }
}

/// The trivial predictor that takes the same for each cell of a table: the least that the single
/// loop took.
pub const BEST_OF_SINGLE: &str = "best of single";

/// The score of something that predicts a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableScore {
    /// The table's loop.
    pub loop_name: &'static str,
    /// Root mean square of the model's relative errors, in percent.
    pub model: f64,
    /// The predictors that need no model, by name, with their error in percent.
    pub trivial: Vec<(String, f64)>,
}

impl TableScore {
    /// The trivial predictor with the least error.
    pub fn best_trivial(&self) -> Option<&(String, f64)> {
        self.trivial.iter().min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// True if the model is better than every trivial predictor.
    pub fn model_wins(&self) -> bool {
        self.best_trivial()
            .is_none_or(|(_, error)| self.model < *error)
    }
}

/// The prediction of the model for a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Ticks per packet of each cell, in the study's order.
    pub ticks: Vec<f64>,
    /// The tables, as far as the study has them: `single`, `dual`, `quad`, `single-split`. Cells
    /// without prefetch are in none.
    pub scores: Vec<TableScore>,
}

/// Runs every cell of a study on a fitted core, and scores it beside predictors that take the
/// study's own single loop.
pub fn predict(fit: &StudyFit, study: &MeasuredStudy, search: Search) -> Prediction {
    let parameters = fit.costs.on(fit.hardware);
    let ticks_per_cycle = study.counter_hz as f64 / fit.cycles_per_second;
    let effort = study.effort(search.frames * 4);
    let ticks: Vec<f64> = study
        .cells
        .iter()
        .map(|cell| run(parameters, cell.cell, effort).cycles_per_packet * ticks_per_cycle)
        .collect();
    let single: Vec<(usize, f64)> = study
        .cells
        .iter()
        .filter(|cell| cell.loop_name == "single" && cell.cell.strides.header > 0)
        .map(|cell| (cell.cell.strides.header, cell.ticks))
        .collect();
    let far = single.iter().map(|(stride, _)| *stride).max().unwrap_or(0);
    let best = single
        .iter()
        .map(|(_, ticks)| *ticks)
        .fold(f64::INFINITY, f64::min);
    let single_at = |stride: usize| {
        single
            .iter()
            .find(|(at, _)| *at == stride.min(far))
            .map(|(_, ticks)| *ticks)
    };
    let tables = ["single", "dual", "quad", "single-split"].into_iter();
    let scores = tables.filter_map(|loop_name| {
        let of = || {
            let cells = study.cells.iter().zip(&ticks);
            cells.filter(|(cell, _)| cell.loop_name == loop_name && cell.cell.strides.header > 0)
        };
        let rms = |predict: &dyn Fn(&MeasuredCell, f64) -> Option<f64>| {
            let errors: Vec<f64> = of()
                .filter_map(|(cell, modelled)| {
                    Some((predict(cell, *modelled)? / cell.ticks - 1.0) * 100.0)
                })
                .collect();
            stats::rms(&errors)
        };
        let mut trivial = Vec::new();
        let mut add =
            |name: String, error: Option<f64>| trivial.extend(error.map(|error| (name, error)));
        if loop_name != "single" {
            add(BEST_OF_SINGLE.to_owned(), rms(&|_, _| Some(best)));
        }
        match loop_name {
            "dual" => add(
                "single(2k)".to_owned(),
                rms(&|cell, _| single_at(2 * cell.cell.strides.header)),
            ),
            "quad" => add(
                format!("single(min(4k, {far}))"),
                rms(&|cell, _| single_at(4 * cell.cell.strides.header)),
            ),
            "single-split" => add(
                format!("single(min(S2, {far}))"),
                rms(&|cell, _| single_at(cell.cell.strides.data)),
            ),
            _ => {}
        }
        Some(TableScore {
            loop_name,
            model: rms(&|_, modelled| Some(modelled))?,
            trivial,
        })
    });
    let scores = scores.collect();
    Prediction { ticks, scores }
}

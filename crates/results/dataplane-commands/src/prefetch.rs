//! `run prefetch`: the stride study, here or on a modelled core.

use std::fs;
use std::path::Path;

use dataplane::walk::{Shape, Strides};
use dataplane_experiments::fit::{self, Costs, UsedCell};
use dataplane_experiments::model::{self, Access, Cell, Effort};
use recording::stats::rms;
use recording::{Header, Recording};
use serde::Serialize;

use crate::data::{self, CorePlatform, CostsFile, CyclesTable, FitTable, PublishedCell};
use crate::error::Error;

/// Frames of a fit's runs.
const FIT_FRAMES: usize = 160;
/// Steps of a fit's search.
const FIT_ROUNDS: usize = 120;

/// One cell of the study.
#[derive(Clone, Debug, Serialize)]
pub struct CellResult {
    /// `single`, `single-split`, `dual`, `quad`.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// S1, iterations ahead for the metadata's line.
    pub stride_first: usize,
    /// S2, iterations ahead for the data's line.
    pub stride_second: usize,
    /// Packets of a frame.
    pub frame_size: usize,
    /// Ticks of the counter a packet.
    pub clocks_per_packet: f64,
    /// What the slides say.
    pub published_clocks_per_packet: Option<f64>,
    /// Whether the published figure was used to fit the model.
    pub used_in_fit: bool,
    /// Of ours against the published, where there is one.
    pub error_percent: Option<f64>,
    /// Ticks a packet that the core stood still, by access; on a modelled core.
    pub stalls: Vec<StallResult>,
}

/// Stall time of one access.
#[derive(Clone, Debug, Serialize)]
pub struct StallResult {
    /// The access.
    pub access: String,
    /// Waiting for its data, in ticks a packet.
    pub waited: f64,
    /// Finding no fill buffer free, in ticks a packet.
    pub blocked: f64,
}

/// How well something predicts a table.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    /// `single`, `dual`, `single-split`.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// `model`, or a trivial predictor.
    pub predictor: String,
    /// Whether the table was used in the fit.
    pub fitted: bool,
    /// Root mean square of the relative errors in percent.
    pub rms_percent: f64,
}

/// The model's best cell of a table, and what the hardware did there.
#[derive(Clone, Debug, Serialize)]
pub struct Best {
    /// The table.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// The model's best strides.
    pub predicted: String,
    /// The published best strides.
    pub published: String,
    /// How much more the published clocks are at the model's best than at the published best, in percent.
    pub cost_percent: f64,
}

/// A prediction of the published tables.
#[derive(Clone, Debug, Serialize)]
pub struct Prediction {
    /// Always `sim`.
    pub world: String,
    /// The platform.
    pub platform: String,
    /// Length of a tick in nanoseconds.
    pub tick_ns: f64,
    /// The published cells, and beside them the quad loop, for which there is no figure.
    pub cells: Vec<CellResult>,
    /// The error table.
    pub scores: Vec<Score>,
    /// Best strides.
    pub best: Vec<Best>,
    /// A burst of eight prefetches of lines beyond L2: ticks that each finds no fill buffer free.
    pub burst_of_eight: Vec<f64>,
    /// What the used cells leave open.
    pub cannot_tell: Vec<String>,
}

/// Predicts the published tables on a modelled platform.
pub fn predict(data: &Path, platform: &str, effort: Effort) -> Result<Prediction, Error> {
    let platform = CorePlatform::read(data, platform)?;
    let costs = data::read_costs(data, &platform.platform.name)?;
    let published = data::read_published(data)?;
    let cells = predict_cells(&platform, costs.cycles.into(), &published, effort);
    Ok(Prediction {
        world: "sim".to_owned(),
        platform: platform.platform.name.clone(),
        tick_ns: 1e9 / platform.counter.hz as f64,
        scores: scores(&cells),
        best: best(&cells),
        burst_of_eight: model::burst(Costs::from(costs.cycles).on(platform.hardware()), 8, effort)
            .into_iter()
            .map(|blocked| blocked / platform.cycles_per_tick())
            .collect(),
        cells,
        cannot_tell: costs.fit.cannot_tell,
    })
}

fn predict_cells(
    platform: &CorePlatform,
    costs: Costs,
    published: &[PublishedCell],
    effort: Effort,
) -> Vec<CellResult> {
    let parameters = costs.on(platform.hardware());
    let tick = platform.cycles_per_tick();
    let quads = (1..=3).map(|stride| Cell { shape: Shape::Quad, strides: Strides::both(stride) });
    let asked = published
        .iter()
        .map(|p| (p.loop_name.clone(), p.cell, Some(p)))
        .chain(quads.map(|cell| ("quad".to_owned(), cell, None)));
    asked
        .map(|(loop_name, cell, published)| {
            let outcome = model::run(parameters, cell, effort);
            let clocks = outcome.cycles_per_packet / tick;
            CellResult {
                loop_name,
                stride_first: cell.strides.header,
                stride_second: cell.strides.data,
                frame_size: effort.frame_size,
                clocks_per_packet: clocks,
                published_clocks_per_packet: published.map(|p| p.ticks),
                used_in_fit: published.is_some_and(|p| p.may_be_fitted),
                error_percent: published.map(|p| (clocks / p.ticks - 1.0) * 100.0),
                stalls: outcome
                    .stalls
                    .iter()
                    .map(|(access, stall)| StallResult {
                        access: Access::name(*access),
                        waited: stall.waited / tick,
                        blocked: stall.blocked / tick,
                    })
                    .collect(),
            }
        })
        .collect()
}

fn of_loop<'a>(cells: &'a [CellResult], loop_name: &'a str) -> impl Iterator<Item = &'a CellResult> {
    cells.iter().filter(move |cell| cell.loop_name == loop_name && cell.published_clocks_per_packet.is_some())
}

/// The error table: the model, and beside it what needs no model.
fn scores(cells: &[CellResult]) -> Vec<Score> {
    let mut scores = Vec::new();
    let single =
        |stride: usize| of_loop(cells, "single").find(|c| c.stride_first == stride)?.published_clocks_per_packet;
    // A constant that knows what the fit knows: the best single-loop cell.
    let constant = of_loop(cells, "single").filter_map(|c| c.published_clocks_per_packet).fold(f64::INFINITY, f64::min);
    for loop_name in ["single", "dual", "single-split"] {
        let errors = |predict: &dyn Fn(&CellResult) -> Option<f64>| {
            let errors: Vec<f64> = of_loop(cells, loop_name)
                .filter_map(|cell| Some((predict(cell)? / cell.published_clocks_per_packet? - 1.0) * 100.0))
                .collect();
            rms(&errors)
        };
        let mut add = |predictor: &str, fitted: bool, rms_percent: Option<f64>| {
            scores.extend(rms_percent.map(|rms_percent| Score {
                loop_name: loop_name.to_owned(),
                predictor: predictor.to_owned(),
                fitted,
                rms_percent,
            }));
        };
        let used = of_loop(cells, loop_name).any(|c| c.used_in_fit);
        add("model", used, errors(&|cell| Some(cell.clocks_per_packet)));
        if loop_name == "dual" {
            add("dual(k) = single(2k)", false, errors(&|cell| single(2 * cell.stride_first)));
        }
        if loop_name != "single" {
            add("constant: best of single", false, errors(&|_| Some(constant)));
        }
    }
    scores
}

fn label(cell: &CellResult) -> String {
    if cell.stride_first == cell.stride_second {
        format!("+{}", cell.stride_first)
    } else {
        format!("+{}/+{}", cell.stride_first, cell.stride_second)
    }
}

fn best(cells: &[CellResult]) -> Vec<Best> {
    ["single", "dual", "single-split"]
        .into_iter()
        .filter_map(|loop_name| {
            let least = |value: &dyn Fn(&CellResult) -> f64| {
                of_loop(cells, loop_name).min_by(|a, b| value(a).total_cmp(&value(b)))
            };
            let predicted = least(&|c| c.clocks_per_packet)?;
            let published = least(&|c| c.published_clocks_per_packet.unwrap_or(f64::INFINITY))?;
            Some(Best {
                loop_name: loop_name.to_owned(),
                predicted: label(predicted),
                published: label(published),
                cost_percent: (predicted.published_clocks_per_packet? / published.published_clocks_per_packet? - 1.0)
                    * 100.0,
            })
        })
        .collect()
}

/// Fits the platform's costs to the cells that the reference declares, and returns the file's content.
pub fn calibrate(data: &Path, platform: &str) -> Result<CostsFile, Error> {
    let platform = CorePlatform::read(data, platform)?;
    let published = data::read_published(data)?;
    let tick = platform.cycles_per_tick();
    let used: Vec<UsedCell> = published.iter().filter_map(|cell| cell.used(tick)).collect();
    if used.is_empty() {
        return Err(Error::Usage("no cell of the reference may be used in a fit".to_owned()));
    }
    let effort = Effort { frame_size: 256, frames: FIT_FRAMES, seed: 1 };
    let hardware = platform.hardware();
    let found = fit::fit(hardware, &used, effort, FIT_ROUNDS);
    let mut cannot_tell = Vec::new();
    for (what, direction) in [
        ("work and window together", [1.0, 1.0, 0.0, 0.0, 0.0]),
        ("window alone", [0.0, 1.0, 0.0, 0.0, 0.0]),
        ("dram_spread alone", [0.0, 0.0, 0.0, 1.0, 0.0]),
        ("dram against translation, their sum held", [0.0, 0.0, 1.0, 0.0, -1.0]),
        ("dram against dram_spread, their sum held", [0.0, 0.0, 1.0, -1.0, 0.0]),
    ] {
        let (down, up) = fit::freedom(hardware, &found, direction, &used, effort);
        cannot_tell.push(format!("{what}: -{down} to +{up} cycles fit alike (rms within a tenth)"));
    }
    for (costs, rms) in &found.others {
        let values: Vec<String> =
            Costs::NAMES.iter().zip(costs.values()).map(|(name, value)| format!("{name} {value:.0}")).collect();
        cannot_tell.push(format!("another valley, rms {:.2} %: {}", rms * 100.0, values.join(", ")));
    }
    for count in [4, 5, 8, 12] {
        let hardware = core_model::Parameters { fill_buffers: count, ..hardware };
        let rms = fit::rms(hardware, found.costs, &used, effort);
        cannot_tell.push(format!("{count} fill buffers, others held: rms {:.2} %", rms * 100.0));
    }
    let cycles = CyclesTable::from(found.costs);
    Ok(CostsFile {
        cycles,
        fit: FitTable {
            reference: "dataplane-prefetch".to_owned(),
            used: published.iter().filter(|c| c.may_be_fitted).map(PublishedCell::label).collect(),
            rms_percent: (fit::rms(hardware, cycles.into(), &used, effort) * 1e4).round() / 100.0,
            cannot_tell,
        },
    })
}

/// A prediction as a recording: clocks and stalls of each cell.
pub fn record(data: &Path, prediction: &Prediction, effort: Effort, mut header: Header) -> Result<Recording, Error> {
    let platform = CorePlatform::read(data, &prediction.platform)?;
    let costs = data::read_costs(data, &prediction.platform)?;
    header.seed = effort.seed;
    header.time.counter_hz = Some(platform.counter.hz);
    header.settings.insert("frame_size".to_owned(), effort.frame_size.to_string());
    header.settings.insert("frames".to_owned(), effort.frames.to_string());
    header.platform = Some(recording::Platform {
        name: prediction.platform.clone(),
        text: platform.text,
        figures: toml::Table::new(),
    });
    let table = toml::Table::try_from(costs).map_err(|e| Error::Usage(e.to_string()))?;
    header.costs.insert("prefetch".to_owned(), table);
    let mut recording = Recording::new(header);
    let series = recording.series(&prediction.platform, "prefetch", "in-buffer");
    for cell in &prediction.cells {
        let name = format!("{}+{}/{}", cell.loop_name, cell.stride_first, cell.stride_second);
        let subject = recording.name(&name);
        recording.measure(series, 0, "clocks-per-packet", "ticks", cell.clocks_per_packet).subject = Some(subject);
        // An access is a subject of its own: as a role, stalls of one cell would be taken for repetitions of one measure.
        for stall in cell.stalls.iter().filter(|stall| stall.waited + stall.blocked > 0.0) {
            let subject = recording.name(&format!("{name}, {}", stall.access));
            for (metric, value) in [("stall-waited", stall.waited), ("stall-blocked", stall.blocked)] {
                recording.measure(series, 0, metric, "ticks", value).subject = Some(subject);
            }
        }
    }
    Ok(recording)
}

/// Writes the costs file: nothing else writes one.
pub fn write_costs(data: &Path, platform: &str, costs: &CostsFile) -> Result<(), Error> {
    let path = data::costs_path(data, platform);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::io(folder))?;
    }
    let text = toml::to_string_pretty(costs).map_err(|e| Error::data(&path, e))?;
    let text = format!(
        "# Written by `stopwatt calibrate-prefetch --platform {platform}` and by nothing else; do not edit.\n{text}"
    );
    let beside = path.with_extension("toml.new");
    fs::write(&beside, text).and_then(|()| fs::rename(&beside, &path)).map_err(Error::io(&path))
}

/// A prediction as tables for people.
pub fn print_prediction(prediction: &Prediction) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let p = prediction;
    let _ = writeln!(
        out,
        "Stride study of ethernet-input on a modelled {} (metadata line and data line a packet, frames of {}).\nClocks are ticks of {} ns a packet.\n",
        p.platform,
        p.cells.first().map_or(0, |c| c.frame_size),
        p.tick_ns
    );
    let _ = writeln!(
        out,
        "{:<12}{:>8}{:>11}{:>8}{:>9}  {:<10}{:>6}{:>10}  Fill buffers full",
        "Loop", "Strides", "Published", "Model", "Error", "", "Data", "Metadata"
    );
    for cell in &p.cells {
        let published = cell.published_clocks_per_packet.map_or("-".to_owned(), |v| format!("{v:.3}"));
        let error = cell.error_percent.map_or("-".to_owned(), |v| format!("{v:+.1} %"));
        let kind = match (cell.published_clocks_per_packet, cell.used_in_fit) {
            (None, _) => "no figure",
            (_, true) => "fitted",
            (_, false) => "predicted",
        };
        let waited_for = |access: Access| {
            let name = access.name();
            cell.stalls.iter().filter(|s| s.access == name).map(|s| s.waited).sum::<f64>()
        };
        let blocked: f64 = cell.stalls.iter().map(|s| s.blocked).sum();
        let most = cell.stalls.iter().max_by(|a, b| a.blocked.total_cmp(&b.blocked));
        let full = match most {
            Some(most) if blocked >= 0.005 => format!("{blocked:.2}, most at {}", most.access),
            _ => String::new(),
        };
        let line = format!(
            "{:<12}{:>8}{published:>11}{:>8.3}{error:>9}  {kind:<10}{:>6.2}{:>10.2}  {full}",
            cell.loop_name,
            label(cell),
            cell.clocks_per_packet,
            waited_for(Access::DataLoad),
            waited_for(Access::HeaderLoad),
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = writeln!(
        out,
        "Stalls, ticks a packet: Data and Metadata wait at the first touch of the packet's line of that kind; an access that finds all\nfill buffers full waits for one."
    );
    let _ = writeln!(out, "\nErrors (root mean square, relative)");
    for score in &p.scores {
        let kind = if score.fitted { "fitted" } else { "predicted" };
        let _ = writeln!(out, "  {:<13} {:<26} {:>6.2} %  {kind}", score.loop_name, score.predictor, score.rms_percent);
    }
    for loop_name in ["dual", "single-split"] {
        let of = p.scores.iter().filter(|s| s.loop_name == loop_name);
        if let Some(first) = of.min_by(|a, b| a.rms_percent.total_cmp(&b.rms_percent)) {
            let _ = writeln!(out, "  best for {loop_name}: {}", first.predictor);
        }
    }
    let _ = writeln!(out, "\nBest strides");
    for best in &p.best {
        let _ = writeln!(
            out,
            "  {:<13} model {:<9} published {:<9} published clocks there: {:+.2} % of the published minimum",
            best.loop_name, best.predicted, best.published, best.cost_percent
        );
    }
    let burst: Vec<String> = p.burst_of_eight.iter().map(|blocked| format!("{blocked:.2}")).collect();
    let _ = writeln!(
        out,
        "\nA burst of eight prefetches of lines beyond L2: ticks each waits for a fill buffer\n  {}",
        burst.join("  ")
    );
    let _ = writeln!(out, "\nWhat the fitted cells cannot tell");
    for line in &p.cannot_tell {
        let _ = writeln!(out, "  {line}");
    }
    out.push_str(CAVEATS);
    out
}

/// Limits that belong beside every prediction.
const CAVEATS: &str = "
Limits
  The parameters were fitted to the single-loop column alone. The model's structure was chosen by people who knew all three
  tables: without the time of the first touch of a page, the split table is off by about 9.5 % and the other two are as good.
  So the split error is weaker evidence than the dual one.
  The fit lies on an edge: with a window just longer than a packet's work the next prefetch is issued under a stall, with one just
  shorter it is not. A real core has no such edge.
  In the split table the model is flat from +2/+9 on; silicon falls until +2/+13. What the model lacks there is not known.
";

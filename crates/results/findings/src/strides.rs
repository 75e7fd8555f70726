//! `prefetch`: the stride study, on this machine or on a modelled core.

use crate::Findings;
use crate::published_strides::{CASE, is_modelled, place, published_cell, reference};
use crate::rows::{measures_of, subjects, tick_ns, values};
use crate::spread::{Steadiness, apart, quartiles};
use crate::ticks::Ticks;
use evidence::{Leaders, Runs};
use itertools::Itertools;
use recording::facts::{self, FactsError};
use recording::{Recording, conditions, metrics, place_of, stats, total_order};
use schemars::JsonSchema;
use serde::Serialize;

const BURST_CASE: &str = "prefetch-burst";

/// The stride study, measured or predicted.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Strides<'r> {
    /// On this machine.
    Measured(MeasuredStudy<'r>),
    /// On a modelled core.
    Predicted(PredictedStudy<'r>),
}

/// The study on this machine.
#[derive(Serialize, JsonSchema)]
pub struct MeasuredStudy<'r> {
    /// The world that it ran in, such as `host`.
    pub world: &'r str,
    /// The layout of the metadata, such as `lanes`.
    pub layout: &'r str,
    /// The counter whose ticks are clocks.
    #[serde(flatten)]
    pub ticks: Ticks,
    /// Whether the machine repeats itself.
    pub steadiness: Steadiness,
    /// The cells of the study, in the order in which they ran.
    pub cells: Vec<Cells>,
    /// The gains of each loop.
    #[serde(flatten)]
    pub gains: Gains,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// The settings of the run.
    pub facts: facts::Study,
    /// The number of repetitions of each cell.
    pub repetitions: u32,
}

/// The study on a modelled core.
#[derive(Serialize, JsonSchema)]
pub struct PredictedStudy<'r> {
    /// The world that it ran in: `sim`.
    pub world: &'r str,
    /// The platform's name; empty where it is not known.
    pub platform: &'r str,
    /// The counter whose ticks are clocks.
    #[serde(flatten)]
    pub ticks: Ticks,
    /// The cells of the study, in the order in which they ran.
    pub cells: Vec<Cells>,
    /// Errors of the model and of trivial predictors, by loop.
    pub scores: Vec<Score>,
    /// Nanoseconds per packet of the path outside of the loop, and the errors of the rates.
    pub rest: Option<Rest>,
    /// The best strides of each loop by the model, beside the published ones.
    pub best: Vec<BestStrides>,
    /// The gains of each loop.
    #[serde(flatten)]
    pub gains: Gains,
    /// Ticks that each of a burst of eight prefetches finds no fill buffer free.
    pub burst_of_eight: Vec<f64>,
    /// Whose costs they are, where samples of loads gave some of them.
    pub borrowed: Option<String>,
    /// The directions that the cells of the fit leave open, as the costs file says.
    pub cannot_tell: Vec<&'r str>,
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
    /// Packets of a frame, at least 1.
    pub frame_size: u64,
}

/// A cell of the study.
#[derive(Serialize, JsonSchema)]
pub struct Cells {
    /// The loop's name, such as `single` or `dual`.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// Packets ahead at which the first line is prefetched; 0 for no prefetch.
    pub stride_first: usize,
    /// Packets ahead at which the second line is prefetched; 0 for no prefetch.
    pub stride_second: usize,
    /// Packets of a frame, at least 1.
    pub frame_size: u64,
    /// The median of the repetitions.
    pub clocks_per_packet: f64,
    /// Published ticks per packet; `None` where none were published.
    pub published_clocks_per_packet: Option<f64>,
    /// Published rate in millions of packets per second; `None` where none was published.
    pub published_mpps: Option<f64>,
    /// The rate of the whole path, where its rest is known.
    pub mpps: Option<f64>,
    /// True if a fit used the published figure.
    pub used_in_fit: bool,
    /// Error against the published ticks in percent, signed.
    pub error_percent: Option<f64>,
    /// The accesses at which the core stood still.
    pub stalls: Vec<Stall>,
    /// The cell's name in the recording.
    pub subject: String,
    /// Clocks per packet of each repetition.
    pub values: Vec<f64>,
}

/// Ticks per packet that the core stood still at an access: waiting for its data, or finding no
/// fill buffer free.
#[derive(Serialize, JsonSchema)]
pub struct Stall {
    /// The access, in words.
    pub access: String,
    /// Ticks per packet for which the data was waited for, at least 0.
    pub waited: f64,
    /// Ticks per packet for which no fill buffer was free, at least 0.
    pub blocked: f64,
}

/// The parts of a loop's gain. The whole gain is their product.
#[derive(Serialize, JsonSchema)]
pub struct Gain {
    /// The loop's name, such as `single` or `dual`.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// Packets ahead at which the first line is prefetched; 0 for no prefetch.
    pub stride_first: usize,
    /// Packets ahead at which the second line is prefetched; 0 for no prefetch.
    pub stride_second: usize,
    /// Clocks of the single loop without prefetch over those of this loop without prefetch.
    pub gain_parallel: f64,
    /// Clocks of this loop without prefetch over those at its best strides.
    pub gain_prefetch: f64,
    /// Product of both parts: the clocks of the single loop without prefetch over the fewest of
    /// this loop.
    pub gain: f64,
    /// Ticks per packet at the best strides.
    pub clocks: f64,
    /// Its quartiles over the repetitions.
    pub quartiles: [f64; 2],
    /// True if repetitions tell that it is faster than the single loop without prefetch.
    pub is_faster: bool,
}

/// The gains of each loop that has a cell without prefetch, and of the best of all.
#[derive(Serialize, JsonSchema)]
pub struct Gains {
    /// The gains of each loop.
    pub gains: Vec<Gain>,
    /// The factor by which prefetch speeds up the best of all loops.
    pub gain_prefetch: Option<f64>,
    /// The factor by which parallelism speeds up the best of all loops.
    pub gain_parallel: Option<f64>,
    /// The percentage by which a model misses published loops, at least 0: the largest root mean
    /// square of a loop's errors. 0 of what was measured.
    pub missed_percent: f64,
}

impl Gains {
    /// The loops that take least of all, as far as repetitions and what a model misses tell them
    /// apart.
    pub fn least(&self) -> Option<Leaders<&Gain>> {
        let missed = self.missed_percent / 100.0;
        Leaders::least(&self.gains, |gain| {
            let [low, high] = gain.quartiles;
            Some([low * (1.0 - missed), high * (1.0 + missed)])
        })
    }
}

/// The percentage that a model is taken to miss where nothing was published of what it predicts:
/// what it misses at most where something was (docs/prefetch.md).
const USUALLY_MISSED: f64 = 5.0;

/// The score of something that predicts a table.
#[derive(Serialize, JsonSchema)]
pub struct Score {
    /// The loop whose table is predicted.
    #[serde(rename = "loop")]
    pub loop_name: &'static str,
    /// `model`, or a trivial predictor.
    pub predictor: &'static str,
    /// True if the table was used in the fit.
    pub fitted: bool,
    /// Root mean square of the relative errors, in percent.
    pub rms_percent: f64,
}

/// The model's best cell of a table, and what the hardware did there.
#[derive(Serialize, JsonSchema)]
pub struct BestStrides {
    /// The loop.
    #[serde(rename = "loop")]
    pub loop_name: &'static str,
    /// The strides with the fewest clocks by the model, such as `+4` or `+2/+9`.
    pub predicted: String,
    /// The strides with the fewest published clocks.
    pub published: String,
    /// The amount by which the published clocks are more at the model's best than at the published
    /// best, in percent.
    pub cost_percent: f64,
    /// The same at the longest strides that were tried: what needs no model.
    pub longest_cost_percent: f64,
}

/// Strides in short: `+4`, or `+2/+9` where both differ.
pub fn label(first: usize, second: usize) -> String {
    if first == second {
        format!("+{first}")
    } else {
        format!("+{first}/+{second}")
    }
}

impl Cells {
    /// Strides in short: `+4`, or `+2/+9` where both differ.
    pub fn label(&self) -> String {
        label(self.stride_first, self.stride_second)
    }

    /// The first and the third quartile of the repetitions, in ticks per packet.
    pub fn quartiles(&self) -> [f64; 2] {
        quartiles(&self.values)
    }

    /// Ticks per packet for which the data of an access was waited for, at least 0.
    pub fn waited_at(&self, access: &str) -> f64 {
        self.stalls
            .iter()
            .filter(|stall| stall.access == access)
            .map(|stall| stall.waited)
            .sum()
    }

    /// Ticks per packet for which no fill buffer was free, over all accesses.
    pub fn blocked(&self) -> f64 {
        self.stalls.iter().map(|stall| stall.blocked).sum()
    }

    fn is_plain(&self) -> bool {
        [self.stride_first, self.stride_second] == [0, 0]
    }
}

/// Reads the study.
pub fn read<'r>(findings: &Findings<'r>) -> Result<Strides<'r>, FactsError> {
    let recording = findings.recording;
    let header = &recording.header;
    let facts = header.facts()?;
    let mut cells = cells(findings, &facts);
    if is_modelled(recording) {
        let scores = scores(&cells);
        let models = scores.iter().filter(|score| score.predictor == "model");
        let missed = models.map(|score| score.rms_percent).reduce(f64::max);
        let gains = gains(&cells, missed.unwrap_or(USUALLY_MISSED));
        let rest = Rest::new(&mut cells, tick_ns(recording));
        return Ok(Strides::Predicted(PredictedStudy {
            world: &header.world,
            platform: header.platform_name().unwrap_or_default(),
            ticks: Ticks::new(recording),
            scores,
            rest,
            best: best_strides(&cells),
            gains,
            burst_of_eight: measures_of(recording, BURST_CASE, metrics::STALL_BLOCKED)
                .map(|row| row.value)
                .collect(),
            borrowed: header.condition("prefetch", conditions::BORROWED),
            cannot_tell: cannot_tell(recording),
            recording: findings.folder,
            frame_size: facts.frame_size,
            cells,
        }));
    }
    let gains = gains(&cells, 0.0);
    let layout = measures_of(recording, CASE, metrics::CLOCKS_PER_PACKET).next();
    Ok(Strides::Measured(MeasuredStudy {
        world: &header.world,
        layout: layout.map_or("", |row| row.mode),
        ticks: Ticks::new(recording),
        steadiness: steadiness(&cells, &gains),
        cells,
        gains,
        recording: findings.folder,
        facts,
        repetitions: header.iterations,
    }))
}

fn cells(findings: &Findings<'_>, facts: &facts::Study) -> Vec<Cells> {
    let recording = findings.recording;
    let reference = reference(recording, findings.published);
    let mut cells = Vec::new();
    for name in subjects(recording, CASE, metrics::CLOCKS_PER_PACKET) {
        let Some((loop_name, strides)) = place(recording, name) else {
            continue;
        };
        let published =
            reference.and_then(|reference| published_cell(reference, &loop_name, strides));
        let values = values(recording, CASE, metrics::CLOCKS_PER_PACKET, name);
        let clocks = stats::median(&values).unwrap_or(0.0);
        let [stride_first, stride_second] = strides;
        cells.push(Cells {
            loop_name,
            stride_first,
            stride_second,
            frame_size: facts.frame_size,
            clocks_per_packet: clocks,
            published_clocks_per_packet: published.map(|cell| cell.ticks),
            published_mpps: published.map(|cell| cell.mpps),
            mpps: None,
            used_in_fit: published.is_some_and(|cell| cell.may_be_fitted),
            error_percent: published.map(|cell| (clocks / cell.ticks - 1.0) * 100.0),
            stalls: Vec::new(),
            subject: name.to_owned(),
            values,
        });
    }
    for (metric, is_wait) in [
        (metrics::STALL_WAITED, true),
        (metrics::STALL_BLOCKED, false),
    ] {
        for row in measures_of(recording, CASE, metric) {
            let Some(cell) = cells.iter_mut().find(|cell| cell.subject == row.subject) else {
                continue;
            };
            let of_access = |stall: &Stall| stall.access == row.role;
            let place = place_of(&mut cell.stalls, of_access, || Stall {
                access: row.role.to_owned(),
                waited: 0.0,
                blocked: 0.0,
            });
            let stall = &mut cell.stalls[place];
            *(if is_wait {
                &mut stall.waited
            } else {
                &mut stall.blocked
            }) = row.value;
        }
    }
    cells
}

/// Names of the loops, in the order of the tables.
pub const LOOPS: [&str; 4] = ["single", "dual", "quad", "single-split"];

/// The loops with a published table.
const PUBLISHED: [&str; 3] = ["single", "dual", "single-split"];

/// The cells of a loop.
pub fn of_loop<'c>(cells: &'c [Cells], name: &'c str) -> impl Iterator<Item = &'c Cells> {
    cells.iter().filter(move |cell| cell.loop_name == name)
}

/// The cell with the fewest clocks.
fn fewest<'c>(cells: impl Iterator<Item = &'c Cells>) -> Option<&'c Cells> {
    cells.min_by_key(|of| total_order(of.clocks_per_packet))
}

fn gains(cells: &[Cells], missed_percent: f64) -> Gains {
    // Without prefetch no strides are apart: the split loop is the single one.
    let plain = |name| {
        let name = if name == "single-split" {
            "single"
        } else {
            name
        };
        of_loop(cells, name).find(|cell| cell.is_plain())
    };
    let gain = |name| {
        let (single, best) = (plain("single")?, fewest(of_loop(cells, name))?);
        let (base, none) = (single.clocks_per_packet, plain(name)?.clocks_per_packet);
        let (gain_parallel, gain_prefetch) = (base / none, none / best.clocks_per_packet);
        Some(Gain {
            loop_name: best.loop_name.clone(),
            stride_first: best.stride_first,
            stride_second: best.stride_second,
            gain_parallel,
            gain_prefetch,
            gain: gain_parallel * gain_prefetch,
            clocks: best.clocks_per_packet,
            quartiles: best.quartiles(),
            is_faster: is_faster(cells, single, best),
        })
    };
    let gains = LOOPS.into_iter().filter_map(gain).collect_vec();
    let first = gains.iter().min_by_key(|of| total_order(of.clocks));
    Gains {
        gain_prefetch: first.map(|gain| gain.gain_prefetch),
        gain_parallel: first.map(|gain| gain.gain_parallel),
        missed_percent,
        gains,
    }
}

/// True if repetitions tell that the best cell takes less than a base, all cells being looked at; of
/// a world that repeats itself, if it does.
fn is_faster(cells: &[Cells], base: &Cells, best: &Cells) -> bool {
    if base.values.len() < 2 {
        return best.clocks_per_packet < base.clocks_per_packet;
    }
    let runs = cells.iter().map(|cell| Runs {
        sides: [&base.values, &cell.values],
        tick: 0.0,
    });
    let tested = evidence::test(&[runs.collect()], 0.05).remove(0);
    let mut rows = cells.iter().zip(tested.rows);
    let of_best = rows.find(|(cell, _)| std::ptr::eq(*cell, best));
    of_best.is_some_and(|(_, row)| row.is_some_and(|row| row.differs && row.change < 0.0))
}

/// Whether the machine repeats itself, above all at the loops without prefetch and at the best
/// strides, of which the gains are factors.
fn steadiness(cells: &[Cells], gains: &Gains) -> Steadiness {
    let is_best = |cell: &Cells| {
        let at = (&cell.loop_name, cell.stride_first, cell.stride_second);
        gains
            .gains
            .iter()
            .any(|gain| (&gain.loop_name, gain.stride_first, gain.stride_second) == at)
    };
    let decisive = cells.iter().filter(|cell| cell.is_plain() || is_best(cell));
    Steadiness::new(
        cells.iter().map(|cell| apart(&cell.values)),
        decisive.map(|cell| apart(&cell.values)),
    )
}

/// The cells of a loop that have a published figure.
fn published_of<'c>(
    cells: &'c [Cells],
    loop_name: &'c str,
) -> impl Iterator<Item = (&'c Cells, f64)> {
    of_loop(cells, loop_name).filter_map(|cell| Some((cell, cell.published_clocks_per_packet?)))
}

/// A predictor's name, with what it says of a cell.
type Predictor<'p> = (&'static str, &'p dyn Fn(&Cells) -> Option<f64>);

/// The scores of a model, which comes first, and of what needs none, over the published figures of
/// a loop; those that have none are left out.
fn scores_of(
    cells: &[Cells],
    loop_name: &'static str,
    published: fn(&Cells) -> Option<f64>,
    predictors: &[Predictor<'_>],
) -> Vec<Score> {
    let fitted = of_loop(cells, loop_name).any(|cell| cell.used_in_fit);
    let score = |(place, (predictor, predict)): (usize, &Predictor<'_>)| {
        let errors = of_loop(cells, loop_name)
            .filter_map(|cell| Some((predict(cell)? / published(cell)? - 1.0) * 100.0));
        Some(Score {
            loop_name,
            predictor,
            fitted: fitted && place == 0,
            rms_percent: stats::rms(&errors.collect_vec())?,
        })
    };
    predictors.iter().enumerate().filter_map(score).collect()
}

/// The error table: the model, and beside it what needs no model.
fn scores(cells: &[Cells]) -> Vec<Score> {
    let single = |stride: usize| {
        let mut single = published_of(cells, "single");
        Some(single.find(|(cell, _)| cell.stride_first == stride)?.1)
    };
    // A constant that knows what the fit knows: the best single-loop cell.
    let constant = published_of(cells, "single")
        .map(|(_, published)| published)
        .fold(f64::INFINITY, f64::min);
    let model: Predictor<'_> = ("model", &|cell| Some(cell.clocks_per_packet));
    let constant: Predictor<'_> = ("constant: best of single", &|_| Some(constant));
    let twice: Predictor<'_> = ("dual(k) = single(2k)", &|cell| {
        single(2 * cell.stride_first)
    });
    let second: Predictor<'_> = ("single(min(S2, 10))", &|cell| {
        single(cell.stride_second.min(10))
    });
    let of = |loop_name, predictors: &[Predictor<'_>]| {
        scores_of(
            cells,
            loop_name,
            |cell| cell.published_clocks_per_packet,
            predictors,
        )
    };
    [
        of("single", &[model]),
        of("dual", &[model, twice, constant]),
        of("single-split", &[model, second, constant]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The path outside of the loop, whose time is the same whatever the strides: what is left of a
/// packet's published time without its published clocks. Its mean over the single loop's cells,
/// which the model was fitted to, makes rates of modelled clocks.
#[derive(Serialize, JsonSchema)]
pub struct Rest {
    /// Nanoseconds per packet outside of the loop.
    pub ns: f64,
    /// From the least to the greatest over those cells.
    pub ns_over_cells: [f64; 2],
    /// Errors of the rates.
    pub scores: Vec<Score>,
}

impl Rest {
    /// The rest of the path, and with it the rate of each cell.
    pub fn new(cells: &mut [Cells], tick_ns: f64) -> Option<Self> {
        let left = |cell: &Cells| {
            Some(1e3 / cell.published_mpps? - tick_ns * cell.published_clocks_per_packet?)
        };
        let left = cells
            .iter()
            .filter(|cell| cell.used_in_fit)
            .filter_map(left)
            .collect_vec();
        let ns = stats::mean(&left)?;
        for cell in cells.iter_mut() {
            cell.mpps = Some(1e3 / (ns + tick_ns * cell.clocks_per_packet));
        }
        let constant = of_loop(cells, "single")
            .filter_map(|cell| cell.published_mpps)
            .fold(0.0, f64::max);
        let predictors: [Predictor<'_>; 2] = [
            ("model and the rest of the path", &|cell| cell.mpps),
            ("constant: best of single", &|_| Some(constant)),
        ];
        let of = |loop_name| scores_of(cells, loop_name, |cell| cell.published_mpps, &predictors);
        let scores = PUBLISHED.into_iter().flat_map(of).collect();
        Some(Self {
            ns,
            ns_over_cells: stats::ends(left),
            scores,
        })
    }
}

fn best_strides(cells: &[Cells]) -> Vec<BestStrides> {
    PUBLISHED
        .into_iter()
        .filter_map(|loop_name| {
            let least = |value: &dyn Fn(&Cells, f64) -> f64| {
                published_of(cells, loop_name).min_by_key(|of| total_order(value(of.0, of.1)))
            };
            let (predicted, there) = least(&|cell, _| cell.clocks_per_packet)?;
            let (published, minimum) = least(&|_, published| published)?;
            let (_, longest) = published_of(cells, loop_name)
                .max_by_key(|(cell, _)| (cell.stride_second, cell.stride_first))?;
            let cost = |clocks: f64| (clocks / minimum - 1.0) * 100.0;
            Some(BestStrides {
                loop_name,
                predicted: predicted.label(),
                published: published.label(),
                cost_percent: cost(there),
                longest_cost_percent: cost(longest),
            })
        })
        .collect()
}

fn cannot_tell(recording: &Recording) -> Vec<&str> {
    let costs = recording.header.costs.get("prefetch");
    costs
        .and_then(|costs| costs.get("fit")?.get("cannot_tell")?.as_array())
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_str)
        .collect()
}

/// Limits that belong beside every prediction for the core of the slides.
pub const LIMITS: [&str; 3] = [
    "The parameters were fitted to the single-loop column alone. The model's structure was chosen by people who knew all three \
     tables: without the time of the first touch of a page, the split table is off by about 9.5 % and the other two are as good. So \
     the split error is weaker evidence than the dual one.",
    "The fit lies on an edge: with a window just longer than a packet's work the next prefetch is issued under a stall, with one just \
     shorter it is not. A real core has no such edge.",
    "In the split table the model is flat from +2/+9 on; silicon falls until +2/+13. What the model lacks there is not known.",
];

//! `prefetch`: the stride study, on this machine or on a modelled core.

use super::rows::{counter, measures_of, subject, subjects, tick_ns, values};
use super::run::Run;
use super::story::Story;
use crate::blocks::{
    Bars, Blocks, Cell, Curve, Drawing, Figure, Number, Paint, Picture, Table, Text, fixed, name, percent, text, whole,
};
use crate::model::findings::MeasureRow;
use published::{Published, StrideCell, StrideReference};
use recording::facts::{self, FactsError};
use recording::{Recording, metrics, stats};
use serde::{Serialize, Serializer};

/// The study's case.
const CASE: &str = "prefetch";
const BURST_CASE: &str = "prefetch-burst";
const CORES_CASE: &str = "prefetch-cores";

/// True if a recording is of a modelled core.
fn is_modelled(recording: &Recording) -> bool {
    recording.header.world == "sim"
}

/// The published study that a recording is a prediction of.
fn reference<'p>(recording: &Recording, published: &'p Published) -> Option<&'p StrideReference> {
    let platform = recording.header.platform.as_ref().filter(|_| is_modelled(recording))?;
    published.strides_of(&platform.name)
}

/// Loop and strides of a subject, from the recording's axes.
fn place(recording: &Recording, subject: &str) -> Option<(String, [usize; 2])> {
    let at = recording.header.coordinates.get(subject)?;
    let stride = |key: &str| Some(at.get(key)?.as_integer()? as usize);
    Some((at.get("loop")?.as_str()?.to_owned(), [stride("stride_first")?, stride("stride_second")?]))
}

fn published_cell<'p>(reference: &'p StrideReference, loop_name: &str, strides: [usize; 2]) -> Option<&'p StrideCell> {
    let same = |cell: &&StrideCell| cell.loop_name == loop_name && [cell.stride_first, cell.stride_second] == strides;
    reference.cells.iter().find(same)
}

/// The published value of a row of measures, for pictures to draw beside it.
pub(super) fn published(recording: &Recording, published: &Published, row: &MeasureRow) -> Option<f64> {
    if (row.case.as_str(), row.metric.as_str()) != (CASE, metrics::CLOCKS_PER_PACKET.name) {
        return None;
    }
    let (loop_name, strides) = place(recording, &row.subject)?;
    Some(published_cell(reference(recording, published)?, &loop_name, strides)?.ticks)
}

/// The stride study, measured or predicted.
pub(super) enum Strides<'r> {
    Measured(Measured<'r>),
    Predicted(Predicted<'r>),
}

impl Serialize for Strides<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Measured(study) => study.serialize(serializer),
            Self::Predicted(study) => study.serialize(serializer),
        }
    }
}

/// The study on this machine.
#[derive(Serialize)]
pub(super) struct Measured<'r> {
    world: &'r str,
    layout: &'r str,
    counter: String,
    tick_ns: f64,
    cells: Vec<Cells>,
    best: Vec<BestHere>,
    #[serde(flatten)]
    gains: Gains,
    recording: &'r str,
    #[serde(skip)]
    facts: facts::Study,
    #[serde(skip)]
    repetitions: u32,
}

/// The study on a modelled core.
#[derive(Serialize)]
pub(super) struct Predicted<'r> {
    world: &'r str,
    platform: &'r str,
    tick_ns: f64,
    cells: Vec<Cells>,
    scores: Vec<Score>,
    /// Nanoseconds per packet of the path outside of the loop, and the errors of the rates.
    rest: Option<Rest>,
    best: Vec<BestStrides>,
    #[serde(flatten)]
    gains: Gains,
    /// Several cores at once, each with the best loop.
    cores: Vec<Cores>,
    /// Ticks that each of a burst of eight prefetches finds no fill buffer free.
    burst_of_eight: Vec<f64>,
    /// The directions that the cells of the fit leave open, as the costs file says.
    cannot_tell: Vec<&'r str>,
    recording: &'r str,
    #[serde(skip)]
    frame_size: u64,
}

/// Cores that run the best loop at the same time.
#[derive(Serialize)]
struct Cores {
    cores: u64,
    /// Of each core.
    clocks_per_packet: f64,
    /// The rate of all of them together, as a multiple of one core's. Where the rest of the path is
    /// known, it is part of a packet's time.
    rate: f64,
    /// The share of time in which memory is busy.
    memory_busy: f64,
}

/// A cell of the study.
#[derive(Clone, Serialize)]
struct Cells {
    #[serde(rename = "loop")]
    loop_name: String,
    stride_first: usize,
    stride_second: usize,
    frame_size: u64,
    /// The median of the repetitions.
    clocks_per_packet: f64,
    published_clocks_per_packet: Option<f64>,
    published_mpps: Option<f64>,
    /// The rate of the whole path, where its rest is known.
    mpps: Option<f64>,
    used_in_fit: bool,
    error_percent: Option<f64>,
    stalls: Vec<Stall>,
    #[serde(skip)]
    subject: String,
    /// Clocks per packet of each repetition.
    #[serde(skip)]
    values: Vec<f64>,
}

/// Ticks per packet that the core stood still at an access: waiting for its data, or finding no
/// fill buffer free.
#[derive(Clone, Serialize)]
struct Stall {
    access: String,
    waited: f64,
    blocked: f64,
}

/// The best strides of a loop on this machine.
#[derive(Serialize)]
struct BestHere {
    #[serde(rename = "loop")]
    loop_name: String,
    stride_first: usize,
    stride_second: usize,
    clocks_per_packet: f64,
    /// The share that it saves against no prefetch, in percent; 0 for the split loop, which has no
    /// such cell.
    saves_percent: f64,
}

/// The parts of a loop's gain. The whole gain is their product.
#[derive(Clone, Serialize)]
struct Gain {
    #[serde(rename = "loop")]
    loop_name: String,
    stride_first: usize,
    stride_second: usize,
    /// Clocks of the single loop without prefetch over those of this loop without prefetch.
    gain_parallel: f64,
    /// Clocks of this loop without prefetch over those at its best strides.
    gain_prefetch: f64,
    gain: f64,
    #[serde(skip)]
    clocks: f64,
}

/// The gains of each loop that has a cell without prefetch, and of the best of all.
#[derive(Serialize)]
struct Gains {
    gains: Vec<Gain>,
    gain_prefetch: Option<f64>,
    gain_parallel: Option<f64>,
}

/// The score of something that predicts a table.
#[derive(Clone, Serialize)]
struct Score {
    #[serde(rename = "loop")]
    loop_name: &'static str,
    /// `model`, or a trivial predictor.
    predictor: &'static str,
    /// True if the table was used in the fit.
    fitted: bool,
    /// Root mean square of the relative errors, in percent.
    rms_percent: f64,
}

/// The model's best cell of a table, and what the hardware did there.
#[derive(Serialize)]
struct BestStrides {
    #[serde(rename = "loop")]
    loop_name: &'static str,
    predicted: String,
    published: String,
    /// The amount by which the published clocks are more at the model's best than at the published
    /// best, in percent.
    cost_percent: f64,
}

fn label(first: usize, second: usize) -> String {
    if first == second { format!("+{first}") } else { format!("+{first}/+{second}") }
}

impl Cells {
    fn label(&self) -> String {
        label(self.stride_first, self.stride_second)
    }

    fn is_plain(&self) -> bool {
        [self.stride_first, self.stride_second] == [0, 0]
    }
}

/// Reads the study.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Strides<'r>, FactsError> {
    let recording = run.recording;
    let header = &recording.header;
    let facts: facts::Study = header.facts()?;
    let mut cells = cells(run, &facts);
    let gains = gains(&cells);
    if is_modelled(recording) {
        let rest = Rest::new(&mut cells, tick_ns(recording));
        return Ok(Strides::Predicted(Predicted {
            world: &header.world,
            platform: header.platform.as_ref().map_or("", |platform| &platform.name),
            tick_ns: tick_ns(recording),
            scores: scores(&cells),
            cores: cores(recording, rest.as_ref()),
            rest,
            best: best_strides(&cells),
            gains,
            burst_of_eight: measures_of(recording, BURST_CASE, metrics::STALL_BLOCKED)
                .map(|measure| measure.value)
                .collect(),
            cannot_tell: cannot_tell(recording),
            recording: run.folder,
            frame_size: facts.frame_size,
            cells,
        }));
    }
    let layout = measures_of(recording, CASE, metrics::CLOCKS_PER_PACKET).next();
    Ok(Strides::Measured(Measured {
        world: &header.world,
        layout: layout.map_or("", |measure| recording.series_texts(measure.series).2),
        counter: counter(recording).to_owned(),
        tick_ns: tick_ns(recording),
        best: best_here(&cells),
        cells,
        gains,
        recording: run.folder,
        facts,
        repetitions: header.iterations,
    }))
}

fn cells(run: &Run<'_>, facts: &facts::Study) -> Vec<Cells> {
    let recording = run.recording;
    let reference = reference(recording, run.published);
    let mut cells: Vec<Cells> = Vec::new();
    for name in subjects(recording, CASE, metrics::CLOCKS_PER_PACKET) {
        let Some((loop_name, strides)) = place(recording, name) else { continue };
        let published = reference.and_then(|reference| published_cell(reference, &loop_name, strides));
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
    for (metric, is_wait) in [(metrics::STALL_WAITED, true), (metrics::STALL_BLOCKED, false)] {
        for measure in measures_of(recording, CASE, metric) {
            let Some((name, access)) = subject(recording, measure).split_once(", ") else { continue };
            let Some(cell) = cells.iter_mut().find(|cell| cell.subject == name) else { continue };
            let place = match cell.stalls.iter().position(|stall| stall.access == access) {
                Some(place) => place,
                None => {
                    cell.stalls.push(Stall { access: access.to_owned(), waited: 0.0, blocked: 0.0 });
                    cell.stalls.len() - 1
                }
            };
            let stall = &mut cell.stalls[place];
            *(if is_wait { &mut stall.waited } else { &mut stall.blocked }) = measure.value;
        }
    }
    cells
}

const LOOPS: [&str; 4] = ["single", "dual", "quad", "single-split"];

fn of_loop<'c>(cells: &'c [Cells], name: &'c str) -> impl Iterator<Item = &'c Cells> {
    cells.iter().filter(move |cell| cell.loop_name == name)
}

/// The cell with the fewest clocks.
fn fewest<'c>(cells: impl Iterator<Item = &'c Cells>) -> Option<&'c Cells> {
    cells.min_by(|a, b| a.clocks_per_packet.total_cmp(&b.clocks_per_packet))
}

fn best_here(cells: &[Cells]) -> Vec<BestHere> {
    let best = |name| {
        let best = fewest(of_loop(cells, name))?;
        let none = of_loop(cells, name).find(|cell| cell.stride_first == 0).unwrap_or(best).clocks_per_packet;
        Some(BestHere {
            loop_name: best.loop_name.clone(),
            stride_first: best.stride_first,
            stride_second: best.stride_second,
            clocks_per_packet: best.clocks_per_packet,
            saves_percent: (1.0 - best.clocks_per_packet / none) * 100.0,
        })
    };
    LOOPS.into_iter().filter_map(best).collect()
}

fn gains(cells: &[Cells]) -> Gains {
    let none = |name| of_loop(cells, name).find(|cell| cell.is_plain()).map(|cell| cell.clocks_per_packet);
    let gain = |name| {
        let (base, best, none) = (none("single")?, fewest(of_loop(cells, name))?, none(name)?);
        let (gain_parallel, gain_prefetch) = (base / none, none / best.clocks_per_packet);
        Some(Gain {
            loop_name: best.loop_name.clone(),
            stride_first: best.stride_first,
            stride_second: best.stride_second,
            gain_parallel,
            gain_prefetch,
            gain: gain_parallel * gain_prefetch,
            clocks: best.clocks_per_packet,
        })
    };
    let gains: Vec<Gain> = LOOPS[..3].iter().filter_map(|name| gain(*name)).collect();
    let best = best_gain(&gains);
    let (gain_prefetch, gain_parallel) = (best.map(|gain| gain.gain_prefetch), best.map(|gain| gain.gain_parallel));
    Gains { gain_prefetch, gain_parallel, gains }
}

/// The gain of the loop that is best of all.
fn best_gain(gains: &[Gain]) -> Option<&Gain> {
    gains.iter().min_by(|a, b| a.clocks.total_cmp(&b.clocks))
}

/// The cells of a loop that have a published figure.
fn published_of<'c>(cells: &'c [Cells], loop_name: &'c str) -> impl Iterator<Item = (&'c Cells, f64)> {
    of_loop(cells, loop_name).filter_map(|cell| Some((cell, cell.published_clocks_per_packet?)))
}

/// The error table: the model, and beside it what needs no model.
fn scores(cells: &[Cells]) -> Vec<Score> {
    let mut scores = Vec::new();
    let single = |stride: usize| Some(published_of(cells, "single").find(|(cell, _)| cell.stride_first == stride)?.1);
    // A constant that knows what the fit knows: the best single-loop cell.
    let constant = published_of(cells, "single").map(|(_, published)| published).fold(f64::INFINITY, f64::min);
    for loop_name in ["single", "dual", "single-split"] {
        let errors = |predict: &dyn Fn(&Cells) -> Option<f64>| {
            let errors: Vec<f64> = published_of(cells, loop_name)
                .filter_map(|(cell, published)| Some((predict(cell)? / published - 1.0) * 100.0))
                .collect();
            stats::rms(&errors)
        };
        let mut add = |predictor, fitted, rms_percent: Option<f64>| {
            scores.extend(rms_percent.map(|rms_percent| Score { loop_name, predictor, fitted, rms_percent }));
        };
        let used = published_of(cells, loop_name).any(|(cell, _)| cell.used_in_fit);
        add("model", used, errors(&|cell| Some(cell.clocks_per_packet)));
        if loop_name == "dual" {
            add("dual(k) = single(2k)", false, errors(&|cell| single(2 * cell.stride_first)));
        }
        if loop_name == "single-split" {
            add("single(min(S2, 10))", false, errors(&|cell| single(cell.stride_second.min(10))));
        }
        if loop_name != "single" {
            add("constant: best of single", false, errors(&|_| Some(constant)));
        }
    }
    scores
}

/// The path outside of the loop, whose time is the same whatever the strides: what is left of a
/// packet's published time without its published clocks. Its mean over the single loop's cells,
/// which the model was fitted to, makes rates of modelled clocks.
#[derive(Clone, Serialize)]
struct Rest {
    ns: f64,
    /// From the least to the greatest over those cells.
    ns_over_cells: [f64; 2],
    scores: Vec<Score>,
}

impl Rest {
    /// The rest of the path, and with it the rate of each cell.
    fn new(cells: &mut [Cells], tick_ns: f64) -> Option<Self> {
        let left = |cell: &Cells| Some(1e3 / cell.published_mpps? - tick_ns * cell.published_clocks_per_packet?);
        let left: Vec<f64> = cells.iter().filter(|cell| cell.used_in_fit).filter_map(left).collect();
        let ns = stats::mean(&left)?;
        for cell in cells.iter_mut() {
            cell.mpps = Some(1e3 / (ns + tick_ns * cell.clocks_per_packet));
        }
        let single: Vec<f64> = of_loop(cells, "single").filter_map(|cell| cell.published_mpps).collect();
        let constant = single.iter().copied().fold(0.0, f64::max);
        let mut scores = Vec::new();
        for loop_name in ["single", "dual", "single-split"] {
            let errors = |predict: &dyn Fn(&Cells) -> Option<f64>| {
                let error = |cell: &Cells| Some((predict(cell)? / cell.published_mpps? - 1.0) * 100.0);
                stats::rms(&of_loop(cells, loop_name).filter_map(error).collect::<Vec<_>>())
            };
            let fitted = of_loop(cells, loop_name).any(|cell| cell.used_in_fit);
            let rows = [
                ("model and the rest of the path", errors(&|cell| cell.mpps)),
                ("constant: best of single", errors(&|_| Some(constant))),
            ];
            for (predictor, rms_percent) in rows {
                let fitted = fitted && predictor.starts_with("model");
                scores.extend(rms_percent.map(|rms_percent| Score { loop_name, predictor, fitted, rms_percent }));
            }
        }
        let [least, most] =
            [left.iter().copied().fold(f64::INFINITY, f64::min), left.iter().copied().fold(0.0, f64::max)];
        Some(Self { ns, ns_over_cells: [least, most], scores })
    }
}

fn best_strides(cells: &[Cells]) -> Vec<BestStrides> {
    let loops = ["single", "dual", "single-split"].into_iter();
    loops
        .filter_map(|loop_name| {
            let least = |value: &dyn Fn(&Cells, f64) -> f64| {
                published_of(cells, loop_name).min_by(|a, b| value(a.0, a.1).total_cmp(&value(b.0, b.1)))
            };
            let (predicted, there) = least(&|cell, _| cell.clocks_per_packet)?;
            let (published, minimum) = least(&|_, published| published)?;
            let cost_percent = (there / minimum - 1.0) * 100.0;
            Some(BestStrides { loop_name, predicted: predicted.label(), published: published.label(), cost_percent })
        })
        .collect()
}

fn cannot_tell(recording: &Recording) -> Vec<&str> {
    let costs = recording.header.costs.get("prefetch");
    let lines = costs.and_then(|costs| costs.get("fit")?.get("cannot_tell")?.as_array());
    lines.into_iter().flatten().filter_map(toml::Value::as_str).collect()
}

/// Several cores, if the platform's memory is known.
fn cores(recording: &Recording, rest: Option<&Rest>) -> Vec<Cores> {
    let value = |metric, of: &str| stats::median(&values(recording, CORES_CASE, metric, of));
    let numbers = subjects(recording, CORES_CASE, metrics::CLOCKS_PER_PACKET);
    let clocks = |of: &str| value(metrics::CLOCKS_PER_PACKET, of);
    let Some(one) = clocks("1") else { return Vec::new() };
    let time = |clocks: f64| clocks * tick_ns(recording) + rest.map_or(0.0, |rest| rest.ns);
    let row = |of: &str| {
        let (cores, clocks) = (of.parse().ok()?, clocks(of)?);
        Some(Cores {
            cores,
            clocks_per_packet: clocks,
            rate: cores as f64 * time(one) / time(clocks),
            memory_busy: value(metrics::MEMORY_BUSY, of)?,
        })
    };
    numbers.into_iter().filter_map(row).collect()
}

/// A curve for each loop whose strides are one number, with the range within 2 % of its best
/// shaded.
fn picture(cells: &[Cells]) -> Option<Picture> {
    let curve = |name: &&str| {
        let of = of_loop(cells, name).filter(|cell| cell.stride_first == cell.stride_second);
        let mut points: Vec<(f64, Figure)> = of
            .map(|cell| {
                let figure = Figure { value: cell.clocks_per_packet, published: cell.published_clocks_per_packet };
                (cell.stride_first as f64, figure)
            })
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let curve = Curve { name: (*name).to_owned(), points, best: None };
        (curve.points.len() > 1).then(|| curve.with_best(0.02))
    };
    let curves: Vec<Curve> = LOOPS[..3].iter().filter_map(curve).collect();
    let drawing = Drawing::Curves { x: "stride".to_owned(), curves };
    let is_empty = matches!(&drawing, Drawing::Curves { curves, .. } if curves.is_empty());
    let picture = Picture::new("Clocks per packet against the stride", "", "ticks", drawing);
    (!is_empty).then(|| picture.noted("Shaded: within 2 % of the loop's least."))
}

impl Gains {
    fn tell(&self, told: &mut Blocks) {
        let table = Table::with_rows(&self.gains)
            .words("loop", |gain| name(gain.loop_name.as_str()))
            .numbers("best", "", |gain| label(gain.stride_first, gain.stride_second))
            .numbers("by parallelism", "", |gain| fixed(gain.gain_parallel, 2))
            .numbers("by prefetch", "", |gain| fixed(gain.gain_prefetch, 2))
            .numbers("together", "", |gain| fixed(gain.gain, 2));
        let note = "By parallelism: the same without prefetch, since a loop of several packets waits for several at once. By \
                    prefetch: the rest.";
        let title = "How many times as fast as the single loop without prefetch";
        told.table(table.done().titled(title).noted(note));
    }

    /// The best loop and its gains, in a sentence.
    fn words(&self) -> Option<Text> {
        let best = best_gain(&self.gains)?;
        Some(text![
            "The best loop, ",
            name(best.loop_name.as_str()),
            format!(
                " at {}, takes {} clocks per packet and is {:.2} times as fast as the single loop without prefetch: {:.2} times by \
                 parallelism and {:.2} times by prefetch.",
                label(best.stride_first, best.stride_second),
                fixed(best.clocks, 2),
                best.gain,
                best.gain_parallel,
                best.gain_prefetch
            )
        ])
    }
}

fn best_table(best: &[BestHere]) -> Table {
    let saves = |best: &BestHere| match best.loop_name.as_str() {
        "single-split" => Cell::Empty,
        _ => fixed(best.saves_percent, 0).after(" %").into(),
    };
    Table::with_rows(best)
        .words("best", |best| name(best.loop_name.as_str()))
        .numbers("strides", "", |best| format!("+{}/+{}", best.stride_first, best.stride_second))
        .numbers("clocks", "", |best| fixed(best.clocks_per_packet, 1))
        .numbers("less than without prefetch", "", saves)
        .done()
}

impl Story for Strides<'_> {
    fn tell(&self, told: &mut Blocks) {
        match self {
            Self::Measured(study) => study.tell(told),
            Self::Predicted(study) => study.tell(told),
        }
    }
}

impl Measured<'_> {
    fn tell(&self, told: &mut Blocks) {
        if let Some(words) = self.gains.words() {
            told.answer(words);
        }
        if let Some(picture) = picture(&self.cells) {
            told.picture(picture);
        }
        told.table(best_table(&self.best));
        self.gains.tell(told);
        let facts = &self.facts;
        told.note(format!(
            "Stride study on this machine: metadata {}, frames of {}, {} buffers, {} rounds of {} work per packet. Before a frame its \
             metadata lies in {} and its data in {}. Clocks are ticks of the {} per packet ({:.3} ns); median and quartiles of {} \
             measurements.",
            self.layout,
            facts.frame_size,
            facts.buffers.unwrap_or(0),
            facts.rounds.unwrap_or(0),
            facts.work,
            facts.header_in,
            facts.data_in,
            self.counter,
            self.tick_ns,
            self.repetitions
        ));
        told.rest();
        let most = self.cells.iter().map(|cell| cell.clocks_per_packet).fold(0.0, f64::max);
        let quartiles = |cell: &Cells| {
            let quartile = |q| fixed(stats::quantile(&cell.values, q).unwrap_or(0.0), 1);
            Cell::Range(quartile(0.25), quartile(0.75))
        };
        let bar = |cell: &Cells| Bars {
            parts: vec![(Paint::Name(cell.loop_name.clone()), cell.clocks_per_packet)],
            longest: most,
            unit: "ticks",
        };
        let table = Table::with_rows(&self.cells)
            .words("loop", |cell| name(cell.loop_name.as_str()))
            .numbers("strides", "", |cell| format!("+{}/+{}", cell.stride_first, cell.stride_second))
            .numbers("clocks", "", |cell| fixed(cell.clocks_per_packet, 1))
            .numbers("quartiles", "", quartiles)
            .words("", bar);
        told.table(table.done());
    }
}

impl Predicted<'_> {
    fn tell(&self, told: &mut Blocks) {
        let has_published = self.cells.iter().any(|cell| cell.published_clocks_per_packet.is_some());
        let mut answer = Text::default();
        let unfitted = self.scores.iter().filter(|score| score.predictor == "model" && !score.fitted);
        let errors: Vec<String> = unfitted
            .map(|score| format!("{} by {}", score.loop_name, fixed(score.rms_percent, 2).after(" %")))
            .collect();
        if !errors.is_empty() {
            let words =
                format!("The model misses the published loops that no fit used, {} (rms). ", errors.join(" and "));
            answer.push(words);
        }
        if let Some(words) = self.gains.words() {
            answer.extend(words);
        }
        if !answer.is_empty() {
            told.answer(answer);
        }
        if let Some(picture) = picture(&self.cells) {
            told.picture(picture);
        }
        if has_published {
            self.against_published(told);
        } else {
            told.table(best_table(&best_here(&self.cells)));
        }
        self.gains.tell(told);
        told.note(format!(
            "Stride study of ethernet-input on a modelled {} (metadata line and data line per packet, frames of {}). Clocks are ticks of \
             {} ns per packet.",
            if self.platform.is_empty() { "core" } else { self.platform },
            self.frame_size,
            (self.tick_ns * 1000.0).round() / 1000.0
        ));
        told.rest();
        told.table(self.cell_table());
        if self.cores.len() > 1 {
            let table = Table::with_rows(&self.cores)
                .numbers("cores", "", |of| whole(of.cores as f64))
                .numbers("clocks of each", "", |of| fixed(of.clocks_per_packet, 3))
                .numbers("times the rate of one", "", |of| fixed(of.rate, 2))
                .numbers("memory busy", "", |of| percent(of.memory_busy, 1));
            told.table(table.done().titled("Several cores at once, each with the best loop").noted(
                "A model without a measurement beside it: the cores share memory, whose lines wait for each other, and second-level \
                 caches, and nothing else.",
            ));
        }
        let burst: Vec<String> = self.burst_of_eight.iter().map(|blocked| format!("{blocked:.2}")).collect();
        told.paragraph(format!(
            "A burst of eight prefetches of lines beyond L2, ticks that each waits for a fill buffer: {}",
            burst.join("  ")
        ));
        if !self.cannot_tell.is_empty() {
            told.heading("What the fitted cells cannot tell");
            told.list(self.cannot_tell.iter().map(|line| Text::from(*line)).collect());
        }
        if has_published {
            told.heading("Limits");
            told.list(LIMITS.into_iter().map(Text::from).collect());
        }
    }

    fn cell_table(&self) -> Table {
        let kind = |cell: &Cells| match (cell.published_clocks_per_packet, cell.used_in_fit) {
            (None, _) => "no figure",
            (Some(_), true) => "fitted",
            (Some(_), false) => "predicted",
        };
        let waited = |cell: &Cells, access: &str| {
            fixed(cell.stalls.iter().filter(|stall| stall.access == access).map(|stall| stall.waited).sum::<f64>(), 2)
        };
        let blocked = |cell: &Cells| {
            let blocked: f64 = cell.stalls.iter().map(|stall| stall.blocked).sum();
            (blocked >= 0.005).then(|| fixed(blocked, 2))
        };
        let or_dash = |number: Option<Number>| number.map_or_else(|| Cell::from("-"), Cell::from);
        Table::with_rows(&self.cells)
            .words("loop", |cell| name(cell.loop_name.as_str()))
            .numbers("strides", "", Cells::label)
            .numbers("published", "", |cell| or_dash(cell.published_clocks_per_packet.map(|clocks| fixed(clocks, 3))))
            .numbers("model", "", |cell| fixed(cell.clocks_per_packet, 3))
            .numbers("error", "", |cell| or_dash(cell.error_percent.map(|of| fixed(of, 1).signed().after("\u{a0}%"))))
            .words("", kind)
            .numbers("Mpps published", "", |cell| or_dash(cell.published_mpps.map(|mpps| fixed(mpps, 2))))
            .numbers("model", "", |cell| or_dash(cell.mpps.map(|mpps| fixed(mpps, 2))))
            .numbers("data", "", |cell| waited(cell, "first touch of the packet's data"))
            .numbers("metadata", "", |cell| waited(cell, "first touch of the metadata"))
            .numbers("buffers", "", blocked)
            .done()
            .noted(text![
                "Stalls, ticks per packet: data and metadata wait at the first touch of the packet's line of that kind; an access that \
                 finds all fill buffers full waits for one: buffers (",
                crate::blocks::code("--format json"),
                " says where)."
            ])
    }

    /// The error of each table, and the best strides, beside what was published.
    fn against_published(&self, told: &mut Blocks) {
        let best = |score: &Score| {
            let same = self.scores.iter().filter(|other| other.loop_name == score.loop_name);
            let least = same.map(|other| other.rms_percent).fold(f64::INFINITY, f64::min);
            let several = self.scores.iter().filter(|other| other.loop_name == score.loop_name).count() > 1;
            if several && score.rms_percent == least { "best" } else { "" }
        };
        let table = Table::with_rows(&self.scores)
            .words("loop", |score| name(score.loop_name))
            .words("predictor", |score| score.predictor)
            .numbers("rms error", "", |score| percent(score.rms_percent / 100.0, 2))
            .words("", |score| if score.fitted { "fitted" } else { "predicted" })
            .words("", best);
        told.table(table.done().titled("Errors (root mean square, relative)"));
        if let Some(rest) = &self.rest {
            let table = Table::with_rows(&rest.scores)
                .words("loop", |score| name(score.loop_name))
                .words("predictor", |score| score.predictor)
                .numbers("rms error", "", |score| percent(score.rms_percent / 100.0, 2))
                .words("", |score| if score.fitted { "fitted" } else { "predicted" });
            let [least, most] = rest.ns_over_cells;
            told.table(table.done().titled("Errors of the rate of the whole path, Mpps").noted(format!(
                "The rest of the path takes {:.1} ns per packet, {least:.1} to {most:.1} over the fitted cells: 1000/Mpps less the \
                 published clocks.",
                rest.ns
            )));
        }
        let table = Table::with_rows(&self.best)
            .words("best strides", |best| name(best.loop_name))
            .numbers("model", "", |best| best.predicted.as_str())
            .numbers("published", "", |best| best.published.as_str())
            .numbers("published clocks at the model's, above the published minimum", "", |best| {
                fixed(best.cost_percent, 2).signed().after(" %")
            });
        told.table(table.done());
    }
}

/// Limits that belong beside every prediction for the core of the slides.
const LIMITS: [&str; 3] = [
    "The parameters were fitted to the single-loop column alone. The model's structure was chosen by people who knew all three \
     tables: without the time of the first touch of a page, the split table is off by about 9.5 % and the other two are as good. So \
     the split error is weaker evidence than the dual one.",
    "The fit lies on an edge: with a window just longer than a packet's work the next prefetch is issued under a stall, with one just \
     shorter it is not. A real core has no such edge.",
    "In the split table the model is flat from +2/+9 on; silicon falls until +2/+13. What the model lacks there is not known.",
];

//! `prefetch`: the stride study, on this machine or on a modelled core.

use super::story::Story;
use crate::blocks::{
    Bars, Blocks, Cell, Columns, Curve, Drawing, Figure, Paint, Picture, Table, figure, fixed,
    percent,
};
use crate::words::{clocks, packets};
use evidence::Leaders;
use findings::strides::{
    Cells, Gains, LIMITS, LOOPS, MeasuredStudy, PredictedStudy, Score, Strides, label, of_loop,
};
use findings::ticks::Ticks;
use itertools::Itertools;
use recording::total_order;

/// A curve for each loop whose strides are one number, with the range within 2 % of its best
/// shaded.
fn picture(cells: &[Cells], ticks: &Ticks) -> Option<Picture> {
    let curve = |name: &&str| {
        let of = of_loop(cells, name).filter(|cell| cell.stride_first == cell.stride_second);
        let mut points = of
            .map(|cell| {
                let published = cell
                    .published_clocks_per_packet
                    .map(|of| of * ticks.factor());
                let value = cell.clocks_per_packet * ticks.factor();
                (cell.stride_first as f64, Figure { value, published })
            })
            .collect_vec();
        points.sort_by_key(|of| total_order(of.0));
        let curve = Curve {
            name: (*name).to_owned(),
            points,
            best: None,
        };
        (curve.points.len() > 1).then(|| curve.with_best(0.02))
    };
    let curves = LOOPS[..3].iter().filter_map(curve).collect_vec();
    let is_empty = curves.is_empty();
    let drawing = Drawing::Curves {
        x: "stride".to_owned(),
        curves,
    };
    let picture = Picture::new(
        "Clocks per packet against the stride",
        "a packet",
        clocks::unit(ticks),
        drawing,
    );
    (!is_empty).then(|| picture.noted("Shaded: within 2 % of the loop's least."))
}

impl Story for Gains {
    fn tell(&self, told: &mut Blocks) {
        let table = Table::with_rows(&self.gains)
            .words("loop", |gain| &gain.loop_name)
            .numbers("best", |gain| label(gain.stride_first, gain.stride_second))
            .numbers("clocks", |gain| figure(gain.clocks))
            .numbers("by parallelism", |gain| fixed(gain.gain_parallel, 2))
            .numbers("by prefetch", |gain| fixed(gain.gain_prefetch, 2))
            .numbers("together", |gain| fixed(gain.gain, 2));
        let note = "By parallelism: the same without prefetch, since a loop of several packets waits for several at once. By \
                    prefetch: the rest.";
        let title = "How many times as fast as the single loop without prefetch";
        told.table(table.titled(title).noted(note));
    }
}

impl Story for Strides<'_> {
    fn tell(&self, told: &mut Blocks) {
        match self {
            Self::Measured(study) => study.tell(told),
            Self::Predicted(study) => study.tell(told),
        }
    }
}

impl Story for MeasuredStudy<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answers(packets::measured(self));
        clocks::noise(&self.steadiness, told);
        told.picture(picture(&self.cells, &self.ticks));
        if self.steadiness.repeats {
            self.gains.tell(told);
        }
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
            self.ticks.counter,
            self.ticks.tick_ns,
            self.repetitions
        ));
        let most = self
            .cells
            .iter()
            .map(|cell| cell.clocks_per_packet)
            .fold(0.0, f64::max);
        let quartiles = |cell: &Cells| {
            let [low, high] = cell.quartiles().map(|clocks| fixed(clocks, 1));
            Cell::Range(low, high)
        };
        let table = Table::with_rows(&self.cells)
            .words("loop", |cell| &cell.loop_name)
            .numbers("strides", |cell| {
                format!("+{}/+{}", cell.stride_first, cell.stride_second)
            })
            .numbers("clocks", |cell| fixed(cell.clocks_per_packet, 1))
            .numbers("quartiles", quartiles)
            .words("", |cell| Bars {
                parts: vec![(Paint::Name(cell.loop_name.clone()), cell.clocks_per_packet)],
                longest: most,
                unit: "ticks",
            });
        told.table(table);
    }
}

impl Story for PredictedStudy<'_> {
    fn tell(&self, told: &mut Blocks) {
        let has_published = self
            .cells
            .iter()
            .any(|cell| cell.published_clocks_per_packet.is_some());
        told.answers(packets::predicted(self));
        if let Some(whose) = &self.borrowed {
            told.warning(whose.as_str());
        }
        told.picture(picture(&self.cells, &self.ticks));
        if has_published {
            against_published(self, told);
        }
        self.gains.tell(told);
        told.note(format!(
            "Stride study of ethernet-input on a modelled {} (metadata line and data line per packet, frames of {}). Clocks are ticks of \
             {} ns per packet.",
            if self.platform.is_empty() { "core" } else { self.platform },
            self.frame_size,
            (self.ticks.tick_ns * 1000.0).round() / 1000.0
        ));
        told.table(cell_table(self));
        let burst = self
            .burst_of_eight
            .iter()
            .map(|blocked| format!("{blocked:.2}"))
            .join("  ");
        told.paragraph(format!(
            "A burst of eight prefetches of lines beyond L2, ticks that each waits for a fill buffer: {burst}"
        ));
        if !self.cannot_tell.is_empty() {
            told.heading("What the fitted cells cannot tell");
            told.list(self.cannot_tell.iter().copied());
        }
        if has_published {
            told.heading("Limits");
            told.list(LIMITS);
        }
    }
}

fn cell_table(predicted: &PredictedStudy<'_>) -> Table {
    let kind = |cell: &Cells| match (cell.published_clocks_per_packet, cell.used_in_fit) {
        (None, _) => "no figure",
        (Some(_), true) => "fitted",
        (Some(_), false) => "predicted",
    };
    let waited = |cell: &Cells, access: &str| fixed(cell.waited_at(access), 2);
    Table::with_rows(&predicted.cells)
        .words("loop", |cell| &cell.loop_name)
        .numbers("strides", Cells::label)
        .numbers("published", |cell| Cell::or_dash(cell.published_clocks_per_packet.map(|clocks| fixed(clocks, 3))))
        .numbers("model", |cell| fixed(cell.clocks_per_packet, 3))
        .numbers("error", |cell| Cell::or_dash(cell.error_percent.map(|of| fixed(of, 1).signed().after("\u{a0}%"))))
        .words("", kind)
        .numbers("Mpps published", |cell| Cell::or_dash(cell.published_mpps.map(|mpps| fixed(mpps, 2))))
        .numbers("model", |cell| Cell::or_dash(cell.mpps.map(|mpps| fixed(mpps, 2))))
        .numbers("data", |cell| waited(cell, "first touch of the packet's data"))
        .numbers("metadata", |cell| waited(cell, "first touch of the metadata"))
        .numbers("buffers", |cell| (cell.blocked() >= 0.005).then(|| fixed(cell.blocked(), 2)))
        .noted(
            "Stalls, ticks per packet: data and metadata wait at the first touch of the packet's line of that kind; an access that \
             finds all fill buffers full waits for one: buffers (`--format json` says where).",
        )
}

/// A table of errors.
fn scores(scores: &[Score]) -> Columns<'_, Score> {
    Table::with_rows(scores)
        .words("loop", |score| score.loop_name)
        .words("predictor", |score| score.predictor)
        .numbers("rms error", |score| percent(score.rms_percent / 100.0, 2))
        .words(
            "",
            |score| if score.fitted { "fitted" } else { "predicted" },
        )
}

/// The error of each table, and the best strides, beside what was published.
fn against_published(predicted: &PredictedStudy<'_>, told: &mut Blocks) {
    let best = |score: &Score| {
        let others = predicted
            .scores
            .iter()
            .filter(|other| other.loop_name == score.loop_name);
        let least = Leaders::least(others, |other| Some([other.rms_percent; 2]));
        least.is_some_and(|least| {
            least
                .alone()
                .is_some_and(|of| of.predictor == score.predictor)
        })
    };
    let table = scores(&predicted.scores).words("", |score| if best(score) { "best" } else { "" });
    told.table(table.titled("Errors (root mean square, relative)"));
    if let Some(rest) = &predicted.rest {
        let table = scores(&rest.scores);
        let [least, most] = rest.ns_over_cells;
        told.table(table.titled("Errors of the rate of the whole path, Mpps").noted(format!(
            "The rest of the path takes {:.1} ns per packet, {least:.1} to {most:.1} over the fitted cells: 1000/Mpps minus the \
             published clocks.",
            rest.ns
        )));
    }
    let table = Table::with_rows(&predicted.best)
        .words("best strides", |best| best.loop_name)
        .numbers("model", |best| best.predicted.as_str())
        .numbers("published", |best| best.published.as_str())
        .numbers(
            "published clocks at the model's, above the published minimum",
            |best| fixed(best.cost_percent, 2).signed().after(" %"),
        )
        .numbers("at the longest tried", |best| {
            fixed(best.longest_cost_percent, 2).signed().after(" %")
        });
    told.table(table);
}

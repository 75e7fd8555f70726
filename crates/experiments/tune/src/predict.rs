//! The model's word on a loop: what is unknown of the loop is fitted to a few of its cells, and all
//! others are predicted.

use crate::core_file::CoreFile;
use crate::grid::{BATCHES, Grid};
use crate::protocol::{KnobKind, LoopAbout};
use crate::sweep::median;
use core_model::window::{LoopRun, LoopShape, ShapeLine, time_per_record};
use dataplane_experiments::fit::downhill;

/// Records of a run of the model.
const RECORDS: usize = 4096;

/// Steps of the search.
const STEPS: usize = 120;

/// The numbers that were found of a loop.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopFigures {
    /// Ticks per record where all lines are near.
    pub work: f64,
    /// Ticks per call.
    pub call: f64,
    /// Instructions of a record.
    pub instructions: f64,
    /// Ticks from a record's lines to the end of what depends on them.
    pub chain: f64,
    /// The lines' times, as a multiple of the core's.
    pub scale: f64,
    /// Root mean square of the relative errors over the cells of the fit.
    pub rms: f64,
}

/// The model of a loop on a core.
pub struct Model<'a> {
    core: &'a CoreFile,
    about: &'a LoopAbout,
    grid: &'a Grid,
    /// The share of the records' memory in huge pages.
    huge: f64,
}

/// Predictions.
pub struct Predictions {
    /// The numbers that were fitted.
    pub fitted: LoopFigures,
    /// The cells of the fit.
    pub used: Vec<usize>,
    /// For each cell of the grid its ticks per record; `None` for what is not modelled.
    pub ticks: Vec<Option<f64>>,
}

impl<'a> Model<'a> {
    /// The model of a loop.
    pub fn new(core: &'a CoreFile, about: &'a LoopAbout, grid: &'a Grid, huge: f64) -> Self {
        Self { core, about, grid, huge }
    }

    /// The cells that a fit uses: without prefetch in each set, and few distances.
    pub fn used(&self) -> Vec<usize> {
        let grid = self.grid;
        let far = grid.sets.len() - 1;
        let mut cells = vec![(0, grid.batch, grid.all(0)), (0, BATCHES[0], grid.all(0))];
        cells.extend([0, 2, 8, 32].map(|ahead| (far, grid.batch, grid.spread(ahead))));
        if far > 1 {
            cells.push((far - 1, grid.batch, grid.all(0)));
        }
        if grid.distances() > 1 {
            // The first line alone, and all alike.
            let mut first = grid.all(0);
            first[self.lines()[0]] = 8;
            cells.extend([(far, grid.batch, first), (far, grid.batch, grid.all(8))]);
        }
        cells.into_iter().filter_map(|(set, batch, values)| grid.find(set, batch, &values)).collect()
    }

    /// Fits and predicts; `None` where a cell that the fit needs was not measured.
    pub fn predict(&self, values: &[Vec<f64>]) -> Option<Predictions> {
        let used = self.used();
        let measured: Vec<(usize, f64)> =
            used.iter().filter(|cell| !values[**cell].is_empty()).map(|cell| (*cell, median(&values[*cell]))).collect();
        let at = |set, batch| {
            let cell = self.grid.find(set, batch, &self.grid.all(0))?;
            measured.iter().find(|(other, _)| *other == cell).map(|(_, ticks)| *ticks)
        };
        // A call costs what small batches take longer.
        let (large, small) = (at(0, self.grid.batch)?, at(0, BATCHES[0]).or_else(|| at(0, self.grid.batch))?);
        let (few, many) = (BATCHES[0] as f64, self.grid.batch as f64);
        let call = if many > few { ((small - large) / (1.0 / few - 1.0 / many)).max(0.0) } else { 0.0 };
        let work = (large - call / many).max(0.1);
        let of = |[share, chain, scale]: [f64; 3]| LoopFigures {
            work,
            call,
            instructions: self.core.under_way.instructions * share.clamp(-4.0, 2.5).exp(),
            chain: chain.max(0.0),
            scale: scale.clamp(-1.2, 1.2).exp(),
            rms: 0.0,
        };
        let rms = |values: [f64; 3]| {
            let fitted = of(values);
            let square =
                |(cell, ticks): &(usize, f64)| (self.ticks(&fitted, *cell).unwrap_or(*ticks) / ticks - 1.0).powi(2);
            (measured.iter().map(square).sum::<f64>() / measured.len() as f64).sqrt()
        };
        let cost = |values: [f64; 3]| {
            // What the search leaves its range for is no better there, and where the cells say
            // nothing, lines take as long as the core's own.
            let [share, chain, scale] = values;
            let outside = share.abs().max(2.5) - 2.5 + (scale.abs().max(1.2) - 1.2) + (-chain).max(0.0) / work;
            rms(values) + outside + 0.02 * scale.abs()
        };
        let starts = [-2.0, -1.0, 0.0, 1.0].into_iter().flat_map(|share| [-0.4, 0.2].map(|scale| [share, work, scale]));
        let search = |start| downhill(start, [0.5, work.max(5.0), 0.2], STEPS, cost);
        // Two at a time: a machine that tunes loops has two cores at least, or takes longer.
        let (one, other): (Vec<_>, Vec<_>) = starts.enumerate().partition(|(at, _)| at % 2 == 0);
        let found = std::thread::scope(|scope| {
            let one = scope.spawn(|| one.into_iter().map(|(_, start)| search(start)).collect::<Vec<_>>());
            let mut found: Vec<_> = other.into_iter().map(|(_, start)| search(start)).collect();
            found.extend(one.join().unwrap_or_default());
            found
        });
        let best = found.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let fitted = LoopFigures { rms: rms(best.0), ..of(best.0) };
        let ticks = (0..self.grid.cells.len()).map(|cell| self.ticks(&fitted, cell)).collect();
        Some(Predictions { fitted, used: measured.into_iter().map(|(cell, _)| cell).collect(), ticks })
    }

    /// The knobs that have a line; a knob's place here is its line's in the model.
    fn lines(&self) -> Vec<usize> {
        (0..self.about.knobs.len()).filter(|knob| self.about.knobs[*knob].kind != KnobKind::Choice).collect()
    }

    /// Ticks per record of a cell; `None` for a choice other than today's.
    fn ticks(&self, fitted: &LoopFigures, cell: usize) -> Option<f64> {
        let cell = &self.grid.cells[cell];
        let choices = self.about.knobs.iter().zip(cell.values.iter().zip(self.grid.all(0)));
        if choices.into_iter().any(|(knob, (value, today))| knob.kind == KnobKind::Choice && *value != today) {
            return None;
        }
        let of_lines = self.lines();
        let line = |knob: &usize| of_lines.iter().position(|other| other == knob);
        let after = |knob: &usize| self.about.knobs[*knob].after.as_ref().and_then(line);
        let lines = of_lines.iter().map(|knob| ShapeLine { after: after(knob) });
        let shape = LoopShape {
            lines: lines.collect(),
            work: fitted.work,
            instructions: fitted.instructions,
            chain: fitted.chain,
        };
        let ahead: Vec<usize> = of_lines.iter().map(|knob| cell.values[*knob] as usize).collect();
        let set = &self.grid.sets[cell.set];
        let near = self.core.latencies(0, self.huge);
        let times = self
            .core
            .latencies(set.records * self.about.record_bytes, self.huge)
            .map(|time| (time - near[3]).max(0.0) * fitted.scale);
        // A line beside one that was asked for comes with it.
        let beside = times.map(|time| time.min(self.core.by_itself.beside_ticks * fitted.scale));
        let latencies: Vec<&[f64]> = of_lines
            .iter()
            .map(|knob| match (set.name, self.about.knobs[*knob].beside) {
                ("warm", _) => &[][..],
                (_, true) => &beside[..],
                (_, false) => &times[..],
            })
            .collect();
        let how = LoopRun {
            ahead: &ahead,
            batch: cell.batch as usize,
            latencies: &latencies,
            held: &times,
            records: RECORDS,
            seed: 1,
        };
        Some(time_per_record(self.core.reorderer(), &shape, how) + fitted.call / cell.batch as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core_file::tests::plain;
    use crate::recipe::Recipe;
    use crate::worker::about_recipe;
    use document::Document;

    /// A loop that is itself the model's: the fit finds it again, and the cells that it did not
    /// see.
    #[test]
    fn a_loop_of_the_model_is_predicted_where_the_fit_did_not_look() {
        let core = plain();
        let text = "name = \"x\"\nmultiplications = 1\n[[line]]\nname = \"a\"\n[[line]]\nname = \"b\"\nafter = \"a\"\n";
        let about = about_recipe(&Recipe::read(&Document::new("x", text)).unwrap());
        let grid = Grid::new(&about, 256, &core.core.cache_bytes, 1 << 28);
        let model = Model::new(&core, &about, &grid, 1.0);
        let truth = LoopFigures { work: 30.0, call: 40.0, instructions: 120.0, chain: 50.0, scale: 1.0, rms: 0.0 };
        let values: Vec<Vec<f64>> =
            (0..grid.cells.len()).map(|cell| vec![model.ticks(&truth, cell).unwrap()]).collect();
        let predicted = model.predict(&values).unwrap();
        assert!(predicted.used.len() <= grid.cells.len() / 10);
        let mut errors: Vec<f64> =
            predicted.ticks.iter().zip(&values).map(|(ticks, value)| (ticks.unwrap() / value[0] - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        assert!(errors[errors.len() / 2] < 0.05, "{errors:?} {:?}", predicted.fitted);
    }
}

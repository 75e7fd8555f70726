//! `tune`: distances and choices of a loop that somebody wrote.

use super::story::Story;
use crate::blocks::{Blocks, Cell, Curve, Drawing, Picture, Table, figure, fixed};
use crate::words::{clocks, tune as words};
use findings::tune::{Less, NEAR, Tune, TunedCell};
use itertools::Itertools;
use recording::total_order;

/// The best beside what an engineer would have tried.
fn beside(tune: &Tune<'_>, told: &mut Blocks) {
    let less = |less: Option<Less>, of: fn(&Less) -> f64| {
        less.map_or(Cell::from(""), |less| fixed(of(&less), 1).into())
    };
    let table = Table::with_rows(&tune.beside)
        .words("beside the best", |of| Cell::from(of.name.clone()))
        .words("values", |of| Cell::from(words::values(tune, &of.values)))
        .numbers("clocks", |of| fixed(of.clocks, 1))
        .numbers("the best takes less by, %", |of| {
            less(of.best_takes_less, |less| less.percent)
        })
        .numbers("from, %", |of| {
            less(of.best_takes_less, |less| less.interval[0])
        })
        .numbers("to, %", |of| {
            less(of.best_takes_less, |less| less.interval[1])
        });
    told.table(table.noted(format!(
        "Ticks of the {} ({} ns each) per record. Compared round by round, in up to {} of the same rounds; 95 % intervals. Rule of thumb: \
         the last line 12 ahead, each one before it twice as far. 4, 8, 16 or 32: the first line as far, each later one at half of it; \
         the best of the four. {} slices in all; a round's slices differ by {} % (between quartiles).",
        tune.ticks.counter,
        fixed(tune.ticks.tick_ns, 3),
        tune.facts.rounds,
        tune.facts.slices,
        figure(tune.steadiness.apart_percent)
    )));
}

fn pictures(tune: &Tune<'_>, told: &mut Blocks) {
    let Some(best) = &tune.best else { return };
    let (factor, unit) = (tune.ticks.factor(), clocks::unit(&tune.ticks));
    let far = tune.far();
    let curve = |knob: usize| {
        let is_on = |cell: &&TunedCell| {
            let others = (0..cell.values.len()).filter(|at| *at != knob);
            cell.set == far
                && cell.batch == tune.facts.batch
                && others
                    .into_iter()
                    .all(|at| cell.values[at] == best.values[at])
        };
        let mut points = tune
            .cells
            .iter()
            .filter(is_on)
            .map(|cell| (f64::from(cell.values[knob]), factor * cell.clocks))
            .collect_vec();
        points.sort_by_key(|of| total_order(of.0));
        Curve::new(&tune.facts.knobs[knob].name, points).with_best(NEAR)
    };
    let curves = (0..tune.facts.knobs.len())
        .map(curve)
        .filter(|curve| curve.points.len() > 1)
        .collect_vec();
    let drawing = Drawing::Curves {
        x: "value of the knob, the others as in the best".to_owned(),
        curves,
    };
    let title = format!("Clocks per record, batches of {}", tune.facts.batch);
    told.picture(
        Picture::new(&title, "a record in the loop", unit, drawing)
            .noted("Shaded: within 2 % of the least."),
    );
}

impl Story for Tune<'_> {
    fn tell(&self, told: &mut Blocks) {
        if let Some(best) = &self.best {
            words::tell(self, best, told);
        }
        beside(self, told);
        pictures(self, told);
    }
}

//! `tune`: distances and choices of a loop that somebody wrote.

use super::clocks;
use super::story::Story;
use crate::blocks::{Blocks, Cell, Curve, Drawing, Picture, Table, figure, fixed, name, whole};
use evidence::share_less;
use findings::tune::{Best, Less, NEAR, Tune, TunedCell, size};
use itertools::Itertools;

/// A difference in percent that no user would act on.
const ALIKE: f64 = 1.0;

/// Values of knobs in words.
fn words(tune: &Tune<'_>, values: &[u32]) -> String {
    let words = tune
        .facts
        .knobs
        .iter()
        .zip(values)
        .map(|(knob, value)| format!("{} {value}", knob.name))
        .collect_vec();
    words.join(", ")
}

/// The sentence about the best and today's values.
fn verdict(tune: &Tune<'_>, best: &Best) -> String {
    let (found, of) = (words(tune, &best.values), &tune.facts.name);
    // A loop without a source has no values in it.
    let mut knobs = tune.facts.knobs.iter();
    let today = if knobs.any(|knob| knob.define.is_some() || knob.today > 0 && knob.is_distance) {
        "with today's values"
    } else {
        "without prefetch"
    };
    let takes = format!("{} per record", clocks::words(&tune.ticks, best.clocks));
    let taken = |less: &Less| share_less(less.interval.map(|percent| percent / 100.0));
    match &best.less_than_today {
        Some(less) if less.is_certain() && less.percent > 0.0 => format!(
            "With {found} `{of}` takes the least time of what was tried: {takes}, {} than {today}",
            taken(less)
        ),
        Some(less) if less.interval.iter().all(|end| end.abs() < ALIKE) && !less.drifts => {
            format!("`{of}` takes the same time {today} as with {found}, within {ALIKE} %: {takes}")
        }
        Some(less) => {
            let why = if less.drifts {
                ": the first half of the rounds contradicts the second"
            } else {
                ""
            };
            format!(
                "Whether `{of}` takes less time than {today} cannot be told here now; with {found} it takes {}{why}",
                taken(less)
            )
        }
        None if best.today == Some(best.clocks) => {
            format!("Nothing that was tried takes less time than `{of}` {today}: {found}, {takes}")
        }
        None => format!(
            "`{of}` took {takes} with {found}; the rounds are too few to compare that with today's values"
        ),
    }
}

/// The sentences about the best.
fn answer(tune: &Tune<'_>, best: &Best, told: &mut Blocks) {
    let facts = &tune.facts;
    let mut sentence = format!(
        "{}. The records have {} MB of lines, in batches of {}.",
        verdict(tune, best),
        facts.sets.last().map_or(0, |set| set.bytes >> 20),
        facts.batch
    );
    if let Some(none) = best.none {
        sentence.push_str(&format!(
            " Without prefetch it takes {}.",
            clocks::words(&tune.ticks, none)
        ));
    }
    told.answer(sentence);
    if !best.defines.is_empty() {
        told.verbatim(format!("{}\n", best.defines.join("\n")));
    }
    if let Some(first) = facts.left_out.first() {
        told.warning(format!(
            "`{}` leaves other results in memory with {} than without prefetch ({} values of those that were tried): it does other work \
             there, such as a loop that forgets the last records of a batch. They are left out; --results-may-differ measures them.",
            facts.name,
            words(tune, first),
            facts.left_out.len()
        ));
    }
    if let Some(rival) = &best.rival {
        told.warning(format!(
            "The search is not sure: {} may take up to {} % less than the best. A quieter machine, or more --rounds than {}, may tell.",
            words(tune, &rival.values),
            fixed(rival.less_percent, 1),
            facts.rounds
        ));
    }
    let near = facts
        .knobs
        .iter()
        .zip(&best.near)
        .map(|(knob, [from, to])| {
            if from == to {
                format!("{} {from}", knob.name)
            } else {
                format!("{} {from} to {to}", knob.name)
            }
        })
        .collect_vec();
    told.paragraph(format!(
        "Within 2 % of it, one at a time: {}.",
        near.join(", ")
    ));
    if facts.at_the_end {
        told.warning(
            "The best is at the end of what can be tried: a record's work is so short against a line from memory that a whole \
             batch should be asked for first.",
        );
    }
}

/// The best beside what an engineer would have tried.
fn beside(tune: &Tune<'_>, told: &mut Blocks) {
    let less = |less: Option<Less>, of: fn(&Less) -> f64| {
        less.map_or(Cell::from(""), |less| fixed(of(&less), 1).into())
    };
    let table = Table::with_rows(&tune.beside)
        .words("beside the best", |of| Cell::from(of.name.clone()))
        .words("values", |of| Cell::from(words(tune, &of.values)))
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
    told.table(table.done().noted(format!(
        "All in the same {} rounds, compared round by round; 95 % intervals. Rule of thumb: the last line 12 ahead, each one before \
         it twice as far. 4, 8, 16 or 32: the first line as far, each later one at half of it; the best of the four.",
        tune.facts.rounds
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
        let point = |cell: &TunedCell| (f64::from(cell.values[knob]), factor * cell.clocks);
        let mut points = tune.cells.iter().filter(is_on).map(point).collect_vec();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
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
            answer(self, best, told);
        }
        if !self.beside.is_empty() {
            beside(self, told);
        }
        pictures(self, told);
        let clocks =
            |clocks: Option<f64>| clocks.map_or(Cell::from(""), |clocks| fixed(clocks, 1).into());
        let place = |set: &str| {
            self.facts
                .sets
                .iter()
                .find(|of| of.name == set)
                .map_or(0, |of| of.bytes)
        };
        let table = Table::with_rows(&self.groups)
            .words("records", |group| name(&group.set))
            .words("of", |group| Cell::from(size(place(&group.set))))
            .numbers("batch", |group| whole(group.batch as f64))
            .words("least of what was tried there", |group| {
                Cell::from(words(self, &group.values))
            })
            .numbers("clocks", |group| fixed(group.clocks, 1))
            .numbers("the best of the search", |group| clocks(group.pick))
            .numbers("none", |group| clocks(group.none));
        told.table(table.done().noted(format!(
            "Ticks of the {} ({} ns each) per record, medians of the rounds of each row. warm: the same batch again and again. Elsewhere \
             only the best of the search and the rules above were tried. {} slices in all; a round's slices differ by {} % (between \
             quartiles).",
            self.ticks.counter,
            fixed(self.ticks.tick_ns, 3),
            whole(self.facts.slices as f64),
            figure(self.steadiness.apart_percent)
        )));
    }
}

//! `tune`: distances and batch of a loop that somebody wrote.

use super::clocks;
use super::story::Story;
use crate::blocks::{Axis, Blocks, Cell, Curve, Drawing, Figure, HeatMap, Picture, Table, fixed, name, percent, whole};
use findings::tune::{Best, NEAR, Pick, Tune, TunedCell, size, spread};

/// Values of knobs in words.
fn words(tune: &Tune<'_>, values: &[u32]) -> String {
    let words: Vec<String> =
        tune.facts.knobs.iter().zip(values).map(|(knob, value)| format!("{} {value}", knob.name)).collect();
    words.join(", ")
}

/// The sentences about the best.
fn answer(tune: &Tune<'_>, best: &Best, told: &mut Blocks) {
    let facts = &tune.facts;
    let taken = |ticks: f64| clocks::words(&tune.ticks, ticks);
    // What does not repeat itself is told of this session alone.
    let takes = if tune.steadiness.repeats { "takes" } else { "took in this session" };
    let mut words = format!(
        "`{}` {takes} the least time with {}: {} per record, with {} MB of lines, in batches of {}",
        facts.name,
        words(tune, &best.values),
        taken(best.clocks),
        facts.sets.last().map_or(0, |set| set.bytes >> 20),
        facts.batch
    );
    if let Some(none) = best.none {
        words.push_str(&format!(". Without prefetch it takes {}", taken(none)));
    }
    if let Some(today) = best.today {
        words.push_str(&format!(", and with today's values {}", taken(today)));
    }
    words.push('.');
    told.answer(words);
    if !best.defines.is_empty() {
        told.verbatim(format!("{}\n", best.defines.join("\n")));
    }
    clocks::noise(&tune.steadiness, told);
    let near: Vec<String> = facts
        .knobs
        .iter()
        .zip(&best.near)
        .map(|(knob, [from, to])| match from == to {
            true => format!("{} {from}", knob.name),
            false => format!("{} {from} to {to}", knob.name),
        })
        .collect();
    told.paragraph(format!("Within 2 % of it: {}.", near.join(", ")));
    if facts.at_the_end {
        told.warning(
            "The best is at the end of what can be tried: a record's work is so short against a line from memory that a whole \
             batch should be asked for first.",
        );
    }
    if let Some(model) = &facts.model {
        let ahead = (model.line / model.work).ceil();
        told.paragraph(format!(
            "Why: a line from memory takes {} and a record's work {}, so a line that is asked for {} records ahead is there in \
             time; {} lines can be on their way at once, and {} records fit the core's window.",
            taken(model.line),
            taken(model.work),
            ahead,
            model.fills,
            fixed(model.window_records, 1)
        ));
    }
}

fn pictures(tune: &Tune<'_>, told: &mut Blocks) {
    let facts = &tune.facts;
    let Some(first) = facts.knobs.iter().position(|knob| knob.is_distance) else { return };
    let alike = |cell: &TunedCell| cell.values == spread(facts, cell.values[first]);
    let x = match facts.knobs.iter().any(|knob| knob.depth > 0) {
        true => {
            format!("records ahead of `{}`; each line that another leads to at half of it", facts.knobs[first].name)
        }
        false => "records ahead, all lines alike".to_owned(),
    };
    let (factor, unit) = (tune.ticks.factor(), clocks::unit(&tune.ticks));
    let figure = |cell: &TunedCell| Figure { value: factor * cell.clocks, published: None };
    let curve = |name: String, of: &dyn Fn(&TunedCell) -> bool| {
        let mut points: Vec<(f64, Figure)> = tune
            .cells
            .iter()
            .filter(|cell| of(cell) && alike(cell))
            .map(|cell| (f64::from(cell.values[first]), figure(cell)))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Curve { name, points, best: None }.with_best(NEAR)
    };
    let sets = facts.sets.iter().map(|set| {
        let words = if set.name == "warm" { "warm".to_owned() } else { format!("{}, {}", set.name, size(set.bytes)) };
        curve(words, &|cell| cell.set == set.name && cell.batch == facts.batch)
    });
    let drawn = |curves: Vec<Curve>| {
        let curves = curves.into_iter().filter(|curve| curve.points.len() > 1).collect();
        Drawing::Curves { x: x.clone(), curves }
    };
    let note = "Shaded: within 2 % of the least.";
    let title = format!("Clocks per record, batches of {}", facts.batch);
    told.picture(Picture::new(&title, "a record in the loop", unit, drawn(sets.collect())).noted(note));
    if let [x, y, ..] =
        facts.knobs.iter().enumerate().filter(|(_, knob)| knob.is_distance).map(|(at, _)| at).collect::<Vec<_>>()[..]
    {
        map(tune, x, y, told);
    }
    let mut batches: Vec<u64> = tune.cells.iter().map(|cell| cell.batch).collect();
    batches.sort_unstable();
    batches.dedup();
    let far = tune.far();
    let by_batch: Vec<Curve> = batches
        .into_iter()
        .map(|batch| curve(format!("batch {batch}"), &|cell| cell.set == far && cell.batch == batch))
        .collect();
    told.picture(
        Picture::new("Clocks per record from memory, by batch", "a record in the loop", unit, drawn(by_batch))
            .noted(note),
    );
}

/// The map over two distances, the others as in the best.
fn map(tune: &Tune<'_>, x: usize, y: usize, told: &mut Blocks) {
    let Some(best) = &tune.best else { return };
    let here = |cell: &&TunedCell| {
        let others = (0..cell.values.len()).filter(|at| ![x, y].contains(at));
        cell.set == tune.far()
            && cell.batch == tune.facts.batch
            && others.into_iter().all(|at| cell.values[at] == best.values[at])
    };
    let cells: Vec<&TunedCell> = tune.cells.iter().filter(here).collect();
    let places = |knob: usize| {
        let mut places: Vec<u32> = cells.iter().map(|cell| cell.values[knob]).collect();
        places.sort_unstable();
        places.dedup();
        places
    };
    let (xs, ys) = (places(x), places(y));
    let field = |to: u32, up: u32| {
        let cell = cells.iter().find(|cell| cell.values[x] == to && cell.values[y] == up)?;
        Some(Figure { value: tune.ticks.factor() * cell.clocks, published: None })
    };
    let map = HeatMap {
        name: String::new(),
        fields: ys.iter().map(|up| xs.iter().map(|to| field(*to, *up)).collect()).collect(),
        xs: xs.into_iter().map(f64::from).collect(),
        ys: ys.into_iter().map(f64::from).collect(),
    };
    let axis = |knob: usize| Axis::new(&tune.facts.knobs[knob].name, None);
    let drawing = Drawing::HeatMap { x: axis(x), y: axis(y), is_cost: true, maps: vec![map] };
    told.picture(Picture::new(
        "Clocks per record from memory, over two distances",
        "loop",
        clocks::unit(&tune.ticks),
        drawing,
    ));
}

/// The rest of the answer where only the cells of the choice were measured.
fn without_sweep(tune: &Tune<'_>, table: Table, told: &mut Blocks) {
    let measured = tune.cells.iter().filter(|cell| cell.rounds > 0).count();
    told.table(table.noted(format!(
        "Ticks of the {} ({} ns each) per record. No sweep: {measured} of {} cells were measured, {} rounds each; the others are what \
         the model expects, corrected by these. Leave --quick out to measure all of them.",
        tune.ticks.counter,
        fixed(tune.ticks.tick_ns, 3),
        tune.cells.len(),
        tune.facts.rounds
    )));
}

impl Story for Tune<'_> {
    fn tell(&self, told: &mut Blocks) {
        if let Some(best) = &self.best {
            answer(self, best, told);
        }
        pictures(self, told);
        let loss =
            |pick: Option<&Pick>| pick.map_or(Cell::from(""), |pick| percent(pick.loss_percent / 100.0, 1).into());
        let table = Table::with_rows(&self.groups)
            .words("records", |group| name(&group.set))
            .numbers("batch", "", |group| whole(group.batch as f64))
            .words("best", |group| Cell::from(words(self, &group.values)))
            .numbers("clocks", "", |group| fixed(group.clocks, 1))
            .numbers("none", "", |group| group.none.map_or(Cell::from(""), |none| fixed(none, 1).into()));
        if self.facts.quick {
            without_sweep(self, table.done(), told);
            return;
        }
        let table = match self.facts.model {
            Some(_) => table.numbers("few measurements lose", "", |group| loss(group.chosen.as_ref())).numbers(
                "model alone loses",
                "",
                |group| loss(group.model.as_ref()),
            ),
            None => table,
        };
        let table = table.numbers("always 8 loses", "", |group| loss(group.always.as_ref())).numbers(
            "longest loses",
            "",
            |group| loss(group.longest.as_ref()),
        );
        told.table(table.done().noted(format!(
            "Ticks of the {} ({} ns each) per record; medians of up to {} rounds. warm: the same batch again and again.",
            self.ticks.counter,
            fixed(self.ticks.tick_ns, 3),
            self.facts.rounds
        )));
        let table = Table::with_rows(&self.predictors)
            .words("picks", |of| Cell::from(of.name))
            .numbers("working sets and batches", "", |of| whole(of.groups as f64))
            .numbers("mean loss", "", |of| percent(of.mean_loss_percent / 100.0, 2))
            .numbers("worst", "", |of| percent(of.worst_loss_percent / 100.0, 1))
            .numbers("within 2 %", "", |of| whole(of.within_2_percent as f64));
        let mut note = "Loss: clocks above those of the best that was measured.".to_owned();
        if let (Some(model), Some(error)) = (&self.facts.model, self.model_error_percent) {
            note.push_str(&format!(
                " The model ({}) was fitted to {} of {} cells ({:.1} % rms); its clocks of the others are off by {:.1} % in the median.",
                model.core,
                model.used.len(),
                self.cells.len(),
                model.rms_percent,
                error
            ));
        }
        if let (Some(model), Some(error)) = (&self.facts.model, self.expected_error_percent) {
            let [looked_at, all] = model.probe_rounds;
            note.push_str(&format!(
                " Few measurements: {} of {} cells, {looked_at} of {all} rounds; the clocks that are expected of the other cells are off by \
                 {error:.1} % in the median.",
                model.probed.len(),
                self.cells.len(),
            ));
        }
        told.table(table.done().noted(note));
    }
}

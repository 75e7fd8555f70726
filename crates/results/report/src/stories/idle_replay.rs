//! `idle-replay`: what governors did with a trace, and what it cost.

use super::story::Story;
use crate::blocks::{
    Blocks, Cell, Drawing, IntervalRow, Number, Picture, Table, Text, figure, fixed, name, text, whole,
};
use findings::idle_replay::{Agreement, Bounds, Counters, Governor, Intervals, RECORDED, Replay, SHALLOWEST};

fn cell(between: Bounds, number: fn(f64) -> Number) -> Cell {
    Cell::Range(number(between.low), number(between.high))
}

impl Story for Replay<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(verdict(self));
        if let Some(picture) = picture(self) {
            told.picture(picture);
        }
        told.table(table(self));
        provenance(self, told);
        told.rest();
        told.list(worst(self));
        told.table(wins(self));
        agreement(self, told);
        counted(self, told);
    }
}

/// A share that is known as a range, in words: `12 to 14 % less`, `between 40 % less and 5 % more`.
fn percent_less(Bounds { low, high }: Bounds) -> String {
    let percent = |share: f64| format!("{:.0}", 100.0 * share.abs());
    let (least, most) = (percent(low), percent(high));
    match (low >= 0.0, high >= 0.0) {
        _ if least == most && (low >= 0.0) == (high >= 0.0) => {
            format!("{most} % {}", if low >= 0.0 { "less" } else { "more" })
        }
        (true, _) => format!("{least} to {most} % less"),
        (_, false) => format!("{most} to {least} % more"),
        _ => format!("between {most} % less and {least} % more"),
    }
}

/// Which governor takes least energy, and by how much; how often each is wrong.
fn verdict(replay: &Replay<'_>) -> Text {
    let real = || replay.governors.iter().filter(|governor| governor.is_real());
    let with_energy = || real().filter_map(|governor| Some((governor, governor.energy()?)));
    let middle = |(_, (energy, _)): &(&Governor<'_>, (Bounds, &str))| energy.middle();
    let least = with_energy().min_by(|a, b| middle(a).total_cmp(&middle(b)));
    let Some((best, (energy, unit))) = least else {
        return verdict_on_misses(replay);
    };
    let mut words = text![name(best.name)];
    match replay.reference(best).and_then(|other| Some((other, best.less_than(other)?))) {
        Some((other, less)) => {
            words.push(if other.name == RECORDED { " would have taken " } else { " takes " });
            words.extend(text![percent_less(less), " than ", name(other.name)]);
        }
        None => words.push(" takes least energy"),
    }
    words.push(format!(" on this trace: {} {unit}.", cell(energy, figure).plain()));
    if let Some([above, below]) = best.misses() {
        words.push(format!(" It is wrong too deep in {above:.1} % of its sleeps, too shallow in {below:.1} %."));
    }
    // What never looks at the trace is the least that a governor has to beat.
    let trivial = replay.governors.iter().find(|governor| governor.name == SHALLOWEST);
    if let Some((trivial, (taken, _))) = trivial.and_then(|trivial| Some((trivial, trivial.energy()?))) {
        let beaten = if taken.middle() < energy.middle() { ", takes even less: " } else { ", takes " };
        words.extend(text![
            " The rule that predicts nothing, ",
            name(trivial.name),
            format!("{beaten}{}.", cell(taken, figure).plain())
        ]);
    }
    words
}

/// Which governor is wrong least often, where nothing is said about energy.
fn verdict_on_misses(replay: &Replay<'_>) -> Text {
    let missing = |governor: &Governor<'_>| governor.misses().map(|[above, below]| above + below);
    let real = || replay.governors.iter().filter(|governor| governor.is_real());
    let least = real().filter_map(|governor| Some((governor, missing(governor)?))).min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((best, _)) = least else { return "No governor was replayed.".into() };
    let share =
        |[above, below]: [f64; 2]| format!("too deep in {above:.1} % of its sleeps and too shallow in {below:.1} %");
    let mut words =
        text![name(best.name), " is wrong least often on this trace: ", best.misses().map_or_else(String::new, share)];
    if let Some(recorded) = real().find(|governor| governor.name == RECORDED && governor.name != best.name) {
        let misses = recorded.misses().map_or_else(String::new, share);
        words.extend(text![", where the traced kernel was ", misses]);
    }
    words.push(".");
    words
}

/// The energy of each governor, and beside it how often it misses.
fn picture(replay: &Replay<'_>) -> Option<Picture> {
    let unit = replay.governors.iter().find_map(Governor::energy)?.1;
    let row = |governor: &Governor<'_>| {
        let (energy, _) = governor.energy()?;
        let misses = governor
            .misses()
            .map_or_else(String::new, |[above, below]| format!(" ({above:.0} % deep, {below:.0} % shallow)"));
        Some(IntervalRow {
            name: format!("{}{misses}", governor.name),
            series: governor.name.to_owned(),
            low: energy.low,
            middle: energy.middle(),
            high: energy.high,
            published: None,
        })
    };
    let rows = replay.governors.iter().filter_map(row).collect();
    let picture = Picture::new("Energy of each governor", "and its misses", unit, Drawing::Intervals(rows));
    Some(picture.noted("An interval: sources for the cost of a transition differ by a factor of several hundred."))
}

fn table(replay: &Replay<'_>) -> Table {
    let states = replay.governors.iter().map(|of| &of.states).max_by_key(|states| states.len());
    let names: Vec<&str> = states.map_or_else(Vec::new, |states| states.iter().map(|state| state.name).collect());
    let unit = replay.governors.iter().find_map(Governor::energy).map_or("unit s", |(_, unit)| unit);
    let count = |between: Option<Bounds>| between.map(|between| cell(between, |value| fixed(value, 0)));
    Table::with_rows(&replay.governors)
        .words("governor", |governor| name(governor.name))
        .each(names, |table, wanted| {
            table.numbers(wanted, "", move |governor| {
                count(governor.states.iter().find(|state| state.name == wanted)?.entered)
            })
        })
        .numbers("above", "", |governor| count(governor.sum(|state| state.above)))
        .numbers("below", "", |governor| count(governor.sum(|state| state.below)))
        .numbers("energy", unit, |governor| governor.energy().map(|(energy, _)| cell(energy, figure)))
        .numbers("delay p50", "us", |governor| count(governor.delay_us.p50))
        .numbers("p99", "", |governor| count(governor.delay_us.p99))
        .done()
}

/// The facts about the trace's intervals.
fn provenance(replay: &Replay<'_>, told: &mut Blocks) {
    let Intervals { known, bounded, unknown } = replay.intervals;
    told.paragraph(format!(
        "{} idle intervals on {}. Sleep length known in {known}, bounded in {bounded}, unknown in {unknown}.",
        known + bounded + unknown,
        replay.platform.unwrap_or("")
    ));
    let reason = |(reason, count): &(&str, Bounds)| Text::from(format!("unknown because {reason}: {:.0}", count.low));
    told.list(replay.unknown_because.0.iter().map(reason).collect());
}

/// Which governor takes less energy than which, and in what share of the range of what a round
/// trip costs.
fn wins(replay: &Replay<'_>) -> Table {
    let real: Vec<&Governor<'_>> = replay.governors.iter().filter(|governor| !governor.wins.0.is_empty()).collect();
    if real.len() < 2 {
        return Table::default();
    }
    // Numbers in the place of names keep the table narrow.
    let numbered: Vec<(usize, &Governor<'_>)> = (1..).zip(real).collect();
    Table::with_rows(&numbered)
        .words("takes less energy than, in % of the range", |(number, governor)| {
            text![format!("{number} "), name(governor.name)]
        })
        .each(numbered.iter(), |table, (number, other)| {
            table.numbers(number.to_string(), "", |(_, governor)| {
                governor.wins.get(other.name).map(|share| fixed(100.0 * share, 0))
            })
        })
        .done()
}

fn agreement(replay: &Replay<'_>, told: &mut Blocks) {
    let rows: Vec<(&str, &Agreement<'_>)> =
        replay.governors.iter().filter_map(|governor| Some((governor.name, governor.agreement.as_ref()?))).collect();
    let share = |share: Option<f64>| share.map(|share| fixed(100.0 * share, 1));
    let same = |(_, agreement): &(&str, &Agreement<'_>)| {
        let compared = agreement.compared.unwrap_or(0);
        fixed(100.0 * agreement.same, 1).after(format!(" ({compared})"))
    };
    let table = Table::with_rows(&rows)
        .words("chooses as the traced kernel did, %", |(governor, _)| name(*governor))
        .numbers("of known intervals", "", same)
        .numbers("mean over states", "", |(_, of)| share(of.balanced))
        .numbers("commonest state alone", "", |(_, of)| share(of.commonest_state));
    told.table(table.done());
    // For the governor that agrees most, what the rest is.
    let nearest = rows.iter().max_by(|a, b| a.1.same.total_cmp(&b.1.same));
    if let Some((governor, agreement)) = nearest.filter(|(_, agreement)| !agreement.differing.0.is_empty()) {
        let rest: Vec<String> =
            agreement.differing.0.iter().map(|(what, count)| format!("{what} {:.0}", count.low)).collect();
        told.paragraph(text![name(*governor), format!(" chose otherwise: {}.", rest.join("; "))]);
    }
}

fn counted(replay: &Replay<'_>, told: &mut Blocks) {
    let Some(Counters { kernel, trace, tracing_ns }) = &replay.kernel_counters else { return };
    let taken_off = tracing_ns.map_or_else(String::new, |ns| {
        format!(" A stay is {ns:.0} ns longer by the trace than by the kernel's clock; that is taken off.")
    });
    told.paragraph(format!(
        "Between the marks in the trace the kernel counted {} stays, {} above and {} below, and {} that the hardware refused; the \
         trace has {} of both kinds, with {} above and {} below by our accounting.{taken_off}",
        whole(kernel.entered.low),
        whole(kernel.above.low),
        whole(kernel.below.low),
        whole(kernel.rejected.low),
        whole(trace.entered.low),
        whole(trace.above.low),
        whole(trace.below.low)
    ));
}

/// The interval that cost each governor most.
fn worst(replay: &Replay<'_>) -> Vec<Text> {
    let item = |governor: &Governor<'_>| {
        let worst = governor.decided_by.first()?;
        Some(text![
            name(governor.name),
            format!(
                " lost most on CPU {} at {:.6} s: ",
                worst.cpu.map_or_else(String::new, |cpu| cpu.to_string()),
                worst.at_us.unwrap_or(0.0) / 1e6
            ),
            name(worst.chosen),
            format!(" for {} us, where ", figure(worst.interval_us.unwrap_or(0.0))),
            name(worst.cheapest),
            format!(" was cheapest ({} unit s).", figure(worst.excess_unit_s))
        ])
    };
    replay.governors.iter().filter_map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_shares_is_less_more_or_both() {
        let words = |low: f64, high: f64| percent_less(Bounds { low, high });
        assert_eq!(words(0.12, 0.14), "12 to 14 % less");
        assert_eq!(words(0.12, 0.121), "12 % less");
        assert_eq!(words(-0.30, -0.05), "5 to 30 % more");
        assert_eq!(words(-0.05, 0.40), "between 40 % less and 5 % more");
    }
}

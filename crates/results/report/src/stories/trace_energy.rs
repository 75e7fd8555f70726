//! `trace-energy`: the energy of a recorded trace, by owner.

use super::story::Story;
use crate::blocks::{Bar, Blocks, Cell, Drawing, Picture, Table, figure, fixed, grouped};
use crate::words::energy as words;
use findings::trace_energy::TraceEnergy;
use itertools::Itertools;
use recording::facts::{self, TraceOwner};

impl Story for TraceEnergy<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answers(words::trace(self));
        told.picture(over_time(&self.facts));
        told.table(owners(&self.facts));
        told.table(what_ifs(&self.facts));
        told.note(format!("Powers are those of {}.", self.facts.title));
        told.note("A domain's shared power goes to its CPUs that run, in equal parts, and to its idle state while all sleep.");
    }
}

/// A range in two digits behind the first that differs.
fn range([low, high]: [f64; 2]) -> Cell {
    Cell::Range(figure(low), figure(high))
}

/// Owners in the picture.
const SHOWN: usize = 7;

/// Power over time, a bar for each part of the trace.
fn over_time(energy: &facts::TraceEnergy) -> Option<Picture> {
    let told = energy.owners.iter();
    let told = told.filter(|owner| owner.is_work.is_some()).collect_vec();
    let count = told.first()?.power_over_time.len();
    let (shown, rest) = told.split_at(told.len().min(SHOWN));
    let bar = |at: usize| {
        let name = format!("{} s", figure(energy.seconds * at as f64 / count as f64));
        let parts = shown
            .iter()
            .map(|of| (of.name.as_str(), of.power_over_time[at]));
        let rest = rest.iter().map(|of| of.power_over_time[at]).sum();
        Bar::new(name, parts.chain([("all others", rest)]))
    };
    let unit = if energy.unit == "J" { "W" } else { "units" };
    let bars = Drawing::Bars((0..count).map(bar).collect());
    let picture = Picture::new("Power over time by owner", "power", unit, bars);
    Some(
        picture.noted(
            "The middle of each range, from the time at the left on; without what is not told.",
        ),
    )
}

fn owners(energy: &facts::TraceEnergy) -> Table {
    let all = energy.energy[0] + energy.energy[1];
    let share = |owner: &TraceOwner| 100.0 * (owner.energy[0] + owner.energy[1]) / all;
    Table::with_rows(&energy.owners)
        .words("owner", |owner| owner.name.as_str())
        .numbers(format!("energy, {}", energy.unit), |owner| {
            range(owner.energy)
        })
        .numbers("share, %", |owner| fixed(share(owner), 1))
        .numbers("CPU time, s", |owner| figure(owner.cpu_s))
        .each(&energy.work, |table, (name, count)| {
            table.numbers(format!("{} per {name}", energy.unit), |owner| {
                range(owner.energy.map(|energy| energy / *count as f64))
            })
        })
        .done()
}

/// What would have gone, a row for each change.
fn what_ifs(energy: &facts::TraceEnergy) -> Table {
    Table::with_rows(&energy.what_ifs)
        .words("if", |of| of.name.as_str())
        .numbers(format!("energy gone, {}", energy.unit), |of| {
            of.energy.map(range)
        })
        .numbers("wake-ups gone", |of| {
            of.wake_ups
                .map(|[low, high]| Cell::Range(grouped(low), grouped(high)))
        })
        .words("cannot be told", |of| of.missing.as_deref().unwrap_or(""))
        .titled("What would have gone otherwise")
}

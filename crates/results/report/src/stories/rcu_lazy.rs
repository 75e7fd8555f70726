//! `rcu-lazy`: what an idle system saves if callbacks may wait, beside what was published.

use super::story::Story;
use crate::blocks::{Blocks, Drawing, IntervalRow, Picture, Table, fixed, name};
use findings::Interval;
use findings::rcu_lazy::{Configuration, LAZY, Lazy};

fn with_ends(interval: Interval, digits: usize) -> String {
    format!(
        "{:.digits$} ({:.digits$} to {:.digits$})",
        interval.median, interval.low, interval.high
    )
}

/// What intervals are.
fn interval_words(lazy: &Lazy<'_>) -> &'static str {
    let enough = lazy.draws as usize >= Interval::ENOUGH;
    if enough {
        "what a further draw lies between with 95 %"
    } else {
        "the least and the most of the draws"
    }
}

impl Story for Lazy<'_> {
    fn tell(&self, told: &mut Blocks) {
        told.answer(answer(self));
        told.picture(picture(self));
        told.table(table(self));
        if !self.published.is_empty() {
            told.table(published_table(self));
        }
        if let (Some(source), Some(conditions)) = (self.published_source, self.published_conditions)
        {
            told.note(format!("Published: {source}; {conditions}."));
        }
    }
}

fn answer(lazy: &Lazy<'_>) -> String {
    let Some(saved) = lazy.find(LAZY).and_then(|lazy| lazy.saved_percent) else {
        return "Nothing ran with lazy callbacks.".to_owned();
    };
    let mut words = format!(
        "Lazy callbacks save {} % of the power of offloaded ones that do not wait, over {} draws",
        with_ends(saved, 1),
        lazy.draws
    );
    if let Some([least, most]) = lazy.published_saves_percent {
        let median = match saved.median {
            median if median < least => "below",
            median if median > most => "above",
            _ => "within",
        };
        words += &format!(
            ". Linux says {least:.0} to {most:.0} % of a whole chip's power, and the median is {median} that: here only cores and \
             clusters have power"
        );
    }
    words.push('.');
    if let Some(cores) = lazy
        .published
        .iter()
        .find(|figure| figure.metric == "cores_w")
    {
        let holds = saved.holds(-cores.change_percent);
        words += &format!(
            " The cores of a Chromebook saved {:.0} %, which lies {} the interval.",
            -cores.change_percent,
            if holds { "within" } else { "outside" }
        );
    }
    if let Some(bound) = lazy
        .find("lazy-bound")
        .and_then(|bound| bound.saved_percent)
    {
        let than = match bound.median - saved.median {
            ..-0.05 => "less",
            0.05.. => "more",
            _ => "as much",
        };
        words += &format!(
            " With RCU's threads bound to one CPU {} % is saved: {than}.",
            with_ends(bound, 1)
        );
    }
    words
}

fn picture(lazy: &Lazy<'_>) -> Picture {
    let row = |of: &Configuration<'_>| {
        let saved = of.saved_percent?;
        Some(IntervalRow {
            name: of.name.to_owned(),
            series: of.name.to_owned(),
            low: saved.low,
            middle: saved.median,
            high: saved.high,
            published: None,
        })
    };
    let rows = Drawing::Intervals(lazy.configurations.iter().filter_map(row).collect());
    Picture::new(
        "Power saved against offloaded callbacks",
        interval_words(lazy),
        "%",
        rows,
    )
}

fn table(lazy: &Lazy<'_>) -> Table {
    let unit = if lazy.configurations.iter().any(|of| of.power_mw.is_some()) {
        "mW"
    } else {
        "units"
    };
    let words = |interval: Option<Interval>, digits| {
        interval.map_or_else(String::new, |of| with_ends(of, digits))
    };
    Table::with_rows(&lazy.configurations)
        .words("configuration", |of| name(of.name))
        .words(format!("power, {unit}"), |of| words(of.power_mw.or(of.power_units), 1))
        .words("saved, %", |of| words(of.saved_percent, 1))
        .words("deepest, %", |of| words(of.deepest_percent, 1))
        .words("wake-ups/s", |of| words(of.wake_ups_per_s, 0))
        .words("ticks of idle CPUs/s", |of| words(of.idle_ticks_per_s, 0))
        .done()
        .titled(format!(
            "{} on {}: medians over {} draws, and {}.",
            lazy.title,
            lazy.platform.unwrap_or("a board"),
            lazy.draws,
            interval_words(lazy)
        ))
        .noted("Deepest: the share of the time that clusters are in their deepest state, the mean of the clusters. Only cores and clusters have power here.")
}

fn published_table(lazy: &Lazy<'_>) -> Table {
    Table::with_rows(&lazy.published)
        .words("published", |of| {
            format!("{}, {}", of.system, of.metric.replace('_', " "))
        })
        .numbers("offloaded", "", |of| fixed(of.without, 2))
        .numbers("lazy", "", |of| fixed(of.with, 2))
        .numbers("change", "%", |of| fixed(of.change_percent, 1).signed())
        .done()
}

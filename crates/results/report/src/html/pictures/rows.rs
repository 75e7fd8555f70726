//! Pictures of rows on one scale: bars, intervals, samples and lanes.

use crate::blocks::lanes::Lanes;
use crate::blocks::{Bar, IntervalRow, Sample, quantity};
use crate::html::palette::Colours;
use crate::html::plot::{Scale, piece};
use itertools::Itertools;
use maud::{Markup, html};

/// Bars that lie, one below the other.
pub fn bars(bars: &[Bar], words: &str, unit: &str, colours: &Colours<'_>) -> Markup {
    let scale = Scale::new(words, bars.iter().map(Bar::total).collect(), true);
    let row = |bar: &Bar| {
        let total = bar.total();
        let is_torn = scale.is_beyond(total);
        let whole = if is_torn { 100.0 } else { scale.at(total) };
        let mut at = 0.0;
        let mut part = |(name, value): &(String, f64)| {
            let width = whole * value / total.max(f64::MIN_POSITIVE);
            let style = format!("left:{at:.2}%;width:{width:.2}%");
            at += width;
            let value = quantity(*value, unit).to_string();
            let title = format!("{name}: {value} {unit}");
            html! { @if width > 0.0 { (piece(colours.class(name), &style, &title, &[&colours.number(name), &value])) } }
        };
        let drawn = html! {
            @for of in &bar.parts { (part(of)) }
            @if is_torn { i.torn {} }
        };
        (bar.name.clone(), drawn, quantity(total, unit).to_string())
    };
    scale.rows(26, 0, &bars.iter().map(row).collect_vec())
}

/// An interval a row, with a cross where the published value lies.
pub fn intervals(rows: &[IntervalRow], words: &str, unit: &str, colours: &Colours<'_>) -> Markup {
    let values = rows
        .iter()
        .flat_map(|row| {
            [
                Some(row.low),
                Some(row.middle),
                Some(row.high),
                row.published,
            ]
        })
        .flatten();
    let scale = Scale::new(words, values.collect(), true);
    let line = |row: &IntervalRow| {
        let class = colours.class(&row.series);
        let drawn = html! {
            i.whisker.(class) style=(scale.between_style(row.low, row.high)) {}
            @if scale.is_beyond(row.middle) {} @else { i.dot.(class) style=(scale.between_style(row.middle, row.middle)) {} }
            @if let Some(published) = row.published { i.cross style=(scale.between_style(published, published)) { "×" } }
            @if scale.is_beyond(row.high) { i.torn {} }
            @if scale.is_beyond(row.low) { i.torn.low {} }
        };
        (row.name.clone(), drawn, row.words(unit))
    };
    scale.rows(22, 0, &rows.iter().map(line).collect_vec())
}

/// Values as they scatter: a row for each sample, with its points, its quartiles and its median;
/// `points` of each sample are drawn at most. Values that are no numbers are left out.
pub fn samples(
    samples: &[Sample],
    words: &str,
    unit: &str,
    points: usize,
    colours: &Colours<'_>,
) -> Markup {
    let all = samples.iter().flat_map(|sample| sample.values.clone());
    let scale = Scale::new(words, all.collect(), false);
    let row = |sample: &Sample| {
        let mut values: Vec<f64> = sample
            .values
            .iter()
            .copied()
            .filter(|value| value.is_finite())
            .collect();
        values.sort_by(f64::total_cmp);
        let (Some(&least), Some(&most)) = (values.first(), values.last()) else {
            return (sample.name.clone(), html! {}, String::new());
        };
        let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        let [lower, median, upper] = [0.25, 0.5, 0.75].map(at);
        let class = colours.class(&sample.series);
        let words = format!(
            "{}: {} values from {} to {}, half of them from {} to {}, median {} {unit}",
            sample.name,
            values.len(),
            quantity(least, unit),
            quantity(most, unit),
            quantity(lower, unit),
            quantity(upper, unit),
            quantity(median, unit)
        );
        let shown = values.len().min(points);
        let point = |number: usize| {
            let gaps = shown.saturating_sub(1).max(1);
            values[number * (values.len() - 1) / gaps]
        };
        let drawn = html! {
            i.range.(class) style=(scale.between_style(least, most)) title=(words) {}
            i.box.(class) style=(scale.between_style(lower, upper)) title=(words) {}
            // Points that lie on each other are told apart by their heights, the same in every
            // drawing.
            @for number in 0..shown {
                i.point.(class) style=(format_args!("left:{:.2}%;top:{:.0}%", scale.at(point(number)), 30.0 + (number as f64 * 0.618).fract() * 40.0)) {}
            }
            i.median style=(scale.between_style(median, median)) {}
            @if scale.is_beyond(most) { i.torn {} }
            @if scale.is_beyond(least) { i.torn.low {} }
        };
        (
            sample.name.clone(),
            drawn,
            quantity(median, unit).to_string(),
        )
    };
    scale.rows(24, 0, &samples.iter().map(row).collect_vec())
}

/// Idle states, tasks, timers and wakers of each CPU, over a part of the time.
pub fn lanes(lanes: &Lanes, colours: &Colours<'_>) -> Markup {
    let (per, unit) = lanes.unit(lanes.us(lanes.to));
    let words = if unit == "operations" {
        unit.to_owned()
    } else {
        format!("time, {unit}")
    };
    let scale = Scale::between(&words, (0.0, lanes.us(lanes.to) / per));
    let row = |row: &crate::blocks::lanes::Row| {
        let time = |at: u64| lanes.us(at) / per;
        let drawn = html! {
            @for stretch in &row.stretches {
                @let style = scale.between_style(time(stretch.from), time(stretch.to));
                @let took = lanes.length(lanes.us(stretch.to) - lanes.us(stretch.from));
                @let title = format!("{}: {took}", stretch.what);
                // The name itself where it fits, else its number in the legend.
                (piece(colours.class(&stretch.what), &style, &title, &[&colours.number(&stretch.what), &stretch.what]))
            }
            @for mark in &row.marks {
                @let title = format!("{}, {}", mark.what, lanes.length(lanes.us(mark.at)));
                i.mark.telling[mark.is_telling] style=(scale.between_style(time(mark.at), time(mark.at))) title=(title) {
                    @if lanes.is_order && mark.is_telling { span.mark-number { (mark.number().unwrap_or("!")) } }
                }
            }
        };
        (row.name.clone(), drawn, String::new())
    };
    scale.rows(22, 0, &lanes.rows.iter().map(row).collect_vec())
}

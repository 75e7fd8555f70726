//! Heat maps as SVG.

use super::figures::Rows;
use crate::blocks::{Axis, Figure, HeatMap, quantity};
use crate::html::svg::{LETTER, WIDTH, escape, fitting, text};
use findings::Leaders;
use std::fmt::Write;

pub(super) fn rows(maps: &[HeatMap], x: &Axis, y: &Axis) -> Rows {
    let mut rows = Vec::new();
    for map in maps {
        for (up, fields) in map.ys.iter().zip(&map.fields) {
            for (right, field) in map.xs.iter().zip(fields) {
                rows.extend(field.map(|figure| (vec![map.name.clone(), y.place(*up), x.place(*right)], figure)));
            }
        }
    }
    (vec!["map".to_owned(), y.words.clone(), x.words.clone()], rows)
}

/// A field: its places to the right and upwards, and its figure.
pub(super) type Field = (f64, f64, Figure);

/// The least field of a map.
pub(super) fn least(map: &HeatMap) -> Option<Field> {
    let fields = map.ys.iter().zip(&map.fields).flat_map(|(up, fields)| {
        map.xs.iter().zip(fields).filter_map(move |(right, field)| Some((*right, *up, (*field)?)))
    });
    Leaders::least(fields, |field| Some([field.2.value; 2]))?.alone().copied()
}

pub(super) fn words((right, up, figure): Field, x: &Axis, y: &Axis, unit: &str) -> String {
    format!(
        "The least is {} {unit}, at {} {} and {} {}",
        quantity(figure.value, unit),
        x.words,
        x.place(right),
        y.words,
        y.place(up)
    )
}

/// Fields whose colour is the deeper, the greater their figure; the least has a frame, if it is
/// given.
pub(super) fn draw(map: &HeatMap, x_axis: &Axis, y_axis: &Axis, unit: &str, least: Option<Field>) -> (f64, String) {
    const HIGH: f64 = 30.0;
    let longest = map.ys.iter().map(|up| y_axis.place(*up).chars().count()).max().unwrap_or(0);
    let (left, top) = ((longest as f64 * LETTER + 16.0).clamp(64.0, 200.0), 20.0);
    let wide = ((WIDTH - left) / map.xs.len() as f64).min(84.0);
    let figures = || map.fields.iter().flatten().flatten();
    let (low, high) =
        figures().fold((f64::MAX, f64::MIN), |(low, high), figure| (low.min(figure.value), high.max(figure.value)));
    let has_published = figures().any(|figure| figure.published.is_some());
    let mut out = String::new();
    text(&mut out, "name", (0.0, 12.0), &format!("{} upwards, {} to the right", y_axis.words, x_axis.words));
    for (line, (up, fields)) in map.ys.iter().zip(&map.fields).rev().enumerate() {
        let y = top + line as f64 * HIGH;
        text(&mut out, "scale", (left - 8.0, y + 19.0), &fitting(&y_axis.place(*up), left - 12.0));
        for (column, (right, field)) in map.xs.iter().zip(fields).enumerate() {
            let Some(figure) = field else { continue };
            let x = left + column as f64 * wide;
            let depth = 0.1 + 0.85 * (figure.value - low) / (high - low).max(f64::MIN_POSITIVE);
            let published = figure.published.map(|value| format!(", published {}", quantity(value, unit)));
            let words = format!(
                "{} {}, {} {}: {} {unit}{}",
                x_axis.words,
                x_axis.place(*right),
                y_axis.words,
                y_axis.place(*up),
                quantity(figure.value, unit),
                published.unwrap_or_default()
            );
            let frame = if least.is_some_and(|(x, y, _)| (x, y) == (*right, *up)) { " least" } else { "" };
            let _ = write!(
                out,
                "<rect class=\"m0{frame}\" fill-opacity=\"{depth:.2}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{}\"><title>{}</title></rect>",
                x + 1.0,
                y + 1.0,
                wide - 2.0,
                HIGH - 2.0,
                escape(&words)
            );
            let class = if depth > 0.75 { "field deep" } else { "field" };
            let value = short_figure(figure.value);
            if value.len() as f64 * LETTER <= wide {
                let middle = y + if has_published { 14.0 } else { 19.0 };
                text(&mut out, class, (x + wide / 2.0, middle), &value);
            }
            let published = figure.published.map(|value| format!("({})", short_figure(value)));
            if let Some(published) = published.filter(|published| published.len() as f64 * LETTER <= wide) {
                text(&mut out, class, (x + wide / 2.0, y + 26.0), &published);
            }
        }
    }
    let bottom = top + map.ys.len() as f64 * HIGH;
    for (column, right) in map.xs.iter().enumerate() {
        text(
            &mut out,
            "place",
            (left + (column as f64 + 0.5) * wide, bottom + 15.0),
            &fitting(&x_axis.place(*right), wide + 4.0),
        );
    }
    (bottom + 22.0, out)
}

/// A figure in four letters or so.
fn short_figure(value: f64) -> String {
    match value.abs() {
        _ if value.fract() == 0.0 => format!("{value:.0}"),
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

//! Heat maps: fields over two axes.

use crate::blocks::{Axis, Figure, HeatMap, between, ends, quantity};
use crate::html::plot::Scale;
use evidence::Leaders;
use itertools::Itertools;
use maud::{Markup, html};

/// A field: its places to the right and upwards, and its figure.
pub type Field = (f64, f64, Figure);

/// The least field of a map.
pub fn least(map: &HeatMap) -> Option<Field> {
    let fields = map.ys.iter().zip(&map.fields).flat_map(|(up, fields)| {
        map.xs
            .iter()
            .zip(fields)
            .filter_map(move |(right, field)| Some((*right, *up, (*field)?)))
    });
    Leaders::least(fields, |field| Some([field.2.value; 2]))?
        .alone()
        .copied()
}

pub fn words((right, up, figure): Field, x: &Axis, y: &Axis, unit: &str) -> String {
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
pub fn draw(
    map: &HeatMap,
    x_axis: &Axis,
    y_axis: &Axis,
    (quantity_words, unit): (&str, &str),
    least: Option<Field>,
) -> Markup {
    let figures = || map.fields.iter().flatten().flatten();
    let ends = ends(figures().map(|figure| figure.value));
    let has_published = figures().any(|figure| figure.published.is_some());
    let columns = map.xs.len() as f64;
    let field = |column: usize, right: f64, up: f64, figure: &Figure| {
        // Letters stay legible on the deepest.
        let depth = 4.0 + 56.0 * between(figure.value, ends);
        let published = figure
            .published
            .map(|value| format!(", published {}", quantity(value, unit)));
        let title = format!(
            "{} {}, {} {}: {} {unit}{}",
            x_axis.words,
            x_axis.place(right),
            y_axis.words,
            y_axis.place(up),
            quantity(figure.value, unit),
            published.unwrap_or_default()
        );
        let is_least = least.is_some_and(|(x, y, _)| (x, y) == (right, up));
        let [left, width] = [column as f64 / columns * 100.0, 100.0 / columns];
        let style = format!("left:{left:.2}%;width:{width:.2}%;--depth:{depth:.0}%");
        html! {
            i.piece.field.least[is_least] style=(style) title=(title) {
                span { (short_figure(figure.value)) }
                @if let Some(published) = figure.published { span { "(" (short_figure(published)) ")" } }
            }
        }
    };
    let row = |(up, fields): (&f64, &Vec<Option<Figure>>)| {
        let drawn = html! {
            @for (column, (right, value)) in map.xs.iter().zip(fields).enumerate() {
                @if let Some(figure) = value { (field(column, *right, *up, figure)) }
            }
        };
        (y_axis.place(*up), drawn, String::new())
    };
    let rows = map.ys.iter().zip(&map.fields).rev().map(row).collect_vec();
    let words = format!(
        "{quantity_words}; {} upwards, {} to the right",
        y_axis.words, x_axis.words
    );
    let places = (0..map.xs.len())
        .map(|column| column as f64 + 0.5)
        .collect_vec();
    let scale = Scale::of_places(&words, (0.0, columns), &places, &|column| {
        x_axis.place(map.xs[column as usize])
    });
    let height = if has_published { 36 } else { 26 };
    scale.rows(height, map.xs.len(), &rows)
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

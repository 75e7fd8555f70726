//! Intervals as SVG: a row each, on one axis.

use super::figures::Cells;
use crate::blocks::{IntervalRow, quantity};
use crate::html::palette::Palette;
use crate::html::svg::{LETTER, WIDTH, escape, fitting, nice_step, text};
use std::fmt::Write;

const ROW: f64 = 24.0;
const NAMES: f64 = 230.0;
const FIGURES: f64 = 190.0;
const AXIS: f64 = 22.0;

/// The rows as a table.
pub(super) fn rows(rows: &[IntervalRow], unit: &str) -> Cells {
    let has_published = rows.iter().any(|row| row.published.is_some());
    let mut headings: Vec<String> = ["row", "lower end", "middle", "upper end"].map(str::to_owned).into();
    headings.extend(has_published.then(|| "published".to_owned()));
    let cells = |row: &IntervalRow| {
        let mut cells = vec![row.name.clone()];
        cells.extend([row.low, row.middle, row.high].map(|value| quantity(value, unit).to_string()));
        let published = row.published.map_or_else(|| "-".to_owned(), |value| quantity(value, unit).to_string());
        cells.extend(has_published.then_some(published));
        cells
    };
    (headings, rows.iter().map(cells).collect())
}

/// The picture and its height.
pub(super) fn draw(rows: &[IntervalRow], unit: &str, palette: &Palette) -> (f64, String) {
    let values = || rows.iter().flat_map(|row| [Some(row.low), Some(row.high), row.published]).flatten();
    // The axis starts at 0, or has it where there is something on both sides of it.
    let finite = values().filter(|value| value.is_finite());
    let (low, high) = finite.fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let height = AXIS + rows.len() as f64 * ROW + 6.0;
    let (left, right) = (NAMES, WIDTH - FIGURES);
    let x = |value: f64| left + (value - low) / (high - low).max(f64::MIN_POSITIVE) * (right - left);
    let mut out = String::new();
    let step = nice_step(((high - low) / 8.0).max(1e-6));
    let first = (low / step).ceil() as i64;
    for number in first..=((high / step).floor() as i64).min(first + 20) {
        let value = number as f64 * step;
        let class = if number == 0 { "zero" } else { "grid" };
        let _ = write!(out, "<path class=\"{class}\" d=\"M{:.1} {AXIS}V{height}\"/>", x(value));
        let decimals = (-step.log10()).ceil().clamp(0.0, 6.0) as usize;
        text(&mut out, "place", (x(value), 14.0), &format!("{value:.decimals$}"));
    }
    for (at, row) in rows.iter().enumerate() {
        let middle = AXIS + (at as f64 + 0.5) * ROW;
        let class = palette.colour(&row.series);
        text(&mut out, "name", (0.0, middle + 4.0), &fitting(&row.name, NAMES - 10.0));
        let ends = format!("{}–{}", quantity(row.low, unit), quantity(row.high, unit));
        let published = row.published.map(|value| format!(" ({})", quantity(value, unit))).unwrap_or_default();
        let words = match row.low == row.high {
            true => format!("{}{published}", quantity(row.middle, unit)),
            false => format!("{}, {ends}{published}", quantity(row.middle, unit)),
        };
        let _ = write!(
            out,
            "<g><title>{}: {}</title><path class=\"whisker k{class}\" d=\"M{:.1} {middle:.1}H{:.1}\"/>\
             <circle class=\"m{class}\" cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"4.5\"/>",
            escape(&row.name),
            escape(&words),
            x(row.low),
            x(row.high),
            x(row.middle)
        );
        if let Some(published) = row.published {
            let at = x(published);
            let (top, bottom) = (middle - 5.0, middle + 5.0);
            let (before, after) = (at - 5.0, at + 5.0);
            let _ = write!(
                out,
                "<path class=\"cross\" d=\"M{before:.1} {top:.1}L{after:.1} {bottom:.1}M{before:.1} {bottom:.1}L{after:.1} {top:.1}\"/>"
            );
        }
        out.push_str("</g>");
        text(&mut out, "figure", (right + 12.0, middle + 4.0), &fitting(&words, FIGURES - LETTER));
    }
    (height, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_interval_and_a_cross_where_the_published_value_lies() {
        let row = |low, high, published| IntervalRow {
            name: "a<b".to_owned(),
            series: String::new(),
            low,
            middle: (low + high) / 2.0,
            high,
            published,
        };
        let (height, svg) = draw(&[row(-1.0, 3.0, Some(2.0)), row(0.0, 0.0, None)], "%", &Palette::default());
        assert_eq!((svg.matches("class=\"whisker").count(), svg.matches("class=\"cross\"").count()), (2, 1));
        assert!(svg.contains("class=\"zero\"") && svg.contains("a&lt;b: 1, -1–3 (2)"), "{svg}");
        assert!(height > 2.0 * ROW && !svg.contains("NaN"));
        let (_, empty) = draw(&[row(0.0, 0.0, None)], "%", &Palette::default());
        assert!(!empty.contains("NaN") && !empty.contains("inf"), "{empty}");
    }
}

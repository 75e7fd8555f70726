//! Stacked bars as SVG.

use super::figures::Rows;
use crate::blocks::{Bar, quantity};
use crate::html::palette::Palette;
use crate::html::svg::{LETTER, WIDTH, escape, fitting, text};
use std::fmt::Write;

pub(super) fn rows(bars: &[Bar]) -> Rows {
    let parts = |bar: &Bar| {
        let all = std::iter::once((vec![bar.name.clone(), "(all)".to_owned()], bar.total()));
        let parts = bar.parts.iter().map(|(subject, figure)| (vec![bar.name.clone(), subject.clone()], *figure));
        all.chain(parts).collect::<Vec<_>>()
    };
    (vec!["bar".to_owned(), "of".to_owned()], bars.iter().flat_map(parts).collect())
}

/// Bars that lie, one below the other; returns the height, too.
pub(super) fn draw(bars: &[Bar], unit: &str, palette: &Palette) -> (f64, String) {
    const ROW: f64 = 30.0;
    const NAMES: f64 = 180.0;
    const FIGURES: f64 = 110.0;
    let totals = bars.iter().map(Bar::total).flat_map(|total| [Some(total.value), total.published]).flatten();
    let longest = totals.fold(f64::MIN_POSITIVE, f64::max);
    let scale = (WIDTH - NAMES - FIGURES) / longest;
    let mut out = String::new();
    for (index, bar) in bars.iter().enumerate() {
        let top = index as f64 * ROW + 4.0;
        text(&mut out, "name", (0.0, top + 14.0), &fitting(&bar.name, NAMES - 8.0));
        let mut at = NAMES;
        for (subject, figure) in &bar.parts {
            let number = palette.number(subject);
            let width = figure.value * scale;
            let _ = write!(
                out,
                "<rect class=\"m{}\" x=\"{at:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"20\"><title>{}: {} {}</title></rect>",
                palette.colour(subject),
                escape(subject),
                quantity(figure.value, unit),
                escape(unit)
            );
            let label = (number + 1).to_string();
            if width > label.len() as f64 * LETTER + 4.0 {
                text(&mut out, "part", (at + width / 2.0, top + 14.0), &label);
            }
            at += width;
        }
        let total = bar.total();
        let published = total.published.map(|published| {
            let x = NAMES + published * scale;
            let (above, below) = (top - 3.0, top + 23.0);
            let _ = write!(
                out,
                "<line class=\"published\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{above:.1}\" y2=\"{below:.1}\"/>"
            );
            at = at.max(x);
            format!(" ({})", quantity(published, unit))
        });
        let words = format!("{}{}", quantity(total.value, unit), published.unwrap_or_default());
        text(&mut out, "figure", (at + 6.0, top + 14.0), &words);
    }
    (bars.len() as f64 * ROW + 6.0, out)
}

//! Dots over two quantities as SVG, each with an interval in both.

use super::figures::Cells;
use crate::blocks::{Dot, is_logarithmic, on_axis, quantity};
use crate::html::palette::Palette;
use crate::html::svg::{LETTER, WIDTH, escape, fitting, nice_step, text};
use std::fmt::Write;

const HEIGHT: f64 = 360.0;

/// The dots as a table.
pub(super) fn rows(dots: &[Dot], (x, x_unit): &(String, String), (y, y_unit): (&str, &str)) -> Cells {
    let headings = vec!["dot".to_owned(), format!("{x} ({x_unit})"), format!("{y} ({y_unit})")];
    let spread = |[low, middle, high]: [f64; 3], unit: &str| {
        format!("{} ({}–{})", quantity(middle, unit), quantity(low, unit), quantity(high, unit))
    };
    let cells = |dot: &Dot| vec![dot.name.clone(), spread(dot.x, x_unit), spread(dot.y, y_unit)];
    (headings, dots.iter().map(cells).collect())
}

/// The ends of an axis: those of the values, with room beside them.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let room = ((high - low) * 0.08).max(high.abs() * 0.01).max(f64::MIN_POSITIVE);
    if low > high { (0.0, 1.0) } else { ((low - room).max(0.0_f64.min(low)), high + room) }
}

/// The picture and its height.
pub(super) fn draw(
    dots: &[Dot],
    (x_axis, x_unit): &(String, String),
    (y_axis, y_unit): (&str, &str),
    palette: &Palette,
) -> (f64, String) {
    let (left, right, top, bottom) = (70.0, WIDTH - 190.0, 24.0, HEIGHT - 44.0);
    let of_x = || dots.iter().flat_map(|dot| dot.x).filter(|value| value.is_finite());
    let bounds = (of_x().fold(f64::MAX, f64::min), of_x().fold(f64::MIN, f64::max));
    // A quarter more at both sides; a difference would end below zero.
    let by_ratio = is_logarithmic(bounds);
    let (x_low, x_high) = if by_ratio { (bounds.0 / 1.25, bounds.1 * 1.25) } else { ends(of_x()) };
    let (y_low, y_high) = ends(dots.iter().flat_map(|dot| dot.y));
    let x = |value: f64| left + on_axis(value, (x_low, x_high)) * (right - left);
    let y = |value: f64| bottom - (value - y_low) / (y_high - y_low) * (bottom - top);
    let mut out = String::new();
    let decimals = |step: f64| (-step.log10()).ceil().clamp(0.0, 6.0) as usize;
    let marks = |low: f64, high: f64| {
        let step = nice_step(((high - low) / 6.0).max(1e-6));
        let first = (low / step).ceil();
        let all = (0..20).map(move |at| (first + f64::from(at)) * step).take_while(move |value| *value <= high);
        (all, decimals(step))
    };
    let (values, places) = marks(x_low, x_high);
    let tenfolds = (-9..10)
        .filter_map(|power| format!("1e{power}").parse::<f64>().ok())
        .filter(|value| (x_low..=x_high).contains(value));
    let values: Vec<f64> = if by_ratio { tenfolds.collect() } else { values.collect() };
    let places = if by_ratio { decimals(x_low) } else { places };
    for value in values {
        let _ = write!(out, "<path class=\"grid\" d=\"M{0:.1} {top}V{bottom}\"/>", x(value));
        text(&mut out, "place", (x(value), bottom + 16.0), &format!("{value:.places$}"));
    }
    let (values, places) = marks(y_low, y_high);
    for value in values {
        let _ = write!(out, "<path class=\"grid\" d=\"M{left} {0:.1}H{right}\"/>", y(value));
        text(&mut out, "scale", (left - 8.0, y(value) + 4.0), &format!("{value:.places$}"));
    }
    text(&mut out, "place", ((left + right) / 2.0, bottom + 36.0), &format!("{x_axis} ({x_unit})"));
    text(&mut out, "name", (0.0, 12.0), &format!("{y_axis} ({y_unit})"));
    // Names stand beside their dots, and clear of each other.
    let mut order: Vec<usize> = (0..dots.len()).collect();
    order.sort_by(|a, b| dots[*b].y[1].total_cmp(&dots[*a].y[1]));
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for at in order {
        let dot = &dots[at];
        let class = palette.colour(&dot.name);
        let (cx, cy) = (x(dot.x[1]), y(dot.y[1]));
        let words = format!(
            "{}: {x_axis} {} {x_unit}, {y_axis} {} {y_unit}",
            dot.name,
            quantity(dot.x[1], x_unit),
            quantity(dot.y[1], y_unit)
        );
        let _ = write!(
            out,
            "<g><title>{}</title><path class=\"whisker k{class}\" d=\"M{:.1} {cy:.1}H{:.1}M{cx:.1} {:.1}V{:.1}\"/>\
             <circle class=\"m{class}\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"5\"/></g>",
            escape(&words),
            x(dot.x[0]),
            x(dot.x[2]),
            y(dot.y[0]),
            y(dot.y[2])
        );
        let wide = dot.name.chars().count() as f64 * LETTER;
        let mut at = cy + 4.0;
        let is_taken = |at: f64, taken: &[(f64, f64, f64)]| {
            taken.iter().any(|(from, to, other)| (at - other).abs() < 13.0 && cx + 9.0 < *to && cx + 9.0 + wide > *from)
        };
        while is_taken(at, &taken) && at < HEIGHT {
            at += 13.0;
        }
        taken.push((cx + 9.0, cx + 9.0 + wide, at));
        text(&mut out, &format!("curve-name m{class}"), (cx + 9.0, at), &fitting(&dot.name, WIDTH - cx - 9.0));
    }
    (HEIGHT, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_lies_between_its_ends_and_names_keep_clear_of_each_other() {
        let dot = |name: &str, at: f64| Dot { name: name.to_owned(), x: [at; 3], y: [at - 1.0, at, at + 1.0] };
        let axis = ("p95".to_owned(), "ms".to_owned());
        let (_, svg) =
            draw(&[dot("a", 5.0), dot("b<", 5.0), dot("c", 9.0)], &axis, ("energy", "J"), &Palette::default());
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.contains("b&lt;") && svg.contains("p95 (ms)") && !svg.contains("NaN"), "{svg}");
        let heights: Vec<&str> =
            svg.split("class=\"curve-name").skip(1).filter_map(|of| of.split('"').nth(4)).collect();
        assert_ne!(heights[1], heights[2], "{svg}");
        let far = draw(&[dot("a", 2.0), dot("b", 900.0)], &axis, ("energy", "J"), &Palette::default()).1;
        assert!(far.contains(">10<") && far.contains(">100<"), "tenfolds: {far}");
        assert!(!draw(&[], &axis, ("energy", "J"), &Palette::default()).1.contains("NaN"));
    }
}

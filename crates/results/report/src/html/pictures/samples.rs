//! Values as they scatter: a row for each sample, with its points, its quartiles and its median on
//! one axis.

use crate::blocks::{Sample, quantity};
use crate::html::palette::Palette;
use crate::html::svg::{LETTER, WIDTH, escape, fitting, nice_step, text};
use std::fmt::Write;

const ROW: f64 = 26.0;
const NAMES: f64 = 220.0;
const FIGURES: f64 = 78.0;
const AXIS: f64 = 22.0;

/// The picture and its height; `points` of each sample are drawn at most. Values that are no
/// numbers are left out.
pub(super) fn draw(samples: &[Sample], unit: &str, palette: &Palette, points: usize) -> (f64, String) {
    let finite = || samples.iter().flat_map(|sample| &sample.values).copied().filter(|value| value.is_finite());
    let (low, high) = finite().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let height = AXIS + samples.len() as f64 * ROW + 4.0;
    let mut out = String::new();
    if low > high {
        return (height, out);
    }
    // Values that are all but the same stand in the middle of an axis that shows it.
    let room = ((high - low) * 0.04).max(high.abs() * 0.002).max(f64::MIN_POSITIVE);
    let (from, to) = (low - room, high + room);
    let (left, right) = (NAMES, WIDTH - FIGURES);
    let x = |value: f64| left + (value - from) / (to - from) * (right - left);
    let step = nice_step((to - from) / 6.0);
    let mut free = f64::MIN;
    let first = (from / step).ceil();
    for number in 0..((to - from) / step).clamp(0.0, 20.0) as u32 + 1 {
        let value = (first + f64::from(number)) * step;
        if value > to {
            break;
        }
        let at = x(value);
        let _ = write!(out, "<path class=\"grid\" d=\"M{at:.1} {AXIS}V{height}\"/>");
        let label = decimals(value, step);
        let wide = label.len() as f64 * LETTER;
        if at - wide / 2.0 >= free {
            text(&mut out, "place", (at, 14.0), &label);
            free = at + wide / 2.0 + 8.0;
        }
    }
    for (index, sample) in samples.iter().enumerate() {
        let middle = AXIS + (index as f64 + 0.5) * ROW;
        let mut values: Vec<f64> = sample.values.iter().copied().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        text(&mut out, "name", (0.0, middle + 4.0), &fitting(&sample.name, NAMES - 8.0));
        let (Some(&least), Some(&most)) = (values.first(), values.last()) else { continue };
        let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        let (lower, median, upper) = (at(0.25), at(0.5), at(0.75));
        let class = palette.colour(&sample.series);
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
        let _ = write!(
            out,
            "<g><title>{}</title><path class=\"curve k{class}\" d=\"M{:.1} {middle:.1}H{:.1}\"/>\
             <rect class=\"m{class}\" fill-opacity=\".28\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"14\"/>",
            escape(&words),
            x(least),
            x(most),
            x(lower) - 0.5,
            middle - 7.0,
            x(upper) - x(lower) + 1.0,
        );
        let shown = values.len().min(points);
        for number in 0..shown {
            let value = values[if shown > 1 { number * (values.len() - 1) / (shown - 1) } else { 0 }];
            // Points that lie on each other are told apart by their heights, the same in every
            // drawing.
            let height = middle + ((number as f64 * 0.618).fract() - 0.5) * 12.0;
            let _ = write!(
                out,
                "<circle class=\"m{class}\" fill-opacity=\".55\" cx=\"{:.1}\" cy=\"{height:.1}\" r=\"1.8\"/>",
                x(value)
            );
        }
        let _ = write!(out, "<path class=\"median\" d=\"M{:.1} {:.1}v16\"/></g>", x(median), middle - 8.0);
        text(&mut out, "figure", (right + 8.0, middle + 4.0), &quantity(median, unit).to_string());
    }
    (height, out)
}

/// A number of a scale, with the decimals that tell it from its neighbours.
fn decimals(value: f64, step: f64) -> String {
    let places = (-step.log10()).ceil().clamp(0.0, 6.0) as usize;
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(name: &str, values: &[f64]) -> Sample {
        Sample { name: name.to_owned(), series: name.to_owned(), values: values.to_vec() }
    }

    #[test]
    fn every_sample_has_its_points_its_quartiles_and_its_median() {
        let samples = [sample("before", &[1.0, 2.0, 3.0, 4.0, 5.0]), sample("a<b", &[2.0, f64::NAN])];
        let (_, drawing) = draw(&samples, "us", &Palette::default(), 3);
        assert_eq!(drawing.matches("<circle").count(), 3 + 1);
        assert!(
            drawing.contains("before: 5 values from 1.00 to 5.00, half of them from 2.00 to 4.00, median 3.00 us"),
            "{drawing}"
        );
        assert!(drawing.contains("a&lt;b") && !drawing.contains("NaN"), "{drawing}");
    }

    #[test]
    fn equal_values_and_none_at_all_are_drawn() {
        for values in [&[7.0, 7.0][..], &[], &[f64::INFINITY], &[0.0]] {
            let (_, drawing) = draw(&[sample("", values)], "us", &Palette::default(), 10);
            assert!(!drawing.contains("NaN") && !drawing.contains("inf"), "{drawing}");
        }
    }
}

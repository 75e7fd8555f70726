//! Curves as SVG.

use super::figures::Rows;
use crate::blocks::{Curve, Figure, axis_words, on_axis, quantity};
use crate::html::palette::Palette;
use crate::html::svg::{LETTER, WIDTH, escape, fitting, nice_step, text};
use std::fmt::Write;

/// More marks than this on a curve are left out.
const MOST_MARKS: usize = 32;

pub(super) fn rows(curves: &[Curve], x: &str) -> Rows {
    let points = |curve: &Curve| {
        let row = |(place, figure): &(f64, Figure)| (vec![curve.name.clone(), place.to_string()], *figure);
        curve.points.iter().map(row).collect::<Vec<_>>()
    };
    (vec!["curve".to_owned(), axis_words(x)], curves.iter().flat_map(points).collect())
}

/// The place where each curve is lowest, in words.
pub(super) fn words(curves: &[Curve], x: &str, unit: &str) -> String {
    let least = |curve: &Curve| {
        let least = curve.least()?;
        let (place, figure) = least.items[0];
        let name = if curve.name.is_empty() { String::new() } else { format!("{}: ", curve.name) };
        let value = quantity(figure.value, unit);
        Some(match least.behind {
            0 => format!("{name}{value} {unit}"),
            _ => format!("{name}least {value} {unit} at {} {place}", axis_words(x)),
        })
    };
    curves.iter().filter_map(least).take(16).collect::<Vec<_>>().join("; ")
}

/// Curves from 0 upwards, each with marks of its own form and its name at its end.
pub(super) fn draw(curves: &[Curve], x_axis: &str, unit: &str, palette: &Palette) -> (f64, String) {
    const HEIGHT: f64 = 300.0;
    let (left, right, top, bottom) = (52.0, WIDTH - 190.0, 14.0, HEIGHT - 40.0);
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let (least, most) = points().fold((f64::MAX, f64::MIN), |(low, high), (x, _)| (low.min(*x), high.max(*x)));
    let figures = points().flat_map(|(_, figure)| [Some(figure.value), figure.published]).flatten();
    let (lowest, highest) =
        figures.fold((0.0, f64::MIN_POSITIVE), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
    let of_y = nice_step((highest - lowest) / 6.0);
    let [floor, ceiling] = [(lowest / of_y).floor() * of_y, (highest / of_y).ceil() * of_y];
    let x = |place: f64| left + on_axis(place, (least, most)) * (right - left);
    let y = |value: f64| bottom - (value - floor) / (ceiling - floor) * (bottom - top);
    let mut out = String::new();
    for curve in curves {
        let Some((from, to)) = curve.best else { continue };
        let (from, to) = (x(from) - 4.0, x(to) + 4.0);
        let _ = write!(
            out,
            "<rect class=\"best m{}\" x=\"{from:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{:.1}\"/>",
            palette.colour(&curve.name),
            to - from,
            bottom - top
        );
    }
    for number in 0..=((ceiling - floor) / of_y).round().clamp(0.0, 20.0) as u32 {
        let value = floor + f64::from(number) * of_y;
        let _ =
            write!(out, "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/>", y(value));
        text(&mut out, "scale", (left - 6.0, y(value) + 4.0), &short(value, of_y));
    }
    let mut free = f64::MIN;
    let mut places: Vec<f64> = points().map(|(place, _)| *place).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    for place in places {
        let label = place.to_string();
        let wide = label.len() as f64 * LETTER + 6.0;
        if x(place) - wide / 2.0 >= free {
            text(&mut out, "place", (x(place), bottom + 16.0), &label);
            free = x(place) + wide / 2.0;
        }
    }
    text(&mut out, "place", ((left + right) / 2.0, bottom + 34.0), &axis_words(x_axis));
    // Names at the ends of curves keep clear of each other.
    let mut ends: Vec<(f64, usize)> =
        curves.iter().enumerate().filter_map(|(index, curve)| Some((y(curve.points.last()?.1.value), index))).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Where many end at the bottom, the first stand higher.
    let room = |below: usize| bottom + 8.0 - below as f64 * 14.0;
    let mut lowest = f64::MIN;
    let count = ends.len();
    for (rank, (at, index)) in ends.into_iter().enumerate() {
        lowest = at.min(room(count - 1 - rank)).max(lowest + 14.0);
        mark(
            &mut out,
            index,
            (right + 12.0, lowest),
            &format!("m{}", palette.colour(&curves[index].name)),
            &curves[index].name,
        );
        text(
            &mut out,
            &format!("curve-name m{}", palette.colour(&curves[index].name)),
            (right + 20.0, lowest + 4.0),
            &fitting(&curves[index].name, 172.0),
        );
    }
    for (index, curve) in curves.iter().enumerate() {
        let class = palette.colour(&curve.name);
        let line = |of: &dyn Fn(&Figure) -> Option<f64>| {
            let points = curve.points.iter().filter_map(|(place, figure)| Some((x(*place), y(of(figure)?))));
            points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
        };
        let _ = write!(out, "<polyline class=\"curve k{class}\" points=\"{}\"/>", line(&|figure| Some(figure.value)));
        let _ = write!(
            out,
            "<polyline class=\"curve published k{class}\" points=\"{}\"/>",
            line(&|figure| figure.published)
        );
        // Where there are many points the curve says it all, and the table beneath has each.
        let step = curve.points.len().div_ceil(MOST_MARKS);
        for (place, figure) in curve.points.iter().step_by(step.max(1)) {
            let words =
                format!("{}, {} {place}: {} {unit}", curve.name, axis_words(x_axis), quantity(figure.value, unit));
            mark(&mut out, index, (x(*place), y(figure.value)), &format!("m{class}"), &words);
            if let Some(published) = figure.published {
                let words = format!("{words}, published {}", quantity(published, unit));
                mark(&mut out, index, (x(*place), y(published)), &format!("open k{class}"), &words);
            }
        }
    }
    (HEIGHT, out)
}

/// A mark of a curve: circle, square, diamond or triangle.
fn mark(out: &mut String, curve: usize, (x, y): (f64, f64), class: &str, words: &str) {
    let words = escape(words);
    let _ = match curve % 4 {
        0 => write!(
            out,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"><title>{words}</title></circle>"
        ),
        form => {
            let d = match form {
                1 => "M-3.2 -3.2H3.2V3.2H-3.2Z",
                2 => "M0 -4.4L4.4 0L0 4.4L-4.4 0Z",
                _ => "M0 -4.2L4.2 3.4H-4.2Z",
            };
            write!(
                out,
                "<path class=\"{class}\" transform=\"translate({x:.1} {y:.1})\" d=\"{d}\"><title>{words}</title></path>"
            )
        }
    };
}

/// A number of a scale, with the decimals that tell it from its neighbours.
fn short(value: f64, step: f64) -> String {
    let mut decimals = 0;
    let mut unit_of_last = 1.0;
    while unit_of_last > step * 1.001 && decimals < 6 {
        unit_of_last /= 10.0;
        decimals += 1;
    }
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_below_0_stays_above_the_names_of_its_axis_and_has_few_marks() {
        let figure = |value| Figure { value, published: None };
        let points = (1..=1000).map(|at| (f64::from(at), figure(2.0 - f64::from(at) / 100.0))).collect();
        let (height, svg) =
            draw(&[Curve { name: "c".to_owned(), points, best: None }], "rate", "%", &Palette::default());
        let line = svg.split("<polyline").nth(1).and_then(|of| of.split('"').nth(3)).unwrap();
        let places: Vec<(f64, f64)> = line
            .split(' ')
            .map(|point| {
                let mut both = point.split(',').map(|number| number.parse().unwrap());
                (both.next().unwrap(), both.next().unwrap())
            })
            .collect();
        assert_eq!(places.len(), 1000);
        assert!(places.iter().all(|(_, y)| (0.0..=height - 40.0).contains(y)), "{places:?}");
        // From 1 to 1000 a tenfold is a third of the width.
        let [first, tenfold, last] = [places[0].0, places[9].0, places[999].0];
        assert!(((tenfold - first) / (last - first) - 1.0 / 3.0).abs() < 0.01, "{first} {tenfold} {last}");
        assert!(svg.matches("<circle").count() <= MOST_MARKS + 1, "{}", svg.matches("<circle").count());
        assert!(svg.contains(">-8<") || svg.contains(">-8.0<"), "the axis has what is below 0");
    }
}

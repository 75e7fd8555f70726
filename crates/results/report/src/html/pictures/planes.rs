//! Pictures over two scales: curves and dots.

use crate::blocks::{Curve, Dot, Figure, axis_words, quantity};
use crate::html::palette::Colours;
use crate::html::plot::{LETTER, Scale, WIDTHS, plane};
use itertools::Itertools;
use maud::{Markup, html};
use recording::total_order;
use std::cmp::Reverse;

/// More marks than this on a curve are left out.
const MOST_MARKS: usize = 32;
/// Height of a plane in pixels.
const HEIGHT: f64 = 260.0;
/// Height of a line of letters in pixels.
const LINE: f64 = 14.0;

/// Curves from 0 upwards, each with marks of its own form.
pub fn curves(
    curves: &[Curve],
    [x_words, y_words]: [&str; 2],
    unit: &str,
    colours: &Colours<'_>,
) -> Markup {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let places = points().map(|(place, _)| *place);
    let places = places.sorted_by(f64::total_cmp).dedup().collect_vec();
    let ends = (
        places.first().copied().unwrap_or(0.0),
        places.last().copied().unwrap_or(1.0),
    );
    let x = Scale::of_places(x_words, ends, &places, &|place| place.to_string());
    let values = points()
        .flat_map(|(_, figure)| [Some(figure.value), figure.published])
        .flatten();
    let y = Scale::rounded(y_words, &values.collect_vec());
    let line = |curve: &Curve, of: &dyn Fn(&Figure) -> Option<f64>| {
        curve
            .points
            .iter()
            .filter_map(|(place, figure)| Some((x.at(*place), 100.0 - y.at(of(figure)?))))
            .map(|(x, y)| format!("{x:.2},{y:.2}"))
            .join(" ")
    };
    let mark = |curve: &Curve, open: bool, place: f64, value: f64| {
        let (form, class) = (colours.form(&curve.name), colours.class(&curve.name));
        let published = if open { "published " } else { "" };
        let title = format!(
            "{}, {x_words} {place}: {published}{} {unit}",
            curve.name,
            quantity(value, unit)
        );
        let style = format!("left:{:.2}%;bottom:{:.2}%", x.at(place), y.at(value));
        html! { i.form.(form).(class).open[open] style=(style) title=(title) {} }
    };
    let drawn = html! {
        @for curve in curves {
            @if let Some((from, to)) = curve.best { i.best.(colours.class(&curve.name)) style=(x.between_style(from, to)) {} }
        }
        svg viewBox="0 0 100 100" preserveAspectRatio="none" {
            @for curve in curves {
                @let class = colours.class(&curve.name);
                polyline.(class) points=(line(curve, &|figure| Some(figure.value))) {}
                @let published = line(curve, &|figure| figure.published);
                @if !published.is_empty() { polyline.published.(class) points=(published) {} }
            }
        }
        @for curve in curves {
            // Where there are many points the curve says it all, and the table beneath has each.
            @for (place, figure) in curve.points.iter().step_by(curve.points.len().div_ceil(MOST_MARKS).max(1)) {
                (mark(curve, false, *place, figure.value))
                @if let Some(published) = figure.published { (mark(curve, true, *place, published)) }
            }
        }
    };
    plane(&x, &y, HEIGHT, &drawn)
}

/// The place where each curve is lowest, in words.
pub fn words(curves: &[Curve], x: &str, unit: &str) -> String {
    let least = |curve: &Curve| {
        let least = curve.least()?;
        let (place, figure) = least.items[0];
        let name = if curve.name.is_empty() {
            String::new()
        } else {
            format!("{}: ", curve.name)
        };
        let value = quantity(figure.value, unit);
        Some(match least.behind {
            0 => format!("{name}{value} {unit}"),
            _ => format!("{name}least {value} {unit} at {} {place}", axis_words(x)),
        })
    };
    curves.iter().filter_map(least).take(16).join("; ")
}

/// Dots, each with an interval in both quantities and its name beside it.
pub fn dots(dots: &[Dot], [x_words, y_words]: [&str; 2], [x_unit, y_unit]: [&str; 2]) -> Markup {
    let x = Scale::new(x_words, dots.iter().flat_map(|dot| dot.x).collect(), false);
    let y = Scale::new(y_words, dots.iter().flat_map(|dot| dot.y).collect(), false);
    let label = |dot: &Dot| {
        let beyond = |scale: &Scale, value: f64, unit: &str| {
            scale
                .is_beyond(value)
                .then(|| format!("{} {unit}", quantity(value, unit)))
        };
        let beyond = [beyond(&x, dot.x[1], x_unit), beyond(&y, dot.y[1], y_unit)];
        std::iter::once(dot.name.clone())
            .chain(beyond.into_iter().flatten())
            .join(", ")
    };
    // Names keep clear of each other in a narrow window, and so in a wide one.
    let mut order = dots.iter().collect_vec();
    order.sort_by_key(|of| Reverse(total_order(of.y[1])));
    let mut taken: Vec<[f64; 3]> = Vec::new();
    let mut place = |at: f64, height: f64, label: &str| {
        let (middle, wide) = (
            at / 100.0 * WIDTHS[0],
            label.chars().count() as f64 * LETTER + 10.0,
        );
        let [from, to] = if at > 50.0 {
            [middle - wide, middle]
        } else {
            [middle, middle + wide]
        };
        let mut height = height;
        while height > LINE
            && taken
                .iter()
                .any(|of| (of[2] - height).abs() < LINE && from < of[1] && of[0] < to)
        {
            height -= 1.0;
        }
        taken.push([from, to, height]);
        let side = if at > 50.0 {
            format!("right:{:.2}%", 100.0 - at)
        } else {
            format!("left:{at:.2}%")
        };
        format!("{side};bottom:{:.2}%", height / HEIGHT * 100.0)
    };
    let drawn = html! {
        @for dot in order {
            @let (at, up, label) = (x.at(dot.x[1]), y.at(dot.y[1]), label(dot));
            @let title = format!("{}: {} {x_unit}, {} {y_unit}", dot.name, quantity(dot.x[1], x_unit), quantity(dot.y[1], y_unit));
            i.whisker style=(format_args!("{};bottom:{up:.2}%", x.between_style(dot.x[0], dot.x[2]))) {}
            i.whisker.upright style=(format_args!("left:{at:.2}%;bottom:{:.2}%;height:{:.2}%", y.at(dot.y[0]), y.at(dot.y[2]) - y.at(dot.y[0]))) {}
            i.dot style=(format_args!("left:{at:.2}%;bottom:{up:.2}%")) title=(title) {}
            @if x.is_beyond(dot.x[2]) || y.is_beyond(dot.y[2]) { i.torn style=(format_args!("bottom:{up:.2}%")) {} }
            b style=(place(at, up / 100.0 * HEIGHT, &label)) { (label) }
        }
    };
    plane(&x, &y, HEIGHT, &drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_of_many_points_has_few_marks_and_all_of_its_line() {
        let figure = |value| Figure {
            value,
            published: None,
        };
        let points = (1..=1000)
            .map(|at| (f64::from(at), figure(2.0 - f64::from(at) / 100.0)))
            .collect();
        let curve = Curve {
            name: "c".to_owned(),
            points,
            best: None,
        };
        let page = curves(&[curve], ["rate", "%"], "%", &Colours::default()).into_string();
        let line = page
            .split("points=\"")
            .nth(1)
            .and_then(|of| of.split('"').next())
            .unwrap();
        let places: Vec<f64> = line
            .split(' ')
            .map(|point| point.split(',').next().unwrap().parse().unwrap())
            .collect();
        // From 1 to 1000 a tenfold is a third of the width.
        assert_eq!(places.len(), 1000);
        assert!(
            (places[9] - 33.33).abs() < 0.1 && places[999] == 100.0,
            "{} {}",
            places[9],
            places[999]
        );
        assert!(
            page.matches("class=\"form").count() <= MOST_MARKS
                && page.contains("rate, logarithmic")
        );
        assert!(
            page.contains(">-8<"),
            "the axis has what is below 0: {page}"
        );
    }

    #[test]
    fn names_of_dots_keep_clear_of_each_other_and_an_outlier_is_told() {
        let dot = |name: &str, at: f64| Dot {
            name: name.to_owned(),
            x: [at; 3],
            y: [5.0, 6.0, 7.0],
        };
        let all = [
            dot("a", 5.0),
            dot("b<", 5.0),
            dot("c", 5.0),
            dot("d", 6.0),
            dot("far", 900.0),
        ];
        let page = dots(&all, ["p95 (ms)", "energy (J)"], ["ms", "J"]).into_string();
        let names: Vec<&str> = page
            .split("<b style=\"")
            .skip(1)
            .filter_map(|of| of.split('"').next())
            .collect();
        assert_eq!(names.len(), 5);
        assert!(
            names
                .iter()
                .enumerate()
                .all(|(at, name)| !names[..at].contains(name)),
            "{names:?}"
        );
        assert!(
            page.contains("b&lt;") && page.contains("far, 900") && page.contains("torn"),
            "{page}"
        );
        assert!(!dots(&[], ["", ""], ["", ""]).into_string().contains("NaN"));
    }
}

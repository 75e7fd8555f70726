//! Pictures of measures in a terminal: bars and blocks of characters.

use crate::grid::{DIM, paragraph};
use crate::model::pictures::{Bar, Curve, Drawing, HeatMap, MeasurePicture};
use crate::style::Style;
use crate::words::quantity;
use std::fmt::Write;

/// Blocks from low to high.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Shades from light to dark.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
/// Names are no wider than this.
const NAME: usize = 24;

/// A picture with its title; small, since its figures stand in the table.
pub(crate) fn draw(text: &mut String, picture: &MeasurePicture, style: Style) {
    let title = match picture.unit.as_str() {
        "1" => picture.title.clone(),
        unit => format!("{} ({unit})", picture.title),
    };
    let _ = writeln!(text, "{}", style.bold(&title));
    match &picture.drawing {
        Drawing::Bars(bars) => draw_bars(text, bars, &picture.unit, style),
        Drawing::Curves { x, curves } => draw_curves(text, curves, x, &picture.unit, style),
        Drawing::HeatMap { x, y, maps } => draw_maps(text, maps, (x, y), &picture.unit, style),
    }
}

fn name(text: &str) -> String {
    let cut: String = match text.chars().count() > NAME {
        true => text.chars().take(NAME - 1).chain(['…']).collect(),
        false => text.to_owned(),
    };
    format!("  {cut:NAME$}")
}

/// A letter for each subject: a, b, ..., and again from a where there are more.
fn letter(index: usize) -> char {
    char::from(b'a' + (index % 26) as u8)
}

fn draw_bars(text: &mut String, bars: &[Bar], unit: &str, style: Style) {
    let mut subjects: Vec<&str> = Vec::new();
    for (subject, _) in bars.iter().flat_map(|bar| &bar.parts) {
        if !subjects.contains(&subject.as_str()) {
            subjects.push(subject);
        }
    }
    let longest = bars.iter().map(|bar| bar.total().value).fold(f64::MIN_POSITIVE, f64::max);
    let width = style.width.clamp(40, 120).saturating_sub(NAME + 26).max(8) as f64;
    for bar in bars {
        let (mut drawn, mut reached) = (String::new(), 0.0);
        for (subject, figure) in &bar.parts {
            reached += figure.value;
            let end = (reached / longest * width).round() as usize;
            let number = subjects.iter().position(|other| other == subject).unwrap_or(0);
            let more = end.saturating_sub(drawn.chars().count());
            drawn.extend(std::iter::repeat_n(letter(number), more));
        }
        let total = bar.total();
        let published = total.published.map_or_else(String::new, |value| format!(", publ. {}", quantity(value, unit)));
        let _ = writeln!(text, "{} |{drawn}| {}{published}", name(&bar.name), quantity(total.value, unit));
    }
    let legend: Vec<String> =
        subjects.iter().enumerate().map(|(index, subject)| format!("{} {subject}", letter(index))).collect();
    paragraph(text, &legend.join(", "), ("  ", "  "), DIM, style);
}

fn draw_curves(text: &mut String, curves: &[Curve], x: &str, unit: &str, style: Style) {
    let figures = || curves.iter().flat_map(|curve| &curve.points).map(|(_, figure)| figure.value);
    let highest = figures().fold(f64::MIN_POSITIVE, f64::max);
    for curve in curves {
        let most = style.width.clamp(40, 120).saturating_sub(NAME + 30).max(6);
        let blocks: String = curve.points.iter().take(most).map(|(_, figure)| block(figure.value / highest)).collect();
        let least = curve.points.iter().min_by(|a, b| a.1.value.total_cmp(&b.1.value));
        let words = least
            .map_or_else(String::new, |(place, figure)| format!("least {} at {place}", quantity(figure.value, unit)));
        let _ = writeln!(text, "{} {blocks}  {words}", name(&curve.name));
    }
    let ends = curves.iter().flat_map(|curve| &curve.points).map(|(place, _)| *place);
    let (low, high) = ends.fold((f64::MAX, f64::MIN), |(low, high), place| (low.min(place), high.max(place)));
    let note =
        format!("{} from {low} to {high}; heights from 0 to {}", x.replace(['_', '-'], " "), quantity(highest, unit));
    paragraph(text, &note, ("  ", "  "), DIM, style);
}

fn block(share: f64) -> char {
    BLOCKS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1]
}

fn draw_maps(text: &mut String, maps: &[HeatMap], (x, y): (&str, &str), unit: &str, style: Style) {
    for map in maps {
        let fields = || map.fields.iter().flatten().flatten().map(|figure| figure.value);
        let (low, high) = fields().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        if !map.name.is_empty() {
            let _ = writeln!(text, "  {}", map.name);
        }
        for (up, fields) in map.ys.iter().zip(&map.fields).rev() {
            let shade = |value: f64| {
                let share = (value - low) / (high - low).max(f64::MIN_POSITIVE);
                SHADES[((share * 5.0) as usize).min(4)]
            };
            let line: String = fields
                .iter()
                .take(style.width.clamp(40, 120) / 2 - 6)
                .flat_map(|field| [field.map_or(' ', |figure| shade(figure.value)); 2])
                .collect();
            let _ = writeln!(text, "  {:>6} {line}", up.to_string());
        }
        let range = format!(
            "{} upwards, {} to the right; light {} to dark {}",
            y.replace(['_', '-'], " "),
            x.replace(['_', '-'], " "),
            quantity(low, unit),
            quantity(high, unit)
        );
        paragraph(text, &range, ("  ", "  "), DIM, style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::pictures::Figure;

    fn figure(value: f64) -> Figure {
        Figure { value, published: None }
    }

    #[test]
    fn a_bar_is_as_long_as_its_sum_and_each_part_has_its_letter() {
        let part = |subject: &str, value| (subject.to_owned(), figure(value));
        let bars = [
            Bar { name: "one".to_owned(), parts: vec![part("rx", 30.0), part("tx", 70.0)] },
            Bar { name: "two".to_owned(), parts: vec![part("tx", 50.0)] },
        ];
        let mut text = String::new();
        draw_bars(&mut text, &bars, "ticks", Style::PLAIN);
        let lines: Vec<&str> = text.lines().collect();
        let count = |line: &str, letter: char| line.split('|').nth(1).unwrap().matches(letter).count();
        assert_eq!((count(lines[0], 'a'), count(lines[0], 'b')), (15, 35));
        assert_eq!((count(lines[1], 'a'), count(lines[1], 'b')), (0, 25));
        assert!(lines[0].ends_with("| 100") && lines[2].contains("a rx, b tx"), "{text}");
    }

    #[test]
    fn a_curve_is_high_where_its_figures_are() {
        let points = [(0.0, 80.0), (1.0, 40.0), (2.0, 10.0)].map(|(place, value)| (place, figure(value)));
        let mut text = String::new();
        let curves = [Curve { name: "single".to_owned(), points: points.to_vec() }];
        draw_curves(&mut text, &curves, "stride_first", "ticks", Style::PLAIN);
        assert!(text.contains("█▄▁  least 10 at 2"), "{text}");
        assert!(text.contains("stride first from 0 to 2; heights from 0 to 80"), "{text}");
    }

    #[test]
    fn a_map_is_dark_where_its_figures_are_great_and_blank_where_there_are_none() {
        let fields = vec![vec![Some(figure(10.0)), None], vec![Some(figure(15.0)), Some(figure(20.0))]];
        let maps = [HeatMap { name: String::new(), xs: vec![1.0, 2.0], ys: vec![3.0, 4.0], fields }];
        let mut text = String::new();
        draw_maps(&mut text, &maps, ("stride_second", "stride_first"), "ticks", Style::PLAIN);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["       4 ▒▒██", "       3 ··  "]);
    }
}

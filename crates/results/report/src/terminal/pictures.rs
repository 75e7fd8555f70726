//! Pictures in a terminal: bars and blocks of characters.

use super::grid::paragraph;
use super::paint::{BOLD, DIM, painted};
use crate::blocks::lanes::Lanes;
use crate::blocks::{
    Axis, Bar, Curve, Dot, Drawing, Flame, HeatMap, IntervalRow, Node, Picture, Sample, axis_words,
    between, ends, on_axis, quantity,
};
use crate::style::Style;
use recording::distinct;
use std::fmt::Write;

/// Blocks from low to high.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Shades from light to dark.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
/// Names are no wider than this, and no narrower.
const NAMES: (usize, usize) = (44, 16);

/// A picture with its title; small, since its figures stand in a table.
pub fn draw(text: &mut String, picture: &Picture, style: Style) {
    let unit = picture.unit.as_str();
    let title = match unit {
        "1" | "" => picture.title.clone(),
        unit => format!("{} ({unit})", picture.title),
    };
    if !matches!(picture.drawing, Drawing::Timeline { .. }) {
        paragraph(text, &title, ("", "  "), BOLD, style);
    }
    match &picture.drawing {
        Drawing::Bars(bars) => draw_bars(text, bars, unit, style),
        Drawing::Curves { x, curves } => draw_curves(text, curves, x, unit, style),
        Drawing::HeatMap { x, y, maps, .. } => draw_maps(text, maps, (x, y), unit, style),
        Drawing::Intervals(rows) => draw_intervals(text, rows, unit, style),
        Drawing::Dots { x, dots } => draw_dots(text, dots, x, (&picture.quantity, unit), style),
        Drawing::Samples(samples) => draw_samples(text, samples, unit, style),
        Drawing::Flames(flames) => flames
            .iter()
            .for_each(|flame| draw_flame(text, flame, unit, style)),
        Drawing::Lanes(lanes) => draw_lanes(text, lanes, style),
        // A thousand spans have no room here; the answers say what they come to.
        Drawing::Timeline { answers, .. } => {
            answers
                .iter()
                .for_each(|answer| paragraph(text, answer, ("", "  "), "", style));
        }
    }
    if !picture.note.is_empty() {
        note(text, &painted(&picture.note, style), style);
    }
}

/// Words below a picture.
fn note(text: &mut String, words: &str, style: Style) {
    paragraph(text, words, ("  ", "  "), DIM, style);
}

/// The columns of a picture: those of its names, and those that names and figures leave for it.
#[derive(Clone, Copy)]
struct Columns {
    names: usize,
    room: usize,
}

impl Columns {
    fn new<'n>(names: impl Iterator<Item = &'n String>, figures: usize, style: Style) -> Self {
        let width = style.width.clamp(40, 120);
        let names = names
            .map(|name| name.chars().count())
            .max()
            .unwrap_or(0)
            .clamp(NAMES.1, NAMES.0.min(width / 2 - 4));
        Self {
            names,
            room: width.saturating_sub(names + figures).max(8),
        }
    }

    /// The column of a value on an axis with these ends.
    fn place(self, value: f64, ends: (f64, f64)) -> usize {
        let last = self.room - 1;
        ((between(value, ends) * last as f64).round() as usize).min(last)
    }

    /// The name of a row; of one that is too long the middle is left out, since the end tells rows
    /// apart.
    fn name(self, text: &str) -> String {
        let all = text.chars().count();
        let head = self.names / 3;
        let cut = if all > self.names {
            text.chars()
                .take(head)
                .chain(['…'])
                .chain(text.chars().skip(all + head + 1 - self.names))
                .collect()
        } else {
            text.to_owned()
        };
        format!("  {cut:width$}", width = self.names)
    }
}

/// A letter for each subject: a, b, ..., and again from a where there are more.
pub fn letter(index: usize) -> char {
    char::from(b'a' + (index % 26) as u8)
}

/// Names behind their letters.
fn legend<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let named = names.into_iter().enumerate();
    named
        .map(|(at, name)| format!("{} {name}", letter(at)))
        .collect()
}

fn draw_bars(text: &mut String, bars: &[Bar], unit: &str, style: Style) {
    let subjects = distinct(
        bars.iter()
            .flat_map(|bar| &bar.parts)
            .map(|(subject, _)| subject.as_str()),
    );
    let longest = bars
        .iter()
        .map(Bar::total)
        .fold(f64::MIN_POSITIVE, f64::max);
    let columns = Columns::new(bars.iter().map(|bar| &bar.name), 26, style);
    let width = columns.room as f64;
    for bar in bars {
        let (mut drawn, mut reached) = (String::new(), 0.0);
        for (subject, value) in &bar.parts {
            reached += value;
            let end = (reached / longest * width).round() as usize;
            let number = subjects
                .iter()
                .position(|other| other == subject)
                .unwrap_or(0);
            let more = end.saturating_sub(drawn.chars().count());
            drawn.extend(std::iter::repeat_n(letter(number), more));
        }
        let _ = writeln!(
            text,
            "{} |{drawn}| {}",
            columns.name(&bar.name),
            quantity(bar.total(), unit)
        );
    }
    note(text, &legend(subjects).join(", "), style);
}

/// A line for each function, further in than the one that called it. What took less than a
/// hundredth of the whole is left out.
fn draw_flame(text: &mut String, flame: &Flame, unit: &str, style: Style) {
    fn lines<'n>(nodes: &'n [Node], depth: usize, least: f64, all: &mut Vec<(String, &'n Node)>) {
        for node in nodes.iter().filter(|node| node.total >= least) {
            all.push((format!("{}{}", "  ".repeat(depth), node.name), node));
            lines(&node.called, depth + 1, least, all);
        }
    }
    let tree = flame.tree();
    let mut all = vec![(tree.name.clone(), &tree)];
    lines(&tree.called, 1, tree.total / 100.0, &mut all);
    let columns = Columns::new(all.iter().map(|(name, _)| name), 16, style);
    for (name, node) in all {
        let length =
            (node.total / tree.total.max(f64::MIN_POSITIVE) * columns.room as f64).round() as usize;
        let _ = writeln!(
            text,
            "{} {} {}",
            columns.name(&name),
            "█".repeat(length),
            quantity(node.total, unit)
        );
    }
}

fn draw_curves(text: &mut String, curves: &[Curve], x: &str, unit: &str, style: Style) {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let highest = points()
        .map(|(_, figure)| figure.value)
        .fold(f64::MIN_POSITIVE, f64::max);
    let columns = Columns::new(curves.iter().map(|curve| &curve.name), 36, style);
    for curve in curves {
        let most = columns.room;
        let blocks: String = curve
            .points
            .iter()
            .take(most)
            .map(|(_, figure)| block(figure.value / highest))
            .collect();
        let best = curve
            .best
            .filter(|(from, to)| from != to)
            .map_or_else(String::new, |(from, to)| {
                format!(", near it from {from} to {to}")
            });
        let words = curve.least().map_or_else(String::new, |least| {
            let (place, figure) = least.items[0];
            let value = quantity(figure.value, unit);
            if least.behind == 0 {
                value.to_string()
            } else {
                format!("least {value} at {place}{best}")
            }
        });
        let line = format!("{} {blocks}  {words}", columns.name(&curve.name));
        let fits = line.chars().count() <= style.width;
        text.push_str(if fits {
            &line
        } else {
            line.trim_end_matches(best.as_str())
        });
        text.push('\n');
    }
    let (low, high) = ends(points().map(|(place, _)| *place));
    let words = format!(
        "{} from {low} to {high}; heights from 0 to {}",
        axis_words(x),
        quantity(highest, unit)
    );
    note(text, &words, style);
}

fn block(share: f64) -> char {
    BLOCKS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1]
}

fn draw_maps(
    text: &mut String,
    maps: &[HeatMap],
    (x, y): (&Axis, &Axis),
    unit: &str,
    style: Style,
) {
    for map in maps {
        let names = map
            .ys
            .iter()
            .map(|up| y.place(*up).chars().count())
            .max()
            .unwrap_or(0)
            .max(6);
        let fields = map.fields.iter().flatten().flatten();
        let (low, high) = ends(fields.map(|figure| figure.value));
        if !map.name.is_empty() {
            let _ = writeln!(text, "  {}", map.name);
        }
        for (up, fields) in map.ys.iter().zip(&map.fields).rev() {
            let shade = |value: f64| SHADES[((between(value, (low, high)) * 5.0) as usize).min(4)];
            let line: String = fields
                .iter()
                .take(style.width.clamp(40, 120) / 2 - 6)
                .flat_map(|field| [field.map_or(' ', |figure| shade(figure.value)); 2])
                .collect();
            let _ = writeln!(text, "  {:>names$} {line}", y.place(*up));
        }
        let range = format!(
            "{} upwards, {} to the right, from {} to {}; light {} to dark {}",
            y.words,
            x.words,
            map.xs
                .first()
                .map_or_else(String::new, |first| x.place(*first)),
            map.xs
                .last()
                .map_or_else(String::new, |last| x.place(*last)),
            quantity(low, unit),
            quantity(high, unit)
        );
        note(text, &range, style);
    }
}

/// A row for each interval: a line from its lower to its upper end, a dot in the middle, and a
/// cross where the published value lies.
fn draw_intervals(text: &mut String, rows: &[IntervalRow], unit: &str, style: Style) {
    let values = rows
        .iter()
        .flat_map(|row| [Some(row.low), Some(row.high), row.published])
        .flatten();
    let (low, high) = ends([0.0].into_iter().chain(values));
    let columns = Columns::new(rows.iter().map(|row| &row.name), 34, style);
    let column = |value: f64| columns.place(value, (low, high));
    for row in rows {
        let mut line = vec![' '; columns.room];
        if low < 0.0 {
            line[column(0.0)] = '│';
        }
        line[column(row.low)..=column(row.high).max(column(row.low))].fill('─');
        line[column(row.middle)] = '●';
        if let Some(published) = row.published {
            line[column(published)] = '✕';
        }
        let _ = writeln!(
            text,
            "{} {} {}",
            columns.name(&row.name),
            line.iter().collect::<String>(),
            row.words(unit)
        );
    }
    let cross = if rows.iter().any(|row| row.published.is_some()) {
        "; ✕ published"
    } else {
        ""
    };
    let words = format!(
        "from {} to {}{cross}",
        quantity(low, unit),
        quantity(high, unit)
    );
    note(text, &words, style);
}

/// Rows of a picture with two axes.
const HEIGHT: usize = 9;

/// A letter for each dot, at its middle.
fn draw_dots(
    text: &mut String,
    dots: &[Dot],
    (x, x_unit): &(String, String),
    (y, y_unit): (&str, &str),
    style: Style,
) {
    let (left, right) = ends(dots.iter().flat_map(|dot| dot.x));
    let (bottom, top) = ends(dots.iter().flat_map(|dot| dot.y));
    let width = (style.width.clamp(40, 120) - 16).min(64);
    let place = |value: f64, ends: (f64, f64), cells: usize| {
        (on_axis(value, ends) * (cells - 1) as f64).round() as usize
    };
    let mut canvas = vec![vec![' '; width]; HEIGHT];
    for (number, dot) in dots.iter().enumerate() {
        let row = HEIGHT - 1 - place(dot.y[1], (bottom, top), HEIGHT).min(HEIGHT - 1);
        let column = place(dot.x[1], (left, right), width).min(width - 1);
        // Letters that would lie on each other stand side by side.
        let free = (column..width)
            .chain((0..column).rev())
            .find(|&column| canvas[row][column] == ' ');
        canvas[row][free.unwrap_or(column)] = letter(number);
    }
    let scale = [
        quantity(top, y_unit).to_string(),
        quantity(bottom, y_unit).to_string(),
    ];
    for (number, row) in canvas.iter().enumerate() {
        let at = match number {
            0 => scale[0].as_str(),
            number if number == HEIGHT - 1 => scale[1].as_str(),
            _ => "",
        };
        let _ = writeln!(
            text,
            "  {at:>9} |{}",
            row.iter().collect::<String>().trim_end()
        );
    }
    let ends = [
        quantity(left, x_unit).to_string(),
        quantity(right, x_unit).to_string(),
    ];
    let _ = writeln!(text, "  {:>9} +{}", "", "-".repeat(width));
    let gap = width.saturating_sub(ends[0].len() + ends[1].len()).max(1);
    let _ = writeln!(
        text,
        "  {:>9}  {}{}{}",
        "",
        ends[0],
        " ".repeat(gap),
        ends[1]
    );
    let legend = legend(dots.iter().map(|dot| dot.name.as_str())).join(", ");
    let words = format!("{y} upwards, {x} ({x_unit}) to the right; {legend}");
    note(text, &words, style);
}

/// A line for each sample: from its least to its greatest value, half of the values in the thick
/// part.
fn draw_samples(text: &mut String, samples: &[Sample], unit: &str, style: Style) {
    let values = samples.iter().flat_map(|sample| &sample.values).copied();
    let (low, high) = ends(values.filter(|value| value.is_finite()));
    let columns = Columns::new(samples.iter().map(|sample| &sample.name), 16, style);
    let column = |value: f64| columns.place(value, (low, high));
    for sample in samples {
        let at = |q| findings::quantile(&sample.values, q).filter(|value| value.is_finite());
        let (Some(least), Some(lower), Some(median), Some(upper), Some(most)) =
            (at(0.0), at(0.25), at(0.5), at(0.75), at(1.0))
        else {
            continue;
        };
        let mut line = vec![' '; columns.room];
        line[column(least)..=column(most)].fill('─');
        line[column(lower)..=column(upper)].fill('═');
        line[column(median)] = '●';
        let line: String = line.into_iter().collect();
        let _ = writeln!(
            text,
            "{} {line} {}",
            columns.name(&sample.name),
            quantity(median, unit)
        );
    }
    if low <= high {
        let words = format!(
            "from {} to {}; ● median",
            quantity(low, unit),
            quantity(high, unit)
        );
        note(text, &words, style);
    }
}

/// The lanes that a terminal shows at most.
const MOST_LANES: usize = 24;

/// A line for each lane, with a letter for what it is at that time.
fn draw_lanes(text: &mut String, lanes: &Lanes, style: Style) {
    let kinds = lanes.kinds();
    let columns = Columns::new(lanes.rows.iter().map(|row| &row.name), 4, style);
    let width = columns.room;
    let whole = lanes.us(lanes.to).max(f64::MIN_POSITIVE);
    let column =
        |time: u64| ((lanes.us(time).min(whole) / whole * width as f64) as usize).min(width - 1);
    for row in lanes.rows.iter().take(MOST_LANES) {
        let mut line = vec![' '; width];
        for stretch in &row.stretches {
            let kind = kinds
                .iter()
                .position(|kind| *kind == stretch.what)
                .unwrap_or(0);
            line[column(stretch.from)..=column(stretch.to).max(column(stretch.from))]
                .fill(letter(kind));
        }
        for mark in row.marks.iter().filter(|mark| mark.is_telling) {
            line[column(mark.at)] = mark
                .number()
                .and_then(|number| number.chars().next())
                .unwrap_or('!');
        }
        let _ = writeln!(
            text,
            "{} {}",
            columns.name(&row.name),
            line.iter().collect::<String>().trim_end()
        );
    }
    if lanes.rows.len() > MOST_LANES {
        let _ = writeln!(
            text,
            "  {} more rows are on the page",
            lanes.rows.len() - MOST_LANES
        );
    }
    let mut legend = legend(kinds.into_iter().take(26));
    let marks = || lanes.rows.iter().flat_map(|row| &row.marks);
    let telling = marks().filter(|mark| mark.is_telling && mark.number().is_none());
    let told = distinct(telling.map(|mark| mark.what.as_str()));
    legend.extend(
        marks()
            .any(|mark| mark.number().is_some())
            .then(|| "1 and so on the deviations".to_owned()),
    );
    legend.extend((!told.is_empty()).then(|| format!("! {}", told.join(" or "))));
    let length = if lanes.is_order {
        lanes.span()
    } else {
        format!("{} us", quantity(whole, "us"))
    };
    let words = format!("{}, {length}; {}", lanes.titles(), legend.join(", "));
    note(text, &words, style);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Figure;

    fn figure(value: f64) -> Figure {
        Figure {
            value,
            published: None,
        }
    }

    #[test]
    fn a_bar_is_as_long_as_its_sum_and_each_part_has_its_letter() {
        let part = |subject: &str, value| (subject.to_owned(), value);
        let bars = [
            Bar {
                name: "one".to_owned(),
                parts: vec![part("rx", 30.0), part("tx", 70.0)],
            },
            Bar {
                name: "two".to_owned(),
                parts: vec![part("tx", 50.0)],
            },
        ];
        let mut text = String::new();
        draw_bars(&mut text, &bars, "ticks", Style::PLAIN);
        let lines: Vec<&str> = text.lines().collect();
        let count =
            |line: &str, letter: char| line.split('|').nth(1).unwrap().matches(letter).count();
        assert_eq!((count(lines[0], 'a'), count(lines[0], 'b')), (17, 41));
        assert_eq!((count(lines[1], 'a'), count(lines[1], 'b')), (0, 29));
        assert!(
            lines[0].ends_with("| 100") && lines[2].contains("a rx, b tx"),
            "{text}"
        );
    }

    #[test]
    fn a_curve_is_high_where_its_figures_are() {
        let points =
            [(0.0, 80.0), (1.0, 40.0), (2.0, 10.0)].map(|(place, value)| (place, figure(value)));
        let mut text = String::new();
        let curves = [Curve {
            name: "single".to_owned(),
            points: points.to_vec(),
            best: Some((1.0, 2.0)),
        }];
        draw_curves(&mut text, &curves, "stride_first", "ticks", Style::PLAIN);
        assert!(
            text.contains("█▄▁  least 10 at 2, near it from 1 to 2"),
            "{text}"
        );
        assert!(
            text.contains("stride first from 0 to 2; heights from 0 to 80"),
            "{text}"
        );
    }

    #[test]
    fn a_map_is_dark_where_its_figures_are_great_and_blank_where_there_are_none() {
        let fields = vec![
            vec![Some(figure(10.0)), None],
            vec![Some(figure(15.0)), Some(figure(20.0))],
        ];
        let maps = [HeatMap {
            name: String::new(),
            xs: vec![1.0, 2.0],
            ys: vec![3.0, 4.0],
            fields,
        }];
        let mut text = String::new();
        let (x, y) = (
            Axis::new("stride_second", None),
            Axis::new("stride_first", None),
        );
        draw_maps(&mut text, &maps, (&x, &y), "ticks", Style::PLAIN);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["       4 ▒▒██", "       3 ··  "]);
    }

    #[test]
    fn an_interval_has_its_middle_and_the_published_value_as_a_mark() {
        let row = |name: &str, [low, middle, high]: [f64; 3], published| IntervalRow {
            name: name.to_owned(),
            series: String::new(),
            low,
            middle,
            high,
            published,
        };
        let mut text = String::new();
        draw_intervals(
            &mut text,
            &[
                row("a", [1.0, 2.0, 3.0], Some(4.0)),
                row("b", [2.0; 3], None),
            ],
            "%",
            Style::PLAIN,
        );
        let lines: Vec<&str> = text.lines().collect();
        let column = |line: usize, mark: char| lines[line].chars().position(|c| c == mark);
        assert!(
            column(0, '●') < column(0, '✕') && column(0, '●') == column(1, '●'),
            "{text}"
        );
        assert!(
            lines[0].ends_with("2 (1–3), publ. 4") && lines[1].ends_with(" 2"),
            "{text}"
        );
    }

    #[test]
    fn a_dot_lies_where_its_middles_are() {
        let dot = |name: &str, x: f64, y: f64| Dot {
            name: name.to_owned(),
            x: [x; 3],
            y: [y; 3],
        };
        let mut text = String::new();
        let dots = [dot("low", 0.0, 0.0), dot("high", 10.0, 5.0)];
        draw_dots(
            &mut text,
            &dots,
            &("p95".to_owned(), "ms".to_owned()),
            ("energy", "J"),
            Style::PLAIN,
        );
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].ends_with('b') && lines[HEIGHT - 1].ends_with("|a"),
            "{text}"
        );
        assert!(
            text.contains("energy upwards, p95 (ms) to the right; a low, b high"),
            "{text}"
        );
    }
}

//! Pictures of measures as SVG: stacked bars, curves and heat maps. Each has its figures as text and in a table beneath, so that
//! nothing is told by colour alone.

use super::detail::{Detail, LeftOut};
use super::draw::nice_step;
use super::parts::source_line;
use super::svg::{COLOURS, LETTER, WIDTH, escape, fitting, text};
use crate::model::findings::Findings;
use crate::model::pictures::{Bar, Curve, Drawing, Figure, HeatMap, MeasurePicture, pictures};
use crate::words::{capital, quantity};
use maud::{Markup, PreEscaped, html};
use std::fmt::Write;

/// The section with the pictures that the recording declares; nothing where it declares none.
pub(super) fn measure_pictures(findings: &Findings<'_>, detail: Detail, left_out: &mut LeftOut) -> Markup {
    let all = pictures(findings);
    let most = detail.most_cases.min(MOST_PICTURES);
    left_out.pictures += all.len().saturating_sub(most);
    let shown: Vec<&MeasurePicture> = all.iter().take(most).collect();
    html! {
        @if !shown.is_empty() {
            section {
                h2 id="pictures" { "Pictures" }
                @for picture in shown { (one(picture, findings, detail.most_rows, left_out)) }
            }
        }
    }
}

/// An axis whose ends are further apart than this ratio is logarithmic.
const LOGARITHMIC: f64 = 100.0;
/// More marks than this on a curve are left out.
const MOST_MARKS: usize = 32;
/// More pictures than this are left out.
const MOST_PICTURES: usize = 64;

fn one(picture: &MeasurePicture, findings: &Findings<'_>, most_rows: usize, left_out: &mut LeftOut) -> Markup {
    let unit = &picture.unit;
    let (drawings, rows) = match &picture.drawing {
        Drawing::Bars(bars) => (vec![(String::new(), draw_bars(bars, unit), String::new())], bar_rows(bars)),
        Drawing::Curves { x, curves } => {
            let label = curve_words(curves, x, unit);
            (vec![(String::new(), draw_curves(curves, x, unit), label)], curve_rows(curves, x))
        }
        Drawing::HeatMap { x, y, maps } => {
            let drawn =
                maps.iter().map(|map| (map.name.clone(), draw_map(map, x, y, unit), least_words(map, x, y, unit)));
            (drawn.collect(), map_rows(maps, x, y))
        }
    };
    let (header, rows) = rows;
    left_out.rows += rows.len().saturating_sub(most_rows);
    let has_published = rows.iter().any(|(_, figure)| figure.published.is_some());
    html! {
        figure.measure-picture {
            p.axis-title { b { (picture.title) } ", " (recording::metrics::heading(&picture.metric)) @if unit != "1" { " in " (unit) } }
            @for (name, (height, svg), words) in &drawings {
                @if !name.is_empty() { p.map-name { (name) } }
                div.scroll {
                    svg.measures role="img" viewBox=(format!("0 0 {WIDTH} {height}")) {
                        title { (picture.title) @if !name.is_empty() { ", " (name) } @if !words.is_empty() { ". " (words) } }
                        (PreEscaped(svg))
                    }
                }
            }
            @if let Drawing::Bars(bars) = &picture.drawing { (subjects_legend(bars)) }
            @if has_published { p.note { "Dashed lines, open marks and figures in brackets are what was published." } }
            details {
                summary { "The picture as a table" }
                div.scroll { table {
                    thead { tr {
                        @for heading in &header { th scope="col" { (capital(heading)) } }
                        th.n scope="col" { (capital(findings.recorded_word())) " (" (unit) ")" }
                        @if has_published { th.n scope="col" { "Published (" (unit) ")" } th.n scope="col" { "Error" } }
                    } }
                    tbody { @for (names, figure) in rows.iter().take(most_rows) { tr {
                        @for name in names { td { (name) } }
                        td.n { (quantity(figure.value, unit)) }
                        @if has_published {
                            td.n { (figure.published.map_or_else(|| "-".to_owned(), |value| quantity(value, unit))) }
                            td.n { (error(*figure)) }
                        }
                    } } }
                } }
            }
            figcaption.note { (source_line(findings)) }
        }
    }
}

fn error(figure: Figure) -> String {
    match figure.published.filter(|&published| published > 0.0) {
        Some(published) => format!("{:+.1} %", (figure.value - published) / published * 100.0),
        None => "-".to_owned(),
    }
}

/// Headings of what names a row, and rows of names and figures.
type Rows = (Vec<String>, Vec<(Vec<String>, Figure)>);

fn bar_rows(bars: &[Bar]) -> Rows {
    let parts = |bar: &Bar| {
        let all = std::iter::once((vec![bar.name.clone(), "(all)".to_owned()], bar.total()));
        let parts = bar.parts.iter().map(|(subject, figure)| (vec![bar.name.clone(), subject.clone()], *figure));
        all.chain(parts).collect::<Vec<_>>()
    };
    (vec!["bar".to_owned(), "of".to_owned()], bars.iter().flat_map(parts).collect())
}

fn curve_rows(curves: &[Curve], x: &str) -> Rows {
    let points = |curve: &Curve| {
        let row = |(place, figure): &(f64, Figure)| (vec![curve.name.clone(), place.to_string()], *figure);
        curve.points.iter().map(row).collect::<Vec<_>>()
    };
    (vec!["curve".to_owned(), axis_words(x)], curves.iter().flat_map(points).collect())
}

fn map_rows(maps: &[HeatMap], x: &str, y: &str) -> Rows {
    let mut rows = Vec::new();
    for map in maps {
        for (up, fields) in map.ys.iter().zip(&map.fields) {
            for (right, field) in map.xs.iter().zip(fields) {
                rows.extend(field.map(|figure| (vec![map.name.clone(), up.to_string(), right.to_string()], figure)));
            }
        }
    }
    (vec!["map".to_owned(), axis_words(y), axis_words(x)], rows)
}

/// An axis' name in words: `stride_first` is "stride first".
fn axis_words(axis: &str) -> String {
    axis.replace(['_', '-'], " ")
}

/// Subjects in the order in which bars first have them.
fn subjects(bars: &[Bar]) -> Vec<&str> {
    let mut subjects: Vec<&str> = Vec::new();
    for (subject, _) in bars.iter().flat_map(|bar| &bar.parts) {
        if !subjects.contains(&subject.as_str()) {
            subjects.push(subject);
        }
    }
    subjects
}

/// A number tells parts apart where colours repeat, and where there are none.
fn subjects_legend(bars: &[Bar]) -> Markup {
    html! {
        ul.legend aria-label="Legend" {
            @for (index, subject) in subjects(bars).into_iter().enumerate().take(64) {
                li {
                    svg width="22" height="12" aria-hidden="true" { rect class={ "m" (index % COLOURS) } width="22" height="12" {} }
                    " " b { (index + 1) } " " (subject)
                }
            }
        }
    }
}

/// Bars that lie, one below the other; returns the height, too.
fn draw_bars(bars: &[Bar], unit: &str) -> (f64, String) {
    const ROW: f64 = 30.0;
    const NAMES: f64 = 150.0;
    const FIGURES: f64 = 90.0;
    let subjects = subjects(bars);
    let totals = bars.iter().map(Bar::total).flat_map(|total| [Some(total.value), total.published]).flatten();
    let longest = totals.fold(f64::MIN_POSITIVE, f64::max);
    let scale = (WIDTH - NAMES - FIGURES) / longest;
    let mut out = String::new();
    for (index, bar) in bars.iter().enumerate() {
        let top = index as f64 * ROW + 4.0;
        text(&mut out, "name", (0.0, top + 14.0), &fitting(&bar.name, NAMES - 8.0));
        let mut at = NAMES;
        for (subject, figure) in &bar.parts {
            let number = subjects.iter().position(|other| other == subject).unwrap_or(0);
            let width = figure.value * scale;
            let _ = write!(
                out,
                "<rect class=\"m{}\" x=\"{at:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"20\"><title>{}: {} {}</title></rect>",
                number % COLOURS,
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

/// Curves from 0 upwards, each with marks of its own form and its name at its end.
pub(super) fn draw_curves(curves: &[Curve], x_axis: &str, unit: &str) -> (f64, String) {
    const HEIGHT: f64 = 300.0;
    let (left, right, top, bottom) = (52.0, WIDTH - 130.0, 14.0, HEIGHT - 40.0);
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let (least, most) = points().fold((f64::MAX, f64::MIN), |(low, high), (x, _)| (low.min(*x), high.max(*x)));
    let figures = points().flat_map(|(_, figure)| [Some(figure.value), figure.published]).flatten();
    let (lowest, highest) =
        figures.fold((0.0, f64::MIN_POSITIVE), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
    let of_y = nice_step((highest - lowest) / 6.0);
    let [floor, ceiling] = [(lowest / of_y).floor() * of_y, (highest / of_y).ceil() * of_y];
    // Places that lie tenfolds apart, such as latencies, are drawn by their ratios.
    let scale = |place: f64| if least > 0.0 && most > LOGARITHMIC * least { place.ln() } else { place };
    let [from, to] = [scale(least), scale(most)];
    let x = |place: f64| left + (scale(place) - from) / (to - from).max(f64::MIN_POSITIVE) * (right - left);
    let y = |value: f64| bottom - (value - floor) / (ceiling - floor) * (bottom - top);
    let mut out = String::new();
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
        mark(&mut out, index, (right + 12.0, lowest), &format!("m{}", index % COLOURS), &curves[index].name);
        text(
            &mut out,
            &format!("curve-name m{}", index % COLOURS),
            (right + 20.0, lowest + 4.0),
            &fitting(&curves[index].name, 112.0),
        );
    }
    for (index, curve) in curves.iter().enumerate() {
        let class = index % COLOURS;
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

/// Where each curve is lowest, in words.
fn curve_words(curves: &[Curve], x: &str, unit: &str) -> String {
    let least = |curve: &Curve| {
        let (place, figure) = *curve.points.iter().min_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
        let name = if curve.name.is_empty() { String::new() } else { format!("{}: ", curve.name) };
        Some(format!("{name}least {} {unit} at {} {place}", quantity(figure.value, unit), axis_words(x)))
    };
    curves.iter().filter_map(least).take(16).collect::<Vec<_>>().join("; ")
}

/// The least field of a map.
fn least(map: &HeatMap) -> Option<(f64, f64, Figure)> {
    let fields = map.ys.iter().zip(&map.fields).flat_map(|(up, fields)| {
        map.xs.iter().zip(fields).filter_map(move |(right, field)| Some((*right, *up, (*field)?)))
    });
    fields.min_by(|a, b| a.2.value.total_cmp(&b.2.value))
}

fn least_words(map: &HeatMap, x: &str, y: &str, unit: &str) -> String {
    least(map).map_or_else(String::new, |(right, up, figure)| {
        format!(
            "The least is {} {unit}, at {} {right} and {} {up}",
            quantity(figure.value, unit),
            axis_words(x),
            axis_words(y)
        )
    })
}

/// Fields whose colour is the deeper, the greater their figure; the least has a frame.
fn draw_map(map: &HeatMap, x_axis: &str, y_axis: &str, unit: &str) -> (f64, String) {
    const HIGH: f64 = 30.0;
    let (left, top) = (64.0, 20.0);
    let wide = ((WIDTH - left) / map.xs.len() as f64).min(84.0);
    let figures = || map.fields.iter().flatten().flatten();
    let (low, high) =
        figures().fold((f64::MAX, f64::MIN), |(low, high), figure| (low.min(figure.value), high.max(figure.value)));
    let has_published = figures().any(|figure| figure.published.is_some());
    let least = least(map);
    let mut out = String::new();
    text(
        &mut out,
        "name",
        (0.0, 12.0),
        &format!("{} upwards, {} to the right", axis_words(y_axis), axis_words(x_axis)),
    );
    for (line, (up, fields)) in map.ys.iter().zip(&map.fields).rev().enumerate() {
        let y = top + line as f64 * HIGH;
        text(&mut out, "scale", (left - 8.0, y + 19.0), &up.to_string());
        for (column, (right, field)) in map.xs.iter().zip(fields).enumerate() {
            let Some(figure) = field else { continue };
            let x = left + column as f64 * wide;
            let depth = 0.1 + 0.85 * (figure.value - low) / (high - low).max(f64::MIN_POSITIVE);
            let published = figure.published.map(|value| format!(", published {}", quantity(value, unit)));
            let words = format!(
                "{} {right}, {} {up}: {} {unit}{}",
                axis_words(x_axis),
                axis_words(y_axis),
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
        text(&mut out, "place", (left + (column as f64 + 0.5) * wide, bottom + 15.0), &right.to_string());
    }
    (bottom + 22.0, out)
}

/// A figure in four letters or so.
fn short_figure(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::detail::DETAILS;
    use recording::{Header, Picture, PictureKind, Recording};

    /// A stride study of two loops, batches of two sizes and a graph of two nodes.
    fn recording() -> Recording {
        let mut recording = Recording::new(Header::new("prefetch", "sim", "ps"));
        let series = recording.series("core", "prefetch", "in-buffer");
        for loop_name in ["single", "dual<b>"] {
            for (first, second) in (0..8).flat_map(|first| (0..8).map(move |second| (first, second))) {
                let name = format!("{loop_name}+{first}/{second}");
                let value =
                    33.0 - 2.5 * f64::from(first.min(5)) - f64::from(second.min(4)) + f64::from(first + second) * 0.4;
                let subject = recording.name(&name);
                recording.measure(series, 0, "clocks-per-packet", "ticks", value).subject = Some(subject);
                let mut place = toml::Table::new();
                place.insert("loop".to_owned(), loop_name.into());
                place.insert("stride_first".to_owned(), first.into());
                place.insert("stride_second".to_owned(), second.into());
                recording.header.coordinates.insert(name, place);
            }
        }
        for (variant, values) in [("ip4-route", [9.0, 21.0, 40.0]), ("l2-xconnect", [8.0, 20.0, 0.0])] {
            let series = recording.series(variant, "mrr", "");
            for (node, value) in ["rx", "tx", "ip4-lookup"].into_iter().zip(values).filter(|(_, value)| *value > 0.0) {
                let subject = recording.name(node);
                recording.measure(series, 0, "clocks-per-packet", "ticks", value).subject = Some(subject);
            }
        }
        let axis = |name: &str| name.to_owned();
        for (title, case, kind) in [
            ("Where a packet's clocks go", "mrr", PictureKind::StackedBars),
            ("Strides", "prefetch", PictureKind::Curves { x: axis("stride_first"), by: Some(axis("loop")) }),
            ("Split strides", "prefetch", PictureKind::HeatMap { x: axis("stride_second"), y: axis("stride_first") }),
        ] {
            let (title, metric) = (title.to_owned(), "clocks-per-packet".to_owned());
            recording.header.pictures.push(Picture { title, metric, case: Some(case.to_owned()), kind });
        }
        recording
    }

    #[test]
    fn pictures_have_their_words_a_table_and_what_was_published() {
        let recording = recording();
        let findings = Findings::new(&recording, "recordings/prefetch", None).with_published(|row| {
            (row.case == "mrr" || row.subject.starts_with("single")).then_some(row.median * 1.05)
        });
        let page = crate::html::html(&findings);
        if let Some(path) = std::env::var_os("STOPWATT_TEST_PAGE") {
            std::fs::write(path, &page).unwrap();
        }
        assert_eq!(page.matches("<figure class=measure-picture").count(), 3);
        assert_eq!(page.matches("<svg class=measures role=img").count(), 4, "a map for each loop");
        for words in ["ip4-lookup: 40 ticks", "stride second 4, stride first 5", "least 20.50", "70 (73.50)", "-4.8 %"]
        {
            assert!(page.contains(words), "{words} is not in the page");
        }
        assert!(!page.contains("dual<b>"), "a name is no tag");
    }

    #[test]
    fn pictures_give_way_when_there_is_no_room() {
        let mut recording = recording();
        let declared = recording.header.pictures.clone();
        recording.header.pictures = (0..100).flat_map(|_| declared.clone()).collect();
        let findings = Findings::new(&recording, "", None);
        let mut left_out = LeftOut::default();
        let _ = measure_pictures(&findings, DETAILS[0], &mut left_out);
        assert_eq!(left_out.pictures, 300 - MOST_PICTURES);
        assert!(crate::html::html(&findings).len() <= crate::html::MOST_BYTES);
    }

    #[test]
    fn a_curve_below_0_stays_above_the_names_of_its_axis_and_has_few_marks() {
        let figure = |value| Figure { value, published: None };
        let points = (1..=1000).map(|at| (f64::from(at), figure(2.0 - f64::from(at) / 100.0))).collect();
        let (height, svg) = draw_curves(&[Curve { name: "c".to_owned(), points }], "rate", "%");
        let line = svg.split("<polyline").nth(1).and_then(|of| of.split('"').nth(3)).unwrap();
        let places: Vec<(f64, f64)> = line
            .split(' ')
            .map(|point| point.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap())
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

//! Pictures as SVG. Each has its figures as text and in a table beneath, so that nothing is told by
//! colour alone.
//!
//! A file for each kind of picture; this one has what they share: title, legend, table and source.

mod bars;
mod curves;
mod dots;
mod figures;
mod flames;
mod heat_map;
mod intervals;
mod lanes;
mod samples;

use super::detail::{Detail, LeftOut};
use super::inline::{cut, inline};
use super::palette::Palette;
use super::svg::{COLOURS, WIDTH};
use crate::blocks::{Drawing, Figure, Picture, Text, quantity};
use crate::words::capital;
use figures::{Cells, Rows};
use maud::{Markup, PreEscaped, html};

/// More pictures than this are left out of a page.
pub(super) const MOST_PICTURES: usize = 64;

/// A part of a picture: a name, a height with the SVG, and words for those who cannot see it.
type Part = (String, (f64, String), String);

/// A picture with its title, its legend, its table and its source.
pub(super) fn figure(
    picture: &Picture,
    palette: &Palette,
    detail: Detail,
    source: &Text,
    left_out: &mut LeftOut,
) -> Markup {
    let unit = &picture.unit;
    let (parts, table) = drawn(picture, palette, detail);
    let (header, rows) = table;
    left_out.rows += rows.len().saturating_sub(detail.most_rows);
    let has_published = match &picture.drawing {
        Drawing::Intervals(rows) => rows.iter().any(|row| row.published.is_some()),
        _ => header.iter().any(|heading| heading.starts_with("published")),
    };
    let is_plain = matches!(unit.as_str(), "1" | "");
    let has_legend = matches!(picture.drawing, Drawing::Bars(_) | Drawing::Lanes(_));
    html! {
        figure.measure-picture {
            p.axis-title {
                b { (picture.title) }
                @if !picture.quantity.is_empty() { ", " (picture.quantity) } @if !is_plain { " in " (unit) }
            }
            @for (name, (height, svg), words) in &parts {
                @if !name.is_empty() { p.map-name { (name) } }
                div.scroll {
                    svg.measures role="img" viewBox=(format!("0 0 {WIDTH} {height}")) {
                        title { (picture.title) @if !name.is_empty() { ", " (name) } @if !words.is_empty() { ". " (words) } }
                        (PreEscaped(svg))
                    }
                }
            }
            @if has_legend { (legend(picture, palette)) }
            @if has_published { p.note { (published_words(&picture.drawing)) } }
            @if !picture.note.is_empty() { p.note { (inline(&picture.note)) } }
            @if !rows.is_empty() { details {
                summary { "The picture as a table" }
                div.scroll { table {
                    thead { tr { @for heading in &header { th scope="col" { (capital(heading)) } } } }
                    tbody { @for row in rows.iter().take(detail.most_rows) {
                        tr { @for cell in row { td { (cut(cell)) } } }
                    } }
                } }
            } }
            @if !source.is_empty() { figcaption.note { (inline(source)) } }
        }
    }
}

fn published_words(drawing: &Drawing) -> &'static str {
    match drawing {
        Drawing::Intervals(_) => "Crosses and figures in brackets are what was published.",
        _ => "Dashed lines, open marks and figures in brackets are what was published.",
    }
}

/// The parts of a picture, and its figures as a table.
fn drawn(picture: &Picture, palette: &Palette, detail: Detail) -> (Vec<Part>, Cells) {
    let unit = picture.unit.as_str();
    let one = |drawing, words: String| vec![(String::new(), drawing, words)];
    match &picture.drawing {
        Drawing::Bars(bars) => (one(bars::draw(bars, unit, palette), String::new()), figures(bars::rows(bars), unit)),
        Drawing::Curves { x, curves } => {
            let drawing = curves::draw(curves, x, unit, palette);
            (one(drawing, curves::words(curves, x, unit)), figures(curves::rows(curves, x), unit))
        }
        Drawing::HeatMap { x, y, is_cost, maps } => {
            let part = |map: &crate::blocks::HeatMap| {
                let least = if *is_cost { heat_map::least(map) } else { None };
                let words = least.map_or_else(String::new, |least| heat_map::words(least, x, y, unit));
                (map.name.clone(), heat_map::draw(map, x, y, unit, least), words)
            };
            (maps.iter().map(part).collect(), figures(heat_map::rows(maps, x, y), unit))
        }
        Drawing::Intervals(rows) => {
            (one(intervals::draw(rows, unit, palette), String::new()), intervals::rows(rows, unit))
        }
        Drawing::Dots { x, dots } => {
            let y = (picture.quantity.as_str(), unit);
            (one(dots::draw(dots, x, y, palette), String::new()), dots::rows(dots, x, y))
        }
        Drawing::Samples(samples) => {
            let shown = &samples[..samples.len().min(detail.most_rows)];
            let points = detail.most_points;
            (one(samples::draw(shown, unit, palette, points), String::new()), (Vec::new(), Vec::new()))
        }
        Drawing::Flames(graphs) => {
            (one(flames::draw(graphs, unit, palette), String::new()), figures(flames::rows(graphs), unit))
        }
        Drawing::Lanes(lanes) => {
            let rows = if detail.tables { lanes::rows(lanes) } else { (Vec::new(), Vec::new()) };
            (one(lanes::draw(lanes, palette), lanes::words(lanes)), rows)
        }
        Drawing::Timeline { .. } => (Vec::new(), (Vec::new(), Vec::new())),
    }
}

/// Named figures as cells, with the published ones and the errors where there are any.
fn figures((mut header, rows): Rows, unit: &str) -> Cells {
    let has_published = rows.iter().any(|(_, figure)| figure.published.is_some());
    let in_unit = |what: &str| if matches!(unit, "1" | "") { what.to_owned() } else { format!("{what} ({unit})") };
    header.push(in_unit("value"));
    if has_published {
        header.extend([in_unit("published"), "error".to_owned()]);
    }
    let cells = |(mut cells, figure): (Vec<String>, Figure)| {
        cells.push(quantity(figure.value, unit).to_string());
        if has_published {
            cells.push(figure.published.map_or_else(|| "-".to_owned(), |value| quantity(value, unit).to_string()));
            cells.push(error(figure));
        }
        cells
    };
    (header, rows.into_iter().map(cells).collect())
}

fn error(figure: Figure) -> String {
    match figure.published.filter(|&published| published > 0.0) {
        Some(published) => format!("{:+.1} %", (figure.value - published) / published * 100.0),
        None => "-".to_owned(),
    }
}

/// A number tells parts apart where colours repeat, and where there are none.
fn legend(picture: &Picture, palette: &Palette) -> Markup {
    let marks = match &picture.drawing {
        Drawing::Lanes(lanes) => lanes.rows.iter().any(|row| !row.marks.is_empty()),
        _ => false,
    };
    // Tracks may have names of their own for what they show: the states of a traced kernel, and
    // those of the platform that was put in its place.
    let groups = match &picture.drawing {
        Drawing::Lanes(lanes) => lanes.kinds_by_title(),
        _ => vec![("", picture.names())],
    };
    html! {
        @for (number, (title, names)) in groups.iter().enumerate() {
            @if groups.len() > 1 { p.note { (capital(title)) ":" } }
            ul.legend aria-label="Legend" {
                @for name in names.iter().take(64) {
                    @let number = palette.number(name);
                    li {
                        svg width="22" height="12" aria-hidden="true" { rect class={ "m" (number % COLOURS) } width="22" height="12" {} }
                        " " b { (number + 1) } " " (cut(name))
                    }
                }
                @if marks && number + 1 == groups.len() {
                    li { svg width="22" height="12" aria-hidden="true" { path.curve d="M11 1v10" stroke="currentColor" {} } " marks; point at one to see what it is" }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::html::{MOST_BYTES, html};
    use crate::report::Report;
    use findings::Findings;
    use published::Published;
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

    /// The declared pictures of a recording as blocks.
    fn blocks(findings: &Findings<'_>) -> Vec<crate::blocks::Block> {
        let pictures = crate::model::pictures::pictures(findings).into_iter();
        pictures.map(|declared| crate::blocks::Block::Picture(declared.picture)).collect()
    }

    #[test]
    fn pictures_have_their_words_a_table_and_the_published_values() {
        let recording = recording();
        let findings = Findings::new(&recording, "recordings/prefetch", None).with_published(|row| {
            (row.case == "mrr" || row.subject.starts_with("single")).then_some(row.median * 1.05)
        });
        let page = html(&findings, &blocks(&findings));
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
        let page = html(&findings, &blocks(&findings));
        assert!(page.contains("236 pictures of measures, for want of room"), "64 of 300 are shown at most");
        assert!(page.len() <= MOST_BYTES);
    }

    #[test]
    fn a_recording_without_a_story_is_told_in_every_format() {
        let mut recording = recording();
        recording.header.experiment = "mine".to_owned();
        let published = Published::default();
        let report = Report::new(&recording, "recordings/mine", &published);
        // A trace for Perfetto is of events, and folded stacks are of functions; this recording has
        // neither.
        for format in crate::Format::ALL
            .into_iter()
            .filter(|format| !matches!(format, crate::Format::Perfetto | crate::Format::Folded))
        {
            let bytes = report.render(format, crate::Style::PLAIN, true);
            let text = String::from_utf8_lossy(&bytes);
            assert!(text.contains("ip4-lookup"), "{format:?}: {text}");
        }
    }
}

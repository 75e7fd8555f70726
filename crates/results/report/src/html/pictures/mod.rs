//! Pictures, each drawn of what [`super::plot`] has. Each has its figures as text and in a table
//! beneath, so that nothing is told by colour alone. This file has what all share: title, legend,
//! table and source; `tables` has the figures.

mod flames;
mod heat_map;
mod planes;
mod rows;
mod tables;

use super::detail::{Detail, LeftOut};
use super::inline::{cut, inline, scrolling};
use super::palette::{Colours, Palette};
use crate::blocks::{Drawing, Picture, Text, axis_words};
use crate::words::capital;
use maud::{Markup, html};
use recording::facts::CALLS;

/// More pictures than this are left out of a page.
pub const MOST_PICTURES: usize = 64;

/// A part of a picture: a name, what is drawn, and words for those who cannot see it.
type Part = (String, Markup, String);

/// A picture with its title, its legend, its table and its source.
pub fn figure(
    picture: &Picture,
    palette: &Palette,
    detail: Detail,
    source: &Text,
    left_out: &mut LeftOut,
) -> Markup {
    let colours = palette.of(picture.names());
    let (header, rows) = tables::table(picture, detail.tables);
    left_out.rows += rows.len().saturating_sub(detail.most_rows);
    let has_published = header
        .iter()
        .any(|heading| heading.starts_with("published"));
    let table = html! {
        table {
            thead { tr { @for heading in &header { th scope="col" { (capital(heading)) } } } }
            tbody { @for row in rows.iter().take(detail.most_rows) {
                tr { @for cell in row { td { (cut(cell)) } } }
            } }
        }
    };
    html! {
        figure.measure-picture {
            p.axis-title {
                b { (picture.title) }
                @if matches!(picture.drawing, Drawing::Lanes(_) | Drawing::Flames(_)) && !picture.quantity.is_empty() { ", " (picture.quantity) }
            }
            @for (name, drawn, words) in parts(picture, &colours, detail) {
                @if !name.is_empty() { p.map-name { (name) } }
                @let name = if name.is_empty() { picture.title.clone() } else { format!("{}, {name}", picture.title) };
                @let label = if words.is_empty() { name } else { format!("{name}. {words}") };
                @let drawn = html! { div.measures role="img" aria-label=(label) { (drawn) } };
                @if matches!(picture.drawing, Drawing::HeatMap { .. }) { (scrolling(&picture.title, &drawn)) } @else { (drawn) }
            }
            (legend(picture, &colours))
            @if has_published { p.note {
                @if matches!(picture.drawing, Drawing::Intervals(_)) { "Crosses are what was published." }
                @else { "Dashed lines, open marks and figures in brackets are what was published." }
            } }
            @if !picture.note.is_empty() { p.note { (inline(&picture.note)) } }
            @if !rows.is_empty() { details { summary { "The picture as a table" } (scrolling(&picture.title, &table)) } }
            @if !source.is_empty() { figcaption.note { (inline(source)) } }
        }
    }
}

/// A quantity with its unit: "energy (J)".
fn with_unit(quantity: &str, unit: &str) -> String {
    match (quantity, unit) {
        (quantity, "1" | "") => quantity.to_owned(),
        ("", unit) => unit.to_owned(),
        (quantity, unit) => format!("{quantity} ({unit})"),
    }
}

/// The parts of a picture.
fn parts(picture: &Picture, colours: &Colours<'_>, detail: Detail) -> Vec<Part> {
    let unit = picture.unit.as_str();
    let words = with_unit(&picture.quantity, unit);
    let one = |drawn, words: String| vec![(String::new(), drawn, words)];
    match &picture.drawing {
        Drawing::Bars(bars) => one(rows::bars(bars, &words, unit, colours), String::new()),
        Drawing::Curves { x, curves } => {
            let drawn = planes::curves(curves, [&axis_words(x), &words], unit, colours);
            one(drawn, planes::words(curves, x, unit))
        }
        Drawing::HeatMap {
            x,
            y,
            is_cost,
            maps,
        } => {
            let part = |map: &crate::blocks::HeatMap| {
                let least = if *is_cost { heat_map::least(map) } else { None };
                let told =
                    least.map_or_else(String::new, |least| heat_map::words(least, x, y, unit));
                (
                    map.name.clone(),
                    heat_map::draw(map, x, y, (&words, unit), least),
                    told,
                )
            };
            maps.iter().map(part).collect()
        }
        Drawing::Intervals(rows) => {
            one(rows::intervals(rows, &words, unit, colours), String::new())
        }
        Drawing::Dots {
            x: (x, x_unit),
            dots,
        } => one(
            planes::dots(dots, [&with_unit(x, x_unit), &words], [x_unit, unit]),
            String::new(),
        ),
        Drawing::Samples(samples) => {
            let shown = &samples[..samples.len().min(detail.most_rows)];
            one(
                rows::samples(shown, &words, unit, detail.most_points, colours),
                String::new(),
            )
        }
        Drawing::Flames(graphs) => one(flames::draw(graphs, unit, colours), String::new()),
        Drawing::Lanes(lanes) => one(rows::lanes(lanes, colours), picture.quantity.clone()),
        Drawing::Timeline { .. } => Vec::new(),
    }
}

/// The names of colours and marks; a number tells parts of bars apart where colours do not.
fn legend(picture: &Picture, colours: &Colours<'_>) -> Markup {
    let (mut marks, is_curves) = (false, matches!(picture.drawing, Drawing::Curves { .. }));
    // Tracks may have names of their own for what they show: the states of a traced kernel, and
    // those of the platform that was put in its place.
    let groups = match &picture.drawing {
        Drawing::Lanes(lanes) => {
            marks = lanes.rows.iter().any(|row| !row.marks.is_empty());
            let mut groups = lanes.kinds_by_title();
            groups.retain(|(title, _)| !lanes.is_order || *title != CALLS);
            groups
        }
        _ => vec![("", colours.names.clone())],
    };
    let has_numbers = matches!(picture.drawing, Drawing::Bars(_) | Drawing::Lanes(_));
    let is_several = groups.len() > 1;
    html! {
        @for (title, names) in groups {
            @if is_several { p.note { (capital(title)) ":" } }
            // Curves without a colour of their own still have marks.
            @let (others, own): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| colours.is_other(name) && !is_curves);
            @if !own.is_empty() || !others.is_empty() { ul.legend aria-label="Legend" {
                @for name in own {
                    li {
                        @if is_curves { i.form.(colours.form(name)).(colours.class(name)) {} } @else { i.swatch.(colours.class(name)) {} }
                        @if has_numbers { b { (colours.number(name)) } }
                        " " (cut(name))
                    }
                }
                @if let Some(first) = others.first() {
                    li { i.swatch.(colours.class(first)) {} " other: " (cut(&others.join(", "))) }
                }
            } }
        }
        @match (&picture.drawing, marks) {
            (Drawing::Lanes(lanes), true) if lanes.is_order => p.note {
                "White on black are the numbers of the deviations below, and ! where it breaks, or its cause; point at one to see what it is."
            }
            (_, true) => p.note { "Strokes below the bars are marks; point at one to see what it is." }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::html::{MOST_BYTES, html};
    use crate::report::Report;
    use findings::Findings;
    use published::{Published, StrideCell, StrideReference};
    use recording::{Header, Picture, PictureKind, Recording};

    /// A stride study of two loops, batches of two sizes and a graph of two nodes.
    fn recording() -> Recording {
        let mut recording = Recording::new(Header::new("prefetch", "sim", "ps"));
        recording.header.platform = Some(recording::Platform {
            name: "board".to_owned(),
            text: String::new(),
            figures: toml::Table::new(),
        });
        let series = recording.series("core", "prefetch", "in-buffer");
        for loop_name in ["single", "dual<b>"] {
            for (first, second) in
                (0..8).flat_map(|first| (0..8).map(move |second| (first, second)))
            {
                let name = format!("{loop_name}+{first}/{second}");
                let value = 33.0 - 2.5 * f64::from(first.min(5)) - f64::from(second.min(4))
                    + f64::from(first + second) * 0.4;
                let subject = recording.name(&name);
                recording
                    .measure(series, 0, "clocks-per-packet", "ticks", value)
                    .subject = Some(subject);
                let mut place = toml::Table::new();
                place.insert("loop".to_owned(), loop_name.into());
                place.insert("stride_first".to_owned(), first.into());
                place.insert("stride_second".to_owned(), second.into());
                recording.header.coordinates.insert(name, place);
            }
        }
        for (variant, values) in [
            ("ip4-route", [9.0, 21.0, 40.0]),
            ("l2-xconnect", [8.0, 20.0, 0.0]),
        ] {
            let series = recording.series(variant, "mrr", "");
            for (node, value) in ["rx", "tx", "ip4-lookup"]
                .into_iter()
                .zip(values)
                .filter(|(_, value)| *value > 0.0)
            {
                let subject = recording.name(node);
                recording
                    .measure(series, 0, "clocks-per-packet", "ticks", value)
                    .subject = Some(subject);
            }
        }
        let axis = |name: &str| name.to_owned();
        for (title, case, kind) in [
            (
                "Where a packet's clocks go",
                "mrr",
                PictureKind::StackedBars,
            ),
            (
                "Strides",
                "prefetch",
                PictureKind::Curves {
                    x: axis("stride_first"),
                    by: Some(axis("loop")),
                },
            ),
            (
                "Split strides",
                "prefetch",
                PictureKind::HeatMap {
                    x: axis("stride_second"),
                    y: axis("stride_first"),
                },
            ),
        ] {
            let (title, metric) = (title.to_owned(), "clocks-per-packet".to_owned());
            recording.header.pictures.push(Picture {
                title,
                metric,
                case: Some(case.to_owned()),
                kind,
            });
        }
        recording
    }

    /// The declared pictures of a recording as blocks.
    fn blocks(findings: &Findings<'_>) -> Vec<crate::blocks::Block> {
        let pictures = crate::model::pictures::pictures(findings).into_iter();
        pictures.map(crate::blocks::Block::Picture).collect()
    }

    #[test]
    fn pictures_have_their_words_a_table_and_the_published_values() {
        let recording = recording();
        let measured = Findings::new(&recording, "", None);
        let cells = measured.measures().iter().filter_map(|row| {
            let place = recording.header.coordinates.get(&row.subject)?;
            let stride = |axis: &str| Some(place.get(axis)?.as_integer()? as usize);
            Some(StrideCell {
                loop_name: place.get("loop")?.as_str()?.to_owned(),
                stride_first: stride("stride_first")?,
                stride_second: stride("stride_second"),
                ticks: row.median * 1.05,
                mpps: 5.0,
                may_be_fitted: true,
            })
        });
        let published = Published {
            strides: Some(StrideReference {
                platform: "board".to_owned(),
                fit: Default::default(),
                cells: cells.filter(|cell| cell.loop_name == "single").collect(),
            }),
            ..Default::default()
        };
        let findings = Findings::new(&recording, "recordings/prefetch", Some(&published));
        let page = html(&findings, &blocks(&findings));
        if let Some(path) = std::env::var_os("STOPWATT_TEST_PAGE") {
            std::fs::write(path, &page).unwrap();
        }
        assert_eq!(page.matches("<figure class=measure-picture").count(), 3);
        assert_eq!(
            page.matches("class=measures role=img").count(),
            4,
            "a map for each loop"
        );
        for words in [
            "ip4-lookup: 40 ticks",
            "stride second 4, stride first 5",
            "least 20.50",
            "-4.8 %",
        ] {
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
        assert!(
            page.contains("236 pictures of measures, for want of room"),
            "64 of 300 are shown at most"
        );
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

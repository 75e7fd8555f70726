//! The figures of a picture as rows and cells, for its table.

use crate::blocks::lanes::{Lanes, Row};
use crate::blocks::{
    Axis, Bar, Dot, Drawing, Figure, HeatMap, IntervalRow, Picture, axis_words, quantity,
};
use itertools::Itertools;

/// Headings, and rows of cells.
type Cells = (Vec<String>, Vec<Vec<String>>);

/// The figures of a picture; those of lanes, which are many, if they are wanted.
pub fn table(picture: &Picture, with_lanes: bool) -> Cells {
    let unit = picture.unit.as_str();
    match &picture.drawing {
        Drawing::Bars(all) => figures(["bar", "of"], all.iter().flat_map(parts), unit),
        Drawing::Curves { x, curves } => {
            let points = curves.iter().flat_map(|curve| {
                let names = |place: f64| [curve.name.clone(), place.to_string()];
                let points = curve.points.iter();
                points.map(move |(place, figure)| (names(*place), *figure))
            });
            figures(["curve", &axis_words(x)], points, unit)
        }
        Drawing::HeatMap { x, y, maps, .. } => {
            let fields = maps.iter().flat_map(|map| fields(map, x, y));
            figures(["map", &y.words, &x.words], fields, unit)
        }
        Drawing::Flames(all) => {
            let stacks = all.iter().flat_map(|flame| {
                let names = |stack: &[String]| [flame.name.clone(), stack.join(" > ")];
                let stacks = flame.stacks.iter();
                stacks.map(move |(stack, value)| (names(stack), Figure::new(*value)))
            });
            figures(["of", "called by, and function"], stacks, unit)
        }
        Drawing::Intervals(rows) => intervals(rows, unit),
        Drawing::Dots { x, dots: all } => dots(all, x, (&picture.quantity, unit)),
        Drawing::Lanes(all) if with_lanes => lanes(all),
        Drawing::Lanes(_) | Drawing::Samples(_) | Drawing::Timeline { .. } => Cells::default(),
    }
}

/// Named figures as cells, with the published ones and the errors where there are any.
fn figures<const N: usize>(
    names: [&str; N],
    rows: impl Iterator<Item = ([String; N], Figure)>,
    unit: &str,
) -> Cells {
    let rows = rows.collect_vec();
    let has_published = rows.iter().any(|(_, figure)| figure.published.is_some());
    let in_unit = |what: &str| {
        if matches!(unit, "1" | "") {
            what.to_owned()
        } else {
            format!("{what} ({unit})")
        }
    };
    let mut header = names.map(str::to_owned).to_vec();
    header.push(in_unit("value"));
    if has_published {
        header.extend([in_unit("published"), "error".to_owned()]);
    }
    let cells = |(names, figure): ([String; N], Figure)| {
        let mut cells = names.to_vec();
        cells.push(quantity(figure.value, unit).to_string());
        if has_published {
            cells.extend([published(figure.published, unit), error(figure)]);
        }
        cells
    };
    (header, rows.into_iter().map(cells).collect())
}

fn published(value: Option<f64>, unit: &str) -> String {
    value.map_or_else(|| "-".to_owned(), |value| quantity(value, unit).to_string())
}

fn error(figure: Figure) -> String {
    match figure.published.filter(|&published| published > 0.0) {
        Some(published) => format!("{:+.1} %", (figure.value - published) / published * 100.0),
        None => "-".to_owned(),
    }
}

fn parts(bar: &Bar) -> impl Iterator<Item = ([String; 2], Figure)> {
    let all = std::iter::once(("(all)".to_owned(), bar.total()));
    all.chain(bar.parts.iter().cloned())
        .map(|(of, value)| ([bar.name.clone(), of], Figure::new(value)))
}

fn fields(map: &HeatMap, x: &Axis, y: &Axis) -> impl Iterator<Item = ([String; 3], Figure)> {
    let places = map.ys.iter().cartesian_product(&map.xs);
    let fields = map.fields.iter().flatten();
    places.zip(fields).filter_map(|((up, right), field)| {
        let names = [map.name.clone(), y.place(*up), x.place(*right)];
        field.map(|figure| (names, figure))
    })
}

fn intervals(rows: &[IntervalRow], unit: &str) -> Cells {
    let has_published = rows.iter().any(|row| row.published.is_some());
    let headings = ["row", "lower end", "middle", "upper end", "published"].map(str::to_owned);
    let cells = |row: &IntervalRow| {
        let [low, middle, high] =
            [row.low, row.middle, row.high].map(|value| quantity(value, unit).to_string());
        let published = published(row.published, unit);
        [row.name.clone(), low, middle, high, published]
    };
    let shown = |cells: [String; 5]| cells[..4 + usize::from(has_published)].to_vec();
    (shown(headings), rows.iter().map(cells).map(shown).collect())
}

fn dots(dots: &[Dot], (x, x_unit): &(String, String), (y, y_unit): (&str, &str)) -> Cells {
    let headings = vec![
        "dot".to_owned(),
        format!("{x} ({x_unit})"),
        format!("{y} ({y_unit})"),
    ];
    let spread = |ends: [f64; 3], unit: &str| {
        let [low, middle, high] = ends.map(|value| quantity(value, unit));
        format!("{middle} ({low}–{high})")
    };
    let cells = |dot: &Dot| {
        vec![
            dot.name.clone(),
            spread(dot.x, x_unit),
            spread(dot.y, y_unit),
        ]
    };
    (headings, dots.iter().map(cells).collect())
}

fn lanes(lanes: &Lanes) -> Cells {
    let unit = if lanes.is_order { "operations" } else { "us" };
    let headings = vec![
        "lane".to_owned(),
        format!("from ({unit})"),
        format!("took ({unit})"),
        "what".to_owned(),
    ];
    let of_row = |row: &Row| {
        row.stretches
            .iter()
            .map(|stretch| {
                let (from, to) = (lanes.us(stretch.from), lanes.us(stretch.to));
                vec![
                    row.name.clone(),
                    format!("{from:.2}"),
                    format!("{:.2}", to - from),
                    stretch.what.clone(),
                ]
            })
            .collect_vec()
    };
    (headings, lanes.rows.iter().flat_map(of_row).collect())
}

//! The figures of a picture as rows and cells, for its table.

use crate::blocks::lanes::{Lanes, Row};
use crate::blocks::{
    Axis, Bar, Curve, Dot, Drawing, Figure, Flame, HeatMap, IntervalRow, Picture, axis_words,
    quantity,
};
use itertools::Itertools;

/// Headings of what names a row, and rows of names and figures.
type Rows = (Vec<String>, Vec<(Vec<String>, Figure)>);
/// Headings, and rows of cells.
type Cells = (Vec<String>, Vec<Vec<String>>);

/// The figures of a picture; those of lanes, which are many, if they are wanted.
pub fn table(picture: &Picture, with_lanes: bool) -> Cells {
    let unit = picture.unit.as_str();
    match &picture.drawing {
        Drawing::Bars(all) => figures(bars(all), unit),
        Drawing::Curves { x, curves: all } => figures(curves(all, x), unit),
        Drawing::HeatMap {
            x, y, maps: all, ..
        } => figures(maps(all, x, y), unit),
        Drawing::Flames(all) => figures(flames(all), unit),
        Drawing::Intervals(rows) => intervals(rows, unit),
        Drawing::Dots { x, dots: all } => dots(all, x, (&picture.quantity, unit)),
        Drawing::Lanes(all) if with_lanes => lanes(all),
        Drawing::Lanes(_) | Drawing::Samples(_) | Drawing::Timeline { .. } => Cells::default(),
    }
}

/// Named figures as cells, with the published ones and the errors where there are any.
fn figures((mut header, rows): Rows, unit: &str) -> Cells {
    let has_published = rows.iter().any(|(_, figure)| figure.published.is_some());
    let in_unit = |what: &str| {
        if matches!(unit, "1" | "") {
            what.to_owned()
        } else {
            format!("{what} ({unit})")
        }
    };
    header.push(in_unit("value"));
    if has_published {
        header.extend([in_unit("published"), "error".to_owned()]);
    }
    let cells = |(mut cells, figure): (Vec<String>, Figure)| {
        cells.push(quantity(figure.value, unit).to_string());
        if has_published {
            cells.push(
                figure
                    .published
                    .map_or_else(|| "-".to_owned(), |value| quantity(value, unit).to_string()),
            );
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

fn bars(bars: &[Bar]) -> Rows {
    let parts = |bar: &Bar| {
        let all = std::iter::once((vec![bar.name.clone(), "(all)".to_owned()], bar.total()));
        let parts = bar
            .parts
            .iter()
            .map(|(subject, figure)| (vec![bar.name.clone(), subject.clone()], *figure));
        all.chain(parts).collect_vec()
    };
    (
        vec!["bar".to_owned(), "of".to_owned()],
        bars.iter().flat_map(parts).collect(),
    )
}

fn curves(curves: &[Curve], x: &str) -> Rows {
    (
        vec!["curve".to_owned(), axis_words(x)],
        curves
            .iter()
            .flat_map(|curve| {
                curve
                    .points
                    .iter()
                    .map(|(place, figure)| (vec![curve.name.clone(), place.to_string()], *figure))
                    .collect_vec()
            })
            .collect(),
    )
}

fn maps(maps: &[HeatMap], x: &Axis, y: &Axis) -> Rows {
    let mut rows = Vec::new();
    for map in maps {
        for (up, fields) in map.ys.iter().zip(&map.fields) {
            for (right, field) in map.xs.iter().zip(fields) {
                rows.extend(field.map(|figure| {
                    (
                        vec![map.name.clone(), y.place(*up), x.place(*right)],
                        figure,
                    )
                }));
            }
        }
    }
    (
        vec!["map".to_owned(), y.words.clone(), x.words.clone()],
        rows,
    )
}

fn flames(flames: &[Flame]) -> Rows {
    let of = |flame: &Flame| {
        flame
            .stacks
            .iter()
            .map(|(stack, value)| {
                (
                    vec![flame.name.clone(), stack.join(" > ")],
                    Figure {
                        value: *value,
                        published: None,
                    },
                )
            })
            .collect_vec()
    };
    (
        vec!["of".to_owned(), "called by, and function".to_owned()],
        flames.iter().flat_map(of).collect(),
    )
}

fn intervals(rows: &[IntervalRow], unit: &str) -> Cells {
    let has_published = rows.iter().any(|row| row.published.is_some());
    let mut headings: Vec<String> = ["row", "lower end", "middle", "upper end"]
        .map(str::to_owned)
        .into();
    headings.extend(has_published.then(|| "published".to_owned()));
    let cells = |row: &IntervalRow| {
        let mut cells = vec![row.name.clone()];
        cells
            .extend([row.low, row.middle, row.high].map(|value| quantity(value, unit).to_string()));
        let published = row
            .published
            .map_or_else(|| "-".to_owned(), |value| quantity(value, unit).to_string());
        cells.extend(has_published.then_some(published));
        cells
    };
    (headings, rows.iter().map(cells).collect())
}

fn dots(dots: &[Dot], (x, x_unit): &(String, String), (y, y_unit): (&str, &str)) -> Cells {
    let headings = vec![
        "dot".to_owned(),
        format!("{x} ({x_unit})"),
        format!("{y} ({y_unit})"),
    ];
    let spread = |[low, middle, high]: [f64; 3], unit: &str| {
        format!(
            "{} ({}–{})",
            quantity(middle, unit),
            quantity(low, unit),
            quantity(high, unit)
        )
    };
    (
        headings,
        dots.iter()
            .map(|dot| {
                vec![
                    dot.name.clone(),
                    spread(dot.x, x_unit),
                    spread(dot.y, y_unit),
                ]
            })
            .collect(),
    )
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

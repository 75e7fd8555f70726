//! The pictures that a recording's header declares: bars, curves and heat maps of its measures.

use crate::blocks::{Axis, Bar, Curve, Drawing, Figure, HeatMap, Picture};
use findings::{Findings, MeasureRow};
use itertools::Itertools;
use recording::metrics::{self, Better};
use recording::{PictureKind, grouped, total_order};
use std::collections::BTreeMap;
use toml::Value;

/// The pictures that a recording's header declares; those that nothing was recorded for are left
/// out.
pub fn pictures(findings: &Findings<'_>) -> Vec<Picture> {
    let header = &findings.recording.header;
    let mut pictures = Vec::new();
    for picture in &header.pictures {
        let mut rows = findings
            .measures()
            .iter()
            .filter(|row| row.metric == picture.metric && row.median.is_finite())
            .filter(|row| picture.case.as_ref().is_none_or(|case| *case == row.case))
            .collect_vec();
        // Figures of different units cannot stand on one axis: the first one's unit holds.
        let Some(unit) = rows.first().map(|row| row.unit.clone()) else {
            continue;
        };
        rows.retain(|row| row.unit == unit);
        let places = || {
            rows.iter()
                .map(|row| PlottedMeasure::new(row, &header.coordinates))
        };
        let drawing = match &picture.kind {
            PictureKind::StackedBars => bars(&rows).map(Drawing::Bars),
            PictureKind::Curves { x, by } => {
                curves(places().collect(), x, by.as_deref()).map(|curves| Drawing::Curves {
                    x: x.clone(),
                    curves,
                })
            }
            PictureKind::HeatMap { x, y } => {
                heat_maps(places().collect(), x, y).map(|maps| Drawing::HeatMap {
                    x: Axis::new(x, header.axes.get(x)),
                    y: Axis::new(y, header.axes.get(y)),
                    is_cost: metrics::better(&picture.metric, &unit) == Better::Lower,
                    maps,
                })
            }
        };
        if let Some(drawing) = drawing {
            let quantity = metrics::heading(&picture.metric);
            pictures.push(Picture::new(&picture.title, quantity, &unit, drawing));
        }
    }
    pictures
}

fn figure(row: &MeasureRow) -> Figure {
    Figure {
        value: row.median,
        published: row.published,
    }
}

/// The words that tell a measure's series apart from others of the same picture.
fn series(row: &MeasureRow) -> [&str; 3] {
    [&row.variant, &row.case, &row.mode]
}

/// The parts of a name that are not the same everywhere and not empty.
fn telling(names: &[Vec<String>]) -> Vec<String> {
    let differs = |at: usize| names.iter().any(|name| name.get(at) != names[0].get(at));
    names
        .iter()
        .map(|name| {
            name.iter()
                .enumerate()
                .filter(|(at, part)| differs(*at) && !part.is_empty())
                .map(|(_, part)| part.as_str())
                .join(", ")
        })
        .collect()
}

/// Things by what tells them apart; one that is alone is called by the first part of its key.
pub fn named<T>(
    groups: impl IntoIterator<Item = (Vec<String>, T)>,
) -> impl Iterator<Item = (String, T)> {
    let (keys, items): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
    let names = match keys.as_slice() {
        [key] => vec![key[0].clone()],
        keys => telling(keys),
    };
    names.into_iter().zip(items)
}

fn bars(rows: &[&MeasureRow]) -> Option<Vec<Bar>> {
    let parts = rows
        .iter()
        .filter(|row| !row.subject.is_empty() && row.median >= 0.0);
    let groups = grouped(parts.map(|row| {
        let key = series(row)
            .iter()
            .chain([&row.cpu.as_str()])
            .map(|part| (*part).to_owned())
            .collect_vec();
        (key, (row.subject.clone(), row.median))
    }));
    let bars = named(groups)
        .map(|(name, parts)| Bar { name, parts })
        .filter(|bar| bar.total() > 0.0)
        .collect_vec();
    (!bars.is_empty()).then_some(bars)
}

/// A measure with the coordinates of its variant and its subject.
struct PlottedMeasure<'r> {
    row: &'r MeasureRow,
    numbers: BTreeMap<&'r str, f64>,
    words: BTreeMap<&'r str, String>,
    /// True if its variant is a place on an axis.
    by_variant: bool,
    /// True if it is a part of what has the place: its subject is no place itself.
    is_part: bool,
}

impl<'r> PlottedMeasure<'r> {
    fn new(row: &'r MeasureRow, coordinates: &'r BTreeMap<String, toml::Table>) -> Self {
        let mut place = Self {
            row,
            numbers: BTreeMap::new(),
            words: BTreeMap::new(),
            by_variant: coordinates.contains_key(&row.variant),
            is_part: !row.subject.is_empty() && !coordinates.contains_key(&row.subject),
        };
        for (axis, value) in [&row.variant, &row.subject]
            .into_iter()
            .filter_map(|name| coordinates.get(name))
            .flatten()
        {
            match value {
                Value::Integer(number) => _ = place.numbers.insert(axis, *number as f64),
                Value::Float(number) if number.is_finite() => {
                    _ = place.numbers.insert(axis, *number)
                }
                Value::String(word) => _ = place.words.insert(axis, word.clone()),
                _ => {}
            }
        }
        place
    }

    /// Its value on an axis in words, a number or not.
    fn word(&self, axis: &str) -> Option<String> {
        self.words
            .get(axis)
            .cloned()
            .or_else(|| self.numbers.get(axis).map(|number| number.to_string()))
    }

    /// True if all its numbers but those of some axes are `number`: nothing was varied apart from
    /// it.
    fn is_plain(&self, axes: &[&str], number: f64) -> bool {
        self.numbers
            .iter()
            .all(|(axis, other)| axes.contains(axis) || *other == number)
    }
}

/// The figure of several measures at one place of a curve: of the one that varies nothing else if
/// there is one, else the middle one.
fn at_one_place(
    mut places: Vec<&PlottedMeasure<'_>>,
    axes: &[&str],
    number: f64,
) -> Option<Figure> {
    if let Some(plain) = places.iter().find(|place| place.is_plain(axes, number)) {
        return Some(figure(plain.row));
    }
    places.sort_by_key(|of| total_order(of.row.median));
    Some(figure(places.get(places.len().checked_sub(1)? / 2)?.row))
}

/// In [`PictureKind::Curves`], stands for the subjects of what has a place on the axis: a curve for
/// each.
const SUBJECT: &str = "subject";

fn curves(places: Vec<PlottedMeasure<'_>>, x: &str, by: Option<&str>) -> Option<Vec<Curve>> {
    let on_axis = places.iter().filter_map(|place| {
        let number = *place.numbers.get(x)?;
        let by = match by {
            Some(SUBJECT) if place.is_part => place.row.subject.clone(),
            _ if place.is_part => return None,
            Some(by) => place.word(by)?,
            None => String::new(),
        };
        // A variant that is a place on the axis makes no curve of its own.
        let swept = place.by_variant;
        let [variant, case, mode] = series(place.row).map(str::to_owned);
        let key = vec![
            by,
            if swept { String::new() } else { variant },
            case,
            mode,
            place.row.cpu.clone(),
        ];
        Some((key, (number, place)))
    });
    let axes = [Some(x), by].into_iter().flatten().collect_vec();
    let curve = |(name, points): (String, Vec<(f64, &PlottedMeasure<'_>)>)| {
        let mut points = grouped(points)
            .into_iter()
            .filter_map(|(number, places)| Some((number, at_one_place(places, &axes, number)?)))
            .collect_vec();
        points.sort_by_key(|of| total_order(of.0));
        Curve {
            name,
            points,
            best: None,
        }
    };
    let curves = named(grouped(on_axis)).map(curve).collect_vec();
    curves
        .iter()
        .any(|curve| curve.points.len() > 1)
        .then_some(curves)
}

fn heat_maps(places: Vec<PlottedMeasure<'_>>, x: &str, y: &str) -> Option<Vec<HeatMap>> {
    let on_axes = places.iter().filter_map(|place| {
        let at = (*place.numbers.get(x)?, *place.numbers.get(y)?);
        if place.is_part {
            return None;
        }
        let mut key = vec![place.words.values().cloned().join(", ")];
        key.extend(series(place.row).map(str::to_owned));
        Some((key, (at, place.row)))
    });
    let maps = named(grouped(on_axes))
        .map(|(name, fields)| heat_map(name, &fields))
        .filter(|map| map.xs.len() > 1 && map.ys.len() > 1)
        .collect_vec();
    (!maps.is_empty()).then_some(maps)
}

/// A map of measures with their places to the right and upwards.
fn heat_map(name: String, fields: &[((f64, f64), &MeasureRow)]) -> HeatMap {
    let axis = |of: fn(&(f64, f64)) -> f64| {
        let numbers = fields.iter().map(|(at, _)| of(at));
        numbers.sorted_by(f64::total_cmp).dedup().collect_vec()
    };
    let (xs, ys) = (axis(|at| at.0), axis(|at| at.1));
    let mut table = vec![vec![None; xs.len()]; ys.len()];
    for ((right, up), row) in fields {
        let column = xs.iter().position(|other| other == right);
        let line = ys.iter().position(|other| other == up);
        if let (Some(column), Some(line)) = (column, line) {
            table[line][column] = Some(figure(row));
        }
    }
    HeatMap {
        name,
        xs,
        ys,
        fields: table,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use published::{Published, StrideCell, StrideReference};
    use recording::{Header, Picture, Recording};

    fn strides() -> Recording {
        let mut recording = Recording::new(Header::new("prefetch", "sim", "ps"));
        let series = recording.series("core", "prefetch", "in-buffer");
        for (loop_name, first, second, value) in [
            ("single", 0, 0, 33.0),
            ("single", 3, 3, 17.0),
            ("single", 3, 5, 19.0),
            ("single", 0, 5, 23.0),
            ("dual", 0, 0, 30.0),
            ("dual", 3, 3, 16.0),
        ] {
            let name = format!("{loop_name}+{first}/{second}");
            let subject = recording.name(&name);
            recording
                .measure(series, 0, "clocks-per-packet", "ticks", value)
                .subject = Some(subject);
            let coordinates = toml::toml! { loop = "single" };
            let mut coordinates = coordinates;
            coordinates.insert("loop".to_owned(), loop_name.into());
            coordinates.insert("stride_first".to_owned(), Value::Integer(first));
            coordinates.insert("stride_second".to_owned(), Value::Integer(second));
            recording.header.coordinates.insert(name, coordinates);
        }
        recording
    }

    fn declare(recording: &mut Recording, kind: PictureKind) {
        let picture = Picture {
            title: "t".to_owned(),
            metric: "clocks-per-packet".to_owned(),
            case: None,
            kind,
        };
        recording.header.pictures.push(picture);
    }

    #[test]
    fn curves_run_over_one_axis_and_a_split_stride_does_not_stand_in_for_an_equal_one() {
        let mut recording = strides();
        declare(
            &mut recording,
            PictureKind::Curves {
                x: "stride_first".to_owned(),
                by: Some("loop".to_owned()),
            },
        );
        recording.header.platform = Some(recording::Platform {
            name: "board".to_owned(),
            text: String::new(),
            figures: toml::Table::new(),
        });
        let cell = StrideCell {
            loop_name: "single".to_owned(),
            stride_first: 3,
            stride_second: None,
            ticks: 18.0,
            mpps: 5.0,
            may_be_fitted: true,
        };
        let published = Published {
            strides: Some(StrideReference {
                platform: "board".to_owned(),
                fit: Default::default(),
                cells: vec![cell],
            }),
            ..Default::default()
        };
        let findings = Findings::new(&recording, "", Some(&published));
        let pictures = pictures(&findings);
        let Drawing::Curves { curves, .. } = &pictures[0].drawing else {
            panic!("{pictures:?}")
        };
        let points = |at: usize| {
            curves[at]
                .points
                .iter()
                .map(|(x, figure)| (*x, figure.value))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (curves[0].name.as_str(), points(0)),
            ("single", vec![(0.0, 33.0), (3.0, 17.0)])
        );
        assert_eq!(
            (curves[1].name.as_str(), points(1)),
            ("dual", vec![(0.0, 30.0), (3.0, 16.0)])
        );
        assert_eq!(curves[0].points[1].1.published, Some(18.0));
    }

    #[test]
    fn a_heat_map_has_a_field_for_each_pair_and_holes_where_nothing_was_measured() {
        let mut recording = strides();
        declare(
            &mut recording,
            PictureKind::HeatMap {
                x: "stride_second".to_owned(),
                y: "stride_first".to_owned(),
            },
        );
        let pictures = pictures(&Findings::new(&recording, "", None));
        let Drawing::HeatMap { maps, .. } = &pictures[0].drawing else {
            panic!("{pictures:?}")
        };
        assert_eq!(
            (&maps[0].xs, &maps[0].ys),
            (&vec![0.0, 3.0, 5.0], &vec![0.0, 3.0])
        );
        let values: Vec<_> = maps[0]
            .fields
            .iter()
            .flatten()
            .map(|field| field.map(|figure| figure.value))
            .collect();
        assert_eq!(
            values,
            [Some(33.0), None, Some(23.0), None, Some(17.0), Some(19.0)]
        );
        assert_eq!(maps[1].name, "dual");
    }

    #[test]
    fn a_bar_is_made_of_its_subjects_and_the_whole_is_no_part_of_it() {
        let mut recording = Recording::new(Header::new("mrr", "host", "ticks"));
        for (variant, values) in [("ip4-route", [5.0, 7.0]), ("l2-xconnect", [2.0, 3.0])] {
            let series = recording.series(variant, "mrr", "");
            recording.measure(series, 0, "clocks-per-packet", "ticks", 99.0);
            for (node, value) in ["rx", "tx"].into_iter().zip(values) {
                let subject = recording.name(node);
                recording
                    .measure(series, 0, "clocks-per-packet", "ticks", value)
                    .subject = Some(subject);
            }
        }
        declare(&mut recording, PictureKind::StackedBars);
        let pictures = pictures(&Findings::new(&recording, "", None));
        let Drawing::Bars(bars) = &pictures[0].drawing else {
            panic!("{pictures:?}")
        };
        let totals: Vec<_> = bars
            .iter()
            .map(|bar| (bar.name.as_str(), bar.total(), bar.parts.len()))
            .collect();
        assert_eq!(totals, [("ip4-route", 12.0, 2), ("l2-xconnect", 5.0, 2)]);
    }

    #[test]
    fn a_variant_can_be_a_place_on_the_axis() {
        let mut recording = Recording::new(Header::new("batch", "host", "ticks"));
        for (frames, value) in [(64, 30.0), (256, 20.0)] {
            let variant = format!("ip4-route/{frames}");
            let series = recording.series(&variant, "mrr", "");
            recording.measure(series, 0, "clocks-per-packet", "ticks", value);
            let node = recording.name("ip4-lookup");
            recording
                .measure(series, 0, "clocks-per-packet", "ticks", value / 10.0)
                .subject = Some(node);
            recording.header.coordinates.insert(
                variant,
                [("frame_size".to_owned(), Value::Integer(frames))]
                    .into_iter()
                    .collect(),
            );
        }
        declare(
            &mut recording,
            PictureKind::Curves {
                x: "frame_size".to_owned(),
                by: None,
            },
        );
        let pictures = pictures(&Findings::new(&recording, "", None));
        let Drawing::Curves { curves, .. } = &pictures[0].drawing else {
            panic!("{pictures:?}")
        };
        assert_eq!(curves.len(), 1);
        assert_eq!(
            curves[0]
                .points
                .iter()
                .map(|point| point.0)
                .collect::<Vec<_>>(),
            [64.0, 256.0]
        );
    }

    #[test]
    fn what_was_not_recorded_is_not_drawn() {
        let mut recording = strides();
        declare(
            &mut recording,
            PictureKind::Curves {
                x: "no such axis".to_owned(),
                by: None,
            },
        );
        declare(
            &mut recording,
            PictureKind::HeatMap {
                x: "loop".to_owned(),
                y: "stride_first".to_owned(),
            },
        );
        assert!(pictures(&Findings::new(&recording, "", None)).is_empty());
    }
}

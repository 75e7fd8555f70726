//! The report of a sweep: what was varied, what that moved, and the best and the worst points. A
//! row for each point is in CSV alone.

use crate::blocks::{
    Axis, Bar, Block, Blocks, Curve, Drawing, Figure, HeatMap, Picture, Table, figure, fixed,
    grouped, text, whole,
};
use crate::{Format, Style, markup, terminal};
use findings::sweep_effects::{self, Effect, Groups, effects, is_chance, number};
use recording::metrics::{self, Better};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use sweep::{PointSummary, Quantity, Summary};

/// Best and worst points that are shown.
const SHOWN: usize = 5;
/// Quantities whose effects are shown first, and in all.
const QUANTITIES: (usize, usize) = (1, 24);
/// Curves of a chart; with more values of the second key it is a map.
const CURVES: usize = 6;
/// Points that failed, and complaints, that are shown.
const MOST_FAILED: usize = 10;

/// A report of a sweep that lies in `folder`; `None` for a format that is about single runs.
pub fn sweep_report(
    summary: &Summary,
    folder: &str,
    format: Format,
    style: Style,
    all: bool,
) -> Option<Vec<u8>> {
    let told = SweepStory::new(summary);
    let title = format!("Sweep of {}", summary.experiment);
    let source = [
        ("Sweep", folder.to_owned()),
        ("World", summary.world.clone()),
        ("Points", told.count()),
    ];
    Some(match format {
        Format::Text => {
            let mut text = terminal::story(&told.blocks(), all, style);
            let facts = source.into_iter().take(if all { 3 } else { 1 });
            let facts = facts.map(|(what, fact)| Block::Note(text![format!("{what}: {fact}")]));
            text.push_str(&terminal::render(&facts.collect::<Vec<_>>(), style));
            text.into_bytes()
        }
        Format::Rst => markup::rst::document(&source, told.blocks().all()).into(),
        Format::Markdown => markup::markdown::document(&title, &source, told.blocks().all()).into(),
        Format::Html => crate::html::plain_page(&title, &told.count(), &told.blocks()).into(),
        Format::Json => format!("{:#}\n", told.json()).into_bytes(),
        Format::Csv => markup::csv::csv(&told.rows()).into_bytes(),
        Format::Perfetto | Format::Folded => return None,
    })
}

/// A sweep with everything that is told of it.
struct SweepStory<'s> {
    summary: &'s Summary,
    by_key: Vec<Groups>,
    /// Effects of the keys on each quantity.
    effects: Vec<Vec<Effect>>,
    /// Quantities by how far they vary, the most first.
    order: Vec<usize>,
}

/// The point with the least of a quantity, and the one with the greatest.
type Ends<'s> = (&'s PointSummary, &'s PointSummary);

impl<'s> SweepStory<'s> {
    fn new(summary: &'s Summary) -> Self {
        let by_key: Vec<Groups> = (0..summary.keys.len())
            .filter_map(|key| Groups::new(summary, key))
            .collect();
        let all = 0..summary.quantities.len();
        let effects = all
            .clone()
            .map(|quantity| effects(summary, &by_key, quantity))
            .collect();
        let mut told = Self {
            summary,
            by_key,
            effects,
            order: Vec::new(),
        };
        let ratio = |quantity: usize| match told.ends(quantity) {
            Some((least, greatest)) => {
                let [least, greatest] = [least, greatest].map(|point| point.figures[quantity]);
                (greatest - least) / least.abs().max(greatest.abs()).max(f64::MIN_POSITIVE)
            }
            None => -1.0,
        };
        let mut order: Vec<(usize, f64)> =
            all.map(|quantity| (quantity, ratio(quantity))).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        told.order = order
            .into_iter()
            .filter(|(_, ratio)| *ratio >= 0.0)
            .map(|(quantity, _)| quantity)
            .collect();
        told
    }

    fn quantity(&self, at: usize) -> &'s Quantity {
        &self.summary.quantities[at]
    }

    /// The points that have a quantity, from the least to the greatest.
    fn ordered(&self, quantity: usize) -> Vec<&'s PointSummary> {
        let mut points: Vec<&PointSummary> = self
            .summary
            .points
            .iter()
            .filter(|point| point.figures[quantity].is_finite())
            .collect();
        points.sort_by(|a, b| {
            a.figures[quantity]
                .total_cmp(&b.figures[quantity])
                .then(a.number.cmp(&b.number))
        });
        points
    }

    fn ends(&self, quantity: usize) -> Option<Ends<'s>> {
        let figure = |point: &&&PointSummary| point.figures[quantity].is_finite();
        let by = |a: &&PointSummary, b: &&PointSummary| {
            a.figures[quantity].total_cmp(&b.figures[quantity])
        };
        let points = || self.summary.points.iter();
        let least = points()
            .filter(|point| figure(&point))
            .min_by(|a, b| by(a, b))?;
        let greatest = points()
            .filter(|point| figure(&point))
            .max_by(|a, b| by(a, b))?;
        Some((least, greatest))
    }

    /// "480 of 480 points".
    fn count(&self) -> String {
        format!(
            "{} of {} points",
            grouped(self.summary.points.len() as u64),
            grouped(self.summary.planned)
        )
    }

    /// The settings of a point, but for the draw of chance.
    fn settings(&self, point: &PointSummary) -> String {
        let known = self
            .summary
            .keys
            .iter()
            .zip(&point.settings)
            .filter(|(key, _)| !is_chance(key));
        let all: Vec<String> = known
            .filter_map(|(key, value)| Some(format!("{key}={}", value.as_ref()?.text())))
            .collect();
        if all.is_empty() {
            format!("point {}", point.number)
        } else {
            all.join(" ")
        }
    }

    fn blocks(&self) -> Blocks {
        let mut told = Blocks::default();
        if let Some(&first) = self.order.first() {
            self.answer(&mut told, first);
        }
        self.warn(&mut told);
        if let Some(&first) = self.order.first() {
            if let Some(picture) = self.picture(first) {
                told.picture(picture);
            }
            self.tell(&mut told, first);
            self.points(&mut told, first);
        }
        self.axes(&mut told);
        self.overview(&mut told);
        for &quantity in self.order.iter().take(QUANTITIES.1).skip(QUANTITIES.0) {
            told.heading(words(self.quantity(quantity)));
            if let Some(picture) = self.picture(quantity) {
                told.picture(picture);
            }
            self.tell(&mut told, quantity);
        }
        told.note(
            "A figure of a point is the worst over the CPUs of an iteration, and of that the median over the \
             iterations. A key of more than 16 values is shown in 8 parts of its range. A row for each point: \
             --format csv, and the Parquet files of the data set.",
        );
        told
    }

    /// From where to where a quantity goes, and with what.
    fn answer(&self, told: &mut Blocks, quantity: usize) {
        let Some((least, greatest)) = self.ends(quantity) else {
            return;
        };
        let of = self.quantity(quantity);
        let value =
            |point: &PointSummary| format!("{} {}", figure(point.figures[quantity]), of.unit);
        told.answer(format!(
            "Over {} points {} goes from {} to {}. The least is with {}, the greatest with {}.",
            grouped(self.summary.points.len() as u64),
            words(of),
            value(least),
            value(greatest),
            self.settings(least),
            self.settings(greatest)
        ));
        let shares: Vec<String> = self.effects[quantity]
            .iter()
            .filter(|effect| effect.share >= 0.005)
            .take(3)
            .map(|effect| format!("{:.0} % goes with {}", effect.share * 100.0, effect.key))
            .collect();
        let rest = 1.0
            - self.effects[quantity]
                .iter()
                .map(|effect| effect.share)
                .sum::<f64>();
        if !shares.is_empty() {
            let rest = if rest >= 0.005 {
                format!(
                    ", and {:.0} % with what keys do together and with chance",
                    rest * 100.0
                )
            } else {
                String::new()
            };
            told.answer(format!("Of its variance {}{rest}.", shares.join(", ")));
        }
    }

    /// Says what is not there, or went wrong.
    fn warn(&self, told: &mut Blocks) {
        let (there, all) = self.summary.chunks;
        if there < all {
            told.warning(format!(
                "{there} of {all} chunks are there; the others were not run yet, or are damaged. `stopwatt sweep --resume` runs them."
            ));
        }
        for (what, points) in [
            ("failed", &self.summary.failed),
            ("had a complaint", &self.summary.complaints),
        ] {
            if points.is_empty() {
                continue;
            }
            told.warning(format!("{} points {what}.", points.len()));
            told.list(
                points
                    .iter()
                    .take(MOST_FAILED)
                    .map(|of| format!("Point {}: {}", of.point, of.why).into())
                    .collect(),
            );
        }
    }

    /// The effects of the keys on a quantity.
    fn tell(&self, told: &mut Blocks, quantity: usize) {
        let unit = &self.quantity(quantity).unit;
        let table = Table::with_rows(&self.effects[quantity])
            .words("key", |effect| effect.key.as_str())
            .numbers("of the variance", "%", |effect| {
                fixed(effect.share * 100.0, 1)
            })
            .numbers("least mean", unit, |effect| figure(effect.least.1))
            .words("with", |effect| effect.least.0.as_str())
            .numbers("greatest mean", unit, |effect| figure(effect.greatest.1))
            .words("with", |effect| effect.greatest.0.as_str())
            .done();
        told.table(table.titled(format!("What moves {}", words(self.quantity(quantity)))));
    }

    /// The best and the worst points of a quantity.
    fn points(&self, told: &mut Blocks, quantity: usize) {
        let of = self.quantity(quantity);
        let mut points = self.ordered(quantity);
        if metrics::better(&of.metric, &of.unit) == Better::Higher {
            points.reverse();
        }
        let names = match metrics::better(&of.metric, &of.unit) {
            Better::Neither => ["least", "greatest"],
            Better::Lower | Better::Higher => ["best", "worst"],
        };
        let shown = SHOWN.min(points.len() / 2);
        let ends = points[..shown].iter().map(|point| (names[0], *point));
        let ends: Vec<(&str, &PointSummary)> = ends
            .chain(
                points[points.len() - shown..]
                    .iter()
                    .map(|point| (names[1], *point)),
            )
            .collect();
        let table = Table::with_rows(&ends)
            .words("", |(which, _)| *which)
            .numbers("point", "", |(_, point)| whole(point.number as f64))
            .each(self.summary.keys.iter().enumerate(), |table, (at, key)| {
                table.numbers(key.as_str(), "", move |(_, point)| {
                    point.settings[at].as_ref().map(sweep::Value::text)
                })
            })
            .numbers(of.metric.replace('_', " "), &of.unit, |(_, point)| {
                figure(point.figures[quantity])
            })
            .done();
        told.table(table.titled(format!(
            "The {} and the {} points: {}",
            names[0],
            names[1],
            words(of)
        )));
    }

    /// The keys that vary.
    fn axes(&self, told: &mut Blocks) {
        struct Key<'s> {
            name: &'s str,
            values: usize,
            ends: Option<(String, String)>,
        }
        let keys: Vec<Key<'_>> = (self.summary.keys.iter().enumerate())
            .map(|(at, name)| {
                let values = self
                    .summary
                    .points
                    .iter()
                    .filter_map(|point| point.settings[at].as_ref());
                let texts: BTreeSet<String> = values.clone().map(sweep::Value::text).collect();
                let by = |a: &&sweep::Value, b: &&sweep::Value| {
                    number(a)
                        .unwrap_or(0.0)
                        .total_cmp(&number(b).unwrap_or(0.0))
                };
                let are_numbers = values.clone().all(|value| number(value).is_some());
                let ends = (values.clone().min_by(by))
                    .zip(values.max_by(by))
                    .filter(|_| are_numbers);
                let ends = ends.map(|(from, to)| (from.text(), to.text()));
                let ends = ends.or_else(|| texts.first().cloned().zip(texts.last().cloned()));
                Key {
                    name,
                    values: texts.len(),
                    ends,
                }
            })
            .collect();
        let table = Table::with_rows(&keys)
            .words("key", |key| key.name)
            .numbers("values", "", |key| whole(key.values as f64))
            .words("from", |key| {
                key.ends.as_ref().map(|(from, _)| from.as_str())
            })
            .words("to", |key| key.ends.as_ref().map(|(_, to)| to.as_str()))
            .done();
        told.table(table.titled("What was varied"));
    }

    /// All quantities, each with its ends and what moves it most.
    fn overview(&self, told: &mut Blocks) {
        let rows: Vec<(usize, Vec<&PointSummary>)> = self
            .order
            .iter()
            .map(|&at| (at, self.ordered(at)))
            .collect();
        let table = Table::with_rows(&rows)
            .words("quantity", |(at, _)| words(self.quantity(*at)))
            .numbers("least", "", |(at, points)| {
                points.first().map(|point| figure(point.figures[*at]))
            })
            .numbers("median", "", |(at, points)| {
                points
                    .get(points.len().saturating_sub(1) / 2)
                    .map(|point| figure(point.figures[*at]))
            })
            .numbers("greatest", "", |(at, points)| {
                points.last().map(|point| figure(point.figures[*at]))
            })
            .words("unit", |(at, _)| self.quantity(*at).unit.as_str())
            .words("moved most by", |(at, _)| {
                let most = self.effects[*at]
                    .first()
                    .filter(|effect| effect.share >= 0.005);
                most.map(|effect| format!("{}, {:.0} %", effect.key, effect.share * 100.0))
            })
            .done();
        told.table(table.titled("All quantities"));
    }

    /// A quantity over the key that moves it most and the one after it: curves, a map, or bars.
    fn picture(&self, quantity: usize) -> Option<Picture> {
        let of = self.quantity(quantity);
        let ranked: Vec<&Groups> = self.effects[quantity]
            .iter()
            .filter(|effect| effect.share >= 0.005)
            .filter_map(|effect| self.by_key.iter().find(|groups| groups.key == effect.key))
            .collect();
        let is_numbers = |groups: &Groups| groups.groups.iter().all(|group| group.at.is_some());
        let Some(x) = ranked
            .iter()
            .find(|groups| is_numbers(groups) && groups.groups.len() > 2)
        else {
            return Some(self.bars(quantity, ranked.first()?));
        };
        let second = ranked.iter().find(|groups| groups.key != x.key);
        let lines: Vec<(String, BTreeSet<usize>)> = match second {
            Some(second) => {
                let name = |group: &sweep_effects::Group| format!("{}={}", second.key, group.name);
                second
                    .groups
                    .iter()
                    .map(|group| (name(group), group.points.iter().copied().collect()))
                    .collect()
            }
            None => vec![(String::new(), (0..self.summary.points.len()).collect())],
        };
        // The mean of the points that are in a group of both keys.
        let mean = |group: &sweep_effects::Group, line: &BTreeSet<usize>| {
            let both = group.points.iter().filter(|place| line.contains(place));
            sweep_effects::mean(self.summary, quantity, both)
        };
        let at = |group: &sweep_effects::Group| group.at.unwrap_or_default();
        let is_map = lines.len() > CURVES && second.is_some_and(|second| is_numbers(second));
        let title = match second {
            Some(second) => format!("Means of {} by {} and {}", words(of), x.key, second.key),
            None => format!("Means of {} by {}", words(of), x.key),
        };
        let drawing = if let (true, Some(second)) = (is_map, second) {
            self.map(of, x, second, &lines, &mean)
        } else {
            let curve = |(name, line): &(String, BTreeSet<usize>)| {
                let place = |group| {
                    Some((
                        at(group),
                        Figure {
                            value: mean(group, line)?,
                            published: None,
                        },
                    ))
                };
                Curve {
                    name: name.clone(),
                    points: x.groups.iter().filter_map(place).collect(),
                    best: None,
                }
            };
            Drawing::Curves {
                x: x.key.clone(),
                curves: lines.iter().take(CURVES).map(curve).collect(),
            }
        };
        Some(Picture::new(
            title,
            metrics::heading(&of.metric),
            &of.unit,
            drawing,
        ))
    }

    /// A bar for the mean of each group.
    fn bars(&self, quantity: usize, groups: &Groups) -> Picture {
        let of = self.quantity(quantity);
        let bar = |(group, mean): (&sweep_effects::Group, f64)| Bar {
            name: group.name.clone(),
            parts: vec![(
                groups.key.clone(),
                Figure {
                    value: mean,
                    published: None,
                },
            )],
        };
        let bars = groups
            .means(self.summary, quantity)
            .into_iter()
            .map(bar)
            .collect();
        let title = format!("Means of {} by {}", words(of), groups.key);
        Picture::new(
            title,
            metrics::heading(&of.metric),
            &of.unit,
            Drawing::Bars(bars),
        )
    }

    /// A field for each pair of groups of two keys; `lines` are those of the second.
    fn map(
        &self,
        of: &Quantity,
        x: &Groups,
        second: &Groups,
        lines: &[(String, BTreeSet<usize>)],
        mean: &dyn Fn(&sweep_effects::Group, &BTreeSet<usize>) -> Option<f64>,
    ) -> Drawing {
        let at = |group: &sweep_effects::Group| group.at.unwrap_or_default();
        let row = |(_, line): &(String, BTreeSet<usize>)| {
            let field = |group| {
                mean(group, line).map(|value| Figure {
                    value,
                    published: None,
                })
            };
            x.groups.iter().map(field).collect()
        };
        let map = HeatMap {
            name: String::new(),
            xs: x.groups.iter().map(at).collect(),
            ys: second.groups.iter().map(at).collect(),
            fields: lines.iter().map(row).collect(),
        };
        let is_cost = metrics::better(&of.metric, &of.unit) == Better::Lower;
        Drawing::HeatMap {
            x: Axis::new(&x.key, None),
            y: Axis::new(&second.key, None),
            is_cost,
            maps: vec![map],
        }
    }

    /// A row for each point: its number, its settings, and its figures.
    fn rows(&self) -> Table {
        let keys = self.summary.keys.iter().enumerate();
        Table::with_rows(&self.summary.points)
            .numbers("sweep_point", "", |point| whole(point.number as f64))
            .each(keys, |table, (at, key)| {
                table.words(key.as_str(), move |point| {
                    point.settings[at].as_ref().map(sweep::Value::text)
                })
            })
            .each(
                self.summary.quantities.iter().enumerate(),
                |table, (at, quantity)| {
                    table.numbers(
                        format!("{} ({})", words(quantity), quantity.unit),
                        "",
                        move |point| {
                            let value = point.figures[at];
                            value.is_finite().then(|| value.to_string())
                        },
                    )
                },
            )
            .done()
    }

    fn json(&self) -> Json {
        let settings = |point: &PointSummary| -> serde_json::Map<String, Json> {
            let known = self.summary.keys.iter().zip(&point.settings);
            known
                .filter_map(|(key, value)| Some((key.clone(), json!(value.as_ref()?.text()))))
                .collect()
        };
        let group = |(name, mean): &(String, f64)| json!({ "at": name, "mean": mean });
        let quantities = self.order.iter().map(|&at| {
            let of = self.quantity(at);
            let end = |point: &PointSummary| {
                json!({ "point": point.number, "value": point.figures[at], "settings": settings(point) })
            };
            let effects = self.effects[at].iter().map(|effect| {
                let (least, greatest) = (group(&effect.least), group(&effect.greatest));
                json!({ "key": effect.key, "share": effect.share, "least": least, "greatest": greatest })
            });
            json!({
                "release": of.variant, "case": of.case, "mode": of.mode, "subject": of.subject, "metric": of.metric,
                "unit": of.unit, "least": self.ends(at).map(|(least, _)| end(least)),
                "greatest": self.ends(at).map(|(_, greatest)| end(greatest)), "effects": effects.collect::<Vec<_>>(),
            })
        });
        let points = |of: &[sweep::FailedPoint]| {
            of.iter()
                .map(|failed| json!({ "point": failed.point, "why": failed.why }))
                .collect::<Vec<_>>()
        };
        json!({
            "experiment": self.summary.experiment, "world": self.summary.world, "keys": self.summary.keys,
            "points": { "there": self.summary.points.len(), "planned": self.summary.planned },
            "chunks": { "there": self.summary.chunks.0, "planned": self.summary.chunks.1 },
            "failed": points(&self.summary.failed), "complaints": points(&self.summary.complaints),
            "quantities": quantities.collect::<Vec<_>>(),
        })
    }
}

/// A quantity in words: "powerdown of suspend-deepest parallel, juno-v2.12".
fn words(of: &Quantity) -> String {
    let of_subject = if of.subject.is_empty() {
        String::new()
    } else {
        format!(" of {}", of.subject)
    };
    let case = [&of.case, &of.mode]
        .map(String::as_str)
        .into_iter()
        .filter(|part| !part.is_empty());
    let case = case.collect::<Vec<_>>().join(" ");
    let case = if case.is_empty() {
        case
    } else {
        format!(" of {case}")
    };
    let variant = if of.variant.is_empty() {
        String::new()
    } else {
        format!(", {}", of.variant)
    };
    format!(
        "{}{of_subject}{case}{variant}",
        metrics::heading(&of.metric)
    )
}

#[cfg(test)]
#[path = "../../../findings/tests/support/swept.rs"]
mod swept;

#[cfg(test)]
mod tests {
    use super::*;
    use swept::swept;

    fn printed(summary: &Summary, format: Format) -> String {
        String::from_utf8(
            sweep_report(summary, "recordings/plan", format, Style::PLAIN, true).unwrap(),
        )
        .unwrap()
    }

    #[test]
    fn a_sweep_is_told_by_its_ends_and_by_what_moves_it() {
        let summary = swept();
        let text = printed(&summary, Format::Text);
        for part in [
            "from 25.00 us to 1602 us",
            "The least is with scp.channels=4 topology.clusters=1, the greatest with scp.channels=1 topology.clusters=16.",
            "goes with topology.clusters",
            "What was varied",
            "480 of 480 points",
        ] {
            assert!(
                text.replace('\n', " ").contains(part),
                "`{part}` is not in\n{text}"
            );
        }
        let narrow = Style {
            colour: false,
            width: 80,
        };
        let screen =
            sweep_report(&summary, "recordings/plan", Format::Text, narrow, false).unwrap();
        let screen = String::from_utf8(screen).unwrap();
        assert!(
            screen.lines().count() <= 20 && screen.contains('█') && screen.contains("More with"),
            "{screen}"
        );
        let html = printed(&summary, Format::Html);
        assert!(
            html.len() < 2 << 20 && html.contains("scp.channels"),
            "{} bytes",
            html.len()
        );
        assert_eq!(printed(&summary, Format::Csv).lines().count(), 481);
        let json: Json = serde_json::from_str(&printed(&summary, Format::Json)).unwrap();
        assert_eq!(json["quantities"][0]["effects"][0]["key"], "scp.channels");
        assert!(sweep_report(&summary, "s", Format::Perfetto, Style::PLAIN, true).is_none());
    }

    #[test]
    fn chunks_that_are_missing_and_points_that_failed_are_said() {
        let mut summary = swept();
        summary.chunks.0 = 40;
        summary.failed = vec![sweep::FailedPoint {
            point: 3,
            why: "no CPU".to_owned(),
        }];
        let text = printed(&summary, Format::Text);
        assert!(
            text.contains("40 of 60 chunks") && text.contains("Point 3: no CPU"),
            "{text}"
        );
    }
}

//! The report of a sweep: what was varied, what that moved, and the best and the worst points. A
//! row for each point is in CSV alone.

use crate::blocks::{Bar, Block, Blocks, Curve, Drawing, Picture, Table, figure, fixed};
use crate::words::sweeps as words;
use crate::{Format, Style, markup, terminal};
use findings::sweep_effects::{self, Effect, Groups, effects, is_chance};
use itertools::Itertools;
use recording::{metrics, total_order};
use serde_json::{Value as Json, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use sweep::{PointSummary, Quantity, Summary};

/// Quantities whose effects are shown first, and in all.
const QUANTITIES: (usize, usize) = (1, 24);
/// Curves of a chart at most.
const CURVES: usize = 6;

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
        ("Points", words::points(summary)),
    ];
    Some(match format {
        Format::Text => {
            let mut text = terminal::story(&told.blocks(), all, style);
            let facts = source
                .into_iter()
                .take(if all { 3 } else { 1 })
                .map(|(what, fact)| Block::Note(format!("{what}: {fact}").into()));
            text.push_str(&terminal::render(&facts.collect_vec(), style));
            text.into_bytes()
        }
        Format::Markdown => markup::markdown::document(&title, &source, told.blocks().all()).into(),
        Format::Html => {
            crate::html::plain_page(&title, &words::points(summary), &told.blocks()).into()
        }
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
        let by_key = (0..summary.keys.len())
            .filter_map(|key| Groups::new(summary, key))
            .collect_vec();
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
        let mut order = all
            .map(|quantity| (quantity, ratio(quantity)))
            .collect_vec();
        order.sort_by_key(|of| Reverse(total_order(of.1)));
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

    /// The points with the least and the greatest of a quantity.
    fn ends(&self, quantity: usize) -> Option<Ends<'s>> {
        let points = self.summary.points.iter();
        let known = points.filter(|point| point.figures[quantity].is_finite());
        known
            .minmax_by(|a, b| {
                a.figures[quantity]
                    .total_cmp(&b.figures[quantity])
                    .then(a.number.cmp(&b.number))
            })
            .into_option()
    }

    /// The settings of a point, but for the draw of chance.
    fn settings(&self, point: &PointSummary) -> String {
        let all = self
            .summary
            .keys
            .iter()
            .zip(&point.settings)
            .filter(|(key, _)| !is_chance(key))
            .filter_map(|(key, value)| Some(format!("{key}={}", value.as_ref()?.text())))
            .collect_vec();
        if all.is_empty() {
            format!("point {}", point.number)
        } else {
            all.join(" ")
        }
    }

    fn blocks(&self) -> Blocks {
        let mut told = Blocks::default();
        if let Some(&first) = self.order.first() {
            told.answers(words::sweep(
                self.summary,
                first,
                &self.effects[first],
                &|point| self.settings(point),
            ));
        }
        self.warn(&mut told);
        if let Some(&first) = self.order.first() {
            told.picture(self.picture(first));
            self.tell(&mut told, first);
        }
        for &quantity in self.order.iter().take(QUANTITIES.1).skip(QUANTITIES.0) {
            told.heading(words::quantity(self.quantity(quantity)));
            told.picture(self.picture(quantity));
            self.tell(&mut told, quantity);
        }
        told.note(
            "A figure of a point is the worst over the CPUs of an iteration, and of that the median over the \
             iterations. A key of more than 16 values is shown in 8 parts of its range. A row for each point: \
             --format csv, and the Parquet files of the data set.",
        );
        told
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
            if let Some(sweep::FailedPoint { point, why }) = points.first() {
                let count = points.len();
                told.warning(format!(
                    "{count} points {what}; the first is point {point}: {why}"
                ));
            }
        }
    }

    /// The effects of the keys on a quantity.
    fn tell(&self, told: &mut Blocks, quantity: usize) {
        let unit = &self.quantity(quantity).unit;
        let table = Table::with_rows(&self.effects[quantity])
            .words("key", |effect| &effect.key)
            .numbers("of the variance, %", |effect| {
                fixed(effect.share * 100.0, 1)
            })
            .numbers(format!("least mean, {unit}"), |effect| {
                figure(effect.least.1)
            })
            .words("with", |effect| &effect.least.0)
            .numbers(format!("greatest mean, {unit}"), |effect| {
                figure(effect.greatest.1)
            })
            .words("with", |effect| &effect.greatest.0);
        told.table(table.titled(format!(
            "What moves {}",
            words::quantity(self.quantity(quantity))
        )));
    }

    /// A quantity over the key that moves it most and the one after it: curves, a map, or bars.
    fn picture(&self, quantity: usize) -> Option<Picture> {
        let of = self.quantity(quantity);
        let ranked = self.effects[quantity]
            .iter()
            .filter(|effect| effect.share >= 0.005)
            .filter_map(|effect| self.by_key.iter().find(|groups| groups.key == effect.key))
            .collect_vec();
        let Some(x) = ranked.iter().find(|groups| {
            groups.groups.len() > 2 && groups.groups.iter().all(|group| group.at.is_some())
        }) else {
            return Some(self.bars(quantity, ranked.first()?));
        };
        // A curve for each value of the next key, where they are few.
        let second = ranked
            .iter()
            .find(|groups| groups.key != x.key && groups.groups.len() <= CURVES);
        let lines = match second {
            Some(second) => second
                .groups
                .iter()
                .map(|group| {
                    let points = group.points.iter().copied().collect();
                    (format!("{}={}", second.key, group.name), points)
                })
                .collect(),
            None => vec![(String::new(), (0..self.summary.points.len()).collect())],
        };
        let curve = |(name, line): (String, BTreeSet<usize>)| {
            // The mean of the points that are in a group of both keys.
            let place = |group: &sweep_effects::Group| {
                let both = group.points.iter().filter(|place| line.contains(place));
                let value = sweep_effects::mean(self.summary, quantity, both)?;
                Some((group.at?, value))
            };
            Curve::new(name, x.groups.iter().filter_map(place))
        };
        let drawing = Drawing::Curves {
            x: x.key.clone(),
            curves: lines.into_iter().map(curve).collect(),
        };
        let by = second.map_or_else(String::new, |second| format!(" and {}", second.key));
        let title = format!("Means of {} by {}{by}", words::quantity(of), x.key);
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
        let bars = groups
            .means(self.summary, quantity)
            .into_iter()
            .map(|(group, mean)| Bar::new(group.name.as_str(), [(groups.key.as_str(), mean)]))
            .collect();
        let title = format!("Means of {} by {}", words::quantity(of), groups.key);
        Picture::new(
            title,
            metrics::heading(&of.metric),
            &of.unit,
            Drawing::Bars(bars),
        )
    }

    /// A row for each point: its number, its settings, and its figures.
    fn rows(&self) -> Table {
        let keys = self.summary.keys.iter().enumerate();
        Table::with_rows(&self.summary.points)
            .numbers("sweep_point", |point| point.number)
            .each(keys, |table, (at, key)| {
                table.words(key.as_str(), move |point| {
                    point.settings[at].as_ref().map(sweep::Value::text)
                })
            })
            .each(
                self.summary.quantities.iter().enumerate(),
                |table, (at, quantity)| {
                    table.numbers(
                        format!("{} ({})", words::quantity(quantity), quantity.unit),
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
            self.summary
                .keys
                .iter()
                .zip(&point.settings)
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
                json!({ "key": effect.key, "share": effect.share, "by_chance": effect.by_chance, "least": least, "greatest": greatest })
            });
            json!({
                "release": of.variant, "case": of.case, "mode": of.mode, "subject": of.subject, "metric": of.metric,
                "unit": of.unit, "least": self.ends(at).map(|(least, _)| end(least)),
                "greatest": self.ends(at).map(|(_, greatest)| end(greatest)), "effects": effects.collect_vec(),
            })
        });
        json!({
            "experiment": self.summary.experiment, "world": self.summary.world, "keys": self.summary.keys,
            "points": { "there": self.summary.points.len(), "planned": self.summary.planned },
            "chunks": { "there": self.summary.chunks.0, "planned": self.summary.chunks.1 },
            "failed": self.summary.failed, "complaints": self.summary.complaints,
            "quantities": quantities.collect_vec(),
        })
    }
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
            "goes from 25.00 to 1602 us",
            "It goes most with scp.channels: its mean is 213.5 us with 4, and 851.0 with 1.",
            "of the variance over 480 points",
            "Points: 480 points",
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
            text.contains("40 of 60 chunks") && text.contains("point 3: no CPU"),
            "{text}"
        );
    }
}

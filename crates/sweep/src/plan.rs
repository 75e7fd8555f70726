//! A plan as it is written, and its points.

use crate::axis::{Axis, Kind, PlacedValue, Value};
use document::{Document, Error};
use itertools::Itertools;
use recording::RowKinds;
use std::ops::Range;

/// A plan of more points than this is refused unless whoever runs it says so.
pub const DEFAULT_MOST: u64 = 1_000_000;

/// Points of a chunk at most, where the plan does not say.
const MOST_IN_A_CHUNK: u64 = 256;

/// Into how many chunks a plan is cut where it does not say: enough for as many shards, each with
/// several.
const CHUNKS: u64 = 64;

/// A plan: an experiment, what holds at every point, and what varies.
#[derive(Clone)]
pub struct Plan {
    pub(crate) source: Document,
    /// The experiment's name.
    pub experiment: String,
    pub(crate) experiment_place: Range<usize>,
    /// The world's name, if the plan says one.
    pub world: Option<String>,
    pub(crate) world_place: Range<usize>,
    pub(crate) settings: Vec<(String, PlacedValue)>,
    pub(crate) axes: Vec<Axis>,
    pub(crate) chunk: Option<u64>,
    /// Which rows of the runs are kept.
    pub keep: RowKinds,
    /// The metrics whose measures are kept; all if there are none.
    pub metrics: Vec<String>,
}

/// A point of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Number of the point, from 0.
    pub number: u64,
    /// The keys that vary, with their values here, in the plan's order.
    pub varied: Vec<(String, Value)>,
    /// Which repetition it is, from 0.
    pub repetition: u64,
}

impl Plan {
    /// The text that it was read from.
    pub fn text(&self) -> &str {
        self.source.text()
    }

    /// The number of points that it has; `None` for more than 2^64 - 1.
    pub fn points(&self) -> Option<u64> {
        self.axes
            .iter()
            .try_fold(1_u64, |product, axis| product.checked_mul(axis.count()))
    }

    /// Factors of the number of points: `3 scp.channels x 16 topology.clusters x 10 seed`.
    pub fn product(&self) -> String {
        let parts = self.axes.iter().map(|axis| {
            let what = match axis {
                Axis::Grid { key, .. } => key.clone(),
                Axis::List(_) => "rows of the list".to_owned(),
                Axis::Draws { .. } => "random draws".to_owned(),
                Axis::Repetitions(_) => "repetitions".to_owned(),
            };
            format!("{} {what}", axis.count())
        });
        let parts = parts.collect_vec();
        if parts.is_empty() {
            "nothing varies".to_owned()
        } else {
            parts.join(" x ")
        }
    }

    /// Refuses a plan of more than `most` points, with their number.
    ///
    /// # Errors
    /// It has more.
    pub fn at_most(&self, most: u64) -> Result<u64, Error> {
        let help = |count: &str| {
            format!("take out values, or say --at-most {count} if that is what is meant")
        };
        match self.points() {
            Some(points) if points <= most => Ok(points),
            Some(points) => Err(self.source.wrong_as_a_whole(
                format!(
                    "{points} points ({}); at most {most} are run",
                    self.product()
                ),
                help(&points.to_string()),
            )),
            None => Err(self.source.wrong_as_a_whole(
                format!(
                    "more than 2^64 points ({}); at most {most} are run",
                    self.product()
                ),
                "take out values",
            )),
        }
    }

    /// The place on each axis of a point.
    pub(crate) fn places(&self, number: u64) -> Vec<u64> {
        let mut rest = number;
        let mut places = vec![0; self.axes.len()];
        // The last axis varies fastest.
        for (place, axis) in places.iter_mut().zip(&self.axes).rev() {
            *place = rest % axis.count();
            rest /= axis.count();
        }
        places
    }

    /// A point by its number, which must be below [`Plan::points`]. It depends on the plan's text
    /// alone.
    pub fn point(&self, number: u64) -> Point {
        let (mut varied, mut repetition) = (Vec::new(), 0);
        for (place, axis) in self.places(number).into_iter().zip(&self.axes) {
            axis.at(place, &mut varied);
            if matches!(axis, Axis::Repetitions(_)) {
                repetition = place;
            }
        }
        Point {
            number,
            varied,
            repetition,
        }
    }

    /// Points of a chunk; the last chunk may have fewer.
    pub fn chunk(&self) -> u64 {
        self.chunk.unwrap_or_else(|| {
            self.points()
                .unwrap_or(u64::MAX)
                .div_ceil(CHUNKS)
                .clamp(1, MOST_IN_A_CHUNK)
        })
    }

    /// The number of chunks that it has.
    pub fn chunks(&self) -> u64 {
        self.points().unwrap_or(u64::MAX).div_ceil(self.chunk())
    }

    /// Numbers of the points of a chunk.
    pub fn points_of(&self, chunk: u64) -> Range<u64> {
        let first = chunk * self.chunk();
        first..(first + self.chunk()).min(self.points().unwrap_or(u64::MAX))
    }

    /// The keys that vary, with what their values are, in the plan's order.
    pub(crate) fn keys(&self) -> Vec<(String, Kind)> {
        self.axes
            .iter()
            .flat_map(Axis::keys)
            .map(|(key, kind, _)| (key.to_owned(), kind))
            .collect()
    }

    /// True if points are repeated.
    pub(crate) fn repeats(&self) -> bool {
        self.axes
            .iter()
            .any(|axis| matches!(axis, Axis::Repetitions(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Plan {
        Plan::read(&Document::new("p.toml", text)).unwrap()
    }

    fn shown(plan: &Plan) -> Vec<String> {
        let of = |number| {
            let point = plan.point(number);
            point
                .varied
                .iter()
                .map(|(_, value)| value.text())
                .collect::<Vec<_>>()
                .join(" ")
        };
        (0..plan.points().unwrap()).map(of).collect()
    }

    #[test]
    fn points_are_numbered_with_the_last_axis_fastest_and_keys_in_the_order_of_the_file() {
        let plan = plan(
            "experiment = \"e\"\n[seeds]\nfirst = 5\ncount = 2\n[grid]\nz = [\"a\", \"b\"]\na.b = \"1..2\"\n[[list]]\nk = 1.5\n",
        );
        assert_eq!(plan.points(), Some(8));
        assert_eq!(shown(&plan)[..3], ["1.5 a 1 5", "1.5 a 1 6", "1.5 a 2 5"]);
        assert_eq!(plan.point(7).varied[2], ("a.b".to_owned(), Value::Whole(2)));
        assert_eq!(plan.product(), "1 rows of the list x 2 z x 2 a.b x 2 seed");
    }

    #[test]
    fn chunks_cover_the_points_and_are_fixed_by_the_plan() {
        for (points, chunk, chunks) in [
            (1, 1, 1),
            (64, 1, 64),
            (100, 2, 50),
            (10_000, 157, 64),
            (1_000_000, 256, 3907),
        ] {
            let plan = plan(&format!(
                "experiment = \"e\"\n[grid]\na = \"1..{points}\"\n"
            ));
            assert_eq!((plan.chunk(), plan.chunks()), (chunk, chunks), "{points}");
            assert!(
                (0..chunks)
                    .flat_map(|chunk| plan.points_of(chunk))
                    .eq(0..points),
                "{points}"
            );
        }
    }

    #[test]
    fn too_many_points_are_counted_and_refused() {
        let many = plan("experiment = \"e\"\n[grid]\na = \"1..100000\"\nb = \"1..10000\"\n");
        let said = many.at_most(DEFAULT_MOST).unwrap_err().to_string();
        assert_eq!(
            said,
            "p.toml: 1000000000 points (100000 a x 10000 b); at most 1000000 are run"
        );
        assert_eq!(many.at_most(1_000_000_000).unwrap(), 1_000_000_000);
        let most = plan(
            "experiment = \"e\"\n[grid]\na = \"1..10000000000\"\nb = \"1..10000000000\"\nc = \"0..18446744073709551615\"\n",
        );
        assert!(
            most.at_most(u64::MAX)
                .unwrap_err()
                .to_string()
                .contains("more than 2^64 points")
        );
    }
}

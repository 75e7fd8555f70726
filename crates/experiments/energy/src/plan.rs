//! Which points a run of the experiment visits, and what every configuration came to at each.

use crate::board::Board;
use crate::configuration::Configuration;
use crate::point::Point;
use crate::runs::{RunResult, run};
use crate::suite::{Benchmark, Suite};
use crate::unknown::{Range, Value};
use experiment::{Error, Progress, Result, side_by_side};
use itertools::Itertools;

/// A kind of points.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// Draws from the ranges.
    Draws,
    /// The central point, with a seed each time.
    Central,
}

impl Kind {
    /// Name of the kind in recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draws => "draws",
            Self::Central => "central",
        }
    }
}

/// A point, and what it is one of.
pub struct Visit<'s> {
    /// Kind of the run.
    pub kind: Kind,
    /// Which draw it is, or which seed of the central point.
    pub number: u32,
    /// The benchmark.
    pub benchmark: &'s Benchmark,
    /// The point.
    pub point: Point<'s>,
}

/// The results of every configuration at a point.
pub struct PointResults<'s> {
    /// The point.
    pub visit: Visit<'s>,
    /// The configurations, in the order of [`Configuration::ALL`].
    pub configurations: Vec<RunResult>,
    /// The reference where nobody queues callbacks: all else is the same.
    pub silent: RunResult,
}

/// The points of a run: its draws, and the central point with all of its seeds, or with two of
/// them, which show whether they differ.
pub fn plan<'s>(
    suite: &'s Suite,
    benchmarks: &[&'s Benchmark],
    draws: u32,
    all_seeds: bool,
    set: &[(String, Value)],
) -> Vec<Visit<'s>> {
    let seeds = suite
        .central_seeds
        .get()
        .min(if all_seeds { u16::MAX } else { 2 });
    let fixed = |point: Point<'s>| {
        set.iter().fold(point, |point, (name, value)| {
            point.with(name, value.clone())
        })
    };
    let mut visits = Vec::new();
    for &benchmark in benchmarks {
        let mut add = |kind, number, point| {
            visits.push(Visit {
                kind,
                number,
                benchmark,
                point: fixed(point),
            });
        };
        for draw in 0..draws {
            add(Kind::Draws, draw, Point::draw(suite, draw));
        }
        for seed in 0..u32::from(seeds) {
            add(Kind::Central, seed, Point::central(suite, seed));
        }
    }
    visits
}

/// The values that `--set` gives to unknowns.
///
/// # Errors
/// There is no such unknown; it cannot have that value.
pub fn set(suite: &Suite, given: &[(String, String)]) -> Result<Vec<(String, Value)>> {
    let parse = |(name, text): &(String, String)| {
        let Some(at) = suite.unknown(name) else {
            let known = suite
                .may_be_set()
                .map(|unknown| unknown.name.as_str())
                .collect_vec();
            let near = document::nearest(name, known.iter().copied());
            let help = near.map_or_else(
                || format!("there are: {}", known.join(", ")),
                |near| format!("there is {near}"),
            );
            return Err(Error::usage(
                format!("--set {name}: there is no unknown quantity of that name"),
                help,
            ));
        };
        let unknown = suite
            .may_be_set()
            .nth(at)
            .expect("its place was found just now");
        let value = unknown.parse(text).map_err(|right| {
            Error::usage(
                format!("--set {name}={text}: that is no value of it"),
                format!("it is {right}"),
            )
        })?;
        let most = match (name.as_str(), &unknown.range) {
            ("hz", Range::Numbers { .. }) => 1000,
            ("transition", _) => 1024,
            ("callbacks.pinned", _) => 100,
            ("callbacks.rate", _) => 20_000,
            _ => crate::unknown::MOST,
        };
        match value {
            Value::Number(number) if number > most => Err(Error::usage(
                format!("--set {name}={text}: too much"),
                format!("it is {most} at most"),
            )),
            value => Ok((name.clone(), value)),
        }
    };
    given.iter().map(parse).collect()
}

/// Visits the points, several at once; what comes back is in their order.
///
/// # Errors
/// A benchmark cannot be run as its file says, or the run was told to stop.
pub fn visit<'s>(
    board: &Board,
    visits: Vec<Visit<'s>>,
    progress: &Progress,
) -> Result<Vec<PointResults<'s>>> {
    progress.expect(visits.len() as u64, "points");
    side_by_side(progress, visits, |visit| {
        let configurations = Configuration::ALL
            .into_iter()
            .map(|configuration| run(board, visit.benchmark, configuration, &visit.point))
            .collect::<Result<_, _>>()?;
        let silent = run(
            board,
            visit.benchmark,
            Configuration::Reference,
            &visit.point.clone().silenced(),
        )?;
        Ok(PointResults {
            visit,
            configurations,
            silent,
        })
    })
}

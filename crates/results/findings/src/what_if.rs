//! A what-if: what each combination of settings came to.

use crate::spread::{quartiles, scatters};
use crate::{Findings, Interval};
use attribution::Spending;
use evidence::{Iterations, Rank, Ranked};
use itertools::Itertools;
use recording::{Measure, Recording, Series, stats};
use serde::Serialize;

/// A combination of settings, and what it came to.
#[derive(Debug, PartialEq)]
pub struct WhatIfPoint {
    /// Keys with their values.
    pub settings: Vec<(String, String)>,
    /// The unit of all figures.
    pub unit: String,
    /// CPUs that have values in an iteration; 0 where the metric is of no CPU.
    pub cpus: usize,
    /// The smallest over the values of an iteration, one for each CPU or one that is of no CPU; the
    /// median of that over the iterations.
    pub shortest: f64,
    /// The median over the values of an iteration; the median of that.
    pub median: f64,
    /// The largest over the values of an iteration; the median of that.
    pub longest: f64,
    /// The largest of each iteration, where iterations are draws with a seed each, in the order of
    /// their seeds; empty elsewhere.
    pub seeds: Vec<f64>,
    /// The largest of each iteration of a measurement, which another run need not repeat; empty
    /// where it is simulated.
    pub measured: Vec<f64>,
    /// On what the critical path of the CPU with the largest was spent most, as a part of its
    /// figure, from 0 to 1, in an iteration with events: of many seeds none has any. Where the CPU
    /// waited for another one, it is what that one did.
    pub hung_on: Option<(&'static str, f64)>,
}

/// The measurements of a what-if.
pub struct WhatIf {
    /// The release that it starts from.
    pub release: String,
    /// Case, mode and metric.
    pub measured: (String, String, String),
    /// What it is of, where a run measures the metric of several: " of linux"; else empty.
    pub of: String,
    /// The combinations, in order.
    pub points: Vec<WhatIfPoint>,
    /// The setting that says how much is drawn of what chance decides; `None` without one.
    pub draws: Option<&'static str>,
}

/// The effect of one setting on the largest value, from its first value to its last, all else the
/// same.
#[derive(Debug, Serialize)]
pub struct Effect {
    /// The setting's key.
    pub key: String,
    /// Its first value.
    pub from: String,
    /// Its last value.
    pub to: String,
    /// The least and the greatest over the combinations of the other settings of the quotient of
    /// the largest value with the last and with the first; `None` where it cannot be told from 1
    /// with any of them.
    pub times: Option<[f64; 2]>,
    /// The number of combinations of the other settings in which it can be told.
    pub told: usize,
    /// The number of combinations of the other settings.
    pub of: usize,
}

impl WhatIf {
    /// The unit of all figures; empty where there is no combination.
    pub fn unit(&self) -> &str {
        self.points.first().map_or("", |point| &point.unit)
    }

    /// True if the figures are times.
    pub fn is_of_time(&self) -> bool {
        recording::units::nanoseconds(self.unit()).is_some()
    }

    /// What each setting of several values does by itself, in their order.
    pub fn effects(&self) -> Vec<Effect> {
        let keys = self.points.first().map_or(&[][..], |point| &point.settings);
        (0..keys.len()).filter_map(|at| self.effect(at)).collect()
    }

    fn effect(&self, at: usize) -> Option<Effect> {
        let value = |point: &WhatIfPoint| point.settings[at].1.clone();
        let (from, to) = (value(self.points.first()?), value(self.points.last()?));
        let others = |point: &WhatIfPoint| {
            let mut settings = point.settings.clone();
            settings.remove(at);
            settings
        };
        let before = self.points.iter().filter(|point| value(point) == from);
        let pairs = before.filter_map(|before| {
            Some((
                before,
                self.points
                    .iter()
                    .find(|after| value(after) == to && others(after) == others(before))?,
            ))
        });
        let pairs = pairs.collect_vec();
        // Of all combinations together at most so many tell what is not so.
        let level = LEVEL / (pairs.len() * self.points[0].settings.len()) as f64;
        let times = pairs
            .iter()
            .map(|(before, after)| times(before, after, level));
        let quotients = times.collect_vec();
        let told = quotients.iter().flatten().copied().collect_vec();
        let times = Interval::of_all(&told).map(|all| [all.low, all.high]);
        let key = self.points[0].settings[at].0.clone();
        let (told, of) = (told.len(), quotients.len());
        (from != to).then_some(Effect {
            key,
            from,
            to,
            times,
            told,
            of,
        })
    }
}

/// The quotient of the largest values of two combinations, 1 where they are the same; `None` where
/// chance may have made the difference.
///
/// Seeds are paired: the same ones draw the same in both. What was measured must repeat itself, and
/// its quartiles must lie apart.
fn times(before: &WhatIfPoint, after: &WhatIfPoint, level: f64) -> Option<f64> {
    let times = after.longest / before.longest;
    if (&before.seeds, &before.measured, times) == (&after.seeds, &after.measured, 1.0) {
        return Some(times);
    }
    let both = [&before.measured, &after.measured];
    let is_told = if !before.seeds.is_empty() {
        let pairs = before.seeds.iter().zip(&after.seeds);
        let pairs = pairs.map(|(before, after)| [*before, *after]).collect_vec();
        let tested = evidence::test_pairs(&pairs, level);
        tested.is_some_and(|tested| tested.differs && tested.change * times.ln() > 0.0)
    } else if both.iter().any(|values| !values.is_empty()) {
        let [a, b] = both.map(|values| quartiles(values));
        both.iter()
            .all(|values| values.len() >= FEWEST && !scatters(values))
            && (a[0] > b[1] || b[0] > a[1])
    } else {
        true
    };
    is_told.then_some(times)
}

/// The part of what-ifs without an effect that tell one.
const LEVEL: f64 = 0.05;

/// Of fewer iterations than these of a measurement no factor is told.
const FEWEST: usize = 6;

/// Reads a combination's figures; `None` where the recording has no such metric.
///
/// Where iterations with a seed each were recorded they alone are read: other iterations share the
/// order that one seed gave. In free order another CPU can be the last in each, so ranks are taken
/// within an iteration, and medians over the iterations then (see [`evidence::median`]).
pub fn what_if_point(
    findings: &Findings<'_>,
    metric: &str,
    settings: &[(String, String)],
) -> Option<WhatIfPoint> {
    let recording = findings.recording;
    let unit = measured(recording, metric, |_| true)?.unit;
    let [drawn, shared] = [true, false].map(|drawn| iterations(findings, metric, drawn));
    let is_drawn = drawn.places() > 0;
    let ordered = if is_drawn { &drawn } else { &shared };
    let longest = ordered.ranked(Rank::Longest)?;
    // Runs of many seeds leave no events.
    let told = shared
        .ranked(Rank::Longest)
        .unwrap_or_else(|| longest.clone());
    let of = |values: &[(f64, Option<u16>)]| values.iter().map(|of| of.0).collect_vec();
    let medians = ordered
        .all()
        .filter_map(|(_, values)| stats::median(&of(values)));
    let cpus =
        |(_, values): (_, &[(f64, Option<u16>)])| values.iter().filter(|of| of.1.is_some()).count();
    let each = longest.each.iter().map(|(_, value)| *value).collect_vec();
    let (seeds, measured) = match (is_drawn, recording.header.is_repeatable()) {
        (true, _) => (each, Vec::new()),
        (false, true) => Default::default(),
        (false, false) => (Vec::new(), each),
    };
    Some(WhatIfPoint {
        settings: settings.to_vec(),
        unit: recording.text(unit).to_owned(),
        cpus: ordered.all().map(cpus).max()?,
        shortest: ordered.ranked(Rank::Shortest)?.median,
        median: evidence::median(&medians.collect_vec())?,
        longest: longest.median,
        seeds,
        measured,
        hung_on: hung_on(findings, metric, &told),
    })
}

/// An iteration of a series.
type At = (Series, u32);

/// What the end of the longest CPU of an iteration hung on, with its share of the whole.
fn hung_on(
    findings: &Findings<'_>,
    metric: &str,
    told: &Ranked<At, Option<u16>>,
) -> Option<(&'static str, f64)> {
    let (series, number) = told.iteration;
    let path = findings
        .timelines
        .iteration(series, number)?
        .path(told.who.last().copied()??, metric);
    let (spent, ticks) = Spending::new(&path).parts.first().copied()?;
    let us = ticks as f64 * findings.timelines.tick_us()?;
    Some((spent.title(), us / told.median))
}

/// The measure that stands for a metric: the first that is of no subject, or else the first. A
/// what-if is about its series and its subject; others are other quantities.
pub fn measured<'r>(
    recording: &'r Recording,
    metric: &str,
    is_of: impl Fn(Series) -> bool,
) -> Option<&'r Measure> {
    let of = recording
        .measures()
        .iter()
        .filter(|measure| recording.text(measure.metric) == metric && is_of(measure.series));
    of.clone()
        .find(|measure| measure.subject.is_none())
        .or_else(|| of.clone().next())
}

/// The iterations that have a metric, of modes that draw a seed for each iteration, or of the
/// others.
fn iterations(findings: &Findings<'_>, metric: &str, drawn: bool) -> Iterations<At, Option<u16>> {
    let recording = findings.recording;
    let first = measured(recording, metric, |series| {
        let (_, _, mode) = recording.series_texts(series);
        let mut seeded = recording.header.seeded_modes.iter();
        seeded.any(|of| of == mode) == drawn
    })
    .into_iter();
    let of = first.flat_map(|first| {
        let same = move |of: &&Measure| {
            (of.series, of.subject, of.metric) == (first.series, first.subject, first.metric)
        };
        recording.measures().iter().filter(same)
    });
    of.map(|of| ((of.series, of.iteration), of.cpu, of.value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::Header;

    fn point_of(recording: &Recording, metric: &str) -> Option<WhatIfPoint> {
        what_if_point(&Findings::new(recording, "", None), metric, &[])
    }

    #[test]
    fn the_longest_is_that_of_each_iteration_whoever_had_it() {
        let mut recording = Recording::new(Header::new("psci-latency", "sim", "ps"));
        let series = recording.series("r", "suspend-deepest", "parallel");
        // The two CPUs take turns at being last, so neither's own median is the longest.
        for (iteration, values) in [(0, [10.0, 100.0]), (1, [102.0, 12.0]), (2, [11.0, 101.0])] {
            for (cpu, value) in (0..).zip(values) {
                recording
                    .measure(series, iteration, "powerdown", "us", value)
                    .cpu = Some(cpu);
            }
        }
        let point = point_of(&recording, "powerdown").unwrap();
        assert_eq!(
            (point.cpus, point.shortest, point.median, point.longest),
            (2, 11.0, 56.0, 101.0)
        );
        assert_eq!(
            (point_of(&recording, "latency"), point.seeds),
            (None, Vec::new())
        );
    }

    /// Twenty seeds from 100 to 119 beside iterations that share one order.
    #[test]
    fn iterations_with_seeds_of_their_own_are_read_alone() {
        let mut recording = Recording::new(Header::new("psci-latency", "sim", "ps"));
        let shared = recording.series("r", "suspend-deepest", "parallel");
        recording.measure(shared, 0, "powerdown", "us", 500.0).cpu = Some(0);
        let drawn = recording.series("r", "suspend-deepest", "parallel-free");
        for seed in 0..20 {
            recording
                .measure(drawn, seed, "powerdown", "us", 100.0 + f64::from(seed))
                .cpu = Some(0);
        }
        assert!(
            point_of(&recording, "powerdown").unwrap().seeds.is_empty(),
            "nothing says that they are"
        );
        recording.header.seeded_modes = vec!["parallel-free".to_owned()];
        let point = point_of(&recording, "powerdown").unwrap();
        assert_eq!(
            (point.longest, point.seeds.len(), point.seeds[19]),
            (109.0, 20, 119.0)
        );
    }

    #[test]
    fn what_no_cpu_measured_counts_as_one_value() {
        let mut recording = Recording::new(Header::new("dataplane", "host", "ticks"));
        let series = recording.series("all", "forward", "");
        for (iteration, rate) in (0..).zip([9.0, 11.0, 10.0]) {
            recording.measure(series, iteration, "rate", "Mpps", rate);
        }
        let point = point_of(&recording, "rate").unwrap();
        assert_eq!(
            (point.cpus, point.shortest, point.median, point.longest),
            (0, 10.0, 10.0, 10.0)
        );
        assert_eq!(
            (point.measured, point.hung_on),
            (vec![9.0, 11.0, 10.0], None)
        );
    }

    /// Points of one setting `a`, each with the longest of some seeds.
    fn of_seeds(points: &[(&str, &str, &[f64])]) -> Vec<Effect> {
        let point = |(a, b, seeds): &(&str, &str, &[f64])| WhatIfPoint {
            settings: vec![
                ("a".to_owned(), (*a).to_owned()),
                ("b".to_owned(), (*b).to_owned()),
            ],
            unit: "us".to_owned(),
            cpus: 1,
            shortest: 1.0,
            median: 1.0,
            longest: evidence::median(seeds).unwrap(),
            seeds: seeds.to_vec(),
            measured: Vec::new(),
            hung_on: None,
        };
        let what_if = WhatIf {
            release: "r".to_owned(),
            measured: Default::default(),
            of: String::new(),
            points: points.iter().map(point).collect(),
            draws: None,
        };
        what_if.effects()
    }

    #[test]
    fn an_effect_is_along_one_setting_and_seeds_are_paired() {
        let [low, high] = [
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            [2.0, 4.0, 6.0, 8.0, 10.0, 12.0],
        ];
        let tripled = low.map(|value| 3.0 * value);
        let six = high.map(|value| 3.0 * value);
        let found = of_seeds(&[
            ("1", "x", &low),
            ("1", "y", &tripled),
            ("2", "x", &high),
            ("2", "y", &six),
        ]);
        assert_eq!(
            (&*found[0].key, found[0].times, found[0].told, found[0].of),
            ("a", Some([2.0; 2]), 2, 2)
        );
        assert_eq!((&*found[1].key, found[1].times), ("b", Some([3.0; 2])));
    }

    #[test]
    fn few_seeds_show_nothing_and_the_same_in_all_is_the_same() {
        let found = of_seeds(&[("1", "x", &[1.0, 2.0]), ("2", "x", &[2.0, 4.0])]);
        assert_eq!((found[0].times, found[0].told), (None, 0));
        let found = of_seeds(&[("1", "x", &[12.1, 12.1]), ("2", "x", &[12.1, 12.1])]);
        assert_eq!(found[0].times, Some([1.0; 2]));
    }
}

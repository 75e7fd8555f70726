//! The bounds of a policy: what rows may come to, whatever another recording has.

use crate::table::{Table, spaced};
use findings::{Findings, cpuidle, idle_replay};
use itertools::Itertools;
use recording::facts::TraceEnergy;
use recording::idle::{IdleSum, percent_of};
use recording::metrics::{self, IDLE_ABOVE, IDLE_BELOW, IDLE_TIME, Metric};
use recording::units::factor;
use recording::{grouped, stats, total_order, units};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A bound on the sum of some measures, such as `above + below of menu@7.1 <= 8 %`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Bound {
    /// As it was written.
    text: String,
    /// The measures that are added.
    terms: Vec<String>,
    /// Name of what they are of: a row, a case, a release.
    name: Option<String>,
    most: f64,
    unit: String,
}

/// What rows of a recording come to beside a bound.
#[derive(Debug, Serialize)]
pub struct Bounded {
    /// The recording's place among the sides, from 0.
    pub side: usize,
    /// The bound as it was written.
    pub bound: String,
    /// The bound's unit, `1` for a count.
    pub unit: String,
    /// True if it surely holds in all rows, false if in one it surely does not, `None` where that
    /// cannot be told.
    pub holds: Option<bool>,
    /// The rows, the highest first; one that cannot be told comes before them.
    pub rows: Vec<BoundedRow>,
}

/// What a row comes to beside a bound.
#[derive(Debug, Serialize)]
pub struct BoundedRow {
    /// The row's label.
    pub row: String,
    /// The least and the most over what is not known and over runs, in the bound's unit; `None`
    /// where a run or a part of the sum is missing.
    pub interval: Option<[f64; 2]>,
    /// True if the bound surely holds, false if it surely does not.
    pub holds: Option<bool>,
}

impl TryFrom<String> for Bound {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let read = || {
            let (sum, most) = text.split_once("<=")?;
            let (sum, name) = match sum.rsplit_once(" of ") {
                Some((sum, name)) => (sum, Some(name.trim().to_owned())),
                None => (sum, None),
            };
            let most = most.trim();
            let (most, unit) = most.split_at(most.find(|c: char| c.is_alphabetic() || c == '%')?);
            let is_known = unit == "%" || units::unit(unit).is_some();
            let terms: Vec<_> = sum.split(" + ").map(plain).collect();
            let is_known = is_known && !terms.contains(&String::new());
            Some(Self {
                terms,
                name,
                most: most.trim().parse().ok().filter(|_| is_known)?,
                unit: unit.to_owned(),
                text: text.clone(),
            })
        };
        read().ok_or_else(|| {
            format!("`{text}` is no bound: write `above + below <= 8 %` or `wakeup of domain-sleep <= 2 ms`")
        })
    }
}

/// A name without what people spell differently.
fn plain(name: &str) -> String {
    name.to_lowercase()
        .replace(|c: char| !c.is_alphanumeric(), "")
}

/// A release and the rest of a row's label, with the row's least and most.
type NamedRow = ([String; 2], Option<[f64; 2]>);

impl Bound {
    /// The term that a measure is, by its name or its short heading.
    fn term(&self, metric: &str) -> Option<usize> {
        let short = metrics::by_name(metric).map_or("", |metric| metric.short_title);
        let names = [metric, short].map(plain);
        self.terms.iter().position(|term| names.contains(term))
    }

    fn is_of(&self, names: &[&str]) -> bool {
        self.name
            .as_ref()
            .is_none_or(|name| names.contains(&name.as_str()))
    }

    /// Shares of all entries, or of the idle time, over the CPUs of a kernel.
    fn shares(&self, test: &cpuidle::Test<'_>) -> Option<NamedRow> {
        let own = [test.kernel, test.case];
        let named = test.states.iter().filter(|of| self.is_of(&[of.state]));
        let sum = match self.is_of(&own) {
            true => test.sum,
            false => named.map(cpuidle::State::sum).reduce(IdleSum::plus)?,
        };
        let counts = [
            (IDLE_ABOVE, sum.above, Some(test.entered)),
            (IDLE_BELOW, sum.below, Some(test.entered)),
            (IDLE_TIME, sum.time_us, test.sum.time_us),
        ];
        let is_meant = |of: &&(Metric, _, _)| self.term(of.0.name).is_some();
        let shares = counts
            .iter()
            .filter(is_meant)
            .map(|of| percent_of(of.1, of.2?));
        let share = shares.sum::<Option<f64>>();
        Some((own.map(str::to_owned), share.map(|share| [share; 2])))
    }

    /// What governors missed, in percent of all intervals.
    fn missed(&self, of: &idle_replay::Governor<'_>) -> Option<NamedRow> {
        let share = match [IDLE_ABOVE, IDLE_BELOW].map(|of| self.term(of.name)) {
            [Some(_), None] => of.above_percent,
            [None, Some(_)] => of.below_percent,
            _ => of.wrong_percent,
        };
        let share = share.map(|of| [of.low, of.high]);
        self.is_of(&[of.name])
            .then(|| ([of.name.to_owned(), String::new()], share))
    }

    /// What a run's rows come to. Rows in another kind of unit are not meant.
    fn rows(&self, run: &Findings<'_>) -> Vec<NamedRow> {
        let is_share = [IDLE_ABOVE, IDLE_BELOW, IDLE_TIME]
            .iter()
            .filter(|of| self.term(of.name).is_some())
            .count();
        let is_share = self.unit == "%" && is_share == self.terms.len();
        let is_replay = run.recording.header.experiment == "idle-replay";
        if is_share
            && is_replay
            && let Ok(replay) = idle_replay::read(run)
        {
            return replay
                .governors
                .iter()
                .filter_map(|of| self.missed(of))
                .collect();
        }
        if is_share && let Ok(counted) = cpuidle::read(run) {
            return counted
                .tests
                .iter()
                .filter_map(|test| self.shares(test))
                .collect();
        }
        let mut found: BTreeMap<_, Vec<Option<[f64; 2]>>> = BTreeMap::new();
        for (key, samples) in Table::new(&run.timelines, |of| Some(of.to_owned())).rows {
            let row = key.row();
            let value = stats::median(&samples.values).zip(factor(&samples.unit, &self.unit));
            let is_meant = self.is_of(&[&row, &key.subject, &key.case, &key.mode, &key.variant]);
            let (Some(at), Some((value, factor)), true) = (self.term(&key.metric), value, is_meant)
            else {
                continue;
            };
            // The ends of one thing, not two things.
            let is_end = is_replay || TraceEnergy::ENDS.contains(&key.mode.as_str());
            let mode = Some(key.mode).filter(|_| !is_end).unwrap_or_default();
            let terms = found.entry([key.variant, spaced(&[key.case, mode, row])]);
            let term = &mut terms.or_insert_with(|| vec![None; self.terms.len()])[at];
            let known = term.iter().flatten().copied();
            *term = Some(stats::ends(known.chain([value * factor])));
        }
        let add =
            |sum: [f64; 2], term: Option<[f64; 2]>| Some([sum[0] + term?[0], sum[1] + term?[1]]);
        let sum = |terms: Vec<_>| terms.into_iter().try_fold([0.0; 2], add);
        found
            .into_iter()
            .map(|(name, terms)| (name, sum(terms)))
            .collect()
    }

    /// True if an interval surely lies within, false if surely beyond.
    fn holds(&self, interval: Option<[f64; 2]>) -> Option<bool> {
        let [low, high] = interval?.map(|end| end <= self.most * (1.0 + 1e-9));
        (low == high).then_some(low)
    }
}

/// What the runs of a side come to beside each bound, of one release where one was named.
pub fn bounded<'b>(
    bounds: &'b [Bound],
    side: usize,
    runs: &'b [Findings<'_>],
    release: Option<&'b String>,
) -> impl Iterator<Item = Bounded> + 'b {
    bounds.iter().map(move |bound| {
        let is_wanted = |(name, _): &NamedRow| release.is_none_or(|of| *of == name[0]);
        let rows = runs
            .iter()
            .flat_map(|run| bound.rows(run))
            .filter(is_wanted);
        let row = |(name, of): ([String; 2], Vec<Option<[f64; 2]>>)| {
            let ends: Option<Vec<_>> = of.into_iter().collect();
            let ends = ends.filter(|of| of.len() == runs.len());
            let interval = ends.map(|of| stats::ends(of.into_iter().flatten()));
            BoundedRow {
                row: spaced(&name),
                interval,
                holds: bound.holds(interval),
            }
        };
        let mut rows = grouped(rows).into_iter().map(row).collect_vec();
        rows.sort_by_key(|of| {
            Reverse(total_order(
                of.interval.map_or(f64::INFINITY, |ends| ends[1]),
            ))
        });
        let has = |verdict| rows.iter().any(|of| of.holds == verdict);
        let is_open = rows.is_empty() || has(None);
        Bounded {
            side,
            bound: bound.text.clone(),
            unit: bound.unit.clone(),
            holds: (has(Some(false)) || !is_open).then(|| !has(Some(false))),
            rows,
        }
    })
}

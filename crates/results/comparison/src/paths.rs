//! The critical path of the slowest CPU of each table.

use crate::result::{Condition, CriticalPath, Row, TablePaths, Verdict};
use crate::table::{TableName, Who};
use attribution::{Spending, Timelines};
use itertools::Itertools;
use recording::metrics::{CACHE_FLUSH, METRICS};
use recording::{Recording, Series};
use std::collections::{HashMap, HashSet};

/// A table of rows, and the metric.
type Name = (TableName, String);

/// The critical paths of a recording's tables, each in the iteration that stands for its case. Of
/// releases those are read that `variant` renames; without events there are none.
pub fn paths(
    timelines: &Timelines<'_>,
    variant: impl Fn(&str) -> Option<String>,
) -> HashMap<Name, CriticalPath> {
    let recording = timelines.recording();
    let mut paths = HashMap::new();
    let Some(tick_us) = timelines.tick_us() else {
        return paths;
    };
    // A flush is a part of another metric, and on its path.
    let metrics = METRICS
        .into_iter()
        .filter(|metric| metric.interval.is_some() && *metric != CACHE_FLUSH);
    for series in timelines.series() {
        let (named, case, mode) = recording.series_texts(series);
        let Some(variant) = variant(named) else {
            continue;
        };
        let median = timelines
            .chosen(series)
            .and_then(|chosen| timelines.iteration(series, chosen.median));
        let Some(iteration) = median else { continue };
        for metric in metrics.clone() {
            let Some(cpu) = iteration.slowest(metric.name) else {
                continue;
            };
            let parts = Spending::new(&iteration.path(cpu, metric.name))
                .parts
                .iter()
                .map(|&(spent, ticks)| (spent, ticks as f64 * tick_us))
                .collect();
            let table = [&*variant, case, mode].map(str::to_owned);
            paths.insert(
                (table, metric.name.to_owned()),
                CriticalPath {
                    who: place(recording, series, cpu),
                    parts,
                },
            );
        }
    }
    paths
}

/// A CPU by its place, where its measures have it.
fn place(recording: &Recording, series: Series, cpu: u16) -> Who {
    let mut of_cpu = recording
        .measures()
        .iter()
        .filter(|measure| (measure.series, measure.cpu) == (series, Some(cpu)));
    of_cpu
        .find_map(|measure| measure.cluster.zip(measure.core))
        .map_or(Who::Cpu(cpu), |(cluster, core)| Who::Place {
            cluster,
            core,
        })
}

/// The paths of each table of which there are rows, in the order of the rows, where the base has
/// one and another recording as well.
pub fn side_by_side(rows: &[Row], paths: &[HashMap<Name, CriticalPath>]) -> Vec<TablePaths> {
    let name = |row: &Row| (row.key.table(), row.key.metric.clone());
    let mut names = rows.iter().map(name).collect_vec();
    names.dedup();
    // What another state of the board explains, no path of the code does.
    let of_board = rows.iter().filter(|row| {
        row.changes
            .iter()
            .flatten()
            .any(|change| change.verdict == Verdict::Unjudged(Condition::Session))
    });
    let of_board: HashSet<Name> = of_board.map(name).collect();
    names.retain(|name| !of_board.contains(name));
    let of_table = |name: Name| {
        let paths = paths
            .iter()
            .map(|paths| paths.get(&name).cloned())
            .collect_vec();
        let (table, metric) = name;
        (paths[0].is_some() && paths[1..].iter().any(Option::is_some)).then_some(TablePaths {
            table,
            metric,
            paths,
        })
    };
    names.into_iter().filter_map(of_table).collect()
}

#[cfg(test)]
mod tests {
    use crate::policy::Policy;
    use crate::request::Options;
    use crate::result::{CriticalPath, TablePaths};
    use crate::table::Who;
    use crate::testing::compared;
    use attribution::{Cause, Spent};
    use recording::{Header, Recording};

    /// Ticks per microsecond.
    const TICKS: u64 = 50;

    /// Suspends of CPUs 0.0 and 1.0, each of which runs code for 20 us; 0.0 flushes for 1 us, and
    /// 1.0 so long as is said for each iteration.
    fn suspends(release: &str, flushes: &[u64], events: bool) -> Recording {
        let mut recording = Recording::new(Header::new("psci-latency", "sim", "ps"));
        recording.header.time.counter_hz = Some(TICKS * 1_000_000);
        for case in ["suspend-level0", "suspend-deepest"] {
            let series = recording.series(release, case, "serial");
            for (iteration, &flush) in (0..).zip(flushes) {
                for (cpu, flush) in [(0, 1), (1, flush)] {
                    let points = [
                        (0, "enter-psci", smc::CPU_SUSPEND | smc::SMC64),
                        (10, "enter-cflush", 0),
                        (10 + flush, "exit-cflush", 0),
                        (20 + flush, "enter-hw-low-pwr", 0),
                    ];
                    for (at, point, argument) in points.into_iter().filter(|_| events) {
                        let point = recording.point(point);
                        recording.event(
                            series,
                            iteration,
                            cpu,
                            at * TICKS,
                            at * TICKS,
                            point,
                            argument,
                        );
                    }
                    for (metric, us) in [("powerdown", 20 + flush), ("cache_flush", flush)] {
                        let measure = recording.measure(series, iteration, metric, "us", us as f64);
                        (measure.cpu, measure.cluster, measure.core) =
                            (Some(cpu), Some(cpu), Some(0));
                    }
                }
            }
        }
        recording
    }

    fn path(flush: f64) -> CriticalPath {
        let parts = vec![
            (Spent::Cause(Cause::FlushL1), flush),
            (Spent::Cause(Cause::Code), 20.0),
        ];
        CriticalPath {
            who: Who::Place {
                cluster: 1,
                core: 0,
            },
            parts,
        }
    }

    /// The releases have names of their own, and of three iterations the median stands for a case.
    /// A flush has no path: it is on another's.
    #[test]
    fn a_table_has_the_path_of_its_slowest_cpu_in_each_recording() {
        let (base, other) = (
            suspends("v1", &[90, 30, 25], true),
            suspends("v2", &[41, 99, 1], true),
        );
        let comparison = compared(&[&base, &other], &Options::default());
        let table = |case: &str| TablePaths {
            table: ["", case, "serial"].map(str::to_owned),
            metric: "powerdown".to_owned(),
            paths: vec![Some(path(30.0)), Some(path(41.0))],
        };
        assert_eq!(
            comparison.paths,
            [table("suspend-level0"), table("suspend-deepest")]
        );
        let asked = Options {
            metrics: vec!["cache_flush".to_owned()],
            ..Options::default()
        };
        assert_eq!(
            compared(&[&base, &other], &asked).paths,
            [],
            "no row is of a powerdown"
        );
        let rule = "[[rule]]\ncase = \"suspend-deepest\"\nignore = true\n";
        let policy = Options {
            policy: Policy::read(&document::Document::new("p", rule)).unwrap(),
            ..Options::default()
        };
        assert_eq!(
            compared(&[&base, &other], &policy).paths,
            [table("suspend-level0")]
        );
    }

    /// A log without events beside a simulation: nothing is known of its path, and without the
    /// base's there is nothing to compare with.
    #[test]
    fn a_path_needs_events_in_the_base_and_in_another() {
        let (with, without) = (suspends("v", &[30], true), suspends("v", &[30], false));
        let of = |recordings: &[&Recording]| -> Vec<Vec<bool>> {
            let tables = compared(recordings, &Options::default()).paths;
            tables
                .iter()
                .map(|table| table.paths.iter().map(Option::is_some).collect())
                .collect()
        };
        assert_eq!(
            (of(&[&with, &without]), of(&[&without, &with])),
            (vec![], vec![])
        );
        assert_eq!(of(&[&with, &without, &with]), [[true, false, true]; 2]);
        let mut timeless = with.clone();
        timeless.header.time.counter_hz = None;
        assert_eq!(
            of(&[&with, &timeless]),
            Vec::<Vec<bool>>::new(),
            "ticks of unknown length are no microseconds"
        );
    }

    #[test]
    fn parts_of_either_path_are_set_against_each_other() {
        let mut longer = path(41.0);
        longer.parts.insert(0, (Spent::Scp, 60.0));
        longer.parts[2].1 = 15.0;
        let changes: Vec<_> = path(30.0)
            .changes(&longer)
            .iter()
            .map(|change| (change.part.name(), change.absolute()))
            .collect();
        assert_eq!(
            changes,
            [("scp", 60.0), ("cache-flush-l1", 11.0), ("code", -5.0)]
        );
        assert_eq!(
            (path(30.0).total(), longer.total()),
            (50.0, 116.0),
            "they add up to 66"
        );
        assert_eq!(
            longer.changes(&path(30.0))[0].absolute(),
            -60.0,
            "the SCP is in the base alone"
        );
    }
}

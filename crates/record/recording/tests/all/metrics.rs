//! The table of metrics is one, and nothing else says what it says.

use recording::metrics::{
    self, Better, METRICS, POWERDOWN, TIME_IN_STATE, WAKEUP, better, by_name, heading, intervals_of,
};
use std::path::{Path, PathBuf};

#[test]
fn names_are_distinct_and_every_row_is_whole() {
    for (place, metric) in METRICS.iter().enumerate() {
        assert_eq!(
            METRICS.iter().position(|other| other.name == metric.name),
            Some(place),
            "{} twice",
            metric.name
        );
        assert!(
            metric.about.ends_with('.') && !metric.title.is_empty() && !metric.unit.is_empty(),
            "{metric:?}"
        );
        assert_eq!(by_name(metric.name), Some(metric));
    }
    assert_eq!(by_name("no such metric"), None);
}

#[test]
fn an_interval_is_what_lies_between_its_points() {
    let passed = |point: &str| match point {
        "enter-psci" => Some(10),
        "enter-hw-low-pwr" => Some(75),
        _ => None,
    };
    assert_eq!(POWERDOWN.bounds(passed), Some((10, 75)));
    assert_eq!(WAKEUP.bounds(passed), None, "its points were not passed");
    assert_eq!(TIME_IN_STATE.bounds(passed), None, "it is no interval");
    let of = |case| {
        intervals_of(case)
            .map(|metric| metric.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(of("cpu-off"), ["powerdown", "wakeup", "cache_flush"]);
    assert_eq!(of("psci-version"), ["latency"]);
}

#[test]
fn times_and_clocks_are_better_lower_and_rates_higher() {
    assert_eq!(better("powerdown", "us"), Better::Lower);
    assert_eq!(better("rate", "Mpps"), Better::Higher);
    assert_eq!(better("time_in_state", "us"), Better::Neither);
    assert_eq!(better("calls", "calls"), Better::Neither);
    assert_eq!(better("of another program", "ns"), Better::Lower);
    assert_eq!(better("of another program", "Gbit/s"), Better::Higher);
    assert_eq!(better("of another program", "1"), Better::Neither);
}

#[test]
fn headings_keep_abbreviations_and_names_that_nobody_knows() {
    let headings = ["cache_flush", "cpus_up", "of_another-program"].map(heading);
    assert_eq!(headings, ["cache flush", "CPUs up", "of another program"]);
}

/// The sources outside of tests and comments: one that names a metric in a string says for a second
/// time what the table says.
#[test]
fn no_other_source_names_a_psci_interval_or_its_points_together() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = Path::new("record/recording/src/metrics.rs");
    let mut found = Vec::new();
    for path in sources(&crates) {
        let name = path.strip_prefix(&crates).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let program = text.split("#[cfg(test)]").next().unwrap();
        for (number, line) in program
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            let names = ["powerdown", "cache_flush", "time_in_state"]
                .iter()
                .any(|name| says(line, name));
            let bounds = metrics::intervals()
                .filter_map(|metric| metric.interval)
                .any(|interval| says(line, interval.first) && says(line, interval.last));
            if names || bounds {
                found.push(format!("{}:{}", name.display(), number + 1));
            }
        }
    }
    let (in_table, elsewhere): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|place| Path::new(place.split(':').next().unwrap()) == table);
    assert!(
        in_table.len() > 4,
        "the table is not where it was: {in_table:?}"
    );
    assert_eq!(
        elsewhere, [""; 0],
        "take the metric from recording::metrics"
    );
}

fn says(line: &str, name: &str) -> bool {
    line.contains(&format!("\"{name}\""))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let sources = files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let programs = folders
        .iter()
        .filter(|path| !path.ends_with("tests") && !path.ends_with("target"));
    sources
        .chain(programs.flat_map(|folder| self::sources(folder)))
        .collect()
}

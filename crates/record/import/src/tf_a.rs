//! The tables of TF-A's documents, written as [`csv_table`](crate::csv_table()) reads them: a file
//! a test, without a header line, in nanoseconds.

use crate::names::{LATENCIES, TESTS};
use recording::metrics::LATENCY;
use recording::stats::median;
use recording::{Recording, metrics, units};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Why a recording cannot be written as TF-A's tables.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum TableError {
    /// It has the figures of several releases.
    #[error("the recording has several releases: {0}")]
    Releases(String),
    /// It has no latency of the six tests.
    #[error("the recording has no latency of the six cases of PSCI")]
    Nothing,
    /// A figure is no time.
    #[error("{metric} of {case} is in {unit}, and the tables are in nanoseconds")]
    Unit {
        /// The figure's metric.
        metric: String,
        /// The figure's case and mode.
        case: String,
        /// Unit that was printed.
        unit: String,
    },
    /// A row lacks a figure.
    #[error("{case} has no {metric} of CPU {cluster}.{core}")]
    Missing {
        /// Case and mode.
        case: String,
        /// The figure that is missing.
        metric: &'static str,
        /// The CPU's cluster.
        cluster: u16,
        /// The CPU's number in its cluster.
        core: u16,
    },
}

/// The tables of a recording of one release: names of files, and what they hold. A figure is the
/// median of its iterations, in nanoseconds. Behind it stands its change in percent against
/// `before`, where that is given and has it, or else the change that the recording was imported
/// with.
///
/// # Errors
/// The recording has several releases, or what does not fit into the tables.
pub fn tf_a_tables(
    recording: &Recording,
    before: Option<&Recording>,
) -> Result<Vec<(String, String)>, TableError> {
    let now = figures(recording)?;
    let before = before.map(figures).transpose()?;
    let mut files = Vec::new();
    for (test, (case, mode)) in TESTS {
        let of_case = (case.to_owned(), mode.to_owned());
        let Some(rows) = now.get(&of_case) else {
            continue;
        };
        let mut text = String::new();
        for ((cluster, core), row) in rows {
            let _ = write!(text, "\"{cluster}\",\"{core}\"");
            let columns = if row.contains_key(LATENCY.name) {
                &[LATENCY.name][..]
            } else {
                &LATENCIES
            };
            for metric in columns {
                let value = row.get(*metric).ok_or_else(|| TableError::Missing {
                    case: format!("{case} {mode}"),
                    metric,
                    cluster: *cluster,
                    core: *core,
                })?;
                let was = before
                    .as_ref()
                    .and_then(|all| all.get(&of_case)?.get(&(*cluster, *core))?.get(*metric));
                let change = match &before {
                    Some(_) => was
                        .filter(|was| **was > 0.0)
                        .map(|was| (value / was - 1.0) * 100.0),
                    None => row
                        .get(&format!("{metric}{}", metrics::PRINTED_CHANGE))
                        .copied(),
                };
                let change = change
                    .map(|percent| (percent * 100.0).round() / 100.0)
                    .filter(|percent| *percent != 0.0)
                    .map_or_else(String::new, |percent| format!(" ({percent:+.2}%)"));
                let _ = write!(text, ",\"{value}{change}\"");
            }
            text.push('\n');
        }
        files.push((format!("{test}.csv"), text));
    }
    if files.is_empty() {
        Err(TableError::Nothing)
    } else {
        Ok(files)
    }
}

/// The figures of a CPU, by their metric.
type Row = BTreeMap<String, f64>;

/// The figures by case and mode, and cluster and core.
type Rows = BTreeMap<(String, String), BTreeMap<(u16, u16), Row>>;

fn figures(recording: &Recording) -> Result<Rows, TableError> {
    let of = |measure: &recording::Measure| recording.series_texts(measure.series).0;
    let mut releases: Vec<&str> = recording.measures().iter().map(of).collect();
    releases.sort_unstable();
    releases.dedup();
    if releases.len() > 1 {
        return Err(TableError::Releases(releases.join(", ")));
    }
    let mut values: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for measure in recording.measures() {
        let (_, case, mode) = recording.series_texts(measure.series);
        let metric = recording.text(measure.metric);
        let of = metric
            .strip_suffix(metrics::PRINTED_CHANGE)
            .unwrap_or(metric);
        let is_of_tests = TESTS.iter().any(|&(_, test)| test == (case, mode));
        let (Some(place), true) = (measure.cluster.zip(measure.core), is_of_tests) else {
            continue;
        };
        if !LATENCIES.contains(&of) && of != LATENCY.name {
            continue;
        }
        let unit = recording.text(measure.unit);
        let scale = (unit == "%")
            .then_some(1.0)
            .or(units::nanoseconds(unit))
            .ok_or_else(|| TableError::Unit {
                metric: metric.to_owned(),
                case: format!("{case} {mode}"),
                unit: unit.to_owned(),
            })?;
        let case = (case.to_owned(), mode.to_owned());
        let all = values.entry((case, place, metric.to_owned())).or_default();
        all.push(measure.value * scale);
    }
    // 244.52 us are not quite 244520 ns in binary fractions.
    let rounded = |ns: f64| (ns * 1e3).round() / 1e3;
    let mut rows = Rows::new();
    for ((case, place, metric), values) in values {
        if let Some(ns) = median(&values) {
            let row = rows.entry(case).or_default().entry(place).or_default();
            row.insert(metric, rounded(ns));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, csv_table, record};

    /// The tables as they are in TF-A's documents, of two tests.
    const TABLES: [(&str, &str); 2] = [
        (
            "test_rt_instr_susp_deep_parallel.csv",
            "\"0\",\"0\",\"104500 (-58.57%)\",\"23400\",\"5840\"\n\"1\",\"0\",\"58940.5\",\"27420 (+12.00%)\",\"1\"\n",
        ),
        (
            "test_rt_instr_psci_version_parallel.csv",
            "\"0\",\"0\",\"1400\"\n\"1\",\"0\",\"940 (-2.08%)\"\n",
        ),
    ];

    fn read(tables: &[(&str, &str)]) -> Recording {
        let mut whole: Option<Recording> = None;
        for (name, text) in tables {
            let options = Options {
                file: (*name).to_owned(),
                variant: "v2.12".to_owned(),
                ..Options::default()
            };
            let one = record(
                &csv_table(text.as_bytes(), &options).unwrap(),
                &options,
                "csv",
            );
            match &mut whole {
                Some(whole) => whole.append(&one),
                None => whole = Some(one),
            }
        }
        whole.unwrap()
    }

    fn written(recording: &Recording, before: Option<&Recording>) -> Vec<(String, String)> {
        tf_a_tables(recording, before).unwrap()
    }

    #[test]
    fn tables_that_were_read_are_written_as_they_were() {
        let back = written(&read(&TABLES), None);
        let expected: Vec<_> = TABLES
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect();
        assert_eq!(back, expected);
    }

    #[test]
    fn a_change_is_that_against_the_recording_before() {
        let before = read(&[(TABLES[1].0, "\"0\",\"0\",\"2000\"\n\"1\",\"0\",\"940\"\n")]);
        let tables = written(&read(&TABLES[1..]), Some(&before));
        assert_eq!(
            tables[0].1,
            "\"0\",\"0\",\"1400 (-30.00%)\"\n\"1\",\"0\",\"940\"\n"
        );
    }

    #[test]
    fn what_does_not_fit_into_the_tables_is_refused() {
        let mut recording = read(&TABLES);
        let series = recording.series("v2.13", "suspend-deepest", "serial");
        recording.measure(series, 0, "powerdown", "us", 1.0);
        assert_eq!(
            tf_a_tables(&recording, None),
            Err(TableError::Releases("v2.12, v2.13".to_owned()))
        );
        let mut part = Recording::new(recording::Header::new("psci-latency", "sim", "ps"));
        assert_eq!(tf_a_tables(&part, None), Err(TableError::Nothing));
        let series = part.series("v", "suspend-deepest", "serial");
        let of_cpu = |part: &mut Recording, metric: &str, unit: &str| {
            let measure = part.measure(series, 0, metric, unit, 1.0);
            (measure.cluster, measure.core) = (Some(0), Some(1));
        };
        of_cpu(&mut part, "powerdown", "us");
        let missing = tf_a_tables(&part, None).unwrap_err().to_string();
        assert_eq!(missing, "suspend-deepest serial has no wakeup of CPU 0.1");
        of_cpu(&mut part, "wakeup", "instructions");
        let unit = tf_a_tables(&part, None).unwrap_err().to_string();
        assert_eq!(
            unit,
            "wakeup of suspend-deepest serial is in instructions, and the tables are in nanoseconds"
        );
    }
}

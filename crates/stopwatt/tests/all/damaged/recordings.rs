//! Whole recordings: a text of a header and rows becomes a folder, which is read, compared and
//! reported in every format.

use comparison::{Input, Options, Policy};
use published::Published;
use recording::{CauseRow, Header, Recording};
use report::{Findings, Format, Report, Style};
use std::fs;
use std::path::Path;
use std::slice::from_ref;

/// A header, then rows: events as case, iteration, CPU, time, ticks, point and argument; measures
/// as case, iteration, CPU, metric, unit, value and subject; causes as case, iteration, CPU,
/// metric, cause, holder and ticks.
pub(crate) const SEED: &str = "format = \"stopwatt-recording\"\nversion = 1\nexperiment = \"psci-latency\"\nworld = \"sim\"\nseed = 1\n\
iterations = 2\n[time]\nunit = \"ps\"\ncounter_hz = 50000000\n[[pictures]]\ntitle = \"p\"\nmetric = \"powerdown\"\nkind = \"curves\"\n\
x = \"x\"\n[coordinates.a]\nx = 1\n[[lanes]]\ntitle = \"l\"\nbegin = \"enter-psci\"\nend = \"exit-psci\"\n=\n\
e suspend-deepest 0 0 0 100 enter-psci 0\ne suspend-deepest 0 0 9000 300 enter-hw-low-power 0\n\
e suspend-deepest 0 0 19000 700 exit-hw-low-power 0\ne suspend-deepest 0 0 29000 900 exit-psci 0\n\
e suspend-deepest 0 1 100 105 enter-psci 0\ne suspend-deepest 0 1 9100 400 enter-hw-low-power 1\n\
m suspend-deepest 0 0 powerdown us 4.0 -\nm suspend-deepest 0 1 powerdown us 5.9 -\nm suspend-deepest 1 0 powerdown us 4.5 -\n\
m suspend-deepest 1 0 wakeup us 4.5 a\nm strides 0 0 clocks clk 4.5 b\nc suspend-deepest 0 0 powerdown code - 200\n\
c suspend-deepest 0 1 powerdown lock-wait 0 295\n";

/// The figures that a report lays beside those of an experiment.
fn published(experiment: &str) -> Published {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/published");
    Published::read(&experiment::Folder(folder), experiment)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Writes a recording as the text says, reads it and reports it; whether it could be read.
pub(crate) fn written(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let Some((header, rows)) = text.split_once("\n=\n") else {
        return false;
    };
    let mut recording = Recording::new(Header::new("any", "sim", "ps"));
    if rows.lines().any(|line| row(&mut recording, line).is_none()) {
        return false;
    }
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let path = folder.path().join("r");
    recording
        .write(&path)
        .unwrap_or_else(|error| panic!("{error}"));
    fs::write(path.join("recording.toml"), header).unwrap_or_else(|error| panic!("{error}"));
    match Recording::read(&path) {
        Ok(recording) => {
            used(&recording);
            true
        }
        Err(error) => {
            sound(&error, &path);
            false
        }
    }
}

fn row(recording: &mut Recording, line: &str) -> Option<()> {
    let fields: Vec<&str> = line.split(' ').collect();
    match *fields.as_slice() {
        ["e", case, iteration, cpu, time, ticks, point, argument] => {
            let (series, point) = (
                recording.series("v", case, "parallel"),
                recording.point_with(point, Some("level")),
            );
            let (time, ticks) = (time.parse().ok()?, ticks.parse().ok()?);
            let iteration = iteration.parse().ok()?;
            recording.event(
                series,
                iteration,
                cpu.parse().ok()?,
                time,
                ticks,
                point,
                argument.parse().ok()?,
            );
        }
        ["m", case, iteration, cpu, metric, unit, value, subject] => {
            let (series, subject) = (
                recording.series("v", case, "parallel"),
                recording.name(subject),
            );
            let (value, iteration) = (value.parse().ok()?, iteration.parse().ok()?);
            let measure = recording.measure(series, iteration, metric, unit, value);
            measure.cpu = cpu.parse().ok();
            (measure.cluster, measure.core) = (Some(0), measure.cpu);
            measure.subject = Some(subject);
        }
        ["c", case, iteration, cpu, metric, cause, holder, ticks] => {
            let series = recording.series("v", case, "parallel");
            let (metric, cause) = (recording.name(metric), recording.name(cause));
            let (iteration, cpu) = (iteration.parse().ok()?, cpu.parse().ok()?);
            let (holder, ticks) = (holder.parse().ok(), ticks.parse().ok()?);
            recording.push_cause(CauseRow {
                series,
                iteration,
                cpu,
                metric,
                cause,
                on: Some(1),
                holder,
                ticks,
            });
        }
        _ => return None,
    }
    Some(())
}

/// Uses a recording as its readers do.
fn used(recording: &Recording) {
    let published = published(&recording.header.experiment);
    let report = Report::new(recording, "r", &published);
    for format in Format::ALL {
        let bytes = report.render(format, Style::PLAIN, true);
        assert!(
            bytes.len() < 64 << 20,
            "{} has {} bytes",
            format.name(),
            bytes.len()
        );
        let text = matches!(format, Format::Text | Format::Markdown);
        assert!(
            !text
                || !String::from_utf8_lossy(&bytes)
                    .contains(|l: char| l.is_control() && !"\n\t".contains(l))
        );
    }
    report.run_text(Style::PLAIN, false);
    let findings = Findings::new(recording, "r", None);
    let options = Options {
        sessions: None,
        metrics: Vec::new(),
        policy: Policy::default(),
    };
    if let Ok(comparison) = comparison::compare(
        &[
            Input {
                name: "a".to_owned(),
                runs: from_ref(&findings),
                ..Input::default()
            },
            Input {
                name: "b".to_owned(),
                runs: from_ref(&findings),
                ..Input::default()
            },
        ],
        &options,
    ) {
        report::comparison(&comparison, None, true).text(true, Style::PLAIN);
        report::comparison_json(&comparison, None);
    }
}

/// Bytes of `events.parquet` of the seed.
pub(crate) fn parquet_seeds() -> Vec<Vec<u8>> {
    let mut recording = Recording::new(Header::new("any", "sim", "ps"));
    let rows = SEED.split_once("\n=\n").map_or("", |(_, rows)| rows);
    assert!(
        rows.lines().all(|line| row(&mut recording, line).is_some()),
        "the seed has a wrong row"
    );
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let path = folder.path().join("r");
    recording
        .write(&path)
        .unwrap_or_else(|error| panic!("{error}"));
    vec![fs::read(path.join("events.parquet")).unwrap_or_else(|error| panic!("{error}"))]
}

/// Reads a recording whose events are these bytes; whether it could be read.
pub(crate) fn parquet(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let path = folder.path().join("r");
    let recording = Recording::new(Header::new("any", "sim", "ps"));
    recording
        .write(&path)
        .unwrap_or_else(|error| panic!("{error}"));
    let header = "format = \"stopwatt-recording\"\nversion = 1\nexperiment = \"e\"\nworld = \"sim\"\n[time]\nunit = \"ps\"\n";
    let write = |name: &str, bytes: &[u8]| {
        fs::write(path.join(name), bytes).unwrap_or_else(|error| panic!("{error}"))
    };
    write("recording.toml", header.as_bytes());
    write("events.parquet", bytes);
    match Recording::read(&path) {
        Ok(_) => true,
        Err(error) => {
            sound(&error, &path);
            false
        }
    }
}

/// An error names its file, and steers no terminal.
fn sound(error: &recording::Error, folder: &Path) {
    let text = error.to_string();
    assert!(text.starts_with(&folder.display().to_string()), "{text}");
    assert!(
        !text.contains(|letter: char| letter.is_control() && !"\n\t".contains(letter)),
        "{text:?}"
    );
}

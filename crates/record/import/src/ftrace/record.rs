//! The recording of a trace.

use super::collect::Trace;
use super::event::{Event, Point};
use super::input::Options;
use super::{Error, read};
use crate::cpuidle::{self, State};
use itertools::Itertools;
use recording::{Header, Lane, Recording, Series, Writer, metrics, metrics::Metric};
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;

/// Reads a trace and writes its events, and its counts of idle states, as a recording into a
/// folder. At no time are more than some ten thousand events held.
///
/// The header is what the recording begins with; the trace's own facts are added
/// ([`recording::facts::KernelTrace`]), the names of its lanes, and a note for each doubt.
///
/// # Errors
/// As [`read`]; and if the recording cannot be written. Then nothing is left behind.
pub fn record(
    input: impl Read + Seek,
    options: &Options,
    variant: &str,
    mut header: Header,
    folder: &Path,
) -> Result<Trace, Error> {
    header.lanes = lanes();
    let mut writer = Writer::create(folder, &header)?;
    let mut part = Recording::new(header.clone());
    let series = part.series(variant, "trace", "");
    let points = Point::ALL
        .iter()
        .map(|point| {
            let argument = Some(point.argument()).filter(|argument| !argument.is_empty());
            part.point_with(point.name(), argument)
        })
        .collect_vec();
    let mut take = |events: &[Event]| {
        for event in events {
            let point = points[event.point as usize];
            part.event(
                series,
                0,
                event.cpu,
                event.time_ns,
                event.ticks,
                point,
                event.argument,
            );
        }
        let written = writer.append(&part);
        part.clear();
        written
    };
    let trace = read(input, options, Some(&mut take))?;
    count(&trace, &mut part, series);
    writer.append(&part)?;
    describe(&trace, &mut header);
    writer.finish(&header)?;
    Ok(trace)
}

/// Adds what the kernel's own counters would have, as a dump of them has it. Where the trace has no
/// misses at all they are taken for events that were not recorded.
fn count(trace: &Trace, part: &mut Recording, series: Series) {
    let span_ns = trace.span_ns.map_or(0, |(first, last)| last - first);
    part.add(series, 0, metrics::WINDOW, "", span_ns as f64 / 1e9);
    let has_misses = trace
        .idle
        .values()
        .flat_map(BTreeMap::values)
        .any(|of| of.above + of.below > 0);
    for (cpu, states) in &trace.idle {
        for (number, of) in states {
            let state = State {
                name: trace.kernel.state_name((*number).into()),
                entered: of.entered,
                time_us: Some(of.total_ns / 1_000),
                above: has_misses.then_some(of.above),
                below: has_misses.then_some(of.below),
                ..State::default()
            };
            cpuidle::add(part, series, (Some(*cpu), None), &state);
        }
    }
    let Some(wake_ups) = &trace.kernel.wake_ups else {
        return;
    };
    let mut add = |metric: Metric, cpu: Option<u16>, subject: &str, value: f64| {
        part.add(series, 0, metric, subject, value).cpu = cpu;
    };
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &wake_ups.cpus {
        let state = row.state.as_deref().unwrap_or_default();
        add(
            metrics::WAKE_UPS,
            row.cpu,
            &format!("{state}: {}", row.cause),
            row.count as f64,
        );
        *counts.entry(&row.cause).or_default() += row.count;
    }
    for (cause, count) in counts.into_iter().filter(|_| span_ns > 0) {
        add(
            metrics::WAKE_UP_RATE,
            None,
            cause,
            count as f64 * 1e9 / span_ns as f64,
        );
    }
    for row in &wake_ups.causes {
        for (metric, delay) in [
            (metrics::WAKE_EXIT, row.to_exit_ns),
            (metrics::WAKE_RUN, row.to_run_ns),
        ]
        .into_iter()
        .filter_map(|(metric, delay)| Some((metric, delay?)))
        {
            add(metric, None, &row.cause, delay[0] as f64 / 1e3);
        }
    }
    if let Some(count) = wake_ups.called_before {
        add(metrics::IDLE_CALLED, None, "", count as f64);
    }
}

/// The tracks of a CPU's events: its idle states, with what may have ended them, and its tasks.
fn lanes() -> Vec<Lane> {
    let marks = [
        (Point::HrtimerExpire, "timer"),
        (Point::TickExpire, "tick"),
        (Point::TimerExpire, "timer of the wheel"),
        (Point::IrqEnter, "interrupt"),
        (Point::Ipi, "interrupt from another CPU"),
        (Point::TickStop, "tick stopped"),
    ];
    let idle = Lane {
        title: "idle state".to_owned(),
        begin: Point::IdleEnter.name().to_owned(),
        end: Some(Point::IdleExit.name().to_owned()),
        marks: marks
            .map(|(point, name)| (point.name().to_owned(), name.to_owned()))
            .into(),
        ..Lane::default()
    };
    let tasks = Lane {
        title: "task".to_owned(),
        begin: Point::SchedSwitch.name().to_owned(),
        nothing: Some(0),
        ..Lane::default()
    };
    vec![idle, tasks]
}

/// Adds what was in a trace to the header of its recording.
fn describe(trace: &Trace, header: &mut Header) {
    header.iterations = 1;
    let clock = trace
        .clock
        .as_deref()
        .map_or(String::new(), |clock| format!(", clock {clock}"));
    header
        .notes
        .push(format!("Imported from {}{clock}.", trace.format));
    header
        .notes
        .extend(trace.doubts.iter().map(|doubt| format!("{doubt}.")));
    if !trace.others.is_empty() {
        let kinds = trace
            .others
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect_vec();
        header.notes.push(format!(
            "Events that are counted and not kept: {}.",
            kinds.join(", ")
        ));
    }
    if trace.left_out > 0 {
        header
            .notes
            .push(format!("{} malformed lines were left out.", trace.left_out));
    }
    header.set_facts(&trace.kernel);
    for lane in &mut header.lanes {
        lane.names = match lane.begin.as_str() {
            begin if begin == Point::SchedSwitch.name() => trace.kernel.tasks.clone(),
            _ => trace.kernel.state_names(),
        };
    }
}

//! The causes of every single span, and not only of medians.

use crate::cells::window;
use crate::split::Split;
use crate::timeline::{Timeline, timelines};
use recording::{CauseRow, Recording, Series, metrics};
use std::collections::BTreeMap;

/// A measured span of one iteration, split into causes.
#[derive(Debug, PartialEq)]
pub struct SpanSplit {
    /// Variant, case and mode.
    pub series: Series,
    /// The iteration.
    pub iteration: u32,
    /// The CPU's number.
    pub cpu: u16,
    /// Name of the metric, one of the intervals of `recording::metrics`.
    pub metric: &'static str,
    /// The causes that it was spent on.
    pub split: Split,
}

/// Splits the span of every `psci-latency` measure whose events were recorded, in the order of the
/// measures.
pub fn each(
    recording: &Recording,
    timelines: &BTreeMap<(Series, u32), Timeline>,
) -> Vec<SpanSplit> {
    let mut splits = Vec::new();
    for measure in recording.measures() {
        let metric = metrics::by_name(recording.text(measure.metric))
            .filter(|metric| metric.interval.is_some());
        let (Some(cpu), Some(metric)) = (measure.cpu, metric.map(|metric| metric.name)) else {
            continue;
        };
        let Some(timeline) = timelines.get(&(measure.series, measure.iteration)) else {
            continue;
        };
        let Some((from, to)) = window(timeline, cpu, metric) else {
            continue;
        };
        let split = Split::new(timeline, cpu, from, to);
        splits.push(SpanSplit {
            series: measure.series,
            iteration: measure.iteration,
            cpu,
            metric,
            split,
        });
    }
    splits
}

/// The version of the attribution: it grows whenever the same events are split in another way.
pub const VERSION: u32 = 2;

/// Puts into a recording what each of its measured spans was spent on, in place of what is there: a
/// row for each cause and each CPU that was waited for; the rows of a span add up to it. Spans come
/// in the order of the measures, causes in that of [`Cause::ALL`](crate::Cause::ALL), and holders by
/// how long they were waited for.
pub fn record(recording: &mut Recording) {
    let spans = each(recording, &timelines(recording));
    recording.clear_causes();
    for span in spans {
        for (cause, ticks) in span.split.causes {
            let row = CauseRow {
                series: span.series,
                iteration: span.iteration,
                cpu: span.cpu,
                metric: recording.name(span.metric),
                cause: recording.name(cause.name()),
                on: None,
                holder: None,
                ticks,
            };
            let mut rest = ticks;
            for wait in span.split.waits.iter().filter(|wait| wait.cause == cause) {
                recording.push_cause(CauseRow {
                    on: Some(wait.on),
                    holder: Some(wait.holder),
                    ticks: wait.ticks,
                    ..row
                });
                rest -= wait.ticks;
            }
            if rest > 0 {
                recording.push_cause(CauseRow { ticks: rest, ..row });
            }
        }
    }
    recording.header.attribution = (!recording.causes().is_empty()).then_some(VERSION);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{SUSPEND, add, empty, of_events};

    /// CPU 1 waits for lock 1, which CPU 0 has until 20, and runs code for the rest of its 30
    /// ticks.
    #[test]
    fn the_rows_of_a_span_add_up_to_it_and_name_who_was_waited_for() {
        let mut recording = empty();
        let series = recording.series("r", "suspend-deepest", "parallel");
        let events = [
            (0, 0, "lock-acquired", 1),
            (1, 1, "enter-psci", SUSPEND),
            (1, 4, "lock-wait", 1),
            (0, 20, "lock-released", 1),
            (1, 21, "lock-acquired", 1),
            (1, 31, "enter-hw-low-pwr", 0),
        ];
        add(&mut recording, series, 7, &events);
        let powerdown = recording::metrics::POWERDOWN;
        recording
            .measure(series, 7, powerdown.name, powerdown.unit, 30.0)
            .cpu = Some(1);
        recording.measure(series, 7, "calls", "calls", 1.0).cpu = Some(1);
        record(&mut recording);
        let rows: Vec<_> = recording
            .causes()
            .iter()
            .map(|row| (recording.text(row.cause), row.on, row.holder, row.ticks))
            .collect();
        assert_eq!(
            rows,
            [
                ("code", None, None, 14),
                ("lock-wait", Some(1), Some(0), 16)
            ]
        );
        let row = recording.causes()[0];
        assert_eq!(
            (
                row.series,
                row.iteration,
                row.cpu,
                recording.text(row.metric)
            ),
            (series, 7, 1, powerdown.name)
        );
    }

    /// CPU 1 waits 20 ticks for the SCP: 8 while it serves CPU 0, 5 while it serves CPU 2, and 7 in
    /// which it serves nobody else.
    #[test]
    fn a_wait_for_two_and_for_nobody_is_three_rows() {
        let (mut recording, series) = of_events(&[
            (1, 10, "enter-psci", SUSPEND),
            (1, 10, "scp-wait", 0),
            (0, 12, "scp-takes", 0),
            (0, 20, "scp-done", 0),
            (2, 21, "scp-takes", 0),
            (2, 26, "scp-done", 0),
            (1, 30, "scp-wait-end", 0),
            (1, 30, "enter-hw-low-pwr", 0),
        ]);
        record(&mut recording);
        assert_eq!(
            (recording.causes(), recording.header.attribution),
            (&[][..], None),
            "nothing was measured"
        );
        recording.measure(series, 0, "powerdown", "us", 20.0).cpu = Some(1);
        // Twice: what is there already is replaced.
        record(&mut recording);
        record(&mut recording);
        let rows: Vec<_> = recording
            .causes()
            .iter()
            .map(|row| (recording.text(row.cause), row.holder, row.ticks))
            .collect();
        assert_eq!(
            rows,
            [
                ("scp-wait", Some(0), 8),
                ("scp-wait", Some(2), 5),
                ("scp-wait", None, 7)
            ]
        );
        assert_eq!(recording.header.attribution, Some(VERSION));
    }
}

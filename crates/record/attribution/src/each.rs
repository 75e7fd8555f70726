//! The causes of every single span, and not only of medians.

use crate::cells::window;
use crate::split::Split;
use crate::timeline::timelines;
use recording::{Recording, Series, metrics};

/// A measured span of one iteration, split into causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanSplit {
    /// Variant, case and mode.
    pub series: Series,
    /// The iteration.
    pub iteration: u32,
    /// The CPU's number.
    pub cpu: u16,
    /// `powerdown`, `wakeup`, `cache_flush` or `latency`.
    pub metric: &'static str,
    /// What it was spent on.
    pub split: Split,
}

/// Splits the span of every `psci-latency` measure whose events were recorded, in the order of the measures.
pub fn each(recording: &Recording) -> Vec<SpanSplit> {
    let timelines = timelines(recording);
    let mut splits = Vec::new();
    for measure in recording.measures() {
        let metric = metrics::find(recording.text(measure.metric)).filter(|metric| metric.interval.is_some());
        let (Some(cpu), Some(metric)) = (measure.cpu, metric.map(|metric| metric.name)) else { continue };
        let Some(timeline) = timelines.get(&(measure.series, measure.iteration)) else { continue };
        let Some((from, to)) = window(timeline, cpu, metric) else { continue };
        let split = Split::of(timeline, cpu, from, to);
        splits.push(SpanSplit { series: measure.series, iteration: measure.iteration, cpu, metric, split });
    }
    splits
}

//! `idle-predict`: what a machine would have done with another governor.

use crate::Run;
use crate::idle_replay::Bounds;
use crate::rows::subject;
use recording::metrics::{self, Metric};
use recording::{Measure, Recording, distinct};
use schemars::JsonSchema;
use serde::Serialize;

/// Predictions of governors, beside trivial ones and what was observed.
#[derive(Serialize, JsonSchema)]
pub struct Predictions<'r> {
    /// Each governor by each predictor.
    pub rows: Vec<Row<'r>>,
    /// Sentences that the run left about itself.
    pub notes: &'r [String],
    /// The recording's folder, as it was named on the command line.
    pub recording: &'r str,
}

/// A governor by one predictor. Figures that depend on what the trace does not say are ranges.
#[derive(Serialize, JsonSchema)]
pub struct Row<'r> {
    /// The governor's name.
    pub governor: &'r str,
    /// The predictor, in words.
    pub predictor: &'r str,
    /// The share of the stays in each state, in percent.
    pub shares: Vec<(&'r str, Bounds)>,
    /// Stays in a wrong state per second.
    pub misses_per_s: Option<Bounds>,
    /// The greatest error of a state's share, in points.
    pub share_error_points: Option<Bounds>,
    /// The error of the misses, in percent.
    pub miss_error_percent: Option<Bounds>,
}

/// Reads the predictions.
pub fn read<'r>(run: &Run<'r>) -> Predictions<'r> {
    let recording: &Recording = run.recording;
    let texts = recording
        .all_series()
        .map(|series| recording.series_texts(series));
    let keys = distinct(texts.map(|(governor, predictor, _)| (governor, predictor)));
    let row = |(governor, predictor)| {
        let of = |metric: Metric| {
            recording
                .measures()
                .iter()
                .filter(move |measure: &&Measure| {
                    let (own, by, _) = recording.series_texts(measure.series);
                    (own, by) == (governor, predictor)
                        && recording.text(measure.metric) == metric.name
                })
        };
        let range = |metric| Bounds::new(of(metric).map(|measure| measure.value));
        let states = distinct(of(metrics::IDLE_SHARE).map(|measure| subject(recording, measure)));
        let share = |state| {
            let of_state =
                of(metrics::IDLE_SHARE).filter(|measure| subject(recording, measure) == state);
            Some((state, Bounds::new(of_state.map(|measure| measure.value))?))
        };
        Row {
            governor,
            predictor,
            shares: states.into_iter().filter_map(share).collect(),
            misses_per_s: range(metrics::IDLE_MISS_RATE),
            share_error_points: range(metrics::IDLE_SHARE_ERROR),
            miss_error_percent: range(metrics::IDLE_MISS_ERROR),
        }
    };
    Predictions {
        rows: keys.into_iter().map(row).collect(),
        notes: &recording.header.notes,
        recording: run.folder,
    }
}

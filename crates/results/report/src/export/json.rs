//! JSON: a story's facts, and what every recording has.

use findings::{Findings, MeasureRow};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The facts of a story, and beside its keys what every recording has: experiment, warnings,
/// source and measures.
pub fn with_recording(story: Value, findings: &Findings<'_>) -> Value {
    #[derive(Serialize)]
    struct Whole<'f> {
        experiment: &'f str,
        recording: &'f str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
        source: Map<String, Value>,
        measures: &'f [MeasureRow],
    }
    let source = findings
        .source()
        .into_iter()
        .map(|(what, fact)| (what.to_owned(), json!(fact)));
    let whole = Whole {
        experiment: &findings.recording.header.experiment,
        recording: findings.folder,
        warnings: findings.doubts(),
        source: source.collect(),
        measures: findings.measures(),
    };
    let mut value = serde_json::to_value(whole).unwrap_or_default();
    if let (Some(object), Value::Object(story)) = (value.as_object_mut(), story) {
        story
            .into_iter()
            .for_each(|(key, told)| _ = object.entry(key).or_insert(told));
    }
    value
}

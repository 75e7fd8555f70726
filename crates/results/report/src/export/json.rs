//! JSON: a story's facts, and what every recording has.

use crate::blocks::{Bar, Curve, Drawing, Figure, HeatMap};
use crate::model::pictures::{DeclaredPicture, pictures};
use findings::{Findings, MeasureRow};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The facts of a story, and beside its keys what every recording has: experiment, warnings,
/// source, measures and pictures.
pub(crate) fn with_recording(story: Value, findings: &Findings<'_>) -> Value {
    #[derive(Serialize)]
    struct Whole<'f> {
        experiment: &'f str,
        recording: &'f str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
        source: Map<String, Value>,
        measures: Vec<Row<'f>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pictures: Vec<Value>,
    }
    let source = findings
        .source()
        .into_iter()
        .map(|(what, fact)| (what.to_owned(), json!(fact)));
    let whole = Whole {
        experiment: &findings.recording.header.experiment,
        recording: &findings.folder,
        warnings: findings.doubts(),
        source: source.collect(),
        measures: findings.measures().iter().map(Row::new).collect(),
        pictures: pictures(findings).iter().map(picture).collect(),
    };
    let mut value = serde_json::to_value(whole).unwrap_or_default();
    if let (Some(object), Value::Object(story)) = (value.as_object_mut(), story) {
        story
            .into_iter()
            .for_each(|(key, told)| _ = object.entry(key).or_insert(told));
    }
    value
}

/// A measure over all iterations, as JSON has it.
#[derive(Serialize)]
struct Row<'f> {
    variant: &'f str,
    case: &'f str,
    mode: &'f str,
    cpu: &'f str,
    subject: &'f str,
    #[serde(skip_serializing_if = "str::is_empty")]
    role: &'f str,
    metric: &'f str,
    unit: &'f str,
    values: usize,
    median: f64,
    min: f64,
    max: f64,
}

impl<'f> Row<'f> {
    fn new(row: &'f MeasureRow) -> Self {
        Self {
            variant: &row.variant,
            case: &row.case,
            mode: &row.mode,
            cpu: &row.cpu,
            subject: &row.subject,
            role: &row.role,
            metric: &row.metric,
            unit: &row.unit,
            values: row.count,
            median: row.median,
            min: row.min,
            max: row.max,
        }
    }
}

/// A picture: `kind` is `bars`, `curves` or `heat-map`; a figure is an object with `value` and,
/// where there is one, `published`.
fn picture(DeclaredPicture { metric, picture }: &DeclaredPicture) -> Value {
    let figure = |of: &Figure| match of.published {
        Some(published) => json!({ "value": of.value, "published": published }),
        None => json!({ "value": of.value }),
    };
    let mut value = json!({ "title": picture.title, "metric": metric, "unit": picture.unit });
    let more = match &picture.drawing {
        Drawing::Bars(bars) => {
            let part = |(subject, of): &(String, Figure)| json!({ "subject": subject, "figure": figure(of) });
            let bar = |bar: &Bar| json!({ "name": bar.name, "parts": bar.parts.iter().map(part).collect::<Vec<_>>() });
            json!({ "kind": "bars", "bars": bars.iter().map(bar).collect::<Vec<_>>() })
        }
        Drawing::Curves { x, curves } => {
            let point = |(place, of): &(f64, Figure)| json!({ "x": place, "figure": figure(of) });
            let curve = |curve: &Curve| json!({ "name": curve.name, "points": curve.points.iter().map(point).collect::<Vec<_>>() });
            json!({ "kind": "curves", "x": x, "curves": curves.iter().map(curve).collect::<Vec<_>>() })
        }
        Drawing::HeatMap { x, y, maps, .. } => {
            let line = |fields: &Vec<Option<Figure>>| {
                fields
                    .iter()
                    .map(|field| field.as_ref().map(figure))
                    .collect()
            };
            let map = |map: &HeatMap| {
                let fields: Vec<Vec<Option<Value>>> = map.fields.iter().map(line).collect();
                json!({ "name": map.name, "xs": map.xs, "ys": map.ys, "fields": fields })
            };
            json!({ "kind": "heat-map", "x": x.key, "y": y.key, "maps": maps.iter().map(map).collect::<Vec<_>>() })
        }
        // A header declares no picture of another kind.
        _ => Value::Null,
    };
    if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    value
}

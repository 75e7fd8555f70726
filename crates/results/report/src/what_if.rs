//! A what-if: one table, and one chart of latency against cores.

use crate::blocks::{Bar, Blocks, Curve, Drawing, Figure, Picture, Sample, Table, figure, whole};
use crate::words::case_title;
use crate::{Style, terminal};
use evidence::Leaders;
use findings::what_if::{WhatIf, WhatIfPoint};
use recording::grouped;
use serde_json::{Value, json};

/// Keys that decide how many CPUs there are are the chart's axis, not its lines.
fn is_shape(key: &str) -> bool {
    key.starts_with("topology.")
}

/// The settings that a point's line in the chart stands for.
pub(crate) fn line_of(point: &WhatIfPoint) -> String {
    let kept = point
        .settings
        .iter()
        .filter(|(key, _)| !is_shape(key))
        .map(|(key, value)| format!("{key}={value}"));
    kept.collect::<Vec<_>>().join(" ")
}

/// The what-if in a terminal: its answer, its charts and its table.
pub fn what_if_text(what_if: &WhatIf, all: bool, style: Style) -> String {
    terminal::story(&blocks(what_if), all, style)
}

/// The what-if as one self-contained page of at most [`crate::MOST_BYTES`].
pub fn what_if_html(what_if: &WhatIf) -> String {
    let (case, mode, _) = &what_if.measured;
    let lead = format!("{}, {mode}, of {}", case_title(case), what_if.release);
    crate::html::plain_page("What if?", &lead, &blocks(what_if))
}

/// All settings of a combination, their keys without the section: there is little room.
fn short_name(point: &WhatIfPoint) -> String {
    let short = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let settings: Vec<_> = point
        .settings
        .iter()
        .map(|(key, value)| format!("{}={value}", short(key)))
        .collect();
    if settings.is_empty() {
        "as it is".to_owned()
    } else {
        settings.join(", ")
    }
}

/// The settings that a point's line in the chart stands for; its name where there are none.
fn line_name(point: &WhatIfPoint) -> String {
    Some(line_of(point))
        .filter(|line| !line.is_empty())
        .unwrap_or_else(|| "as it is".to_owned())
}

/// From the combination with the shortest longest to the one with the longest.
fn answer(what_if: &WhatIf) -> Option<String> {
    let shortest = Leaders::least(&what_if.points, |point| Some([point.longest; 2]))?;
    let least = shortest.items[0];
    let most = what_if
        .points
        .iter()
        .max_by(|a, b| a.longest.total_cmp(&b.longest))?;
    let (metric, is_time) = (&what_if.measured.2, what_if.is_of_time());
    let (most_of, comes_to) = if is_time {
        ("longest", "takes")
    } else {
        ("largest", "is")
    };
    let why = most.hung_on.map_or_else(String::new, |(what, part)| {
        format!("; {:.0} % of that go to {what}", part * 100.0)
    });
    Some(match what_if.points.len() {
        1 => format!(
            "The {most_of} {metric} {comes_to} {}{why}.",
            with_seeds(most, what_if.unit())
        ),
        of if shortest.behind == 0 => {
            format!(
                "The {most_of} {metric} {comes_to} {} with all {of} combinations{why}.",
                with_seeds(most, what_if.unit())
            )
        }
        _ if overlap(least, most) => format!(
            "It cannot be told whether the {most_of} {metric} is less with {} than with {}: {} and {}.",
            short_name(least),
            short_name(most),
            with_seeds(least, what_if.unit()),
            with_seeds(most, what_if.unit())
        ),
        _ => format!(
            "The {most_of} {metric} {comes_to} {} with {}. That is {:.1} % less than the {} with {}{why}.",
            with_seeds(least, what_if.unit()),
            short_name(least),
            100.0 * (1.0 - least.longest / most.longest),
            with_seeds(most, what_if.unit()),
            short_name(most)
        ),
    })
}

/// True if the seeds of the lower of two combinations reach those of the higher.
fn overlap(least: &WhatIfPoint, most: &WhatIfPoint) -> bool {
    least
        .over_seeds
        .zip(most.over_seeds)
        .is_some_and(|((_, high, _), (low, _, _))| high >= low)
}

/// The longest with its interval over seeds: "464.1 us (450.3 to 480.2 in 90 % of 20 seeds)".
fn with_seeds(point: &WhatIfPoint, unit: &str) -> String {
    let interval = point
        .over_seeds
        .map_or_else(String::new, |(low, high, seeds)| {
            format!(
                " ({} to {} in 90 % of {seeds} seeds)",
                figure(low),
                figure(high)
            )
        });
    format!("{} {unit}{interval}", figure(point.longest))
}

/// Combinations of the picture of samples at most.
const MOST_SAMPLES: usize = 60;

/// The blocks of a what-if.
fn blocks(what_if: &WhatIf) -> Blocks {
    let (case, mode, metric) = &what_if.measured;
    let mut told = Blocks::default();
    if let Some(answer) = answer(what_if) {
        told.answer(answer);
    }
    told.picture(chart(what_if));
    let seeds = what_if
        .points
        .iter()
        .find_map(|point| point.over_seeds)
        .map(|(.., seeds)| seeds);
    let of_cpus = what_if.points.iter().any(|point| point.cpus > 0);
    let table = table(what_if, seeds, of_cpus);
    let over = seeds.map_or_else(
        || "the iterations".to_owned(),
        |seeds| format!("{seeds} seeds"),
    );
    let case = format!("{case} {mode}");
    let (over_cpus, unit) = (if of_cpus { " over the CPUs" } else { "" }, what_if.unit());
    let title = format!(
        "{}: {}, {metric}{over_cpus} ({unit}); medians over {over}",
        what_if.release,
        case.trim_end()
    );
    let table = table.titled(title);
    told.table(match seeds {
        Some(_) => {
            table.noted("What the longest hung on is told of one order, that of the first seed.")
        }
        None => table,
    });
    if let Some(picture) = scatter(what_if, of_cpus) {
        told.picture(picture);
    }
    told
}

/// The table of the combinations.
fn table(what_if: &WhatIf, seeds: Option<usize>, of_cpus: bool) -> Table {
    let keys = what_if
        .points
        .first()
        .map_or(&[][..], |point| &point.settings)
        .iter()
        .enumerate();
    let spent = |what: &str, part: f64| format!("{what} {:.0} %", part * 100.0);
    Table::with_rows(&what_if.points)
        .each(keys, |table, (at, (key, _))| {
            table.numbers(key.as_str(), "", move |point| {
                point.settings.get(at).map(|(_, value)| value.as_str())
            })
        })
        .when(of_cpus, |table| {
            table.numbers("CPUs", "", |point| whole(point.cpus as f64))
        })
        .numbers("shortest", "", |point| figure(point.shortest))
        .numbers("median", "", |point| figure(point.median))
        .numbers("longest", "", |point| figure(point.longest))
        .when(seeds.is_some(), |table| {
            table.numbers("90 % of seeds", "", |point| {
                point
                    .over_seeds
                    .map(|(low, high, _)| format!("{} to {}", figure(low), figure(high)))
            })
        })
        .when(of_cpus, |table| {
            table
                .words("the longest hung on", |point| {
                    point.hung_on.map(|(what, part)| spent(what, part))
                })
                .words("most of its CPU", |point| {
                    point.most.map(|(cause, part)| spent(cause.title(), part))
                })
        })
        .done()
}

/// How the CPUs of combinations scatter, or their values; `None` where each has one.
fn scatter(what_if: &WhatIf, of_cpus: bool) -> Option<Picture> {
    let unit = what_if.unit();
    let samples = what_if
        .points
        .iter()
        .take(MOST_SAMPLES)
        .map(|point| Sample {
            name: short_name(point),
            series: line_name(point),
            values: point.values.clone(),
        });
    let samples: Vec<Sample> = samples.filter(|sample| sample.values.len() > 1).collect();
    if samples.is_empty() {
        return None;
    }
    let picture = Picture::new(
        format!(
            "How the {} scatter",
            if of_cpus { "CPUs" } else { "values" }
        ),
        &what_if.measured.2,
        unit,
        Drawing::Samples(samples),
    );
    let left_out = what_if.points.len().saturating_sub(MOST_SAMPLES);
    let first = if left_out > 0 {
        format!(" The first {MOST_SAMPLES} combinations.")
    } else {
        String::new()
    };
    Some(picture.noted(format!(
        "A box holds half of the values, the line in it is their median.{first}"
    )))
}

/// A curve over the number of cores for each line; where all machines have as many cores, a bar for
/// each combination.
fn chart(what_if: &WhatIf) -> Picture {
    let metric = &what_if.measured.2;
    let most_of = if what_if.is_of_time() {
        "longest"
    } else {
        "largest"
    };
    let value = |point: &WhatIfPoint| Figure {
        value: point.longest,
        published: None,
    };
    if what_if
        .points
        .windows(2)
        .all(|two| two[0].cpus == two[1].cpus)
    {
        let bar = |point: &WhatIfPoint| Bar {
            name: short_name(point),
            parts: vec![(line_name(point), value(point))],
        };
        let bars = what_if.points.iter().take(MOST_SAMPLES).map(bar).collect();
        return Picture::new(
            format!("The {most_of} {metric}"),
            metric,
            what_if.unit(),
            Drawing::Bars(bars),
        );
    }
    let points = what_if
        .points
        .iter()
        .map(|point| (line_name(point), (point.cpus as f64, value(point))));
    let curves = grouped(points).into_iter().map(|(name, mut points)| {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Curve {
            name,
            points,
            best: None,
        }
    });
    let drawing = Drawing::Curves {
        x: "cores".to_owned(),
        curves: curves.collect(),
    };
    Picture::new(
        format!("The {most_of} {metric} against cores"),
        metric,
        what_if.unit(),
        drawing,
    )
}

/// For machines; figures are in the metric's unit.
pub fn what_if_json(what_if: &WhatIf) -> Value {
    let (case, mode, metric) = &what_if.measured;
    let points: Vec<Value> = what_if
        .points
        .iter()
        .map(|point| {
            let settings: serde_json::Map<_, _> =
                point.settings.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            json!({
                "settings": settings, "cpus": point.cpus, "shortest": point.shortest, "median": point.median, "longest": point.longest,
                "over_seeds": point.over_seeds.map(|(low, high, seeds)| json!({ "low": low, "high": high, "seeds": seeds })),
                "most": point.most.map(|(cause, part)| json!({ "cause": cause.name(), "us": part * point.longest })),
            })
        })
        .collect();
    json!({
        "release": what_if.release, "case": case, "mode": mode, "metric": metric, "unit": what_if.unit(), "points": points,
    })
}

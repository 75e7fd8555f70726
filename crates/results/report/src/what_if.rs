//! A what-if: one table, and one chart of latency against cores.

use crate::blocks::{Bar, Blocks, Curve, Drawing, Picture, Table, figure};
use crate::told::Told;
use crate::words::{case_title, sweeps as words};
use findings::what_if::{WhatIf, WhatIfPoint};
use itertools::Itertools;
use recording::{grouped, total_order};
use serde_json::{Value, json};

/// The settings that a point's line in the chart stands for.
pub fn line_of(point: &WhatIfPoint) -> String {
    // Keys that decide how many CPUs there are are the chart's axis, not its lines.
    let mut kept = point
        .settings
        .iter()
        .filter(|(key, _)| !key.starts_with("topology."))
        .map(|(key, value)| format!("{key}={value}"));
    kept.join(" ")
}

/// What is told of a what-if.
pub fn what_if(what_if: &WhatIf) -> Told {
    let (case, mode, _) = &what_if.measured;
    Told {
        title: "What if?".to_owned(),
        lead: format!("{}, {mode}, of {}", case_title(case), what_if.release),
        blocks: blocks(what_if),
    }
}

/// All settings of a combination, their keys without the section: there is little room.
fn short_name(point: &WhatIfPoint) -> String {
    let short = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let settings = point
        .settings
        .iter()
        .map(|(key, value)| format!("{}={value}", short(key)))
        .collect_vec();
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

/// Draws from which on their middle 90 % are told.
const ENOUGH: usize = 20;

/// The middle 90 % of a point's seeds; `None` of too few.
fn over_seeds(point: &WhatIfPoint) -> Option<[f64; 2]> {
    let ends = [0.05, 0.95].map(|q| findings::quantile(&point.seeds, q));
    let [Some(low), Some(high)] = ends else {
        return None;
    };
    (point.seeds.len() >= ENOUGH).then_some([low, high])
}

/// Combinations of a picture of bars at most.
const MOST_BARS: usize = 60;

/// The blocks of a what-if.
fn blocks(what_if: &WhatIf) -> Blocks {
    let (case, mode, metric) = &what_if.measured;
    let mut told = Blocks::default();
    told.answers(words::what_if(what_if));
    told.picture(chart(what_if));
    let seeds = what_if.points.first().map_or(0, |point| point.seeds.len());
    let of_cpus = what_if.points.iter().any(|point| point.cpus > 0);
    let over = match seeds {
        0 => "the iterations".to_owned(),
        seeds => format!("{seeds} seeds"),
    };
    let case = format!("{case} {mode}");
    let (over_cpus, unit) = (if of_cpus { " over the CPUs" } else { "" }, what_if.unit());
    let title = format!(
        "{}: {}, {metric}{over_cpus} ({unit}); medians over {over}",
        what_if.release,
        case.trim_end()
    );
    let table = table(what_if, of_cpus).titled(title);
    told.table(match seeds {
        0 => table,
        _ => table.noted("What the longest hung on is told of one order, that of the first seed."),
    });
    told
}

/// The table of the combinations.
fn table(what_if: &WhatIf, of_cpus: bool) -> Table {
    let keys = what_if
        .points
        .first()
        .map_or(&[][..], |point| &point.settings)
        .iter()
        .enumerate();
    Table::with_rows(&what_if.points)
        .each(keys, |table, (at, (key, _))| {
            table.numbers(key.as_str(), move |point| {
                point.settings.get(at).map(|(_, value)| value.as_str())
            })
        })
        .when(of_cpus, |table| table.numbers("CPUs", |point| point.cpus))
        .numbers("shortest", |point| figure(point.shortest))
        .numbers("median", |point| figure(point.median))
        .numbers("longest", |point| figure(point.longest))
        .numbers("90 % of seeds", |point| {
            over_seeds(point).map(|[low, high]| format!("{} to {}", figure(low), figure(high)))
        })
        .when(of_cpus, |table| {
            table.words("the longest hung on", |point| {
                let (what, part) = point.hung_on?;
                Some(format!("{what} {:.0} %", part * 100.0))
            })
        })
        .done()
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
    if what_if
        .points
        .windows(2)
        .all(|two| two[0].cpus == two[1].cpus)
    {
        let bars = what_if
            .points
            .iter()
            .take(MOST_BARS)
            .map(|point| Bar::new(short_name(point), [(line_name(point), point.longest)]))
            .collect();
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
        .map(|point| (line_name(point), (point.cpus as f64, point.longest)));
    let curves = grouped(points).into_iter().map(|(name, mut points)| {
        points.sort_by_key(|of| total_order(of.0));
        Curve::new(name, points)
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
    let points = what_if
        .points
        .iter()
        .map(|point| {
            let settings: serde_json::Map<_, _> =
                point.settings.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            json!({
                "settings": settings, "cpus": point.cpus, "shortest": point.shortest, "median": point.median, "longest": point.longest,
                "over_seeds": over_seeds(point).map(|[low, high]| json!({ "low": low, "high": high, "seeds": point.seeds.len() })),
"hung_on": point.hung_on.map(|(what, part)| json!({ "what": what, "us": part * point.longest })),
            })
        })
        .collect_vec();
    json!({
        "release": what_if.release, "case": case, "mode": mode, "metric": metric, "unit": what_if.unit(), "effects": what_if.effects(),
        "points": points,
    })
}

//! `placement`: a workload under each policy of placement, with an owner for each unit of energy.

use super::rows::{of, role, subject, subjects};
use super::{Run, Style, work_costs};
use crate::grid::{PLAIN, fitted, paragraph, right, table};
use crate::words::number;
use recording::metrics::{self, Metric};
use recording::{Recording, stats};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The case of each seed's figures.
const CASE: &str = "placement";
/// The case of the percentiles over all seeds.
const POOLED: &str = "all-seeds";
/// What others are compared with.
const YARDSTICK: &str = "all-big";
const PERCENTS: [&str; 3] = ["p50", "p95", "p99"];

/// The policies, in the order in which they ran.
fn policies(recording: &Recording) -> Vec<&str> {
    of(recording, CASE, metrics::ENERGY).map(|measure| recording.series_texts(measure.series).0).fold(
        Vec::new(),
        |mut all, name| {
            if !all.contains(&name) {
                all.push(name);
            }
            all
        },
    )
}

/// Values of a policy, one a seed; `of_subject` is empty for what has none.
fn values(recording: &Recording, policy: &str, metric: Metric, of_subject: &str) -> Vec<f64> {
    of(recording, CASE, metric)
        .filter(|measure| recording.series_texts(measure.series).0 == policy && role(recording, measure).is_empty())
        .filter(|measure| subject(recording, measure) == of_subject)
        .map(|measure| measure.value)
        .collect()
}

fn mean(recording: &Recording, policy: &str, metric: Metric, of_subject: &str) -> f64 {
    // What a seed had nothing of counts as nothing.
    let seeds = recording.header.iterations.max(1);
    values(recording, policy, metric, of_subject).iter().fold(0.0, |sum, value| sum + value) / f64::from(seeds)
}

/// A percentile over the periods of all seeds, or of each.
fn percentiles(recording: &Recording, policy: &str, case: &str, metric: Metric, task: &str, percent: &str) -> Vec<f64> {
    of(recording, case, metric)
        .filter(|measure| recording.series_texts(measure.series).0 == policy)
        .filter(|measure| (subject(recording, measure), role(recording, measure)) == (task, percent))
        .map(|measure| measure.value)
        .collect()
}

fn pooled(recording: &Recording, policy: &str, metric: Metric, task: &str, percent: &str) -> Option<f64> {
    percentiles(recording, policy, POOLED, metric, task, percent).first().copied()
}

/// The task that latency is about: the first periodic one.
fn main_task(recording: &Recording) -> Option<&str> {
    subjects(recording, POOLED, metrics::RESPONSE).first().copied()
}

fn p95(recording: &Recording, policy: &str) -> Option<f64> {
    pooled(recording, policy, metrics::RESPONSE, main_task(recording)?, "p95")
}

/// Energy of each seed relative to that of another policy with the same seed.
fn relative(recording: &Recording, policy: &str, to: &str) -> Vec<f64> {
    let of = |policy| values(recording, policy, metrics::ENERGY, "");
    of(policy).into_iter().zip(of(to)).filter(|(_, other)| *other > 0.0).map(|(own, other)| own / other).collect()
}

fn interval(values: &[f64]) -> Value {
    let [low, median, high] = [0.0, 0.5, 1.0].map(|q| stats::quantile(values, q));
    low.map_or(Value::Null, |_| json!({ "low": low, "median": median, "high": high }))
}

/// The lowest and the highest of some values, in words.
fn ends(values: &[f64], word: impl Fn(f64) -> String) -> String {
    let [low, high] = [0.0, 1.0].map(|q| stats::quantile(values, q).map_or_else(String::new, &word));
    if low == high { low } else { format!("{low}–{high}") }
}

fn fact<'r>(recording: &'r Recording, name: &str) -> Option<&'r toml::Value> {
    recording.header.platform.as_ref()?.figures.get(name)
}

fn word<'r>(recording: &'r Recording, name: &str) -> &'r str {
    fact(recording, name).and_then(toml::Value::as_str).unwrap_or("")
}

fn watts(recording: &Recording) -> Option<f64> {
    fact(recording, "watts_per_unit")?.as_float()
}

/// What was expected of the user interface before it ran, whether it holds, and what came out.
struct Expected {
    words: &'static str,
    holds: bool,
    found: String,
}

fn expectations(recording: &Recording) -> Vec<Expected> {
    let usual = fact(recording, "usual_workload").and_then(toml::Value::as_bool) == Some(true);
    let ratio = |policy| Some(p95(recording, policy)? / p95(recording, YARDSTICK)?);
    let mut all = Vec::new();
    if !usual {
        return all;
    }
    let of_hmp = |name, latency, thrift| {
        let Some(ratio) = ratio(name) else { return Vec::new() };
        let energy = relative(recording, name, YARDSTICK);
        let late = Expected {
            words: latency,
            holds: (ratio - 1.0).abs() <= 0.1,
            found: format!("{ratio:.2} times all-big's"),
        };
        let thrifty = Expected {
            words: thrift,
            holds: !energy.is_empty() && energy.iter().all(|ratio| *ratio < 1.0),
            found: format!("{} % of all-big's", ends(&energy, |ratio| format!("{:.1}", ratio * 100.0))),
        };
        vec![late, thrifty]
    };
    all.extend(of_hmp(
        "hmp",
        "under HMP the render thread's p95 is within 10 % of all-big's",
        "HMP takes less energy than all-big, with every seed",
    ));
    all.extend(of_hmp(
        "hmp-early",
        "under hmp-early, with the thresholds of HMP's first patches, that p95 is within 10 % of all-big's",
        "hmp-early takes less energy than all-big, with every seed",
    ));
    if let Some(ratio) = ratio("even") {
        all.push(Expected {
            words: "even spread is at least 1.5 times as slow as all-big (p95)",
            holds: ratio >= 1.5,
            found: format!("{ratio:.2} times all-big's"),
        });
    }
    all
}

/// Policies for which something is least, and that least.
#[derive(Default)]
struct Least<'r> {
    names: Vec<&'r str>,
    value: f64,
}

/// The policies for which something is least: several where it is the same to the last digit.
fn least<'r>(all: &[&'r str], of: impl Fn(&str) -> Option<f64>) -> Least<'r> {
    let known = || all.iter().filter_map(|policy| Some((*policy, of(policy)?)));
    let Some(value) = known().map(|(_, value)| value).reduce(f64::min) else { return Least::default() };
    Least { names: known().filter(|(_, own)| *own == value).map(|(name, _)| name).collect(), value }
}

/// The fastest, the thriftiest, and the thriftiest of those whose p95 is within 10 % of the fastest's.
fn winners(recording: &Recording) -> [Least<'_>; 3] {
    let all = policies(recording);
    let energy = |policy: &str| Some(mean(recording, policy, metrics::ENERGY, ""));
    let fastest = least(&all, |policy| p95(recording, policy));
    let near = |policy: &str| p95(recording, policy).is_some_and(|own| own <= fastest.value * 1.1);
    let both = least(&all, |policy| energy(policy).filter(|_| near(policy)));
    [fastest, least(&all, energy), both]
}

/// By which share a policy finished fewer periods than the one that finished most: what was left undone took no energy.
fn unfinished(recording: &Recording, policy: &str) -> f64 {
    let Some(task) = main_task(recording) else { return 0.0 };
    let periods = |policy: &str| mean(recording, policy, metrics::PERIODS, task);
    let most = policies(recording).into_iter().map(periods).fold(0.0, f64::max);
    if most > 0.0 { 1.0 - periods(policy) / most } else { 0.0 }
}

pub(super) fn json(run: &Run<'_>) -> Value {
    let recording = run.recording;
    let of_policy = |policy: &str| {
        let energy = values(recording, policy, metrics::ENERGY, "");
        let by = |metric: Metric| -> Map<String, Value> {
            let names = subjects(recording, CASE, metric).into_iter();
            names.map(|name| (name.to_owned(), json!(mean(recording, policy, metric, name)))).collect()
        };
        let joules = watts(recording).map(|watts| energy.iter().map(|units| units * watts).collect::<Vec<_>>());
        let tasks = subjects(recording, CASE, metrics::MIGRATIONS).into_iter().map(|task| {
            let of = |metric: Metric| {
                let values = PERCENTS.map(|percent| (percent, pooled(recording, policy, metric, task, percent)));
                let map: Map<String, Value> =
                    values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?)))).collect();
                if map.is_empty() { Value::Null } else { Value::Object(map) }
            };
            let figures = json!({
                "periods": values(recording, policy, metrics::PERIODS, task).iter().sum::<f64>(),
                "migrations": mean(recording, policy, metrics::MIGRATIONS, task),
                "response_ms": of(metrics::RESPONSE),
                "p95_ms_by_seed":
                    interval(&percentiles(recording, policy, CASE, metrics::RESPONSE, task, "p95")),
                "wake_latency_us": of(metrics::WAKE_LATENCY),
            });
            (task.to_owned(), figures)
        });
        json!({
            "name": policy,
            "energy_unit_s": interval(&energy),
            "energy_j": joules.map(|joules| interval(&joules)),
            "energy_of_all_big": interval(&relative(recording, policy, YARDSTICK)),
            "unfinished_share": unfinished(recording, policy),
            "run_time_s": interval(&values(recording, policy, metrics::RUN_TIME, "")),
            "running": by(metrics::RUNNING),
            "owners_unit_s": by(metrics::OWNED_ENERGY),
            "wake_ups_per_s": by(metrics::WAKE_UP_RATE),
            "idle_entered": by(metrics::IDLE_ENTERED),
            "idle_time_us": by(metrics::IDLE_TIME),
            "callbacks_per_s": mean(recording, policy, metrics::CALLBACK_RATE, ""),
            "tasks": tasks.collect::<Map<_, _>>(),
        })
    };
    let [fastest, thriftiest, both] = winners(recording).map(|winner| winner.names);
    let expected = expectations(recording);
    let expected = expected
        .iter()
        .map(|of| json!({ "expectation": of.words, "holds": of.holds, "found": of.found }))
        .collect::<Vec<_>>();
    let (points, top) = work_costs::json(recording);
    json!({
        "workload": word(recording, "workload"),
        "platform": recording.header.platform.as_ref().map(|platform| &platform.name),
        "frequency": word(recording, "frequency"),
        "rcu": word(recording, "rcu"),
        "seeds": recording.header.iterations,
        "task": main_task(recording),
        "policies": policies(recording).into_iter().map(of_policy).collect::<Vec<_>>(),
        "wins": { "latency": fastest, "energy": thriftiest, "energy_at_latency_within_10_percent": both },
        "expectations": expected,
        "operating_points": points,
        "top_points": top,
        "notes": recording.header.notes,
        "recording": run.folder,
    })
}

pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let recording = run.recording;
    let mut text = String::new();
    let all = policies(recording);
    if !all.is_empty() {
        let platform = recording.header.platform.as_ref().map_or("", |platform| platform.name.as_str());
        let seconds = fact(recording, "seconds").and_then(toml::Value::as_float).unwrap_or(0.0);
        let sooner = of(recording, CASE, metrics::RUN_TIME).any(|measure| measure.value < seconds);
        let words = format!(
            "{} on {platform}, {}, RCU {}; {} seeds of {} s{}.",
            word(recording, "workload"),
            match word(recording, "frequency") {
                "schedutil" => "frequencies follow the load",
                _ => "at the highest operating points",
            },
            word(recording, "rcu"),
            recording.header.iterations,
            seconds,
            if sooner { " at most" } else { "" },
        );
        paragraph(&mut text, &words, ("", "  "), PLAIN, style);
        overview(&mut text, recording, &all, style);
        judged(&mut text, recording, style);
        owners(&mut text, recording, &all, style);
        by_subject(&mut text, recording, &all, (metrics::WAKE_UP_RATE, "woken by, per s"), style);
        latencies(&mut text, recording, &all, style);
    }
    work_costs::text(&mut text, recording, all.is_empty(), style);
    text
}

fn overview(text: &mut String, recording: &Recording, all: &[&str], style: Style) {
    let (task, big) = (main_task(recording), word(recording, "big"));
    let watts = watts(recording);
    let with_yardstick = all.contains(&YARDSTICK);
    let times: Vec<f64> = all.iter().flat_map(|policy| values(recording, policy, metrics::RUN_TIME, "")).collect();
    let ends_itself = times.windows(2).any(|two| two[0] != two[1]);
    let mut drawn = table(style);
    let mut header = vec!["policy".to_owned()];
    if task.is_some() {
        header.extend(["periods", "p50, ms", "p95, ms", "p99, ms"].map(str::to_owned));
    }
    if ends_itself {
        header.push("time, s".to_owned());
    }
    header.push(if watts.is_some() { "energy, J" } else { "energy, unit s" }.to_owned());
    if with_yardstick {
        header.push("% of all-big's".to_owned());
    }
    header.extend([format!("{big} runs, %"), "moves".to_owned()]);
    drawn.set_header(header);
    for policy in all {
        let mut cells = vec![(*policy).into()];
        if let Some(task) = task {
            let periods: f64 = values(recording, policy, metrics::PERIODS, task).iter().sum();
            cells.push(right(format!("{periods}")));
            for percent in PERCENTS {
                let value = pooled(recording, policy, metrics::RESPONSE, task, percent);
                cells.push(right(value.map_or_else(String::new, number)));
            }
        }
        if ends_itself {
            cells.push(right(ends(&values(recording, policy, metrics::RUN_TIME, ""), number)));
        }
        let energy = values(recording, policy, metrics::ENERGY, "");
        cells.push(right(ends(&energy, |units| number(units * watts.unwrap_or(1.0)))));
        if with_yardstick {
            cells.push(right(ends(&relative(recording, policy, YARDSTICK), |of| format!("{:.1}", of * 100.0))));
        }
        let running = values(recording, policy, metrics::RUNNING, big);
        cells.push(right(ends(&running, |share| format!("{:.1}", share * 100.0))));
        let moves: f64 = subjects(recording, CASE, metrics::MIGRATIONS)
            .iter()
            .map(|task| mean(recording, policy, metrics::MIGRATIONS, task))
            .sum();
        cells.push(right(format!("{moves:.0}")));
        drawn.add_row(cells);
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
    if let Some(task) = task {
        let words = format!(
            "p50, p95 and p99 of `{task}`: from the beginning of its period to the end of its work, over the periods of all seeds. Other intervals are from the lowest seed to the highest; moves are those of all tasks in a run, on average."
        );
        paragraph(text, &words, ("", "  "), PLAIN, style);
    }
}

fn judged(text: &mut String, recording: &Recording, style: Style) {
    let [fastest, thriftiest, both] = winners(recording);
    let task = main_task(recording).unwrap_or("");
    let listed = |least: &Least<'_>| least.names.join(", ");
    let mut say = |words: String| paragraph(text, &words, ("", "  "), PLAIN, style);
    if !fastest.names.is_empty() {
        say(format!("Lowest latency: {}, with {} ms as p95 of `{task}`.", listed(&fastest), number(fastest.value)));
    }
    if let Some(name) = thriftiest.names.first() {
        let missing = unfinished(recording, name);
        let less = match missing > 0.01 {
            true => format!(", which finished {:.0} % fewer periods of `{task}` than others", missing * 100.0),
            false => String::new(),
        };
        say(format!("Least energy: {}{less}.", listed(&thriftiest)));
    }
    if !both.names.is_empty() {
        say(format!("Least energy among those whose p95 is within 10 % of the lowest: {}.", listed(&both)));
    }
    for of in expectations(recording) {
        let holds = if of.holds { "holds" } else { "does not hold" };
        paragraph(text, &format!("Expected: {}: {holds} ({}).", of.words, of.found), ("", "  "), PLAIN, style);
    }
}

/// Energy by owner, the most first, with its sum.
fn owners(text: &mut String, recording: &Recording, all: &[&str], style: Style) {
    let unit = watts(recording).map_or(("unit s", 1.0), |watts| ("J", watts));
    let mut names = subjects(recording, CASE, metrics::OWNED_ENERGY);
    let of = |policy: &str, name: &str| mean(recording, policy, metrics::OWNED_ENERGY, name) * unit.1;
    let most = |name: &str| all.iter().map(|policy| of(policy, name)).fold(0.0, f64::max);
    names.sort_by(|a, b| most(b).total_cmp(&most(a)));
    let mut drawn = table(style);
    let first = format!("energy of, {}", unit.0);
    drawn.set_header(std::iter::once(first.as_str()).chain(all.iter().copied()));
    for name in &names {
        let cells = all.iter().map(|policy| right(number(of(policy, name))));
        drawn.add_row(std::iter::once((*name).into()).chain(cells));
    }
    let sum = |policy: &&str| right(number(names.iter().map(|name| of(policy, name)).sum()));
    drawn.add_row(std::iter::once("all owners".into()).chain(all.iter().map(sum)));
    let whole = |policy: &&str| right(number(mean(recording, policy, metrics::ENERGY, "") * unit.1));
    drawn.add_row(std::iter::once("the integral".into()).chain(all.iter().map(whole)));
    let _ = writeln!(text, "{}", fitted(drawn, style));
    paragraph(text, "By owner, and below by cause: means over the seeds.", ("", "  "), PLAIN, style);
}

fn by_subject(text: &mut String, recording: &Recording, all: &[&str], (metric, title): (Metric, &str), style: Style) {
    let names = subjects(recording, CASE, metric);
    if names.is_empty() {
        return;
    }
    let mut drawn = table(style);
    drawn.set_header(std::iter::once(title).chain(all.iter().copied()));
    for name in names {
        let cells = all.iter().map(|policy| right(number(mean(recording, policy, metric, name))));
        drawn.add_row(std::iter::once(name.into()).chain(cells));
    }
    let _ = writeln!(text, "{}", fitted(drawn, style));
}

/// How long each periodic task took, and how late timers woke each task.
fn latencies(text: &mut String, recording: &Recording, all: &[&str], style: Style) {
    let rows = [(metrics::RESPONSE, "response p95, ms"), (metrics::WAKE_LATENCY, "woken late by p99, us")];
    for ((metric, title), percent) in rows.into_iter().zip(["p95", "p99"]) {
        let tasks = subjects(recording, POOLED, metric);
        if tasks.is_empty() {
            continue;
        }
        let mut drawn = table(style);
        drawn.set_header(std::iter::once(title).chain(all.iter().copied()));
        for task in tasks {
            let of = |policy| pooled(recording, policy, metric, task, percent).map_or_else(String::new, number);
            drawn.add_row(std::iter::once(task.into()).chain(all.iter().map(|policy| right(of(policy)))));
        }
        let _ = writeln!(text, "{}", fitted(drawn, style));
    }
}

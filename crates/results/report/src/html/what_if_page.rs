//! A what-if as a page: what the settings come to, a curve of latency against cores, and how each combination's CPUs scatter.

use super::distribution::{Sample, draw};
use super::frame::{frame, picture};
use super::measure_pictures::draw_curves;
use super::parts::cut;
use super::{MOST_BYTES, compact};
use crate::model::pictures::{Curve, Figure};
use crate::what_if::{WhatIf, WhatIfPoint, line_of};
use crate::words::number;
use maud::html;

/// The what-if as one self-contained page of at most [`MOST_BYTES`]. `asked`: what it is to find out, where that is known.
pub fn what_if_html(what_if: &WhatIf, asked: Option<&str>) -> String {
    let details = [(usize::MAX, 100), (2000, 40), (400, 20), (100, 10), (10, 5), (0, 0)];
    let mut pages = details.into_iter().map(|(rows, points)| compact(&page(what_if, asked, rows, points)));
    pages.find(|page| page.len() <= MOST_BYTES).unwrap_or_else(super::page::only_names)
}

/// All settings of a combination, their keys without the section: there is little room.
fn name(point: &WhatIfPoint) -> String {
    let short = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let settings: Vec<_> = point.settings.iter().map(|(key, value)| format!("{}={value}", short(key))).collect();
    if settings.is_empty() { "as it is".to_owned() } else { settings.join(", ") }
}

/// From the combination with the shortest longest to the one with the longest.
fn answer(what_if: &WhatIf) -> Option<String> {
    let by_longest = |a: &&WhatIfPoint, b: &&WhatIfPoint| a.longest.total_cmp(&b.longest);
    let least = what_if.points.iter().min_by(by_longest)?;
    let most = what_if.points.iter().max_by(by_longest)?;
    let metric = &what_if.measured.2;
    let why = most.hung_on.map_or_else(String::new, |(what, us)| format!("; {} us of that go to {what}", number(us)));
    Some(match what_if.points.len() {
        1 => format!("The longest {metric} takes {} us{why}.", number(most.longest)),
        _ => format!(
            "The longest {metric} takes {} us with {} and {} us with {}{why}.",
            number(least.longest),
            cut(&name(least)),
            number(most.longest),
            cut(&name(most))
        ),
    })
}

fn page(what_if: &WhatIf, asked: Option<&str>, rows: usize, points: usize) -> String {
    let (case, mode, metric) = &what_if.measured;
    let shown = &what_if.points[..what_if.points.len().min(rows)];
    let mut curves: Vec<Curve> = Vec::new();
    for point in shown {
        let line = line_of(point);
        let line = if line.is_empty() { "as it is".to_owned() } else { line };
        let at = (point.cpus as f64, Figure { value: point.longest, published: None });
        match curves.iter_mut().find(|curve| curve.name == line) {
            Some(curve) => curve.points.push(at),
            None => curves.push(Curve { name: line, points: vec![at] }),
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let sizes_differ = shown.iter().any(|point| point.cpus != shown[0].cpus);
    let samples: Vec<Sample<'_>> = shown
        .iter()
        .take(MOST_SAMPLES)
        .map(|point| {
            let line = line_of(point);
            let colour = curves.iter().position(|curve| curve.name == line).unwrap_or(0);
            Sample { name: name(point), colour, values: &point.values }
        })
        .collect();
    let body = html! {
        @if let Some(answer) = answer(what_if) { p.headline { (answer) } }
        @if let Some(asked) = asked { p { (asked) } }
        @if sizes_differ { figure.measure-picture {
            p.axis-title { b { "The longest " (metric) " against cores" } ", us" }
            (picture(&format!("The longest {metric} against cores"), draw_curves(&curves, "cores", "us")))
        } }
        @if !samples.is_empty() { figure.measure-picture {
            p.axis-title { b { "How the CPUs scatter" } ", us; all iterations; a box holds half of the values, the line in it is their median" }
            (picture("How the CPUs of each combination scatter", draw(&samples, "us", points)))
            @if shown.len() > MOST_SAMPLES { p.note { "The first " (MOST_SAMPLES) " combinations." } }
        } }
        div.scroll { table {
            caption { (cut(metric)) " over the CPUs, us; medians over the iterations" }
            thead { tr {
                @for (key, _) in what_if.points.first().map_or(&[][..], |point| &point.settings) { th.n scope="col" { (key) } }
                th.n scope="col" { "CPUs" } th.n scope="col" { "shortest" } th.n scope="col" { "median" } th.n scope="col" { "longest" }
                th scope="col" { "The longest hung on" } th scope="col" { "Its CPU itself" }
            } }
            tbody { @for point in shown { tr {
                @for (_, value) in &point.settings { td.n { (value) } }
                td.n { (point.cpus) } td.n { (number(point.shortest)) } td.n { (number(point.median)) } td.n { b { (number(point.longest)) } }
                td { @if let Some((what, us)) = point.hung_on { (what) " " (number(us)) } }
                td { @if let Some((cause, us)) = point.most { (cause.title()) " " (number(us)) } }
            } } }
        } }
        @if shown.len() < what_if.points.len() {
            p { (what_if.points.len() - shown.len()) " more combinations are left out, for want of room; " code { "--format csv" } " has all." }
        }
    };
    let lead = format!("{}, {mode}, of {}", crate::words::case_title(case), what_if.release);
    frame("What if?", &cut(&lead), &body)
}

/// Combinations of a picture at most.
const MOST_SAMPLES: usize = 60;

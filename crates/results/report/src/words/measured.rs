//! Measures that no experiment of ours made: from the least to the most.

use super::{capital, listed, within};
use crate::blocks::{figure, grouped};
use evidence::Leaders;
use findings::{Findings, MeasureRow};
use itertools::Itertools;
use recording::metrics::{CLOCKS_PER_PACKET, EMPTY_POLLS, EVENTS, Metric, RECEIVED, heading};

/// From the least to the most of a measure, and which rows those are; where parts add up to a
/// whole, the whole and its largest part.
pub fn answer(
    findings: &Findings<'_>,
    rows: &[(String, &MeasureRow)],
    unit: &str,
    factor: f64,
) -> String {
    let ends = |(_, row): &&(String, &MeasureRow)| Some(row.quartiles);
    let amount = |row: &MeasureRow| figure(factor * row.median);
    let metric = &rows[0].1.metric;
    let heading = capital(&heading(metric));
    let (parts, wholes): (Vec<_>, Vec<_>) =
        rows.iter().partition(|(_, row)| !row.subject.is_empty());
    if let ([(_, whole)], false) = (&wholes[..], parts.is_empty()) {
        let most = Leaders::most(parts, ends);
        let most = most.as_ref().and_then(|most| most.alone());
        let most = most.map_or_else(String::new, |(_, part)| {
            let events = findings
                .measures()
                .iter()
                .filter(|row| (row.metric.as_str(), &row.subject) == (EVENTS.name, &part.subject));
            let events = events.map(|row| format!("{} {}", figure(row.median), row.role));
            let with = match events.collect_vec().as_slice() {
                [] => String::new(),
                events => format!(", with {}", listed(events)),
            };
            format!("; {} of them in {}{with}", amount(part), part.subject)
        });
        let all = |metric: Metric| {
            let mut rows = findings.measures().iter();
            let row = rows.find(|row| row.metric == metric.name && row.subject.is_empty());
            row.map(|row| row.median)
        };
        let polls = all(EMPTY_POLLS).zip(all(RECEIVED)).map(|(polls, packets)| {
            let each = grouped((polls / packets).round() as u64);
            format!(" Beside that, at least {each} polls for each packet found no packet.")
        });
        return if *metric == CLOCKS_PER_PACKET.name {
            let polls = polls.unwrap_or_default();
            format!("A packet takes {} {unit}{most}.{polls}", amount(whole))
        } else {
            format!("{heading}: {} {unit} in all{most}.", amount(whole))
        };
    }
    if let [(_, row)] = rows {
        return format!("{heading}: {} {unit}.", amount(row));
    }
    let [least, most] = [Leaders::least(rows, ends), Leaders::most(rows, ends)];
    if let Some(all) = least.as_ref().filter(|least| least.is_all()) {
        let (amount, all) = (amount(rows[0].1), all.items.len());
        let medians = rows.iter().map(|(_, row)| row.median);
        let within = within(medians, "repetitions and ");
        return format!("{heading}: {amount} {unit}, the same{within} in all {all} rows.");
    }
    let end = |of: Leaders<&(String, &MeasureRow)>| {
        let which = match of.alone() {
            Some((row, _)) => row.clone(),
            None => format!("{} rows alike", of.items.len()),
        };
        format!("{} {unit} ({which})", amount(of.items[0].1))
    };
    let ends = least.into_iter().chain(most.filter(|most| most.behind > 0));
    let (ends, all) = (ends.map(end).join(" to "), rows.len());
    format!("{heading}: {ends}, over {all} rows.")
}

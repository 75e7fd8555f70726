//! `explore psci` and `explore rcu`: what broke, and the schedule that breaks it.

use super::{Run, Style};
use crate::words::wrap;
use recording::Recording;
use serde_json::{Value, json};
use std::fmt::Write;

/// The lines of one of the recording's texts.
fn lines<'r>(recording: &'r Recording, text: &str) -> Vec<&'r str> {
    recording.header.texts.get(text).map_or_else(Vec::new, |text| text.lines().collect())
}

fn sentences(recording: &Recording) -> Vec<&str> {
    lines(recording, "sentences")
}

fn measure(recording: &Recording, name: &str) -> Option<u64> {
    let found = recording.measures().iter().find(|measure| recording.text(measure.metric) == name)?;
    Some(found.value as u64)
}

/// The case of what was tried.
const TRIED: &str = "tried";

/// The invariant, as it is named.
fn invariant(recording: &Recording) -> &str {
    broken(recording).next().map_or("", |(_, invariant)| invariant)
}

/// The variants in which something broke, each with its invariant.
fn broken(recording: &Recording) -> impl Iterator<Item = (&str, &str)> {
    let all = recording.all_series().map(|series| recording.series_texts(series));
    all.filter(|(_, case, _)| *case != TRIED).map(|(variant, case, _)| (variant, case))
}

/// The sum of a metric over all that was tried.
fn tried(recording: &Recording, name: &str) -> u64 {
    let of = recording.measures().iter().filter(|measure| recording.text(measure.metric) == name);
    of.map(|measure| measure.value as u64).sum()
}

/// What came of a campaign of several seeds, or of one in which nothing broke.
fn campaign(recording: &Recording) -> String {
    let (schedules, operations) = (tried(recording, "schedules"), tried(recording, "operations_tried"));
    let mut text = String::new();
    for (variant, invariant) in broken(recording) {
        let _ = writeln!(text, "{variant} breaks {invariant}.");
    }
    if text.is_empty() {
        text.push_str("Nothing was found.\n");
    }
    let _ = writeln!(text, "{schedules} schedules were tried, with {operations} operations.");
    text
}

/// What broke, the deviations in sentences, and how to run it again.
pub(super) fn text(run: &Run<'_>, style: Style) -> String {
    let recording = run.recording;
    if !recording.header.texts.contains_key("schedule") {
        return campaign(recording);
    }
    let mut text = String::new();
    // Later lines of a sentence stand below its first word.
    let mut line = |line: &str, indent: usize, hanging: usize| {
        for (number, part) in wrap(line, style.width.saturating_sub(indent + hanging).max(20)).into_iter().enumerate() {
            let indent = if number == 0 { indent } else { indent + hanging };
            let _ = writeln!(text, "{:indent$}{part}", "");
        }
    };
    for complaint in &recording.header.complaints {
        line(&format!("{complaint} ({})", invariant(recording)), 0, 0);
    }
    line("", 0, 0);
    for sentence in lines(recording, "scenario") {
        line(sentence, 0, 2);
    }
    let sentences = sentences(recording);
    let operations = measure(recording, "operations").unwrap_or_default();
    match sentences.len() {
        0 => line(&format!("The plainest run of this, {operations} operations, shows it."), 0, 0),
        1 => line(&format!("One deviation from the plainest run, in {operations} operations:"), 0, 0),
        many => line(&format!("{many} deviations from the plainest run, in {operations} operations:"), 0, 0),
    }
    for (number, sentence) in (1..).zip(&sentences) {
        line(&format!("{number}. {sentence}"), 2, 3);
    }
    let missed = lines(recording, "missed");
    if !missed.is_empty() {
        line("", 0, 0);
        line("Loads that missed a newer value, the last first:", 0, 0);
        missed.iter().for_each(|sentence| line(sentence, 2, 2));
    }
    let folder = run.folder;
    line("", 0, 0);
    let _ = writeln!(text, "Again:    stopwatt explore replay {folder}");
    let _ = writeln!(text, "Timeline: stopwatt report {folder} -o timeline.html");
    text
}

/// The same for machines.
pub(super) fn json(run: &Run<'_>) -> Value {
    let recording = run.recording;
    json!({
        "invariant": invariant(recording),
        "what": recording.header.complaints.first(),
        "operations": measure(recording, "operations"),
        "scenario": lines(recording, "scenario"),
        "sentences": sentences(recording),
        "missed": lines(recording, "missed"),
        "schedule": recording.header.texts.get("schedule"),
        "schedules_tried": tried(recording, "schedules"),
        "operations_tried": tried(recording, "operations_tried"),
    })
}

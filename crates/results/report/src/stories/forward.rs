//! `forward`: what a forwarder did until it stopped.

use super::errors::{self, Counted};
use super::nodes::{self, Nodes};
use super::rows::sum;
use super::run::Run;
use super::story::Story;
use crate::blocks::{Blocks, Table, name, whole};
use recording::facts::{self, FactsError};
use recording::{Measure, Recording, metrics};
use serde::Serialize;
use std::collections::BTreeMap;

const CASE: &str = "forward";

/// Counts by their metric.
type Counts<'r> = BTreeMap<&'r str, u64>;

/// A forwarder's run.
#[derive(Serialize)]
pub(super) struct Forwarded<'r> {
    threads: BTreeMap<&'r str, Counts<'r>>,
    seconds: f64,
    nodes: Nodes<'r>,
    interfaces: BTreeMap<&'r str, Counts<'r>>,
    errors: Vec<Counted<'r>>,
    recording: &'r str,
    #[serde(skip)]
    exec: Option<String>,
    #[serde(skip)]
    packets: [f64; 2],
}

/// The measures of a case, each with its subject.
fn of_case<'r>(recording: &'r Recording, case: &'r str) -> impl Iterator<Item = (&'r str, &'r Measure)> {
    let of = recording.measures().iter().filter(move |measure| recording.series_texts(measure.series).1 == case);
    of.filter_map(|measure| Some((recording.text(measure.subject?), measure)))
}

fn counts<'r>(recording: &'r Recording, case: &'r str) -> BTreeMap<&'r str, Counts<'r>> {
    let mut all: BTreeMap<&str, Counts<'_>> = BTreeMap::new();
    for (subject, measure) in of_case(recording, case) {
        all.entry(subject).or_default().insert(recording.text(measure.metric), measure.value as u64);
    }
    all
}

/// Reads a forwarder's run.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Forwarded<'r>, FactsError> {
    let recording = run.recording;
    let facts: facts::Forwarded = recording.header.facts()?;
    Ok(Forwarded {
        threads: counts(recording, "threads"),
        seconds: sum(recording, CASE, metrics::WINDOW, ""),
        nodes: nodes::read(recording, CASE),
        interfaces: counts(recording, "interfaces"),
        errors: errors::read(recording),
        recording: run.folder,
        exec: facts.exec,
        packets: [metrics::RECEIVED, metrics::SENT].map(|metric| sum(recording, CASE, metric, "")),
    })
}

impl Story for Forwarded<'_> {
    fn tell(&self, told: &mut Blocks) {
        let [received, sent] = self.packets;
        let (dropped, reasons) = errors::ended(&self.errors);
        told.answer(format!(
            "In {:.1} s {received} packets were received and {sent} sent; {dropped} were dropped or handed to control, for {reasons} reasons.",
            self.seconds
        ));
        if let Some(answers) = &self.exec {
            told.verbatim(answers.as_str());
        }
        self.nodes.tell(told);
        let counters = self.interfaces.iter().flat_map(|(interface, counts)| {
            let there = counts.iter().filter(|(_, count)| **count > 0);
            there.map(|(counter, count)| (*interface, *counter, *count))
        });
        let counters: Vec<_> = counters.collect();
        let table = Table::with_rows(&counters)
            .words("interface", |row| name(row.0))
            .words("counter", |row| row.1)
            .numbers("count", "", |row| whole(row.2 as f64));
        told.table(table.done());
        errors::tell(&self.errors, told);
    }
}

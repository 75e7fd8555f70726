//! `explore psci` and `explore rcu`: what broke, and the schedule that breaks it.

use super::run::Run;
use super::story::Story;
use crate::blocks::lanes::Lanes;
use crate::blocks::{Block, Blocks, Text, code, text};
use recording::Recording;
use recording::facts::{self, FactsError};
use serde::Serialize;

/// The exploration: which runs were tried, and what broke.
#[derive(Serialize)]
pub(super) struct Explored<'r> {
    invariant: &'r str,
    what: Option<&'r String>,
    operations: Option<u64>,
    scenario: Vec<String>,
    sentences: Vec<String>,
    missed: Vec<String>,
    schedule: Option<String>,
    schedules_tried: u64,
    operations_tried: u64,
    /// The variants in which something broke, each with its invariant.
    #[serde(skip)]
    broken: Vec<(&'r str, &'r str)>,
    #[serde(skip)]
    complaints: &'r [String],
    #[serde(skip)]
    lanes: Option<Lanes>,
    #[serde(skip)]
    folder: &'r str,
}

/// The case of what was tried.
const TRIED: &str = "tried";

/// The stretches and rows of the timeline: a schedule has few, and the end of it is what breaks.
const MOST_LANES: (usize, usize) = (400, 64);

/// Reads what was tried, and what broke.
pub(super) fn read<'r>(run: &Run<'r>) -> Result<Explored<'r>, FactsError> {
    let recording = run.recording;
    let header = &recording.header;
    // A campaign in which nothing broke has no schedule to tell.
    let facts: Option<facts::Exploration> = match (header.facts(), header.lanes.is_empty()) {
        (Ok(facts), _) => Some(facts),
        (Err(error), false) => return Err(error),
        (Err(_), true) => None,
    };
    let operations = recording.measures().iter().find(|measure| recording.text(measure.metric) == "operations");
    let all = recording.all_series().map(|series| recording.series_texts(series));
    let broken: Vec<(&str, &str)> =
        all.filter(|(_, case, _)| *case != TRIED).map(|(variant, case, _)| (variant, case)).collect();
    // Of a campaign that broke something several times each variant has a schedule of its own, and
    // none is the campaign's.
    let facts = facts.filter(|_| broken.len() <= 1);
    let schedule = facts.as_ref().map(|facts| facts.schedule.clone());
    let facts = facts.unwrap_or_default();
    Ok(Explored {
        invariant: broken.first().map_or("", |(_, invariant)| invariant),
        what: header.complaints.first(),
        operations: operations.map(|measure| measure.value as u64),
        scenario: facts.scenario,
        sentences: facts.sentences,
        missed: facts.missed,
        schedule,
        schedules_tried: tried(recording, "schedules"),
        operations_tried: tried(recording, "operations_tried"),
        broken,
        complaints: &header.complaints,
        lanes: Lanes::from_recording(recording, MOST_LANES.0, MOST_LANES.1).into_iter().next(),
        folder: run.folder,
    })
}

/// The sum of a metric over all that was tried.
fn tried(recording: &Recording, name: &str) -> u64 {
    let of = recording.measures().iter().filter(|measure| recording.text(measure.metric) == name);
    of.map(|measure| measure.value as u64).sum()
}

impl Story for Explored<'_> {
    fn tell(&self, told: &mut Blocks) {
        match self.schedule {
            Some(_) => self.schedule(told),
            None => self.campaign(told),
        }
    }
}

impl Explored<'_> {
    /// The result of a campaign of several seeds, or of one in which nothing broke.
    fn campaign(&self, told: &mut Blocks) {
        let found = match self.broken.len() {
            0 => "Nothing was found.".to_owned(),
            count => format!("{count} of the variants broke."),
        };
        let (schedules, operations) = (self.schedules_tried, self.operations_tried);
        told.answer(format!("{found} {schedules} schedules were tried, with {operations} operations."));
        let sentence = |(variant, invariant): &(&str, &str)| Text::from(format!("{variant} breaks {invariant}."));
        told.list(self.broken.iter().map(sentence).collect());
    }

    /// The failure, its deviations in sentences, and how to run it again.
    fn schedule(&self, told: &mut Blocks) {
        let operations = self.operations.unwrap_or_default();
        for complaint in self.complaints {
            told.answer(format!("{complaint} ({})", self.invariant));
        }
        if let Some(lanes) = &self.lanes {
            told.picture(lanes.clone().into());
        }
        let sentences = |all: &[String]| all.iter().map(|sentence| Text::from(sentence.as_str())).collect();
        told.list(sentences(&self.scenario));
        told.paragraph(match self.sentences.len() {
            0 => format!("The plainest run of this, {operations} operations, shows it."),
            1 => format!("One deviation from the plainest run, in {operations} operations:"),
            many => format!("{many} deviations from the plainest run, in {operations} operations:"),
        });
        let numbered = (1..).zip(&self.sentences).map(|(number, sentence)| Text::from(format!("{number}. {sentence}")));
        told.list(numbered.collect());
        if !self.missed.is_empty() {
            told.paragraph("Loads that missed a newer value, the last first:");
            told.list(sentences(&self.missed));
        }
        let folder = self.folder;
        told.extend([Block::List(vec![
            text!["Again: ", code(format!("stopwatt explore replay {folder}"))],
            text!["Timeline: ", code(format!("stopwatt report {folder} -o timeline.html"))],
        ])]);
    }
}

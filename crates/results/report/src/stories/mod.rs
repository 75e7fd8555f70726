//! The stories of experiments: for each a type, whose fields are its JSON, a function that reads it
//! from a recording, and one that tells it in blocks.
//!
//! A recording of an experiment that has no story is told by tables of its measures.

mod batch;
mod energy;
mod exploration;
mod forward;
mod idle_cases;
mod idle_clock;
mod idle_replay;
mod latency;
mod linux;
mod linux_rates;
mod loaded;
mod measured;
mod nodes;
mod placement;
mod psci_calls;
mod rates;
mod rcu_doses;
mod rows;
mod run;
mod spread;
mod strides;

pub(crate) use run::{Run, findings};

use crate::blocks::{Block, Blocks};
use crate::model::findings::Findings;
use recording::facts::FactsError;
use serde::Serialize;
use serde_json::Value;

/// The facts of a story. What it serializes to is its JSON.
trait Story: Serialize {
    /// Tells it: the answer first, then a picture, then tables; on demand the rest, and how it was
    /// made.
    fn tell(&self, told: &mut Blocks);
}

/// A story, told.
pub(crate) struct Told {
    /// Its facts, for machines.
    pub(crate) json: Value,
    /// Its blocks.
    pub(crate) blocks: Blocks,
    /// True if it is tables of measures and nothing else.
    pub(crate) is_plain: bool,
}

impl Told {
    fn of(story: &impl Story) -> Self {
        let mut blocks = Blocks::default();
        story.tell(&mut blocks);
        Self { json: serde_json::to_value(story).unwrap_or_default(), blocks, is_plain: false }
    }
}

/// A function that tells a recording of an experiment.
type Teller = fn(&Run<'_>, &Findings<'_>) -> Result<Told, FactsError>;

/// The experiments that have stories, besides those of PSCI latencies.
const STORIES: [(&str, Teller); 15] = [
    ("explore-psci", |run, _| exploration::read(run).map(|story| Told::of(&story))),
    ("explore-rcu", |run, _| exploration::read(run).map(|story| Told::of(&story))),
    ("psci-calls", |run, _| Ok(Told::of(&psci_calls::read(run)))),
    ("linux-boot", |run, findings| Ok(Told::of(&linux::read(run, findings)))),
    ("dataplane", |run, _| loaded::read(run).map(|story| Told::of(&story))),
    ("prefetch", |run, _| strides::read(run).map(|story| Told::of(&story))),
    ("batch", |run, _| Ok(Told::of(&batch::read(run)))),
    ("forward", |run, _| match rates::is_of(run.recording) {
        true => rates::read(run).map(|story| Told::of(&story)),
        false => forward::read(run).map(|story| Told::of(&story)),
    }),
    ("idle-replay", |run, _| idle_replay::read(run).map(|story| Told::of(&story))),
    ("idle-clock", |run, _| idle_clock::read(run).map(|story| Told::of(&story))),
    ("idle-cases", |run, _| Ok(Told::of(&idle_cases::read(run)))),
    ("rcu-doses", |run, _| Ok(Told::of(&rcu_doses::read(run)))),
    ("linux-rates", |run, _| Ok(Told::of(&linux_rates::read(run)))),
    ("rcu-energy", |run, _| energy::read(run).map(|story| Told::of(&story))),
    ("placement", |run, _| placement::read(run).map(|story| Told::of(&story))),
];

/// Tells a recording: by the story of its experiment, or by tables of its measures.
pub(crate) fn tell(run: &Run<'_>, findings: &Findings<'_>) -> Told {
    let header = &run.recording.header;
    let story = STORIES.iter().find(|(experiment, _)| *experiment == header.experiment);
    let mut told = match story.map(|(_, tell)| tell(run, findings)) {
        // Whatever made them, latencies of PSCI calls are told in one way.
        _ if !findings.compared.is_empty() => Told::of(&latency::read(findings)),
        Some(Ok(told)) => told,
        Some(Err(error)) => {
            let mut told = measured::tell(findings);
            told.blocks.put_first(Block::Warning(error.to_string().into()));
            told
        }
        None => measured::tell(findings),
    };
    for note in &header.notes {
        told.blocks.put_among_first(Block::Note(note.as_str().into()));
    }
    told
}

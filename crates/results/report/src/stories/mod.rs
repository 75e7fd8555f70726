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
mod story;
mod strides;

pub(crate) use run::Run;
pub(crate) use story::StoryContent;

use crate::blocks::Block;
use crate::model::findings::Findings;
use published::Published;
use recording::Recording;
use recording::facts::FactsError;

/// A function that tells a recording of an experiment.
type Teller = fn(&Run<'_>, &Findings<'_>) -> Result<StoryContent, FactsError>;

/// The experiments that have stories, besides those of PSCI latencies.
const STORIES: [(&str, Teller); 15] = [
    ("explore-psci", |run, _| exploration::read(run).map(|story| StoryContent::new(&story))),
    ("explore-rcu", |run, _| exploration::read(run).map(|story| StoryContent::new(&story))),
    ("psci-calls", |run, _| Ok(StoryContent::new(&psci_calls::read(run)))),
    ("linux-boot", |run, findings| Ok(StoryContent::new(&linux::read(run, findings)))),
    ("dataplane", |run, _| loaded::read(run).map(|story| StoryContent::new(&story))),
    ("prefetch", |run, _| strides::read(run).map(|story| StoryContent::new(&story))),
    ("batch", |run, _| Ok(StoryContent::new(&batch::read(run)))),
    ("forward", |run, _| match rates::is_of(run.recording) {
        true => rates::read(run).map(|story| StoryContent::new(&story)),
        false => forward::read(run).map(|story| StoryContent::new(&story)),
    }),
    ("idle-replay", |run, _| idle_replay::read(run).map(|story| StoryContent::new(&story))),
    ("idle-clock", |run, _| idle_clock::read(run).map(|story| StoryContent::new(&story))),
    ("idle-cases", |run, _| Ok(StoryContent::new(&idle_cases::read(run)))),
    ("rcu-doses", |run, _| Ok(StoryContent::new(&rcu_doses::read(run)))),
    ("linux-rates", |run, _| Ok(StoryContent::new(&linux_rates::read(run)))),
    ("rcu-energy", |run, _| energy::read(run).map(|story| StoryContent::new(&story))),
    ("placement", |run, _| placement::read(run).map(|story| StoryContent::new(&story))),
];

/// Tells a recording: by the story of its experiment, or by tables of its measures.
pub(crate) fn tell(run: &Run<'_>, findings: &Findings<'_>) -> StoryContent {
    let header = &run.recording.header;
    let story = STORIES.iter().find(|(experiment, _)| *experiment == header.experiment);
    let mut told = match story.map(|(_, tell)| tell(run, findings)) {
        // Whatever made them, latencies of PSCI calls are told in one way.
        _ if !findings.compared.is_empty() => StoryContent::new(&latency::read(findings)),
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

/// The findings of a recording, with the published figures of its platform beside them.
pub(crate) fn findings<'a>(recording: &'a Recording, folder: &str, published: &'a Published) -> Findings<'a> {
    let platform = recording.header.platform.as_ref();
    let reference = platform.and_then(|platform| published.psci_of(&platform.name));
    let findings = Findings::new(recording, folder, reference);
    findings.with_published(|row| strides::published(recording, published, row))
}

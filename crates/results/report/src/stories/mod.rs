//! The stories of experiments: for each finding a function that tells it in blocks.
//!
//! A recording of an experiment that has no story is told by tables of its measures.

mod batch;
mod cpuidle;
mod eas_energy;
mod energy;
mod errors;
mod exploration;
mod functions;
mod idle_cases;
mod idle_clock;
mod idle_predict;
mod idle_replay;
mod latency;
mod linux;
mod linux_rates;
mod loaded;
mod measured;
mod nodes;
mod passages;
mod placement;
mod psci_calls;
mod rates;
mod rcu_doses;
mod rcu_lazy;
mod spread;
mod story;
mod strides;
mod tune;
mod working_set;

pub(crate) use findings::Run;
pub use findings::functions::folded_stacks;
pub(crate) use story::StoryContent;

use crate::blocks::Block;
use findings::Findings;
use published::Published;
use recording::Recording;
use recording::facts::FactsError;

/// A function that tells a recording of an experiment.
type Teller = fn(&Run<'_>, &Findings<'_>) -> Result<StoryContent, FactsError>;

/// The experiments that have stories, besides those of PSCI latencies.
const STORIES: [(&str, Teller); 22] = [
    ("explore-psci", |run, _| findings::exploration::read(run).map(|story| StoryContent::new(&story))),
    ("explore-rcu", |run, _| findings::exploration::read(run).map(|story| StoryContent::new(&story))),
    ("psci-calls", |run, _| findings::psci_calls::read(run).map(|story| StoryContent::new(&story))),
    ("count", |run, _| findings::passages::read(run).map(|story| StoryContent::new(&story))),
    ("linux-boot", |run, findings| {
        let told = StoryContent::new(&findings::linux::read(run));
        Ok(StoryContent { json: crate::export::json::with_recording(told.json, findings), ..told })
    }),
    ("dataplane", |run, _| findings::loaded::read(run).map(|story| StoryContent::new(&story))),
    ("prefetch", |run, _| findings::strides::read(run).map(|story| StoryContent::new(&story))),
    ("batch", |run, _| match findings::working_set::is_of(run.recording) {
        true => Ok(StoryContent::new(&findings::working_set::read(run))),
        false => Ok(StoryContent::new(&findings::batch::read(run))),
    }),
    ("tune", |run, _| findings::tune::read(run).map(|story| StoryContent::new(&story))),
    ("find-rate", |run, _| findings::rates::read(run).map(|story| StoryContent::new(&story))),
    // As recordings of earlier versions say.
    ("forward", |run, _| findings::rates::read(run).map(|story| StoryContent::new(&story))),
    ("idle-replay", |run, _| findings::idle_replay::read(run).map(|story| StoryContent::new(&story))),
    ("idle-predict", |run, _| Ok(StoryContent::new(&findings::idle_predict::read(run)))),
    ("idle-clock", |run, _| findings::idle_clock::read(run).map(|story| StoryContent::new(&story))),
    ("cpuidle", |_, findings| findings::cpuidle::read(findings).map(|story| StoryContent::new(&story))),
    ("idle-cases", |run, _| Ok(StoryContent::new(&findings::idle_cases::read(run)))),
    ("rcu-doses", |run, _| Ok(StoryContent::new(&findings::rcu_doses::read(run)))),
    ("linux-rates", |run, _| Ok(StoryContent::new(&findings::linux_rates::read(run)))),
    ("rcu-energy", |run, _| findings::energy::read(run).map(|story| StoryContent::new(&story))),
    ("rcu-lazy", |run, _| findings::rcu_lazy::read(run).map(|story| StoryContent::new(&story))),
    ("eas-energy", |run, _| findings::eas_energy::read(run).map(|story| StoryContent::new(&story))),
    ("placement", |run, _| findings::placement::read(run).map(|story| StoryContent::new(&story))),
];

/// Tells a recording: by the story of its experiment, or by tables of its measures.
pub(crate) fn tell(run: &Run<'_>, findings: &Findings<'_>) -> StoryContent {
    let header = &run.recording.header;
    let story = STORIES.iter().find(|(experiment, _)| *experiment == header.experiment);
    let mut told = match story.map(|(_, tell)| tell(run, findings)) {
        // Whatever made them, latencies of PSCI calls are told in one way.
        _ if !findings.compared().is_empty() => StoryContent::new(&findings::latency::read(findings)),
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
    findings
        .with_published(|row| findings::strides::published(recording, published, &row.case, &row.subject, &row.metric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Report, Style};
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    /// The stored recordings: one per story, of a short run each.
    fn stored() -> Vec<(PathBuf, Recording)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
        let mut folders: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        let read = |folder: PathBuf| match Recording::read(&folder) {
            Ok(recording) => (folder, recording),
            Err(error) => panic!("{}: {error}", folder.display()),
        };
        folders.into_iter().map(read).collect()
    }

    /// The words and figures of a text, without what formats draw and escape with.
    fn words(text: &str) -> BTreeSet<String> {
        let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace('\\', "");
        let parts = plain.split(|c: char| c.is_whitespace() || "<>/`*_|,.;:()=\"'&#".contains(c));
        parts.filter(|part| part.chars().any(char::is_alphanumeric)).map(str::to_owned).collect()
    }

    #[test]
    fn every_story_has_a_stored_recording() {
        let stored: BTreeSet<String> = stored().into_iter().map(|(_, recording)| recording.header.experiment).collect();
        let told = STORIES.iter().map(|(experiment, _)| *experiment).chain(["psci-latency"]);
        let missing: Vec<&str> = told.filter(|experiment| !stored.contains(*experiment)).collect();
        assert!(missing.is_empty(), "add a short run of {missing:?} below tests/recordings");
    }

    #[test]
    fn every_story_is_told_in_every_format() {
        let published = Published::default();
        for (folder, recording) in stored() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let report = Report::new(&recording, &name, &published);
            let findings = findings(&recording, &name, &published);
            let story = tell(&Run { recording: &recording, folder: &name, published: &published }, &findings);
            assert!(
                story.blocks.all().iter().all(|block| !matches!(block, Block::Warning(_))),
                "{name}: facts that are read"
            );
            let answer = story.blocks.all().iter().find_map(|block| match block {
                Block::Answer(text) => Some(words(&text.plain())),
                _ => None,
            });
            assert!(answer.is_some() || story.is_plain, "{name} answers");
            for format in Format::ALL {
                let bytes = report.render(format, Style::PLAIN, true);
                let has_nothing = format == Format::Perfetto && recording.events().is_empty()
                    || format == Format::Folded && folded_stacks(&recording).is_empty();
                assert!(has_nothing || !bytes.is_empty(), "{name} as {}", format.name());
                // Tables alone, and a trace, have no sentences; CSV and JSON of a run have its
                // figures.
                if matches!(format, Format::Csv | Format::Perfetto | Format::Json | Format::Folded)
                    || name == "psci-latency"
                {
                    continue;
                }
                let told = words(&String::from_utf8(bytes).unwrap());
                let lost: Vec<&String> = answer.iter().flatten().filter(|word| !told.contains(*word)).collect();
                assert!(lost.is_empty(), "{name} as {}: {lost:?} of its answer", format.name());
            }
            let json: serde_json::Value =
                serde_json::from_slice(&report.render(Format::Json, Style::PLAIN, true)).unwrap();
            let keys = |value: &serde_json::Value| -> BTreeSet<String> {
                value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
            };
            assert!(keys(&json).is_superset(&keys(&story.json)), "{name}");
        }
    }
}

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
mod idle_clock;
mod idle_replay;
mod latency;
mod linux;
mod loaded;
mod measured;
mod nodes;
mod placement;
mod psci_calls;
mod story;
mod strides;
mod trace_energy;
mod tune;
mod wakes;
mod working_set;

pub use findings::functions::folded_stacks;
pub use story::StoryContent;

use crate::blocks::Block;
use findings::{Finding, Findings};
use serde_json::Value;

/// Tells a recording: by the story of its finding, or by tables of its measures.
pub fn tell(findings: &Findings<'_>) -> StoryContent {
    let mut told = match Finding::read(findings) {
        Ok(Some(finding)) => findings::of_any!(finding, finding => StoryContent::new(&finding)),
        Ok(None) => measured::tell(findings),
        Err(error) => {
            let mut told = measured::tell(findings);
            told.blocks
                .put_behind_answer(Block::Warning(error.to_string().into()));
            told
        }
    };
    for words in findings.doubts().into_iter().rev() {
        told.blocks.put_behind_answer(Block::Warning(words.into()));
    }
    for note in &findings.recording.header.notes {
        told.blocks.note(note.as_str());
    }
    told
}

/// The facts of a story, for machines.
pub fn facts(findings: &Findings<'_>) -> Value {
    match Finding::read(findings) {
        Ok(Some(Finding::LinuxBoot(boot))) => crate::export::json::with_recording(
            serde_json::to_value(&boot).unwrap_or_default(),
            findings,
        ),
        Ok(Some(finding)) => {
            findings::of_any!(finding, finding => serde_json::to_value(&finding).unwrap_or_default())
        }
        Ok(None) | Err(_) => measured::facts(findings),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Report, Style};
    use published::Published;
    use recording::Recording;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    /// The stored recordings: one per story, of a short run each.
    fn stored() -> Vec<(PathBuf, Recording)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
        let mut folders: Vec<PathBuf> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        folders.sort();
        let read = |folder: PathBuf| match Recording::read(&folder) {
            Ok(recording) => (folder, recording),
            Err(error) => panic!("{}: {error}", folder.display()),
        };
        folders.into_iter().map(read).collect()
    }

    /// What was published of the recording's experiment.
    fn published_of(recording: &Recording) -> Published {
        let data = experiment::Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data"));
        Published::read(&data, &recording.header.experiment).unwrap()
    }

    /// The words and figures of a text, without what formats draw and escape with.
    fn words(text: &str) -> BTreeSet<String> {
        let plain = text
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&")
            .replace('\\', "");
        let parts = plain.split(|c: char| c.is_whitespace() || "<>/`*_|,.;:()=\"'&#".contains(c));
        parts
            .filter(|part| part.chars().any(char::is_alphanumeric))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn every_story_has_a_stored_recording() {
        let stored: BTreeSet<String> = stored()
            .into_iter()
            .map(|(_, recording)| recording.header.experiment)
            .collect();
        let told = Finding::EXPERIMENTS.iter();
        let missing: Vec<_> = told
            .filter(|experiment| !stored.contains(**experiment))
            .collect();
        assert!(
            missing.is_empty(),
            "add a short run of {missing:?} below tests/recordings"
        );
    }

    /// At most three short sentences, the first with a figure.
    #[test]
    fn every_story_answers_in_at_most_three_sentences() {
        let mut wrong = Vec::new();
        for (folder, recording) in stored() {
            let published = published_of(&recording);
            let name = folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let findings = Findings::new(&recording, &name, Some(&published));
            for story in [tell(&findings), measured::tell(&findings)] {
                let answers = story.blocks.all().iter().map_while(|block| match block {
                    Block::Answer(words) => Some(words.plain()),
                    _ => None,
                });
                let answer = answers.collect::<Vec<_>>().join(" ");
                let sentences = crate::words::sentences(&answer);
                let has_figure = sentences
                    .first()
                    .is_some_and(|first| first.contains(|c: char| c.is_ascii_digit()));
                let long = sentences
                    .iter()
                    .filter(|sentence| sentence.chars().count() > 160);
                wrong.extend((!has_figure).then(|| format!("{name}: no figure: {answer}")));
                wrong.extend(
                    (sentences.len() > 3)
                        .then(|| format!("{name}: {} sentences: {answer}", sentences.len())),
                );
                wrong.extend(long.map(|sentence| {
                    format!(
                        "{name}: {} characters: {sentence}",
                        sentence.chars().count()
                    )
                }));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_story_is_told_in_every_format() {
        let published = Published::default();
        for (folder, recording) in stored() {
            let name = folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let report = Report::new(&recording, &name, &published);
            let findings = Findings::new(&recording, &name, Some(&published));
            let story = tell(&findings);
            assert!(Finding::read(&findings).is_ok(), "{name}");
            let answer = story.blocks.all().iter().find_map(|block| match block {
                Block::Answer(text) => Some(words(&text.plain())),
                _ => None,
            });
            assert!(answer.is_some(), "{name} answers");
            for format in Format::ALL {
                let bytes = report.render(format, Style::PLAIN, true);
                let has_nothing = format == Format::Perfetto && recording.events().is_empty()
                    || format == Format::Folded && folded_stacks(&recording).is_empty();
                assert!(
                    has_nothing || !bytes.is_empty(),
                    "{name} as {}",
                    format.name()
                );
                // Tables alone, and a trace, have no sentences; CSV and JSON of a run have its
                // figures.
                if matches!(
                    format,
                    Format::Csv | Format::Perfetto | Format::Json | Format::Folded
                ) || name == "psci-latency"
                {
                    continue;
                }
                let told = words(&String::from_utf8(bytes).unwrap());
                let lost: Vec<&String> = answer
                    .iter()
                    .flatten()
                    .filter(|word| !told.contains(*word))
                    .collect();
                assert!(
                    lost.is_empty(),
                    "{name} as {}: {lost:?} of its answer",
                    format.name()
                );
            }
            let json: serde_json::Value =
                serde_json::from_slice(&report.render(Format::Json, Style::PLAIN, true)).unwrap();
            let keys = |value: &serde_json::Value| -> BTreeSet<String> {
                value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(key, _)| key.clone())
                    .collect()
            };
            assert!(keys(&json).is_superset(&keys(&report.run_json())), "{name}");
        }
    }
}

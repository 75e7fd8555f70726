//! A recording whose experiment has no story of its own, such as figures that were imported: tables
//! of its measures.

use super::story::StoryContent;
use crate::blocks::{Blocks, text};
use crate::model::measures::measure_tables;
use findings::Findings;
use serde_json::json;

/// Tells the measures.
pub(super) fn tell(findings: &Findings<'_>) -> StoryContent {
    let header = &findings.recording.header;
    let mut blocks = Blocks::default();
    let (measures, events) = (findings.recording.measures().len(), findings.recording.events().len());
    blocks.answer(text![format!("{}: {measures} measures and {events} events.", header.experiment)]);
    let pictures = crate::model::pictures::pictures(findings);
    if let Some(first) = pictures.into_iter().next() {
        blocks.picture(first.picture);
    }
    measure_tables(findings.measures()).into_iter().for_each(|table| blocks.table(table));
    let own = json!({ "experiment": header.experiment, "recording": findings.folder });
    let json = crate::export::json::with_recording(own, findings);
    StoryContent { json, blocks, is_plain: true }
}

//! The cases that a page has sections for.

use super::parts::slug;
use crate::model::figures::{Group, groups};
use crate::model::findings::Findings;
use attribution::Chosen;
use recording::Series;

/// A case of a release with its series, if that has events.
pub(super) struct Section<'a> {
    pub(super) id: String,
    pub(super) group: Group<'a>,
    pub(super) series: Option<Series>,
    pub(super) chosen: Option<Chosen>,
}

pub(super) fn sections<'a>(findings: &'a Findings<'_>) -> Vec<Section<'a>> {
    let with_events = findings.timelines.series();
    groups(&findings.compared)
        .into_iter()
        .map(|group| {
            let key = (group.release, group.case, group.mode);
            let series = with_events.iter().copied().find(|&series| findings.recording.series_texts(series) == key);
            let chosen = findings
                .recording
                .all_series()
                .find(|&series| findings.recording.series_texts(series) == key)
                .and_then(|series| findings.timelines.chosen(series));
            let id = slug(&format!("{} {} {}", group.release, group.case, group.mode));
            Section { id, group, series, chosen }
        })
        .collect()
}

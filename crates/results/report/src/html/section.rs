//! The cases that a page has sections for.

use super::parts::slug;
use crate::model::figures::{Group, groups};
use crate::model::findings::Findings;
use crate::model::headline::{Headline, headlines, series_of};
use attribution::Chosen;
use recording::Series;

/// A case of a release with its series, if that has events.
pub(super) struct Section<'a> {
    pub(super) id: String,
    pub(super) group: Group<'a>,
    pub(super) series: Option<Series>,
    pub(super) chosen: Option<Chosen>,
    /// The answer for each metric, that of what the case is about first.
    pub(super) headlines: Vec<Headline>,
}

pub(super) fn sections<'a>(findings: &'a Findings<'_>) -> Vec<Section<'a>> {
    let with_events = findings.timelines.series();
    groups(&findings.compared)
        .into_iter()
        .map(|group| {
            let any = series_of(findings, &group);
            let series = any.filter(|series| with_events.contains(series));
            let chosen = any.and_then(|series| findings.timelines.chosen(series));
            let headlines = headlines(findings, &group);
            let id = slug(&format!("{} {} {}", group.release, group.case, group.mode));
            Section { id, group, series, chosen, headlines }
        })
        .collect()
}

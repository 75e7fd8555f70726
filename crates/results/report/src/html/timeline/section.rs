//! The PSCI cases of a recording that may have timelines.

use crate::words::latency::anchor;
use attribution::Chosen;
use findings::Findings;
use findings::cases::{Group, groups};
use recording::Series;

/// A case of a release with its series, if that has events.
pub struct Section<'a> {
    /// The anchor of its heading, by which the page's script knows it.
    pub id: String,
    pub group: Group<'a>,
    pub series: Option<Series>,
    pub chosen: Option<Chosen>,
}

impl Section<'_> {
    /// True if it is the case of that release, case and mode.
    pub fn is_of(&self, release: &str, case: &str, mode: &str) -> bool {
        (self.group.release, self.group.case, self.group.mode) == (release, case, mode)
    }

    /// The longest time of its slowest CPU over all iterations, in microseconds.
    pub fn longest(&self) -> f64 {
        self.chosen
            .as_ref()
            .map_or(0.0, |chosen| chosen.longest.ends[1])
    }
}

/// The cases in the order of the recording.
pub fn sections<'a>(findings: &'a Findings<'_>) -> Vec<Section<'a>> {
    let with_events = findings.timelines.series();
    let section = |group: Group<'a>| {
        let any = findings.series([group.release, group.case, group.mode]);
        let series = any.filter(|series| with_events.contains(series));
        let chosen = any.and_then(|series| findings.timelines.chosen(series));
        let id = anchor(&group);
        Section {
            id,
            group,
            series,
            chosen,
        }
    };
    groups(findings.compared())
        .into_iter()
        .map(section)
        .collect()
}

//! A run's recording with what stands beside it.

use super::stride_cells;
use crate::Findings;
use published::Published;
use recording::Recording;

/// A recording as a run leaves it, with the published figures of its platform.
pub(crate) struct Run<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) folder: &'a str,
    pub(crate) published: &'a Published,
}

impl<'a> Run<'a> {
    /// What is read from it.
    pub(crate) fn findings(&self) -> Findings<'a> {
        findings(self.recording, self.folder, self.published)
    }
}

/// What is read from a recording that lies in `folder`, with the published figures of its platform beside it.
pub(super) fn findings<'a>(recording: &'a Recording, folder: &str, published: &'a Published) -> Findings<'a> {
    let platform = recording.header.platform.as_ref();
    let findings = Findings::new(recording, folder, platform.and_then(|platform| published.psci_of(&platform.name)));
    findings.with_published(|row| stride_cells::published(recording, published, row))
}

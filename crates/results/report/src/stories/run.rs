//! A recording with what stands beside it.

use super::strides;
use crate::model::findings::Findings;
use published::Published;
use recording::Recording;

/// A recording in its folder, with all published figures.
pub(crate) struct Run<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) folder: &'a str,
    pub(crate) published: &'a Published,
}

/// The findings of a recording, with the published figures of its platform beside them.
pub(crate) fn findings<'a>(recording: &'a Recording, folder: &str, published: &'a Published) -> Findings<'a> {
    let platform = recording.header.platform.as_ref();
    let reference = platform.and_then(|platform| published.psci_of(&platform.name));
    let findings = Findings::new(recording, folder, reference);
    findings.with_published(|row| strides::published(recording, published, row))
}

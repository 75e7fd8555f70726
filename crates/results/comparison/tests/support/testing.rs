//! Comparisons of recordings in tests.

use crate::{Comparison, Error, Input, Options, compare};
use findings::Findings;
use recording::Recording;
use std::slice::from_ref;

/// Compares recordings that are called A, B and so on.
pub(crate) fn try_compare(
    recordings: &[&Recording],
    options: &Options,
) -> Result<Comparison, Error> {
    let findings: Vec<Findings<'_>> = recordings
        .iter()
        .map(|recording| Findings::new(recording, "", None))
        .collect();
    let name = |side: usize| char::from(b'A' + side as u8).to_string();
    let inputs: Vec<_> = findings
        .iter()
        .enumerate()
        .map(|(side, findings)| Input {
            name: name(side),
            runs: from_ref(findings),
            ..Input::default()
        })
        .collect();
    compare(&inputs, options)
}

/// Compares recordings that can be compared.
pub(crate) fn compared(recordings: &[&Recording], options: &Options) -> Comparison {
    try_compare(recordings, options).unwrap()
}

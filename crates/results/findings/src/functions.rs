//! Instructions of passages by function: what every story of counts by function tells alike.

use recording::Recording;
use recording::facts::{FactsError, Functions};

/// The counts by function of a recording; `None` if it has none.
///
/// # Errors
/// They are of another version or form.
pub fn read(recording: &Recording) -> Result<Option<Functions>, FactsError> {
    recording.header.facts.is_some().then(|| recording.header.facts()).transpose()
}

/// The stacks of a recording as tools for flame graphs read them, below the build and the call;
/// empty if it was not counted by function.
pub fn folded_stacks(recording: &Recording) -> String {
    let counts = read(recording).ok().flatten().unwrap_or_default();
    let plain = |words: &str| words.replace(';', ",");
    let lines = counts.passages.iter().flat_map(|passage| {
        let stacks = passage.stacks.lines();
        stacks.map(|stack| format!("{};{};{stack}\n", plain(&passage.build), plain(&passage.call)))
    });
    lines.collect()
}

//! Instructions of passages by function, which several experiments count.

use recording::facts::{FactsError, Functions};
use recording::{Recording, total_order};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The counts by function of a recording; `None` if it has none.
///
/// # Errors
/// They are of another version or form.
pub fn read(recording: &Recording) -> Result<Option<Functions>, FactsError> {
    recording
        .header
        .facts
        .is_some()
        .then(|| recording.header.facts())
        .transpose()
}

/// The instructions of functions over all passages of a build.
pub struct Sums<'f> {
    /// The build.
    pub build: &'f str,
    /// The number of passages, at least 1.
    pub passages: usize,
    /// Instructions of each function with one of each passage, the most first.
    pub functions: Vec<(&'f str, f64)>,
}

impl Sums<'_> {
    /// Instructions of all functions.
    pub fn all(&self) -> f64 {
        // In the order of their names, so that the last digit does not hang on the ranking.
        let by_name: BTreeMap<&str, f64> = self.functions.iter().copied().collect();
        by_name.values().sum()
    }

    /// The share of the instructions that the first `most` functions have, from 0 to 1.
    pub fn share_of(&self, most: usize) -> f64 {
        self.functions
            .iter()
            .take(most)
            .map(|(_, count)| count)
            .sum::<f64>()
            / self.all().max(1.0)
    }
}

/// The sums over the passages of the first build; `None` where nothing was counted.
pub fn of_first_build(counts: &Functions) -> Option<Sums<'_>> {
    let build = &counts.passages.first()?.build;
    let of_build = || {
        counts
            .passages
            .iter()
            .filter(|passage| passage.build == *build)
    };
    let mut functions: BTreeMap<&str, f64> = BTreeMap::new();
    for passage in of_build() {
        for function in &passage.functions {
            *functions.entry(&function.name).or_default() += passage.each(function.instructions);
        }
    }
    let mut functions: Vec<(&str, f64)> = functions.into_iter().collect();
    functions.sort_by_key(|of| Reverse(total_order(of.1)));
    Some(Sums {
        build,
        passages: of_build().count(),
        functions,
    })
}

/// The stacks of a recording as tools for flame graphs read them, below the build and the call;
/// empty if it was not counted by function.
pub fn folded_stacks(recording: &Recording) -> String {
    let counts = read(recording).ok().flatten().unwrap_or_default();
    let plain = |words: &str| words.replace(';', ",");
    counts
        .passages
        .iter()
        .flat_map(|passage| {
            passage.stacks.lines().map(|stack| {
                format!(
                    "{};{};{stack}\n",
                    plain(&passage.build),
                    plain(&passage.call)
                )
            })
        })
        .collect()
}

//! Names of recordings and tables in a comparison.

use comparison::{Comparison, Row, spaced};
use itertools::Itertools;

/// Recordings go by letters in the tables.
pub fn letter(side: usize) -> String {
    match u8::try_from(side) {
        Ok(side @ 0..26) => char::from(b'A' + side).to_string(),
        _ => format!("#{side}"),
    }
}

/// A recording in sentences: the end of its name that tells it from the others, as in `juno-v2.12`
/// of one recording's releases. Where two read alike, the whole name and its letter.
pub fn name(comparison: &Comparison, side: usize) -> String {
    let end = |name: &str, parts: usize| -> String {
        let mut starts = name.rmatch_indices(['/', '@']).map(|(at, _)| at + 1);
        name[starts.nth(parts - 1).unwrap_or(0)..].to_owned()
    };
    let names = comparison
        .sides
        .iter()
        .map(|of| of.name.trim_end_matches('/'))
        .collect_vec();
    match (1..4).find(|parts| {
        let own = end(names[side], *parts);
        !own.is_empty() && names.iter().filter(|name| end(name, *parts) == own).count() == 1
    }) {
        Some(parts) => end(names[side], parts),
        None => format!("{} ({})", names[side], letter(side)),
    }
}

/// The release, the case and the mode of a row's table.
pub fn table_name(head: &Row) -> String {
    spaced(&head.key.table())
}

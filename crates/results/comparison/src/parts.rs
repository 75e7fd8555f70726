//! Parts of a whole: the functions of a call. A part that one recording lacks took nothing there.

use crate::table::{Key, Samples, Table};
use std::collections::BTreeSet;

/// The modes whose rows are parts of what their case is of.
pub(crate) const PARTS: [&str; 2] = ["function", "kind"];

/// True if a row is a part of what its case is of.
pub(crate) fn is_part(key: &Key) -> bool {
    PARTS.contains(&key.mode.as_str()) && key.metric == key.mode && !key.subject.is_empty()
}

/// Gives each table the parts that only others have, with 0, of cases of which it has parts.
pub(crate) fn complete(tables: &mut [Table]) {
    let mut all: Vec<(Key, String)> = Vec::new();
    let mut known: BTreeSet<Key> = BTreeSet::new();
    for (key, samples) in tables.iter().flat_map(|table| &table.rows).filter(|(key, _)| is_part(key)) {
        if known.insert(key.clone()) {
            all.push((key.clone(), samples.unit.clone()));
        }
    }
    for table in tables {
        let has: BTreeSet<Key> = table.rows.iter().map(|(key, _)| key.clone()).filter(is_part).collect();
        let of_case = |key: &Key| (key.variant.clone(), key.case.clone(), key.mode.clone());
        let cases: BTreeSet<_> = has.iter().map(of_case).collect();
        for (key, unit) in all.iter().filter(|(key, _)| !has.contains(key) && cases.contains(&of_case(key))) {
            table.rows.push((key.clone(), Samples { unit: unit.clone(), values: vec![0.0], ..Samples::default() }));
        }
    }
}

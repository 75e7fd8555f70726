//! The runs behind a side: recordings of one thing, put together.

use crate::matching::factor;
use crate::policy::{Iterations, Policy};
use crate::request::Input;
use crate::table::{Key, Samples, Table};
use findings::Findings;
use recording::stats;
use std::collections::HashMap;

/// True if the values of a side are iterations of one run that was measured. The next run may
/// differ from it by more than they do from each other.
pub(crate) fn is_one_run(input: &Input<'_>, policy: &Policy) -> bool {
    input.more.is_empty()
        && !input.header().is_repeatable()
        && policy.iterations == Iterations::OfOneRun
}

/// The rows of a side: those of its recording, or of several with one value of each, the median of
/// its iterations. Where iterations are runs, all of them are values.
pub(crate) fn table(
    input: &Input<'_>,
    policy: &Policy,
    read: impl Fn(&Findings<'_>) -> Table,
) -> Table {
    let mut whole = read(input.findings);
    if input.more.is_empty() {
        return whole;
    }
    let as_runs = |rows: &mut Vec<(Key, Samples)>| {
        for (_, samples) in rows
            .iter_mut()
            .filter(|_| policy.iterations == Iterations::OfOneRun)
        {
            samples.values = stats::median(&samples.values).into_iter().collect();
        }
    };
    as_runs(&mut whole.rows);
    let mut places: HashMap<Key, usize> = whole
        .rows
        .iter()
        .enumerate()
        .map(|(place, (key, _))| (key.clone(), place))
        .collect();
    for findings in &input.more {
        let mut table = read(findings);
        as_runs(&mut table.rows);
        // An order that is not that of all runs is no condition of theirs.
        whole
            .orders
            .retain(|name, order| table.orders.get(name) == Some(order));
        for (key, samples) in table.rows {
            match places.get(&key).map(|&place| &mut whole.rows[place].1) {
                Some(known) => {
                    let factor = factor(&samples.unit, &known.unit);
                    known.values.extend(
                        factor
                            .into_iter()
                            .flat_map(|by| samples.values.iter().map(move |v| v * by)),
                    );
                }
                None => {
                    places.insert(key.clone(), whole.rows.len());
                    whole.rows.push((key, samples));
                }
            }
        }
    }
    whole
}

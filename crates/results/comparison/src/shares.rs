//! Counts of idle states as shares: a recording that is twice as long counts twice as much, and
//! nothing changed.

use crate::table::{Key, Samples, TableName, Who};
use recording::metrics::{
    IDLE_ABOVE, IDLE_BELOW, IDLE_ENTERED, IDLE_REJECTED, IDLE_S2IDLE, IDLE_TIME, WAKE_UP_RATE,
    WAKE_UPS,
};
use std::collections::HashMap;

/// Each count with the count that it is a part of, both over all states of a CPU.
const SHARES: [(&str, &str); 6] = [
    (IDLE_ENTERED.name, IDLE_ENTERED.name),
    (IDLE_ABOVE.name, IDLE_ENTERED.name),
    (IDLE_BELOW.name, IDLE_ENTERED.name),
    (IDLE_REJECTED.name, IDLE_ENTERED.name),
    (IDLE_S2IDLE.name, IDLE_ENTERED.name),
    (IDLE_TIME.name, IDLE_TIME.name),
];

/// Release, case, mode and CPU, with a metric and an iteration.
type Whole = (TableName, Who, &'static str, usize);

/// Divides the counts of a recording of idle states, in percent.
pub fn divide(rows: &mut Vec<(Key, Samples)>) {
    let whole = |key: &Key, of: &'static str, at: usize| -> Whole {
        (key.table(), key.who.clone(), of, at)
    };
    let mut wholes = HashMap::new();
    for (key, samples) in rows.iter() {
        for of in [IDLE_ENTERED.name, IDLE_TIME.name] {
            for (at, value) in samples
                .values
                .iter()
                .enumerate()
                .filter(|_| key.metric == of)
            {
                *wholes.entry(whole(key, of, at)).or_default() += value;
            }
        }
    }
    // There is a rate of them.
    rows.retain(|(key, _)| key.metric != WAKE_UPS.name);
    for (key, samples) in rows {
        let Some((_, of)) = SHARES.iter().find(|(metric, _)| key.metric == *metric) else {
            continue;
        };
        samples.unit = "%".to_owned();
        for (at, value) in samples.values.iter_mut().enumerate() {
            let of = wholes.get(&whole(key, of, at)).copied().unwrap_or(0.0);
            *value = if of > 0.0 { *value / of * 100.0 } else { 0.0 };
        }
    }
}

/// Gives each row a value of each run. A cause of wake-ups that a run did not meet has a rate of 0
/// there; its times are of those runs alone that met it, and are left out.
pub fn fill(rows: &mut Vec<(Key, Samples)>, runs: usize) {
    for (_, samples) in rows
        .iter_mut()
        .filter(|(key, _)| key.metric == WAKE_UP_RATE.name)
    {
        samples.values.resize(runs, 0.0);
    }
    rows.retain(|(_, samples)| samples.values.len() == runs);
}

//! The machine's memory beside Arm's axioms, on cycles of edges.

use crate::litmus::{Caches, Litmus, enumerate};
use std::path::Path;

/// Schedules of a program; one that has more is drawn no conclusion from.
const EVERY: u64 = 3_000_000;

#[test]
fn the_memory_allows_what_the_axioms_allow() {
    let (mut compared, mut allowed, mut too_large) = (0, 0, 0);
    let mut differ = Vec::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus/tests/cycles.txt");
    for cycle in std::fs::read_to_string(file)
        .unwrap()
        .split_inclusive("\n\n")
    {
        let test = ::litmus::parse(cycle).unwrap();
        // A test with `DSB ST` or with a read-modify-write is none for the machine.
        let Ok(program) = Litmus::of(cycle) else {
            continue;
        };
        let is_allowed = ::litmus::answer(&test).unwrap().positive > 0;
        let counts = enumerate(&program, Caches::On, EVERY);
        if !counts.complete && counts.outcomes == 0 {
            too_large += 1;
            continue;
        }
        compared += 1;
        allowed += u32::from(is_allowed);
        if (counts.outcomes > 0) != is_allowed {
            differ.push(format!(
                "{} by the axioms:\n{cycle}",
                if is_allowed { "allowed" } else { "forbidden" },
            ));
        }
    }
    assert!(
        allowed > 100 && compared - allowed > 100,
        "{allowed} of {compared} are allowed"
    );
    assert!(
        too_large < 40,
        "{too_large} were too large beside {compared}"
    );
    assert!(
        differ.is_empty(),
        "{} of {compared}:\n{}",
        differ.len(),
        differ.join("\n")
    );
}

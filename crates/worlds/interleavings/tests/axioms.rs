//! The machine's memory beside Arm's axioms, on generated programs.

use interleavings::litmus::{Caches, Verdict, enumerate, parse};
use litmus::cycle::Cycle;

/// Schedules of a program; one that has more is drawn no conclusion from.
const EVERY: u64 = 3_000_000;

#[test]
fn the_memory_allows_what_the_axioms_allow() {
    let (mut compared, mut allowed, mut too_large) = (0, 0, 0);
    let mut differ = Vec::new();
    for cycle in (0..).filter_map(|number| Cycle::drawn(number, false)) {
        if compared == 400 {
            break;
        }
        let Some((program, outcome)) = cycle.line() else { continue };
        let test = litmus::parse(&cycle.stock()).unwrap();
        let verdict = litmus::answer(&test).unwrap().verdict(test.quantifier).to_lowercase();
        let programs = parse(&format!("{} {verdict} {program} exists {outcome}", cycle.name)).unwrap();
        let counts = enumerate(&programs[0], Caches::On, EVERY);
        if !counts.complete && counts.outcomes == 0 {
            too_large += 1;
            continue;
        }
        compared += 1;
        allowed += u32::from(verdict == "allowed");
        if (counts.outcomes > 0) != (programs[0].verdict == Verdict::Allowed) {
            differ.push(format!("{verdict} by the axioms: {program} exists {outcome}"));
        }
    }
    assert!(allowed > 100 && compared - allowed > 100, "{allowed} of {compared} are allowed");
    assert!(too_large < 40, "{too_large} were too large beside {compared}");
    assert!(differ.is_empty(), "{} of {compared}:\n{}", differ.len(), differ.join("\n"));
}

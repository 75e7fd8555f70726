//! The machine's memory beside Arm's axioms, on generated programs.

use explore::litmus::{Caches, Litmus, enumerate};
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
        let test = litmus::parse(&cycle.stock()).unwrap();
        // A test with `DSB ST` is none for the machine.
        let Ok(program) = Litmus::of(&test) else { continue };
        let is_allowed = litmus::answer(&test).unwrap().positive > 0;
        let counts = enumerate(&program, Caches::On, EVERY);
        if !counts.complete && counts.outcomes == 0 {
            too_large += 1;
            continue;
        }
        compared += 1;
        allowed += u32::from(is_allowed);
        if (counts.outcomes > 0) != is_allowed {
            differ.push(format!(
                "{} by the axioms:\n{}",
                if is_allowed { "allowed" } else { "forbidden" },
                cycle.stock()
            ));
        }
    }
    assert!(allowed > 100 && compared - allowed > 100, "{allowed} of {compared} are allowed");
    assert!(too_large < 40, "{too_large} were too large beside {compared}");
    assert!(differ.is_empty(), "{} of {compared}:\n{}", differ.len(), differ.join("\n"));
}

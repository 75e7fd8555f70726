//! Limits of latency, and states that are switched off.

use crate::replay::{known, platform, sleep};
use idle::Kind;
use idle_experiments::platform::LatencyLimit;
use idle_experiments::replay::{Chooser, Ideal, Unsaid, replay};
use idle_experiments::trace::TracedIntervals;
use proptest::prelude::*;
use sleeps::Waker;

proptest! {
    /// Under a limit no governor enters a state that takes longer to leave than the limit says, nor
    /// one that is switched off. CPUs without the limit choose as before. WFI stays: kernels enter
    /// it if no other state is allowed, even if it is switched off.
    #[test]
    fn no_governor_passes_a_limit(
        limit_us in 0_u64..3000,
        off in 1_usize..6,
        lengths in proptest::collection::vec((1_u64..20_000_000, 1_u64..40_000_000), 1..60),
    ) {
        let free = platform("qemu-virt");
        let mut limited = free.clone();
        limited.latency_limit = Some(LatencyLimit { cpus: vec![0], ns: limit_us * 1000 });
        let off = limited.state_names().nth(off).map(str::to_owned);
        platforms::disable(&mut limited, &Vec::from_iter(off)).unwrap();
        let sleeps = (0..).zip(&lengths).flat_map(|(at, (interval, timer))| {
            let enter = at * 50_000_000;
            (0..2).map(move |cpu| sleep(cpu, enter, enter + interval, known(*timer), Waker::Ipi))
        });
        let traced = TracedIntervals::from_sleeps(sleeps);
        for kind in Kind::ALL {
            let chosen = |platform| replay(platform, &traced, Chooser::Governor(kind), Unsaid::TIMER, 4_000_000, &mut Ideal).chosen;
            let (with, without) = (chosen(&limited), chosen(&free));
            let table = &limited.domains[0].table;
            for state in with[0].iter().map(|state| usize::from(*state)) {
                let fits = table.get(state).exit_latency_ns <= limit_us * 1000 || state == table.first_enabled();
                prop_assert!(fits && !table.is_disabled(state), "{kind} entered state {state} within {limit_us} us");
            }
            if (0..table.len()).all(|state| !table.is_disabled(state)) {
                prop_assert_eq!(&with[1], &without[1], "{} on a CPU without the limit", kind);
            }
        }
    }
}

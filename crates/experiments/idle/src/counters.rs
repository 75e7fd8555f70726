//! The kernel's own counts of idle states, as `linux-boot` marks them in a trace, beside what the
//! trace says of the same time.
//!
//! They tell two things. The counts of `above` and `below` check our accounting against the
//! kernel's. And a stay by the trace is longer than the kernel's own, since the kernel reads its
//! clock between the two stamps: how much is measured here, and not guessed.

use crate::platform::Platform;
use idle::{Accounting, Usage};
use recording::facts::IdleUsage;
use sleeps::Sleep;
use std::collections::BTreeMap;

/// The kernel's counts between the first mark of a trace and the last, by CPU and state.
#[derive(Debug, Default)]
pub struct Counters(BTreeMap<(u16, usize), Growth>);

/// The growth of one state's counts on one CPU.
#[derive(Clone, Copy, Debug)]
struct Growth {
    from_ns: u64,
    to_ns: u64,
    /// True if the time is a multiple of microseconds.
    usage: Usage,
}

/// The same time by two accounts: sums over all CPUs and states.
#[derive(Default)]
pub struct Accounts {
    /// Usage by the kernel's counts.
    pub kernel: Usage,
    /// Usage by the trace and our accounting.
    pub trace: Usage,
}

/// Fewer stays say too little about the mean.
const FEWEST: u64 = 20;

impl Counters {
    /// The growth of the kernel's counts from the first mark of each CPU and state to the last.
    pub fn new(usage: &[IdleUsage]) -> Self {
        let mut first: BTreeMap<(u16, usize), IdleUsage> = BTreeMap::new();
        let mut growths = BTreeMap::new();
        for now in usage {
            let key = (now.cpu, usize::from(now.state));
            let was = *first.entry(key).or_insert(*now);
            let usage = Usage {
                entered: now.entered.saturating_sub(was.entered),
                time_ns: now
                    .microseconds
                    .saturating_sub(was.microseconds)
                    .saturating_mul(1000),
                above: now.above.saturating_sub(was.above),
                below: now.below.saturating_sub(was.below),
                rejected: now.rejected.saturating_sub(was.rejected),
            };
            if now.at_ns > was.at_ns {
                growths.insert(
                    key,
                    Growth {
                        from_ns: was.at_ns,
                        to_ns: now.at_ns,
                        usage,
                    },
                );
            }
        }
        Self(growths)
    }

    /// True if the trace holds none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The time by which a stay is longer by the trace than by the kernel's clock, in nanoseconds:
    /// the median over CPUs and states of the mean difference. Those count of which both saw
    /// equally many stays, and not few; `refused` are the numbers of each CPU's stays that the
    /// hardware refused. `None` where there are none.
    pub fn tracing_ns(&self, cpus: &[Vec<Sleep>], refused: &[Vec<usize>]) -> Option<u64> {
        let mut means: Vec<u64> = self
            .0
            .iter()
            .filter(|(_, growth)| growth.usage.entered >= FEWEST)
            .filter_map(|(&(cpu, state), growth)| {
                let of_cpu = refused.get(usize::from(cpu))?;
                let (count, ns) = growth
                    .stays(cpus, cpu, state)
                    .filter(|(number, _)| of_cpu.binary_search(number).is_err())
                    .fold((0, 0), |(count, ns), (_, stay)| {
                        (count + 1, ns + stay.interval_ns())
                    });
                (count == growth.usage.entered)
                    .then(|| ns.saturating_sub(growth.usage.time_ns) / count)
            })
            .collect();
        means.sort_unstable();
        means.get(means.len() / 2).copied()
    }

    /// Both accounts. Of the trace's stays `tracing_ns` is taken off.
    pub fn compare(
        &self,
        platform: &Platform,
        cpus: &[Vec<Sleep>],
        refused: &[Vec<usize>],
        tracing_ns: u64,
    ) -> Accounts {
        let mut compared = Accounts::default();
        for (&(cpu, state), growth) in &self.0 {
            let table = &platform.domains[platform.place(cpu).0].table;
            let mut accounting = Accounting::default();
            for (number, stay) in growth.stays(cpus, cpu, state) {
                match refused[usize::from(cpu)].binary_search(&number) {
                    Ok(_) => accounting.refused(table, state),
                    Err(_) => {
                        accounting.leave(
                            table,
                            state,
                            stay.interval_ns().saturating_sub(tracing_ns),
                        );
                    }
                }
            }
            compared.kernel += growth.usage;
            compared.trace += *accounting.usage(state);
        }
        compared
    }
}

impl Growth {
    /// The stays that ended between the marks, each with its number among the CPU's.
    fn stays(
        self,
        cpus: &[Vec<Sleep>],
        cpu: u16,
        state: usize,
    ) -> impl Iterator<Item = (usize, &Sleep)> {
        let Self { from_ns, to_ns, .. } = self;
        cpus.get(usize::from(cpu))
            .map_or(&[][..], |sleeps| sleeps)
            .iter()
            .enumerate()
            .filter(move |(_, stay)| {
                usize::from(stay.state) == state && stay.exit_ns > from_ns && stay.exit_ns <= to_ns
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sleeps::{SleepLength, Waker};

    #[test]
    fn what_tracing_adds_is_the_difference_of_two_accounts() {
        // Thirty stays of a microsecond and 700 ns more by the trace, in state 1 of CPU 0; the
        // kernel counts whole microseconds.
        let stay = |at: u64| Sleep {
            cpu: 0,
            enter_ns: at * 10_000,
            exit_ns: at * 10_000 + 1_700,
            state: 1,
            length: SleepLength::Bounded {
                at_least_ns: 0,
                at_most_ns: u64::MAX,
                tick_ns: None,
            },
            waker: Waker::Timer,
            tick_stopped: None,
            sleeps_without_tick: None,
            utilised: None,
            got_tick: Some(false),
            timer_armed_ns: None,
        };
        let cpus = [(0..40).map(stay).collect::<Vec<_>>()];
        let counted =
            |at_ns, state, [entered, microseconds, above, below, rejected]: [u64; 5]| IdleUsage {
                at_ns,
                cpu: 0,
                state,
                entered,
                microseconds,
                above,
                below,
                rejected,
            };
        let with = |last: [u64; 5]| {
            Counters::new(&[
                counted(45_000, 1, [5, 100, 2, 3, 0]),
                counted(345_000, 1, last),
                counted(45_000, 2, [1, 1, 0, 0, 0]),
                counted(345_000, 2, [1, 1, 0, 0, 0]),
            ])
        };
        let counters = with([35, 130, 2, 4, 0]);
        assert_eq!(counters.0.len(), 2);
        assert_eq!(counters.tracing_ns(&cpus, &[vec![]]), Some(700));
        // One stay more by the kernel: then the two accounts are of different stays, and say
        // nothing.
        let other = with([36, 130, 2, 4, 0]);
        assert_eq!(other.tracing_ns(&cpus, &[vec![]]), None);
        assert!(Counters::new(&[]).is_empty());
        // One of them was refused: it is in the trace's account as that alone.
        let refused = with([34, 129, 2, 4, 1]);
        assert_eq!(refused.tracing_ns(&cpus, &[vec![12]]), Some(700));
        assert_eq!(refused.tracing_ns(&cpus, &[vec![]]), None);
    }
}

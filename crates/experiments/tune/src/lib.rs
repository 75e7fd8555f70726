//! `tune`: which prefetch distances and which batch are best for a loop over packets or records.
//!
//! ```text
//!   loop.so ──► worker (a process of its own) ◄── rounds ── search ──► recording
//!             checker (a second one) ◄── is it the same work? ──┘
//! ```
//!
//! | file | what it is about |
//! |---|---|
//! | `tune.rs` | the experiment: its settings are read |
//! | `trial.rs` | what is tried |
//! | `results.rs` | what came of it, as a recording |
//! | `space.rs` | values of knobs: where a search starts, and what lies beside a value |
//! | `search.rs` | the search, and the last comparison |
//! | `loop_bench.rs` | a loop that is measured: working sets, rounds, the same work |
//! | `process.rs`, `protocol.rs`, `worker.rs`, `calls.rs` | the process that runs the loop |
//! | `missed.rs` | lines at which loads miss, by samples of perf |
//! | `reference.rs`, `outcome.rs` | whether calls with other values leave the same behind |
//! | `shared_object.rs` | a loop of a shared object |
//! | `system.rs` | what the system says of itself |

mod calls;
mod loop_bench;
mod missed;
mod outcome;
mod process;
mod protocol;
mod reference;
mod results;
mod search;
mod shared_object;
mod space;
mod system;
mod trial;
mod tune;
mod worker;

pub use tune::Tune;
pub use worker::{ARGUMENT as WORKER, work};

#[cfg(test)]
mod tests {
    use crate::protocol::{KnobAbout, KnobKind};
    use itertools::Itertools;

    impl KnobAbout {
        /// A distance of no limit, of which a source says nothing.
        pub fn distance(name: &str) -> Self {
            Self {
                name: name.to_owned(),
                define: None,
                kind: KnobKind::Distance,
                least: 0,
                most: 0,
                today: 0,
                after: None,
            }
        }
    }

    /// Some distances, of which each line's address is in the one before, and a choice of 1 to 4.
    pub fn knobs(distances: usize, choice: bool) -> Vec<KnobAbout> {
        let distance = |n: usize| KnobAbout {
            after: n.checked_sub(1),
            ..KnobAbout::distance(&format!("d{n}"))
        };
        let mut knobs = (0..distances).map(distance).collect_vec();
        let unroll = KnobAbout {
            kind: KnobKind::Choice,
            least: 1,
            most: 4,
            today: 1,
            ..KnobAbout::distance("unroll")
        };
        knobs.extend(choice.then_some(unroll));
        knobs
    }
}

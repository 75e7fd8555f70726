//! Idle states of a CPU, the accounting that Linux keeps of them, and the governors that choose
//! among them.
//!
//! A CPU that has nothing to do enters an idle state. A deep state saves more energy, but costs
//! energy and time to enter and to leave, so that it pays only from a certain length of stay on:
//! its target residency. A *governor* guesses how long the CPU will be idle and chooses. The
//! *accounting* says afterwards whether the choice was right: `above` counts stays that were too
//! short for the state, `below` those for which the next deeper state would have paid.
//!
//! ```
//! use idle::{Accounting, KnownSituation, Governor, Kind, Outcome, SleepLength, State, States};
//!
//! let states = States::new(&[State::new(1_000, 1_000), State::new(1_500_000, 2_000_000)])?;
//! let mut governor = Governor::new(Kind::menu(6, 1), &states, idle::TICK_NS);
//! let mut accounting = Accounting::default();
//!
//! // The next timer is ten milliseconds away, and it fires: soon the governor relies on that.
//! for _ in 0..20 {
//!     let choice = governor.select(&states, &mut KnownSituation::new(SleepLength { timer_ns: 10_000_000, event_ns: 4_000_000 }));
//!     let residency_ns = accounting.leave(&states, choice.state, 10_000_000);
//!     governor.reflect(&states, &Outcome::stay(choice.state, residency_ns));
//! }
//! assert!(accounting.usage(1).entered > 10 && accounting.usage(1).above == 0);
//! # Ok::<(), idle::StatesError>(())
//! ```
//!
//! The crate needs no operating system and no allocator, and computes with integers alone. Times
//! are nanoseconds. What a governor asks for comes through the trait [`Situation`]: a replay of a
//! trace implements it from recorded timers, a simulated kernel from its own.
//!
//! The algorithms are described in the words and the code of this crate, after the published
//! behaviour of Linux's `drivers/cpuidle`.
//!
//! | file | what it is about |
//! |---|---|
//! | `states.rs` | the states of a CPU |
//! | `accounting.rs` | residency, `above`, `below`, `rejected`, and the clocks that they were counted with over the years |
//! | `situation.rs` | what a governor asks for, what it answers and what it is told afterwards |
//! | `number.rs` | numbers that are known, or lie between two |
//! | `governor.rs` | all governors behind one type |
//! | `rules.rs` | what changed in menu and teo from kernel to kernel, with its commit |
//! | `domain.rs` | the governor of power domains, where the operating system coordinates |
//! | `menu.rs`, `menu_310.rs`, `teo.rs`, `ladder.rs` | Linux's governors |
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod accounting;
mod domain;
mod governor;
mod ladder;
mod menu;
mod menu_310;
mod number;
mod rules;
mod situation;
mod states;
mod teo;

pub use accounting::{Accounting, Clock, Usage};
pub use domain::{DomainGovernor, DomainKind, DomainSituation, DomainState};
pub use governor::{Governor, Kind};
pub use number::Number;
pub use rules::{Change, Family, Release, Releases, Rule, changes};
pub use situation::{Choice, KnownSituation, Outcome, Situation, SleepLength};
pub use states::{MAX_STATES, State, States, StatesError};

/// The period of a scheduler tick at 250 Hz, as most distributions for Arm have it, in nanoseconds.
pub const TICK_NS: u64 = 4_000_000;

/// No time at which anything would happen: the latest that Linux's `ktime_t` can hold.
pub const NEVER_NS: u64 = i64::MAX as u64;

/// Linux's limit on exit latency where nobody set one: 2000 s.
pub const NO_LIMIT_NS: u64 = 2_000_000_000_000;

/// States with a smaller target residency count as shallow: some governors then do without asking
/// for the next timer.
const SHALLOW_NS: u64 = 15_000;

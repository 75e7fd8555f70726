//! Memory as the architecture allows it: store buffers, early loads, caches that CPUs join and
//! leave, and what their maintenance reaches.
//!
//! # Two orders of values
//!
//! A word has two histories: what CPUs in coherency see (their caches, taken as one) and what lies
//! in memory, which a CPU with its cache off sees. Each is the sequence of the values that it had,
//! with the time at which each came (Arm's memory model is other-multi-copy atomic, so one sequence
//! serves all). A store with the cache on makes a line dirty in the CPU's own cache; cleaning it
//! copies the newest value to memory. A load with the cache on finds the cached value, or reads
//! memory if no cache has the line.
//!
//! # Who may see which
//!
//! A load may return a value that is no longer the newest: it was then satisfied early. Each CPU
//! has a *floor*: a load may return a value only if nothing had replaced it by then. Acquiring
//! loads, barriers and events raise the floor; without them only the same word's own order does
//! (Pulte and others, "Promising-ARM/RISC-V: a simpler and faster operational concurrency model",
//! 2019, has such views). A store, or the maintenance of a line, may stay in the CPU's buffer while
//! later operations go on; it leaves it after the older entries that it must follow.
//!
//! | operation | waits for, or orders |
//! |---|---|
//! | `STLR` | leaves the buffer after all that is older |
//! | `LDAR` | waits until the CPU's releasing stores have left the buffer, and sees nothing older than they are; later loads see nothing older than it did |
//! | `DMB ST` | what is younger in the buffer leaves it after what is older |
//! | `DMB LD` | later loads see nothing older than earlier loads did |
//! | `DMB SY` | both, and the buffer is empty of stores |
//! | `DSB SY` | as `DMB SY`, and maintenance is complete |
//! | a read-modify-write | reads the newest value, and nobody stores in between; what it stores may leave the buffer later, but before anybody else's store to the word |
//! | `A`: `LDADDA`, `LDAXR` | as `LDAR`, of its load alone |
//! | `L`: `LDADDL`, `STLXR` | as `STLR`, of its store alone |
//! | `AL` of one instruction: `LDADDAL` | both, and later loads see nothing older than its store; `LDAXR` and `STLXR` do not |
//! | Linux's atomics that return a value | `AL` of one instruction; or `LDXR` and `STLXR`, and `DMB SY` behind |
//!
//! Maintenance by address and an access of the same line keep their order while the cache is on
//! (Arm DDI 0487, B2.3: data cache instructions by VA execute in program order relative to loads
//! and stores of a line that is cacheable), and do not while it is off. To be complete is another
//! matter: until a `DSB` a load may still return what the line held, since another cache may hand
//! it over.
//!
//! A CPU whose cache is off has left coherency in this machine: its maintenance by address reaches
//! no cache of the others, which is the least that the architecture promises (DDI 0487, D7.5:
//! whether an instruction affects the caches of others depends on the shareability that its access
//! has). `psci`'s fake machine takes it the same way.
//!
//! # Late loads
//!
//! The code under test gets the value of a load at once, so a load comes late by foresight: it
//! returns a value that another CPU stores only afterwards. Until that store has come the load is a
//! debt of its CPU. Whatever must follow the load waits for it: a releasing store, a barrier that
//! orders loads, another access of the word, the end of what the CPU does. Relaxed stores and loads
//! of other words go on. A run in which the store never comes does not count, and neither does one
//! in which the CPU, had it got the value that was there, would have done something else in the
//! meantime: what it did then depends on the load ([`crate::subject::Runs::run`] tries that). A CPU
//! has one late load at a time.

mod access;
mod buffer;
mod cache;
mod history;
mod late;
mod order;
mod plain;
mod races;
mod state;
mod trace;
mod types;
mod view;

pub use history::{Moment, NOBODY};
pub use state::Memory;
pub use types::{
    AddressStore, Answers, AtomicOrder, Delay, LoadResult, LostData, Newest, Order, Signal, Touch,
};

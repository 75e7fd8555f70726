//! The integration tests of this crate: one program, which is linked once.

mod every_outcome;
mod late;
mod pointers;
mod replays;
mod spins;
mod sync;
mod types;

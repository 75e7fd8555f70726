//! `std::hint` by another path.

use crate::current::here;

/// Says that the thread waits for others: they go first, if they can.
#[track_caller]
pub fn spin_loop() {
    here().yields();
}

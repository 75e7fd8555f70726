//! `std::hint` by another path.

use crate::current::machine;

/// Says that the thread waits for others: they go first, if they can.
pub fn spin_loop() {
    machine().yields();
}

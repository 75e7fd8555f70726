//! Tests of one's own: any code that is generic over the library's shared words, explored as the
//! library is.
//!
//! ```
//! use explore::{Config, Word, check};
//! use psci::CpuIndex;
//! use psci::lock::{BakeryWord, Lock};
//! use std::cell::Cell;
//! use std::rc::Rc;
//!
//! let tally = check(&Config { schedules: 3_000, ..Config::default() }, |model| {
//!     let words: Rc<Vec<BakeryWord<explore::Board>>> = Rc::new((0..2).map(|_| BakeryWord::new()).collect());
//!     let inside = Rc::new(Cell::new(0));
//!     for cpu in 0..2 {
//!         let (words, inside) = (words.clone(), inside.clone());
//!         model.cpu(move |machine| {
//!             let lock = Lock::bakery(0, &words, CpuIndex(0));
//!             lock.acquire(machine, CpuIndex(cpu));
//!             inside.set(inside.get() + 1);
//!             machine.pause();
//!             machine.check(inside.get() == 1, || "two CPUs are inside".to_owned());
//!             inside.set(inside.get() - 1);
//!             lock.release(machine, CpuIndex(cpu));
//!         });
//!     }
//!     model.at_the_end(move |_| inside.get() == 0, "somebody is still inside");
//! });
//! assert_eq!(tally.schedules, 3_000);
//! ```
//!
//! As everywhere on the engine, no value whose `Drop` matters may live across an operation of a
//! shared word: a run that fails is thrown away where it stands.

use super::board::Board;
use super::options::MachineOptions;
use interleavings::subject::{Bodies, Config, Model as ModelOn, Tally, check_on};

/// A test on a board: what each CPU does, and what must hold at the end.
pub type Model = ModelOn<Board>;

/// Runs a test under [`Config::schedules`] schedules. `set_up` makes its words and says what each
/// CPU does; it is called before each run, so that what is not a shared word starts anew as well.
///
/// With the variable STOPWATT_REPLAY set to a file that an earlier failure left, that schedule
/// alone is run.
///
/// # Panics
/// A run fails. The message has the schedule in sentences, and the file that repeats it:
/// `target/explore/NAME.schedule`, after the thread's name, which is that of the test.
pub fn check(config: &Config, set_up: impl Fn(&mut Model)) -> Tally<(), Bodies> {
    check_on(
        config,
        |cpus, values| Board::new(cpus, values, MachineOptions::default()),
        set_up,
    )
}

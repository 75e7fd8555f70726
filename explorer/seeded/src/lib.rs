//! A library compiled a second time, with faults that can be switched on, and with counters of its
//! branches: what a search for faults is tried against.
//!
//! The build script of such a crate calls `build::compile`, which copies the library's sources. Of
//! a function that a fault changes the copy has the body twice: as it is, and as the fault has it;
//! which of them runs is looked up when it is called. So a fault is a change of the library's own
//! source, and what other faults change does not matter to it. With every switch off the copy does
//! what the library does. It is a crate of its own, and not a feature of the library, since Cargo
//! unifies features: the image and the library that is measured would hold the faults as well.
//!
//! A file of `faults`, NAME.toml, says what is wrong and which text of which source file reads
//! otherwise:
//!
//! ```toml
//! commit = "Linux b2fcf2102049"       # where it was once published, or `ours`
//! what = "A sentence."
//! [[change]]
//! file = "lock.rs"
//! before = "self.take();"             # must occur once, inside a function
//! after = ""
//! [[change]]                          # a helper or a field that the change above needs
//! file = "lock.rs"
//! before = "    fn take(&self) {"
//! after = "    fn other(&self) {}\n    fn take(&self) {"
//! always = true
//! ```
//!
//! With `SEEDED_MUTANTS` set, a list of mutants comes after the faults
//! (`bench/explore_mutants.py`).
#![forbid(unsafe_code)]

#[cfg(feature = "build")]
pub mod build;

use std::cell::Cell;

/// A fault that a library can have.
#[derive(Debug)]
pub struct Fault {
    /// Name on the command line.
    pub name: &'static str,
    /// Publication of the fault, as a project and a commit; `ours` for one that was not published.
    pub commit: &'static str,
    /// The error, as a sentence.
    pub what: &'static str,
    /// The number that no other fault has, of whichever library; not 0.
    pub id: u64,
}

/// A branch of a library.
#[derive(Debug, PartialEq)]
pub struct Place {
    /// The source file.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The function, with the type that it belongs to.
    pub function: &'static str,
    /// `called` for the function itself; `block`, `arm`, or `if not` for an `if` whose condition
    /// does not hold and that has no `else`.
    pub kind: &'static str,
}

/// The branches that are counted at most, of a library.
pub const MOST_PLACES: usize = 4096;

// The copy of a library has no place of its own for these: its sources are the library's.
thread_local! {
    /// The id of the fault that is on. Not its address: a constant may have a copy of its own in
    /// each crate.
    static ON: Cell<u64> = const { Cell::new(0) };
    /// The branches that were taken since the last [`take_reached`].
    static REACHED: [Cell<bool>; MOST_PLACES] = const { [const { Cell::new(false) }; MOST_PLACES] };
}

/// Switches a fault on for this thread, and whichever was on off; with `None` the libraries are as
/// they should be.
pub fn set(fault: Option<&'static Fault>) {
    ON.set(fault.map_or(0, |fault| fault.id));
}

/// The fault of this name.
pub fn find(faults: &'static [Fault], name: &str) -> Option<&'static Fault> {
    faults.iter().find(|fault| fault.name == name)
}

/// The id of the fault that is switched on for this thread, or 0.
#[inline(always)]
pub fn on() -> u64 {
    ON.get()
}

/// A branch of the library is taken; its number in the library's `PLACES`.
#[inline(always)]
pub fn reached(place: usize) {
    REACHED.with(|reached| reached[place].set(true));
}

/// Calls `each` with the number of each branch below `places` that was taken on this thread since
/// the last call.
pub fn take_reached(places: usize, mut each: impl FnMut(usize)) {
    REACHED.with(|reached| {
        for (number, place) in reached.iter().enumerate().take(places) {
            if place.replace(false) {
                each(number);
            }
        }
    });
}

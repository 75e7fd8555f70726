//! A library compiled a second time, with faults that can be switched on: what a search for faults
//! is tried against.
//!
//! The build script of such a crate calls `build::compile`, which copies the library's sources and
//! applies the changes of the files in `faults`, each behind a switch of its own. With every switch
//! off the copy does what the library does. It is a crate of its own, and not a feature of the
//! library, since Cargo unifies features: the image and the library that is measured would hold the
//! faults as well.
//!
//! A file of `faults`, NAME.toml, says what is wrong and which text of which source file is
//! replaced:
//!
//! ```toml
//! commit = "Linux b2fcf2102049"       # where it was once published, or `ours`
//! what = "A sentence."
//! [[change]]
//! file = "lock.rs"
//! before = "self.take();"             # must occur once
//! after = 'if !fault!("NAME") { self.take(); }'
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "build")]
pub mod build;

use std::cell::Cell;

/// A fault that a library can have.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its name on the command line.
    pub name: &'static str,
    /// The place where it was once published, as a project and a commit; `ours` for those that were
    /// not.
    pub commit: &'static str,
    /// The error, as a sentence.
    pub what: &'static str,
    /// The number that no other fault has, of whichever library; not 0.
    pub id: u64,
}

thread_local! {
    /// The id of the fault that is on. Not its address: a constant may have a copy of its own in
    /// each crate.
    static ON: Cell<u64> = const { Cell::new(0) };
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

/// The id of the fault of this name; a name that no file has fails the build.
pub const fn id(faults: &[Fault], name: &str) -> u64 {
    let mut number = 0;
    while number < faults.len() {
        let (left, right) = (faults[number].name.as_bytes(), name.as_bytes());
        let mut same = left.len() == right.len();
        let mut at = 0;
        while same && at < left.len() {
            same = left[at] == right[at];
            at += 1;
        }
        if same {
            return faults[number].id;
        }
        number += 1;
    }
    panic!("no file of `faults` has this name");
}

/// True if the fault with this id is switched on for this thread.
#[inline(always)]
pub fn is_on(id: u64) -> bool {
    ON.get() == id
}

//! Which fault is on.

use std::cell::Cell;

/// A fault that the library can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its name on the command line.
    pub name: &'static str,
    /// Where it was once published, as a project and a commit; `ours` for those that were not.
    pub commit: &'static str,
    /// What is wrong, as a sentence.
    pub what: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/faults.rs"));

const NONE: usize = usize::MAX;

thread_local! {
    static ON: Cell<usize> = const { Cell::new(NONE) };
}

/// Switches a fault on for this thread, and whichever was on off; with `None` the library is as it should be.
pub fn set(fault: Option<&Fault>) {
    let number = fault.and_then(|fault| FAULTS.iter().position(|other| other == fault));
    ON.set(number.unwrap_or(NONE));
}

/// The fault of this name.
pub fn find(name: &str) -> Option<&'static Fault> {
    FAULTS.iter().find(|fault| fault.name == name)
}

/// The number of the fault of this name; a name that no file has fails the build.
pub(crate) const fn number(name: &str) -> usize {
    let mut number = 0;
    while number < FAULTS.len() {
        let (left, right) = (FAULTS[number].name.as_bytes(), name.as_bytes());
        let mut same = left.len() == right.len();
        let mut at = 0;
        while same && at < left.len() {
            same = left[at] == right[at];
            at += 1;
        }
        if same {
            return number;
        }
        number += 1;
    }
    panic!("no file of `faults` has this name");
}

#[inline(always)]
pub(crate) fn is_on(number: usize) -> bool {
    ON.get() == number
}

//! What commands print, caught for a program of which they are a part.

use std::cell::RefCell;

thread_local! {
    /// What this thread printed, where it is caught.
    static CAUGHT: RefCell<Option<Caught>> = const { RefCell::new(None) };
}

/// What a command printed.
#[derive(Clone, Debug, Default)]
pub struct Caught {
    /// On standard output.
    pub printed: Vec<u8>,
    /// On standard error: warnings, notes, and why an answer is no.
    pub noted: String,
}

/// Does something, and catches what it prints on this thread.
pub fn caught<T>(does: impl FnOnce() -> T) -> (T, Caught) {
    let before = CAUGHT.replace(Some(Caught::default()));
    let result = does();
    (result, CAUGHT.replace(before).unwrap_or_default())
}

/// Hands what would be printed to what catches it; no if nothing does.
pub(crate) fn holds(catch: impl FnOnce(&mut Caught)) -> bool {
    CAUGHT.with_borrow_mut(|caught| caught.as_mut().map(catch)).is_some()
}

//! Stacks, kept for the next process once one is done with them.

use corosensei::stack::DefaultStack;
use std::cell::RefCell;

/// Bytes of a process's stack, a guard page not included.
const STACK_BYTES: usize = 64 * 1024;

/// Stacks that a thread keeps: enough for the frames of a few hundred CPUs.
const KEPT: usize = 1024;

thread_local! {
    static POOL: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// A stack, from the thread's pool or new.
pub fn take() -> DefaultStack {
    POOL.with_borrow_mut(Vec::pop).unwrap_or_else(|| {
        DefaultStack::new(STACK_BYTES)
            .unwrap_or_else(|error| panic!("no memory for a {STACK_BYTES}-byte stack: {error}"))
    })
}

/// Gives a stack back to the thread's pool.
pub fn give(stack: DefaultStack) {
    POOL.with_borrow_mut(|pool| {
        if pool.len() < KEPT {
            pool.push(stack);
        }
    });
}

//! The types of `std::sync` by another path, for code that is to be explored as it is.
//!
//! An access is an operation of the thread that makes it: others may go first, and memory shows
//! what Arm's would, with the orders as Rust compiles them:
//!
//! | in Rust | on Arm | with [`Core::rcpc`] or without [`Core::lse`] |
//! |---|---|---|
//! | `load(Relaxed)`, `load(Acquire)`, `load(SeqCst)` | `LDR`, `LDAR`, `LDAR` | with RCpc: `LDR`, `LDAPR`, `LDAR` |
//! | `store(Relaxed)`, `store(Release)`, `store(SeqCst)` | `STR`, `STLR`, `STLR` | |
//! | `fetch_add(Relaxed)`, `Acquire`, `Release`, `AcqRel` or `SeqCst` | `LDADD`, `LDADDA`, `LDADDL`, `LDADDAL` | without LSE: `LDXR` or `LDAXR`, `STXR` or `STLXR` |
//! | `fence(Acquire)`, any other | `DMB ISHLD`, `DMB ISH` | |
//!
//! [`Core::rcpc`]: crate::Core::rcpc
//! [`Core::lse`]: crate::Core::lse

mod arc;
pub mod atomic;
mod guard;
mod locks;
pub mod mpsc;
mod once;
mod unsafe_cell;

pub use arc::{Arc, Weak};
pub use guard::{Guard, LockResult, TryLockResult};
pub use locks::{
    Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
};
pub(crate) use locks::{change, change_within};
pub use once::{Barrier, BarrierWaitResult, LazyLock, Once, OnceLock};
pub use std::sync::{PoisonError, TryLockError};
pub use unsafe_cell::UnsafeCell;

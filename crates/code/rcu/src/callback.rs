//! A callback: work that is to be done once no reader can see the old state any more.

/// The urgency of a callback: some may wait for seconds, and a task waits for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// As `call_rcu`. With `RCU_LAZY` the callback may wait, like [`Urgency::Lazy`].
    Plain,
    /// As `kfree_rcu`: the callback frees memory and may wait for seconds, since no task waits for
    /// it.
    Lazy,
    /// As `call_rcu_hurry`: a task waits for the callback.
    Hurry,
}

/// Work to be done after a grace period.
///
/// ```
/// use rcu::{Callback, Urgency};
///
/// /// The number by which this kernel knows the function that frees an object.
/// const FREE: u32 = 1;
/// let callback = Callback { function: FREE, argument: 0x8000, urgency: Urgency::Lazy };
/// assert_ne!(callback.urgency, Urgency::Hurry);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callback {
    /// Number of the function to be called, as the kernel defines it.
    pub function: u32,
    /// Argument of the function, as the kernel defines it.
    pub argument: u64,
    /// The urgency of the callback.
    pub urgency: Urgency,
}

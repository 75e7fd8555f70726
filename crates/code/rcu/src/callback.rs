//! A callback: work that is to be done once no reader can see the old state any more.

/// The urgency of a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// As `call_rcu`. With `RCU_LAZY` it may wait, like [`Urgency::Lazy`].
    Plain,
    /// It frees memory and nobody waits for it, as `kfree_rcu`: it may wait for seconds.
    Lazy,
    /// As `call_rcu_hurry`: somebody waits for it.
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
    /// The function to be called, or who wants it done: the kernel's to define.
    pub function: u32,
    /// To what: the kernel's to define.
    pub argument: u64,
    /// The urgency.
    pub urgency: Urgency,
}

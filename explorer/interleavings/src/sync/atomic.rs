//! The types of `std::sync::atomic` by another path.

use crate::current::{here, machine};
use crate::machine::{COMPARES, Fence};
use crate::memory::{AtomicOrder, Order};
use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr, BitXor, Not};
use std::panic::Location;
pub use std::sync::atomic::{Ordering, compiler_fence};

/// A value that lies in a word.
#[doc(hidden)]
pub trait InWord: Copy {
    /// The bytes that its value is the address of. An address differs from run to run, so that a
    /// load of it may not be late.
    const REACHES: Option<usize> = None;

    fn to_word(self) -> u64;
    fn from_word(word: u64) -> Self;
}

/// A number that lies in a word.
#[doc(hidden)]
pub trait Number: InWord + Ord {}

macro_rules! in_word {
    ($($int:ident),+) => {$(
        impl InWord for $int {
            // Signed values are extended, so that they compare as they are.
            fn to_word(self) -> u64 {
                self as u64
            }
            fn from_word(word: u64) -> Self {
                word as $int
            }
        }

        impl Number for $int {}
    )+};
}
in_word!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

impl InWord for bool {
    fn to_word(self) -> u64 {
        u64::from(self)
    }
    fn from_word(word: u64) -> Self {
        word != 0
    }
}

impl<T> InWord for *mut T {
    const REACHES: Option<usize> = Some(size_of::<T>());

    fn to_word(self) -> u64 {
        self.expose_provenance() as u64
    }
    fn from_word(word: u64) -> Self {
        std::ptr::with_exposed_provenance_mut(word as usize)
    }
}

fn load_order(order: Ordering) -> Order {
    match order {
        Ordering::Relaxed => Order::Relaxed,
        Ordering::Acquire => machine().acquiring(),
        Ordering::SeqCst => Order::Ordered,
        _ => panic!("there is no such thing as a release load"),
    }
}

fn store_order(order: Ordering) -> Order {
    match order {
        Ordering::Relaxed => Order::Relaxed,
        Ordering::Release | Ordering::SeqCst => Order::Ordered,
        _ => panic!("there is no such thing as an acquire store"),
    }
}

fn atomic_order(order: Ordering) -> AtomicOrder {
    match order {
        Ordering::Relaxed => AtomicOrder::Relaxed,
        Ordering::Acquire => AtomicOrder::Acquire,
        Ordering::Release => AtomicOrder::Release,
        _ => AtomicOrder::AcquireRelease,
    }
}

/// One instruction serves both ends of a compare-and-swap.
fn both(success: Ordering, failure: Ordering) -> AtomicOrder {
    let acquires = failure != Ordering::Relaxed;
    match atomic_order(success) {
        AtomicOrder::Relaxed if acquires => AtomicOrder::Acquire,
        AtomicOrder::Release if acquires => AtomicOrder::AcquireRelease,
        order => order,
    }
}

/// A fence, as `std::sync::atomic::fence`.
///
/// # Panics
/// The order is `Relaxed`.
pub fn fence(order: Ordering) {
    match order {
        Ordering::Acquire => machine().fence(Fence::Loads),
        Ordering::Relaxed => panic!("there is no such thing as a relaxed fence"),
        _ => machine().fence(Fence::Full),
    }
}

/// A word that holds a `T`, which only atomic operations access.
pub struct Atomic<T> {
    word: u16,
    of: PhantomData<fn() -> T>,
}

impl<T: InWord> Atomic<T> {
    /// A word that holds `value`.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self {
            word: machine().make_word(value.to_word(), Location::caller()),
            of: PhantomData,
        }
    }

    /// Returns the value.
    #[track_caller]
    pub fn load(&self, order: Ordering) -> T {
        let machine = here();
        let (through, may_be_late) = (machine.address_store(self), T::REACHES.is_none());
        self.got(machine.load_with(self.word, load_order(order), through, may_be_late))
    }

    /// The value that an operation has returned. What lies behind an address comes after it.
    fn got(&self, value: u64) -> T {
        if let Some(bytes) = T::REACHES {
            machine().note_pointer(self.word, value as usize, bytes);
        }
        T::from_word(value)
    }

    /// Stores a value.
    pub fn store(&self, value: T, order: Ordering) {
        machine().store(self.word, value.to_word(), store_order(order));
    }

    /// Stores a value, and returns the one before.
    pub fn swap(&self, value: T, order: Ordering) -> T {
        self.got(machine().swap(self.word, value.to_word(), atomic_order(order)))
    }

    fn update(&self, order: Ordering, what: &'static str, with: T, change: impl Fn(T) -> T) -> T {
        let (order, with) = (atomic_order(order), with.to_word());
        let change = |before| Some(change(T::from_word(before)).to_word());
        T::from_word(machine().update(self.word, order, what, with, &change))
    }

    /// Stores `new` if the value is `current`. Returns the value before, as an error if it was
    /// another one.
    ///
    /// # Errors
    /// The value was not `current`.
    pub fn compare_exchange(
        &self,
        current: T,
        new: T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T, T> {
        machine()
            .compare_exchange(
                self.word,
                current.to_word(),
                new.to_word(),
                both(success, failure),
            )
            .map(|before| self.got(before))
            .map_err(|other| self.got(other))
    }

    /// Compares and exchanges; on a core without LSE it may fail for no reason.
    ///
    /// # Errors
    /// The value was not `current`, or the store failed for no reason.
    pub fn compare_exchange_weak(
        &self,
        current: T,
        new: T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T, T> {
        let (expected, new) = (current.to_word(), new.to_word());
        let change = |before| (before == expected).then_some(new);
        let order = both(success, failure);
        match machine().try_update(self.word, order, COMPARES, new, &change) {
            Ok(before) if before == expected => Ok(current),
            Ok(before) | Err(before) => Err(self.got(before)),
        }
    }

    /// Stores what `change` makes of the value, again if another store comes between. Returns the
    /// value before.
    ///
    /// # Errors
    /// `change` returned `None`.
    pub fn fetch_update(
        &self,
        set: Ordering,
        fetch: Ordering,
        mut change: impl FnMut(T) -> Option<T>,
    ) -> Result<T, T> {
        let mut before = self.load(fetch);
        while let Some(new) = change(before) {
            match self.compare_exchange(before, new, set, fetch) {
                Ok(before) => return Ok(before),
                Err(other) => before = other,
            }
        }
        Err(before)
    }

    /// Consumes the word and returns its value.
    pub fn into_inner(self) -> T {
        T::from_word(machine().value_of(self.word))
    }

    /// Hands the value to `change`, in place of `get_mut`, as loom does.
    pub fn with_mut<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        let mut value = T::from_word(machine().value_of(self.word));
        let result = change(&mut value);
        self.store(value, Ordering::Relaxed);
        result
    }
}

/// Defines read-modify-writes: the name of each, its words, and the value that it stores.
macro_rules! updates {
    ($($(#[$about:meta])* $name:ident($what:literal): |$before:ident, $value:ident| $after:expr;)+) => {$(
        $(#[$about])*
        pub fn $name(&self, $value: T, order: Ordering) -> T {
            self.update(order, $what, $value, |$before| $after)
        }
    )+};
}

impl<T: Number> Atomic<T> {
    updates! {
        /// Adds, wrapping. Returns the value before.
        fetch_add("adds to"): |before, value|
            T::from_word(before.to_word().wrapping_add(value.to_word()));
        /// Subtracts, wrapping. Returns the value before.
        fetch_sub("subtracts from"): |before, value|
            T::from_word(before.to_word().wrapping_sub(value.to_word()));
        /// Stores the greater of the two values. Returns the value before.
        fetch_max("raises"): |before, value| before.max(value);
        /// Stores the lesser of the two values. Returns the value before.
        fetch_min("lowers"): |before, value| before.min(value);
    }
}

impl<T: InWord + BitAnd<Output = T> + BitOr<Output = T> + BitXor<Output = T> + Not<Output = T>>
    Atomic<T>
{
    updates! {
        /// Clears the bits that `value` has not (bitwise and). Returns the value before.
        fetch_and("masks"): |before, value| before & value;
        /// Stores the complement of the bitwise and. Returns the value before.
        fetch_nand("masks and negates"): |before, value| !(before & value);
        /// Sets the bits of `value` (bitwise or). Returns the value before.
        fetch_or("sets bits of"): |before, value| before | value;
        /// Flips the bits of `value` (exclusive or). Returns the value before.
        fetch_xor("flips bits of"): |before, value| before ^ value;
    }
}

impl Atomic<bool> {
    /// Negates the value. Returns the value before.
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }
}

impl<T: InWord> Default for Atomic<T> {
    /// 0, false or null.
    #[track_caller]
    fn default() -> Self {
        Self::new(T::from_word(0))
    }
}

impl<T> Debug for Atomic<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&machine().names().cell(self.word))
    }
}

macro_rules! named {
    ($($name:ident $(<$of:ident>)?: $value:ty),+ $(,)?) => {$(
        #[doc = concat!("A `std::sync::atomic::", stringify!($name), "`.")]
        pub type $name$(<$of>)? = Atomic<$value>;
    )+};
}
named!(
    AtomicBool: bool,
    AtomicU8: u8,
    AtomicU16: u16,
    AtomicU32: u32,
    AtomicU64: u64,
    AtomicUsize: usize,
    AtomicI8: i8,
    AtomicI16: i16,
    AtomicI32: i32,
    AtomicI64: i64,
    AtomicIsize: isize,
    AtomicPtr<T>: *mut T,
);

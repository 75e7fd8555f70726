//! The types of `std::sync::atomic` by another path.

use crate::current::machine;
use crate::machine::{Fence, OnMachine as _, Operation};
use crate::memory::{AtomicOrder, Order};
use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
pub use std::sync::atomic::{Ordering, compiler_fence};

/// A value that lies in a word.
trait InWord: Copy + 'static {
    fn to_word(self) -> u64;
    fn from_word(word: u64) -> Self;
}

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

fn load_order(order: Ordering) -> Order {
    match order {
        Ordering::Relaxed => Order::Relaxed,
        Ordering::Acquire if machine().settings().rcpc() => Order::AcquirePc,
        Ordering::Acquire | Ordering::SeqCst => Order::Ordered,
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

/// A word that holds a `T`.
struct Word<T> {
    word: u16,
    of: PhantomData<fn() -> T>,
}

impl<T: InWord> Word<T> {
    fn new(value: T) -> Self {
        Self { word: machine().make_word(value.to_word()), of: PhantomData }
    }

    fn load(&self, order: Ordering) -> T {
        T::from_word(machine().load(self.word, load_order(order)))
    }

    fn store(&self, value: T, order: Ordering) {
        machine().store(self.word, value.to_word(), store_order(order));
    }

    fn update(&self, order: Ordering, what: &'static str, with: T, change: impl Fn(T) -> T) -> T {
        let did = Operation::Update { cell: self.word, what, value: with.to_word() };
        let change = |before| Some(change(T::from_word(before)).to_word());
        T::from_word(machine().update(self.word, atomic_order(order), did, with.to_word(), change))
    }

    fn compare_exchange(&self, current: T, new: T, success: Ordering, failure: Ordering, weak: bool) -> Result<T, T> {
        let (expected, new) = (current.to_word(), new.to_word());
        let did = Operation::CompareExchange { cell: self.word, value: new };
        let change = |before| (before == expected).then_some(new);
        let order = both(success, failure);
        let result = match weak {
            true => machine().try_update(self.word, order, did, new, change),
            false => Ok(machine().update(self.word, order, did, new, change)),
        };
        match result {
            Ok(before) if before == expected => Ok(T::from_word(before)),
            Ok(before) | Err(before) => Err(T::from_word(before)),
        }
    }

    /// The value for the one who has the word to itself.
    fn now(&self) -> T {
        T::from_word(machine().machine().value_of(self.word))
    }
}

macro_rules! common {
    ($name:ident, $value:ty) => {
        impl $name {
            #[doc = concat!("An ", stringify!($name), " that holds `value`.")]
            pub fn new(value: $value) -> Self {
                Self(Word::new(value))
            }

            /// The value.
            pub fn load(&self, order: Ordering) -> $value {
                self.0.load(order)
            }

            /// Stores a value.
            pub fn store(&self, value: $value, order: Ordering) {
                self.0.store(value, order);
            }

            /// Stores a value, and returns the one before.
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.0.update(order, "puts another value in the place of", value, |_| value)
            }

            /// Stores `new` if the value is `current`; the value before, as an error if it was
            /// another one.
            ///
            /// # Errors
            /// It was another one.
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new, success, failure, false)
            }

            /// Compares and exchanges; on a core without LSE it may fail for no reason.
            ///
            /// # Errors
            /// It failed.
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.0.compare_exchange(current, new, success, failure, true)
            }

            /// Stores what `change` makes of the value until nobody comes between; the value
            /// before.
            ///
            /// # Errors
            /// `change` makes nothing of it.
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut before = self.load(fetch);
                while let Some(new) = change(before) {
                    match self.compare_exchange(before, new, set, fetch) {
                        Ok(before) => return Ok(before),
                        Err(other) => before = other,
                    }
                }
                Err(before)
            }

            /// The value, for the one who has it to itself.
            pub fn into_inner(self) -> $value {
                self.0.now()
            }
        }

        impl Debug for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "(word {})"), self.0.word)
            }
        }
    };
}

macro_rules! integers {
    ($($name:ident $value:ident),+ $(,)?) => {$(
        #[doc = concat!("A `std::sync::atomic::", stringify!($name), "`.")]
        pub struct $name(Word<$value>);

        common!($name, $value);

        impl $name {
            /// Adds, wrapping; the value before.
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.0.update(order, "adds to", value, |before| before.wrapping_add(value))
            }

            /// Subtracts, wrapping; the value before.
            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.0.update(order, "subtracts from", value, |before| before.wrapping_sub(value))
            }

            /// Keeps the bits that are in `value`; the value before.
            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.0.update(order, "masks", value, |before| before & value)
            }

            /// Not and; the value before.
            pub fn fetch_nand(&self, value: $value, order: Ordering) -> $value {
                self.0.update(order, "masks and negates", value, |before| !(before & value))
            }

            /// Sets bits; the value before.
            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.0.update(order, "sets bits of", value, |before| before | value)
            }

            /// Flips bits; the value before.
            pub fn fetch_xor(&self, value: $value, order: Ordering) -> $value {
                self.0.update(order, "flips bits of", value, |before| before ^ value)
            }

            /// Stores the greater one; the value before.
            pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                self.0.update(order, "raises", value, |before| before.max(value))
            }

            /// Stores the lesser one; the value before.
            pub fn fetch_min(&self, value: $value, order: Ordering) -> $value {
                self.0.update(order, "lowers", value, |before| before.min(value))
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(0)
            }
        }
    )+};
}
integers!(
    AtomicU8 u8,
    AtomicU16 u16,
    AtomicU32 u32,
    AtomicU64 u64,
    AtomicUsize usize,
    AtomicI8 i8,
    AtomicI16 i16,
    AtomicI32 i32,
    AtomicI64 i64,
    AtomicIsize isize,
);

/// A `std::sync::atomic::AtomicBool`.
pub struct AtomicBool(Word<bool>);

common!(AtomicBool, bool);

impl AtomicBool {
    /// And; the value before.
    pub fn fetch_and(&self, value: bool, order: Ordering) -> bool {
        self.0.update(order, "masks", value, |before| before & value)
    }

    /// Or; the value before.
    pub fn fetch_or(&self, value: bool, order: Ordering) -> bool {
        self.0.update(order, "sets bits of", value, |before| before | value)
    }

    /// Exclusive or; the value before.
    pub fn fetch_xor(&self, value: bool, order: Ordering) -> bool {
        self.0.update(order, "flips bits of", value, |before| before ^ value)
    }
}

impl Default for AtomicBool {
    fn default() -> Self {
        Self::new(false)
    }
}

/// A `std::sync::atomic::AtomicPtr`.
pub struct AtomicPtr<T> {
    word: AtomicUsize,
    of: PhantomData<fn() -> *mut T>,
}

// As with std, threads may share it: it does nothing with what it points at.
impl<T> AtomicPtr<T> {
    fn pointer(address: usize) -> *mut T {
        std::ptr::with_exposed_provenance_mut(address)
    }

    /// A word that holds this pointer.
    pub fn new(pointer: *mut T) -> Self {
        Self { word: AtomicUsize::new(pointer.expose_provenance()), of: PhantomData }
    }

    /// The pointer.
    pub fn load(&self, order: Ordering) -> *mut T {
        Self::pointer(machine().load_address(self.word.0.word, load_order(order)) as usize)
    }

    /// Stores a pointer.
    pub fn store(&self, pointer: *mut T, order: Ordering) {
        self.word.store(pointer.expose_provenance(), order);
    }

    /// Stores a pointer, and returns the one before.
    pub fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T {
        Self::pointer(self.word.swap(pointer.expose_provenance(), order))
    }

    /// Stores `new` if the pointer is `current`; the pointer before.
    ///
    /// # Errors
    /// It was another one.
    pub fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        let result = self.word.compare_exchange(current.addr(), new.expose_provenance(), success, failure);
        result.map(Self::pointer).map_err(Self::pointer)
    }

    /// Compares and exchanges; on a core without LSE it may fail for no reason.
    ///
    /// # Errors
    /// It failed.
    pub fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        let result = self.word.compare_exchange_weak(current.addr(), new.expose_provenance(), success, failure);
        result.map(Self::pointer).map_err(Self::pointer)
    }
}

impl<T> Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.word, f)
    }
}

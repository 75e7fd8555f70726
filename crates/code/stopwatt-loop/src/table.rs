//! The structures of `include/stopwatt_loop.h`.

use std::ffi::{CStr, c_char, c_void};

/// The version of the interface.
pub const ABI: u32 = 1;

/// A knob that is a prefetch distance, in records; 0 stands for no prefetch.
pub const DISTANCE: u32 = 0;

/// A knob that only the loop understands: every power of two of its range is tried.
pub const CHOICE: u32 = 1;

/// No knob, but a line of a record that is read and never prefetched: its value is always 0.
pub const LINE: u32 = 2;

/// The address of a knob's line is known without any other line.
pub const AFTER_NONE: u32 = u32::MAX;

/// Most knobs of a loop.
pub const KNOBS_MAX: usize = 8;

/// The name of the one function of a shared object.
pub const SYMBOL: &CStr = c"stopwatt_loop";

/// The function of that name: the n-th loop, or null.
pub type Entry = unsafe extern "C" fn(n: u32) -> *const LoopTable;

/// The name of the function that says what came of a record; a shared object may be without it.
pub const RESULTS: &CStr = c"stopwatt_results";

/// The function of that name: a number that stands for what the n-th loop made of a record.
pub type Results = unsafe extern "C" fn(n: u32, state: *const c_void, record: *const c_void) -> u64;

/// A knob of a loop.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Knob {
    /// The name that tables and options have.
    pub name: *const c_char,
    /// The macro in the loop's source; may be null.
    pub define: *const c_char,
    /// [`DISTANCE`], [`CHOICE`] or [`LINE`].
    pub kind: u32,
    /// The least value.
    pub least: u32,
    /// The largest; 0 for a distance without a limit.
    pub most: u32,
    /// The value in the source today.
    pub today: u32,
    /// The knob whose line holds the address of this one's, or [`AFTER_NONE`].
    pub after: u32,
    /// 1 if the line lies directly behind that of the knob before.
    pub beside: u32,
}

// SAFETY: the pointers are to texts that nobody writes, which the maker of a table vouches for.
unsafe impl Sync for Knob {}
// SAFETY: as above.
unsafe impl Send for Knob {}

impl Knob {
    /// A prefetch distance, of any length.
    pub const fn distance(name: &'static CStr, define: &'static CStr, today: u32) -> Self {
        Self {
            name: name.as_ptr(),
            define: define.as_ptr(),
            kind: DISTANCE,
            least: 0,
            most: 0,
            today,
            after: AFTER_NONE,
            beside: 0,
        }
    }

    /// A line that is read and never prefetched.
    pub const fn line(name: &'static CStr) -> Self {
        Self {
            kind: LINE,
            define: std::ptr::null(),
            ..Self::distance(name, c"", 0)
        }
    }

    /// The same, for a line whose address the `knob`-th knob's line holds.
    pub const fn after(mut self, knob: u32) -> Self {
        self.after = knob;
        self
    }

    /// The same, for a line directly behind that of the knob before.
    pub const fn beside(mut self) -> Self {
        self.beside = 1;
        self
    }

    /// A choice among the powers of two of a range.
    pub const fn choice(
        name: &'static CStr,
        define: &'static CStr,
        least: u32,
        most: u32,
        today: u32,
    ) -> Self {
        Self {
            kind: CHOICE,
            least,
            most,
            ..Self::distance(name, define, today)
        }
    }
}

/// A loop, as a shared object describes it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LoopTable {
    /// [`ABI`].
    pub abi: u32,
    /// Entries of `knob`.
    pub knobs: u32,
    /// Name of the loop.
    pub name: *const c_char,
    /// The first knob.
    pub knob: *const Knob,
    /// Bytes of the cache lines that the loop touches per record.
    pub record_bytes: u64,
    /// The most records that `set_up` can make; 0 for as many as fit memory.
    pub most_records: u64,
    /// Makes records, and writes a pointer to each; null if there is no memory.
    pub set_up: Option<
        unsafe extern "C" fn(count: u64, seed: u64, records: *mut *mut c_void) -> *mut c_void,
    >,
    /// The loop's work on a batch of records.
    pub run: Option<
        unsafe extern "C" fn(
            state: *mut c_void,
            records: *const *mut c_void,
            n: u64,
            values: *const u32,
        ),
    >,
    /// Frees what `set_up` made; may be missing.
    pub tear_down: Option<unsafe extern "C" fn(state: *mut c_void)>,
}

// SAFETY: the pointers are to what nobody writes, which the maker of a table vouches for.
unsafe impl Sync for LoopTable {}

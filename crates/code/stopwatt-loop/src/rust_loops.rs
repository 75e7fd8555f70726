//! Loops in Rust behind the C interface.

use crate::table::{ABI, Knob, LoopTable};
use std::ffi::{CStr, c_void};

/// A record of a Rust loop: a number, stored where C has a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Record(*mut c_void);

impl Record {
    /// The record of a number.
    pub fn new(index: usize) -> Self {
        Self(index as *mut c_void)
    }

    /// The number of the record, below the count of [`PacketLoop::set_up`].
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A loop over records.
pub trait PacketLoop: Sized + 'static {
    /// Name of the loop.
    const NAME: &'static CStr;
    /// Knobs of the loop: 1 to [`KNOBS_MAX`](crate::KNOBS_MAX).
    const KNOBS: &'static [Knob];
    /// Bytes of the cache lines that the loop touches per record.
    const RECORD_BYTES: u64;
    /// The most records that there can be; 0 for as many as fit memory.
    const MOST_RECORDS: u64 = 0;

    /// Makes `count` records; `None` if there is no memory for them.
    fn set_up(count: usize, seed: u64) -> Option<Self>;

    /// Does the work on a batch, with a value for each knob.
    fn run(&mut self, records: &[Record], values: &[u32]);
}

/// Asks for the cache line at `address`, for reading, into L1. Any address is allowed: a prefetch
/// never faults.
#[inline(always)]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction reads nothing that the program can see, and does not fault on any
    // address.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above; PRFM is a hint.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

unsafe extern "C" fn set_up<L: PacketLoop>(
    count: u64,
    seed: u64,
    records: *mut *mut c_void,
) -> *mut c_void {
    let Ok(count) = usize::try_from(count) else {
        return std::ptr::null_mut();
    };
    let Some(made) = L::set_up(count, seed) else {
        return std::ptr::null_mut();
    };
    for index in 0..count {
        // SAFETY: the caller hands over room for `count` pointers.
        unsafe { records.add(index).write(Record::new(index).0) };
    }
    Box::into_raw(Box::new(made)).cast()
}

unsafe extern "C" fn run<L: PacketLoop>(
    state: *mut c_void,
    records: *const *mut c_void,
    n: u64,
    values: *const u32,
) {
    // SAFETY: the state is from `set_up` of the same loop, the caller hands over `n` records and as
    // many values as there are knobs, and nobody else uses them meanwhile.
    let (state, records, values) = unsafe {
        (
            &mut *state.cast::<L>(),
            std::slice::from_raw_parts(records.cast::<Record>(), n as usize),
            std::slice::from_raw_parts(values, L::KNOBS.len()),
        )
    };
    state.run(records, values);
}

unsafe extern "C" fn tear_down<L: PacketLoop>(state: *mut c_void) {
    // SAFETY: the state is from `set_up` of the same loop, and is not used again.
    drop(unsafe { Box::from_raw(state.cast::<L>()) });
}

/// A loop as its table; [`export!`](crate::export) uses it.
pub const fn table_of<L: PacketLoop>() -> LoopTable {
    LoopTable {
        abi: ABI,
        knobs: L::KNOBS.len() as u32,
        name: L::NAME.as_ptr(),
        knob: L::KNOBS.as_ptr(),
        record_bytes: L::RECORD_BYTES,
        most_records: L::MOST_RECORDS,
        set_up: Some(set_up::<L>),
        run: Some(run::<L>),
        tear_down: Some(tear_down::<L>),
    }
}

/// Makes loops the ones of this shared object, in their order.
#[macro_export]
macro_rules! export {
    ($($packet_loop:ty),+ $(,)?) => {
        /// The n-th loop of this shared object.
        #[unsafe(no_mangle)]
        pub extern "C" fn stopwatt_loop(n: u32) -> *const $crate::LoopTable {
            static LOOPS: &[$crate::LoopTable] = &[$($crate::table_of::<$packet_loop>()),+];
            LOOPS.get(n as usize).map_or(std::ptr::null(), |table| table as *const _)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes down what it was given.
    struct Notes {
        count: usize,
        given: Vec<(Vec<usize>, Vec<u32>)>,
    }

    impl PacketLoop for Notes {
        const NAME: &'static CStr = c"notes";
        const KNOBS: &'static [Knob] = &[
            Knob::distance(c"a", c"A", 1),
            Knob::choice(c"b", c"B", 1, 4, 2),
        ];
        const RECORD_BYTES: u64 = 64;

        fn set_up(count: usize, seed: u64) -> Option<Self> {
            (seed != 13).then_some(Self {
                count,
                given: Vec::new(),
            })
        }

        fn run(&mut self, records: &[Record], values: &[u32]) {
            assert!(records.iter().all(|record| record.index() < self.count));
            self.given.push((
                records.iter().map(|record| record.index()).collect(),
                values.to_vec(),
            ));
        }
    }

    #[test]
    fn what_goes_in_by_the_c_interface_arrives() {
        let table = table_of::<Notes>();
        assert_eq!((table.abi, table.knobs, table.record_bytes), (ABI, 2, 64));
        let mut records = [std::ptr::null_mut(); 5];
        let (set_up, run, tear_down) = (
            table.set_up.unwrap(),
            table.run.unwrap(),
            table.tear_down.unwrap(),
        );
        // SAFETY: room for five records, as many values as knobs, and a state of the same loop.
        unsafe {
            assert!(set_up(5, 13, records.as_mut_ptr()).is_null());
            let state = set_up(5, 1, records.as_mut_ptr());
            run(state, records[2..].as_ptr(), 3, [7, 2].as_ptr());
            assert_eq!(
                (*state.cast::<Notes>()).given,
                [(vec![2, 3, 4], vec![7, 2])]
            );
            tear_down(state);
        }
    }
}

//! A prefetch and a counter: the processor's offers beside loads and stores.
#![expect(
    unsafe_code,
    reason = "a prefetch and a counter are instructions, not functions"
)]

pub use stopwatt_loop::prefetch;

/// The counter's value: TSC on x86-64, CNTVCT on aarch64, nanoseconds elsewhere.
#[inline(always)]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has the instruction, and Linux leaves it to user space.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let value: u64;
        // SAFETY: reads the virtual counter, which Linux leaves to user space.
        unsafe {
            core::arch::asm!("mrs {0}, cntvct_el0", out(reg) value, options(nomem, nostack, preserves_flags));
        }
        value
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        use std::sync::OnceLock;
        use std::time::Instant;
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
}

/// Keeps the calling thread on one processor.
///
/// # Errors
/// There is no such processor.
#[cfg(target_os = "linux")]
pub fn pin(cpu: usize) -> std::io::Result<()> {
    let mut set = nix::sched::CpuSet::new();
    set.set(cpu)?;
    Ok(nix::sched::sched_setaffinity(
        nix::unistd::Pid::from_raw(0),
        &set,
    )?)
}

/// Bytes of the machine code of a function, by its address: the length of its entry in the table
/// for unwinding, which a program without symbols has, too. `None` where there is no such table, or
/// the address is not that of a function.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn code_bytes(function: *const ()) -> Option<usize> {
    /// The places of parts of the program, as the unwinder hands them out.
    #[repr(C)]
    struct Bases {
        text: *const u8,
        data: *const u8,
        function: *const u8,
    }
    unsafe extern "C" {
        /// The entry of the function that an address lies in; null if there is none.
        fn _Unwind_Find_FDE(address: *const u8, bases: *mut Bases) -> *const u32;
    }
    let mut bases = Bases {
        text: std::ptr::null(),
        data: std::ptr::null(),
        function: std::ptr::null(),
    };
    // SAFETY: any address may be asked about; the structure is what the unwinder fills in.
    let entry = unsafe { _Unwind_Find_FDE(function.cast(), &raw mut bases) };
    if entry.is_null() || bases.function != function.cast() {
        return None;
    }
    // SAFETY: an entry has four words and more: its length, its header's place, where the function
    // starts, and how long it is. Compilers on Linux write the last two in 32 bits each (System V
    // ABI, AMD64 and AArch64, chapters on DWARF).
    let bytes = unsafe { entry.add(3).read_unaligned() } as usize;
    // In another encoding it would not be the length of a function.
    (1..1 << 20).contains(&bytes).then_some(bytes)
}

/// As on Linux, where it can be found out.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn code_bytes(_function: *const ()) -> Option<usize> {
    None
}

/// The unit that [`ticks`] counts.
pub const COUNTER: &str = if cfg!(target_arch = "x86_64") {
    "TSC"
} else if cfg!(target_arch = "aarch64") {
    "CNTVCT"
} else {
    "nanoseconds"
};

/// Frequency of the counter in ticks a second: read where the processor says it, measured against
/// the clock otherwise.
pub fn counter_hz() -> u64 {
    #[cfg(target_arch = "aarch64")]
    {
        let value: u64;
        // SAFETY: reads the counter's frequency register, which Linux leaves to user space.
        unsafe {
            core::arch::asm!("mrs {0}, cntfrq_el0", out(reg) value, options(nomem, nostack, preserves_flags));
        }
        value
    }
    #[cfg(not(target_arch = "aarch64"))]
    {
        use std::sync::OnceLock;
        static HZ: OnceLock<u64> = OnceLock::new();
        *HZ.get_or_init(measured_hz)
    }
}

/// The counter against the monotonic clock, the median of seven windows, rounded to 0.1 MHz.
#[cfg(not(target_arch = "aarch64"))]
fn measured_hz() -> u64 {
    use std::time::{Duration, Instant};
    let mut windows: Vec<f64> = (0..7)
        .map(|_| {
            let (start, from) = (Instant::now(), ticks());
            while start.elapsed() < Duration::from_millis(7) {
                std::hint::spin_loop();
            }
            let (elapsed, to) = (start.elapsed(), ticks());
            (to - from) as f64 / elapsed.as_secs_f64()
        })
        .collect();
    windows.sort_by(f64::total_cmp);
    ((windows[3] / 1e5).round() * 1e5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_goes_on_at_a_frequency_that_counters_have() {
        let from = ticks();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(ticks() > from);
        assert!(
            (1_000_000..20_000_000_000).contains(&counter_hz()),
            "{}",
            counter_hz()
        );
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn the_code_of_a_function_has_bytes_and_an_address_within_it_is_no_function() {
        let function = measured_or_read as *const ();
        let bytes = code_bytes(function).unwrap();
        assert!((8..4096).contains(&bytes), "{bytes}");
        assert_eq!(code_bytes(function.wrapping_byte_add(1)), None);
        assert_eq!(code_bytes(std::ptr::null()), None);
    }

    #[inline(never)]
    fn measured_or_read(of: &[u64]) -> u64 {
        of.iter()
            .map(|number| number.wrapping_mul(counter_hz()))
            .fold(0, u64::wrapping_add)
    }

    #[test]
    fn a_prefetch_of_any_address_is_harmless() {
        prefetch(std::ptr::null::<u8>());
        prefetch(usize::MAX as *const u8);
    }
}

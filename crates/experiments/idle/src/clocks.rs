//! Clocks of this machine.
#![expect(
    unsafe_code,
    reason = "the C library's clock_gettime, and the system call behind it"
)]

use std::fs;
use std::hint::black_box;

/// A clock of this machine.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The processor's counter, by its own instruction.
    Counter,
    /// A clock of the kernel, by the C library, which reads it without a system call where it can.
    Library(libc::clockid_t),
    /// The same by system call.
    Call(libc::clockid_t),
}

/// All of them, with their names in recordings.
pub const CLOCKS: [(&str, Clock); 7] = [
    ("counter", Clock::Counter),
    ("CLOCK_MONOTONIC", Clock::Library(libc::CLOCK_MONOTONIC)),
    (
        "CLOCK_MONOTONIC_RAW",
        Clock::Library(libc::CLOCK_MONOTONIC_RAW),
    ),
    (
        "CLOCK_MONOTONIC_COARSE",
        Clock::Library(libc::CLOCK_MONOTONIC_COARSE),
    ),
    (
        "CLOCK_MONOTONIC by system call",
        Clock::Call(libc::CLOCK_MONOTONIC),
    ),
    (
        "CLOCK_MONOTONIC_RAW by system call",
        Clock::Call(libc::CLOCK_MONOTONIC_RAW),
    ),
    (
        "CLOCK_MONOTONIC_COARSE by system call",
        Clock::Call(libc::CLOCK_MONOTONIC_COARSE),
    ),
];

impl Clock {
    /// Reads it: nanoseconds, or ticks of the counter. A read of the kernel's clock begins when the
    /// value of the read `before` is there.
    #[inline]
    pub fn read(self, before: u64) -> u64 {
        // Always 0, which the compiler does not know.
        let wait = (before & black_box(0)) as libc::clockid_t;
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        match self {
            Self::Counter => return dataplane::machine::ticks(),
            Self::Library(id) => {
                // SAFETY: the call writes one timespec, and `time` is one.
                unsafe { libc::clock_gettime(id | wait, &raw mut time) };
            }
            Self::Call(id) => {
                // SAFETY: the system call writes one timespec, and `time` is one.
                unsafe { libc::syscall(libc::SYS_clock_gettime, id | wait, &raw mut time) };
            }
        }
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

/// The clock source that the kernel reads, such as `tsc` or `kvm-clock`; `None` where it does not
/// say.
pub fn source() -> Option<String> {
    Some(
        fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource")
            .ok()?
            .trim()
            .to_owned(),
    )
}

/// Why this machine's clocks count as those of a virtual machine; `None` where nothing says so.
pub fn hypervisor() -> Option<String> {
    let product = fs::read_to_string("/sys/hypervisor/type")
        .ok()
        .map(|text| text.trim().to_owned());
    let flag = fs::read_to_string("/proc/cpuinfo")
        .unwrap_or_default()
        .lines()
        .find(|line| line.starts_with("flags"))
        .is_some_and(|line| line.contains(" hypervisor"));
    let clock = source()
        .filter(|source| source.contains("kvm") || source.contains("hyperv") || source == "xen");
    product
        .or(flag.then(|| "the processor says that a hypervisor is there".to_owned()))
        .or(clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_clock_read_twice_ways_goes_on() {
        for source in [
            libc::CLOCK_MONOTONIC,
            libc::CLOCK_MONOTONIC_RAW,
            libc::CLOCK_MONOTONIC_COARSE,
        ] {
            let times = [
                Clock::Library(source).read(0),
                Clock::Call(source).read(0),
                Clock::Library(source).read(0),
            ];
            assert!(times.is_sorted() && times[0] > 0, "{source:?}: {times:?}");
            assert!(times[2] - times[0] < 1_000_000_000, "{source:?}: {times:?}");
        }
        assert!(Clock::Counter.read(0) <= Clock::Counter.read(0));
    }
}

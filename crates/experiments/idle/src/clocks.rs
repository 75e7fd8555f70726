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
    Library(Source),
    /// The same by system call.
    Call(Source),
}

/// A clock of the kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// `CLOCK_MONOTONIC`.
    Monotonic,
    /// `CLOCK_MONOTONIC_RAW`.
    Raw,
    /// `CLOCK_MONOTONIC_COARSE`.
    Coarse,
}

impl Source {
    const fn id(self) -> libc::clockid_t {
        match self {
            Self::Monotonic => libc::CLOCK_MONOTONIC,
            Self::Raw => libc::CLOCK_MONOTONIC_RAW,
            Self::Coarse => libc::CLOCK_MONOTONIC_COARSE,
        }
    }
}

impl Clock {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Counter,
        Self::Library(Source::Monotonic),
        Self::Library(Source::Raw),
        Self::Library(Source::Coarse),
        Self::Call(Source::Monotonic),
        Self::Call(Source::Raw),
        Self::Call(Source::Coarse),
    ];

    /// Name of the clock in recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Library(Source::Monotonic) => "CLOCK_MONOTONIC",
            Self::Library(Source::Raw) => "CLOCK_MONOTONIC_RAW",
            Self::Library(Source::Coarse) => "CLOCK_MONOTONIC_COARSE",
            Self::Call(Source::Monotonic) => "CLOCK_MONOTONIC by system call",
            Self::Call(Source::Raw) => "CLOCK_MONOTONIC_RAW by system call",
            Self::Call(Source::Coarse) => "CLOCK_MONOTONIC_COARSE by system call",
        }
    }

    /// Reads it: nanoseconds, or ticks of the counter. A read of the kernel's clock begins when the
    /// value of the read `before` is there.
    #[inline]
    pub fn read(self, before: u64) -> u64 {
        // Always 0, which the compiler does not know.
        let wait = (before & black_box(0)) as libc::clockid_t;
        match self {
            Self::Counter => dataplane::machine::ticks(),
            Self::Library(source) => {
                let mut time = libc::timespec {
                    tv_sec: 0,
                    tv_nsec: 0,
                };
                // SAFETY: the call writes one timespec, and `time` is one.
                unsafe { libc::clock_gettime(source.id() | wait, &raw mut time) };
                nanoseconds(time)
            }
            Self::Call(source) => {
                let mut time = libc::timespec {
                    tv_sec: 0,
                    tv_nsec: 0,
                };
                // SAFETY: the system call writes one timespec, and `time` is one.
                unsafe {
                    libc::syscall(libc::SYS_clock_gettime, source.id() | wait, &raw mut time)
                };
                nanoseconds(time)
            }
        }
    }
}

const fn nanoseconds(time: libc::timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
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
        for source in [Source::Monotonic, Source::Raw, Source::Coarse] {
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

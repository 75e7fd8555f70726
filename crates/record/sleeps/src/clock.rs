//! The clocks of a trace: its own, CLOCK_MONOTONIC, which high-resolution timers count in, and
//! jiffies, which the timer wheel counts in.

/// The lead of the trace's clock over CLOCK_MONOTONIC, from the events that name both.
///
/// A firing timer tells what time it was when its interrupt began; its event is stamped a little
/// later. The least difference is the best one. Clocks drift apart, so that only the last seconds
/// count.
#[derive(Default)]
pub struct Offset {
    /// The least difference of the window before, and of this one.
    least_ns: [Option<i64>; 2],
    window: u64,
}

/// A second: clocks that are a part in a million apart differ by a microsecond then.
const WINDOW_NS: u64 = 1_000_000_000;

impl Offset {
    /// Learns that an event at `time_ns` of the trace's clock came at or after `now_ns` of the
    /// other.
    pub fn learn(&mut self, time_ns: u64, now_ns: u64) {
        let window = time_ns / WINDOW_NS;
        if window != self.window {
            self.least_ns = [self.least_ns[1].or(self.least_ns[0]), None];
            self.window = window;
        }
        let difference = time_ns.wrapping_sub(now_ns).cast_signed();
        let least = &mut self.least_ns[1];
        *least = Some(least.map_or(difference, |least| least.min(difference)));
    }

    /// The lead in nanoseconds; `None` before any event told of both.
    pub fn ns(&self) -> Option<i64> {
        match self.least_ns {
            [Some(before), Some(now)] => Some(before.min(now)),
            [before, now] => now.or(before),
        }
    }

    /// A time of CLOCK_MONOTONIC by the trace's clock; `None` before any event told of both.
    pub fn to_trace(&self, monotonic_ns: u64) -> Option<u64> {
        self.ns()
            .map(|offset| monotonic_ns.saturating_add_signed(offset))
    }

    /// A time of the trace's clock by CLOCK_MONOTONIC.
    pub fn to_monotonic(&self, time_ns: u64) -> Option<u64> {
        self.ns()
            .map(|offset| time_ns.saturating_add_signed(offset.saturating_neg()))
    }
}

/// When a jiffy begins, in CLOCK_MONOTONIC.
///
/// A tick's length is what all differences between the tick's expiries are multiples of.
#[derive(Default)]
pub struct Jiffies {
    /// A tick's length in nanoseconds, or a multiple of it while few ticks were seen; 0 before the
    /// second.
    pub tick_ns: u64,
    last_expiry_ns: Option<u64>,
    /// Least difference between a time and the count of ticks then, in nanoseconds.
    least_ns: Option<u64>,
    /// The length of a tick that `least_ns` was found with.
    found_with_ns: u64,
}

impl Jiffies {
    /// Learns an expiry of the tick's timer.
    pub fn tick(&mut self, expires_ns: u64) {
        if let Some(last) = self.last_expiry_ns.replace(expires_ns) {
            let (mut a, mut b) = (last.abs_diff(expires_ns), self.tick_ns);
            while b > 0 {
                (a, b) = (b, a % b);
            }
            // A tick is 1 to 10 ms; what is far below is a timer of some other kind.
            if a >= 900_000 {
                self.tick_ns = a;
            }
        }
    }

    /// Learns what the count stood at.
    pub fn learn(&mut self, monotonic_ns: u64, jiffies: u64) {
        if self.tick_ns == 0 {
            return;
        }
        if self.found_with_ns != self.tick_ns {
            (self.found_with_ns, self.least_ns) = (self.tick_ns, None);
        }
        // The count begins near the end of its range so that it soon wraps: all of this is modulo
        // 2^64.
        let difference = monotonic_ns.wrapping_sub(jiffies.wrapping_mul(self.tick_ns));
        self.least_ns = Some(match self.least_ns {
            Some(least) if difference.wrapping_sub(least).cast_signed() > 0 => least,
            _ => difference,
        });
    }

    /// When a jiffy begins, in nanoseconds of CLOCK_MONOTONIC.
    pub fn begins_ns(&self, jiffies: u64) -> Option<u64> {
        let latest = self
            .least_ns
            .filter(|_| self.found_with_ns == self.tick_ns)?
            .wrapping_add(jiffies.wrapping_mul(self.tick_ns));
        // Jiffies begin when ticks expire.
        let expiry = self.last_expiry_ns?;
        let past =
            (latest.cast_signed() - expiry.cast_signed()).rem_euclid(self.tick_ns.cast_signed());
        Some(latest.wrapping_sub(past.cast_unsigned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_difference_of_the_last_seconds_is_the_offset() {
        let mut offset = Offset::default();
        assert_eq!(offset.to_trace(5), None);
        offset.learn(1_000_000_900, 900_000_000);
        offset.learn(1_100_000_100, 1_000_000_000);
        assert_eq!(offset.to_trace(2_000_000_000), Some(2_100_000_100));
        assert_eq!(offset.to_monotonic(2_100_000_100), Some(2_000_000_000));
        // The clocks drift; after two windows the old difference is forgotten.
        offset.learn(5_100_000_700, 5_000_000_000);
        offset.learn(6_100_000_700, 6_000_000_000);
        assert_eq!(offset.to_trace(0), Some(100_000_700));
    }

    #[test]
    fn jiffies_begin_with_ticks() {
        let mut jiffies = Jiffies::default();
        for expiry in [8_000_000, 20_000_000, 24_000_000, 16_000_000] {
            jiffies.tick(expiry);
        }
        assert_eq!(jiffies.tick_ns, 4_000_000);
        // The count begins five minutes before it wraps.
        let first = 0_u64.wrapping_sub(75_000);
        jiffies.learn(25_700_000, first.wrapping_add(6));
        jiffies.learn(31_900_000, first.wrapping_add(7));
        assert_eq!(jiffies.begins_ns(first.wrapping_add(10)), Some(40_000_000));
    }
}

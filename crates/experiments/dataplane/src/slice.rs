//! Slices of a measurement on this machine. One in which something else had the processor says
//! nothing of the work, and is measured again.

use std::time::{Duration, Instant};

/// Slices that are measured again for every slice that counts, at most in the mean: a machine on
/// which all of them are disturbed shall end, too.
const AGAIN: u32 = 3;

/// Time that a slice may lack the processor for, and the share of a slice: interrupts take less.
const LACK: (Duration, f64) = (Duration::from_micros(30), 0.05);

/// The slices of a measurement.
#[derive(Default)]
pub struct Slices {
    /// Slices that may still be measured again.
    left: u32,
    /// Slices that were disturbed, and measured again if they could be.
    pub disturbed: u64,
}

impl Slices {
    /// Measures a slice, again if it was disturbed; what `work` returns of the last time.
    pub fn take<T>(&mut self, mut work: impl FnMut() -> T) -> T {
        self.left = (self.left + AGAIN).min(100);
        loop {
            let before = Look::new();
            let result = work();
            if !Look::new().is_disturbed(&before) {
                return result;
            }
            self.disturbed += 1;
            if self.left == 0 {
                return result;
            }
            self.left -= 1;
        }
    }
}

/// The calling thread's clocks and count of switches at a moment; a slice has one before it and one
/// behind it.
struct Look {
    at: Instant,
    /// Time that the thread had a processor; `None` where the system does not say.
    ran: Option<Duration>,
    /// The number of times that the processor was taken away.
    taken: i64,
}

impl Look {
    /// The calling thread's, now.
    #[cfg(target_os = "linux")]
    fn new() -> Self {
        use nix::sys::resource::{UsageWho, getrusage};
        use nix::time::{ClockId, clock_gettime};
        let taken = getrusage(UsageWho::RUSAGE_THREAD)
            .map_or(0, |usage| usage.involuntary_context_switches());
        let ran = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
            .ok()
            .map(Duration::from);
        Self {
            at: Instant::now(),
            ran,
            taken,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn new() -> Self {
        Self {
            at: Instant::now(),
            ran: None,
            taken: 0,
        }
    }

    /// True if the processor was taken away, which interrupts do not do.
    fn is_disturbed(&self, before: &Self) -> bool {
        self.taken != before.taken || self.is_held_up(before)
    }

    /// True if the thread lacked the processor for long. Of work that takes long it is the better
    /// question: in a second the processor is always taken away for a moment.
    fn is_held_up(&self, before: &Self) -> bool {
        let took = self.at - before.at;
        let ran = self
            .ran
            .zip(before.ran)
            .map_or(took, |(now, then)| now.saturating_sub(then));
        took.saturating_sub(ran) > LACK.0.max(took.mul_f64(LACK.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_without_the_processor_is_measured_again_but_not_for_ever() {
        let (at, ms) = (Instant::now(), Duration::from_millis);
        let look = |at, ran, taken| Look {
            at,
            ran: Some(ran),
            taken,
        };
        let start = look(at, ms(10), 1);
        assert!(!look(at + ms(5), ms(15), 1).is_disturbed(&start));
        assert!(
            look(at + ms(5), ms(15), 2).is_disturbed(&start),
            "taken away"
        );
        assert!(
            look(at + ms(5), ms(13), 1).is_disturbed(&start),
            "it ran for 3 of 5 ms"
        );
        let mut times = 0;
        let mut slices = Slices::default();
        slices.take(|| {
            times += 1;
            std::thread::sleep(ms(1));
        });
        assert_eq!(
            (times, slices.disturbed),
            (if cfg!(target_os = "linux") {
                (4, 4)
            } else {
                (1, 0)
            })
        );
    }
}

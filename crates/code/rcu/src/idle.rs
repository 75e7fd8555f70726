//! The needs of RCU from a CPU that wants to go idle.

use crate::cell::SharedCell;
use crate::cpu::Cpu;
use crate::platform::Platform;
use crate::state::Rcu;

/// The demand of RCU on a CPU that wants to go idle: its tick, or a time to wake at.
///
/// ```
/// use rcu::IdleNeed;
///
/// /// The jiffy of the next timer interrupt of a CPU that goes idle.
/// fn next_interrupt(need: IdleNeed, now: u64) -> Option<u64> {
///     match need {
///         IdleNeed::StopTick => None,
///         IdleNeed::KeepTick => Some(now + 1),
///         IdleNeed::WakeAt(jiffy) => Some(jiffy),
///     }
/// }
/// assert_eq!(next_interrupt(IdleNeed::KeepTick, 4), Some(5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleNeed {
    /// RCU needs nothing: the tick may stop.
    StopTick,
    /// The tick is to stay on. If the softirq was raised, it is to run before the CPU goes idle,
    /// and then RCU is to be asked again.
    KeepTick,
    /// The tick may stop, but the CPU is to wake at this jiffy.
    WakeAt(u64),
}

/// Jiffies between wake-ups of a CPU that idles by force with callbacks; Linux's
/// `rcu_idle_gp_delay`.
pub const IDLE_DELAY: u64 = 4;

/// Seconds between wake-ups of a CPU that idles by force with lazy callbacks only; Linux's
/// `rcu_idle_lazy_gp_delay`.
pub const IDLE_LAZY_DELAY_S: u64 = 6;

impl<P: Platform> Rcu<P> {
    /// Asked on the way into idle, and again after each interrupt that left the CPU idle, before it
    /// sleeps. May raise the softirq.
    pub fn idle_need(&self, p: &P) -> IdleNeed {
        let cpu = self.this(p);
        if cpu.offloaded {
            self.wake_deferred(p, cpu);
            return IdleNeed::StopTick;
        }
        if cpu.list.borrow(p).len() == 0 {
            return IdleNeed::StopTick;
        }
        if !cpu.enforced_idle {
            return IdleNeed::KeepTick;
        }
        if self.try_advance(p, cpu) {
            self.raise_softirq(p);
            return IdleNeed::KeepTick;
        }
        // The grace period can then pass while the CPU sleeps.
        self.accelerate(p, cpu);
        let all_lazy = cpu.list.borrow(p).all_lazy();
        let now = p.jiffies();
        // A callback that is not lazy comes in an interrupt, after which the CPU asks again: it
        // ends the long wait.
        IdleNeed::WakeAt(match all_lazy {
            false => (now + IDLE_DELAY).next_multiple_of(IDLE_DELAY),
            true => whole_second(now + IDLE_LAZY_DELAY_S * self.settings.hz, self.settings.hz),
        })
    }

    /// Tries to make callbacks of this CPU ready, at most once a jiffy; returns whether some are.
    pub(crate) fn try_advance(&self, p: &P, cpu: &Cpu<P>) -> bool {
        let now = Some(p.jiffies());
        if cpu.advanced_at.replace(now) == now {
            return false;
        }
        let pending = cpu.list.borrow(p).pending();
        if pending && self.nodes[cpu.leaf].sequence.load_relaxed(p) != cpu.sequence.get() {
            self.note_grace_periods(p, cpu);
        }
        cpu.list.borrow(p).done() > 0
    }
}

/// The nearest whole second, in jiffies; one that is less than a quarter behind counts as the
/// nearest.
fn whole_second(jiffy: u64, hz: u64) -> u64 {
    let over = jiffy % hz;
    if over < hz / 4 {
        jiffy - over
    } else {
        jiffy - over + hz
    }
}

#[cfg(test)]
mod tests {
    use super::whole_second;

    #[test]
    fn a_quarter_of_a_second_is_rounded_down() {
        assert_eq!(
            [600, 624, 625, 699].map(|jiffy| whole_second(jiffy, 100)),
            [600, 600, 700, 700]
        );
    }
}

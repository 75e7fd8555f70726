//! A CPU in closed loop: timers, interrupts that nobody foresees, and a tick that runs unless the
//! governor stops it.
//!
//! Unlike in a replay, what the governor chooses decides what wakes the CPU next: a tick that it
//! keeps does.

use idle::{Accounting, Governor, Kind, KnownSituation, Outcome, SleepLength, States};

/// The events of a CPU. Times are nanoseconds.
#[derive(Clone, Debug)]
pub struct Load {
    /// The CPU's idle states.
    pub states: States,
    /// The tick's period.
    pub tick_ns: u64,
    /// The timers' period.
    pub period_ns: u64,
    /// Work after each wake-up by a timer or an interrupt.
    pub work_ns: u64,
    /// When interrupts come, in order.
    pub interrupts: Vec<u64>,
    /// When it ends.
    pub end_ns: u64,
}

/// The way in which a governor did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopCounts {
    /// Stays in idle states.
    pub stays: u64,
    /// Stays that were too short for their state.
    pub above: u64,
    /// Stays for which the next deeper state would have paid.
    pub below: u64,
}

impl Load {
    /// Lives through the load with a governor.
    pub fn live(&self, kind: Kind) -> LoopCounts {
        let (states, tick_ns) = (&self.states, self.tick_ns);
        let mut governor = Governor::new(kind, states, tick_ns);
        let mut accounting = Accounting::default();
        let (mut now, mut stopped, mut next) = (0_u64, false, 0);
        let mut stays = 0;
        while now < self.end_ns {
            let fires = (now / self.period_ns + 1) * self.period_ns;
            let tick = (now / tick_ns + 1) * tick_ns;
            let event = |stopped: bool| if stopped { fires } else { fires.min(tick) };
            let sleep_length = SleepLength { timer_ns: fires - now, event_ns: event(stopped) - now };
            let mut asked = KnownSituation { tick_stopped: stopped, ..KnownSituation::new(sleep_length) };
            let choice = governor.select(states, &mut asked);
            stopped |= choice.stop_tick;
            while self.interrupts.get(next).is_some_and(|&at| at <= now) {
                next += 1;
            }
            let event = event(stopped);
            let wake = self.interrupts.get(next).map_or(event, |&at| at.min(event));
            let got_tick = wake == event && !stopped && tick <= fires;
            let residency_ns = accounting.leave(states, choice.state, wake - now);
            governor.reflect(states, &Outcome { got_tick, ..Outcome::stay(choice.state, residency_ns) });
            stays += 1;
            now = wake;
            // A tick alone leaves the CPU in its idle loop; work starts the tick again.
            if !got_tick || wake == fires {
                stopped = false;
                now += self.work_ns;
            }
        }
        let sum = |of: fn(&idle::Usage) -> u64| (0..states.len()).map(|state| of(accounting.usage(state))).sum();
        LoopCounts { stays, above: sum(|usage| usage.above), below: sum(|usage| usage.below) }
    }
}

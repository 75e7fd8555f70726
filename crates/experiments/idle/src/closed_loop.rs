//! A CPU in closed loop: timers, interrupts that nobody foresees, answers to the CPU's own work,
//! and a tick that runs unless the governor stops it.
//!
//! Unlike in a replay, what the governor chooses decides what wakes the CPU next. A tick that it
//! keeps does. A deep state delays the work, and with it the answer of a device that the work asks.

use idle::{
    Accounting, Governor, Kind, KnownSituation, MAX_STATES, Outcome, SleepLength, States, Usage,
};
use placement::{CAPACITY, Doing, Pelt};
use random::Congruential;

/// The events of a CPU. Times are nanoseconds.
#[derive(Clone, Debug)]
pub struct Load {
    /// The CPU's idle states.
    pub states: States,
    /// The tick's period.
    pub tick_ns: u64,
    /// The parts of the time, one after the other; the last is counted.
    pub phases: Vec<Phase>,
    /// Seed of what nobody foresees.
    pub seed: u64,
}

/// A part of the time.
#[derive(Clone, Debug)]
pub struct Phase {
    /// The timers' period.
    pub period_ns: u64,
    /// Work after each wake-up that is no tick alone.
    pub work_ns: u64,
    /// The time from an interrupt that nobody foresees to the next.
    pub interrupts: Option<Times>,
    /// The time that what the work asked for takes to answer: a device, or another CPU.
    pub answers: Option<Times>,
    /// When it ends.
    pub length_ns: u64,
}

/// Times that are drawn: ranges, each with its weight.
#[derive(Clone, Debug)]
pub struct Times(pub Vec<Range>);

/// A range of times, evenly spread.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The times that it is drawn, beside the others.
    pub weight: u64,
    /// The shortest time.
    pub least_ns: u64,
    /// The longest is shorter than the sum of both.
    pub spread_ns: u64,
}

impl Times {
    fn draw(&self, chance: &mut Congruential) -> u64 {
        // A single range takes no draw of its own.
        let mut at = match &self.0[..] {
            [_] => 0,
            all => chance.below(all.iter().map(|range| range.weight).sum()),
        };
        for range in &self.0 {
            if at < range.weight {
                return range.least_ns + chance.below(range.spread_ns.max(1));
            }
            at -= range.weight;
        }
        0
    }
}

/// Counts of what a governor chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopCounts {
    /// The counts of each state.
    pub states: [Usage; MAX_STATES],
    /// Answers to the CPU's work.
    pub answers: u64,
    /// The time that it took, in nanoseconds.
    pub length_ns: u64,
}

impl LoopCounts {
    /// A count of all states together.
    pub fn sum(&self, of: fn(&Usage) -> u64) -> u64 {
        self.states.iter().map(of).sum()
    }
}

impl Load {
    /// Lives through the load with a governor.
    pub fn live(&self, kind: Kind) -> LoopCounts {
        let mut governor = Governor::new(kind, &self.states, self.tick_ns);
        let mut counts = LoopCounts::default();
        for (number, phase) in (0..).zip(&self.phases) {
            counts = self.live_through(
                phase,
                &mut governor,
                Congruential::new(self.seed.wrapping_add(number)),
            );
        }
        counts
    }

    fn live_through(
        &self,
        phase: &Phase,
        governor: &mut Governor,
        mut chance: Congruential,
    ) -> LoopCounts {
        let (states, tick_ns) = (&self.states, self.tick_ns);
        let mut accounting = Accounting::default();
        let mut load = Pelt::new(0);
        let (mut now, mut stopped, mut answers) = (0_u64, false, 0);
        let mut interrupt = phase
            .interrupts
            .as_ref()
            .map(|times| times.draw(&mut chance));
        let mut answer = phase.answers.as_ref().map(|times| times.draw(&mut chance));
        while now < phase.length_ns {
            let fires = (now / phase.period_ns + 1) * phase.period_ns;
            let tick = (now / tick_ns + 1) * tick_ns;
            let event = |stopped: bool| if stopped { fires } else { fires.min(tick) };
            let sleep_length = SleepLength {
                timer_ns: fires - now,
                event_ns: event(stopped) - now,
            };
            let utilised = load.utilisation() > CAPACITY >> 6;
            let mut asked = KnownSituation {
                tick_stopped: stopped,
                utilised,
                ..KnownSituation::new(sleep_length)
            };
            let choice = governor.select(states, &mut asked);
            stopped |= choice.stop_tick;
            // One that came while the CPU worked was handled there.
            while let (Some(at), Some(times)) = (&mut interrupt, &phase.interrupts)
                && *at <= now
            {
                *at += times.draw(&mut chance).max(1);
            }
            let event = event(stopped);
            let wake = [interrupt, answer]
                .into_iter()
                .flatten()
                .fold(event, u64::min)
                .max(now);
            let got_tick = wake == event && !stopped && tick <= fires;
            let residency_ns = accounting.leave(states, choice.state, wake - now);
            governor.reflect(
                states,
                &Outcome {
                    got_tick,
                    ..Outcome::stay(choice.state, residency_ns)
                },
            );
            now = wake + states.get(choice.state).exit_latency_ns;
            load.update(now.saturating_mul(1000), Doing::Nothing, CAPACITY);
            // A tick alone leaves the CPU in its idle loop; work starts the tick again.
            if !got_tick || wake == fires {
                stopped = false;
                now += phase.work_ns;
                load.update(now.saturating_mul(1000), Doing::Running, CAPACITY);
            }
            if let (Some(at), Some(times)) = (&mut answer, &phase.answers)
                && *at <= now
            {
                answers += 1;
                *at = now + times.draw(&mut chance);
            }
        }
        let states = std::array::from_fn(|state| *accounting.usage(state));
        LoopCounts {
            states,
            answers,
            length_ns: now,
        }
    }
}

//! The configuration that a kernel is built with: everything that the sources do not say is here,
//! to be set or drawn from a declared range.

use crate::costs::Costs;

/// Which kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As in 2013 (Linux 3.10 to 3.12): the tick is stopped or kept before the governor is asked,
    /// wheel timers are exact to the jiffy.
    Y2013,
    /// As today: the governor decides about the tick, wheel timers are the coarser the longer they
    /// are.
    Modern,
}

/// Governor of the frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frequency {
    /// Each domain stays at its highest operating point.
    Highest,
    /// Each domain stays at its lowest operating point.
    Lowest,
    /// The lowest operating point that holds 1.25 times the utilisation of the domain's busiest
    /// CPU; looked at in ticks and wake-ups, and changed at most once in `rate_limit_ns`.
    Schedutil {
        /// The least time between changes of a domain, in nanoseconds.
        rate_limit_ns: u64,
    },
    /// The governor `ondemand` of Linux 3.10: where the busiest CPU of a domain was busy for more
    /// than 95 % of the time since the last look, the highest point; where it was for less than 92
    /// % of it, the lowest point at which it would have been busy for 92 %. Its timer wakes no idle
    /// CPU: it looks in the first tick after `sampling_ns` (`drivers/cpufreq/cpufreq_ondemand.c`,
    /// with idle times as exact as the clock).
    Ondemand {
        /// The time between two looks at a domain, in nanoseconds.
        sampling_ns: u64,
    },
}

/// A kernel's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which kernel.
    pub form: Form,
    /// Ticks per second, 24 to 1000.
    pub hz: u32,
    /// The governor of idle states.
    pub governor: idle::Kind,
    /// The longest exit latency that idle states may have (`/dev/cpu_dma_latency`), in nanoseconds.
    pub latency_limit_ns: u64,
    /// The delay with which a fair task's sleep may end, so that timers can be taken together, in
    /// nanoseconds.
    pub timer_slack_ns: u64,
    /// The CPU that takes unpinned timers, where not the one that sets them.
    pub timers_to: Option<usize>,
    /// Governor of the frequency.
    pub frequency: Frequency,
    /// The costs of the kernel's own work.
    pub costs: Costs,
    /// Draws what tasks leave to chance.
    pub seed: u64,
    /// True if stamps are kept.
    pub record: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            form: Form::Modern,
            hz: 250,
            governor: idle::Kind::menu(6, 1),
            latency_limit_ns: idle::NO_LIMIT_NS,
            timer_slack_ns: 50_000,
            timers_to: None,
            frequency: Frequency::Highest,
            costs: Costs::default(),
            seed: 1,
            record: false,
        }
    }
}

impl Settings {
    /// The settings of a kernel of 2013.
    pub fn of_2013() -> Self {
        Self {
            form: Form::Y2013,
            governor: idle::Kind::Menu310,
            ..Self::default()
        }
    }

    /// The period of the tick in ps.
    pub(crate) fn tick(&self) -> u64 {
        1_000_000_000_000 / u64::from(self.hz.max(1))
    }
}

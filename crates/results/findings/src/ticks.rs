//! The counter whose ticks are called clocks: the core's own, or a timer that is slower.

use crate::rows;
use recording::Recording;
use schemars::JsonSchema;
use serde::Serialize;

/// A tick of a counter that is longer than this, in nanoseconds, is none of a core.
const LONGEST_CLOCK_NS: f64 = 1.5;

/// The counter of a recording.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Ticks {
    /// The name of the counter whose ticks are clocks.
    pub counter: String,
    /// Length of a tick of the counter in nanoseconds; 0 where its frequency is not known.
    pub tick_ns: f64,
    /// Frequency of the core in Hz, where it is known.
    pub core_hz: Option<f64>,
}

impl Ticks {
    /// The counter of a recording.
    pub fn new(recording: &Recording) -> Self {
        let platform = recording.header.platform.as_ref();
        let text = platform.and_then(|platform| platform.text.parse::<toml::Table>().ok());
        let hz = text.and_then(|text| text.get("core")?.get("hz")?.as_integer());
        let (counter, tick_ns) = (
            rows::counter(recording).to_owned(),
            rows::tick_ns(recording),
        );
        Self {
            counter,
            tick_ns,
            core_hz: hz.map(|hz| hz as f64),
        }
    }

    /// True if the counter is a timer: its ticks are no clocks of a core, and are told as
    /// nanoseconds.
    pub fn is_timer(&self) -> bool {
        self.tick_ns > 0.0
            && (self.counter != "TSC" && self.counter != "counter"
                || self.tick_ns > LONGEST_CLOCK_NS)
    }

    /// The factor from ticks to the unit in which they are told.
    pub fn factor(&self) -> f64 {
        if self.is_timer() { self.tick_ns } else { 1.0 }
    }

    /// Clocks of the core for some ticks of a timer, where the core's frequency is known.
    pub fn core_clocks(&self, ticks: f64) -> Option<f64> {
        Some(ticks * self.tick_ns * self.core_hz? / 1e9).filter(|_| self.is_timer())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_a_timer_are_no_clocks() {
        let of = |counter: &str, tick_ns, core_hz| Ticks {
            counter: counter.to_owned(),
            tick_ns,
            core_hz,
        };
        let timer = of("CNTVCT", 40.0, Some(2e9));
        assert_eq!(
            (timer.is_timer(), timer.factor(), timer.core_clocks(1.0)),
            (true, 40.0, Some(80.0))
        );
        assert!(
            of("CNTVCT", 1.0, None).is_timer()
                && of("CNTVCT", 1.0, None).core_clocks(5.0).is_none()
        );
        assert!(!of("TSC", 0.4, None).is_timer() && !of("counter", 0.0, None).is_timer());
    }
}

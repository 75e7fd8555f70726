//! Recordings that tests write by hand.

use recording::{Header, Recording, Series};

/// CPU_SUSPEND as a caller of 64 bits names it.
pub const SUSPEND: u32 = smc::CPU_SUSPEND | smc::SMC64;

/// Events of one iteration, in the order of the recording: CPU, counter value, point, argument.
pub type Events<'a> = &'a [(u16, u64, &'a str, u32)];

/// A simulation's recording with nothing in it.
pub fn empty() -> Recording {
    Recording::new(Header::new("psci-latency", "sim", "ps"))
}

/// Adds events to an iteration of a series; the time of each is its counter value.
pub fn add(recording: &mut Recording, series: Series, iteration: u32, events: Events<'_>) {
    for &(cpu, ticks, point, argument) in events {
        let point = recording.point(point);
        recording.event(series, iteration, cpu, ticks, ticks, point, argument);
    }
}

/// A simulation's recording of these events: one iteration of one series, whose case says nothing.
pub fn of_events(events: Events<'_>) -> (Recording, Series) {
    let mut recording = empty();
    let series = recording.series("r", "c", "parallel");
    add(&mut recording, series, 0, events);
    (recording, series)
}

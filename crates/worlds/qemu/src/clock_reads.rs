//! The kernel's own clocks, read in a Linux guest.
//!
//! No program can call `ktime_get` or `local_clock`. But the kernel stamps each event of its trace
//! with the clock that `trace_clock` names, and a program can have it write events as fast as it
//! can: what an event takes more than one that is stamped with a count of ticks is one read.

use crate::linux::{Linux, boot};
use crate::{Error, Images, Machine};

/// The trace clocks: their names, and the function that each calls. Those of `ktime_get` are in the
/// form that an interrupt may call at any time; they read the counter and compute as it does.
pub const CLOCKS: [(&str, &str); 5] = [
    ("perf", "local_clock"),
    ("local", "trace_clock_local"),
    ("mono", "ktime_get_mono_fast_ns"),
    ("mono_raw", "ktime_get_raw_fast_ns"),
    ("boot", "ktime_get_boot_fast_ns"),
];

/// The trace clock that reads nothing but a word: the count of ticks.
const NOTHING: &str = "uptime";

/// The amount that is read.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds.
    pub rounds: u32,
    /// Reads of a round.
    pub reads: u32,
}

/// The time of a clock's reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    /// The trace clock.
    pub clock: String,
    /// The mean time of a read in each round, in nanoseconds of the guest. It may be
    /// below 0 where a read takes less than what a round is uncertain by.
    pub ns: Vec<f64>,
}

/// Boots, reads each clock, and powers off. One CPU reads: where time counts instructions, CPUs
/// take turns, so that none ever races another; in the host's time a read is lost in the host's own
/// work.
///
/// # Errors
/// The guest hangs, ends too early, or has no such clock.
pub fn run(
    images: &Images,
    linux: &Linux,
    machine: &Machine,
    effort: Effort,
    mut progress: impl FnMut(&str),
) -> Result<Vec<Times>, Error> {
    let mut guest = boot(images, linux, machine, "", "", 600)?;
    // The time of an event.
    let mut events: Vec<Times> = Vec::new();
    while let Some(line) = guest.line()? {
        let Some(at) = line.find('@') else {
            guest.check_line(line)?;
            continue;
        };
        let (word, rest) = line[at..].split_once(' ').unwrap_or((&line[at..], ""));
        match word {
            "@linux" => {
                progress(rest);
                let names: Vec<&str> = CLOCKS.iter().map(|clock| clock.0).collect();
                guest.type_line(&format!(
                    "clocks {} {} {NOTHING} {}",
                    effort.rounds,
                    effort.reads,
                    names.join(" ")
                ))?;
            }
            "@clock" => {
                let words: Vec<&str> = rest.split_whitespace().collect();
                let [clock, took_ns] = words[..] else {
                    return Err(guest.failed(format!("it said {line}")));
                };
                let Ok(took_ns) = took_ns.parse::<f64>() else {
                    return Err(guest.failed(format!("it said {line}")));
                };
                let ns = took_ns / f64::from(effort.reads);
                match events.iter_mut().find(|known| known.clock == clock) {
                    Some(known) => known.ns.push(ns),
                    None => {
                        progress(&format!("events stamped with {clock}"));
                        events.push(Times {
                            clock: clock.to_owned(),
                            ns: vec![ns],
                        });
                    }
                }
            }
            "@failed:" => return Err(guest.failed(rest)),
            _ => {}
        }
    }
    let median = |times: &Times| {
        let mut ns = times.ns.clone();
        ns.sort_unstable_by(f64::total_cmp);
        ns[ns.len() / 2]
    };
    let (nothing, clocks): (Vec<Times>, Vec<Times>) =
        events.into_iter().partition(|times| times.clock == NOTHING);
    if clocks.is_empty() || nothing.is_empty() {
        return Err(guest.failed("it read no clock".to_owned()));
    }
    let without = nothing.first().map_or(0.0, median);
    let less = |mut times: Times| {
        times.ns.iter_mut().for_each(|ns| *ns -= without);
        times
    };
    Ok(clocks.into_iter().map(less).collect())
}

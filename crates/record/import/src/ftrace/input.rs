//! The part that all readers share: how to read, what is said beside the events, and bytes.

use super::collect::Trace;
use crate::error::{ImportError, pass_over, printable};
use crate::text::some_bytes;
use recording::facts::{IdleState, IdleUsage};
use std::io::Read;

/// Options for reading a trace.
#[derive(Clone, Default)]
pub struct Options {
    /// The file's name, for errors and for the recording.
    pub file: String,
    /// True if what is malformed is left out with a warning.
    pub lenient: bool,
    /// The CPUs of each cluster. Where there is none, those that the trace names (idlestat's do);
    /// otherwise all CPUs are one.
    pub clusters: Vec<Vec<u16>>,
}

/// The part of a file that a reader finds beside its events.
#[derive(Default)]
pub struct Remainder {
    /// What the trace has beside what its events tell.
    pub trace: Trace,
    /// The tracer that wrote the file, where it says so.
    pub tracer: Option<String>,
    /// Lines between events that are none: how many, and number and text of the first.
    pub foreign: Option<(u64, u64, String)>,
    /// The CPUs of each cluster that the file names.
    pub clusters: Vec<Vec<u16>>,
}

/// Entries of what a trace says of its kernel under one name: far more than it has to say.
const MOST_SAID: usize = 16 * 1024;
/// Idle states of a kernel at most: its own limit is 10.
const MOST_STATES: usize = 64;

pub const RECORD_AGAIN: &str = "copy the file again, or repeat the recording";

pub const WHAT_IS_READ: &str = "what can be read is the kernel's `trace` file, what `trace-cmd report` or `perf script` prints, a systrace page, \
                            trace.dat, and a trace of Perfetto";
const WHAT_TO_RECORD: &str = "record idle states, for instance with `trace-cmd record -e power:cpu_idle -e timer -e irq` or \
                              `perf record -a -e power:cpu_idle`";

impl Remainder {
    /// Notes a line of the topology that idlestat writes first: `clusterA:`, `core0`, `cpu0`.
    pub fn topology(&mut self, line: &str) {
        if line.starts_with("cluster") && line.ends_with(':') && self.clusters.len() < MOST_SAID {
            self.clusters.push(Vec::new());
        } else if let Some(cpus) = self.clusters.last_mut()
            && let Some(cpu) = line.strip_prefix("cpu").and_then(|cpu| cpu.parse().ok())
            && cpus.len() < MOST_SAID
        {
            cpus.push(cpu);
        }
    }

    /// Notes the idle governor.
    pub fn governor(&mut self, name: &str) {
        self.trace
            .kernel
            .governor
            .get_or_insert_with(|| printable(name.trim()));
    }

    /// Notes the kernel's release.
    pub fn release(&mut self, release: &str) {
        self.trace
            .kernel
            .release
            .get_or_insert_with(|| printable(release.trim()));
    }

    /// Notes an idle state: `1 cpu-sleep latency 1500 us residency 2000 us`. What has another form
    /// is passed over.
    pub fn idle_state(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [number, name, ..] = words[..] else {
            return;
        };
        let us = |what: &str| {
            words
                .iter()
                .skip_while(|word| **word != what)
                .nth(1)?
                .parse()
                .ok()
        };
        let states = &mut self.trace.kernel.states;
        if number.parse() == Ok(states.len()) && states.len() < MOST_STATES {
            let (exit_latency_us, residency_us) = (us("latency"), us("residency"));
            states.push(IdleState {
                name: printable(name),
                exit_latency_us,
                residency_us,
            });
        }
    }

    /// Notes the kernel's own counts of an idle state: CPU, state, entries, microseconds, above,
    /// below, rejected.
    pub fn idle_usage(&mut self, at_ns: u64, line: &str) {
        let numbers: Vec<u64> = line
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let [cpu, state, entered, microseconds, above, below, rejected] = numbers[..] else {
            return;
        };
        let (Ok(cpu), Ok(state)) = (cpu.try_into(), state.try_into()) else {
            return;
        };
        let usage = &mut self.trace.kernel.usage;
        if usage.len() < MOST_SAID {
            usage.push(IdleUsage {
                at_ns,
                cpu,
                state,
                entered,
                microseconds,
                above,
                below,
                rejected,
            });
        }
    }

    /// Fails with an error, or notes it where the options are lenient.
    pub fn wrong(&mut self, options: &Options, error: ImportError) -> Result<(), ImportError> {
        let Trace {
            warnings, left_out, ..
        } = &mut self.trace;
        pass_over(error, options.lenient, warnings, left_out)
    }

    /// Leaves out the last line, which has no end and cannot be used without one.
    pub fn last_line(&mut self) {
        self.trace.left_out += 1;
        self.trace
            .doubts
            .push("the last line has no end and is cut short; it is left out".to_owned());
    }
}

/// Refuses a file of which too little is left: nothing that is kept, or no more than was left
/// out with `lenient`.
pub fn is_enough(trace: &Trace, file: &str) -> Result<(), ImportError> {
    let all = trace.events + trace.others.values().sum::<u64>();
    if let Some(first) = trace.warnings.first().filter(|_| trace.left_out >= all) {
        return Err(first.with_message(&format!(
            "{} of {} events are damaged; here: {}",
            trace.left_out,
            all + trace.left_out,
            first.message
        )));
    }
    if trace.events > 0 {
        return Ok(());
    }
    let kinds: Vec<String> = trace
        .others
        .iter()
        .take(8)
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    let message = match all {
        0 => "no event of a trace was found".to_owned(),
        _ => format!(
            "none of the {all} events in it is one that is read: {}",
            kinds.join(", ")
        ),
    };
    Err(ImportError::whole(
        file,
        message,
        if all == 0 {
            WHAT_IS_READ
        } else {
            WHAT_TO_RECORD
        },
    ))
}

pub fn unreadable(options: &Options, error: &std::io::Error) -> ImportError {
    ImportError::unreadable(&options.file, error)
}

/// Reads until the buffer is full or the file ends; how many bytes.
pub fn read_fully(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match some_bytes(input, &mut buffer[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}

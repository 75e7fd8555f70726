//! The output of `cat cpu*/cpuidle/state*/*`: the files of each state in alphabetical order,
//! without names.

use super::state::{Dump, FORMS, MOST_CPUS, State};
use crate::error::{ImportError, printable};

/// A line of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Above,
    Below,
    DefaultStatus,
    Desc,
    Disable,
    Latency,
    Name,
    Power,
    Rejected,
    Residency,
    Time,
    Usage,
}

use Field::{Above, Below, DefaultStatus, Desc, Disable, Latency, Name, Power, Rejected, Residency, Time, Usage};

/// The files of a state's folder since Linux 5.10, in their order.
const ALL: [Field; 12] =
    [Above, Below, DefaultStatus, Desc, Disable, Latency, Name, Power, Rejected, Residency, Time, Usage];

impl Field {
    const fn file(self) -> &'static str {
        match self {
            Above => "above",
            Below => "below",
            DefaultStatus => "default_status",
            Desc => "desc",
            Disable => "disable",
            Latency => "latency",
            Name => "name",
            Power => "power",
            Rejected => "rejected",
            Residency => "residency",
            Time => "time",
            Usage => "usage",
        }
    }

    /// True if a line may be of this file.
    fn takes(self, line: &str) -> bool {
        match self {
            DefaultStatus => matches!(line, "enabled" | "disabled"),
            // A description or a name that is a number would be a line too few or too many.
            Desc | Name => line.parse::<u64>().is_err() && !line.is_empty(),
            // Some kernels print -1 for the power of polling.
            Power => line.parse::<i64>().is_ok() || line.parse::<u64>().is_ok(),
            _ => line.parse::<u64>().is_ok(),
        }
    }
}

/// The files of kernels since 5.10, since 5.6, since 5.0, and before.
fn forms() -> [Vec<Field>; 4] {
    let without = |left_out: &[Field]| ALL.into_iter().filter(|field| !left_out.contains(field)).collect();
    [
        without(&[]),
        without(&[Rejected]),
        without(&[Rejected, DefaultStatus]),
        without(&[Rejected, DefaultStatus, Above, Below]),
    ]
}

/// A line that no form takes, and how far the form came.
struct ParseStop {
    states: usize,
    line: u64,
    text: String,
    message: String,
}

/// Reads the lines.
///
/// # Errors
/// A line that cannot be where it stands; the text ends within a state.
pub(super) fn read(file: &str, text: &str) -> Result<Dump, ImportError> {
    // What `cat` says of folders may stand between, where somebody kept its errors too.
    let lines: Vec<(u64, &str)> = (1..)
        .zip(text.lines())
        .map(|(number, line)| (number, line.trim_matches(['\0', '\r', ' ', '\t'])))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with("cat: "))
        .collect();
    let mut furthest: Option<ParseStop> = None;
    for form in forms() {
        match states(file, &lines, &form) {
            Ok(states) => return cpus(file, states),
            Err(stopped) => {
                if furthest.as_ref().is_none_or(|other| (stopped.states, stopped.line) > (other.states, other.line)) {
                    furthest = Some(stopped);
                }
            }
        }
    }
    let Some(stopped) = furthest.filter(|stopped| stopped.states > 0 || stopped.line > 3) else {
        return Err(ImportError::whole(file, "it is none of the forms of a dump", FORMS));
    };
    let help = "a state has 12 lines: above, below, default_status, desc, disable, latency, name, power, rejected, \
                residency, time, usage (no `rejected` before Linux 5.10, no `default_status` before 5.6)";
    Err(ImportError::new(file, stopped.line, &stopped.text, stopped.message, help))
}

fn states(file: &str, lines: &[(u64, &str)], form: &[Field]) -> Result<Vec<State>, ParseStop> {
    let mut states = Vec::new();
    for chunk in lines.chunks(form.len()) {
        let stopped = |line: u64, text: &str, message: String| ParseStop {
            states: states.len(),
            line,
            text: text.to_owned(),
            message,
        };
        let mut state = State { file: file.to_owned(), line: chunk[0].0, ..State::default() };
        for (field, (number, line)) in form.iter().zip(chunk) {
            if !field.takes(line) {
                let message = format!("`{}` cannot be a state's `{}`", printable(line), field.file());
                return Err(stopped(*number, line, message));
            }
            let count = line.parse::<u64>().ok();
            match field {
                Above => state.above = count,
                Below => state.below = count,
                Disable => state.disabled = count != Some(0),
                Latency => state.latency_us = count,
                Name => state.name = printable(line),
                Rejected => state.rejected = count,
                Residency => state.residency_us = count,
                Time => state.time_us = count,
                Usage => state.entered = count.unwrap_or(0),
                DefaultStatus | Desc | Power => {}
            }
        }
        if chunk.len() < form.len() {
            let (number, line) = chunk[chunk.len() - 1];
            let (last, missing) = (form[chunk.len() - 1].file(), form[chunk.len()].file());
            let message = format!("the text ends behind a state's `{last}`, before its `{missing}`: it is cut off");
            return Err(stopped(number, line, message));
        }
        states.push(state);
    }
    Ok(states)
}

/// Parts the states by CPUs: a CPU has no two states of one name. The shell sorts paths as text, so
/// `cpu10` comes before `cpu2`.
fn cpus(file: &str, states: Vec<State>) -> Result<Dump, ImportError> {
    let mut cpus: Vec<Vec<State>> = Vec::new();
    for state in states {
        match cpus.last_mut() {
            Some(cpu) if cpu.iter().all(|other| other.name != state.name) => cpu.push(state),
            _ => cpus.push(vec![state]),
        }
    }
    if cpus.len() > MOST_CPUS {
        return Err(ImportError::whole(file, format!("{} CPUs", cpus.len()), "at most 8192 can be read"));
    }
    let mut numbers: Vec<u16> = (0..cpus.len()).map(|cpu| cpu as u16).collect();
    numbers.sort_by_key(u16::to_string);
    let cpus = numbers.into_iter().zip(cpus).collect();
    Dump { file: file.to_owned(), cpus, numbered_by_order: true, ..Dump::default() }.check()
}

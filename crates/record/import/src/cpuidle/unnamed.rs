//! The output of `cat cpu*/cpuidle/state*/*`: the files of each state in alphabetical order,
//! without names.

use super::state::{Dump, FORMS, State, at_most_cpus};
use crate::error::{ImportError, printable};
use itertools::Itertools;

/// The files of a state's folder since Linux 5.10, in their order.
const ALL: &str =
    "above below default_status desc disable latency name power rejected residency time usage";

/// True if a line may be of this file.
fn takes(file: &str, line: &str) -> bool {
    match file {
        "default_status" => matches!(line, "enabled" | "disabled"),
        // A description or a name that is a number would be a line too few or too many.
        "desc" | "name" => line.parse::<u64>().is_err() && !line.is_empty(),
        // Some kernels print -1 for the power of polling.
        "power" => line.parse::<i64>().is_ok() || line.parse::<u64>().is_ok(),
        _ => line.parse::<u64>().is_ok(),
    }
}

/// The files that kernels since 5.10, since 5.6, since 5.0, and before do not have.
const LACKED: [&[&str]; 4] = [
    &[],
    &["rejected"],
    &["rejected", "default_status"],
    &["rejected", "default_status", "above", "below"],
];

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
pub fn read(file: &str, text: &str) -> Result<Dump, ImportError> {
    // What `cat` says of folders may stand between, where somebody kept its errors too.
    let lines = (1..)
        .zip(text.lines())
        .map(|(number, line)| (number, line.trim_matches(['\0', '\r', ' ', '\t'])))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with("cat: "))
        .collect_vec();
    let mut furthest: Option<ParseStop> = None;
    for lacked in LACKED {
        let form = ALL
            .split(' ')
            .filter(|name| !lacked.contains(name))
            .collect_vec();
        match states(file, &lines, &form) {
            Ok(states) => return cpus(file, states),
            Err(stopped) => {
                if furthest
                    .as_ref()
                    .is_none_or(|other| (stopped.states, stopped.line) > (other.states, other.line))
                {
                    furthest = Some(stopped);
                }
            }
        }
    }
    let Some(stopped) = furthest.filter(|stopped| stopped.states > 0 || stopped.line > 3) else {
        return Err(ImportError::whole(
            file,
            "it is none of the forms of a dump",
            FORMS,
        ));
    };
    let all = ALL.replace(' ', ", ");
    Err(ImportError::new(
        file,
        stopped.line,
        &stopped.text,
        stopped.message,
        format!(
            "a state has 12 lines: {all} (no `rejected` before Linux 5.10, no `default_status` before 5.6)"
        ),
    ))
}

fn states(file: &str, lines: &[(u64, &str)], form: &[&str]) -> Result<Vec<State>, ParseStop> {
    let mut states = Vec::new();
    for chunk in lines.chunks(form.len()) {
        let stopped = |line: u64, text: &str, message: String| ParseStop {
            states: states.len(),
            line,
            text: text.to_owned(),
            message,
        };
        let mut state = State {
            file: file.to_owned(),
            line: chunk[0].0,
            ..State::default()
        };
        for (field, (number, line)) in form.iter().zip(chunk) {
            if !takes(field, line) {
                return Err(stopped(
                    *number,
                    line,
                    format!("`{}` cannot be a state's `{}`", printable(line), field),
                ));
            }
            let count = line.parse::<u64>().ok();
            match *field {
                "above" => state.above = count,
                "below" => state.below = count,
                "disable" => state.disabled = count != Some(0),
                "latency" => state.latency_us = count,
                "name" => state.name = printable(line),
                "rejected" => state.rejected = count,
                "residency" => state.residency_us = count,
                "time" => state.time_us = count,
                "usage" => state.entered = count.unwrap_or(0),
                _ => {}
            }
        }
        if chunk.len() < form.len() {
            let (number, line) = chunk[chunk.len() - 1];
            let (last, missing) = (form[chunk.len() - 1], form[chunk.len()]);
            return Err(stopped(
                number,
                line,
                format!(
                    "the text ends behind a state's `{last}`, before its `{missing}`: it is cut off"
                ),
            ));
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
    at_most_cpus(file, cpus.len())?;
    let mut numbers = (0..cpus.len()).map(|cpu| cpu as u16).collect_vec();
    numbers.sort_by_key(u16::to_string);
    let cpus = numbers.into_iter().zip(cpus).collect();
    Dump {
        file: file.to_owned(),
        cpus,
        numbered_by_order: true,
        ..Dump::default()
    }
    .check()
}

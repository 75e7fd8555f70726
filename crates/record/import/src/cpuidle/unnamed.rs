//! The output of `cat cpu*/cpuidle/state*/*`: the files of each state in alphabetical order,
//! without names.

use super::files::Files;
use super::state::{Dump, FORMS};
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
    let mut furthest: Option<(usize, ImportError)> = None;
    for lacked in LACKED {
        let names = ALL.split(' ');
        let form = names.filter(|name| !lacked.contains(name)).collect_vec();
        let Some((states, error)) = stop(file, &lines, &form) else {
            return dump(file, &lines, &form);
        };
        if furthest
            .as_ref()
            .is_none_or(|(of, other)| (states, error.line) > (*of, other.line))
        {
            furthest = Some((states, error));
        }
    }
    Err(match furthest {
        Some((states, error)) if states > 0 || error.line > 3 => error,
        _ => ImportError::whole(file, "it is none of the forms of a dump", FORMS),
    })
}

/// The states before the first line that a form does not take, and the error there.
fn stop(file: &str, lines: &[(u64, &str)], form: &[&str]) -> Option<(usize, ImportError)> {
    let mut fields = lines.iter().zip(form.iter().cycle());
    let cut_at = lines.len() % form.len();
    let (at, message) = match fields.position(|((_, line), field)| !takes(field, line)) {
        Some(at) => {
            let (line, field) = (printable(lines[at].1), form[at % form.len()]);
            (at, format!("`{line}` cannot be a state's `{field}`"))
        }
        None if cut_at > 0 => {
            let (last, missing) = (form[cut_at - 1], form[cut_at]);
            let message = format!(
                "the text ends behind a state's `{last}`, before its `{missing}`: it is cut off"
            );
            (lines.len() - 1, message)
        }
        None => return None,
    };
    let help = format!(
        "a state has 12 lines: {} (no `rejected` before Linux 5.10, no `default_status` before 5.6)",
        ALL.replace(' ', ", ")
    );
    let (line, text) = lines[at];
    let error = ImportError::new(file, line, text, message, help);
    Some((at / form.len(), error))
}

/// Parts the states by CPUs: a CPU has no two states of one name. The shell sorts paths as text, so
/// `cpu10` comes before `cpu2`.
fn dump(file: &str, lines: &[(u64, &str)], form: &[&str]) -> Result<Dump, ImportError> {
    let name = form.iter().position(|field| *field == "name").unwrap_or(0);
    let mut cpus: Vec<Vec<&[(u64, &str)]>> = Vec::new();
    for state in lines.chunks(form.len()) {
        match cpus.last_mut() {
            Some(cpu) if cpu.iter().all(|other| other[name].1 != state[name].1) => cpu.push(state),
            _ => cpus.push(vec![state]),
        }
    }
    let numbers = (0..cpus.len()).map(|cpu| cpu.to_string()).sorted();
    let mut files = Files::default();
    for (cpu, states) in numbers.zip(cpus) {
        for (number, state) in states.into_iter().enumerate() {
            for (field, (line, text)) in form.iter().zip(state) {
                let path = format!("cpu{cpu}/state{number}/{field}");
                files.take(&path, text, (file, *line))?;
            }
        }
    }
    Ok(Dump {
        numbered_by_order: true,
        ..files.dump(file, "usage")?
    })
}

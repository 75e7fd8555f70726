//! Paths below `cpu*/`, put together as a dump.

use super::state::{Dump, MOST_STATES, State};
use crate::error::{ImportError, printable};
use std::collections::{BTreeMap, BTreeSet};

/// The files of a state's folder that are read. Which of them a kernel has depends on its version,
/// and is the same for all of its states.
const READ: [&str; 11] = [
    "name",
    "usage",
    "time",
    "above",
    "below",
    "rejected",
    "s2idle",
    "latency",
    "residency",
    "disable",
    "default_status",
];

/// The place of a file in a dump.
#[derive(Debug, PartialEq)]
pub enum Place<'p> {
    /// A state's file: what stands before the CPU's folder, CPU, state, the file's name.
    OfState(&'p str, u16, usize, &'p str),
    /// The CPU's cluster.
    Cluster(u16),
}

/// The place of a file, given its path; `None` for other files.
pub fn place(path: &str) -> Option<Place<'_>> {
    let number = |part: &str, prefix: &str| -> Option<usize> {
        let digits = part.strip_prefix(prefix)?;
        digits
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| digits.parse().ok())?
    };
    let cpu = |part: &str| number(part, "cpu").and_then(|cpu| u16::try_from(cpu).ok());
    let (folder, file) = path.rsplit_once('/')?;
    let (above, last) = folder.rsplit_once('/').unwrap_or(("", folder));
    if last == "topology" && file == "cluster_id" {
        return Some(Place::Cluster(cpu(above.rsplit('/').next()?)?));
    }
    let state = number(last, "state")?;
    let file = *READ.iter().find(|read| **read == file)?;
    // Whoever stood in the folder of one CPU names no other.
    let above = above
        .strip_suffix("cpuidle")
        .map_or(above, |above| above.trim_end_matches('/'));
    let (before, of_cpu) = above.rsplit_once('/').unwrap_or(("", above));
    Some(match cpu(of_cpu) {
        Some(cpu) => Place::OfState(before, cpu, state, file),
        None => Place::OfState(above, 0, state, file),
    })
}

/// A file's content and where it stands.
struct Value {
    text: String,
    file: String,
    line: u64,
}

/// Whose states they are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    Cpu(u16),
    Domain(String),
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cpu(cpu) => write!(f, "CPU {cpu}"),
            Self::Domain(name) => write!(f, "domain {name}"),
        }
    }
}

/// The files of a dump, as they come.
#[derive(Default)]
pub struct Files {
    values: BTreeMap<(Owner, usize), BTreeMap<&'static str, Value>>,
    clusters: BTreeMap<u16, u16>,
    before: Option<String>,
}

const ONE_DUMP: &str =
    "a dump has each file once: put the dump before and the one after into files of their own";

impl Files {
    /// Takes a file, if it is one that is read. `file` and `line` say where its content stands.
    pub fn take(
        &mut self,
        path: &str,
        text: &str,
        file: &str,
        line: u64,
    ) -> Result<(), ImportError> {
        // A tar archive of sysfs pads each file to the length of a page.
        let text = text.trim_matches(['\0', '\n', '\r', ' ', '\t']);
        match place(path) {
            None => {}
            Some(Place::Cluster(cpu)) => {
                // 65535 and -1 stand for a CPU in no cluster.
                self.clusters.extend(
                    text.parse()
                        .ok()
                        .filter(|cluster| *cluster < u16::MAX)
                        .map(|of| (cpu, of)),
                );
            }
            Some(Place::OfState(before, cpu, state, name)) => {
                match &self.before {
                    Some(first) if *first != before => {
                        return Err(ImportError::new(
                            file,
                            line,
                            text,
                            format!(
                                "there are several dumps: below `{}` and below `{}`",
                                first,
                                printable(before)
                            ),
                            ONE_DUMP,
                        ));
                    }
                    Some(_) => {}
                    None => self.before = Some(before.to_owned()),
                }
                self.state(Owner::Cpu(cpu), (state, name), text, (file, line))?;
            }
        }
        Ok(())
    }

    /// Takes a file of a state's folder, or what stands for it in a table.
    pub fn state(
        &mut self,
        owner: Owner,
        (state, name): (usize, &str),
        text: &str,
        (file, line): (&str, u64),
    ) -> Result<(), ImportError> {
        let wrong =
            |message: String, help: &str| Err(ImportError::new(file, line, text, message, help));
        if state >= MOST_STATES {
            return wrong(
                format!("state{state} of {owner}"),
                "a CPU has at most 10 idle states",
            );
        }
        let known = READ
            .iter()
            .find(|read| **read == name)
            .copied()
            .unwrap_or_default();
        let value = Value {
            text: text.to_owned(),
            file: file.to_owned(),
            line,
        };
        let shown = format!("state{state}/{name} of {owner}");
        if let Some(first) = self
            .values
            .entry((owner, state))
            .or_default()
            .insert(known, value)
        {
            let first = if first.line > 0 {
                format!(", first in line {}", first.line)
            } else {
                String::new()
            };
            return wrong(format!("{shown} comes a second time{first}"), ONE_DUMP);
        }
        Ok(())
    }

    /// True if no state's file came.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The dump that the files make up.
    pub fn dump(self, file: &str) -> Result<Dump, ImportError> {
        self.dump_with(file, "usage")
    }

    /// The same, of states that all have one file at least.
    pub fn dump_with(self, file: &str, needed: &str) -> Result<Dump, ImportError> {
        // All CPUs have the same files, and each domain its own.
        let kind = |owner: &Owner| {
            if let Owner::Domain(_) = owner {
                Some(owner.clone())
            } else {
                None
            }
        };
        let mut there = BTreeMap::new();
        for ((owner, _), values) in &self.values {
            there
                .entry(kind(owner))
                .or_insert_with(|| BTreeSet::from([needed]))
                .extend(values.keys());
        }
        let mut dump = Dump {
            file: file.to_owned(),
            clusters: self.clusters,
            ..Dump::default()
        };
        for ((owner, number), values) in &self.values {
            let states = match owner {
                Owner::Cpu(cpu) => dump.cpus.entry(*cpu).or_default(),
                Owner::Domain(name) => dump.domains.entry(name.clone()).or_default(),
            };
            let (at, line) = values
                .values()
                .max_by_key(|value| value.line)
                .map_or((file, 0), |value| (value.file.as_str(), value.line));
            if states.len() != *number {
                return Err(ImportError::new(
                    at,
                    line,
                    "",
                    format!("{owner} has state{number}, but no state{}", states.len()),
                    MISSING,
                ));
            }
            if let Some(missing) = there[&kind(owner)]
                .iter()
                .find(|name| !values.contains_key(*name))
            {
                return Err(ImportError::new(
                    at,
                    line,
                    "",
                    format!("state{number} of {owner} has no file `{missing}`"),
                    MISSING,
                ));
            }
            states.push(state(owner, *number, values)?);
        }
        dump.check()
    }
}

const MISSING: &str =
    "the dump is cut off, or files of it are missing: take it again, or send it whole";

fn state(
    owner: &Owner,
    number: usize,
    values: &BTreeMap<&str, Value>,
) -> Result<State, ImportError> {
    let count = |name: &str| -> Result<Option<u64>, ImportError> {
        let Some(value) = values.get(name) else {
            return Ok(None);
        };
        value.text.parse().map(Some).map_err(|_| {
            ImportError::new(
                &value.file,
                value.line,
                &value.text,
                format!(
                    "state{number}/{name} of {owner} is `{}`",
                    printable(&value.text)
                ),
                "it should be a whole number from 0",
            )
        })
    };
    let text = |name: &str| values.get(name).map(|value| printable(&value.text));
    let usage = values.get("usage");
    Ok(State {
        name: text("name")
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| format!("state{number}")),
        latency_us: count("latency")?,
        residency_us: count("residency")?,
        disabled: count("disable")?.is_some_and(|disable| disable != 0),
        entered: count("usage")?.unwrap_or(0),
        time_us: count("time")?,
        above: count("above")?,
        below: count("below")?,
        rejected: count("rejected")?,
        s2idle: count("s2idle")?,
        file: usage.map_or_else(String::new, |value| value.file.clone()),
        line: usage.map_or(0, |value| value.line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_cpu_state_and_file() {
        let of = |path| place(path);
        let whole = of("/sys/devices/system/cpu/cpu10/cpuidle/state2/usage");
        assert_eq!(
            whole,
            Some(Place::OfState("/sys/devices/system/cpu", 10, 2, "usage"))
        );
        assert_eq!(
            of("cpu3/cpuidle/state0/above"),
            Some(Place::OfState("", 3, 0, "above"))
        );
        assert_eq!(of("state1/time"), Some(Place::OfState("", 0, 1, "time")));
        assert_eq!(
            of("cpuidle/state1/time"),
            Some(Place::OfState("", 0, 1, "time"))
        );
        assert_eq!(of("good/cpu2/topology/cluster_id"), Some(Place::Cluster(2)));
        for other in [
            "cpu0/cpuidle/state0/s2idle/usage",
            "cpu0/cpuidle/state0/desc",
            "cpu0/stateX/usage",
            "usage",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}

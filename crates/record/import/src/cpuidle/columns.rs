//! Tables of columns: what was counted, or counters before and after.

use super::difference::{Between, between};
use super::state::{Counts, CpuCounts, Dump, MOST_STATES, State};
use crate::error::{ImportError, printable};
use crate::rows;
use document::Records;
use itertools::Itertools;
use recording::place_of;
use serde::Deserialize;

const RIGHT: &str = "the columns are state, name, usage, above, below and, where they are known, kernel, test, cpu, when \
                     (before or after), latency_us, residency_us, rejected, time_us; a row of \
                     test,kernel,state,name,usage,above,below is sqlite,good,1,C1,70212,5213,34602";

#[derive(Deserialize)]
struct Row {
    kernel: Option<String>,
    test: Option<String>,
    when: Option<String>,
    cpu: Option<u16>,
    state: usize,
    name: String,
    latency_us: Option<u64>,
    residency_us: Option<u64>,
    usage: u64,
    above: u64,
    below: u64,
    rejected: Option<u64>,
    time_us: Option<u64>,
}

/// True if a text's first line names the columns.
pub fn is_table(text: &str) -> bool {
    let header = text
        .lines()
        .next()
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .collect_vec();
    header.contains(&"state") && (header.contains(&"above") || header.contains(&"below"))
}

/// The rows of a kernel, a test and a moment.
struct Part {
    kernel: String,
    test: String,
    when: Option<bool>,
    cpus: Vec<CpuCounts>,
}

/// Reads the table.
///
/// # Errors
/// A column is missing; a row is wrong or comes twice; counters go back.
pub fn read(file: &str, text: &str) -> Result<Vec<Counts>, ImportError> {
    let mut records = Records::new(text.as_bytes(), b',');
    let header = match records.next() {
        Some((_, Ok(header))) => header,
        _ => return Err(ImportError::whole(file, "there is no header", RIGHT)),
    };
    let needed = ["state", "name", "usage", "above", "below"];
    rows::has_columns(&header, &needed, file, RIGHT)?;
    let mut parts: Vec<Part> = Vec::new();
    for (line, record) in records {
        let shown = rows::shown(&record);
        let wrong = |message: String| ImportError::new(file, line, &shown, message, RIGHT);
        let row: Row = record
            .map_err(|error| error.to_string())
            .and_then(|record| document::row(&record, &header))
            .map_err(wrong)?;
        let when = match row.when.as_deref() {
            None | Some("") => None,
            Some("before") => Some(false),
            Some("after") => Some(true),
            Some(other) => {
                return Err(wrong(format!(
                    "`{}` is neither before nor after",
                    printable(other)
                )));
            }
        };
        take(&mut parts, row, when, file, line).map_err(wrong)?;
    }
    if parts.is_empty() {
        return Err(ImportError::whole(file, "there is no row", RIGHT));
    }
    counts(file, parts)
}

fn take(
    parts: &mut Vec<Part>,
    row: Row,
    when: Option<bool>,
    file: &str,
    line: u64,
) -> Result<(), String> {
    let text = |text: Option<String>| printable(text.as_deref().unwrap_or_default().trim());
    let (kernel, test) = (text(row.kernel), text(row.test));
    let new = || Part {
        kernel: kernel.clone(),
        test: test.clone(),
        when,
        cpus: Vec::new(),
    };
    let is_meant = |part: &Part| (&part.kernel, &part.test, part.when) == (&kernel, &test, when);
    let at = place_of(parts, is_meant, new);
    let cpus = &mut parts[at].cpus;
    let new = || CpuCounts {
        cpu: row.cpu,
        ..CpuCounts::default()
    };
    let of_cpu = place_of(cpus, |cpu| cpu.cpu == row.cpu, new);
    let states = &mut cpus[of_cpu].states;
    if row.state != states.len() || row.state >= MOST_STATES {
        return Err(format!(
            "state {} stands where state {} should",
            row.state,
            states.len()
        ));
    }
    states.push(State {
        name: Some(printable(row.name.trim()))
            .filter(|name| !name.is_empty())
            .ok_or("the state has no name")?,
        latency_us: row.latency_us,
        residency_us: row.residency_us,
        entered: row.usage,
        time_us: row.time_us,
        above: Some(row.above),
        below: Some(row.below),
        rejected: row.rejected,
        s2idle: None,
        file: file.to_owned(),
        line,
        ..State::default()
    });
    Ok(())
}

/// The counts in each part; of parts before and after, their difference.
fn counts(file: &str, parts: Vec<Part>) -> Result<Vec<Counts>, ImportError> {
    let dump = |part: &Part| {
        let cpus = part
            .cpus
            .iter()
            .map(|cpu| (cpu.cpu.unwrap_or(0), cpu.states.clone()))
            .collect();
        Dump {
            file: file.to_owned(),
            cpus,
            ..Dump::default()
        }
        .check()
    };
    let mut all = Vec::new();
    for part in &parts {
        let cpus = match part.when {
            None => {
                let entered = part
                    .cpus
                    .iter()
                    .flat_map(|cpu| &cpu.states)
                    .map(|state| state.entered);
                if entered.fold(0, u64::saturating_add) == 0 {
                    let message =
                        format!("no idle state of {} {} was entered", part.kernel, part.test);
                    return Err(ImportError::whole(file, message.replace("  ", " "), RIGHT));
                }
                part.cpus.clone()
            }
            Some(after) => {
                let Some(other) = parts.iter().find(|other| {
                    (&other.kernel, &other.test, other.when)
                        == (&part.kernel, &part.test, Some(!after))
                }) else {
                    let missing = if after { "before" } else { "after" };
                    return Err(ImportError::whole(
                        file,
                        format!("{} has no rows of the dump {missing}", part.kernel),
                        RIGHT,
                    ));
                };
                if after {
                    continue;
                }
                let Between { cpus, .. } = between(&dump(part)?, &dump(other)?, None)?;
                if part.cpus.iter().all(|cpu| cpu.cpu.is_none()) {
                    cpus.into_iter()
                        .map(|cpu| CpuCounts {
                            cpu: None,
                            place: None,
                            ..cpu
                        })
                        .collect()
                } else {
                    cpus
                }
            }
        };
        all.push(Counts {
            variant: part.kernel.clone(),
            case: part.test.clone(),
            seconds: None,
            cpus,
        });
    }
    Ok(all)
}

//! Figures of states, put together as a dump or a table; and paths below `cpu*/`.

use super::difference::counts_between;
use super::forms::{At, Fields, number, quantity};
use super::state::{Content, Counts, Dump, MOST_STATES, Measured, State};
use crate::error::{ImportError, printable};
use recording::metrics::{METRICS, Metric};
use recording::place_of;
use std::collections::{BTreeMap, BTreeSet};

/// The files of a state that are read. Which of them a kernel has depends on its version, and is the
/// same for all of its states.
const READ: &str =
    "usage time above below rejected s2idle name latency residency disable default_status";

/// How many of these are counters.
const COUNTERS: usize = 6;

/// What says whose state it is and which.
const LABELS: &str = "cpu core package unit domain run test when state name";

/// True if a key says whose state it is or which, and is no quantity.
pub fn is_label(key: &str) -> bool {
    LABELS.split(' ').any(|label| label == key)
}

/// The metric of a quantity that is no file of a state: a share of the time, or what hardware
/// counted.
fn metric(key: &str) -> Option<&'static Metric> {
    let is_meant = |metric: &&Metric| metric.name == key && key.starts_with("idle_");
    METRICS.iter().find(is_meant)
}

/// A label's text, the last where it comes again.
fn label<'f>(fields: &'f Fields, key: &str) -> Option<&'f str> {
    let mut texts = fields.iter().rev().filter(|(known, _)| *known == key);
    texts.next().map(|(_, text)| text.trim())
}

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
    let cpu = |part: &str| numbered(part, "cpu");
    let (folder, file) = path.rsplit_once('/')?;
    let (above, last) = folder.rsplit_once('/').unwrap_or(("", folder));
    if last == "topology" && file == "cluster_id" {
        return Some(Place::Cluster(cpu(above.rsplit('/').next()?)?));
    }
    let state = numbered(last, "state")?;
    let file = READ.split(' ').find(|read| *read == file)?;
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

/// A figure's text and where it stands.
struct Value {
    text: String,
    file: String,
    line: u64,
}

impl Value {
    fn wrong(&self, message: String, help: &str) -> ImportError {
        ImportError::new(&self.file, self.line, &self.text, message, help)
    }
}

/// Whose states they are: a CPU, or a domain or another part of the hardware; all CPUs have no name.
type Owner = (Option<u16>, String);

fn shown((cpu, name): &Owner) -> String {
    match cpu {
        Some(cpu) => format!("CPU {cpu}"),
        None if name.is_empty() => "all CPUs".to_owned(),
        None => name.clone(),
    }
}

/// The figures of a state, by the names of their files or metrics.
type Values = BTreeMap<&'static str, Value>;

/// The kernel or machine, the test, and `before` or `after` of figures; empty where none is named.
type Part = [String; 3];

/// The figures of states, as they come.
#[derive(Default)]
pub struct Files {
    parts: Vec<Part>,
    values: BTreeMap<(usize, Owner, usize), Values>,
    clusters: BTreeMap<u16, u16>,
    before: Option<String>,
    /// True if a figure is that of an interval, and no counter since the start of the machine.
    pub is_counted: bool,
    /// True if some states may lack counters that others have.
    pub is_sparse: bool,
    /// True if a state without a figure was not entered.
    pub has_entered_alone: bool,
}

const ONE_DUMP: &str = "a dump has each figure once: put the dump before and the one after, or each interval, into files of their own";

/// The number behind one of some words.
pub fn numbered<N: std::str::FromStr>(text: &str, words: &str) -> Option<N> {
    let text = text.trim_end_matches(':').to_ascii_lowercase();
    let mut words = words.split(' ');
    words.find_map(|word| text.strip_prefix(word)?.trim().parse().ok())
}

impl Files {
    /// Takes a file, if it is one that is read. `file` and `line` say where its content stands.
    pub fn take(
        &mut self,
        path: &str,
        text: &str,
        (file, line): At<'_>,
    ) -> Result<(), ImportError> {
        // A tar archive of sysfs pads each file to the length of a page.
        let text = text.trim_matches(['\0', '\n', '\r', ' ', '\t']);
        match place(path) {
            None => {}
            Some(Place::Cluster(cpu)) => {
                // 65535 and -1 stand for a CPU in no cluster.
                let cluster = text.parse().ok().filter(|cluster| *cluster < u16::MAX);
                self.clusters.extend(cluster.map(|of| (cpu, of)));
            }
            Some(Place::OfState(before, cpu, state, name)) => {
                let first = self.before.get_or_insert_with(|| before.to_owned());
                if first != before {
                    let before = printable(before);
                    let message =
                        format!("there are several dumps: below `{first}` and below `{before}`");
                    return Err(ImportError::new(file, line, text, message, ONE_DUMP));
                }
                let part = self.part(&Fields::new());
                self.insert(
                    (part, (Some(cpu), String::new()), state),
                    name,
                    text,
                    (file, line),
                )?;
            }
        }
        Ok(())
    }

    /// The number of the part that some fields name.
    fn part(&mut self, fields: &Fields) -> usize {
        let of = ["run", "test", "when"];
        let part: Part = of.map(|key| printable(label(fields, key).unwrap_or_default()));
        place_of(&mut self.parts, |known| *known == part, || part.clone())
    }

    /// Takes what a row, a line or an object says of a state.
    pub fn add(&mut self, fields: &Fields, at: At<'_>) -> Result<(), ImportError> {
        let [state, name] = ["state", "name"].map(|key| label(fields, key));
        for (key, text) in fields.iter().filter(|(key, _)| !is_label(key)) {
            let (key, text) = quantity(key, text);
            let is_of_package = key.starts_with("package.");
            let (owner, key) = match (self.owner(fields, is_of_package), key) {
                (Some(owner), "percent") if owner.0.is_some() => (owner, "idle_requested"),
                (Some(owner), "percent") => (owner, "idle_hardware"),
                (Some(owner), key) => (owner, key.trim_start_matches("package.")),
                (None, _) => return Err(wrong(at, &text, "there is no number of a CPU")),
            };
            self.is_counted |= metric(key).is_some() || owner == Owner::default();
            let part = self.part(fields);
            let number = state.and_then(|text| numbered(text, "state s "));
            let name = name.or(state.filter(|_| number.is_none()));
            let name =
                name.or(Some(owner.1.as_str()).filter(|name| number.is_none() && !name.is_empty()));
            // Leaving a state is an event of state -1.
            if matches!(state.or(name), Some("4294967295" | "-1")) {
                return Ok(());
            }
            let number = number.or_else(|| self.named(part, &owner, name?));
            let number = number.ok_or_else(|| wrong(at, &text, "it names no state"))?;
            let name = name.map(printable);
            let of = (part, owner, number);
            let values = self.values.get(&of);
            let has = |key| values.is_some_and(|values| values.contains_key(key));
            // Each CPU's row repeats those of its package.
            let is_known = is_of_package && has(key);
            if let Some(name) = name.filter(|_| !has("name")) {
                self.insert(of.clone(), "name", &name, at)?;
            }
            if !is_known {
                self.insert(of, key, &text, at)?;
            }
        }
        Ok(())
    }

    /// Whose states some fields are about; `None` where a CPU has no number.
    fn owner(&self, fields: &Fields, is_of_package: bool) -> Option<Owner> {
        let label = |key| label(fields, key);
        let unit = |key| Some((None, printable(&format!("{key} {}", label(key)?))));
        if let Some(name) = label("unit").or(label("domain")) {
            return Some(match numbered(name, "cpu") {
                None => (None, printable(name)),
                cpu => (cpu, String::new()),
            });
        }
        match label("cpu").filter(|cpu| !cpu.is_empty()) {
            Some("-" | "all" | "total") => Some(Owner::default()),
            Some(_) if is_of_package => unit("package").or(Some((None, "package 0".to_owned()))),
            Some(cpu) => Some((Some(numbered(cpu, "cpu ")?), String::new())),
            None => {
                let cpu = Some(0).filter(|_| !self.is_counted);
                unit("core")
                    .or_else(|| unit("package"))
                    .or(Some((cpu, String::new())))
            }
        }
    }

    /// The number of an owner's state of a name, or the next one.
    fn named(&self, part: usize, owner: &Owner, name: &str) -> Option<usize> {
        let text = |number| {
            let values = self.values.get(&(part, owner.clone(), number))?;
            Some(&values.get("name")?.text)
        };
        (0..=MOST_STATES).find(|number| text(*number).is_none_or(|known| known == name))
    }

    /// Takes a figure, which comes once.
    fn insert(
        &mut self,
        of: (usize, Owner, usize),
        key: &str,
        text: &str,
        at: At<'_>,
    ) -> Result<(), ImportError> {
        let name = key.trim_end_matches('+');
        let read = READ.split(' ').find(|read| *read == name);
        let Some(known) = read.or_else(|| Some(metric(name)?.name)) else {
            return Ok(());
        };
        let place = (of.2, of.1.clone());
        let wrong = |text: &str, what: &str, help: &str| {
            let message = format!("state{}/{name} of {}{what}", place.0, shown(&place.1));
            Err(ImportError::new(at.0, at.1, text, message, help))
        };
        if of.2 >= MOST_STATES {
            return wrong(text, "", "a CPU has at most 10 idle states");
        }
        let mut text = text.to_owned();
        let values = self.values.entry(of).or_default();
        if let Some(first) = values.get(known) {
            let sum = |first: &str| first.parse::<u64>().ok()?.checked_add(text.parse().ok()?);
            match sum(&first.text).filter(|_| key != name) {
                Some(sum) => text = sum.to_string(),
                None => {
                    let what = format!(" comes a second time, first in line {}", first.line);
                    return wrong(&text, &what, ONE_DUMP);
                }
            }
        }
        let (file, line) = (at.0.to_owned(), at.1);
        values.insert(known, Value { text, file, line });
        Ok(())
    }

    /// True if no figure came.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// What the figures make up.
    pub fn content(self, file: &str) -> Result<Content, ImportError> {
        if self.is_counted || self.parts != [Part::default()] {
            return self.counts(file).map(Content::Table);
        }
        self.dump(file, "usage").map(Content::Dump)
    }

    /// The dump that the files make up, of states that all have one file at least.
    pub fn dump(mut self, file: &str, needed: &'static str) -> Result<Dump, ImportError> {
        let mut dump = self.states(0, file, needed)?;
        dump.clusters = std::mem::take(&mut self.clusters);
        dump.check()
    }

    /// The states in a part of the text.
    fn states(&self, part: usize, file: &str, needed: &'static str) -> Result<Dump, ImportError> {
        let mut dump = Dump {
            file: file.to_owned(),
            ..Dump::default()
        };
        // All CPUs have the same files, and each domain its own.
        let mut there: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for ((_, name), _, values) in self.of_part(part) {
            let files = values.keys().filter(|name| metric(name).is_none());
            there
                .entry(name)
                .or_insert_with(|| BTreeSet::from([needed]))
                .extend(files.filter(|_| !self.is_sparse));
        }
        for (owner, number, values) in self.of_part(part) {
            let has = |name: &str| values.contains_key(name);
            // A state that hardware or shares tell of has no counters.
            let is_measured = values.keys().any(|name| metric(name).is_some());
            if is_measured && !READ.split(' ').take(COUNTERS).any(has) {
                continue;
            }
            let states = match owner {
                (Some(cpu), _) => dump.cpus.entry(*cpu).or_default(),
                (None, name) => dump.domains.entry(name.clone()).or_default(),
            };
            while self.has_entered_alone && states.len() < number {
                let name = format!("state{}", states.len());
                states.push(State {
                    name,
                    file: dump.file.clone(),
                    ..State::default()
                });
            }
            let (next, of) = (states.len(), shown(owner));
            let missing = there[owner.1.as_str()].iter().find(|name| !has(name));
            let wrong = match missing {
                _ if next != number => {
                    format!("state {number} stands where state {next} should, of {of}")
                }
                Some(missing) => format!("state{number} of {of} has no file `{missing}`"),
                None => {
                    states.push(state(owner, number, values)?);
                    continue;
                }
            };
            let last = values.values().max_by_key(|value| value.line);
            let (file, line) = last.map_or((file, 0), |last| (last.file.as_str(), last.line));
            return Err(ImportError::new(file, line, "", wrong, MISSING));
        }
        Ok(dump)
    }

    /// The states in a part of the text: whose they are, their numbers and their figures.
    fn of_part(&self, part: usize) -> impl Iterator<Item = (&Owner, usize, &Values)> {
        let of_part = self.values.iter().filter(move |((of, ..), _)| *of == part);
        of_part.map(|((_, owner, number), values)| (owner, *number, values))
    }

    /// What a part of the text says beside counters.
    fn measured(&self, part: usize) -> Result<Vec<Measured>, ImportError> {
        let mut all = Vec::new();
        for (owner, index, values) in self.of_part(part) {
            let state = values
                .get("name")
                .map_or_else(|| format!("state{index}"), |name| name.text.clone());
            for (name, value) in values {
                let Some(metric) = metric(name) else { continue };
                // Shares are rounded, and counters of hardware and of time are read one by one.
                let most = if metric.unit == "%" { 110.0 } else { f64::MAX };
                let Some(of) = number(&value.text).filter(|of| (0.0..=most).contains(of)) else {
                    return Err(value.wrong(
                        format!("{name} of {state} of {} is `{}`", shown(owner), value.text),
                        "it should be a number from 0, and a share at most 100 %",
                    ));
                };
                let (cpu, place) = owner.clone();
                all.push(Measured {
                    place,
                    cpu,
                    state: state.clone(),
                    metric: *metric,
                    value: of,
                });
            }
        }
        Ok(all)
    }

    /// What each part counted; of parts before and after, their difference.
    fn counts(&self, file: &str) -> Result<Vec<Counts>, ImportError> {
        let mut all: Vec<Counts> = Vec::new();
        let whole = |message: String| Err(ImportError::whole(file, message, RIGHT));
        for (index, part) in self.parts.iter().enumerate() {
            let [run, test, when] = part;
            let other = match when.as_str() {
                "" => when,
                "before" => "after",
                "after" => "before",
                _ => return whole(format!("`{when}` is neither before nor after")),
            };
            let is_other = |of: &Part| of[..2] == part[..2] && of[2] == other;
            let Some(other_part) = self.parts.iter().position(is_other) else {
                return whole(format!("{run} has no rows of the dump {other}"));
            };
            let after = self.states(other_part, file, "usage")?;
            let before = match other {
                "before" => continue,
                "after" => self.states(index, file, "usage")?,
                _ => after.at_start(),
            };
            let measured = self.measured(index)?;
            let mut counts = Vec::new();
            if !before.counts_as(&after) {
                counts = counts_between(&before, &after, (run, test), None)?.0;
            } else if measured.is_empty() {
                let message = format!("no idle state of {run} {test} was entered");
                return whole(message.replace("  ", " "));
            }
            if !measured.is_empty() {
                let (variant, case) = (run.clone(), test.clone());
                counts.push(Counts {
                    variant,
                    case,
                    measured,
                    ..Counts::default()
                });
            }
            // Nobody said that CPUs with other states are a cluster.
            let cpus = counts.iter_mut().flat_map(|of| &mut of.cpus);
            cpus.for_each(|cpu| cpu.place = None);
            all.extend(counts);
        }
        Ok(all)
    }
}

fn wrong((file, line): At<'_>, text: &str, message: &str) -> ImportError {
    let help = "a row names a CPU by its number, and a state by its number or name";
    ImportError::new(file, line, text, message, help)
}

const RIGHT: &str = "the columns are state, name, usage and, where they are known, kernel, test, cpu, when (before or after), above, \
                     below, latency_us, residency_us, rejected, time_us; a row of test,kernel,state,name,usage,above,below is \
                     sqlite,good,1,C1,70212,5213,34602";

const MISSING: &str =
    "the dump is cut off, or files of it are missing: take it again, or send it whole";

fn state(owner: &Owner, number: usize, values: &Values) -> Result<State, ImportError> {
    let count = |name: &str| -> Result<Option<u64>, ImportError> {
        let Some(value) = values.get(name) else {
            return Ok(None);
        };
        value.text.parse().map(Some).map_err(|_| {
            let (of, text) = (shown(owner), &value.text);
            value.wrong(
                format!("state{number}/{name} of {of} is `{text}`"),
                "it should be a whole number from 0",
            )
        })
    };
    let text = |name: &str| values.get(name).map(|value| printable(&value.text));
    let usage = values.get("usage");
    Ok(State {
        name: text("name")
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| {
                format!("{}{number}", if owner.1.is_empty() { "state" } else { "S" })
            }),
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

//! The rows of one recording.

use attribution::{Cause, Split};
use recording::metrics::{POWERDOWN, PRINTED_CHANGE};
use recording::{Measure, Recording, Series};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// Whom a row is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// Nobody in particular.
    Whole,
    /// A CPU of which only the number is known.
    Cpu(u16),
    /// A CPU by its place.
    Place {
        /// Its cluster.
        cluster: u16,
        /// Its number there.
        core: u16,
    },
    /// The n-th CPU of a cluster to get the lock that decides, from 1; not its last man.
    Nth {
        /// The cluster.
        cluster: u16,
        /// From 1.
        n: u16,
    },
    /// The CPU that took the cluster down.
    LastMan {
        /// The cluster.
        cluster: u16,
    },
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Cpu(cpu) => write!(f, "CPU {cpu}"),
            Self::Place { cluster, core } => write!(f, "{cluster}.{core}"),
            Self::Nth { cluster, n } => {
                let suffix = match (n % 10, n % 100) {
                    (1, tens) if tens != 11 => "st",
                    (2, tens) if tens != 12 => "nd",
                    (3, tens) if tens != 13 => "rd",
                    _ => "th",
                };
                write!(f, "{n}{suffix} of {cluster}")
            }
            Self::LastMan { cluster } => write!(f, "last man of {cluster}"),
        }
    }
}

/// What rows match by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Release or configuration; empty where the recordings' only ones are compared, whatever they are called.
    pub variant: String,
    /// Case.
    pub case: String,
    /// Mode; empty where the case has none.
    pub mode: String,
    /// What was measured.
    pub metric: String,
    /// What else it is a measure of; empty where nothing else is.
    pub subject: String,
    /// Whom.
    pub who: Who,
}

impl Key {
    /// The last part of the row's label, as tables print it: the CPU or role, the subject.
    pub fn row(&self) -> String {
        match (&self.who, self.subject.as_str()) {
            (Who::Whole, subject) => subject.to_owned(),
            (who, "") => who.to_string(),
            (who, subject) => format!("{who} {subject}"),
        }
    }

    /// The whole label, as in `suspend-deepest parallel, powerdown, last man of 1`.
    pub fn label(&self) -> String {
        let parts = [&self.variant, &self.case, &self.mode].map(String::as_str);
        let table = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let row = self.row();
        let tail = if row.is_empty() { String::new() } else { format!(", {row}") };
        format!("{table}, {}{tail}", self.metric)
    }
}

/// The values of a row, with the causes of its median where events tell them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    pub(crate) unit: String,
    /// In the order of the iterations.
    pub(crate) values: Vec<f64>,
    places: Vec<(Series, u32, u16)>,
    /// Microseconds by cause of the median iteration, a value that occurred (the lower of the middle two).
    pub(crate) causes: BTreeMap<Cause, f64>,
}

impl Samples {
    /// Index of the lower median.
    fn median_index(&self) -> Option<usize> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_by(|&a, &b| self.values[a].total_cmp(&self.values[b]).then(a.cmp(&b)));
        order.get(self.values.len().checked_sub(1)? / 2).copied()
    }

    /// The lower of the middle two: a value that occurred.
    pub(crate) fn occurred(&self) -> f64 {
        self.median_index().map_or(f64::NAN, |index| self.values[index])
    }
}

/// A recording's rows.
pub(crate) struct Table {
    /// Rows in the order in which people read them.
    pub(crate) rows: Vec<(Key, Samples)>,
    /// Clusters in the order in which their CPUs went down, in the median of each table where lock order decides: case, order.
    pub(crate) orders: BTreeMap<(String, String, String), Vec<u16>>,
}

impl Table {
    /// The rows of the variants that `variant` renames; those for which it has nothing are left out.
    pub(crate) fn of(recording: &Recording, variant: impl Fn(&str) -> Option<String>) -> Self {
        let splits: HashMap<(Series, u32, u16, &str), Split> = attribution::each(recording)
            .into_iter()
            .map(|span| ((span.series, span.iteration, span.cpu, span.metric), span.split))
            .collect();
        let roles = Roles::of(recording, &splits);
        let tick_us = recording.header.time.counter_hz.map_or(0.0, |hz| 1e6 / hz as f64);
        let mut places: HashMap<Key, usize> = HashMap::new();
        let mut rows: Vec<(Key, Samples)> = Vec::new();
        for measure in recording.measures() {
            let metric = recording.text(measure.metric);
            let (named, case, mode) = recording.series_texts(measure.series);
            let Some(variant) = variant(named) else { continue };
            if metric.ends_with(PRINTED_CHANGE) {
                continue;
            }
            let key = Key {
                variant,
                case: case.to_owned(),
                mode: mode.to_owned(),
                metric: metric.to_owned(),
                subject: measure.subject.map_or_else(String::new, |name| recording.text(name).to_owned()),
                who: roles.who(measure),
            };
            let place = *places.entry(key.clone()).or_insert_with(|| {
                let unit = recording.text(measure.unit).to_owned();
                rows.push((key, Samples { unit, ..Samples::default() }));
                rows.len() - 1
            });
            let samples = &mut rows[place].1;
            samples.values.push(measure.value);
            samples.places.push((measure.series, measure.iteration, measure.cpu.unwrap_or(u16::MAX)));
        }
        for (key, samples) in &mut rows {
            let Some((series, iteration, cpu)) = samples.median_index().map(|index| samples.places[index]) else {
                continue;
            };
            if let Some(split) = splits.get(&(series, iteration, cpu, key.metric.as_str())) {
                samples.causes = split.causes.iter().map(|(&cause, &ticks)| (cause, ticks as f64 * tick_us)).collect();
            }
        }
        sort(&mut rows);
        let orders = orders(&rows);
        Self { rows, orders }
    }
}

/// Tables stay in the order in which they were recorded; within one, roles stand in their order.
fn sort(rows: &mut [(Key, Samples)]) {
    let mut tables: HashMap<(String, String, String), usize> = HashMap::new();
    let mut metrics: HashMap<String, usize> = HashMap::new();
    for (key, _) in rows.iter() {
        let next = tables.len();
        tables.entry((key.variant.clone(), key.case.clone(), key.mode.clone())).or_insert(next);
        let next = metrics.len();
        metrics.entry(key.metric.clone()).or_insert(next);
    }
    rows.sort_by_cached_key(|(key, _)| {
        let table = tables[&(key.variant.clone(), key.case.clone(), key.mode.clone())];
        let who = match key.who {
            Who::Whole => (0, 0),
            Who::Cpu(cpu) => (0, cpu),
            Who::Place { cluster, core } => (cluster, core),
            Who::Nth { cluster, n } => (cluster, n),
            Who::LastMan { cluster } => (cluster, u16::MAX),
        };
        (table, metrics[&key.metric], who)
    });
}

/// The clusters of a table's roles, by median powerdown.
fn orders(rows: &[(Key, Samples)]) -> BTreeMap<(String, String, String), Vec<u16>> {
    let mut tables: BTreeMap<_, Vec<(f64, u16)>> = BTreeMap::new();
    for (key, samples) in rows.iter().filter(|(key, _)| key.metric == POWERDOWN.name) {
        if let Who::Nth { cluster, .. } | Who::LastMan { cluster } = key.who {
            let table = (key.variant.clone(), key.case.clone(), key.mode.clone());
            tables.entry(table).or_default().push((samples.occurred(), cluster));
        }
    }
    tables
        .into_iter()
        .map(|(table, mut order)| {
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            (table, order.into_iter().map(|(_, cluster)| cluster).collect())
        })
        .collect()
}

/// Who had which role in which iteration.
struct Roles {
    roles: HashMap<(Series, u32, u16), Who>,
}

impl Roles {
    /// CPUs of a cluster by their powerdown in the iteration: the one that waited longest got the lock last. The last man is the one that
    /// flushed the L2, by its events; without events, the last of a suspend to the deepest level.
    fn of(recording: &Recording, splits: &HashMap<(Series, u32, u16, &str), Split>) -> Self {
        let mut tables: BTreeMap<(Series, u32, u16), Vec<(f64, u16)>> = BTreeMap::new();
        for measure in recording.measures() {
            let (_, case, mode) = recording.series_texts(measure.series);
            if recording.text(measure.metric) != POWERDOWN.name || !attribution::lock_order_decides(case, mode) {
                continue;
            }
            if let (Some(cpu), Some(cluster)) = (measure.cpu, measure.cluster) {
                let table = tables.entry((measure.series, measure.iteration, cluster)).or_default();
                table.push((measure.value, cpu));
            }
        }
        let mut roles = HashMap::new();
        for ((series, iteration, cluster), mut table) in tables {
            table.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let (_, case, _) = recording.series_texts(series);
            let flushed = |cpu: u16| {
                let split = splits.get(&(series, iteration, cpu, POWERDOWN.name));
                split.map(|split| split.causes.contains_key(&Cause::FlushL2))
            };
            let has_events = table.iter().any(|&(_, cpu)| flushed(cpu).is_some());
            let last_man = if has_events {
                table.iter().map(|&(_, cpu)| cpu).find(|&cpu| flushed(cpu) == Some(true))
            } else {
                table.last().map(|&(_, cpu)| cpu).filter(|_| case == "suspend-deepest")
            };
            let others = table.iter().map(|&(_, cpu)| cpu).filter(|&cpu| Some(cpu) != last_man);
            for (n, cpu) in (1..).zip(others) {
                roles.insert((series, iteration, cpu), Who::Nth { cluster, n });
            }
            if let Some(cpu) = last_man {
                roles.insert((series, iteration, cpu), Who::LastMan { cluster });
            }
        }
        Self { roles }
    }

    fn who(&self, measure: &Measure) -> Who {
        let role = measure.cpu.and_then(|cpu| self.roles.get(&(measure.series, measure.iteration, cpu)));
        match (role, measure.cluster.zip(measure.core), measure.cpu) {
            // A CPU's time in a state is over all iterations: it is the CPU's and not the role's.
            (Some(role), _, _) if measure.subject.is_none() => role.clone(),
            (_, Some((cluster, core)), _) => Who::Place { cluster, core },
            (_, None, Some(cpu)) => Who::Cpu(cpu),
            _ => Who::Whole,
        }
    }
}

//! What the nodes of a data plane did, as other programs print it: VPP's `show runtime`,
//! `show perfmon statistics` and `show errors`, the tables of rte_graph and grout, and telemetry as
//! CSIT's JSON and OpenMetrics have it.
//!
//! A table's headings say what its columns are, so that the older and newer forms, several tables,
//! and columns of a patched program are read in one way. VPP's vectors per call are recomputed from
//! their two terms.

use crate::error::ImportError;
use crate::samples::Samples;
use crate::text;
use itertools::Itertools;
use recording::{Header, Recording, grouped, metrics};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

const RIGHT: &str = "a row is the node's name and a figure for each heading, as in `ip4-lookup active 12 3072 0 1.54e1 256.00`; send what the \
                     program printed, whole";
const ONE_SHOW: &str =
    "put each `show runtime` into a file of its own; recordings of them can be compared";
const NO_ROW: &str =
    "`show runtime` prints nodes that ran since `clear runtime`: let packets come, and ask again";
const CSIT: &str = "CSIT's JSON of a test has `telemetry` or `result`";

/// The fields of a row, each with the headings and the keys of telemetry that stand for it, in lower
/// case. The fields behind those of time are events for each packet.
const FIELDS: [(&str, &[&str]); 12] = [
    ("calls", &["calls", "batches"]),
    ("vectors", &["vectors", "objs", "packets", "pkts"]),
    ("suspends", &["suspends"]),
    (
        "clocks",
        &[
            "clocks",
            "packet-clocks",
            "packet-time",
            "cycles/pkt",
            "clocks/packet",
            "clocks_per_packets",
        ],
    ),
    (PER_CALL, &["vectors/call", "objs/call"]),
    (OF_CALL, &["cycles/call"]),
    (ALL_CLOCKS, &["cycles"]),
    (
        "instructions",
        &[
            "inst/pkt",
            "instructions/packet",
            "instructions_per_packets",
        ],
    ),
    ("backend stalls", &["backend/pkt"]),
    ("frontend stalls", &["frontend/pkt"]),
    ("memory accesses", &["mem-access/pkt"]),
    ("mispredicted branches", &["[1.4]"]),
];
const PER_CALL: &str = "vectors of a call";
const OF_CALL: &str = "clocks of a call";
const ALL_CLOCKS: &str = "all clocks";

/// The field of a heading or a key, below a level of the caches such as `L1D`.
fn field(level: &str, heading: &str) -> Option<String> {
    let heading = heading.to_lowercase();
    if let "refill" | "miss/pkt" = heading.as_str() {
        return Some(format!("{level} misses"));
    }
    let mut fields = FIELDS.iter();
    let found = fields.find(|(_, headings)| headings.contains(&heading.as_str()));
    // Other counters of perfmon, in all or for each call or packet, and shares.
    let is_other =
        || heading.contains(['/', '%', '*', '[']) || ["access", "ipc"].contains(&&*heading);
    let name = found
        .map(|found| found.0)
        .or_else(|| is_other().then_some(""))?;
    Some(name.to_owned())
}

/// A node's row of one table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// The table or the kind of telemetry.
    #[serde(skip)]
    pub source: String,
    /// The thread's number; 0 where the text names none.
    pub thread: u16,
    /// The node's name.
    #[serde(rename = "name")]
    pub node: String,
    /// State of the row; empty where it is not told.
    pub state: String,
    /// Calls.
    pub calls: u64,
    /// Packets.
    pub vectors: u64,
    /// Suspends.
    pub suspends: u64,
    /// Clocks a packet, or a call or suspend where there was no packet.
    pub clocks: Option<f64>,
    /// Events for each packet, by their kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub events: BTreeMap<String, f64>,
}

impl Row {
    /// Takes figures, each with the field that it is of.
    fn take<F: AsRef<str>, T: AsRef<str>>(
        mut self,
        figures: impl IntoIterator<Item = (F, T)>,
    ) -> Result<Self, String> {
        let mut all = BTreeMap::new();
        for (field, text) in figures {
            let (field, text) = (field.as_ref(), text.as_ref().trim_end_matches('%'));
            let figure = text.parse().ok().filter(|figure: &f64| figure.is_finite());
            match figure {
                _ if field.is_empty() => {}
                Some(figure) => _ = all.insert(field.to_owned(), figure),
                // An event that the machine lacks, or 0 of 0.
                None if self.source != RUNTIME && matches!(text, "-" | "nan" | "-nan") => {}
                None => return Err(format!("{field} must be a number, and `{text}` is none")),
            }
        }
        let mut take = |field: &str| all.remove(field);
        for (count, field) in [
            (&mut self.calls, "calls"),
            (&mut self.vectors, "vectors"),
            (&mut self.suspends, "suspends"),
        ] {
            let figure = take(field).unwrap_or(0.0);
            if figure < 0.0 || figure.fract() > 0.0 {
                return Err(format!(
                    "{field} must be a whole number, and {figure} is none"
                ));
            }
            *count = figure as u64;
        }
        let vectors = self.vectors as f64;
        let each = vectors / self.calls.max(1) as f64;
        // Of the last seconds, where calls and packets are since the start.
        let lately = take(PER_CALL).filter(|of| of.trunc() != each.trunc());
        let of_call = take(OF_CALL).map(|clocks| clocks / lately.unwrap_or(each));
        let of_all = take(ALL_CLOCKS).map(|clocks| clocks / vectors);
        let clocks = take("clocks").or(of_call).or(of_all);
        self.clocks = clocks.filter(|clocks| clocks.is_finite());
        self.events = all;
        Ok(self)
    }

    /// Calls that found no packet, at least, of a node that polls mostly in vain: its clocks are
    /// those of these calls. 0 for another.
    fn empty_polls(&self) -> u64 {
        let is_idle = self.state == "polling" && self.vectors > 0 && self.calls > 2 * self.vectors;
        if is_idle {
            self.calls - self.vectors
        } else {
            0
        }
    }
}

/// A line of `show errors`, over all threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// The node that counts it.
    pub node: String,
    /// The reason; not each is a loss.
    pub reason: String,
    /// How often it was counted.
    pub count: u64,
}

/// The content of a text.
#[derive(Debug, Default, PartialEq)]
pub struct Nodes {
    /// Seconds of each thread, by its number.
    pub seconds: Vec<(u16, f64)>,
    /// The packets that came in over all threads, by the rates that were printed.
    pub received: f64,
    /// Those that were dropped, likewise.
    pub dropped: f64,
    /// Headings of columns that VPP itself does not have, and that were skipped.
    pub skipped: Vec<String>,
    /// The rows of the one table that has the clocks, in order.
    pub rows: Vec<Row>,
    /// Rows of other tables: events that were counted at other times.
    pub others: Vec<Row>,
    /// The counts of `show errors`.
    pub reasons: Vec<Reason>,
    /// Mpps that were received, in the trials of a test.
    pub rates: Vec<f64>,
    /// Sampled loads or misses.
    pub samples: Samples,
}

impl Nodes {
    /// The nodes over all threads, in the order of the text: the state of the first row, and clocks
    /// of all calls; of a node that met no packet, of a call or suspend. With each the packets that it
    /// met where it did not poll in vain.
    fn nodes(&self) -> Vec<(Row, u64)> {
        let rows = self.rows.iter().map(|row| (row.node.as_str(), row));
        let node = |(name, rows): (&str, Vec<&Row>)| {
            let sum = |of: fn(&Row) -> u64| rows.iter().map(|row| of(row)).sum();
            let vectors = sum(|row| row.vectors);
            let busy = rows.iter().filter(|row| row.empty_polls() == 0);
            let met = busy.clone().map(|row| row.vectors).sum();
            let clocks = busy.filter_map(|row| Some(row.clocks? * row.vectors as f64));
            let clocks = clocks.sum();
            let row = Row {
                node: name.to_owned(),
                state: rows[0].state.clone(),
                calls: sum(|row| row.calls),
                vectors,
                suspends: sum(|row| row.suspends),
                clocks: if vectors > 0 {
                    Some(clocks)
                } else {
                    rows[0].clocks
                },
                ..Row::default()
            };
            (row, met)
        };
        grouped(rows).into_iter().map(node).collect()
    }

    /// The packets that came in, over all threads, at least 1.
    pub fn packets(&self) -> f64 {
        // The printed rates have five digits; no node meets more packets than came in.
        let met = most_met(&self.rows);
        if self.received > 1.001 * met {
            self.received
        } else {
            met
        }
    }

    /// Clocks that all nodes together take for a packet that came in, but for nodes that poll in
    /// vain. A node's clocks weigh as many packets as met it: three workers with the same clocks
    /// take what one takes.
    pub fn clocks_per_packet(&self) -> f64 {
        self.nodes()
            .into_iter()
            .filter(|(_, met)| *met > 0)
            .filter_map(|(node, _)| node.clocks)
            .sum::<f64>()
            / self.packets()
    }

    /// The same of each thread's packets, for threads that met some.
    pub fn by_thread(&self) -> Vec<f64> {
        let rows = self.rows.iter().filter(|row| row.vectors > 0);
        let rows = grouped(rows.map(|row| (row.thread, row.clone())));
        let alone = |(_, rows)| Self {
            rows,
            ..Self::default()
        };
        rows.into_iter()
            .map(|of| alone(of).clocks_per_packet())
            .collect()
    }

    /// Calls that found no packet, at least, for each packet that came in, and a node that made
    /// some.
    pub fn empty_polls(&self) -> Option<(f64, &str)> {
        let all: u64 = self.rows.iter().map(Row::empty_polls).sum();
        let mut idle = self.rows.iter().filter(|row| row.empty_polls() > 0);
        Some((all as f64 / self.packets(), &idle.next()?.node))
    }

    /// Events for each packet that came in, by node and kind: each weighs the packets of its own
    /// table.
    pub fn events(&self) -> BTreeMap<(&str, &str), f64> {
        let mut events = BTreeMap::new();
        let rows = self.rows.iter().chain(&self.others);
        for (_, rows) in grouped(rows.map(|row| (&row.source, row))) {
            let met = most_met(rows.iter().copied());
            for (row, (kind, each)) in rows
                .iter()
                .flat_map(|row| row.events.iter().map(move |of| (row, of)))
            {
                let of_node = events.entry((row.node.as_str(), kind.as_str()));
                *of_node.or_default() += each * row.vectors as f64 / met;
            }
        }
        events
    }

    /// The number of all that was read of tables.
    fn size(&self) -> usize {
        self.rows.len() + self.others.len() + self.reasons.len() + self.rates.len()
    }

    /// Puts the rows that have no clocks, or are not of the table whose clocks are taken, beside the
    /// others.
    fn part(&mut self) {
        let all = self.rows.iter().chain(&self.others);
        let timed = all.filter(|row| row.clocks.is_some());
        let source = timed
            .min_by_key(|row| row.source != RUNTIME)
            .map(|row| row.source.clone());
        let is_main = |row: &Row| source.as_ref() == Some(&row.source);
        let all = self.rows.drain(..).chain(self.others.drain(..));
        (self.rows, self.others) = all.partition(is_main);
    }
}

/// Packets of the node that met most, over all threads, at least 1.
fn most_met<'r>(rows: impl IntoIterator<Item = &'r Row>) -> f64 {
    let met = rows.into_iter().into_grouping_map_by(|row| &row.node);
    let met = met.fold(0, |sum, _, row| sum + row.vectors);
    met.into_values().max().unwrap_or(0).max(1) as f64
}

/// Tables of which something else is known than their headings.
const RUNTIME: &str = "show runtime";
const PERFMON: &str = "show perfmon statistics";
const ERRORS: &str = "show errors";

/// A table that lines belong to.
struct Table {
    source: String,
    /// The fields of the columns behind the name and the state.
    columns: Vec<String>,
}

/// A reader of one line after the other.
#[derive(Default)]
struct Reader {
    nodes: Nodes,
    thread: u16,
    table: Option<Table>,
    /// The last table's header.
    header: u64,
    /// True behind a blank line, where what is no row is what the terminal showed next.
    after_gap: bool,
    /// The first line behind the header that is no row, if it may be what the terminal showed next.
    /// A row that follows shows that it is damaged.
    no_row: Option<Wrong>,
}

/// The line, the error, and what would be right.
type Wrong = (u64, String, &'static str);

/// First words of a node's state.
const STATES: [&str; 10] = [
    "active",
    "polling",
    "interrupt",
    "event",
    "any",
    "time",
    "done",
    "suspended",
    "disabled",
    "unknown",
];

/// Last words of a reason.
const SEVERITIES: [&str; 4] = ["error", "warning", "info", "unknown"];

impl Reader {
    fn line(&mut self, number: u64, words: &[&str]) -> Result<(), Wrong> {
        let figure = |word: &str| {
            let figure = word.trim_end_matches([':', ',']).parse().ok();
            figure.filter(|figure: &f64| figure.is_finite())
        };
        let second = words.get(1).and_then(|word| figure(word));
        let seconds = &mut self.nodes.seconds;
        match (words, second) {
            ([], _) => self.after_gap = true,
            (["Thread", ..], Some(thread)) => {
                self.thread = thread as u16;
                self.table = None;
            }
            (["Time", ..], Some(of_thread)) => {
                if seconds.iter().any(|(thread, _)| *thread == self.thread) {
                    let message = format!("a second table of thread {}", self.thread);
                    return Err((number, message, ONE_SHOW));
                }
                seconds.push((self.thread, of_thread));
                self.table = None;
            }
            (["vector", "rates", "in", ..], _) => {
                let of_thread = seconds.last().filter(|of| of.0 == self.thread);
                let seconds = of_thread.map_or(0.0, |of| of.1);
                let rate = |name| {
                    let at = words.iter().position(|word| *word == name)?;
                    figure(words.get(at + 1)?)
                };
                self.nodes.received += rate("in").unwrap_or(0.0) * seconds;
                self.nodes.dropped += rate("drop").unwrap_or(0.0) * seconds;
                self.table = None;
            }
            (["Total:"], _) => self.table = None,
            _ => {
                if let Some(table) = self.header(words).map_err(|wrong| (number, wrong, RIGHT))? {
                    (self.header, self.after_gap, self.no_row) = (number, false, None);
                    self.table = Some(table);
                } else if self.table.is_some() && !words.iter().all(|word| is_rule(word)) {
                    self.behind_header(number, words)?;
                }
            }
        }
        Ok(())
    }

    /// The table that a line of headings begins.
    fn header(&mut self, words: &[&str]) -> Result<Option<Table>, String> {
        let (source, headings) = match words {
            ["Name", "State", headings @ ..] => (RUNTIME, headings),
            ["Node" | "NODE", headings @ ..] => (words[0], headings),
            ["Count", "Node", "Reason", ..] => (ERRORS, &words[..0]),
            _ => (PERFMON, words),
        };
        let mut level = "";
        let mut columns = Vec::new();
        for heading in headings {
            match *heading {
                "L1" | "L2" | "L3" => level = heading,
                "CPU" if source == PERFMON => {}
                _ if heading.ends_with(':') => level = heading.trim_end_matches(':'),
                "Cycles" if source == PERFMON => columns.push(Some(String::new())),
                _ => columns.push(field(level, heading)),
            }
        }
        let has = |name: &str| columns.iter().flatten().any(|field| field == name);
        let lacks = |fields: &[&str]| fields.iter().any(|field| !has(field));
        let source = match source {
            RUNTIME => {
                let mut needed = FIELDS[..5].iter();
                if let Some((_, names)) = needed.find(|(name, _)| !has(name)) {
                    return Err(format!("no column {}", names.join(" or ")));
                }
                let all = headings.iter().zip(&columns);
                let other = all.filter(|(_, field)| field.is_none());
                self.nodes.skipped = other.map(|(heading, _)| (*heading).to_owned()).collect();
                source.to_owned()
            }
            PERFMON if columns.contains(&None) || lacks(&["vectors"]) || columns.len() < 3 => {
                return Ok(None);
            }
            PERFMON => headings.join(" "),
            ERRORS => source.to_owned(),
            _ if lacks(&["calls", "vectors"]) || lacks(&["clocks"]) && lacks(&[OF_CALL]) => {
                return Ok(None);
            }
            _ => {
                // It is printed again and again, since the start.
                self.nodes.rows.retain(|row| row.source != source);
                source.to_owned()
            }
        };
        let columns = columns.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Some(Table { source, columns }))
    }

    /// Takes a row, or what stands in the place of one.
    fn behind_header(&mut self, number: u64, words: &[&str]) -> Result<(), Wrong> {
        let Some(table) = &self.table else {
            return Ok(());
        };
        if table.source == ERRORS {
            self.reason(words);
            return Ok(());
        }
        if let [_, place] = words
            && let Some(thread) = place.strip_prefix('(').and_then(|of| of.strip_suffix(')'))
        {
            self.thread = thread.parse().unwrap_or(self.thread);
            return Ok(());
        }
        let (node, rest) = (words[0], &words[1..]);
        let row = self
            .row(table, words)
            .map_err(|message| (number, message, RIGHT));
        let figures = rest
            .iter()
            .filter(|word| word.parse::<f64>().is_ok())
            .count();
        let has_state = table.source == RUNTIME
            && rest
                .first()
                .is_some_and(|word| STATES.contains(&word.trim_matches(['"', '\''])));
        let is_prompt = node.ends_with(['#', '$', '>', '%']) || node.contains('@');
        match (row, self.no_row.take()) {
            (Ok(_), Some(damaged)) => return Err(damaged),
            (Ok(row), None) => {
                self.after_gap = false;
                self.nodes.rows.push(row);
            }
            (Err(_), _) if is_prompt => self.table = None,
            (Err(wrong), _) if figures >= 3 || has_state => return Err(wrong),
            (Err(_), _) if self.after_gap => self.table = None,
            (Err(wrong), first) => self.no_row = first.or(Some(wrong)),
        }
        Ok(())
    }

    fn row(&self, table: &Table, words: &[&str]) -> Result<Row, String> {
        let columns = &table.columns;
        // Headings that are skipped may have several words, and stand last.
        let last = columns.iter().rposition(|field| !field.is_empty());
        let is_figure =
            |word: &&str| *word == "-" || word.trim_end_matches('%').parse::<f64>().is_ok();
        let named = words
            .iter()
            .skip(1)
            .take_while(|word| !is_figure(word))
            .count()
            + 1;
        let (named, figures) = words.split_at(named.min(words.len()));
        if figures.len() > columns.len() || last.is_some_and(|last| figures.len() <= last) {
            return Err(format!(
                "a row must have a name and {} figures",
                columns.len()
            ));
        }
        let row = Row {
            source: table.source.clone(),
            thread: self.thread,
            node: named[0].to_owned(),
            state: named[1..].join(" ").trim_matches(['"', '\'']).to_owned(),
            ..Row::default()
        };
        row.take(columns.iter().zip(figures))
    }

    /// Takes a line of `show errors`: the same reason stands once for each thread.
    fn reason(&mut self, words: &[&str]) {
        let [count, node, reason @ ..] = words else {
            return;
        };
        let Ok(count) = count.parse::<u64>() else {
            self.table = None;
            return;
        };
        let index = reason
            .last()
            .is_some_and(|word| word.parse::<u64>().is_ok());
        let reason = &reason[..reason.len() - usize::from(index)];
        let severity = reason.last().is_some_and(|word| SEVERITIES.contains(word));
        let reason = reason[..reason.len() - usize::from(severity)].join(" ");
        let all = &mut self.nodes.reasons;
        match all
            .iter_mut()
            .find(|of| (of.node.as_str(), &of.reason) == (*node, &reason))
        {
            Some(of) => of.count += count,
            None => all.push(Reason {
                node: (*node).to_owned(),
                reason,
                count,
            }),
        }
    }
}

/// True for a word of a line that parts a table.
fn is_rule(word: &str) -> bool {
    word.bytes().all(|byte| matches!(byte, b'-' | b'.' | b'+'))
}

/// The kind of telemetry, the thread and the node.
type Sampled = (String, u16, String);

/// A sample of telemetry, with the field and its text.
fn sample(line: &str) -> Option<(Sampled, (String, String))> {
    let (name, rest) = line.trim().split_once('{')?;
    let (labels, value) = rest.rsplit_once('}')?;
    let label = |names: &[&str]| {
        let mut labels = labels.split(',').filter_map(|label| label.split_once('='));
        let (_, text) = labels.find(|(name, _)| names.contains(&name.trim()))?;
        Some(text.trim_matches(['\'', '"']).to_owned())
    };
    let name = name.replace('.', "_");
    let known = [
        "vpp_runtime_",
        "vpp_inst_and_clock_",
        "vpp_cache_data_",
        "grout_node_",
    ];
    let source = known.into_iter().find(|source| name.starts_with(source))?;
    let key = &name[source.len()..];
    let field = match key.split_once('_') {
        Some((level, "refill")) => field(&level.to_uppercase(), "refill")?,
        _ => field("", key)?,
    };
    let source = if source == known[0] { RUNTIME } else { source };
    let thread = label(&["thread_id"])
        .and_then(|id| id.parse().ok())
        .unwrap_or(0);
    let text = value.split_whitespace().next()?.to_owned();
    Some((
        (source.to_owned(), thread, label(&["node_name", "name"])?),
        (field, text),
    ))
}

impl Nodes {
    /// Takes samples of telemetry; of one that comes again, the last. False if there is none.
    fn samples<'t>(&mut self, lines: impl Iterator<Item = &'t str>) -> Result<bool, String> {
        let samples = grouped(lines.filter_map(sample));
        let is_some = !samples.is_empty();
        for ((source, thread, node), figures) in samples {
            let row = Row {
                source,
                thread,
                node,
                ..Row::default()
            };
            self.rows.push(row.take(figures)?);
        }
        Ok(is_some)
    }

    /// Takes what a program wrote as JSON.
    fn json(&mut self, json: &Value) -> Result<(), String> {
        if json["passed"] == false {
            return Err("the test did not pass".to_owned());
        }
        let lines = json["telemetry"].as_array().into_iter().flatten();
        self.samples(lines.filter_map(Value::as_str))?;
        let result = &json["result"];
        let trials = result["receive_rate"]["rate"]["values"].as_array();
        let bounds = ["pdr", "ndr"].map(|bound| &result[bound]["lower"]["rate"]["value"]);
        let rates = trials.into_iter().flatten().chain(bounds);
        self.rates = rates
            .filter_map(Value::as_f64)
            .map(|rate| rate / 1e6)
            .collect();
        Ok(())
    }
}

/// Reads a text, beside what other files said; `file` is its name, for errors.
///
/// # Errors
/// It cannot be read; it has no table, or no row; a row is damaged; a thread has two tables.
pub fn read(before: Nodes, input: impl Read, file: &str) -> Result<Nodes, ImportError> {
    // A mail breaks rows between their figures, and the header.
    let is_rest = |line: &[u8], next: &[u8]| {
        let mut words = next
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let is_header = line.trim_ascii().starts_with(b"Name ")
            && !line.trim_ascii().ends_with(b"Vectors/Call");
        is_header
            || words
                .all(|word| std::str::from_utf8(word).is_ok_and(|word| word.parse::<f64>().is_ok()))
    };
    let text = text::text(input, file, Some(is_rest))?;
    let error = |line: u64, message: String, help| {
        ImportError::new(file, line, text::line(&text, line), message, help)
    };
    let known = before.size();
    let mut reader = Reader {
        nodes: before,
        ..Reader::default()
    };
    if text.trim_start().starts_with('{') {
        let json = serde_json::from_str(&text);
        let json = json.map_err(|wrong| error(wrong.line() as u64, wrong.to_string(), CSIT))?;
        let read = reader.nodes.json(&json);
        read.map_err(|message| ImportError::whole(file, message, CSIT))?;
    } else if !reader
        .nodes
        .samples(text.lines())
        .map_err(|wrong| ImportError::whole(file, wrong, RIGHT))?
    {
        for (number, line) in (1..).zip(text.lines()) {
            // A counter of a node's own stands behind a tab.
            let line = line.split_once("|\t").map_or(line, |_| "");
            let line = line.replace('|', " ");
            let words: Vec<&str> = line.split_whitespace().collect();
            reader
                .line(number, &words)
                .map_err(|(line, message, help)| error(line, message, help))?;
        }
    }
    let Reader {
        mut nodes, header, ..
    } = reader;
    let mut is_empty = nodes.size() == known;
    if header == 0 && is_empty {
        nodes.samples = Samples::read(&text);
        is_empty = nodes.samples.count == 0;
    }
    match (header, is_empty) {
        (0, true) => Err(ImportError::whole(
            file,
            "no table: a line `Name State Calls Vectors Suspends Clocks Vectors/Call`, or the headings of perfmon, rte_graph or grout are missing, and so are samples of `perf script`",
            RIGHT,
        )),
        (_, true) => Err(error(header, "the table has no row".to_owned(), NO_ROW)),
        _ => {
            nodes.part();
            Ok(nodes)
        }
    }
}

/// Places of samples that are kept, those with most.
const MOST_PLACES: usize = 40;

/// Makes a recording of what was read. `variant` says what was measured: a version, a machine.
pub fn record(header: Header, variant: &str, nodes: &Nodes) -> Recording {
    let mut recording = Recording::new(header);
    recording.header.pictures =
        vec![metrics::CLOCKS_PER_PACKET.bars("Clocks per packet, by node", None)];
    let series = recording.series(variant, "show-runtime", "");
    for (thread, seconds) in &nodes.seconds {
        recording.measure(series, 0, "window", "s", *seconds).cpu = Some(*thread);
    }
    for (trial, rate) in (0..).zip(&nodes.rates) {
        recording.add(series, trial, metrics::RATE, "", *rate);
    }
    for ((node, kind), each) in nodes.events() {
        recording.add_part(series, 0, metrics::EVENTS, [node, kind], each);
    }
    for of in &nodes.reasons {
        let names = [of.node.as_str(), of.reason.as_str()];
        recording.add_part(series, 0, metrics::REASONS, names, of.count as f64);
    }
    for (place, share) in nodes.samples.shares().into_iter().take(MOST_PLACES) {
        recording.add(series, 0, metrics::SAMPLED, &place.label(), 100.0 * share);
    }
    if nodes.rows.is_empty() {
        return recording;
    }
    let (packets, total) = (nodes.packets(), nodes.clocks_per_packet());
    // If all nodes polled in vain, the clocks of a packet are not known.
    if total > 0.0 {
        recording.add(series, 0, metrics::CLOCKS_PER_PACKET, "", total);
    }
    recording.add(series, 0, metrics::RECEIVED, "", packets);
    if nodes.received > 0.0 {
        recording.add(series, 0, metrics::DROPPED, "", nodes.dropped);
    }
    if let Some((polls, _)) = nodes.empty_polls() {
        recording.add(series, 0, metrics::EMPTY_POLLS, "", polls * packets);
    }
    for (node, met) in nodes.nodes() {
        recording.header.set_state(&node.node, &node.state);
        let counts = [
            (metrics::CALLS, node.calls as f64),
            (metrics::VECTORS, node.vectors as f64),
            (metrics::SUSPENDS, node.suspends as f64),
        ];
        let clocks = node.clocks.unwrap_or_default();
        // Of a packet that came in, so that the nodes add up to the whole.
        let of_packet = (met > 0).then_some((metrics::CLOCKS_PER_PACKET, clocks / packets));
        let share = (metrics::PACKET_SHARE, node.vectors as f64 / packets);
        let of_packet = of_packet
            .into_iter()
            .chain((node.vectors > 0).then_some(share));
        let alone = (node.vectors == 0).then_some((metrics::CLOCKS, clocks));
        let each = node.vectors as f64 / node.calls.max(1) as f64;
        let per_call = (node.calls > 0).then_some((metrics::VECTORS_PER_CALL, each));
        for (metric, value) in of_packet.chain(counts).chain(alone).chain(per_call) {
            recording.add(series, 0, metric, &node.node, value);
        }
    }
    recording
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(before: Nodes, text: &str) -> Result<Nodes, ImportError> {
        read(before, text.as_bytes(), "runtime.txt")
    }

    fn parse(text: &str) -> Result<Nodes, ImportError> {
        with(Nodes::default(), text)
    }

    const OLD: &str = "\
Time 125.1, average vectors/node 255.99, last 128 main loops 12.00 per node 256.00
  vector rates in 2.5052e6, out 2.5052e6, drop 0.0000e0, punt 0.0000e0
             Name                 State         Calls          Vectors        Suspends         Clocks       Vectors/Call
acl-plugin-fa-cleaner-process   event wait                0               0               1          1.10e2            0.00
..
ethernet-input                   active             1224065       313360152               0          1.54e0          255.99
l2-input                         active             1224065       313360152               0         4.25e-1          255.99
";
    const NEW: &str = "\
Thread 0 vpp_main (lcore 0)
Time 3.0, 10.000000 sec internal node vector rate 0.00 loops/sec 147460.13
  vector rates in 0.0000e0, out 0.0000e0, drop 0.0000e0, punt 0.0000e0
             Name                 State         Calls          Vectors        Suspends     Packet-Clocks    Vectors/Call
fib-walk                        \"any wait\"                 0               0               2          6.03e3            0.00
---------------
Thread 1 vpp_wk_0 (lcore 1)
Time 3.0, 10.000000 sec internal node vector rate 256.00 loops/sec 147460.13
  vector rates in 1.3e7, out 1.3e7, drop 0.0000e0, punt 0.0000e0
Name\tState\tCalls\tVectors\tSuspends\tPacket-Clocks\tVectors/Call
ip4-lookup\tactive\t1000\t256000\t0\t6.03e0\t256.00
";

    #[test]
    fn the_old_form() {
        let runtime = parse(OLD).unwrap();
        assert_eq!(runtime.seconds, [(0, 125.1)]);
        assert_eq!(runtime.rows.len(), 3);
        assert_eq!(
            (runtime.rows[0].state.as_str(), runtime.rows[0].clocks),
            ("event wait", Some(110.0))
        );
        assert_eq!(
            (runtime.rows[2].node.as_str(), runtime.rows[2].clocks),
            ("l2-input", Some(0.425))
        );
    }

    #[test]
    fn the_new_form_with_threads_tabs_and_quotes() {
        let runtime = parse(NEW).unwrap();
        assert_eq!(runtime.rows[0].state, "any wait");
        assert_eq!(
            (runtime.rows[1].thread, runtime.rows[1].vectors),
            (1, 256_000)
        );
    }

    #[test]
    fn totals_weigh_the_packets_that_met_each_node() {
        let worker = |number: u16, rows: &[(&str, u64, f64)]| {
            let rows: Vec<String> = rows
                .iter()
                .map(|(node, vectors, clocks)| {
                    format!("{node} active 10 {vectors} 0 {clocks} 256.0")
                })
                .collect();
            let head = "Name State Calls Vectors Suspends Clocks Vectors/Call";
            format!(
                "Thread {number} vpp_wk\nTime 10.0, 10 sec\n  vector rates in 1e1, out 1e1\n{head}\n{}\n",
                rows.join("\n")
            )
        };
        let total = |workers: &[String]| parse(&workers.concat()).unwrap().clocks_per_packet();
        let all = [("dpdk-input", 100, 80.0), ("ip4-lookup", 100, 20.0)];
        assert_eq!(
            total(&[worker(1, &all), worker(2, &all), worker(3, &all)]),
            100.0
        );
        let half = [("dpdk-input", 100, 80.0), ("ip4-lookup", 50, 20.0)];
        assert_eq!(
            total(&[worker(1, &half)]),
            90.0,
            "half of the packets never met it"
        );
        assert!((parse(OLD).unwrap().clocks_per_packet() - 1.965).abs() < 1e-9);
    }

    #[test]
    fn columns_of_a_patched_vpp_are_skipped() {
        let more = |line: &str| match line.split_whitespace().count() {
            0 => line.to_owned(),
            _ if line.contains("Vectors/Call") => format!("{line} Misses"),
            _ if line.ends_with("255.99") || line.ends_with("0.00") => format!("{line} 17"),
            _ => line.to_owned(),
        };
        let text: Vec<String> = OLD.lines().map(more).collect();
        let runtime = parse(&text.join("\n")).unwrap();
        assert_eq!(runtime.skipped, ["Misses"]);
        assert_eq!(runtime.rows, parse(OLD).unwrap().rows);
    }

    #[test]
    fn a_node_that_polls_in_vain_adds_no_clocks() {
        let runtime = parse(
            "Time 10.0, 10 sec\n  vector rates in 1.2e1, out 1.2e1, drop 3.0e0\n\
             Name State Calls Vectors Suspends Clocks Vectors/Call\n\
             dpdk-input polling 1000120 120 0 3e6 0.00\neth0-tx active 120 120 0 8e2 1.00\n",
        )
        .unwrap();
        assert_eq!(runtime.clocks_per_packet(), 800.0);
        let alone = Nodes {
            rows: vec![runtime.rows[0].clone()],
            ..Nodes::default()
        };
        let recording = record(Header::new("import", "import", "ticks"), "vpp", &alone);
        let series = recording.all_series().next().unwrap();
        assert!(recording.values(series, "clocks-per-packet").is_empty());
        assert_eq!(runtime.empty_polls(), Some((1e6 / 120.0, "dpdk-input")));
        assert_eq!((runtime.dropped, runtime.by_thread()), (30.0, vec![800.0]));
    }

    #[test]
    fn vectors_per_call_are_recomputed() {
        let damaged = OLD.replace("255.99\n", "5.99\n");
        let recording = record(
            Header::new("import", "import", "ticks"),
            "vpp",
            &parse(&damaged).unwrap(),
        );
        let series = recording.all_series().next().unwrap();
        let values = recording.values(series, "vectors-per-call");
        assert!((values[0] - 255.9996).abs() < 1e-3, "{values:?}");
        let clocks = recording.values(series, "clocks-per-packet");
        let parts = clocks[1..].iter().sum::<f64>();
        assert!(
            (clocks[0] - parts).abs() < 1e-9 && (parts - 1.965).abs() < 1e-6,
            "{clocks:?}"
        );
    }

    const PERFMON_TEXT: &str = "\u{1b}[1m           L1D/L2D/L3D data cache accesses and refills per packet\u{1b}[0m
                    L1D: access refill   %*   L2D: access refill   %*   L3D: access refill  %*     pkts
vpp_wk_0 (1)
      \u{1b}[36mip4-lookup\u{1b}[0m     30.00       1.00  3.33%    1.00       0.50  50.00%     -         -     -    1000
      dpdk-input      9.00       0.20  2.22%    0.20       0.10  50.00%     -         -     -    1000
vpp_wk_1 (2)
      ip4-lookup     30.00       3.00  9.99%    3.00       0.50  50.00%     -         -     -    3000
      idle-node       nan        nan   0.00%    nan        nan   0.00%      -         -     -       0

all stats are per packet except refill rate (%)
*% percentage shown is total refills/accesses
";
    const INTEL: &str = "      instructions/packet, cycles/packet and IPC
              Calls    Packets   Packets/Call   Clocks/Packet   Instructions/Packet   IPC
vpp_wk_0 (1)
  ip4-lookup   10       1000        100.00         40.00              60.00           1.50
";

    fn event(nodes: &Nodes, node: &str, kind: &str) -> Option<f64> {
        nodes.events().get(&(node, kind)).copied()
    }

    #[test]
    fn counters_of_perfmon_weigh_the_packets_of_their_own_table() {
        let cache = parse(PERFMON_TEXT).unwrap();
        assert_eq!(event(&cache, "ip4-lookup", "L1D misses"), Some(2.5));
        assert_eq!(
            event(&cache, "dpdk-input", "L1D misses"),
            Some(0.05),
            "a quarter met it"
        );
        assert_eq!(event(&cache, "ip4-lookup", "L3D misses"), None);
        assert_eq!((cache.clocks_per_packet(), cache.rows.len()), (0.0, 0));
        let clocks = parse(INTEL).unwrap();
        assert_eq!(clocks.clocks_per_packet(), 40.0);
        let both = with(cache, INTEL).unwrap();
        assert_eq!(event(&both, "ip4-lookup", "L1D misses"), Some(2.5));
        assert_eq!(event(&both, "ip4-lookup", "instructions"), Some(60.0));
        // Clocks of `show runtime` go before.
        let all = with(both, OLD).unwrap();
        assert!((all.clocks_per_packet() - 1.965).abs() < 1e-9);
        let twice = with(all, OLD).unwrap_err();
        assert!(twice.message.contains("a second table of thread 0"));
        assert_eq!(
            parse(&PERFMON_TEXT.replace("9.00       0.20", "9.00"))
                .unwrap_err()
                .line,
            5
        );
    }

    #[test]
    fn errors_add_up_over_threads_and_no_total_is_counted_twice() {
        let plain = "vpp# show errors
   Count                  Node                              Reason               Severity
      1203                dpdk-input                      no error                 error
     90211                ip4-input                 ip4 spoofed local-address      error
         9                ip4-input                 ip4 spoofed local-address      error
";
        let reasons = parse(plain).unwrap().reasons;
        let reason = |node: &str, reason: &str, count| Reason {
            node: node.to_owned(),
            reason: reason.to_owned(),
            count,
        };
        let spoofed = reason("ip4-input", "ip4 spoofed local-address", 90_220);
        assert_eq!(
            reasons,
            [reason("dpdk-input", "no error", 1203), spoofed.clone()]
        );
        let verbose = "Thread 1 (vpp_wk_0):
   Count                  Node                              Reason               Severity   Index
     90220                ip4-input                 ip4 spoofed local-address      error      17
Total:
     90220                ip4-input                 ip4 spoofed local-address     17
";
        assert_eq!(parse(verbose).unwrap().reasons, [spoofed]);
    }

    const GRAPH: &str =
        "+-----------+-------+---------+-------------+---------+---------------+------------+
|Node       |calls  |objs     |realloc_count|objs/call|objs/sec(10E6) |cycles/call |
+-----------+-------+---------+-------------+---------+---------------+------------+
|ethdev_rx  |100    |3200     |2            |32.000   |12.310111      |640.0000    |
|\tmissed   |17     |         |             |         |               |            |
|ip4_lookup |100    |3200     |1            |32.000   |12.310111      |320.0000    |
+-----------+-------+---------+-------------+---------+---------------+------------+
";

    #[test]
    fn tables_of_other_graphs() {
        assert_eq!(parse(GRAPH).unwrap().clocks_per_packet(), 30.0);
        // It is printed again and again.
        let again = format!(
            "{GRAPH}\u{1b}[2J\u{1b}[1;1H{}",
            GRAPH.replace("320.0000", "160.0000")
        );
        assert_eq!(parse(&again).unwrap().clocks_per_packet(), 25.0);
        // Totals since the start, and ratios of the last seconds.
        let lately = GRAPH.replace("32.000", "64.000");
        assert_eq!(parse(&lately).unwrap().clocks_per_packet(), 15.0);
        let grout = "NODE         BATCHES  PACKETS  PKTS/BATCH  CYCLES/BATCH  CYCLES/PKT
port_rx          100     3200        32.0         640.0        20.0
ip_input         100     3200        32.0         320.0        10.0
";
        assert_eq!(parse(grout).unwrap().clocks_per_packet(), 30.0);
        let metrics = "# TYPE grout_node_packets counter
grout_node_packets{name=\"port_rx\"} 3200
grout_node_batches{name=\"port_rx\"} 100
grout_node_cycles{name=\"port_rx\"} 64000
";
        assert_eq!(parse(metrics).unwrap().clocks_per_packet(), 20.0);
        let csit = r#"{"test_id": "t", "passed": true,
            "result": {"type": "mrr", "receive_rate": {"rate": {"unit": "pps", "values": [18.26e6, 18.24e6]}}},
            "telemetry": [
                "vpp.runtime.calls{hook='h',node_name='ip4-lookup',state='any wait',thread_id='1'} 10.0",
                "vpp.runtime.vectors{hook='h',node_name='ip4-lookup',state='any wait',thread_id='1'} 2560 1700000000000",
                "vpp.runtime.clocks{hook='h',node_name='ip4-lookup',state='any wait',thread_id='1'} 14.5 1700000000000",
                "vpp.cache_data.l1d_refill{node_name='ip4-lookup',thread_id='1'} 1.5",
                "vpp.cache_data.pkts{node_name='ip4-lookup',thread_id='1'} 100"]}"#;
        let csit_read = parse(csit).unwrap();
        assert_eq!(csit_read.clocks_per_packet(), 14.5);
        assert_eq!(csit_read.rates, [18.26, 18.24]);
        assert_eq!(event(&csit_read, "ip4-lookup", "L1D misses"), Some(1.5));
        let failed = parse(&csit.replace("true", "false")).unwrap_err();
        assert_eq!(failed.message, "the test did not pass");
        assert!(parse("{\"a\": }").unwrap_err().line == 1);
    }

    proptest::proptest! {
        #[test]
        fn nodes_add_up_to_the_whole_and_a_rare_one_weighs_its_share(
            nodes in proptest::collection::vec((1..1_000_000_u64, 0.1..500.0_f64), 1..8),
            rare in 1..20_u64,
            threads in 1..4_u16,
        ) {
            let row = |thread, node: usize, vectors, clocks| Row {
                thread,
                node: format!("node-{node}"),
                state: "active".to_owned(),
                calls: 1,
                vectors,
                suspends: 0,
                clocks: Some(clocks),
                ..Row::default()
            };
            let met = nodes.iter().map(|node| node.0).max().unwrap_or(1) * u64::from(threads);
            let rows = (0..threads).flat_map(|thread| {
                let rows = nodes.iter().enumerate();
                rows.map(move |(node, (vectors, clocks))| row(thread, node, *vectors, *clocks))
            });
            let mut runtime = Nodes { rows: rows.collect(), ..Nodes::default() };
            let before = runtime.clocks_per_packet();
            let recorded = |runtime: &Nodes| {
                let recording = record(Header::new("import", "import", "ticks"), "vpp", runtime);
                let series = recording.all_series().next().unwrap();
                recording.values(series, "clocks-per-packet")
            };
            let clocks = recorded(&runtime);
            proptest::prop_assert!((clocks[0] - clocks[1..].iter().sum::<f64>()).abs() < 1e-9 * clocks[0]);
            proptest::prop_assert_eq!(clocks.len(), nodes.len() + 1, "threads are no rows");
            runtime.rows.push(row(0, 99, rare.min(met), 1e4));
            let more = runtime.clocks_per_packet() - before;
            let share = rare.min(met) as f64 / met as f64;
            proptest::prop_assert!((more - 1e4 * share).abs() < 1e-6 * (1.0 + more), "{} {}", more, share);
        }
    }

    proptest::proptest! {
        /// A second thread with the same figures, or the table given twice, changes no count for a
        /// packet.
        #[test]
        fn threads_and_copies_of_a_table_change_no_event(
            nodes in proptest::collection::vec((1..1_000_000_u64, 0..10_000_u32), 1..6),
        ) {
            let thread = |number: usize| {
                let row = |(at, (packets, misses)): (usize, &(u64, u32))| {
                    let misses = f64::from(*misses) / 100.0;
                    format!("  node-{at} 9.00 {misses:.2} 5.00% 1.00 0.10 9.00% {packets}\n")
                };
                let rows: String = nodes.iter().enumerate().map(row).collect();
                format!("vpp_wk_{number} ({number})\n{rows}")
            };
            let head = "L1/L2 data TLB cache accesses, refills, walks per packet\n\
                        L1D-TLB: access refill %* L2D-TLB: access refill %* pkts\n";
            let one = format!("{head}{}", thread(1));
            let two = format!("{one}{}", thread(2));
            let of = |nodes: Nodes| nodes.events().into_iter().map(|(key, each)| {
                (format!("{key:?}"), (each * 1e9).round())
            }).collect_vec();
            let alone = of(parse(&one).unwrap());
            proptest::prop_assert_eq!(alone.len(), 2 * nodes.len());
            proptest::prop_assert_eq!(&of(parse(&two).unwrap()), &alone);
            let again = with(parse(&one).unwrap(), &one).unwrap();
            proptest::prop_assert_eq!(&of(again), &alone);
        }
    }

    #[test]
    fn a_wrong_text_is_refused_with_its_line() {
        assert!(parse("hello").unwrap_err().message.contains("no table"));
        let error =
            parse(&OLD.replace("313360152               0          1.54e0", "many 0 1.54e0"))
                .unwrap_err();
        assert_eq!(error.line, 6);
        assert!(error.message.contains("vectors must be a number"));
        assert_eq!(parse(&OLD.replace("1.54e0", "nan")).unwrap_err().line, 6);
        assert!(
            parse("Name State Calls Vectors Suspends Time\n")
                .unwrap_err()
                .message
                .contains("packet-clocks")
        );
        let cut = OLD.split_at(OLD.len() - 60).0;
        assert_eq!(parse(cut).unwrap_err().line, 7, "{cut}");
        let damaged = OLD.replace("ethernet-input ", "words of nobody\nethernet-input ");
        assert_eq!(parse(&damaged).unwrap_err().line, 6);
        let empty: String = NEW
            .lines()
            .filter(|line| !line.contains("ip4-lookup") && !line.contains("fib-walk"))
            .map(|line| format!("{line}\n"))
            .collect();
        let error = parse(&empty).unwrap_err();
        assert_eq!(
            (error.line, error.message.as_str()),
            (9, "the table has no row")
        );
        assert!(error.help.contains("clear runtime"));
        assert!(
            parse(&(OLD.to_owned() + OLD))
                .unwrap_err()
                .message
                .contains("a second table of thread 0")
        );
    }

    #[test]
    fn tables_stand_in_sessions_logs_and_mails() {
        let right = parse(OLD).unwrap();
        for behind in [
            "vpp#",
            "vpp# show errors\n   Count  Node\n",
            "vpp# quit\nroot@dut:~# uptime\n 1 2 3 4 5 6\n",
            "DBGvpp# ",
            "\n\nThanks,\nme",
        ] {
            assert_eq!(
                parse(&format!("vpp# show runtime\n{OLD}{behind}")).unwrap(),
                right,
                "{behind}"
            );
        }
        for before in ["2026-10-02T08:11:01Z ", "> ", ">> ", "[   12.345678] "] {
            let text: String = OLD
                .lines()
                .map(|line| format!("{before}{line}\r\n"))
                .collect();
            assert_eq!(parse(&text).unwrap(), right, "{before}");
        }
        // A mail of 72 columns.
        let mut mail = String::new();
        for (number, line) in OLD.lines().map(str::trim_end).enumerate() {
            let mut rest = line;
            while rest.len() > 72 {
                let at = rest[..73].rfind(' ').unwrap();
                mail += &format!("> {}\n", rest[..at].trim_end());
                // Some break at one blank and keep the others.
                rest = if number % 2 == 0 {
                    &rest[at + 1..]
                } else {
                    rest[at..].trim_start()
                };
            }
            mail += &format!("> {rest}\n");
        }
        assert_eq!(parse(&mail).unwrap(), right, "{mail}");
    }
}

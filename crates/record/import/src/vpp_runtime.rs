//! VPP's `show runtime`, as a recording.
//!
//! Knows the older form (a `Clocks` column) and the newer ones (`Packet-Clocks`, `Packet-Time`),
//! several threads, states of one or more words, and columns separated by tabs or blanks. What VPP
//! prints as vectors per call is recomputed from its two terms.

use crate::error::ImportError;
use crate::text;
use recording::{Header, Recording, grouped, metrics};
use serde::Serialize;
use std::io::Read;

const RIGHT: &str = "a row is the node's name, its state, calls, vectors, suspends, clocks and vectors per call, as in `ip4-lookup active 12 3072 0 \
                     1.54e1 256.00`; send what `show runtime` printed, whole";
const ONE_SHOW: &str =
    "put each `show runtime` into a file of its own; recordings of them can be compared";
const NO_ROW: &str =
    "`show runtime` prints nodes that ran since `clear runtime`: let packets come, and ask again";

/// A node's row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The thread's number; 0 where the text names none.
    pub thread: u16,
    /// The node's name.
    #[serde(rename = "name")]
    pub node: String,
    /// State of the row.
    pub state: String,
    /// Calls.
    pub calls: u64,
    /// Packets.
    pub vectors: u64,
    /// Suspends.
    pub suspends: u64,
    /// Clocks a packet, or a call or suspend where there was no packet.
    pub clocks: f64,
}

/// The content of a text.
#[derive(Debug, Default, PartialEq)]
pub struct Runtime {
    /// Seconds of each thread, by its number.
    pub seconds: Vec<(u16, f64)>,
    /// The packets that came in over all threads, by the rates that were printed.
    pub received: f64,
    /// Those that were dropped, likewise.
    pub dropped: f64,
    /// Headings of columns that VPP itself does not have, and that were skipped.
    pub skipped: Vec<String>,
    /// The rows, in order.
    pub rows: Vec<Row>,
}

impl Row {
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

impl Runtime {
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
            let clocks = busy.map(|row| row.clocks * row.vectors as f64).sum();
            let row = Row {
                thread: 0,
                node: name.to_owned(),
                state: rows[0].state.clone(),
                calls: sum(|row| row.calls),
                vectors,
                suspends: sum(|row| row.suspends),
                clocks: if vectors > 0 { clocks } else { rows[0].clocks },
            };
            (row, met)
        };
        grouped(rows).into_iter().map(node).collect()
    }

    /// The packets that came in, over all threads, at least 1.
    pub fn packets(&self) -> f64 {
        // The printed rates have five digits; no node meets more packets than came in.
        let met = self
            .nodes()
            .iter()
            .map(|(node, _)| node.vectors)
            .max()
            .unwrap_or(0)
            .max(1) as f64;
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
            .map(|(node, _)| node.clocks)
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
}

/// A reader of one line after the other.
#[derive(Default)]
struct Reader {
    runtime: Runtime,
    thread: u16,
    in_table: bool,
    /// The number of columns behind the state, and the places of calls, vectors, suspends, clocks
    /// and vectors per call among them.
    columns: (usize, [usize; 5]),
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

impl Reader {
    fn line(&mut self, number: u64, words: &[&str]) -> Result<(), Wrong> {
        let figure = |word: &str| {
            let figure = word.trim_end_matches([':', ',']).parse().ok();
            figure.filter(|figure: &f64| figure.is_finite())
        };
        let second = words.get(1).and_then(|word| figure(word));
        let seconds = &mut self.runtime.seconds;
        match (words, second) {
            ([], _) => self.after_gap = true,
            (["Thread", ..], Some(thread)) => {
                self.thread = thread as u16;
                self.in_table = false;
            }
            (["Time", ..], Some(of_thread)) => {
                if seconds.iter().any(|(thread, _)| *thread == self.thread) {
                    let message = format!("a second table of thread {}", self.thread);
                    return Err((number, message, ONE_SHOW));
                }
                seconds.push((self.thread, of_thread));
                self.in_table = false;
            }
            (["vector", "rates", "in", ..], _) => {
                let of_thread = seconds.last().filter(|of| of.0 == self.thread);
                let seconds = of_thread.map_or(0.0, |of| of.1);
                let rate = |name| {
                    let at = words.iter().position(|word| *word == name)?;
                    figure(words.get(at + 1)?)
                };
                self.runtime.received += rate("in").unwrap_or(0.0) * seconds;
                self.runtime.dropped += rate("drop").unwrap_or(0.0) * seconds;
                self.in_table = false;
            }
            (["Name", "State", columns @ ..], _) => {
                self.header(columns)
                    .map_err(|message| (number, message, RIGHT))?;
                (self.in_table, self.after_gap, self.no_row) = (true, false, None);
            }
            _ if !self.in_table
                || words
                    .iter()
                    .all(|w| w.bytes().all(|b| matches!(b, b'-' | b'.'))) => {}
            ([node, rest @ ..], _) => self.behind_header(number, node, rest)?,
        }
        Ok(())
    }

    /// Takes the headings behind the state.
    fn header(&mut self, headings: &[&str]) -> Result<(), String> {
        const KNOWN: [&[&str]; 5] = [
            &["Calls"],
            &["Vectors"],
            &["Suspends"],
            &["Clocks", "Packet-Clocks", "Packet-Time"],
            &["Vectors/Call"],
        ];
        for (place, names) in self.columns.1.iter_mut().zip(KNOWN) {
            let found = headings.iter().position(|heading| names.contains(heading));
            *place = found.ok_or_else(|| format!("no column {}", names.join(" or ")))?;
        }
        self.columns.0 = headings.len();
        let other = headings
            .iter()
            .filter(|heading| !KNOWN.concat().contains(heading));
        self.runtime.skipped = other.map(|heading| (*heading).to_owned()).collect();
        Ok(())
    }

    /// Takes a row, or what stands in the place of one.
    fn behind_header(&mut self, number: u64, node: &str, rest: &[&str]) -> Result<(), Wrong> {
        let row = self
            .row(node, rest)
            .map_err(|message| (number, message, RIGHT));
        let figures = rest
            .iter()
            .filter(|word| word.parse::<f64>().is_ok())
            .count();
        let has_state = rest
            .first()
            .is_some_and(|word| STATES.contains(&word.trim_matches(['"', '\''])));
        let is_prompt = node.ends_with(['#', '$', '>', '%']) || node.contains('@');
        match (row, self.no_row.take()) {
            (Ok(_), Some(damaged)) => return Err(damaged),
            (Ok(row), None) => {
                self.after_gap = false;
                self.runtime.rows.push(row);
            }
            (Err(_), _) if is_prompt => self.in_table = false,
            (Err(wrong), _) if figures >= 3 || has_state => return Err(wrong),
            (Err(_), _) if self.after_gap => self.in_table = false,
            (Err(wrong), first) => self.no_row = first.or(Some(wrong)),
        }
        Ok(())
    }

    fn row(&self, node: &str, rest: &[&str]) -> Result<Row, String> {
        let (columns, places) = self.columns;
        let (state, figures) = rest
            .split_at_checked(rest.len().saturating_sub(columns))
            .filter(|(_, figures)| figures.len() == columns)
            .ok_or("a row must end in calls, vectors, suspends, clocks and vectors per call")?;
        let [calls, vectors, suspends, clocks, _per_call] = places.map(|place| figures[place]);
        let count = |text: &str| {
            text.parse()
                .map_err(|_| "calls, vectors and suspends must be whole numbers")
        };
        let clocks: Option<f64> = clocks
            .parse()
            .ok()
            .filter(|clocks: &f64| clocks.is_finite());
        Ok(Row {
            thread: self.thread,
            node: node.to_owned(),
            state: state.join(" ").trim_matches(['"', '\'']).to_owned(),
            calls: count(calls)?,
            vectors: count(vectors)?,
            suspends: count(suspends)?,
            clocks: clocks.ok_or("clocks must be a number such as 1.54e0")?,
        })
    }
}

/// Reads a text; `file` is its name, for errors.
///
/// # Errors
/// It cannot be read; it has no table, or no row; a row is damaged; a thread has two tables.
pub fn read(input: impl Read, file: &str) -> Result<Runtime, ImportError> {
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
    let mut reader = Reader::default();
    let mut header = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        reader
            .line(number, &words)
            .map_err(|(line, message, help)| error(line, message, help))?;
        header = if words.starts_with(&["Name", "State"]) {
            number
        } else {
            header
        };
    }
    match (header, reader.runtime.rows.is_empty()) {
        (0, _) => Err(ImportError::whole(
            file,
            "no table: a line `Name State Calls Vectors Suspends Clocks Vectors/Call` is missing",
            RIGHT,
        )),
        (_, true) => Err(error(header, "the table has no row".to_owned(), NO_ROW)),
        _ => Ok(reader.runtime),
    }
}

/// Makes a recording of what was read. `variant` says what was measured: a version, a machine.
pub fn record(header: Header, variant: &str, runtime: &Runtime) -> Recording {
    let mut recording = Recording::new(header);
    recording.header.pictures =
        vec![metrics::CLOCKS_PER_PACKET.bars("Clocks per packet, by node", None)];
    let series = recording.series(variant, "show-runtime", "");
    for (thread, seconds) in &runtime.seconds {
        recording.measure(series, 0, "window", "s", *seconds).cpu = Some(*thread);
    }
    let (packets, total) = (runtime.packets(), runtime.clocks_per_packet());
    // Where all nodes polled in vain, nothing is known of what a packet takes.
    if total > 0.0 {
        recording.add(series, 0, metrics::CLOCKS_PER_PACKET, "", total);
    }
    recording.add(series, 0, metrics::RECEIVED, "", packets);
    recording.add(series, 0, metrics::DROPPED, "", runtime.dropped);
    if let Some((polls, _)) = runtime.empty_polls() {
        recording.add(series, 0, metrics::EMPTY_POLLS, "", polls * packets);
    }
    for (node, met) in runtime.nodes() {
        recording.header.set_state(&node.node, &node.state);
        let counts = [
            (metrics::CALLS, node.calls as f64),
            (metrics::VECTORS, node.vectors as f64),
            (metrics::SUSPENDS, node.suspends as f64),
        ];
        // Of a packet that came in, so that the nodes add up to the whole.
        let clocks = (met > 0).then(|| (metrics::CLOCKS_PER_PACKET, node.clocks / packets));
        let share = (metrics::PACKET_SHARE, node.vectors as f64 / packets);
        let of_packet = clocks
            .into_iter()
            .chain((node.vectors > 0).then_some(share));
        let alone = (node.vectors == 0).then_some((metrics::CLOCKS, node.clocks));
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

    fn parse(text: &str) -> Result<Runtime, ImportError> {
        read(text.as_bytes(), "runtime.txt")
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
            ("event wait", 110.0)
        );
        assert_eq!(
            (runtime.rows[2].node.as_str(), runtime.rows[2].clocks),
            ("l2-input", 0.425)
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
        let alone = Runtime {
            rows: vec![runtime.rows[0].clone()],
            ..Runtime::default()
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
                clocks,
            };
            let met = nodes.iter().map(|node| node.0).max().unwrap_or(1) * u64::from(threads);
            let rows = (0..threads).flat_map(|thread| {
                let rows = nodes.iter().enumerate();
                rows.map(move |(node, (vectors, clocks))| row(thread, node, *vectors, *clocks))
            });
            let mut runtime = Runtime { rows: rows.collect(), ..Runtime::default() };
            let before = runtime.clocks_per_packet();
            let recorded = |runtime: &Runtime| {
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

    #[test]
    fn a_wrong_text_is_refused_with_its_line() {
        assert!(parse("hello").unwrap_err().message.contains("no table"));
        let error =
            parse(&OLD.replace("313360152               0          1.54e0", "many 0 1.54e0"))
                .unwrap_err();
        assert_eq!(error.line, 6);
        assert!(error.message.contains("whole numbers"));
        assert_eq!(parse(&OLD.replace("1.54e0", "nan")).unwrap_err().line, 6);
        assert!(
            parse("Name State Calls Vectors Suspends Time\n")
                .unwrap_err()
                .message
                .contains("Packet-Clocks")
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

//! Sampled loads and cache misses, as `perf script` prints them: of Arm's SPE, of x86's load
//! latencies, or of any event, with lines of the source where they are asked for (`-F +srcline`).
//!
//! Without SPE or its like the place is some instructions behind the load.

use crate::error::ImportError;
use crate::text;
use itertools::Itertools;
use std::collections::BTreeMap;
use std::path::Path;

const RIGHT: &str = "perf record -e cache-misses -- ...; perf script -F +srcline > FILE";

/// A place in the code at which loads or misses were sampled.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The function, or an address where none is known.
    pub symbol: String,
    /// The line of the source, as in `acl.c:42`; empty where it is not told.
    pub line: String,
    /// The cache or memory that the data came from, as perf names it; empty where it is not told.
    pub level: String,
}

impl Place {
    /// The function, the line and the level, as far as they are known.
    pub fn label(&self) -> String {
        let parts = [&self.symbol, &self.line, &self.level];
        parts.into_iter().filter(|part| !part.is_empty()).join(" ")
    }
}

/// Samples of a text.
#[derive(Debug, Default, PartialEq)]
pub struct Samples {
    /// Number of samples.
    pub count: usize,
    /// The cycles that loads took, or the events that samples stand for, by place.
    pub weights: BTreeMap<Place, f64>,
    /// Cycles from issue to the end of loads whose address needed no walk, by level: only SPE's own
    /// records tell them (`perf script -D`).
    pub latencies: BTreeMap<String, Vec<f64>>,
}

/// A sample whose lines are read.
#[derive(Default)]
struct Open {
    place: Place,
    weight: f64,
    /// Of SPE's own records: the whole, before issue, and of translation.
    latency: [Option<f64>; 3],
}

/// Cycles of a translation up to which no table was walked.
const NO_WALK: f64 = 10.0;

/// Data sources of Arm's Neoverse and Cortex-X cores, by number (perf's arm-spe-decoder.h).
const SOURCES: [(u64, &str); 7] = [
    (0, "L1D"),
    (8, "L2"),
    (9, "peer core"),
    (10, "L3"),
    (11, "system cache"),
    (12, "peer cluster"),
    (14, "DRAM"),
];

fn is_address(word: &str) -> bool {
    word.len() > 5 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Open {
    /// Takes a packet of SPE's own records; true at the end of one.
    fn packet(&mut self, words: &[&str]) -> bool {
        let number = |text: &str| text.parse().ok();
        for pair in words.windows(3) {
            match pair {
                ["PC", pc, _] => self.place.symbol = (*pc).to_owned(),
                ["LAT", cycles, kind] => {
                    let kinds = ["TOT", "ISSUE", "XLAT"];
                    if let Some(at) = kinds.iter().position(|of| of == kind) {
                        self.latency[at] = number(cycles);
                    }
                }
                _ => {}
            }
        }
        if let [.., "DATA-SOURCE", source] = words {
            let source = source.parse::<u64>().ok();
            let level = SOURCES.iter().find(|(number, _)| Some(*number) == source);
            self.place.level = level.map_or("", |(_, level)| level).to_owned();
        }
        words.contains(&"TS") || words.contains(&"END")
    }
}

impl Samples {
    /// The places with their shares of all, those that have most first.
    pub fn shares(&self) -> Vec<(&Place, f64)> {
        let all: f64 = self.weights.values().sum();
        let places = self
            .weights
            .iter()
            .map(|(place, weight)| (place, weight / all));
        places.sorted_by(|a, b| b.1.total_cmp(&a.1)).collect()
    }

    fn take(&mut self, open: Open) {
        let [total, issue, translation] = open.latency;
        let weight = total.unwrap_or(open.weight);
        if open.place.symbol.is_empty() || weight <= 0.0 {
            return;
        }
        if let (Some(total), true) = (total, translation.unwrap_or(0.0) <= NO_WALK) {
            let of_level = self.latencies.entry(open.place.level.clone()).or_default();
            of_level.push(total - issue.unwrap_or(0.0));
        }
        self.count += 1;
        *self.weights.entry(open.place).or_default() += weight;
    }

    /// Reads a file; it may be packed.
    ///
    /// # Errors
    /// It cannot be read, or has no sample.
    pub fn open(path: &Path) -> Result<Self, ImportError> {
        let file = crate::shown(path);
        let samples = Self::read(&text::text(crate::open(path, &file)?, &file, None)?);
        if samples.count == 0 {
            return Err(ImportError::whole(
                &file,
                "no samples of `perf script`",
                RIGHT,
            ));
        }
        Ok(samples)
    }

    /// Reads the samples of a text; none where it has none.
    pub fn read(text: &str) -> Self {
        let mut samples = Self::default();
        let (mut open, mut in_frames) = (Open::default(), false);
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words = line.split_whitespace().collect_vec();
            let is_packet = line.trim_start().starts_with(". ");
            let place = words.iter().tuple_windows().position(|(address, symbol)| {
                is_address(address) && !symbol.starts_with('|') && symbol.parse::<f64>().is_err()
            });
            match (words.as_slice(), place) {
                _ if is_packet && open.packet(&words) => samples.take(std::mem::take(&mut open)),
                _ if is_packet => {}
                ([], _) => in_frames = false,
                // The line of the source stands below.
                ([of], _)
                    if of
                        .rsplit_once(':')
                        .is_some_and(|(_, number)| number.parse::<u32>().is_ok()) =>
                {
                    let name = of.rsplit('/').next().unwrap_or(of);
                    open.place.line = name.to_owned();
                }
                (_, Some(0)) if in_frames && !open.place.symbol.is_empty() => {}
                (words, Some(at)) => {
                    let begins = at > 0 || !in_frames;
                    if begins {
                        samples.take(std::mem::take(&mut open));
                        open.weight = weight(&words[..at]);
                        open.place.level = level(line);
                    }
                    let symbol = words[at + 1].split("+0x").next().unwrap_or_default();
                    open.place.symbol = symbol.to_owned();
                }
                // The head of a sample whose frames stand below.
                (words, None) if words.last().is_some_and(|word| word.ends_with(':')) => {
                    samples.take(std::mem::take(&mut open));
                    (open.weight, in_frames) = (weight(words), true);
                }
                _ => {}
            }
        }
        samples.take(open);
        samples
    }
}

/// The latency or the period: the last whole number before the address; 1 where there is none.
fn weight(words: &[&str]) -> f64 {
    let mut numbers = words
        .iter()
        .rev()
        .filter_map(|word| word.parse::<u64>().ok());
    numbers.next().map_or(1.0, |number| number as f64)
}

/// The level of the caches of `|LVL L3 hit|`.
fn level(line: &str) -> String {
    let level = line.split('|').find_map(|part| part.strip_prefix("LVL "));
    let level = level.unwrap_or_default().trim();
    level.strip_suffix(" hit").unwrap_or(level).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(text: &str) -> Vec<(String, String, String, f64)> {
        let of = |(place, weight): (Place, f64)| (place.symbol, place.line, place.level, weight);
        Samples::read(text).weights.into_iter().map(of).collect()
    }

    fn one(symbol: &str, line: &str, level: &str, weight: f64) -> (String, String, String, f64) {
        (symbol.to_owned(), line.to_owned(), level.to_owned(), weight)
    }

    #[test]
    fn loads_with_their_source_and_latency() {
        let text = "\
 ffff80001000 |OP LOAD|LVL L3 hit|SNP None|TLB Walker hit|LCK No|BLK  N/A              212 aaaac0de10 ip4_lookup_node_fn+0x18 (libvnet.so)
 ffff80002000 |OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|LCK No|BLK  N/A                4 aaaac0de10 ip4_lookup_node_fn+0x1c (libvnet.so)
 ffff80003000 |OP LOAD|LVL L3 hit|SNP None|TLB Walker hit|LCK No|BLK  N/A|AFF N/A     88 aaaac0de18 ip4_lookup_node_fn (libvnet.so)
";
        assert_eq!(
            weights(text),
            [
                one("ip4_lookup_node_fn", "", "L1", 4.0),
                one("ip4_lookup_node_fn", "", "L3", 300.0)
            ]
        );
    }

    #[test]
    fn misses_with_and_without_frames_and_lines() {
        let plain = "\
# a comment
vpp wk 0  812 [003] 100.000001:   1000 cache-misses:   aaaac0de10 parse+0x18 (my.so)
  /src/my.c:42
vpp  812/813   100.000002:   3000 LLC-load-misses:   aaaac0de20 look_up+0x8 (my.so)
";
        assert_eq!(
            weights(plain),
            [
                one("look_up", "", "", 3000.0),
                one("parse", "my.c:42", "", 1000.0)
            ]
        );
        let frames = "\
vpp 812 100.000001:   1000 cache-misses:
\t    aaaac0de10 parse+0x18 (my.so)
\t    aaaac0de99 main+0x8 (vpp)

vpp 812 100.000002:   1000 cache-misses:
\t    aaaac0de14 parse+0x1c (my.so)
\t    aaaac0de99 main+0x8 (vpp)
";
        assert_eq!(weights(frames), [one("parse", "", "", 2000.0)]);
        assert_eq!(Samples::read("no sample\nat all: 12\n").count, 0);
    }

    #[test]
    fn records_of_spe_give_latencies_from_issue() {
        let record = |total: u32, walk: u32, source: u32| {
            format!(
                ".  00000000:  b0 10 de c0 aa                PC 0xaaaac0de10 el0 ns=1\n\
                 .  00000009:  99 0a 00                      LAT 10 ISSUE\n\
                 .  0000000c:  98 d4 00                      LAT {total} TOT\n\
                 .  0000000f:  9a 01 00                      LAT {walk} XLAT\n\
                 .  00000012:  43 0e                         DATA-SOURCE {source}\n\
                 .  00000014:  71 00                         TS 123456\n"
            )
        };
        let text = record(210, 1, 14) + &record(510, 300, 14) + &record(14, 1, 0);
        let samples = Samples::read(&text);
        assert_eq!(samples.latencies["DRAM"], [200.0]);
        assert_eq!(samples.latencies["L1D"], [4.0]);
        assert_eq!(samples.count, 3);
    }
}

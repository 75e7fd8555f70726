//! A core as `calibrate-core` measured it, in a file.

use document::Document;
use serde::{Deserialize, Serialize};

/// A measured core. Times are in ticks of its counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreFile {
    /// The parts that failed their check, each with the reason; nothing uses them.
    #[serde(default)]
    pub failed: Vec<String>,
    /// The core that was measured.
    pub core: CoreAbout,
    /// The numbers of things that are under way at once.
    pub under_way: UnderWay,
    /// The prefetch instruction.
    pub prefetch: PrefetchCost,
    /// The lines that hardware fetches by itself.
    pub by_itself: ByItself,
    /// The time that a line takes, by the bytes that are gone through in no order.
    pub latency: Vec<Latency>,
    /// The time that a near line takes, by the small pages that are gone through.
    pub pages: Vec<PageStep>,
}

/// `[core]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreAbout {
    /// The processor's name, as the system says.
    pub name: String,
    /// The counter.
    pub counter: String,
    /// Frequency of the core.
    pub counter_hz: u64,
    /// Bytes of the caches, as the system says, from the first level on.
    pub cache_bytes: Vec<u64>,
    /// The command that made the file.
    pub made_by: String,
}

/// `[under_way]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnderWay {
    /// Lines from memory that loads have on their way.
    pub loads: f64,
    /// Lines from memory that prefetches have on their way.
    pub prefetches: f64,
}

/// `[prefetch]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrefetchCost {
    /// Ticks of a prefetch of a line that is near.
    pub ticks: f64,
}

/// `[by_itself]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByItself {
    /// Ticks for the line beside one that was just read, from memory.
    pub beside_ticks: f64,
    /// Ticks per line where lines are read one behind the other, from memory.
    pub stream_ticks: f64,
}

/// `[[latency]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Bytes that are gone through.
    pub bytes: u64,
    /// The share of them in huge pages.
    pub huge: f64,
    /// Ticks from one dependent load to the next, in the mean.
    pub ticks: f64,
}

/// `[[pages]]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageStep {
    /// Small pages that are gone through, one line in each.
    pub count: u64,
    /// Ticks per line.
    pub ticks: f64,
}

impl CoreFile {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn read(document: &Document) -> Result<Self, document::Error> {
        let file: Self = document.read()?;
        let wrong = |message: &str| {
            Err(document.wrong_as_a_whole(message, "stopwatt calibrate-core makes such a file"))
        };
        let fine = |number: f64| number.is_finite() && (0.0..1e9).contains(&number);
        let UnderWay { loads, prefetches } = file.under_way;
        if ![loads, prefetches]
            .into_iter()
            .all(|number| fine(number) && number >= 1.0)
        {
            return wrong("what is under way at once must be 1 or more");
        }
        let others = [
            file.prefetch.ticks,
            file.by_itself.beside_ticks,
            file.by_itself.stream_ticks,
        ];
        let latencies = file.latency.iter().flat_map(|of| [of.ticks, of.huge]);
        if !others
            .into_iter()
            .chain(latencies)
            .chain(file.pages.iter().map(|step| step.ticks))
            .all(fine)
        {
            return wrong("times must be numbers from 0 on");
        }
        if file.latency.is_empty() || file.core.counter_hz == 0 {
            return wrong("there must be a [[latency]] and a counter_hz");
        }
        Ok(file)
    }

    /// The name of a latency among what failed its check, up to its pages.
    pub fn latency_name(bytes: u64) -> String {
        format!("a line of {} kB, ", bytes >> 10)
    }

    /// The time that a line takes where `bytes` are gone through in no order, a share of them in
    /// huge pages. Between two measured sizes it is between their times. `None` where one of them
    /// failed its check.
    pub fn latency(&self, bytes: u64, huge: f64) -> Option<f64> {
        let sound = |of: &Latency| {
            let name = Self::latency_name(of.bytes);
            (!self.failed.iter().any(|failed| failed.starts_with(&name))).then_some(of.ticks)
        };
        let of_pages = |huge: bool| {
            let mut of: Vec<&Latency> = self
                .latency
                .iter()
                .filter(|of| (of.huge > 0.5) == huge)
                .collect();
            if of.is_empty() {
                of = self.latency.iter().collect();
            }
            of.sort_by_key(|of| of.bytes);
            let (below, above) = of.split_at(of.partition_point(|of| of.bytes < bytes));
            match (below.last(), above.first()) {
                (Some(low), Some(high)) => {
                    let [bytes, from, to] =
                        [bytes, low.bytes, high.bytes].map(|bytes| (bytes as f64).ln());
                    let (low, high) = (sound(low)?, sound(high)?);
                    Some(low + (high - low) * (bytes - from) / (to - from))
                }
                (only, other) => sound(only.or(other)?),
            }
        };
        match huge {
            0.0 => of_pages(false),
            1.0.. => of_pages(true),
            share => Some(of_pages(false)? * (1.0 - share) + of_pages(true)? * share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A core of round numbers.
    fn plain() -> CoreFile {
        let latency = |bytes, huge, ticks| Latency { bytes, huge, ticks };
        CoreFile {
            failed: Vec::new(),
            core: CoreAbout {
                name: "plain".to_owned(),
                counter: "TSC".to_owned(),
                counter_hz: 1_000_000_000,
                cache_bytes: vec![32 << 10, 1 << 20, 16 << 20],
                made_by: "a test".to_owned(),
            },
            under_way: UnderWay {
                loads: 10.0,
                prefetches: 12.0,
            },
            prefetch: PrefetchCost { ticks: 1.0 },
            by_itself: ByItself {
                beside_ticks: 20.0,
                stream_ticks: 10.0,
            },
            latency: vec![
                latency(1 << 20, 1.0, 10.0),
                latency(1 << 28, 1.0, 300.0),
                latency(1 << 20, 0.0, 20.0),
                latency(1 << 28, 0.0, 400.0),
            ],
            pages: vec![PageStep {
                count: 16,
                ticks: 4.0,
            }],
        }
    }

    #[test]
    fn times_between_two_sizes_are_between_their_times() {
        let core = plain();
        assert_eq!(
            (core.latency(1 << 28, 1.0), core.latency(1 << 30, 0.0)),
            (Some(300.0), Some(400.0))
        );
        assert_eq!(
            (core.latency(1 << 10, 1.0), core.latency(1 << 28, 0.5)),
            (Some(10.0), Some(350.0))
        );
        assert!((core.latency(1 << 24, 1.0).unwrap() - 155.0).abs() < 1e-9);
        let failed = vec![format!(
            "{}huge pages: the two best differ",
            CoreFile::latency_name(1 << 28)
        )];
        let core = CoreFile { failed, ..core };
        assert_eq!(
            (core.latency(1 << 24, 1.0), core.latency(1 << 24, 0.0)),
            (None, None)
        );
    }

    #[test]
    fn a_file_reads_back_and_what_cannot_be_is_refused() {
        let text = toml::to_string(&plain()).unwrap();
        assert_eq!(
            CoreFile::read(&Document::new("core.toml", &text)).unwrap(),
            plain()
        );
        for (from, to) in [
            ("prefetches = 12.0", "prefetches = 0.0"),
            ("ticks = 1.0", "ticks = nan"),
            ("name = ", "nmae = "),
        ] {
            assert!(text.contains(from));
            CoreFile::read(&Document::new("core.toml", text.replacen(from, to, 1))).unwrap_err();
        }
    }
}

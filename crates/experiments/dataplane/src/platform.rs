//! A modelled core's platform file, and the costs that were fitted to it.

use core_model::Parameters;
use document::{Document, one_of, readers};
use experiment::{Error, Files, Result, World};
use import::samples::Samples;
use recording::{Header, Platform, stats};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A core as its platform file describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorePlatform {
    /// Name and one line about it.
    pub platform: About,
    /// The core.
    pub core: CoreFacts,
    /// The counter that the published clocks count.
    pub counter: Hz,
    /// L1 data cache.
    pub l1: CacheFacts,
    /// L2 cache.
    pub l2: CacheFacts,
    /// Outstanding lines.
    pub fill_buffers: FillBuffers,
    /// First-level data TLB.
    pub tlb: Tlb,
    /// The prefetch instruction.
    pub prefetch: PrefetchFacts,
    /// The file's text.
    #[serde(skip)]
    pub text: String,
}

/// `[platform]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// As on the command line.
    pub name: String,
    /// One line.
    pub about: String,
}

/// `[core]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreFacts {
    /// The core's name.
    pub name: String,
    /// Clock of the core.
    pub hz: u64,
    /// Bytes of a cache line.
    pub line_bytes: u64,
}

/// `[counter]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hz {
    /// Frequency.
    pub hz: u64,
}

/// Largest L1 data cache in bytes: far above any that was built. The model holds a number for each
/// line.
const MOST_L1: u64 = 16 << 20;

/// Largest L2 cache in bytes, likewise.
const MOST_L2: u64 = 1 << 30;

/// Most entries of a TLB and most fill buffers, likewise.
const MOST_ENTRIES: usize = 1 << 16;

/// `[l1]`, `[l2]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheFacts {
    /// Size.
    pub bytes: u64,
    /// Ways.
    pub ways: usize,
    /// Load-to-use time of a hit.
    pub latency_cycles: Option<f64>,
}

/// `[fill_buffers]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FillBuffers {
    /// The count.
    pub count: usize,
}

/// `[tlb]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tlb {
    /// Entries.
    pub entries: usize,
    /// Entries of the second-level TLB; without it there is none.
    #[serde(default)]
    pub second_entries: usize,
    /// Bytes of a page.
    pub page_bytes: u64,
}

/// `[prefetch]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrefetchFacts {
    /// Cost of issuing one.
    pub issue_cycles: f64,
}

impl CorePlatform {
    /// Reads `NAME.toml` of the platform files, or a file by its path; its own name says whose
    /// costs apply.
    ///
    /// # Errors
    /// There is no such platform, or it is not one of a modelled core; what is wrong in its file,
    /// with the line.
    pub fn read(platforms: &dyn Files, name: &str) -> Result<Self> {
        let known = Self::cores(platforms)?;
        let document = match name.contains(['/', '.']) {
            true => Document::open(Path::new(name))?,
            false if platforms.read(&file_of(name)).is_err() => {
                let message = format!(
                    "there is no modelled core `{name}`: {} is not there",
                    platforms.shown(&file_of(name))
                );
                return Err(Error::usage(message, one_of(name, &known)));
            }
            false => platforms.document(&file_of(name))?,
        };
        if is_of_a_board(document.text()) {
            return Err(Error::usage(
                format!("`{name}` is no modelled core: its file has no [core]"),
                one_of(name, &known),
            ));
        }
        Ok(Self::parse(&document)?)
    }

    /// Names of the platforms of modelled cores, fitted or not, in alphabetical order.
    fn cores(platforms: &dyn Files) -> Result<Vec<String>> {
        Ok(platforms
            .stems("")?
            .into_iter()
            .filter(|name| {
                platforms
                    .read(&file_of(name))
                    .is_ok_and(|text| !is_of_a_board(&text))
            })
            .collect())
    }

    /// Names of the platforms that have fitted costs of the stride study, in alphabetical order.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(platforms: &dyn Files) -> Result<Vec<String>> {
        Ok(platforms
            .stems("")?
            .into_iter()
            .filter(|name| platforms.read(&costs_file_of(name)).is_ok())
            .collect())
    }

    /// Reads a platform file.
    ///
    /// # Errors
    /// The file is wrong; the error has the line, and says what would be right.
    pub fn parse(document: &Document) -> Result<Self, document::Error> {
        let mut platform: Self = document.read()?;
        let Self {
            core,
            counter,
            l1,
            l2,
            fill_buffers,
            tlb,
            prefetch,
            ..
        } = &platform;
        let entries = 1..=MOST_ENTRIES;
        for (is_right, help) in [
            (
                core.line_bytes == core_model::LINE,
                "core.line_bytes must be 64: the packet loops are laid out for lines of 64 bytes",
            ),
            (
                entries.contains(&tlb.entries)
                    && tlb.second_entries <= MOST_ENTRIES
                    && entries.contains(&fill_buffers.count),
                "tlb.entries and fill_buffers.count must be 1 or more, and all entries up to 65536",
            ),
            (
                ![
                    l1.ways as u64,
                    l2.ways as u64,
                    counter.hz,
                    core.hz,
                    tlb.page_bytes,
                ]
                .contains(&0),
                "ways, frequencies and tlb.page_bytes must be 1 or more",
            ),
            (
                l1.bytes <= MOST_L1 && l2.bytes <= MOST_L2,
                "l1.bytes is up to 16777216 (16 MiB) and l2.bytes up to 1073741824 (1 GiB)",
            ),
            (
                l2.latency_cycles.is_some_and(|cycles| cycles >= 0.0)
                    && prefetch.issue_cycles >= 0.0,
                "l2.latency_cycles and prefetch.issue_cycles must be 0 or more",
            ),
        ] {
            if !is_right {
                return Err(
                    document.wrong_as_a_whole(help, "platforms/macchiatobin.toml has them all")
                );
            }
        }
        document.text().clone_into(&mut platform.text);
        Ok(platform)
    }

    /// The header of what runs once on the modelled core: in ticks of the platform's counter.
    pub fn header(&self, experiment: &str) -> Header {
        let mut header = Header::new(experiment, World::Sim.name(), "ticks");
        header.iterations = 1;
        header.time.counter_hz = Some(self.counter.hz);
        let figures = toml::Table::new();
        header.platform = Some(Platform {
            name: self.platform.name.clone(),
            text: self.text.clone(),
            figures,
        });
        header
    }

    /// Core cycles of one tick of the counter.
    pub fn cycles_per_tick(&self) -> f64 {
        self.core.hz as f64 / self.counter.hz as f64
    }

    /// The hardware's part of the model's parameters; what is fitted is zero.
    pub fn hardware(&self) -> Parameters {
        Parameters {
            l2: self.l2.latency_cycles.unwrap_or(0.0),
            tlb_entries: self.tlb.entries,
            second_tlb_entries: self.tlb.second_entries,
            page_bytes: self.tlb.page_bytes,
            fill_buffers: self.fill_buffers.count,
            prefetch_issue: self.prefetch.issue_cycles,
            l1_bytes: self.l1.bytes,
            l1_ways: self.l1.ways,
            l2_bytes: self.l2.bytes,
            l2_ways: self.l2.ways,
            ..Parameters::default()
        }
    }
}

/// True if a platform file is one of a whole board, for PSCI or energy, and not of a core alone.
fn is_of_a_board(text: &str) -> bool {
    text.parse::<toml::Table>()
        .is_ok_and(|file| !file.contains_key("core"))
}

fn file_of(platform: &str) -> String {
    format!("{platform}.toml")
}

/// Path, among the platform files, of the costs that the stride study fits for a platform.
pub fn costs_file_of(platform: &str) -> String {
    format!("{platform}/costs/prefetch.toml")
}

/// The parameters that no document gives: `[cycles]` of a costs file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// Work of a packet in cycles.
    #[serde(deserialize_with = "cycles")]
    pub work: f64,
    /// Run-ahead window in cycles of work.
    #[serde(deserialize_with = "cycles")]
    pub window: f64,
    /// Shortest time of a line from DRAM.
    #[serde(deserialize_with = "cycles")]
    pub dram: f64,
    /// Mean of the spread on top.
    #[serde(deserialize_with = "cycles")]
    pub dram_spread: f64,
    /// First touch of a page.
    #[serde(deserialize_with = "cycles")]
    pub translation: f64,
}

impl Costs {
    /// The hardware's facts with these costs. An earlier node of a frame has touched the pages, so
    /// that a second-level TLB has them: then the translation that was fitted is that TLB's, and no
    /// cell tells how much longer a walk of the page tables takes.
    pub fn on(&self, hardware: Parameters) -> Parameters {
        Parameters {
            second_tlb: self.translation,
            work: self.work,
            window: self.window,
            dram: self.dram,
            dram_spread: self.dram_spread,
            translation: self.translation,
            ..hardware
        }
    }
}

/// Fitted costs, as a calibration wrote them.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostsFile {
    /// Cycles, by name.
    pub cycles: Costs,
    /// Record of the fit.
    pub fit: toml::Table,
}

impl CostsFile {
    /// Reads the fitted costs of a platform.
    ///
    /// # Errors
    /// There are none, or what is wrong in their file, with the line.
    pub fn read(platforms: &dyn Files, platform: &str) -> Result<Self> {
        let file = costs_file_of(platform);
        if platforms.read(&file).is_err() {
            return Err(Error::usage(
                format!(
                    "nothing was fitted to `{platform}`: {} is not there",
                    platforms.shown(&file)
                ),
                "--spe FILE: perf's samples of loads on such a core give the time of memory",
            ));
        }
        let document = platforms.document(&file)?;
        let read: Self = document.read()?;
        Ok(read)
    }
}

/// Loads from memory that have to be sampled.
const FEWEST_LOADS: usize = 30;

impl CostsFile {
    /// Fitted costs with an access to memory as long as the loads that SPE sampled, of which a
    /// twentieth are the shortest. What SPE does not tell is the platform's own, or another core's
    /// where nothing was fitted to it; the note says whose.
    ///
    /// # Errors
    /// The file has too few loads from memory, or the costs are wrong.
    pub fn sampled(platforms: &dyn Files, platform: &str, spe: &Path) -> Result<(Self, String)> {
        let wrong = |message: String| {
            let help = "perf record -e arm_spe/load_filter=1/ -- ...; perf script -D > FILE, on a Neoverse core";
            Error::usage(format!("{}: {message}", spe.display()), help)
        };
        let samples = Samples::open(spe).map_err(|error| wrong(error.message))?;
        let loads = samples.latencies.get("DRAM").map_or(&[][..], Vec::as_slice);
        let (Some(least), Some(mean), true) = (
            stats::quantile(loads, 0.05),
            stats::mean(loads),
            loads.len() >= FEWEST_LOADS,
        ) else {
            let count = loads.len();
            return Err(wrong(format!(
                "{count} loads from DRAM, and {FEWEST_LOADS} are needed"
            )));
        };
        let fitted = CorePlatform::names(platforms)?;
        let own = fitted.iter().find(|name| *name == platform);
        let whose = own.or(fitted.first()).map_or(platform, String::as_str);
        let mut costs = Self::read(platforms, whose)?;
        (costs.cycles.dram, costs.cycles.dram_spread) = (least, mean - least);
        costs.fit.remove("cannot_tell");
        let note = format!(
            "Memory takes {least:.0} cycles at least and {mean:.0} in the mean of {} loads that SPE sampled; the work, the window and \
             the translation are those that were fitted to {whose}.",
            loads.len()
        );
        Ok((costs, note))
    }
}

readers! {
    /// A cost in cycles.
    cycles: f64 = |from| {
        let cycles = f64::deserialize(from)?;
        if (0.0..=MOST_CYCLES).contains(&cycles) {
            return Ok(cycles);
        }
        let message = format!("{cycles} is no cost: write 0 to {MOST_CYCLES} cycles");
        Err(D::Error::custom(message))
    };
}

/// Cycles that a fitted cost has at most: an access to memory takes hundreds.
const MOST_CYCLES: f64 = 1_000_000.0;

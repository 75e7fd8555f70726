//! Platform, costs and published figures, from their files.

use std::fs;
use std::path::{Path, PathBuf};

use core_model::Parameters;
use dataplane::walk::{Shape, Strides};
use dataplane_experiments::fit::{Costs, UsedCell};
use dataplane_experiments::model::Cell;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A core as its platform file describes it.
#[derive(Clone, Debug, Deserialize)]
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
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// As on the command line.
    pub name: String,
    /// One line.
    pub about: String,
}

/// `[core]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreFacts {
    /// The core's name.
    pub name: String,
    /// Its clock.
    pub hz: u64,
    /// Bytes of a cache line.
    pub line_bytes: u64,
}

/// `[counter]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hz {
    /// Frequency.
    pub hz: u64,
}

/// `[l1]`, `[l2]`.
#[derive(Clone, Debug, Deserialize)]
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
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FillBuffers {
    /// How many.
    pub count: usize,
}

/// `[tlb]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tlb {
    /// Entries.
    pub entries: usize,
    /// Bytes of a page.
    pub page_bytes: u64,
}

/// `[prefetch]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrefetchFacts {
    /// Cost of issuing one.
    pub issue_cycles: f64,
}

impl CorePlatform {
    /// Reads `platforms/NAME.toml` under the data folder.
    pub fn read(data: &Path, name: &str) -> Result<Self, Error> {
        let path = data.join("platforms").join(format!("{name}.toml"));
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        let mut platform: Self = toml::from_str(&text).map_err(|e| Error::data(&path, e))?;
        let wrong = |message: &str| Err(Error::data(&path, message));
        if platform.core.line_bytes != core_model::LINE {
            return wrong("core.line_bytes must be 64: the packet loops are laid out for lines of 64 bytes");
        }
        if platform.fill_buffers.count == 0 || platform.tlb.entries == 0 || platform.tlb.page_bytes == 0 {
            return wrong("fill_buffers.count, tlb.entries and tlb.page_bytes must be 1 or more");
        }
        if platform.l1.ways == 0 || platform.l2.ways == 0 || platform.counter.hz == 0 || platform.core.hz == 0 {
            return wrong("ways and frequencies must be 1 or more");
        }
        if platform.l2.latency_cycles.is_none_or(|cycles| cycles < 0.0) || platform.prefetch.issue_cycles < 0.0 {
            return wrong("l2.latency_cycles and prefetch.issue_cycles must be 0 or more");
        }
        platform.text = text;
        Ok(platform)
    }

    /// Core cycles of one tick of the counter.
    pub fn cycles_per_tick(&self) -> f64 {
        self.core.hz as f64 / self.counter.hz as f64
    }

    /// The hardware's part of the model's parameters; what is fitted is zero.
    pub fn hardware(&self) -> Parameters {
        Parameters {
            work: 0.0,
            window: 0.0,
            l2: self.l2.latency_cycles.unwrap_or(0.0),
            dram: 0.0,
            dram_spread: 0.0,
            translation: 0.0,
            tlb_entries: self.tlb.entries,
            page_bytes: self.tlb.page_bytes,
            fill_buffers: self.fill_buffers.count,
            prefetch_issue: self.prefetch.issue_cycles,
            l1_bytes: self.l1.bytes,
            l1_ways: self.l1.ways,
            l2_bytes: self.l2.bytes,
            l2_ways: self.l2.ways,
        }
    }
}

/// Names of the platforms that have fitted costs of the stride study, in alphabetical order.
///
/// # Errors
/// If the folder `platforms` cannot be read.
pub fn core_platforms(data: &Path) -> Result<Vec<String>, Error> {
    let folder = data.join("platforms");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(Error::io(&folder))? {
        let name = entry.map_err(Error::io(&folder))?.file_name().to_string_lossy().into_owned();
        if costs_path(data, &name).is_file() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Where a platform's fitted costs of the stride study lie.
pub fn costs_path(data: &Path, platform: &str) -> PathBuf {
    data.join("platforms").join(platform).join("costs").join("prefetch.toml")
}

/// Fitted costs, as a calibration wrote them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostsFile {
    /// Cycles, by name.
    pub cycles: CyclesTable,
    /// How the fit was made.
    pub fit: FitTable,
}

/// `[cycles]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the same names as in `Costs`")]
pub struct CyclesTable {
    pub work: f64,
    pub window: f64,
    pub dram: f64,
    pub dram_spread: f64,
    pub translation: f64,
}

impl From<Costs> for CyclesTable {
    fn from(costs: Costs) -> Self {
        // Tenths of a cycle: more digits would claim more than ten cells can tell.
        let round = |value: f64| (value * 10.0).round() / 10.0;
        Self {
            work: round(costs.work),
            window: round(costs.window),
            dram: round(costs.dram),
            dram_spread: round(costs.dram_spread),
            translation: round(costs.translation),
        }
    }
}

impl From<CyclesTable> for Costs {
    fn from(table: CyclesTable) -> Self {
        let CyclesTable { work, window, dram, dram_spread, translation } = table;
        Self { work, window, dram, dram_spread, translation }
    }
}

/// `[fit]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitTable {
    /// The reference.
    pub reference: String,
    /// The cells used, as `loop+first/second`.
    pub used: Vec<String>,
    /// Root mean square of the relative errors over them, in percent.
    pub rms_percent: f64,
    /// What the used cells leave open.
    pub cannot_tell: Vec<String>,
}

/// Reads the fitted costs.
pub fn read_costs(data: &Path, platform: &str) -> Result<CostsFile, Error> {
    let path = costs_path(data, platform);
    let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
    toml::from_str(&text).map_err(|e| Error::data(&path, e))
}

/// A published cell of the stride study.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedCell {
    /// Its loop as published: `single`, `dual`, `single-split`.
    pub loop_name: String,
    /// The loop and its strides.
    pub cell: Cell,
    /// Ticks a packet.
    pub ticks: f64,
    /// Whether a fit may use it.
    pub may_be_fitted: bool,
}

impl PublishedCell {
    /// The cell as a fit sees it; `None` if it may not.
    pub fn used(&self, cycles_per_tick: f64) -> Option<UsedCell> {
        self.may_be_fitted.then_some(UsedCell { cell: self.cell, cycles_per_packet: self.ticks * cycles_per_tick })
    }

    /// `single+3`, `single-split+2/13`.
    pub fn label(&self) -> String {
        let Strides { header, data } = self.cell.strides;
        if header == data {
            format!("{}+{header}", self.loop_name)
        } else {
            format!("{}+{header}/{data}", self.loop_name)
        }
    }
}

#[derive(Deserialize)]
struct ReferenceFile {
    fit: ReferenceFit,
}

#[derive(Deserialize)]
struct ReferenceFit {
    loops: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedRow {
    #[serde(rename = "loop")]
    loop_name: String,
    stride_first: usize,
    /// As the first where none is given.
    stride_second: Option<usize>,
    /// The published clocks say the same.
    #[serde(rename = "mpps")]
    _mpps: f64,
    clocks_per_packet: f64,
}

/// Reads the published stride tables and what a fit may see of them.
pub fn read_published(data: &Path) -> Result<Vec<PublishedCell>, Error> {
    let path = data.join("published/dataplane-prefetch.toml");
    let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
    let reference: ReferenceFile = toml::from_str(&text).map_err(|e| Error::data(&path, e))?;

    let path = data.join("published/dataplane-prefetch.csv");
    let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize::<PublishedRow>().zip(2..);
    rows.map(|(row, line)| {
        let wrong = |what: String| Error::data(&path, format!("line {line}: {what}"));
        let row = row.map_err(|error| Error::data(&path, error))?;
        let shape = match row.loop_name.as_str() {
            "single" | "single-split" => Shape::Single,
            "dual" => Shape::Dual,
            other => return Err(wrong(format!("`{other}` is no loop: single, single-split or dual"))),
        };
        if !(row.clocks_per_packet.is_finite() && row.clocks_per_packet > 0.0) {
            return Err(wrong("clocks_per_packet must be greater than 0".to_owned()));
        }
        let header = row.stride_first;
        Ok(PublishedCell {
            may_be_fitted: reference.fit.loops.contains(&row.loop_name),
            loop_name: row.loop_name,
            cell: Cell { shape, strides: Strides { header, data: row.stride_second.unwrap_or(header) } },
            ticks: row.clocks_per_packet,
        })
    })
    .collect()
}

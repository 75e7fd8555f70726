//! Command-line arguments, and what runs them. The `stopwatt` command flattens these into its own subcommands.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use dataplane::buffers::Reuse;
use dataplane::plane::Settings;
use dataplane::walk::{Shape, Strides};
use dataplane_experiments::graphs::{GraphKind, Load};
use dataplane_experiments::host::{Layout, Study};
use dataplane_experiments::import;
use dataplane_experiments::model::Effort;
use dataplane_experiments::results;
use recording::{Header, Recording};
use serde::Serialize;

use crate::error::Error;
use crate::{graphs, host, prefetch};

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for people.
    Term,
    /// For machines.
    Json,
}

/// Which world an experiment runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum World {
    /// This machine.
    Host,
    /// A modelled core.
    Sim,
}

/// Options that every experiment has.
#[derive(Args, Debug)]
pub struct OutputOptions {
    /// Folder of the recording; an older recording there is replaced. None is written without it.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub format: Format,
}

impl OutputOptions {
    /// Finds before a run what cannot be written after it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &self.output {
            Some(folder) => Ok(Recording::check_target(folder)?),
            None => Ok(()),
        }
    }
}

fn strides(text: &str) -> Result<Strides, String> {
    let number = |text: &str| {
        let stride = text.parse::<usize>().ok().filter(|stride| *stride <= 64);
        stride.ok_or_else(|| format!("`{text}` is no stride: a whole number up to 64, or two as in 2/13"))
    };
    match text.split_once('/') {
        Some((header, data)) => Ok(Strides { header: number(header)?, data: number(data)? }),
        None => number(text).map(Strides::both),
    }
}

fn frame_size(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is no number")).and_then(Settings::checked_frame_size)
}

/// Options of `run dataplane`.
#[derive(Args, Debug)]
pub struct DataplaneOptions {
    /// Graph: l2-xconnect, ip4-route or ip4-fused.
    #[arg(long, default_value = "ip4-route", value_name = "NAME")]
    pub graph: GraphKind,
    /// Windows of load.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub windows: u32,
    /// Length of a window in milliseconds.
    #[arg(long, default_value_t = 1000, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=600_000))]
    pub window: u64,
    /// Packets of a frame: 64, 128, 256, 512 or 1024.
    #[arg(long, default_value = "256", value_name = "N", value_parser = frame_size)]
    pub frame_size: usize,
    /// Loop: single, dual or quad.
    #[arg(long = "loop", default_value = "dual", value_name = "SHAPE")]
    pub shape: Shape,
    /// Prefetch strides of the first node that reads packets, as 4 or 2/13; 0 is none.
    #[arg(long, default_value = "0", value_name = "S1[/S2]", value_parser = strides)]
    pub strides: Strides,
    /// Buffers.
    #[arg(long, default_value_t = 16_384, value_name = "N", value_parser = clap::value_parser!(u32).range(2_048..=1 << 22))]
    pub buffers: u32,
    /// Hand out the buffer freed last, rather than cycle through all.
    #[arg(long)]
    pub hot: bool,
    /// Routes of the IPv4 graphs.
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub routes: u32,
    /// Flows.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub flows: u32,
    /// Do not verify header checksums.
    #[arg(long)]
    pub no_checksum: bool,
    /// Follow this many packets through the graph.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub trace: usize,
    /// Output.
    #[command(flatten)]
    pub output: OutputOptions,
}

impl DataplaneOptions {
    /// Runs the experiment; returns what to print.
    pub fn run(&self) -> Result<String, Error> {
        self.output.check()?;
        let load = Load {
            kind: self.graph,
            settings: Settings {
                shape: self.shape,
                strides: self.strides,
                frame_size: self.frame_size,
                verify_checksum: !self.no_checksum,
            },
            buffers: self.buffers as usize,
            reuse: if self.hot { Reuse::Hot } else { Reuse::Cycle },
            routes: self.routes,
            flows: self.flows,
        };
        let (result, loaded, graph) =
            graphs::run(load, self.windows as usize, Duration::from_millis(self.window), self.trace)?;
        if let Some(folder) = &self.output.output {
            let mut header = header("dataplane", "host", "ticks", self.windows);
            header.time.counter_hz = Some(dataplane::machine::counter_hz());
            for (key, value) in [
                ("graph", self.graph.name().to_owned()),
                ("frame_size", self.frame_size.to_string()),
                ("loop", self.shape.name().to_owned()),
                ("strides", format!("{}/{}", self.strides.header, self.strides.data)),
                ("buffers", self.buffers.to_string()),
                ("reuse", if self.hot { "hot" } else { "cycle" }.to_owned()),
                ("routes", self.routes.to_string()),
                ("flows", self.flows.to_string()),
                ("checksum", (!self.no_checksum).to_string()),
            ] {
                header.settings.insert(key.to_owned(), value);
            }
            results::graph(header, self.graph, &loaded).write(folder)?;
        }
        match self.output.format {
            Format::Json => json(&result),
            Format::Term => Ok(graphs::print(&result, load, self.windows as usize, &graph)),
        }
    }
}

/// Options of `run prefetch`.
#[derive(Args, Debug)]
pub struct PrefetchOptions {
    /// Where to run: on this machine, or on a modelled core.
    #[arg(long, default_value = "host", value_name = "WORLD")]
    pub world: World,
    /// Platform of the modelled core.
    #[arg(long, default_value = "macchiatobin", value_name = "NAME")]
    pub platform: String,
    /// Seed of the modelled memory's spread.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// The study on this machine.
    #[command(flatten)]
    pub study: StudyOptions,
    /// Output.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// How the study is made.
#[derive(Args, Debug)]
pub struct StudyOptions {
    /// Packets of a frame: 64, 128, 256, 512 or 1024.
    #[arg(long, default_value = "256", value_name = "N", value_parser = frame_size)]
    pub frame_size: usize,
    /// Frames of a measurement (48 here, 400 on a modelled core).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: Option<u32>,
    /// Measurements of each cell; this machine only.
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repetitions: u32,
    /// Buffers gone through before one comes again; this machine only.
    #[arg(long, default_value_t = 131_072, value_name = "N", value_parser = clap::value_parser!(u32).range(1024..=1 << 22))]
    pub buffers: u32,
    /// Rounds of extra work a packet; this machine only.
    #[arg(long, default_value_t = 48, value_name = "N")]
    pub rounds: u32,
    /// Keep metadata in the frame's lanes: one line a packet; this machine only.
    #[arg(long)]
    pub in_frame: bool,
}

impl StudyOptions {
    fn study(&self) -> Study {
        Study {
            frame_size: self.frame_size,
            buffers: self.buffers as usize,
            rounds: self.rounds,
            repetitions: self.repetitions as usize,
            frames: self.frames.unwrap_or(48) as usize,
            layout: if self.in_frame { Layout::InFrame } else { Layout::InBuffer },
        }
    }
}

impl PrefetchOptions {
    /// Runs the experiment; returns what to print. `data` holds `platforms` and `references`.
    pub fn run(&self, data: &Path) -> Result<String, Error> {
        self.output.check()?;
        match self.world {
            World::Sim => {
                let effort = Effort {
                    frame_size: self.study.frame_size,
                    frames: self.study.frames.unwrap_or(400) as usize,
                    seed: self.seed,
                };
                let prediction = prefetch::predict(data, &self.platform, effort)?;
                if let Some(folder) = &self.output.output {
                    prefetch::record(data, &prediction, effort, header("prefetch", "sim", "ticks", 1))?
                        .write(folder)?;
                }
                match self.output.format {
                    Format::Json => json(&prediction),
                    Format::Term => Ok(prefetch::print_prediction(&prediction)),
                }
            }
            World::Host => {
                let study = self.study.study();
                let (result, values) = host::prefetch(study);
                if let Some(folder) = &self.output.output {
                    let mut header = header("prefetch", "host", "ticks", self.study.repetitions);
                    study_settings(&mut header, &study);
                    results::study(header, "host", study.layout.name(), &values).write(folder)?;
                }
                match self.output.format {
                    Format::Json => json(&result),
                    Format::Term => Ok(host::print_prefetch(study, &result, &values)),
                }
            }
        }
    }
}

/// Options of `run batch`.
#[derive(Args, Debug)]
pub struct BatchOptions {
    /// The study.
    #[command(flatten)]
    pub study: StudyOptions,
    /// Output.
    #[command(flatten)]
    pub output: OutputOptions,
}

impl BatchOptions {
    /// Runs the experiment; returns what to print.
    pub fn run(&self) -> Result<String, Error> {
        self.output.check()?;
        let study = self.study.study();
        let (rows, values) = host::batch(study);
        if let Some(folder) = &self.output.output {
            let mut header = header("batch", "host", "ticks", self.study.repetitions);
            study_settings(&mut header, &study);
            let mut recording = recording::Recording::new(header);
            for (frame_size, cells) in &values {
                let variant = format!("frame-{frame_size}");
                recording.append(&results::study(recording.header.clone(), &variant, study.layout.name(), cells));
            }
            recording.write(folder)?;
        }
        match self.output.format {
            Format::Json => json(&rows),
            Format::Term => Ok(host::print_batch(&rows)),
        }
    }
}

/// Options of `calibrate-prefetch`.
#[derive(Args, Debug)]
pub struct CalibratePrefetchOptions {
    /// Platform.
    #[arg(long, default_value = "macchiatobin", value_name = "NAME")]
    pub platform: String,
    /// Compare with the costs file and write nothing; exit with 1 if they differ.
    #[arg(long)]
    pub check: bool,
    /// How to print the fit.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub format: Format,
}

impl CalibratePrefetchOptions {
    /// Fits; writes or compares.
    pub fn run(&self, data: &Path) -> Result<String, Error> {
        let costs = prefetch::calibrate(data, &self.platform)?;
        if self.check {
            let there = crate::data::read_costs(data, &self.platform)?;
            if there != costs {
                let path = crate::data::costs_path(data, &self.platform);
                let what = "is not what a fresh fit gives; run calibrate-prefetch without --check";
                return Err(Error::CheckFailed(format!("{}: {what}", path.display())));
            }
        } else {
            prefetch::write_costs(data, &self.platform, &costs)?;
        }
        match (self.format, self.check) {
            (Format::Json, _) => json(&costs),
            (Format::Term, true) => Ok("the costs file is what a fresh fit gives\n".to_owned()),
            (Format::Term, false) => {
                Ok(format!("rms {:.2} % over {} cells\n", costs.fit.rms_percent, costs.fit.used.len()))
            }
        }
    }
}

/// Options of `import vpp-runtime`.
#[derive(Args, Debug)]
pub struct ImportRuntimeOptions {
    /// What `show runtime` of VPP printed.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What was measured: a version, a machine.
    #[arg(long, default_value = "vpp", value_name = "NAME")]
    pub variant: String,
    /// Frequency of the counter that the clocks count, where it is known.
    #[arg(long, value_name = "HZ")]
    pub counter_hz: Option<u64>,
    /// Folder of the recording; an older recording there is replaced.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// How to say what was read.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    pub format: Format,
}

impl ImportRuntimeOptions {
    /// Imports; returns what to print.
    pub fn run(&self) -> Result<String, Error> {
        let bytes = std::fs::read(&self.file).map_err(Error::io(&self.file))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::data(&self.file, "not text: it should be what VPP's `show runtime` printed"))?;
        let runtime = import::parse(&text).map_err(|e| Error::data(&self.file, e))?;
        let mut header = header("vpp-runtime", "import", "ticks", 1);
        // The text was measured elsewhere; this machine only read it.
        (header.run.machine, header.run.kernel) = (None, None);
        header.run.more.clear();
        header.time.counter_hz = self.counter_hz;
        import::record(header, &self.variant, &runtime).write(&self.output)?;
        if self.format == Format::Json {
            let node = |row: &import::Row| {
                serde_json::json!({
                    "name": row.node, "thread": row.thread, "state": row.state, "calls": row.calls, "vectors": row.vectors,
                    "suspends": row.suspends, "clocks": row.clocks,
                })
            };
            let nodes: Vec<_> = runtime.rows.iter().map(node).collect();
            return json(&serde_json::json!({ "nodes": nodes, "recording": self.output }));
        }
        let active = runtime.rows.iter().filter(|row| row.vectors > 0);
        let total: f64 = active.clone().map(|row| row.clocks).sum();
        Ok(format!(
            "{} nodes, {} with packets, together {total:.2} clocks a packet -> {}\n",
            runtime.rows.len(),
            active.count(),
            self.output.display()
        ))
    }
}

fn study_settings(header: &mut Header, study: &Study) {
    header.time.counter_hz = Some(dataplane::machine::counter_hz());
    for (key, value) in [
        ("frame_size", study.frame_size),
        ("frames", study.frames),
        ("buffers", study.buffers),
        ("rounds", study.rounds as usize),
    ] {
        header.settings.insert(key.to_owned(), value.to_string());
    }
}

/// A header with the machine in its `[run]`.
pub(crate) fn header(experiment: &str, world: &str, unit: &str, iterations: u32) -> Header {
    let mut header = Header::new(experiment, world, unit);
    header.iterations = iterations;
    header.versions.insert("stopwatt".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    header.run = provenance::this_measurement();
    header.run.more.insert("counter".to_owned(), dataplane::machine::COUNTER.to_owned());
    header
}

pub(crate) fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|e| Error::Usage(e.to_string()))
}

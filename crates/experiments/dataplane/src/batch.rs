//! `batch`: frame sizes, on this machine or in the caches of a modelled core.

use crate::frame_path::{self, BUFFER_LINES, DESCRIPTOR, FramePath, INDEX};
use crate::host::{Layout, Study, sweep};
use crate::model::{self, Cell};
use crate::places::{CacheLevel, CacheLevels};
use crate::platform::CorePlatform;
use crate::{
    BUFFERS, DATA_IN, FRAME_SIZE, FRAMES, HEADER_IN, HOST, IN_FRAME, PLATFORM, REPETITIONS, ROUNDS,
    SIM, WORK, host_header, results,
};
use dataplane::buffers::{Buffer, LINE};
use dataplane::frame::{FRAME_SIZES, LANE_BYTES};
use dataplane::memory::{InBuffer, InFrame};
use dataplane::study::StudyBody;
use dataplane::walk::{Shape, Strides, code_bytes};
use experiment::setting::Number;
use experiment::{About, Experiment, Observer, Request, Result, World};
use itertools::Itertools;
use recording::{Recording, metrics};

/// Measures the stride study's loop for each frame size, or tells where a modelled core finds the
/// lines of a frame.
pub struct Batch;

const BUFFER_BYTES: Number<u64> = Number::new(
    "buffer-bytes",
    2 * core_model::LINE..=1 << 20,
    "Bytes from one buffer to the next [default: 2048, 2304, 2432, 4096 and 4160 in turn].",
)
.unit("bytes")
.only(SIM);

/// Bytes from one buffer to the next where they vary: powers of two, buffers of 2048 bytes with
/// room in front of them, and a page with a line of metadata.
const STRIDES: [u64; 5] = [2048, 2304, 2432, 4096, model::SLOT];

/// Buffers that go around where the frame's size varies: a receive ring of usual length.
const POOL: usize = 1024;

/// Numbers of buffers that go around where that varies.
const POOLS: [usize; 5] = [512, 1024, 2048, 4096, 16_384];

static ABOUT: About = About {
    name: "batch",
    summary: "Frame sizes, on this machine or in the caches of a modelled core",
    details: "The same number of packets is measured for every size; --frame-size and --frames say how many. On a modelled core \
              --data-in says to where the device writes packets and descriptors.",
    worlds: &[
        (World::Host, "real memory, the machine's own clock"),
        (
            World::Sim,
            "the caches of a modelled core, from receive to transmit",
        ),
    ],
    settings: &[
        &PLATFORM,
        &BUFFER_BYTES,
        &FRAME_SIZE,
        &FRAMES,
        &REPETITIONS,
        &BUFFERS,
        &ROUNDS,
        &IN_FRAME,
        &WORK,
        &const { HEADER_IN.only(HOST) },
        &DATA_IN,
    ],
    examples: &[
        ("", ""),
        (
            "--world sim --platform neoverse-n1",
            "where each node finds a frame's lines",
        ),
    ],
    ..About::BARE
};

/// The loop with prefetches that is measured beside the one without.
const CELL: Cell = Cell {
    shape: Shape::Single,
    strides: Strides { header: 4, data: 4 },
};

impl Experiment for Batch {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result {
        match request.world {
            World::Sim => ModelStudy::new(request).map(|_| ()),
            _ => Study::check(&request.settings),
        }
    }

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording> {
        match request.world {
            World::Sim => ModelStudy::new(request)?.run(observer),
            _ => here(request, observer),
        }
    }
}

/// Ways through a graph on a modelled core.
struct ModelStudy {
    platform: CorePlatform,
    /// Each with the name of its variant.
    paths: Vec<(String, FramePath)>,
}

impl ModelStudy {
    fn new(request: &Request<'_>) -> Result<Self> {
        let settings = &request.settings;
        let platform = CorePlatform::read(request.platforms, &settings.get(PLATFORM))?;
        let device = settings.get(DATA_IN).unwrap_or(CacheLevel::Dram);
        CacheLevels {
            data: device,
            ..CacheLevels::COLD
        }
        .on_a_model()?;
        let (usual, frames) = (
            settings.get(FRAME_SIZE),
            settings.get(FRAMES).unwrap_or(100),
        );
        let sizes = FRAME_SIZES.map(|size| (format!("frame-{size}"), size, POOL));
        let pools = POOLS.map(|pool| (format!("pool-{pool}"), usual.min(pool), pool));
        let strides = settings
            .get(BUFFER_BYTES)
            .map_or(STRIDES.to_vec(), |given| vec![given]);
        let paths = sizes
            .into_iter()
            .chain(pools)
            .flat_map(|(name, frame_size, pool)| {
                // The same number of packets for every size.
                let frames = (frames * usual).div_ceil(frame_size);
                let path = move |buffer_bytes| FramePath {
                    frame_size,
                    pool,
                    buffer_bytes,
                    device,
                    frames,
                };
                strides
                    .iter()
                    .map(move |stride| (format!("{name}, stride {stride}"), path(*stride)))
            });
        Ok(Self {
            paths: paths.collect(),
            platform,
        })
    }

    fn run(&self, observer: &Observer) -> Result<Recording> {
        let progress = &observer.progress;
        progress.expect(self.paths.len() as u64, "frame sizes and pools");
        let mut recording = Recording::new(self.platform.header(ABOUT.name));
        let (l1, l2) = (self.platform.l1.bytes, self.platform.l2.bytes);
        add_footprint(&mut recording, "caches", [("L1", l1), ("L2", l2)]);
        for (variant, path) in &self.paths {
            progress.check()?;
            let size =
                |name: &str, value: usize| (name.to_owned(), toml::Value::from(value as i64));
            let place = toml::Table::from_iter([
                size("frame_size", path.frame_size),
                size("pool", path.pool),
                size("buffer_bytes", path.buffer_bytes as usize),
            ]);
            recording.header.coordinates.insert(variant.clone(), place);
            let series = recording.series(variant, "path", path.device.name());
            for found in frame_path::run(self.platform.hardware(), *path) {
                for (metric, value) in [
                    (metrics::L2_ACCESSES, found.l2),
                    (metrics::MEMORY_ACCESSES, found.memory),
                ] {
                    recording.add_part(
                        series,
                        0,
                        metric,
                        [found.node.name(), found.kind.name()],
                        value,
                    );
                }
            }
            let kinds = [
                ("descriptors", DESCRIPTOR),
                ("indices", INDEX),
                ("lines", BUFFER_LINES * core_model::LINE),
            ];
            let of_frame = kinds.map(|(kind, each)| (kind, path.frame_size as u64 * each));
            add_footprint(&mut recording, variant, of_frame);
            progress.step();
        }
        Ok(recording)
    }
}

/// Adds the bytes that something takes, by kind.
fn add_footprint(
    recording: &mut Recording,
    variant: &str,
    kinds: impl IntoIterator<Item = (&'static str, u64)>,
) {
    let series = recording.series(variant, "footprint", "");
    for (kind, bytes) in kinds {
        recording.add(series, 0, metrics::FOOTPRINT, kind, bytes as f64);
    }
}

fn here(request: &Request<'_>, observer: &Observer) -> Result<Recording> {
    let study = Study::new(&request.settings);
    let progress = &observer.progress;
    progress.expect(FRAME_SIZES.len() as u64, "frame sizes");
    let none = Cell {
        strides: Strides::both(0),
        ..CELL
    };
    let mut header = host_header(ABOUT.name, study.repetitions as u32);
    header.set_facts(&study.facts());
    header.pictures.push(metrics::CLOCKS_PER_PACKET.curves(
        "Clocks per packet against packets of a frame",
        None,
        "frame_size",
        Some("stride_first"),
    ));
    let mut recording = Recording::new(header);
    for frame_size in FRAME_SIZES {
        progress.check()?;
        // The same number of packets for every size.
        let frames = (study.frames * study.frame_size / frame_size).max(1);
        let values = sweep(
            Study {
                frame_size,
                frames,
                ..study
            },
            &[none, CELL],
            || true,
        );
        let cells = [none, CELL].into_iter().zip(values).collect_vec();
        let variant = format!("frame-{frame_size}");
        let part = results::study(
            recording.header.clone(),
            &variant,
            study.layout.name(),
            &cells,
        );
        recording.append(&part);
        recording.header.coordinates.extend(part.header.coordinates);
        let size = toml::Table::from_iter([("frame_size".to_owned(), (frame_size as i64).into())]);
        recording.header.coordinates.insert(variant.clone(), size);
        let code = match study.layout {
            Layout::InBuffer => code_bytes::<InBuffer<'static>, StudyBody>(CELL.shape),
            Layout::InFrame => code_bytes::<InFrame<'static>, StudyBody>(CELL.shape),
        };
        // The bytes that a frame touches, from the types themselves, and those of the loop's
        // instructions where they are known.
        let kinds = [
            ("indices", size_of::<Buffer>()),
            ("lanes", LANE_BYTES),
            ("header lines", LINE),
            ("data lines", LINE),
        ];
        let of_frame = kinds.map(|(kind, each)| (kind, frame_size * each));
        let kinds = of_frame
            .into_iter()
            .chain(code.map(|bytes| ("instructions", bytes)))
            .map(|(kind, bytes)| (kind, bytes as u64));
        add_footprint(&mut recording, &variant, kinds);
        progress.step();
    }
    progress.check()?;
    Ok(recording)
}

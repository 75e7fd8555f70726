//! `batch`: frame sizes on this machine.

use crate::accesses;
use crate::host::{Layout, Study, sweep};
use crate::model::Cell;
use crate::{
    BUFFERS, DATA_IN, FRAME_SIZE, FRAMES, HEADER_IN, IN_FRAME, REPETITIONS, ROUNDS, WORK, footprint, host_header,
    results,
};
use dataplane::memory::{InBuffer, InFrame};
use dataplane::study::StudyBody;
use dataplane::walk::{Shape, Strides, code_bytes};
use experiment::{About, Error, Example, Experiment, Request, Sink, World, WorldAbout};
use recording::{Picture, PictureKind, Recording, metrics};

/// Measures the stride study's loop for each frame size.
pub struct Batch;

static ABOUT: About = About {
    name: "batch",
    summary: "Frame sizes, on this machine",
    details: "The same number of packets is measured for every size; --frame-size and --frames say how many.",
    worlds: &[WorldAbout { world: World::Host, about: "real memory, the machine's own clock", needs: &[] }],
    settings: &[&FRAME_SIZE, &FRAMES, &REPETITIONS, &BUFFERS, &ROUNDS, &IN_FRAME, &WORK, &HEADER_IN, &DATA_IN],
    cases: &[],
    examples: &[Example { arguments: "", about: "" }],
    sweep_defaults: &[],
    shipped_sweeps: &[],
};

/// The loop with prefetches that is measured beside the one without.
const CELL: Cell = Cell { shape: Shape::Single, strides: Strides { header: 4, data: 4 } };

impl Experiment for Batch {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        Study::check(&request.settings)
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let study = Study::new(&request.settings);
        let progress = sink.progress();
        let sizes = footprint::table();
        progress.expect(sizes.len() as u64, "frame sizes");
        let none = Cell { strides: Strides::both(0), ..CELL };
        let mut header = host_header(ABOUT.name, study.repetitions as u32);
        header.set_facts(&study.facts());
        header.pictures.push(Picture {
            title: "Clocks per packet against packets of a frame".to_owned(),
            metric: metrics::CLOCKS_PER_PACKET.name.to_owned(),
            case: None,
            kind: PictureKind::Curves { x: "frame_size".to_owned(), by: Some("stride_first".to_owned()) },
        });
        let mut recording = Recording::new(header);
        for row in sizes {
            progress.check()?;
            // The same number of packets for every size.
            let frames = (study.frames * study.frame_size / row.frame_size).max(1);
            let values = sweep(Study { frame_size: row.frame_size, frames, ..study }, &[none, CELL], || true);
            let cells: Vec<_> = [none, CELL].into_iter().zip(values).collect();
            let variant = format!("frame-{}", row.frame_size);
            let part = results::study(recording.header.clone(), &variant, study.layout.name(), &cells);
            recording.append(&part);
            recording.header.coordinates.extend(part.header.coordinates);
            let size = toml::Table::from_iter([("frame_size".to_owned(), (row.frame_size as i64).into())]);
            recording.header.coordinates.insert(variant.clone(), size);
            let code = match study.layout {
                Layout::InBuffer => code_bytes::<InBuffer<'static>, StudyBody>(CELL.shape),
                Layout::InFrame => code_bytes::<InFrame<'static>, StudyBody>(CELL.shape),
            };
            results::footprint(&mut recording, &variant, &row, code);
            progress.step();
        }
        progress.check()?;
        results::accesses(&mut recording, &accesses::KINDS, &accesses::measure(study));
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

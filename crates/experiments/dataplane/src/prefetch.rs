//! `prefetch`: loop shapes and prefetch strides, on this machine or on a modelled core.

use crate::host::{self, Study, cells, sweep};
use crate::model::{self, Cell, Effort};
use crate::places::CacheLevels;
use crate::platform::{CorePlatform, CostsFile};
use crate::{
    BUFFERS, DATA_IN, FRAME_SIZE, FRAMES, HEADER_IN, IN_FRAME, PLATFORM, REPETITIONS, ROUNDS, SIM,
    WORK, host_header, parse_strides, results,
};
use dataplane::walk::{Shape, Strides};
use experiment::setting::{InputFile, Number, Or};
use experiment::{About, Error, Experiment, Observer, Request, Result, World};
use itertools::Itertools;
use recording::{Header, Picture, Recording, conditions, facts, metrics};

/// Measures or predicts the clocks of each loop and stride.
pub struct Prefetch;

const SEED: Or<Number> = Number::new(
    "seed",
    0..=u64::MAX,
    "Seed of the modelled memory's spread.",
)
.only(SIM)
.or(1);

const SPE: InputFile = InputFile::new(
    "spe",
    "Loads that Arm's SPE sampled on such a core (`perf script -D`): the modelled memory takes as long as theirs.",
)
.only(SIM);

static ABOUT: About = About {
    name: "prefetch",
    summary: "Loop shapes and prefetch strides, on this machine or a modelled core",
    worlds: &[
        (World::Host, "real memory, the machine's own clock"),
        (World::Sim, "the same loops on a modelled core"),
    ],
    settings: &[
        &PLATFORM,
        &SEED,
        &FRAME_SIZE,
        &FRAMES,
        &REPETITIONS,
        &BUFFERS,
        &ROUNDS,
        &IN_FRAME,
        &WORK,
        &HEADER_IN,
        &DATA_IN,
        &SPE,
    ],
    examples: &[
        ("--world sim --platform macchiatobin", ""),
        ("--world host", ""),
    ],
    ..About::BARE
};

impl Experiment for Prefetch {
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

/// The pictures of a study in either world.
fn pictures() -> Vec<Picture> {
    let clocks = metrics::CLOCKS_PER_PACKET;
    vec![
        clocks.curves(
            "Clocks per packet against the stride",
            None,
            "stride",
            Some("loop"),
        ),
        clocks.heat_map(
            "Clocks per packet, two strides apart",
            None,
            "stride_second_apart",
            "stride_first_apart",
        ),
    ]
}

fn here(request: &Request<'_>, observer: &Observer) -> Result<Recording> {
    let study = Study::new(&request.settings);
    let progress = &observer.progress;
    progress.expect(study.repetitions as u64, "repetitions");
    let cells = cells();
    let values = sweep(study, &cells, || {
        progress.step();
        progress.check().is_ok()
    });
    progress.check()?;
    let mut header = host_header(ABOUT.name, study.repetitions as u32);
    header.set_facts(&study.facts());
    header.pictures = pictures();
    Ok(results::study(
        header,
        "host",
        study.layout.name(),
        &cells.into_iter().zip(values).collect_vec(),
    ))
}

/// A prediction that is asked for.
struct ModelStudy {
    platform: CorePlatform,
    costs: CostsFile,
    /// Whose costs they are, where SPE gave some of them.
    note: Option<String>,
    /// The cells with the names of their loops.
    cells: Vec<(String, Cell)>,
    effort: Effort,
}

impl ModelStudy {
    fn new(request: &Request<'_>) -> Result<Self> {
        let settings = &request.settings;
        let platform = CorePlatform::read(request.platforms, &settings.get(PLATFORM))?;
        let name = &platform.platform.name;
        let (costs, note) = match settings.get(SPE) {
            Some(spe) => CostsFile::sampled(request.platforms, name, &spe)
                .map(|(costs, note)| (costs, Some(note)))?,
            None => (CostsFile::read(request.platforms, name)?, None),
        };
        // The cells of the published study, loops without prefetch, and the quad loop, for which
        // there is no figure.
        let mut cells = request
            .conditions
            .get("stride-cells", &[&platform.platform.name])
            .iter()
            .map(|label| parse_cell(label))
            .collect::<Result<Vec<_>, _>>()?;
        if cells.is_empty() {
            // Nothing was published of this core: the cells that are measured on a host.
            cells = host::cells()
                .into_iter()
                .map(|cell| (results::loop_name(cell).to_owned(), cell))
                .collect();
        }
        let quad = (1..=3).map(|stride| Cell {
            shape: Shape::Quad,
            strides: Strides::both(stride),
        });
        let none = Shape::ALL.map(|shape| Cell {
            shape,
            strides: Strides::both(0),
        });
        for cell in quad.chain(none) {
            if !cells.iter().any(|(_, known)| *known == cell) {
                cells.push((cell.shape.name().to_owned(), cell));
            }
        }
        let effort = Effort {
            frame_size: settings.get(FRAME_SIZE),
            frames: settings.get(FRAMES).unwrap_or(400),
            seed: settings.get(SEED),
            places: CacheLevels::RECEIVED
                .with(settings.get(HEADER_IN), settings.get(DATA_IN))
                .on_a_model()?,
            touched: platform.tlb.second_entries > 0,
        };
        Ok(Self {
            platform,
            costs,
            note,
            cells,
            effort,
        })
    }

    fn run(&self, observer: &Observer) -> Result<Recording> {
        let progress = &observer.progress;
        progress.expect(self.cells.len() as u64, "cells");
        let costs = self.costs.cycles;
        let (parameters, tick) = (
            costs.on(self.platform.hardware()),
            self.platform.cycles_per_tick(),
        );
        let mut recording = Recording::new(self.header()?);
        let series = recording.series(&self.platform.platform.name, "prefetch", "in-buffer");
        for (loop_name, cell) in &self.cells {
            progress.check()?;
            let outcome = model::run(parameters, *cell, self.effort);
            let Strides {
                header: first,
                data: second,
            } = cell.strides;
            let name = format!("{loop_name}+{first}/{second}");
            recording.add(
                series,
                0,
                metrics::CLOCKS_PER_PACKET,
                &name,
                outcome.cycles_per_packet / tick,
            );
            recording
                .header
                .coordinates
                .insert(name.clone(), results::coordinates(loop_name, *cell));
            for (access, stall) in &outcome.stalls {
                for (metric, value) in [
                    (metrics::STALL_WAITED, stall.waited),
                    (metrics::STALL_BLOCKED, stall.blocked),
                ] {
                    recording.add_part(series, 0, metric, [&name, &access.name()], value / tick);
                }
            }
            progress.step();
        }
        let series = recording.series(&self.platform.platform.name, "prefetch-burst", "in-buffer");
        for (number, blocked) in (1..).zip(model::burst(parameters, 8, self.effort)) {
            recording.add(
                series,
                0,
                metrics::STALL_BLOCKED,
                &format!("prefetch {number} of a burst"),
                blocked / tick,
            );
        }
        Ok(recording)
    }

    fn header(&self) -> Result<Header> {
        let mut header = self.platform.header(ABOUT.name);
        header.seed = self.effort.seed;
        let places = self.effort.places;
        header.set_facts(&facts::Study {
            frame_size: self.effort.frame_size as u64,
            frames: self.effort.frames as u64,
            header_in: places.header.name().to_owned(),
            data_in: places.data.name().to_owned(),
            ..facts::Study::default()
        });
        let costs = toml::Table::try_from(&self.costs).map_err(Error::failed)?;
        header.costs.insert("prefetch".to_owned(), costs);
        if let Some(note) = &self.note {
            header.set_condition("prefetch", conditions::BORROWED, note);
        }
        header.pictures = pictures();
        Ok(header)
    }
}

/// `single+3`, `single-split+2/13`.
fn parse_cell(label: &str) -> Result<(String, Cell)> {
    let wrong = || {
        Error::usage(
            format!("`{label}` is no cell"),
            "a loop and its strides, such as dual+2 or single-split+2/13",
        )
    };
    let (loop_name, strides) = label.rsplit_once('+').ok_or_else(wrong)?;
    let shape = loop_name
        .trim_end_matches("-split")
        .parse()
        .map_err(|_| wrong())?;
    let strides = parse_strides(strides, |text| text.parse().map_err(|_| wrong()))?;
    Ok((loop_name.to_owned(), Cell { shape, strides }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_told_by_their_labels() {
        let strides = |header, data| Strides { header, data };
        let split = Cell {
            shape: Shape::Single,
            strides: strides(2, 13),
        };
        assert_eq!(
            parse_cell("single-split+2/13").unwrap(),
            ("single-split".to_owned(), split)
        );
        assert_eq!(
            parse_cell("dual+4").unwrap().1,
            Cell {
                shape: Shape::Dual,
                strides: strides(4, 4)
            }
        );
        for wrong in ["dual", "dual+x", "triple+1", "single+1/"] {
            assert!(parse_cell(wrong).is_err(), "{wrong}");
        }
    }
}

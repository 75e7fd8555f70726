//! `idle-cases`: workloads on which governors were reported to choose badly.

use crate::load_file::LoadFile;
use document::Document;
use experiment::setting::{Number, Or};
use experiment::{About, Error, Example, Experiment, Request, Sink, World, WorldAbout};
use idle::Kind as Governor;
use recording::{Header, Recording, metrics};

/// Governors on the workloads of two reports.
pub struct IdleCases;

const SEED: Or<Number> = Number::new("seed", 0..=u64::MAX, "Seed of the times that nobody foresees.").or(1);

static ABOUT: About = About {
    name: "idle-cases",
    summary: "Two published workloads on which idle governors choose badly, with every governor",
    details: "Of the workloads only what the reports say is known: the idle states, the tick and how often a CPU wakes. How the unforeseen \
              wake-ups are spread is assumed, so the order of the governors can be compared, and the counts only roughly.",
    worlds: &[WorldAbout { world: World::Sim, about: "a CPU in closed loop", needs: &[] }],
    settings: &[&SEED],
    cases: &[],
    examples: &[Example { arguments: "", about: "" }, Example { arguments: "--seed 7 --format json", about: "" }],
    sweep_defaults: &[],
    shipped_sweeps: &[],
};

/// The governors that are compared.
const GOVERNORS: [Governor; 7] = [
    Governor::Menu61,
    Governor::Menu,
    Governor::Teo610,
    Governor::Teo611,
    Governor::Teo618,
    Governor::Teo618Fixed,
    Governor::Ladder,
];

/// The workloads by name, with the text of their files.
const CASES: [(&str, &str); 2] = [
    ("pipe", include_str!("../../../../workloads/idle/pipe.toml")),
    ("timers-50ms", include_str!("../../../../workloads/idle/timers-50ms.toml")),
];

impl Experiment for IdleCases {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let seed = request.settings.get(SEED);
        let progress = sink.progress();
        progress.expect((CASES.len() * GOVERNORS.len()) as u64, "governors");
        let mut header = Header::new(ABOUT.name, World::Sim.name(), "ns");
        header.versions.insert("stopwatt".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        (header.seed, header.iterations) = (seed, 1);
        let mut loads = Vec::new();
        for (case, text) in CASES {
            let file: LoadFile = Document::new(format!("workloads/idle/{case}.toml"), text).read()?;
            header.notes.push(format!("Assumed in {case}, since the report does not say: {}.", file.assumed));
            loads.push((case, file.load(seed).map_err(Error::failed)?));
        }
        let mut recording = Recording::new(header);
        for (case, load) in loads {
            for kind in GOVERNORS {
                progress.check()?;
                let lived = load.live(kind);
                let series = recording.series(&kind.to_string(), case, "");
                for (metric, value) in [
                    (metrics::IDLE_ENTERED, lived.stays),
                    (metrics::IDLE_ABOVE, lived.above),
                    (metrics::IDLE_BELOW, lived.below),
                ] {
                    recording.measure(series, 0, metric.name, metric.unit, value as f64);
                }
                progress.step();
            }
        }
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed_loop::Load;

    fn load(case: usize, seed: u64) -> Load {
        let (name, text) = CASES[case];
        let file: LoadFile = Document::new(name, text).read().unwrap();
        file.load(seed).unwrap()
    }

    /// As reported: menu and ladder leave polling for a state that does not pay, teo does not.
    #[test]
    fn menu_and_ladder_do_not_poll_where_it_would_pay() {
        for seed in 1..9 {
            let load = load(0, seed);
            let above = |kind| {
                let lived = load.live(kind);
                lived.above as f64 / lived.stays as f64
            };
            let [menu, ladder, teo] = [Governor::Menu61, Governor::Ladder, Governor::Teo611].map(above);
            assert!(
                ladder >= menu && menu > 0.95 && teo < 0.05,
                "seed {seed}: menu {menu}, ladder {ladder}, teo {teo}"
            );
        }
    }

    /// As reported: before its changes of June 2024 teo errs below most of all and above least;
    /// after them below least.
    #[test]
    fn long_timers_keep_the_old_teo_in_shallow_states() {
        for seed in 1..9 {
            let load = load(1, seed);
            let [before, after, menu] =
                [Governor::Teo610, Governor::Teo611, Governor::Menu61].map(|kind| load.live(kind));
            let all = format!("seed {seed}: before {before:?}, after {after:?}, menu {menu:?}");
            assert!(before.below > 5 * menu.below && menu.below > after.below, "{all}");
            assert!(menu.above > after.above && after.above >= before.above, "{all}");
        }
    }
}

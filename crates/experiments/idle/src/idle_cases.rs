//! `idle-cases`: workloads on which governors were reported to choose badly.

use crate::closed_loop::Load;
use experiment::{About, Error, Example, Experiment, Kind, Request, Setting, Sink, World, WorldAbout};
use idle::{Kind as Governor, State, States};
use recording::{Header, Recording, metrics};

/// Governors on the workloads of two reports.
pub struct IdleCases;

static SETTINGS: [Setting; 1] =
    [Setting::new("seed", Kind::Number { min: 0, max: u64::MAX }, "Seed of the times that nobody foresees.").or("1")];

static ABOUT: About = About {
    name: "idle-cases",
    summary: "Two published workloads on which idle governors choose badly, with every governor",
    details: "Of the workloads only what the reports say is known: the idle states, the tick and how often a CPU wakes. How the unforeseen \
              wake-ups are spread is assumed, so the order of the governors can be compared, and the counts only roughly.",
    worlds: &[WorldAbout { world: World::Sim, about: "a CPU in closed loop", needs: &[] }],
    settings: &SETTINGS,
    cases: &[],
    examples: &[Example { arguments: "", about: "" }, Example { arguments: "--seed 7 --format json", about: "" }],
    sweep_defaults: &[],
    shipped_sweeps: &[],
};

const MS: u64 = 1_000_000;

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

/// Numbers that look random: Knuth's linear congruential generator for 64 bits, of which the upper half counts.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Times of so many interrupts, from `least` to `least + spread` ns after one another.
fn interrupts(seed: u64, count: usize, least: u64, spread: u64) -> Vec<u64> {
    let mut chance = Chance(seed);
    let mut at = 0;
    let next = || {
        at += least + chance.below(spread);
        at
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Two tasks wake each other through a pipe; a state that polls, and one with a residency of 120 us.
fn pipe(seed: u64) -> Result<Load, idle::StatesError> {
    let states = States::new(&[State::polling(), State::new(10_000, 120_000)])?;
    // Work of 6 us, and then about 34 us of sleep.
    let interrupts = interrupts(seed, 20_000, 30_000, 20_000);
    let end_ns = interrupts.last().copied().unwrap_or(0);
    Ok(Load { states, tick_ns: 4 * MS, period_ns: 100 * MS, work_ns: 6_000, interrupts, end_ns })
}

/// Timers 50 ms apart at 100 Hz, on RK3399's residencies, and interrupts 30 ms apart in the mean.
fn timers(seed: u64) -> Result<Load, idle::StatesError> {
    let states =
        States::new(&[State::new(1_000, 1_000), State::new(370_000, 900_000), State::new(900_000, 2_000_000)])?;
    let end_ns = 3_200 * 50 * MS / 3;
    Ok(Load {
        states,
        tick_ns: 10 * MS,
        period_ns: 50 * MS,
        work_ns: 60_000,
        interrupts: interrupts(seed, 20_000, 0, 60 * MS),
        end_ns,
    })
}

/// The workloads: name, title, and how they are made.
type Case = (&'static str, fn(u64) -> Result<Load, idle::StatesError>);
const CASES: [Case; 2] = [("pipe", pipe), ("timers-50ms", timers)];

impl Experiment for IdleCases {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let seed = request.settings.number("seed");
        let progress = sink.progress();
        progress.expect((CASES.len() * GOVERNORS.len()) as u64, "governors");
        let mut header = Header::new(ABOUT.name, World::Sim.name(), "ns");
        header.versions.insert("stopwatt".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        (header.seed, header.iterations) = (seed, 1);
        header.notes.push(
            "Assumed, since the reports do not say: sleeps of pipe are 24 to 44 us, evenly spread; interrupts of timers-50ms come 0 to 60 ms after one another; exit latencies of 10 us, and of 370 and 900 us."
                .to_owned(),
        );
        let mut recording = Recording::new(header);
        for (case, make) in CASES {
            let load = make(seed).map_err(Error::failed)?;
            for kind in GOVERNORS {
                progress.check()?;
                let lived = load.live(kind);
                let series = recording.series(kind.name(), case, "");
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

    /// As reported: menu and ladder leave polling for a state that does not pay, teo does not.
    #[test]
    fn menu_and_ladder_do_not_poll_where_it_would_pay() {
        for seed in 1..9 {
            let load = pipe(seed).unwrap();
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

    /// As reported: before its changes of June 2024 teo errs below most of all and above least; after them below least.
    #[test]
    fn long_timers_keep_the_old_teo_in_shallow_states() {
        for seed in 1..9 {
            let load = timers(seed).unwrap();
            let [before, after, menu] =
                [Governor::Teo610, Governor::Teo611, Governor::Menu61].map(|kind| load.live(kind));
            let all = format!("seed {seed}: before {before:?}, after {after:?}, menu {menu:?}");
            assert!(before.below > 5 * menu.below && menu.below > after.below, "{all}");
            assert!(menu.above > after.above && after.above >= before.above, "{all}");
        }
    }
}

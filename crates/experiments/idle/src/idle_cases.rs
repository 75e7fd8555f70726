//! `idle-replay --case`: workloads on which governors were reported to choose badly.

use crate::asked::{GOVERNORS, kinds};
use crate::closed_loop::LoopCounts;
use crate::load_file::LoadFile;
use document::Document;
use experiment::setting::{CheckedSetting, Number, Or};
use experiment::{Error, Settings, Sink, World};
use rayon::prelude::*;
use recording::{Header, Recording, metrics};

/// The experiment that its recordings name: they have a story of their own.
const NAME: &str = "idle-cases";

pub(crate) const SEED: Or<Number> = Number::new(
    "seed",
    0..=u64::MAX / 2,
    "With --case: first seed of the times that nobody foresees.",
)
.or(1);

pub(crate) const SEEDS: Or<Number<u32>> = Number::new(
    "seeds",
    1..=1000,
    "With --case: how many seeds, one after the other.",
)
.or(20);

pub(crate) const CASE: CheckedSetting<Vec<usize>> = CheckedSetting::new(
    "case",
    "NAMES",
    cases,
    "Published workloads on which governors choose badly, parted by commas, or `all`, in place of a trace; a wrong name lists them. Without \
     --governors those that each report tells apart are run.",
);

/// The text of a workload's file.
macro_rules! workload {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../../data/workloads/idle/", $name, ".toml")),
        )
    };
}

/// The workloads by name, with the text of their files.
const CASES: [(&str, &str); 11] = [
    workload!("pipe"),
    workload!("timers-50ms"),
    workload!("mt8196"),
    workload!("rk3399-mmc"),
    workload!("rk3399-nvme"),
    workload!("jasper-lake"),
    workload!("oracle-sqlite"),
    workload!("oracle-jbb"),
    workload!("oracle-fio"),
    workload!("oracle-rds"),
    workload!("pixel6-web"),
];

/// The numbers of the workloads in a list of names.
fn cases(text: &str) -> Result<Vec<usize>, String> {
    let number = |name: &str| {
        CASES.iter().position(|case| case.0 == name).ok_or_else(|| {
            let known: Vec<&str> = CASES.iter().map(|case| case.0).collect();
            format!(
                "there is no workload `{name}`; there are: {}",
                known.join(", ")
            )
        })
    };
    match text.trim() {
        "all" => Ok((0..CASES.len()).collect()),
        names => names.split(',').map(|name| number(name.trim())).collect(),
    }
}

/// A workload's file.
fn file(case: usize) -> Result<LoadFile, Error> {
    let (name, text) = CASES[case];
    Ok(Document::new(format!("workloads/idle/{name}.toml"), text).read()?)
}

/// Runs governors on some of the workloads.
///
/// # Errors
/// The run is to stop.
pub(crate) fn run(
    cases: Vec<usize>,
    settings: &Settings,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let (first, seeds) = (settings.get(SEED), settings.get(SEEDS));
    let progress = sink.progress();
    let mut header = Header::new(NAME, World::Sim.name(), "ns");
    (header.seed, header.iterations) = (first, seeds);
    header.seeded_modes = vec![String::new()];
    let mut jobs = Vec::new();
    for case in cases {
        let (name, file) = (CASES[case].0, file(case)?);
        let assumed = file.assumed.join("; ");
        header.notes.push(format!(
            "Assumed in {name}, since the report does not say: {assumed}."
        ));
        let governors = match settings.get(GOVERNORS) {
            Some(governors) => governors,
            None => kinds(&file.governors.join(",")).map_err(Error::failed)?,
        };
        for kind in governors {
            for seed in 0..seeds {
                jobs.push((
                    name,
                    kind,
                    seed,
                    file.load(first + u64::from(seed)).map_err(Error::failed)?,
                ));
            }
        }
    }
    progress.expect(jobs.len() as u64, "runs");
    let lived: Vec<LoopCounts> = jobs
        .par_iter()
        .map(|(_, kind, _, load)| {
            progress.check()?;
            let lived = load.live(*kind);
            progress.step();
            Ok::<_, Error>(lived)
        })
        .collect::<Result<_, _>>()?;
    let mut recording = Recording::new(header);
    for ((case, kind, seed, load), lived) in jobs.iter().zip(&lived) {
        let series = recording.series(&kind.to_string(), case, "");
        let mut add = |metric: metrics::Metric, subject: &str, value: f64| {
            recording.add(series, *seed, metric, subject, value);
        };
        add(
            metrics::IDLE_ENTERED,
            "",
            lived.sum(|usage| usage.entered) as f64,
        );
        add(
            metrics::IDLE_ABOVE,
            "",
            lived.sum(|usage| usage.above) as f64,
        );
        add(
            metrics::IDLE_BELOW,
            "",
            lived.sum(|usage| usage.below) as f64,
        );
        for (state, usage) in lived.states.iter().enumerate().take(load.states.len()) {
            add(
                metrics::IDLE_TIME,
                &format!("state {state}"),
                usage.time_ns as f64 / 1e3,
            );
        }
        if lived.answers > 0 {
            let per_second = lived.answers as f64 * 1e9 / lived.length_ns as f64;
            add(metrics::ANSWER_RATE, "", per_second);
        }
    }
    sink.start(recording.header.clone())?;
    sink.append(&recording)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed_loop::Load;
    use idle::Kind as Governor;

    fn load(case: usize, seed: u64) -> Load {
        file(case).unwrap().load(seed).unwrap()
    }

    #[test]
    fn every_workload_is_read_and_names_governors_that_there_are() {
        for (case, (name, _)) in CASES.iter().enumerate() {
            let file = file(case).unwrap();
            assert!(
                kinds(&file.governors.join(",")).is_ok() && !file.assumed.is_empty(),
                "{name}"
            );
        }
        assert!(
            cases("pipe, nothing")
                .unwrap_err()
                .contains("there is no workload `nothing`; there are: pipe,")
        );
    }

    /// As reported: menu and ladder leave polling for a state that does not pay, teo does not.
    #[test]
    fn menu_and_ladder_do_not_poll_where_it_would_pay() {
        for seed in 1..9 {
            let load = load(0, seed);
            let above = |kind| {
                let lived = load.live(kind);
                lived.sum(|usage| usage.above) as f64 / lived.sum(|usage| usage.entered) as f64
            };
            let [menu, ladder, teo] =
                [Governor::Menu61, Governor::Ladder, Governor::Teo611].map(above);
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
            let [below, above] = [
                |usage: &idle::Usage| usage.below,
                |usage: &idle::Usage| usage.above,
            ]
            .map(|of| [before, after, menu].map(|lived| lived.sum(of)));
            assert!(below[0] > 5 * below[2] && below[2] > below[1], "{all}");
            assert!(above[2] > above[1] && above[1] >= above[0], "{all}");
        }
    }

    /// The share of a governor's stays, summed over the workload, that some count makes up.
    fn share(load: &Load, governor: &str, of: fn(&idle::Usage) -> u64) -> f64 {
        let lived = load.live(Governor::find(governor).unwrap());
        lived.sum(of) as f64 / lived.sum(|usage| usage.entered) as f64
    }

    fn number(name: &str) -> usize {
        CASES.iter().position(|case| case.0 == name).unwrap()
    }

    /// As reported of all three clusters: teo of 6.12 never leaves WFI, that of 6.6 does, that of
    /// 6.18 less, and that of 6.19 does again. It takes the state that no timer is ever far enough
    /// for: without s2idle in the table, 6.12 leaves WFI as well.
    #[test]
    fn a_state_that_no_timer_reaches_keeps_teo_in_wfi() {
        let us = |exit: u64, residency: u64| idle::State::new(1_000 * exit, 1_000 * residency);
        let in_wfi = |load: &Load, governor: &str| {
            let lived = load.live(Governor::find(governor).unwrap());
            lived.states[0].time_ns as f64 / lived.sum(|usage| usage.time_ns) as f64
        };
        let clusters = [[349, 434, 6_710], [196, 247, 2_120], [147, 181, 2_580]];
        for (seed, [cpuoff, clusteroff, residency]) in
            (1..9).flat_map(|seed| clusters.map(|cluster| (seed, cluster)))
        {
            let mut load = load(number("mt8196"), seed);
            let s2idle = *load.states.all().last().unwrap();
            let mut table = vec![
                us(1, 1),
                us(cpuoff, residency),
                us(clusteroff, residency),
                s2idle,
            ];
            load.states = idle::States::new(&table).unwrap();
            let wfi =
                ["teo@6.6", "teo@6.12", "teo@6.18", "teo@6.19"].map(|name| in_wfi(&load, name));
            assert!(
                wfi[1] == 1.0 && wfi[0] < 0.05,
                "seed {seed}, residency {residency}: {wfi:?}"
            );
            assert!(
                wfi[2] < 0.99 && wfi[2] > 3.0 * wfi[3],
                "seed {seed}, residency {residency}: {wfi:?}"
            );
            table.pop();
            load.states = idle::States::new(&table).unwrap();
            assert!(
                in_wfi(&load, "teo@6.12") < 0.05,
                "seed {seed}, residency {residency}, without s2idle"
            );
        }
    }

    /// As reported: with the commit menu waits for a card in WFI, and without it goes deeper and
    /// reads less.
    #[test]
    fn without_the_commit_menu_is_too_deep_while_it_waits_for_a_card() {
        for seed in 1..9 {
            let load = load(number("rk3399-mmc"), seed);
            for (with, without) in [("menu@6.17", "menu@6.18"), ("menu@6.1.150", "menu@6.1.158")] {
                let [with, without] =
                    [with, without].map(|name| load.live(Governor::find(name).unwrap()));
                let rate = |lived: LoopCounts| lived.answers as f64 / lived.length_ns as f64;
                assert!(
                    rate(with) > 1.5 * rate(without),
                    "seed {seed}: {with:?}, {without:?}"
                );
            }
            assert!(share(&load, "menu@6.18", |usage| usage.above) > 0.3);
            assert!(share(&load, "teo@6.17", |usage| usage.above) < 0.01);
        }
    }

    /// As reported of Jasper Lake and of three of Oracle's runs: the revert makes menu too deep
    /// more often, and too shallow less often.
    #[test]
    fn the_revert_goes_deeper_on_what_the_counters_tell() {
        for name in ["jasper-lake", "oracle-jbb", "oracle-fio", "oracle-rds"] {
            let (with, without) = match name {
                "jasper-lake" => ("menu@6.1.141", "menu@6.1.158"),
                _ => ("menu@5.15.193", "menu@5.15.196"),
            };
            for seed in 1..9 {
                let load = load(number(name), seed);
                let above =
                    [with, without].map(|governor| share(&load, governor, |usage| usage.above));
                let below =
                    [with, without].map(|governor| share(&load, governor, |usage| usage.below));
                assert!(
                    above[1] > above[0] && below[1] < below[0],
                    "{name}, seed {seed}: {above:?}, {below:?}"
                );
            }
        }
    }
}

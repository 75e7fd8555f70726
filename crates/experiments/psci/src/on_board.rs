//! An instruction of a PSCI call in time of a board, within what the board's own calls took.

use crate::psci_latency::{self, Options, Release};
use crate::uncertainty::Uncertainty;
use evidence::{Iterations, Rank};
use experiment::{Error, Files, Result};
use platforms::PlatformFiles;
use psci_cases::{Action, CASES};
use recording::metrics::{LATENCY, POWERDOWN};
use soc::config::{Costs, Machine};
use std::collections::BTreeMap;

/// What a board says of its firmware's calls.
pub struct BoardCalls {
    /// Name of the platform.
    pub platform: String,
    /// The least and the most that a call of PSCI_VERSION takes, by type of core, in nanoseconds:
    /// with its code in the caches and without, by the fitted costs of all releases.
    pub version_ns: BTreeMap<String, [f64; 2]>,
    /// The most that an access to memory past the caches takes, or a line's maintenance, by the
    /// same costs, in nanoseconds.
    pub memory_ns: f64,
    /// Of a microsecond that every CPU takes longer on its way down, or for PSCI_VERSION, the part
    /// by which the slowest is later, in each of [`CASES`]: 0 where it waits for the SCP meanwhile.
    pub shares: Vec<f64>,
}

/// Asks the fitted costs of a platform's releases, and the simulation of the last.
///
/// # Errors
/// The platform's files, or a case that does not come to its end.
pub fn board_calls(files: &dyn Files, given: &str) -> Result<BoardCalls> {
    let files = PlatformFiles::open(files, given)?;
    let machines = files
        .releases()?
        .into_iter()
        .map(|name| files.sources(&name)?.machine().map_err(Error::file));
    let machines: Vec<Machine> = machines.collect::<Result<_, _>>()?;
    let mut version_ns: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for Costs {
        smc_warm, cores, ..
    } in machines.iter().map(|machine| &machine.costs)
    {
        for (core, costs) in cores {
            for ns in [Some(costs.smc), *smc_warm]
                .into_iter()
                .flatten()
                .map(|ps| ps as f64 / 1e3)
            {
                let [least, most] = version_ns.entry(core.clone()).or_insert([ns; 2]);
                (*least, *most) = (least.min(ns), most.max(ns));
            }
        }
    }
    let memory_ns = machines
        .iter()
        .map(|machine| machine.costs.memory_access as f64 / 1e3)
        .fold(0.0, f64::max);
    const MORE_PS: u64 = 1_000_000;
    let last = machines
        .last()
        .ok_or_else(|| Error::failed(format!("{given} has no releases")))?;
    let mut later = last.clone();
    later
        .costs
        .cores
        .values_mut()
        .for_each(|costs| costs.context_save += MORE_PS);
    let (before, after) = (slowest_us(last)?, slowest_us(&later)?);
    let shares = CASES
        .iter()
        .zip(before.iter().zip(after))
        .map(|(case, (before, after))| match case.action {
            Action::Version => 1.0,
            _ => after - before,
        })
        .collect();
    Ok(BoardCalls {
        platform: last.platform.name.clone(),
        version_ns,
        memory_ns,
        shares,
    })
}

/// The slowest CPU's way down, or call, of each case.
fn slowest_us(machine: &Machine) -> Result<Vec<f64>> {
    let release = Release {
        machine: machine.clone(),
        orders: BTreeMap::new(),
        owners: BTreeMap::new(),
        uncertainty: Uncertainty::default(),
    };
    let options = Options {
        iterations: 1,
        seed: 1,
        free_seeds: 0,
        events: false,
    };
    let recording =
        psci_latency::run(&[release], &CASES, &options, || true).map_err(Error::failed)?;
    let slowest = |name: &str, mode: &str| {
        let iterations: Iterations<_, _> = recording
            .measures()
            .iter()
            .filter(|measure| {
                let (_, of_case, of_mode) = recording.series_texts(measure.series);
                (of_case, of_mode) == (name, mode)
                    && [POWERDOWN.name, LATENCY.name].contains(&recording.text(measure.metric))
            })
            .map(|of| (of.iteration, of.cpu, of.value))
            .collect();
        iterations
            .ranked(Rank::Longest)
            .map_or(0.0, |longest| longest.median)
    };
    Ok(CASES
        .iter()
        .map(|case| slowest(case.name, case.mode.name()))
        .collect())
}

//! Which releases of the recordings are compared.

use crate::request::{Error, Input};
use crate::result::Side;
use crate::rows::SideRows;
use itertools::Itertools;
use recording::{Recording, distinct};
use std::collections::BTreeSet;

/// Which releases are compared.
pub enum ComparedReleases {
    /// One of each recording, whatever they are called; by side, whose runs may each have a name.
    One(Vec<Vec<String>>),
    /// Those that all have.
    Common(Vec<String>),
}

impl ComparedReleases {
    pub fn takes(&self, side: usize, variant: &str) -> bool {
        match self {
            Self::One(by_side) => by_side[side].iter().any(|name| name == variant),
            Self::Common(names) => names.iter().any(|name| name == variant),
        }
    }

    pub fn key(&self, variant: &str) -> Option<String> {
        match self {
            Self::One(_) => Some(String::new()),
            Self::Common(_) => Some(variant.to_owned()),
        }
    }
}

pub fn variants(recording: &Recording) -> Vec<String> {
    let used: BTreeSet<_> = recording
        .measures()
        .iter()
        .map(|measure| measure.series)
        .collect();
    let names = used
        .into_iter()
        .map(|series| recording.series_texts(series).0);
    distinct(names.map(str::to_owned))
}

pub fn choose(inputs: &[Input<'_>]) -> Result<ComparedReleases, Error> {
    let mut all = Vec::new();
    let mut is_one = true;
    for input in inputs {
        let mut of_runs = input.recordings().map(variants);
        let mut names = of_runs.next().unwrap_or_default();
        let mut alone = names.len() == 1;
        for other in of_runs {
            alone = alone && other.len() == 1;
            // Runs that have one each may call it as they like.
            if alone && input.variant.is_none() {
                names.extend(other)
            } else {
                names.retain(|name| other.contains(name))
            }
        }
        is_one &= alone || input.variant.is_some() || names.len() == 1;
        all.push(match &input.variant {
            None => names,
            Some(variant) if names.contains(variant) => vec![variant.clone()],
            Some(variant) => {
                return Err(Error(format!(
                    "{} has no release `{variant}`; it has: {}",
                    input.name,
                    names.join(", ")
                )));
            }
        });
    }
    if is_one {
        return Ok(ComparedReleases::One(all));
    }
    let common = all[0]
        .iter()
        .filter(|name| all.iter().all(|names| names.contains(name)))
        .cloned()
        .collect_vec();
    match common.as_slice() {
        [] => {
            let known = inputs.iter().zip(&all);
            let known =
                known.map(|(input, names)| format!("{} has {}", input.name, names.join(", ")));
            Err(Error(format!(
                "the recordings have no release in common; say which to compare, as in RECORDING@RELEASE: {}",
                known.format("; ")
            )))
        }
        [one] => Ok(ComparedReleases::One(vec![vec![one.clone()]; inputs.len()])),
        _ => Ok(ComparedReleases::Common(common)),
    }
}

pub fn side(place: usize, input: &Input<'_>, chosen: &ComparedReleases, rows: &SideRows) -> Side {
    let header = input.header();
    let names = variants(input.runs[0].recording)
        .into_iter()
        .filter(|variant| chosen.takes(place, variant))
        .collect();
    Side {
        name: input.name.clone(),
        runs: rows.runs,
        given_again: input.given_again,
        variants: names,
        world: header.world.clone(),
        repeatable: header.is_repeatable(),
        platform: header.platform_name().map(str::to_owned),
        machine: header.run.machine.clone(),
        seed: header.seed,
    }
}

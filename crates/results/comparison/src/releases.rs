//! Which releases of the recordings are compared.

use crate::request::{Error, Input};
use crate::result::Side;
use recording::Recording;
use std::collections::BTreeSet;

/// Which releases are compared.
pub(crate) enum ComparedReleases {
    /// One of each recording, whatever they are called.
    One(Vec<String>),
    /// Those that all have.
    Common(Vec<String>),
}

impl ComparedReleases {
    pub(crate) fn takes(&self, side: usize, variant: &str) -> bool {
        match self {
            Self::One(by_side) => by_side[side] == variant,
            Self::Common(names) => names.iter().any(|name| name == variant),
        }
    }

    pub(crate) fn key(&self, variant: &str) -> Option<String> {
        match self {
            Self::One(_) => Some(String::new()),
            Self::Common(_) => Some(variant.to_owned()),
        }
    }
}

pub(crate) fn variants(recording: &Recording) -> Vec<String> {
    let used: BTreeSet<_> = recording.measures().iter().map(|measure| measure.series).collect();
    let mut names: Vec<String> = Vec::new();
    for series in used {
        let (variant, _, _) = recording.series_texts(series);
        if !names.iter().any(|name| name == variant) {
            names.push(variant.to_owned());
        }
    }
    names
}

pub(crate) fn choose(inputs: &[Input<'_>]) -> Result<ComparedReleases, Error> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for input in inputs {
        let names = variants(input.findings.recording);
        all.push(match &input.variant {
            None => names,
            Some(variant) if names.contains(variant) => vec![variant.clone()],
            Some(variant) => {
                return Err(Error::NoSuchVariant {
                    name: input.name.clone(),
                    variant: variant.clone(),
                    known: names.join(", "),
                });
            }
        });
    }
    if all.iter().all(|names| names.len() == 1) {
        return Ok(ComparedReleases::One(all.into_iter().flatten().collect()));
    }
    let common: Vec<String> =
        all[0].iter().filter(|name| all.iter().all(|names| names.contains(name))).cloned().collect();
    match common.as_slice() {
        [] => Err(Error::NothingInCommon {
            known: inputs
                .iter()
                .zip(&all)
                .map(|(input, names)| format!("{} has {}", input.name, names.join(", ")))
                .collect::<Vec<_>>()
                .join("; "),
        }),
        [one] => Ok(ComparedReleases::One(vec![one.clone(); inputs.len()])),
        _ => Ok(ComparedReleases::Common(common)),
    }
}

pub(crate) fn side(place: usize, input: &Input<'_>, chosen: &ComparedReleases) -> Side {
    let header = input.header();
    let names = variants(input.findings.recording).into_iter().filter(|variant| chosen.takes(place, variant)).collect();
    Side {
        name: input.name.clone(),
        variants: names,
        world: header.world.clone(),
        repeatable: header.is_repeatable(),
        platform: header.platform.as_ref().map(|platform| platform.name.clone()),
        machine: header.run.machine.clone(),
        seed: header.seed,
    }
}

//! Idle states of a platform and what they cost: `idle/NAME.toml` of the platform files.

use document::{Document, one_of};
use experiment::setting::CheckedSetting;
use experiment::{Error, Files, Result};
use idle::{State, States};
use itertools::Itertools;
use recording::facts;
use soc::config::{IdlePlatform, Power};
use std::path::Path;

const FOLDER: &str = "idle";

/// The idle states of the platform of a name, or those in the file at a path.
///
/// # Errors
/// There is no such platform; what is wrong in its file.
pub fn idle_states(files: &dyn Files, given: &str) -> Result<IdlePlatform> {
    if given.contains(['/', '.']) {
        let document = Document::open(Path::new(given))
            .map_err(|error| error.with_help("name a platform or its file"))?;
        return Ok(IdlePlatform::read(&document)?);
    }
    let known = files.stems(FOLDER)?;
    if !known.iter().any(|name| name == given) {
        return Err(Error::usage(
            format!("no idle states of a platform `{given}` are known"),
            one_of(given, &known),
        ));
    }
    Ok(IdlePlatform::read(
        &files.document(&format!("{FOLDER}/{given}.toml"))?,
    )?)
}

/// States that are switched off.
pub const DISABLE: CheckedSetting<Vec<String>> = CheckedSetting::new(
    "disable",
    "STATES",
    |text| Ok(text.split(',').map(|name| name.trim().to_owned()).collect()),
    "Idle states, of CPUs and of power domains, that governors may not choose (cpuidle's `disable`), by their names, parted by commas.",
);

/// Switches states off, by their names.
///
/// # Errors
/// The platform has no such state, or none is left.
pub fn disable(platform: &mut IdlePlatform, names: &[String]) -> Result {
    let of_domains = platform.power_domains.iter().flat_map(|of| &of.state_names);
    let cpu_states = platform.state_names().count();
    let known = platform
        .state_names()
        .chain(of_domains.map(String::as_str))
        .collect_vec();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        let what = format!(
            "--disable {unknown}: {} has no idle state of this name",
            platform.name
        );
        return Err(Error::usage(what, format!("it has {}", known.join(", "))));
    }
    let off = known
        .iter()
        .map(|name| names.iter().any(|off| off == name))
        .take(cpu_states)
        .collect_vec();
    if !off.contains(&false) {
        let what = format!(
            "--disable {} leaves {} no idle state",
            names.join(","),
            platform.name
        );
        return Err(Error::usage(what, "leave one"));
    }
    for domain in &mut platform.domains {
        let states = domain
            .table
            .all()
            .iter()
            .zip(&off)
            .map(|(state, off)| State {
                disabled: *off,
                ..*state
            })
            .collect_vec();
        domain.table = States::new(&states).map_err(Error::failed)?;
    }
    for domain in &mut platform.power_domains {
        for (name, state) in domain.state_names.iter().zip(&mut domain.states) {
            if names.contains(name) {
                state.residency_ns = idle::NEVER_NS;
            }
        }
    }
    Ok(())
}

/// The power numbers of a platform as a recording's facts have them.
pub fn power_facts(power: &Power) -> facts::Power {
    let watts = power.watts_per_unit.as_ref();
    facts::Power {
        source: power.source.clone(),
        watts_per_unit: watts.map(|watts| watts.value),
        watts_per_unit_source: watts.map(|watts| watts.source.clone()),
    }
}

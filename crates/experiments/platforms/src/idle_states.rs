//! Idle states of a platform and what they cost: `idle/NAME.toml` of the platform files.

use document::{Document, one_of};
use experiment::{Error, Files};
use recording::facts;
use soc::config::{IdlePlatform, Power};
use std::path::Path;

const FOLDER: &str = "idle";

/// The idle states of the platform of a name, or those in the file at a path.
///
/// # Errors
/// There is no such platform; what is wrong in its file.
pub fn idle_states(files: &dyn Files, given: &str) -> Result<IdlePlatform, Error> {
    if given.contains(['/', '.']) {
        let document =
            Document::open(Path::new(given)).map_err(|error| error.with_help("name a platform or its file"))?;
        return Ok(IdlePlatform::read(&document)?);
    }
    let known = files.stems(FOLDER)?;
    if !known.iter().any(|name| name == given) {
        let message = format!("no idle states of a platform `{given}` are known");
        return Err(Error::usage(message, one_of(given, &known)));
    }
    Ok(IdlePlatform::read(&files.document(&format!("{FOLDER}/{given}.toml"))?)?)
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

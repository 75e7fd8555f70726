//! Idle states of a platform and what they cost: `idle/NAME.toml` of the platform files.

use experiment::{Error, Files, nearest};
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
        let text = disk::text(Path::new(given))
            .map_err(|error| Error::usage(format!("cannot read {given}: {error}"), "name a platform or its file"))?;
        return parse_idle_states(given, text);
    }
    let known = files.stems(FOLDER).map_err(Error::failed)?;
    if !known.iter().any(|name| name == given) {
        let near = nearest(given, known.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
        let message = format!("no idle states of a platform `{given}` are known");
        return Err(Error::usage(message, format!("{near}there are: {}", known.join(", "))));
    }
    let path = format!("{FOLDER}/{given}.toml");
    let text = files.read(&path).map_err(Error::failed)?;
    parse_idle_states(&files.shown(&path), text)
}

/// Reads the text of a platform's file, which goes by `path` in errors.
///
/// # Errors
/// What is wrong, and what would be right.
pub fn parse_idle_states(path: &str, text: String) -> Result<IdlePlatform, Error> {
    IdlePlatform::parse(path, text).map_err(Error::Failed)
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

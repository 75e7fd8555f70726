//! Idle states of a platform and what they cost: `idle/NAME.toml` of the platform files.

use experiment::{Error, Files, nearest};
pub use soc::config::{IdlePlatform as Platform, IdleStateCost as StateCost, Range};
use std::path::Path;

const FOLDER: &str = "idle";

/// The platform of a name, or of the file at a path.
///
/// # Errors
/// There is no such platform; what is wrong in its file.
pub fn open(files: &dyn Files, given: &str) -> Result<Platform, Error> {
    if given.contains(['/', '.']) {
        let text = std::fs::read_to_string(Path::new(given))
            .map_err(|error| Error::usage(format!("cannot read {given}: {error}"), "name a platform or its file"))?;
        return parse(given, text);
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
    parse(&files.shown(&path), text)
}

/// Reads the text of a platform's file, which goes by `path` in errors.
///
/// # Errors
/// What is wrong, and what would be right.
pub fn parse(path: &str, text: String) -> Result<Platform, Error> {
    Platform::parse(path, text).map_err(Error::Failed)
}

/// The points of the range of what a round trip costs: none of the way from low to high, and then from 1/512 of it to all of it, two steps to
/// each doubling. In parts of 1024.
pub const POINTS: [u64; 20] = [0, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];

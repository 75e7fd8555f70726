//! Keys of a platform's files that are set for a run.

use document::Error as Wrong;
use experiment::{Error, Result};
use itertools::Itertools;
use miette::Diagnostic;
use soc::config::Sources;

/// An error in a file because of a setting.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{what}")]
struct WhileSetting {
    what: String,
    #[source]
    #[diagnostic_source]
    wrong: Wrong,
    /// The source's own, which is not shown of a source.
    #[help]
    help: Option<String>,
}

impl WhileSetting {
    /// The error is told without its place: what a setting made of a file is in none.
    fn error(what: String, wrong: Wrong) -> Error {
        let wrong = wrong.without_place();
        let help = wrong.help().map(|help| help.to_string());
        Error::file(Self { what, wrong, help })
    }
}

/// Sets a key.
///
/// # Errors
/// There is no such key, or the value fits nowhere.
pub fn set_key(sources: &mut Sources, key: &str, value: &str) -> Result {
    let shown = key
        .char_indices()
        .nth(80)
        .map_or(key.to_owned(), |(at, _)| format!("{}…", &key[..at]));
    sources
        .set(key, value)
        .map_err(|wrong| WhileSetting::error(format!("cannot set {shown}={value}"), wrong))
}

/// The error of a machine with some keys set; without them it `was_sound` or not. What is wrong
/// only with them is told of them.
pub fn while_set(keys: &[(String, String)], was_sound: bool, wrong: Wrong) -> Error {
    let given = keys
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect_vec();
    match given.as_slice() {
        // It is wrong in a file, too.
        _ if !was_sound => Error::file(wrong),
        [one] => WhileSetting::error(format!("cannot set {one}"), wrong),
        several => WhileSetting::error(format!("with {} set", several.join(", ")), wrong),
    }
}

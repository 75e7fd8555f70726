//! Values that a shell completes: platforms, releases and recordings that are there.

use crate::data::Data;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use experiment::Files;
use platforms::PlatformFiles;
use recording::Reader;
use std::ffi::OsStr;
use std::path::Path;

/// The variable by which a shell asks the program for completions.
pub const ASKED: &str = "STOPWATT_COMPLETE";

/// Platforms by name, and files.
pub fn platforms() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let names = files().map_or_else(Vec::new, |files| {
            let folders = ["", "idle"].map(|folder| files.stems(folder).unwrap_or_default());
            folders.concat()
        });
        let mut found = beginning_with(current, names);
        found.extend(PathCompleter::any().complete(current));
        found
    })
}

/// Releases of all platforms.
pub fn releases() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let Some(files) = files() else {
            return Vec::new();
        };
        let platforms = PlatformFiles::names(&files).unwrap_or_default();
        let of = |name: &String| files.stems(&format!("{name}/releases")).unwrap_or_default();
        beginning_with(current, platforms.iter().flat_map(of).collect())
    })
}

/// Names that are known without a look at a folder.
pub fn names(known: impl Fn() -> Vec<&'static str> + Send + Sync + 'static) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| {
        beginning_with(current, known().into_iter().map(str::to_owned).collect())
    })
}

/// Recordings of the folder in which runs leave them, releases behind a recording's @, and folders.
pub fn recordings() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let of_recording = current.to_str().and_then(|text| text.rsplit_once('@'));
        if let Some((folder, _)) = of_recording
            && let Ok(reader) = Reader::open(Path::new(folder))
        {
            let releases = reader
                .header()
                .costs
                .keys()
                .map(|release| format!("{folder}@{release}"));
            return beginning_with(current, releases.collect());
        }
        let left = Path::new("recordings")
            .read_dir()
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let left =
            left.filter(|folder| folder.join("recording.toml").exists() || sweep::is_sweep(folder));
        let mut found = beginning_with(
            current,
            left.map(|folder| folder.display().to_string()).collect(),
        );
        found.extend(PathCompleter::dir().complete(current));
        found
    })
}

fn files() -> Option<impl Files> {
    let given = std::env::var_os("STOPWATT_DATA");
    Some(Data::find(given.as_ref().map(Path::new)).ok()?.platforms())
}

fn beginning_with(current: &OsStr, mut names: Vec<String>) -> Vec<CompletionCandidate> {
    names.retain(|name| name.as_bytes().starts_with(current.as_encoded_bytes()));
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(CompletionCandidate::new).collect()
}

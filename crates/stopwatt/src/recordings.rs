//! Recordings on the command line: which one is meant, and whether it may be replaced.

use crate::of_commit;
use clap::builder::{OsStringValueParser, TypedValueParser};
use document::one_of;
use itertools::Itertools;
use miette::{IntoDiagnostic, Result, WrapErr, bail, miette};
use recording::{Header, Reader, Recording};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A recording that a command takes: its folder, and one of its releases if only that one is meant.
#[derive(Clone)]
pub struct NamedRecording {
    /// As it was given.
    pub given: String,
    /// Folder of the recording.
    pub folder: PathBuf,
    /// The release, as it was given.
    pub release: Option<String>,
    /// The commit of the repository at hand in which the folder is, where it is not a folder of the
    /// disk.
    commit: Option<String>,
}

impl NamedRecording {
    /// `RECORDING` or `RECORDING@RELEASE`, either behind `COMMIT:`; a folder whose own name holds
    /// an @ or a colon is taken whole.
    pub fn parse(given: impl AsRef<OsStr>) -> Self {
        let whole = given.as_ref().as_bytes();
        let is_there = |path: &[u8]| Path::new(OsStr::from_bytes(path)).exists();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (folder, release) = match whole.iter().rposition(|byte| *byte == b'@') {
            Some(at) if at > 0 && !is_there(whole) => (&whole[..at], Some(text(&whole[at + 1..]))),
            _ => (whole, None),
        };
        let (commit, folder) = match folder.iter().position(|byte| *byte == b':') {
            Some(at) if at > 0 && at + 1 < folder.len() && !is_there(folder) => {
                (Some(text(&folder[..at])), &folder[at + 1..])
            }
            _ => (None, folder),
        };
        Self {
            given: text(whole),
            folder: OsStr::from_bytes(folder).into(),
            release,
            commit,
        }
    }

    /// Reads it from the command line, where a folder may have any name.
    pub fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().map(Self::parse)
    }

    /// Reads it; returns it with the whole name of the release that is meant.
    pub fn read(&self) -> Result<(Recording, Option<String>)> {
        self.in_folder(|folder| self.read_from(folder))
    }

    /// Reads from the folder, or from a copy of it as a commit has it.
    fn in_folder<T>(&self, read: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        match &self.commit {
            Some(commit) => read(of_commit::take_out(commit, &self.folder)?.path()),
            None => read(&self.folder),
        }
    }

    /// Reads it, or, where the folder is none but holds recordings, all of those in the order of
    /// their names.
    pub fn read_runs(&self) -> Result<Vec<(Recording, Option<String>)>> {
        self.in_folder(|folder| self.runs_in(folder))
    }

    fn runs_in(&self, folder: &Path) -> Result<Vec<(Recording, Option<String>)>> {
        let is_recording = |folder: &Path| folder.join("recording.toml").exists();
        let inside = if is_recording(folder) || sweep::is_sweep(folder) {
            None
        } else {
            folder.read_dir().ok()
        };
        let mut runs = inside
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect_vec();
        runs.retain(|run| is_recording(run));
        runs.sort();
        if runs.is_empty() {
            Ok(vec![self.read_from(folder)?])
        } else {
            runs.iter().map(|run| self.read_from(run)).collect()
        }
    }

    fn read_from(&self, folder: &Path) -> Result<(Recording, Option<String>)> {
        if !folder.exists() {
            bail!(
                help = nearest_recording(&self.folder),
                "there is no recording `{}`",
                self.given
            );
        }
        let recording = if sweep::is_sweep(folder) {
            sweep::read(folder)?
        } else {
            Recording::read(folder)
                .into_diagnostic()
                .wrap_err_with(|| format!("cannot read the recording `{}`", self.given))?
        };
        let release = self
            .release
            .as_deref()
            .map(|given| release_of(&recording, given))
            .transpose()?;
        Ok((recording, release))
    }

    /// Reads it, and forgets all releases but the one that is meant.
    pub fn read_only(&self) -> Result<Recording> {
        let (mut recording, release) = self.read()?;
        if let Some(release) = release {
            let kept = recording
                .all_series()
                .filter(|series| recording.series_texts(*series).0 == release)
                .collect_vec();
            recording.keep_series(&kept);
        }
        Ok(recording)
    }
}

/// The recordings beside one that is not there, or of the folder in which runs leave them, the
/// nearest first.
fn nearest_recording(missing: &Path) -> String {
    let beside = missing
        .parent()
        .filter(|folder| folder.is_dir() && !folder.as_os_str().is_empty());
    let entries = beside
        .unwrap_or(Path::new("recordings"))
        .read_dir()
        .into_iter()
        .flatten()
        .flatten();
    let known = entries.filter(|entry| entry.path().join("recording.toml").exists());
    let mut known = known
        .map(|entry| entry.file_name().display().to_string())
        .collect_vec();
    known.sort_unstable();
    match (known.is_empty(), missing.file_name()) {
        (false, Some(name)) => one_of(&name.to_string_lossy(), &known),
        _ => "name the folder that a run left, such as recordings/psci-latency".to_owned(),
    }
}

/// The release of a recording that is meant by its name or the end of it.
fn release_of(recording: &Recording, given: &str) -> Result<String> {
    let known = recording
        .all_series()
        .map(|series| recording.series_texts(series).0)
        .sorted_unstable()
        .dedup()
        .collect_vec();
    if known.contains(&given) {
        return Ok(given.to_owned());
    }
    let short = known
        .iter()
        .filter(|name| name.ends_with(&format!("-{given}")))
        .collect_vec();
    if let [one] = short[..] {
        return Ok((*one).to_owned());
    }
    Err(miette!(
        help = one_of(given, &known),
        "the recording has no release `{given}`"
    ))
}

/// The request, as the recording keeps it: worlds and settings that were given.
pub type Request = BTreeMap<String, String>;

/// The folder of a run that named none: the experiment's own, with the settings in its name that
/// were given. Of a path it has the file's name alone.
pub fn default_folder(experiment: &str, request: &Request) -> PathBuf {
    let usual = |key: &str| matches!(key, "report" | "format");
    let short = |value: &str| match Path::new(value).file_stem() {
        Some(stem) if value.contains('/') => stem.to_string_lossy().into_owned(),
        _ => value.to_owned(),
    };
    let parts = request
        .iter()
        .filter(|(key, _)| !usual(key))
        .map(|(key, value)| format!("{key}={}", short(value)))
        .collect_vec();
    let mut name = experiment.to_owned();
    for part in parts {
        name.push('-');
        name.extend(part.chars().map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() || ".=_-".contains(letter) => letter,
            _ => '_',
        }));
    }
    // A name that no file system takes is cut, and told from others by its sum.
    if name.len() > LONGEST_NAME {
        let sum = crc32fast::hash(name.as_bytes());
        name.truncate(LONGEST_NAME - 9);
        name.push_str(&format!("-{sum:08x}"));
    }
    Path::new("recordings").join(name)
}

/// Longest name of a folder that is made up here.
const LONGEST_NAME: usize = 100;

/// Says if a run may put its recording into a folder: nothing is there, or a recording of the same
/// experiment and request.
pub fn check_target(
    folder: &Path,
    experiment: &str,
    world: &str,
    request: &Request,
    replace: bool,
) -> Result<()> {
    Recording::check_target(folder).into_diagnostic()?;
    if replace || !folder.join("recording.toml").exists() {
        return Ok(());
    }
    let Ok(reader) = Reader::open(folder) else {
        return Ok(());
    };
    let there = reader.header();
    if there.experiment == experiment && there.world == world && there.request == *request {
        return Ok(());
    }
    let made = there
        .request
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect_vec();
    let with = if made.is_empty() {
        "the usual settings".to_owned()
    } else {
        made.join(", ")
    };
    Err(miette!(
        help = "name another folder with --output, or add --replace",
        "{} holds a recording of another run: {} in world {}, with {with}",
        folder.display(),
        there.experiment,
        there.world
    ))
}

/// Says if an import may put its recording into a folder: nothing is there, or another import.
pub fn check_import(folder: &Path, replace: bool) -> Result<()> {
    let there = Reader::open(folder)
        .ok()
        .map(|reader| reader.header().clone());
    let imported = there
        .filter(|there| there.world == "import")
        .map_or_else(String::new, |there| there.experiment);
    check_target(folder, &imported, "import", &Request::new(), replace)
}

/// Writes a recording, with what its spans were spent on.
pub fn write(recording: &mut Recording, folder: &Path) -> Result<()> {
    recording.header.make_printable();
    attribution::record(recording);
    recording
        .write(folder)
        .map_err(|error| miette!(help = "name another folder with --output", "{error}"))
}

/// What is told of a measurement that is imported.
#[derive(clap::Args)]
pub struct Measured {
    /// What was not under test and can move figures, such as machine=board-2; may be given again.
    /// `stopwatt compare` judges no row where it differs.
    #[arg(long = "condition", value_name = "KEY=VALUE", value_parser = condition)]
    conditions: Vec<(String, String)>,
}

fn condition(text: &str) -> Result<(String, String), String> {
    let parts = text
        .split_once('=')
        .map(|(key, value)| (key.trim(), value.trim()));
    let parts = parts.filter(|(key, value)| !key.is_empty() && !value.is_empty());
    let (key, value) = parts.ok_or("expected KEY=VALUE, such as machine=board-2")?;
    Ok((key.to_owned(), value.to_owned()))
}

impl Measured {
    /// Notes it in the header of the import.
    pub fn note(&self, header: &mut Header) {
        header.run = imported_run();
        for (key, value) in &self.conditions {
            header.set_condition("", key, value);
        }
    }
}

/// What is said of the run of a recording that was measured elsewhere: this machine only read it.
fn imported_run() -> recording::Run {
    recording::Run {
        machine: None,
        kernel: None,
        ..provenance::this_run()
    }
}

/// The name of what was measured: that which is given, or else the file's.
pub fn variant(given: Option<&String>, file: &str) -> String {
    given
        .cloned()
        .or_else(|| Some(Path::new(file).file_stem()?.to_string_lossy().into_owned()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_a_folder_of_the_disk_or_of_a_commit() {
        let parts = |given: &str| {
            let named = NamedRecording::parse(given);
            (
                named.commit.unwrap_or_default(),
                named.folder.display().to_string(),
                named.release.unwrap_or_default(),
            )
        };
        let owned = |(a, b, c): (&str, &str, &str)| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(parts("recordings/a"), owned(("", "recordings/a", "")));
        assert_eq!(
            parts("recordings/a@v2.12"),
            owned(("", "recordings/a", "v2.12"))
        );
        assert_eq!(
            parts("origin/main:ci/base@v2.12"),
            owned(("origin/main", "ci/base", "v2.12"))
        );
        assert_eq!(parts("HEAD~1:base"), owned(("HEAD~1", "base", "")));
        assert_eq!(parts(":base"), owned(("", ":base", "")));
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a:b@c");
        std::fs::create_dir(&odd).unwrap();
        let odd = odd.display().to_string();
        assert_eq!(parts(&odd), owned(("", odd.as_str(), "")));
    }

    fn request(pairs: &[(&str, &str)]) -> Request {
        pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn what_was_asked_for_is_in_the_folders_name() {
        let name = |pairs: &[(&str, &str)]| {
            default_folder("psci-latency", &request(pairs))
                .display()
                .to_string()
        };
        assert_eq!(name(&[]), "recordings/psci-latency");
        assert_eq!(
            name(&[("set", "scp.channels=2")]),
            "recordings/psci-latency-set=scp.channels=2"
        );
        let (one, two) = ("a/".repeat(99) + "1", "a/".repeat(99) + "2");
        assert_ne!(name(&[("platform", &one)]), name(&[("platform", &two)]));
        assert!(name(&[("platform", &one)]).len() <= "recordings/".len() + LONGEST_NAME);
    }

    #[test]
    fn a_recording_of_another_run_is_not_replaced_without_a_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r");
        let mut header = Header::new("psci-latency", "sim", "ps");
        header.request = request(&[("seed", "7")]);
        Recording::new(header).write(&path).unwrap();
        let check = |pairs: &[(&str, &str)], replace| {
            check_target(&path, "psci-latency", "sim", &request(pairs), replace)
        };
        assert!(check(&[("seed", "7")], false).is_ok() && check(&[], true).is_ok());
        let refused = format!("{:?}", check(&[], false).unwrap_err());
        assert!(
            refused.contains("seed=7") && refused.contains("--replace"),
            "{refused}"
        );
    }
}

//! The place to which results go: the terminal, or a file that is there whole or not at all.

use clap::ValueEnum;
use console::Console;
use disk::Partial;
use miette::{Report, Result};
use std::path::Path;
use std::{fs, io};

/// Prints a text for people: on a terminal, and where COLUMNS is given, no line is wider than that,
/// but for words that cannot be broken.
pub fn print_text(console: &Console, text: &str) -> Result<()> {
    match console.folds_at {
        Some(width) => console.print(report::folded(text, width).as_bytes()),
        None => console.print(text.as_bytes()),
    }
}

/// Prints a value as JSON, on lines of their own.
pub fn print_json(console: &Console, value: &serde_json::Value) -> Result<()> {
    console.print(format!("{value:#}\n").as_bytes())
}

/// The form in which small results are printed.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Format {
    /// Tables for people.
    Term,
    /// For machines.
    Json,
}

impl Format {
    /// Prints what is for people, or the JSON of it.
    pub fn print(
        self,
        console: &Console,
        json: impl FnOnce() -> serde_json::Value,
        text: impl FnOnce() -> String,
    ) -> Result<()> {
        match self {
            Self::Json => print_json(console, &json()),
            Self::Term => print_text(console, &text()),
        }
    }
}

/// Finds what would keep [`write_file`] from writing a file: for those who would rather know before
/// a long run than after it.
pub fn check_file(path: &Path) -> Result<()> {
    begun(path).map(drop)
}

/// Why a path cannot be written.
fn cannot(path: &Path) -> impl Fn(io::Error) -> Report + Copy {
    move |error| Report::from_err(error).wrap_err(format!("cannot write {}", path.display()))
}

/// An empty file beside the path, which is to take its place.
fn begun(path: &Path) -> Result<Partial> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if path.is_dir() {
        miette::bail!(help = "name a file in it", "{} is a folder", path.display());
    }
    // What is moved there would take the place of a device.
    if path.exists() && !path.is_file() {
        let help = "name a file; `stopwatt report` without --output prints on standard output";
        miette::bail!(help = help, "{} is no regular file", path.display());
    }
    if !parent.is_dir() {
        miette::bail!(
            help = format!(
                "make the folder {} first, or name another",
                parent.display()
            ),
            "cannot write {}: its folder is not there",
            path.display()
        );
    }
    // Whether the folder may be written to is told by writing.
    let partial = Partial::beside(path, "partial").map_err(cannot(path))?;
    fs::File::create(partial.path()).map_err(cannot(path))?;
    Ok(partial)
}

/// A name that `RECORDING@NAME` can pick: for `--variant`.
pub fn variant(text: &str) -> Result<String, String> {
    match text.trim() {
        "" | "." | ".." => Err("a name has at least a letter or a digit".to_owned()),
        name if name.contains(|c: char| c.is_control() || matches!(c, '@' | '/' | '\\')) => Err(
            "a name has no @, no slash and no control character: RECORDING@NAME picks it"
                .to_owned(),
        ),
        name => Ok(name.to_owned()),
    }
}

/// The ending of a file's name in small letters; empty where it has none.
pub fn ending(path: &Path) -> String {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.unwrap_or_default().to_lowercase()
}

/// The ending of a report's name, if it is one of those that a command writes.
pub fn ending_of<'k>(path: &Path, known: &[&'k str]) -> Result<&'k str> {
    let ending = ending(path);
    known
        .iter()
        .find(|known| **known == ending)
        .copied()
        .ok_or_else(|| {
            miette::miette!(
                help = format!("end it in one of .{}", known.join(", .")),
                "the ending of {} does not say what to write",
                path.display()
            )
        })
}

/// Writes a file beside its place and moves it there when whole. What was there is replaced; a
/// failure leaves it as it was.
pub fn write_file(console: &Console, path: &Path, bytes: &[u8]) -> Result<()> {
    let partial = begun(path)?;
    console.tell(&format!("writing {}", path.display()));
    let written = fs::write(partial.path(), bytes).and_then(|()| fs::rename(partial.path(), path));
    written.map_err(cannot(path))
}

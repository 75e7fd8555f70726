//! Where results go: the terminal, or a file that is there whole or not at all.

use crate::caught;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, ValueEnum};
use disk::Partial;
use miette::{IntoDiagnostic, WrapErr};
use std::fs;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Colour on a terminal unless NO_COLOR is set, and the width for tables: the terminal's, or 100 where there is none.
pub fn style() -> report::Style {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let of_terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let width = told_width().or_else(of_terminal).unwrap_or(100);
    report::Style { colour: std::io::stdout().is_terminal() && !no_color, width }
}

/// What COLUMNS says, which goes before what the terminal has.
fn told_width() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    told.filter(|&columns| columns > 0)
}

/// Prints a text for people: on a terminal, and where COLUMNS is given, no line is wider than that, but for words that cannot be broken.
/// Elsewhere lines stay whole, for programs that look for words in them.
pub fn print_text(text: &str) -> miette::Result<()> {
    match std::io::stdout().is_terminal() || told_width().is_some() {
        true => print(report::folded(text, style().width.max(40)).as_bytes()),
        false => print(text.as_bytes()),
    }
}

/// Prints bytes. A reader that has seen enough, such as `head`, is no failure.
pub fn print(bytes: &[u8]) -> miette::Result<()> {
    if caught::holds(|caught| caught.printed.extend(bytes)) {
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.into_diagnostic().wrap_err("cannot print the result"),
    }
}

/// Prints a value as JSON, on lines of their own.
pub fn print_json(value: &serde_json::Value) -> miette::Result<()> {
    print(format!("{value:#}\n").as_bytes())
}

/// How small results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for people.
    #[value(alias = "text")]
    Term,
    /// For machines.
    Json,
}

/// A way to print: its name, and what it is for.
pub type PrintFormat = (&'static str, &'static str);

/// How runs and small commands print.
pub const RUN_FORMATS: [PrintFormat; 2] = [("term", "tables for people"), ("json", "for machines")];

/// `--format`, with the first as the default.
pub fn format_argument(formats: &'static [PrintFormat]) -> Arg {
    let values = formats.iter().map(|(name, about)| {
        let value = PossibleValue::new(*name).help(*about);
        if *name == "term" { value.alias("text") } else { value }
    });
    let arg = Arg::new("format").long("format").value_name("FORMAT").help("How to print the result.");
    arg.value_parser(PossibleValuesParser::new(values)).default_value(formats[0].0)
}

/// `--all`.
pub fn all_argument() -> Arg {
    let help = "Print everything in the terminal, not the answers alone.";
    Arg::new("all").long("all").action(ArgAction::SetTrue).help(help)
}

/// The format that was asked for.
pub fn format(matches: &ArgMatches) -> &str {
    match matches.get_one::<String>("format").map_or("term", String::as_str) {
        "text" => "term",
        other => other,
    }
}

/// Finds what would keep [`write_file`] from writing a file: for those who would rather know before a long run than after it.
pub fn check_file(path: &Path) -> miette::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(miette::miette!(help = "name a file in it", "{} is a folder", path.display()));
    }
    if !parent.is_dir() {
        return Err(miette::miette!(
            help = format!("make the folder {} first, or name another", parent.display()),
            "cannot write {}: its folder is not there",
            path.display()
        ));
    }
    // Whether the folder may be written to is told by writing.
    let cannot = || format!("cannot write {}", path.display());
    let partial = Partial::beside(path, "partial").into_diagnostic().wrap_err_with(cannot)?;
    fs::File::create(partial.path()).map(drop).into_diagnostic().wrap_err_with(cannot)
}

/// Writes a file beside its place and moves it there when whole. What was there is replaced; a failure leaves it as it was.
pub fn write_file(path: &Path, bytes: &[u8]) -> miette::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(miette::miette!(help = "name a file in it", "{} is a folder", path.display()));
    }
    let partial = Partial::beside(path, "partial").into_diagnostic().wrap_err_with(cannot)?;
    crate::progress::tell(&format!("writing {}", path.display()));
    let written = fs::write(partial.path(), bytes).and_then(|()| fs::rename(partial.path(), path));
    match written {
        Err(error) if !parent.is_dir() => Err(miette::miette!(
            help = format!("make the folder {} first, or name another", parent.display()),
            "{}: {error}",
            cannot()
        )),
        other => other.into_diagnostic().wrap_err_with(cannot),
    }
}

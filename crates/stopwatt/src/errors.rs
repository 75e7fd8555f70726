//! What goes wrong, on standard error: the one place where errors and warnings are printed.
//!
//! Errors quote files, and a file may hold what moves a terminal's cursor or changes its colours. Nothing of that is printed as it is.

use crate::caught;
use document::{printable_lines, unprintable};
use miette::{GraphicalReportHandler, GraphicalTheme, Report};

/// Prints an error with the place in its file and what would be right.
#[allow(clippy::print_stderr, reason = "this is the place")]
pub fn print(error: &Report) {
    if caught::holds(|caught| caught.noted.push_str(&plain(error))) {
        return;
    }
    eprintln!("Error: {}", shown(error));
}

/// Prints a warning or a note.
#[allow(clippy::print_stderr, reason = "this is the place")]
pub fn note(text: &str) {
    if caught::holds(|caught| caught.noted.push_str(&format!("{}\n", printable_lines(text)))) {
        return;
    }
    eprintln!("{}", printable_lines(text));
}

/// The error as the command prints it where there is no terminal.
pub fn plain(error: &Report) -> String {
    printable_lines(&drawn(error).1)
}

fn drawn(error: &Report) -> (std::fmt::Result, String) {
    let mut plain = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_links(false);
    let drawn = handler.render_report(&mut plain, error.as_ref());
    (drawn, plain)
}

/// The error as it is drawn; where something in it would steer a terminal, drawn without colours and with that escaped. Colours are
/// such characters too, so a drawing with them cannot be looked through.
fn shown(error: &Report) -> String {
    let (drawn, plain) = drawn(error);
    let steers = |letter: char| unprintable(letter) && !matches!(letter, '\n' | '\t');
    match drawn.is_err() || plain.contains(steers) {
        true => printable_lines(&plain),
        false => format!("{error:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miette::{LabeledSpan, NamedSource, miette};

    #[test]
    fn what_a_file_holds_does_not_steer_the_terminal() {
        let text = "name = \"\x1b[31mred\x07\u{202e}\"\n";
        let error =
            miette!(labels = vec![LabeledSpan::at(0..4, "here")], help = "a name \x1b]0;title", "no such name \x1b[2J");
        let shown = shown(&error.with_source_code(NamedSource::new("a\x1b.toml", text.to_owned())));
        assert!(!shown.contains(|letter| unprintable(letter) && letter != '\n'), "{shown:?}");
        for part in ["\\u{1b}[31mred\\u{7}\\u{202e}", "\\u{1b}[2J", "\\u{1b}]0;title", "here"] {
            assert!(shown.contains(part), "`{part}` is not in {shown}");
        }
    }

    #[test]
    fn what_holds_nothing_of_that_is_drawn_as_ever() {
        let error = miette!(help = "do that", "this is wrong");
        assert_eq!(shown(&error), format!("{error:?}"));
    }
}

//! Results, notes and errors: on the terminal, or kept.
//!
//! Errors quote files, and a file may hold what moves a terminal's cursor or changes its colours.
//! Nothing of that is printed as it is.

use crate::progress::Progress;
use crate::running::Running;
use crate::style::{Style, columns};
use document::{printable_lines, unprintable};
use miette::{GraphicalReportHandler, GraphicalTheme, IntoDiagnostic, Report, WrapErr};
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Output of a program, and its layout. A clone prints to the same place.
#[derive(Clone)]
pub struct Console {
    quiet: bool,
    pub(crate) verbose: bool,
    /// Colour and width of text.
    pub style: Style,
    /// The width at which lines of text for people are broken, if they are.
    pub folds_at: Option<usize>,
    shared: Arc<SharedState>,
}

#[derive(Default)]
struct SharedState {
    /// The words that were printed, where they are kept.
    kept: Option<Mutex<Output>>,
    running: Running,
}

/// The words that were printed on a console that keeps them.
#[derive(Default)]
pub struct Output {
    /// Bytes on standard output.
    pub printed: Vec<u8>,
    /// Text on standard error: warnings, notes, and why an answer is no.
    pub noted: String,
}

impl Console {
    /// This program's standard output and standard error.
    pub fn terminal() -> Self {
        let style = Style::from_terminal();
        let is_for_people = std::io::stdout().is_terminal() || columns().is_some();
        let folds_at = is_for_people.then_some(style.width.max(40));
        Self {
            quiet: false,
            verbose: false,
            style,
            folds_at,
            shared: Arc::default(),
        }
    }

    /// A console that keeps what is printed, and shows no progress.
    pub fn kept() -> Self {
        let shared = SharedState {
            kept: Some(Mutex::default()),
            ..SharedState::default()
        };
        Self {
            quiet: false,
            verbose: false,
            style: Style::PLAIN,
            folds_at: None,
            shared: Arc::new(shared),
        }
    }

    /// The same console, which shows no progress if it is `quiet`, and tells each step on lines of
    /// its own if it is `verbose`.
    #[must_use]
    pub fn with(&self, quiet: bool, verbose: bool) -> Self {
        Self {
            quiet,
            verbose,
            ..self.clone()
        }
    }

    /// Takes away what was printed so far, where it is kept.
    pub fn output(&self) -> Output {
        self.keeps()
            .map_or_else(Output::default, |mut kept| std::mem::take(&mut *kept))
    }

    fn keeps(&self) -> Option<MutexGuard<'_, Output>> {
        self.shared
            .kept
            .as_ref()
            .map(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Prints bytes. A reader that has seen enough, such as `head`, is no failure.
    ///
    /// # Errors
    /// The system cannot write them.
    pub fn print(&self, bytes: &[u8]) -> miette::Result<()> {
        if let Some(mut kept) = self.keeps() {
            kept.printed.extend(bytes);
            return Ok(());
        }
        let mut out = std::io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            other => other.into_diagnostic().wrap_err("cannot print the result"),
        }
    }

    /// Prints a warning or a note on standard error.
    #[allow(clippy::print_stderr, reason = "this is the place")]
    pub fn note(&self, text: &str) {
        let text = printable_lines(text);
        match self.keeps() {
            Some(mut kept) => kept.noted.push_str(&format!("{text}\n")),
            None => eprintln!("{text}"),
        }
    }

    /// Says what is done, to those who asked for it.
    pub fn tell(&self, what: &str) {
        if self.verbose {
            self.note(what);
        }
    }

    /// Prints an error with the place in its file and what would be right, on standard error.
    #[allow(clippy::print_stderr, reason = "this is the place")]
    pub fn error(&self, error: &Report) {
        match self.keeps() {
            Some(mut kept) => kept.noted.push_str(&format!("{}\n", sentences(error))),
            None => eprintln!("Error: {}", drawn(error)),
        }
    }

    /// Asks the run that is going on to stop, and those that start later: for a program of which
    /// the command is a part, and which looks for signals itself.
    pub fn stop(&self) {
        self.running().stop();
    }

    /// The progress of the run that is going on, if there is one.
    pub fn progress(&self) -> Option<Arc<Progress>> {
        self.running().progress()
    }

    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet && !self.is_kept()
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.shared.kept.is_some()
    }

    pub(crate) fn running(&self) -> &Running {
        &self.shared.running
    }
}

/// The error in sentences, for a program that shows it in its own way: the message with its causes,
/// and on a line of its own what would be right.
pub fn sentences(error: &Report) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        // Some causes say again what they are the cause of.
        if !text.contains(&cause) {
            text = if text.is_empty() {
                cause
            } else {
                format!("{text}: {cause}")
            };
        }
    }
    if let Some(help) = error.help() {
        text = format!("{text}\nhelp: {help}");
    }
    printable_lines(&text)
}

fn without_colours(error: &Report) -> (std::fmt::Result, String) {
    let mut plain = String::new();
    let result = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_links(false)
        .render_report(&mut plain, error.as_ref());
    (result, plain)
}

/// The error as it is drawn; where something in it would steer a terminal, drawn without colours
/// and with that spelt out. Colours are such characters too, so a drawing with them cannot be
/// looked through.
fn drawn(error: &Report) -> String {
    let (result, plain) = without_colours(error);
    if result.is_err()
        || plain.contains(|letter| unprintable(letter) && !matches!(letter, '\n' | '\t'))
    {
        printable_lines(&plain)
    } else {
        format!("{error:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miette::{LabeledSpan, NamedSource, miette};

    #[test]
    fn what_a_file_holds_does_not_steer_the_terminal() {
        let text = "name = \"\x1b[31mred\x07\u{202e}\"\n";
        let error = miette!(
            labels = vec![LabeledSpan::at(0..4, "here")],
            help = "a name \x1b]0;title",
            "no such name \x1b[2J"
        );
        let drawn = drawn(&error.with_source_code(NamedSource::new("a\x1b.toml", text.to_owned())));
        assert!(
            !drawn.contains(|letter| unprintable(letter) && letter != '\n'),
            "{drawn:?}"
        );
        for part in [
            "\\u{1b}[31mred\\u{7}\\u{202e}",
            "\\u{1b}[2J",
            "\\u{1b}]0;title",
            "here",
        ] {
            assert!(drawn.contains(part), "`{part}` is not in {drawn}");
        }
    }

    #[test]
    fn what_holds_nothing_of_that_is_drawn_as_ever() {
        let error = miette!(help = "do that", "this is wrong");
        assert_eq!(drawn(&error), format!("{error:?}"));
    }

    #[test]
    fn a_kept_console_keeps_errors_and_notes_and_tells_nothing() {
        let console = Console::kept();
        console.clone().note("one");
        console.tell("two");
        console.error(&miette!("three"));
        let output = console.output();
        assert!(
            output.noted.starts_with("one\n") && output.noted.contains("three"),
            "{}",
            output.noted
        );
        assert!(!output.noted.contains("two") && console.output().noted.is_empty());
        console.with(false, true).tell("two");
        assert_eq!(console.output().noted, "two\n");
    }
}

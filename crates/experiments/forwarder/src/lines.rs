//! Commands from standard input: from a file or a pipe line by line, at a terminal with history and
//! completion.

use std::io::{self, BufRead, IsTerminal};
use std::sync::mpsc::{Receiver, Sender, channel};

use forwarder::prompt;
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Context, Editor, Helper, Highlighter, Hinter, Validator};

/// A command, and where to say that its answer is printed.
pub struct Line {
    /// The text that was typed.
    pub text: String,
    /// Whoever reads the next line waits until this is dropped, so that it does not mix with the
    /// answer.
    _answered: Sender<()>,
}

/// True if a person types commands and reads the answers.
pub fn are_typed() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Lines, until they are at an end.
pub struct Lines {
    lines: Receiver<Line>,
    /// The terminal as it was. It is taken back when the lines are no longer read, also while one
    /// is being typed.
    terminal: Option<Termios>,
}

impl Lines {
    /// Reads standard input from now on. `inputs` are names of nodes to complete.
    pub fn read(inputs: Vec<String>) -> Self {
        let (lines, received) = channel();
        let is_terminal = are_typed();
        let terminal = if is_terminal { tcgetattr(io::stdin()).ok() } else { None };
        std::thread::spawn(move || {
            if !is_terminal || type_lines(&lines, inputs).is_err() {
                pipe_lines(&lines);
            }
        });
        Self { lines: received, terminal }
    }

    /// The channel of lines.
    pub fn receiver(&self) -> &Receiver<Line> {
        &self.lines
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        if let Some(terminal) = &self.terminal {
            // There is nothing to do about a terminal that has gone.
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, terminal);
        }
    }
}

/// Hands a line on and waits for its answer. Returns whether there is still somebody to take more.
fn hand(lines: &Sender<Line>, text: String) -> bool {
    let (answered, answer) = channel();
    let taken = lines.send(Line { text, _answered: answered }).is_ok();
    let _ = answer.recv();
    taken
}

fn pipe_lines(lines: &Sender<Line>) {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if !hand(lines, line) {
            break;
        }
    }
}

/// # Errors
/// The terminal is none that can be edited on.
fn type_lines(lines: &Sender<Line>, inputs: Vec<String>) -> Result<(), ReadlineError> {
    let mut editor: Editor<Words, DefaultHistory> = Editor::new()?;
    editor.set_helper(Some(Words { inputs }));
    loop {
        match editor.readline("stopwatt# ") {
            Ok(text) => {
                if !text.trim().is_empty() {
                    editor.add_history_entry(text.as_str())?;
                }
                if !hand(lines, text) {
                    return Ok(());
                }
            }
            // Ctrl-C stops the forwarder, as it does without a prompt; Ctrl-D ends the commands.
            Err(ReadlineError::Interrupted) => {
                hand(lines, "quit".to_owned());
                return Ok(());
            }
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Completes the words of commands.
#[derive(Helper, Highlighter, Hinter, Validator)]
struct Words {
    inputs: Vec<String>,
}

impl Completer for Words {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> Result<(usize, Vec<String>), ReadlineError> {
        let typed = &line[..at];
        let start = typed.rfind(' ').map_or(0, |space| space + 1);
        Ok((start, prompt::completions(typed, &self.inputs)))
    }
}

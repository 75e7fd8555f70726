//! The place where a program's words go, as one value that is made once and handed down.
//!
//! A [`Console`] prints results, notes and errors, shows the [`Progress`] of a run, and asks the
//! run to stop when a signal comes. A command makes one for its terminal; a program of which the
//! command is a part makes one that keeps what is printed.
//!
//! ```
//! use console::Console;
//!
//! let console = Console::kept();
//! console.print(b"42\n")?;
//! console.note("a\u{7}note");
//! let output = console.output();
//! assert_eq!((output.printed.as_slice(), output.noted.as_str()), (&b"42\n"[..], "a\\u{7}note\n"));
//! # Ok::<(), miette::Report>(())
//! ```
//!
//! | file | what it is about |
//! |---|---|
//! | `console.rs` | results, notes and errors, on the terminal or kept |
//! | `style.rs` | colour and width |
//! | `progress.rs` | the progress of a run, and the wish that it stop |
//! | `running.rs` | the run that a signal stops |
//! | `shown.rs` | progress on the terminal, as a bar or as lines |
//! | `interruption.rs` | Ctrl-C and its like |
#![forbid(unsafe_code)]
// `console.rs` prints: it knows what must not reach a terminal, and what to do when nobody reads
// on.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod console;
mod interruption;
mod progress;
mod running;
mod shown;
mod style;

pub use console::{Console, Output, sentences};
pub use progress::{Cancellation, LESS_MEMORY, Progress};
pub use shown::Shown;
pub use style::Style;

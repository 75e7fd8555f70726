//! `stopwatt completions` and `stopwatt man`: what an installation adds to the system.

use crate::completion::ASKED;
use clap::{Args, Command};
use clap_complete::env::Shells;
use console::Console;
use miette::{IntoDiagnostic, WrapErr, miette};
use std::path::PathBuf;

/// Options of `completions`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt completions bash > ~/.local/share/bash-completion/completions/stopwatt
  stopwatt completions zsh > ~/.zfunc/_stopwatt
  stopwatt completions fish > ~/.config/fish/completions/stopwatt.fish")]
pub struct CompletionsOptions {
    /// The shell.
    shell: clap_complete::Shell,
}

/// Options of `man`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt man > stopwatt.1
  stopwatt man --output ~/.local/share/man/man1")]
pub struct ManOptions {
    /// Folder in which to write a page for each command.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Prints what a shell needs to ask a program for completions.
pub fn completions(
    console: &Console,
    program: &str,
    options: &CompletionsOptions,
) -> miette::Result<()> {
    let (shells, shell) = (Shells::builtins(), options.shell.to_string());
    let completer = shells
        .completer(&shell)
        .ok_or_else(|| miette!("nothing is known of the shell {shell}"))?;
    let mut text = Vec::new();
    completer
        .write_registration(ASKED, program, program, program, &mut text)
        .into_diagnostic()?;
    console.print(&text)
}

/// Prints the manual page of a command line, or writes one per command.
pub fn man(console: &Console, command: Command, options: &ManOptions) -> miette::Result<()> {
    if let Some(folder) = &options.output {
        std::fs::create_dir_all(folder).into_diagnostic()?;
        let cannot = || format!("cannot write the pages into {}", folder.display());
        return clap_mangen::generate_to(command, folder)
            .into_diagnostic()
            .wrap_err_with(cannot);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .into_diagnostic()?;
    console.print(&page)
}

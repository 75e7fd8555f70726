//! `stopwatt completions` and `stopwatt man`: what an installation adds to the system.

use clap::{Args, Command};
use console::Console;
use miette::{IntoDiagnostic, Result, WrapErr};
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

/// Prints the completions of a command line for a shell.
pub fn completions(
    console: &Console,
    mut command: Command,
    options: &CompletionsOptions,
) -> Result<()> {
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut command, name, &mut text);
    console.print(&text)
}

/// Prints the manual page of a command line, or writes one per command.
pub fn man(console: &Console, command: Command, options: &ManOptions) -> Result<()> {
    if let Some(folder) = &options.output {
        std::fs::create_dir_all(folder).into_diagnostic()?;
        return clap_mangen::generate_to(command, folder)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot write the pages into {}", folder.display()));
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .into_diagnostic()?;
    console.print(&page)
}

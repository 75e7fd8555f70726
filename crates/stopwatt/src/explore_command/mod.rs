//! `stopwatt explore`.

mod faults;
mod litmus;
mod options;
mod printout;
mod replay;
mod search;

use crate::answer::Answer;
use crate::output;
use clap::Subcommand;
use console::Console;
use printout::Form;

/// The subjects that can be explored.
#[derive(Subcommand)]
pub enum Explore {
    /// Run the PSCI library under many interleavings, memory orders and refusals, until one breaks
    /// an invariant.
    Psci(options::PsciOptions),
    /// Run the RCU library under many interleavings and memory orders, until a reader is harmed or
    /// a callback lost.
    Rcu(options::RcuOptions),
    /// Run what was found again, and say what it does.
    Replay(replay::ReplayOptions),
    /// Answer stock litmus tests by Arm's memory model.
    Litmus(litmus::LitmusOptions),
    /// List the faults that the libraries can be given, to see that they are found.
    Faults(faults::FaultsOptions),
}

/// Explores and prints; the answer is no if something was found.
pub fn run(console: &Console, what: &Explore) -> miette::Result<Answer> {
    explorations::forget_hooks();
    let printed = match what {
        Explore::Psci(options) => search::search(console, &options.plan()?)?,
        Explore::Rcu(options) => search::search(console, &options.plan()?)?,
        Explore::Replay(options) => replay::replay(console, options)?,
        Explore::Litmus(options) => litmus::answer(options)?,
        Explore::Faults(options) => faults::faults(console, options)?,
    };
    match printed.form {
        Form::Text(text) => output::print_text(console, &text)?,
        Form::Json(value) => output::print_json(console, &value)?,
    }
    printed.answer
}

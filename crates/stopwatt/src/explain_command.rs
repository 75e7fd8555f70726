//! `stopwatt explain`: what PSCI refused in a log, and what a parameter or a code means.

use crate::output::Format;
use console::Console;
use document::number;
use import::{open, shown, text};
use itertools::Itertools;
use miette::{Result, miette};
use platforms::Board;
use psci_logs::{code, log, parameter};
use serde_json::json;
use std::path::PathBuf;

/// Options of `explain`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  stopwatt explain boot.log
  stopwatt explain boot.log --dtb board.dtb --format json
  stopwatt explain -
  stopwatt explain 0x40000003 --dtb board.dts
  stopwatt explain -22

Causes are in order, the likeliest first. Sections are those of issue D.b of DEN0022.")]
pub struct ExplainOptions {
    /// A log of Linux, U-Boot, Trusted Firmware-A, OP-TEE or Xen, which may be packed with gzip, xz
    /// or zstd (- is standard input); a power_state, such as 0x40000003; or a code, such as -22.
    #[arg(value_name = "LOG|PARAMETER", allow_negative_numbers = true)]
    what: PathBuf,
    /// The board's device tree: its CPUs' reg and its idle states are held against the log's.
    #[arg(long, value_name = "DTS|DTB")]
    dtb: Option<PathBuf>,
    /// The way to print the result.
    #[arg(long, default_value = "term", value_name = "FORMAT")]
    format: Format,
}

/// Reads what is given, and says what it means.
pub fn run(console: &Console, options: &ExplainOptions) -> Result<()> {
    let tree = options.dtb.as_deref().map(Board::open).transpose()?;
    let (name, tree) = (shown(&options.what), tree.as_ref());
    let mut told = code(&name);
    if let Some(raw) = number(&name) {
        let raw = raw.try_into().map_err(|_| {
            miette!(
                help = "name the value of arm,psci-suspend-param, such as 0x40000003",
                "{name} has more bits than a power_state, 32"
            )
        });
        told = vec![parameter(raw?, tree)];
    } else if told.is_empty() {
        told = log(&text(open(&options.what, &name)?, &name, None)?, tree);
    }
    let lines = || told.iter().map(|told| told.lines(2)).join("\n");
    options.format.print(console, || json!(told), lines)
}

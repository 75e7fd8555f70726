//! `stopwatt payload`: the normal world that measures firmware, as a file.

use crate::data::Data;
use crate::output;
use clap::Args;
use console::Console;
use miette::{IntoDiagnostic, Result, WrapErr};
use qemu::Images;
use std::path::PathBuf;

/// Options of `payload`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt payload -o payload.bin
  stopwatt run psci-calls --firmware flash.bin --gic 2

Your build packs the file as what its firmware enters in the normal world (BL33 in Trusted Firmware-A), at 0x60000000. What it runs, and how
often, it is told by the emulator, so one file does for every measurement.")]
pub struct PayloadOptions {
    /// File to write.
    #[arg(short, long, value_name = "FILE", default_value = "payload.bin")]
    output: PathBuf,
}

/// Builds the payload and writes it.
pub fn run(console: &Console, data: &Data, options: &PayloadOptions) -> Result<()> {
    output::check_file(&options.output)?;
    let image = Images::find_payload(data.source_tree().as_deref()).into_diagnostic()?;
    let bytes = disk::read(&image, disk::MOST_BYTES)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {}", image.display()))?;
    output::write_file(console, &options.output, &bytes)?;
    let line = format!(
        "{}: {} bytes, to be entered at {:#x}\n",
        options.output.display(),
        bytes.len(),
        Images::ENTRY
    );
    console.print(line.as_bytes())
}

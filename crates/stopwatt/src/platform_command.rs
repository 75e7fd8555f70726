//! `stopwatt platform`: a platform file made of a board's own files, and what one rests on.

use crate::data::Data;
use crate::output;
use crate::platform_check::{self, CheckOptions};
use clap::{Args, Subcommand};
use console::Console;
use miette::{Result, bail};
use platforms::Board;
use std::path::PathBuf;

/// What to do with platforms.
#[derive(Subcommand)]
pub enum PlatformAction {
    /// Make a platform file of a board's device tree, or of the kernel's files of its CPUs.
    From(FromOptions),
    /// Say what a platform declares, borrows and assumes, and what follows from its powers.
    Check(CheckOptions),
}

/// Options of `platform from`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt platform from board.dtb -o board.toml
  stopwatt platform from linux/arch/arm64/boot/dts/rockchip/rk3399-rock960.dts -o rk3399.toml
  stopwatt platform from cpu/ --energy-model energy-model.txt -o board.toml
  stopwatt run idle-replay trace.txt --platform board.toml

On the board, /sys/firmware/fdt is its device tree, `cp -r /sys/devices/system/cpu cpu` copies the kernel's files, and
`grep -r . /sys/kernel/debug/energy_model` prints its energy model. A source (.dts) needs the program dtc, and cpp where it includes others.")]
pub struct FromOptions {
    /// A device tree (.dts, .dtb), a copy of /sys/devices/system/cpu, or a dump of its cpuidle.
    #[arg(value_name = "DTS|DTB|SYSFS")]
    board: PathBuf,
    /// A dump of /sys/kernel/debug/energy_model: its operating points count in place of others.
    #[arg(long, value_name = "DUMP")]
    energy_model: Option<PathBuf>,
    /// Microwatts of the unit of the dump's powers, where it does not say: 1, or 1000 for milliwatts.
    #[arg(long, value_name = "UW", requires = "energy_model", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    power_unit: Option<u64>,
    /// File to write, whose name is the platform's; without it, the platform is printed.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace a file that is there.
    #[arg(long)]
    replace: bool,
}

/// Reads the board's files, and writes or prints the platform.
pub fn run(console: &Console, data: &Data, action: &PlatformAction) -> Result<()> {
    let options = match action {
        PlatformAction::From(options) => options,
        PlatformAction::Check(options) => return platform_check::run(console, data, options),
    };
    if let Some(path) = &options.output {
        output::ending_of(path, &["toml"])?;
        if path.is_file() && !options.replace {
            let help = "name another file with --output, or add --replace";
            bail!(help = help, "{} is there already", path.display());
        }
        output::check_file(path)?;
    }
    let mut board = Board::open(&options.board)?;
    if let Some(dump) = &options.energy_model {
        board.take_energy_model(dump, options.power_unit)?;
    }
    let name = options
        .output
        .as_ref()
        .unwrap_or(&options.board)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase()
        .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let text = board.platform_file(&name)?;
    let Some(path) = &options.output else {
        return console.print(text.as_bytes());
    };
    output::write_file(console, path, text.as_bytes())?;
    let path = path.display();
    let (title, cpus, groups) = (&board.title, board.cpus.len(), board.groups().len());
    output::print_text(
        console,
        &format!(
            "{path}: {title}, CPUs: {cpus}, domains: {groups}. What no file says is called assumed.\n\
         Run it with: stopwatt run idle-replay TRACE --platform {path}\n"
        ),
    )
}

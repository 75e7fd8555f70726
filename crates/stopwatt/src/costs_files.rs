//! The costs files that a calibration writes.

use crate::data::Data;
use crate::output;
use console::Console;
use dataplane_experiments::platform::{CostsFile, costs_file_of};
use miette::{IntoDiagnostic, Result};
use std::path::Path;

/// Writes a costs file of the platform files.
pub fn write_costs(console: &Console, data: &Data, file: &str, text: &str) -> Result<()> {
    let path = data.folder()?.join("platforms").join(file);
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).into_diagnostic()?;
    output::write_file(console, &path, text.as_bytes())
}

/// Writes the costs file of a modelled core.
pub fn write_costs_file(
    console: &Console,
    data: &Data,
    name: &str,
    costs: &CostsFile,
) -> Result<()> {
    let text = toml::to_string_pretty(costs).into_diagnostic()?;
    write_costs(
        console,
        data,
        &costs_file_of(name),
        &(format!(
            "# Written by `stopwatt calibrate-prefetch --platform {name}` and by nothing else; do not edit.\n"
        ) + &text),
    )
}

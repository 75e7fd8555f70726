//! The way in which the tests run the command.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The checkout.
#[allow(dead_code, reason = "not every test looks at the checkout")]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the command in the checkout, without colour.
#[allow(dead_code, reason = "some tests need another way to run it")]
pub fn stopwatt(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stopwatt"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .current_dir(root())
        .output()
        .unwrap()
}

/// Runs the command in a folder of data and on that data, without colour.
#[allow(dead_code, reason = "not every test has data of its own")]
pub fn stopwatt_on(data: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stopwatt"))
        .arg("--data")
        .arg(data)
        .args(arguments)
        .env("NO_COLOR", "1")
        .current_dir(data)
        .output()
        .unwrap()
}

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

/// Runs the command in a folder, without colour.
#[allow(dead_code, reason = "not every test has a folder of its own")]
pub fn stopwatt_in(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stopwatt"))
        .args(arguments)
        .env("NO_COLOR", "1")
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The error of a run, in one line.
#[allow(dead_code, reason = "not every test looks at errors")]
pub fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// Compiles a shared object.
#[allow(dead_code, reason = "few tests have C in them")]
pub fn shared_object(source: &Path, folder: &Path) -> PathBuf {
    let object = folder.join(source.file_stem().unwrap()).with_extension("so");
    let built = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I"])
        .arg(root().join("crates/code/stopwatt-loop/include"))
        .arg(source)
        .arg("-o")
        .arg(&object)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    object
}

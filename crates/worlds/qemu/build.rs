//! Compiles the plugin that the emulator loads, so that the program carries it: a shared object of
//! its own, for the machine that runs the emulator.

use std::env;
use std::path::PathBuf;
use std::process::Command;

const FOLDER: &str = "../tcg-plugin/src";

fn main() {
    println!("cargo:rerun-if-changed={FOLDER}");
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let out = PathBuf::from(variable("OUT_DIR")).join("counts.so");
    if variable("CARGO_CFG_TARGET_OS") != "linux" {
        // There is no emulator that would load it.
        std::fs::write(&out, []).expect("the output folder can be written");
        return;
    }
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args(["--crate-name", "tcg_plugin", "--crate-type", "cdylib", "--edition", "2024"]);
    rustc.args(["-O", "-C", "panic=abort", "-C", "strip=symbols", "--cap-lints", "allow"]);
    rustc.args(["--target", &variable("TARGET"), &format!("{FOLDER}/lib.rs"), "-o"]).arg(&out);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={}", linker.to_string_lossy()));
    }
    let status = rustc.status().expect("the compiler that cargo names starts");
    assert!(status.success(), "the emulator's plugin does not compile: {status}");
}

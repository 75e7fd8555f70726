//! Compiles the plugin that the emulator loads, so that the program carries it: a shared object of
//! its own, for the machine that runs the emulator. Takes in the firmware's images, where a folder
//! of them is named.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "../tcg-plugin/src";

fn main() {
    println!("cargo:rerun-if-changed={FOLDER}");
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    take_images_in(&PathBuf::from(variable("OUT_DIR")));
    let out = PathBuf::from(variable("OUT_DIR")).join("counts.so");
    if variable("CARGO_CFG_TARGET_OS") != "linux" {
        // There is no emulator that would load it.
        std::fs::write(&out, []).expect("the output folder can be written");
        return;
    }
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args([
        "--crate-name",
        "tcg_plugin",
        "--crate-type",
        "cdylib",
        "--edition",
        "2024",
    ]);
    rustc.args([
        "-O",
        "-C",
        "panic=abort",
        "-C",
        "strip=symbols",
        "--cap-lints",
        "allow",
    ]);
    rustc
        .args([
            "--target",
            &variable("TARGET"),
            &format!("{FOLDER}/lib.rs"),
            "-o",
        ])
        .arg(&out);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        rustc
            .arg("-C")
            .arg(format!("linker={}", linker.to_string_lossy()));
    }
    let status = rustc
        .status()
        .expect("the compiler that cargo names starts");
    assert!(
        status.success(),
        "the emulator's plugin does not compile: {status}"
    );
}

/// Names the folder of the ELF files that a program shall carry: `el3`, `el3-plain`, `payload`.
/// `cargo xtask dist` sets it.
const IMAGES: &str = "STOPWATT_IMAGES";

fn take_images_in(out: &Path) {
    println!("cargo:rerun-if-env-changed={IMAGES}");
    let folder = env::var_os(IMAGES).map(PathBuf::from);
    for name in ["el3", "el3-plain", "payload"] {
        let bytes = match &folder {
            Some(folder) => {
                let path = folder.join(name);
                println!("cargo:rerun-if-changed={}", path.display());
                std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
            }
            None => Vec::new(),
        };
        std::fs::write(out.join(name), bytes).expect("the output folder can be written");
    }
}

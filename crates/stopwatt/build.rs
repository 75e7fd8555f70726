//! Builds the data files into the program, so that it works without its checkout, and notes the
//! commit for `--version`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    link_small();
    let root =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../data");
    let mut files = Vec::new();
    for folder in ["claims", "platforms", "published"] {
        collect(&root, Path::new(folder), &mut files);
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
    }
    files.sort();
    let mut code = String::from("[\n");
    for file in files {
        let name = file.to_string_lossy().replace('\\', "/");
        let path = fs::canonicalize(root.join(&file)).expect("it was listed just now");
        writeln!(
            code,
            "    ({name:?}, include_str!({:?})),",
            path.display().to_string()
        )
        .expect("a string takes it");
    }
    code.push(']');
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("data_files.rs");
    fs::write(out, code).expect("the output folder can be written");
    println!("cargo::rerun-if-changed=build.rs");
}

/// Has a linker that can do it keep one of functions that are the same: of generic code there are
/// many, 2 % of the program. So can the linker that rustc brings for this target; others are left
/// alone. The program stands at a fixed address, so that its tables need no relocations, which are
/// another 6 % and a millisecond at each start (docs/adr/0050).
fn link_small() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let own = [
        ("PROFILE", "release"),
        ("CARGO_CFG_TARGET_ARCH", "x86_64"),
        ("CARGO_CFG_TARGET_OS", "linux"),
        ("CARGO_CFG_TARGET_ENV", "gnu"),
    ];
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_another =
        env::var_os("RUSTC_LINKER").is_some() || ["link", "ld"].iter().any(|of| flags.contains(of));
    if own.iter().all(|(name, value)| is(name, value)) && !is_another {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// The TOML and CSV files below a folder, by their path below the root.
fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root.join(folder)).expect("the data folders are in the checkout") {
        let name = folder.join(entry.expect("a folder can be listed").file_name());
        if root.join(&name).is_dir() {
            println!("cargo::rerun-if-changed={}", root.join(&name).display());
            collect(root, &name, files);
        } else if name
            .extension()
            .is_some_and(|ending| ending == "toml" || ending == "csv")
        {
            files.push(name);
        }
    }
}

//! Tells the crate which compiler builds it: measurements keep it.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    if let Ok(output) = Command::new(rustc).arg("--version").output() {
        println!("cargo::rustc-env=STOPWATT_RUSTC={}", String::from_utf8_lossy(&output.stdout).trim());
    }
    println!("cargo::rerun-if-changed=build.rs");
}

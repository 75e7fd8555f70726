//! Notes which compiler and commit a build comes from, for the recordings that it makes.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    println!("cargo::rustc-env=STOPWATT_RUSTC={}", first_line(&rustc, &["--version"]));
    println!("cargo::rustc-env=STOPWATT_COMMIT={}", first_line("git", &["rev-parse", "--short=12", "HEAD"]));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../../.git/HEAD");
}

fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.ok().filter(|output| output.status.success()).map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().next().unwrap_or("unknown").to_owned()
}

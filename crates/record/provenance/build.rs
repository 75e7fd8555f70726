//! Notes which compiler and commit a build comes from, for the recordings that it makes.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    println!(
        "cargo::rustc-env=STOPWATT_RUSTC={}",
        first_line(&rustc, &["--version"])
    );
    println!(
        "cargo::rustc-env=STOPWATT_COMMIT={}",
        first_line("git", &["rev-parse", "--short=12", "HEAD"])
    );
    println!("cargo::rerun-if-changed=build.rs");
    // In a worktree it does not lie in `.git`, and a file that is missing is a change every time.
    let head = first_line("git", &["rev-parse", "--git-path", "HEAD"]);
    if std::path::Path::new(&head).exists() {
        println!("cargo::rerun-if-changed={head}");
    }
}

fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output
        .ok()
        .filter(|output| output.status.success())
        .map(|output| output.stdout)
        .unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .next()
        .unwrap_or("unknown")
        .to_owned()
}

//! What the tests need on a machine.

use std::process::{Command, Stdio};

/// A program, and the Debian package that has it.
const PROGRAMS: [(&str, &str); 8] = [
    ("chromium", "chromium"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("python3", "python3-venv"),
    ("ip", "iproute2"),
    ("qemu-aarch64", "qemu-user"),
    ("qemu-system-aarch64", "qemu-system-arm"),
    ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
];

/// A file, and the Debian package that has it.
const FILES: [(&str, &str); 1] = [("/usr/aarch64-linux-gnu/lib/crt1.o", "libc6-dev-arm64-cross")];

/// Rust targets: bare metal for the `no_std` crates and the firmware, Linux for the data plane.
const TARGETS: [&str; 3] = ["aarch64-unknown-none", "aarch64-unknown-none-softfloat", "aarch64-unknown-linux-gnu"];

/// Installs what is missing, or says what to install.
pub fn install() -> Result<(), String> {
    let mut packages: Vec<&str> =
        PROGRAMS.iter().filter(|(program, _)| !is_on_path(program)).map(|&(_, package)| package).collect();
    packages.extend(FILES.iter().filter(|(file, _)| !std::path::Path::new(file).exists()).map(|&(_, package)| package));
    if !succeeds("python3", &["-c", "import venv, ensurepip"]) && !packages.contains(&"python3-venv") {
        packages.push("python3-venv");
    }
    if !packages.is_empty() {
        let by_hand = format!("apt-get install {}", packages.join(" "));
        if !is_on_path("apt-get") || !succeeds("test", &["-w", "/var/lib/dpkg/lock-frontend"]) {
            return Err(format!("missing here, and only root may install it: {by_hand}"));
        }
        println!("installing {}", packages.join(", "));
        let mut install = vec!["install", "-y", "-q", "--no-install-recommends"];
        install.extend(&packages);
        if !quietly("apt-get", &["update", "-q"]) || !quietly("apt-get", &install) {
            return Err(format!("could not install what is missing; try: {by_hand}"));
        }
    }
    for target in TARGETS {
        let installed = Command::new("rustc")
            .args(["--print", "target-libdir", "--target", target])
            .output()
            .is_ok_and(|output| std::path::Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir());
        if !installed && !quietly("rustup", &["target", "add", target]) {
            return Err(format!("the Rust target is missing and rustup did not add it: rustup target add {target}"));
        }
    }
    Ok(())
}

fn is_on_path(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Runs a program that asks no questions; what it prints goes to standard error.
fn quietly(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).stdout(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

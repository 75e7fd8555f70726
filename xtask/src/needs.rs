//! The programs that checks and releases need on a machine.

use crate::tools::{Result, said};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program or a file, and the Debian package that has it.
type DebianPackage = (&'static str, &'static str);

/// Programs, files and targets that a command needs.
pub struct Needs {
    programs: &'static [DebianPackage],
    /// The same for what only root can use.
    for_root: &'static [DebianPackage],
    files: &'static [DebianPackage],
    /// Rust targets.
    targets: &'static [&'static str],
}

/// Python with what makes environments.
const PYTHON: DebianPackage = ("python3", "python3-venv");

/// Runs programs of aarch64.
const EMULATOR: DebianPackage = ("qemu-aarch64", "qemu-user");

/// The needs of `test`. The targets are
/// bare metal for the `no_std` crates and the firmware, and Linux for the data plane.
pub const TEST: Needs = Needs {
    programs: &[
        ("chromium", "chromium"),
        ("node", "nodejs"),
        ("npm", "npm"),
        PYTHON,
        EMULATOR,
        ("qemu-system-aarch64", "qemu-system-arm"),
        ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
        ("trace-cmd", "trace-cmd"),
    ],
    for_root: &[],
    files: &[("/usr/aarch64-linux-gnu/lib/crt1.o", "libc6-dev-arm64-cross")],
    targets: &[
        "aarch64-unknown-none",
        "aarch64-unknown-none-softfloat",
        "aarch64-unknown-linux-gnu",
    ],
};

/// The needs of `dist`.
pub const DIST: Needs = Needs {
    programs: &[PYTHON],
    for_root: &[],
    files: &[],
    targets: &[
        "aarch64-unknown-none-softfloat",
        "aarch64-unknown-linux-gnu",
        "x86_64-unknown-linux-gnu",
    ],
};

/// The needs of `dist --try` beside those.
pub const DIST_TRY: Needs = Needs {
    programs: &[EMULATOR],
    for_root: &[("debootstrap", "debootstrap")],
    files: &[("/usr/aarch64-linux-gnu/lib/libc.so.6", "libc6-arm64-cross")],
    targets: &[],
};

/// Installs what is missing, or says what to install.
pub fn install(needs: &Needs) -> Result {
    let missing = |programs: &[DebianPackage]| -> Vec<&str> {
        programs
            .iter()
            .filter(|(program, _)| !is_on_path(program))
            .map(|&(_, package)| package)
            .collect()
    };
    let mut packages = missing(needs.programs);
    packages.extend(
        needs
            .files
            .iter()
            .filter(|(file, _)| !std::path::Path::new(file).exists())
            .map(|file| file.1),
    );
    if needs.programs.contains(&PYTHON)
        && !succeeds("python3", &["-c", "import venv, ensurepip"])
        && !packages.contains(&PYTHON.1)
    {
        packages.push(PYTHON.1);
    }
    let may_install =
        is_on_path("apt-get") && succeeds("test", &["-w", "/var/lib/dpkg/lock-frontend"]);
    if may_install {
        packages.extend(missing(needs.for_root));
    }
    if !packages.is_empty() {
        let by_hand = format!("apt-get install {}", packages.join(" "));
        if !may_install {
            return Err(format!(
                "missing here, and only root may install it: {by_hand}"
            ));
        }
        println!("installing {}", packages.join(", "));
        let mut install = vec!["install", "-y", "-q", "--no-install-recommends"];
        install.extend(&packages);
        for arguments in [&["update", "-q"][..], &install] {
            apt_get(arguments)
                .map_err(|error| format!("{error}\nwhat is missing here, by hand: {by_hand}"))?;
        }
    }
    for target in needs.targets {
        let installed = Command::new("rustc")
            .args(["--print", "target-libdir", "--target", target])
            .output()
            .is_ok_and(|output| {
                std::path::Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir()
            });
        if !installed && !ends_well(Command::new("rustup").args(["target", "add", target])) {
            return Err(format!(
                "the Rust target is missing and rustup did not add it: rustup target add {target}"
            ));
        }
    }
    Ok(())
}

fn is_on_path(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    ends_well(Command::new(program).args(arguments).stderr(Stdio::null()))
}

/// The same of a command, but for what it says of errors.
fn ends_well(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The time that another apt is waited for.
const APT_TIMEOUT: Duration = Duration::from_secs(300);

/// Runs apt-get. If another apt holds one of its locks, tries again until that one is done; by
/// itself, apt-get ends at once where the lists of packages are locked, and says nothing while it
/// waits for dpkg.
fn apt_get(arguments: &[&str]) -> Result {
    let begin = Instant::now();
    loop {
        let mut command = Command::new("apt-get");
        // In English, whatever the user's language: its message about a lock is read below.
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("LC_ALL", "C");
        let Err(error) = said(&mut command) else {
            return Ok(());
        };
        if !is_about_a_lock(&error) || begin.elapsed() > APT_TIMEOUT {
            return Err(error);
        }
        println!("waiting for another apt to finish");
        std::thread::sleep(Duration::from_secs(10));
    }
}

/// True if apt-get failed because another one runs, by its messages (`E: Could not get lock ...`,
/// `E: Unable to lock directory ...`, `E: Unable to acquire the dpkg frontend lock ...`). Without the
/// right to write there is a lock that no waiting frees.
fn is_about_a_lock(message: &str) -> bool {
    message.contains(" lock") && !message.contains("Permission denied")
}

#[cfg(test)]
mod tests {
    use super::is_about_a_lock;

    #[test]
    fn only_a_lock_of_another_apt_is_waited_for() {
        for (message, is_waited_for) in [
            (
                "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7",
                true,
            ),
            ("E: Unable to lock directory /var/lib/apt/lists/", true),
            (
                "E: Unable to acquire the dpkg frontend lock, is another process using it?",
                true,
            ),
            ("E: Unable to locate package chromium", false),
            ("E: Could not get lock (13: Permission denied)", false),
        ] {
            assert_eq!(is_about_a_lock(message), is_waited_for, "{message}");
        }
    }
}

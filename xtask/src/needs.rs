//! The programs that checks and releases need on a machine.

use crate::tools::Result;
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

/// Runs apt-get. If another apt holds one of its locks, waits until that one is done; by itself,
/// apt-get ends at once where the lists of packages are locked, and says nothing while it waits for
/// dpkg.
fn apt_get(arguments: &[&str]) -> Result {
    wait_while_locked(APT_TIMEOUT, Duration::from_secs(2), || {
        let mut command = Command::new("apt-get");
        // In English, whatever the user's language: its message about a lock is read below.
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("LC_ALL", "C");
        let output = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .output()
            .map_err(|error| format!("cannot start apt-get: {error}"))?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok(if output.status.success() {
            Ok(())
        } else {
            Err(message)
        })
    })
    .map_err(|error| {
        format!(
            "`apt-get {}` failed: {}",
            arguments.join(" "),
            error.trim_end()
        )
    })
}

/// Tries until `attempt` succeeds, fails for another reason than a lock, or `timeout` is over. A
/// failed attempt yields the program's messages.
fn wait_while_locked(
    timeout: Duration,
    pause: Duration,
    mut attempt: impl FnMut() -> Result<Result>,
) -> Result {
    let begin = Instant::now();
    let mut waits = false;
    loop {
        let Err(message) = attempt()? else {
            return Ok(());
        };
        if !is_about_a_lock(&message) {
            return Err(message);
        }
        if begin.elapsed() >= timeout {
            return Err(format!(
                "another apt still holds the lock after {} s\n{message}",
                timeout.as_secs()
            ));
        }
        if !waits {
            println!(
                "waiting up to {} s for another apt to finish: {}",
                timeout.as_secs(),
                message.lines().next().unwrap_or("")
            );
            waits = true;
        }
        std::thread::sleep(pause);
    }
}

/// True if apt-get failed because another one runs, by its messages (`E: Could not get lock ...`,
/// `E: Unable to lock directory ...`).
fn is_about_a_lock(message: &str) -> bool {
    // Without the right to write there is a lock that no waiting frees.
    !message.contains("Permission denied")
        && [
            "Could not get lock",
            "Unable to lock directory",
            "Unable to acquire",
        ]
        .iter()
        .any(|text| message.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTS: &str = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)\n\
                         E: Unable to lock directory /var/lib/apt/lists/\n";

    /// Runs attempts that end as given, the last one again and again; returns the result and how
    /// many were made.
    fn attempts(timeout: Duration, ends: &[Result<(), &str>]) -> (Result<(), String>, usize) {
        let mut made = 0;
        let result = wait_while_locked(timeout, Duration::from_millis(1), || {
            made += 1;
            Ok(ends[(made - 1).min(ends.len() - 1)].map_err(str::to_owned))
        });
        (result, made)
    }

    #[test]
    fn a_lock_is_waited_for() {
        assert_eq!(
            attempts(APT_TIMEOUT, &[Err(LISTS), Err(LISTS), Ok(())]),
            (Ok(()), 3)
        );
    }

    #[test]
    fn waiting_has_an_end_that_says_why() {
        let (result, made) = attempts(Duration::from_millis(20), &[Err(LISTS)]);
        let error = result.unwrap_err();
        assert!(
            made > 1 && error.contains("another apt") && error.contains("lists/lock"),
            "{made}: {error}"
        );
    }

    #[test]
    fn other_failures_are_not_waited_for() {
        for failure in [
            "E: Unable to locate package chromium",
            "E: Could not get lock (13: Permission denied)",
        ] {
            assert_eq!(
                attempts(APT_TIMEOUT, &[Err(failure)]),
                (Err(failure.to_owned()), 1)
            );
        }
    }
}

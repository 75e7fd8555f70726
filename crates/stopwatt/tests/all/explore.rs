//! `stopwatt explore` starts the program that lies beside this one.

use crate::common::{PROGRAM, error_of};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the command from a folder that has the program in it.
fn run_from(folder: &Path, asked: &[(&str, &str)], arguments: &[&str]) -> Output {
    let program = folder.join("stopwatt");
    if !program.exists() {
        fs::copy(PROGRAM, &program).unwrap();
    }
    let mut command = Command::new(program);
    command.args(arguments).envs(asked.iter().copied());
    command.env("NO_COLOR", "1").output().unwrap()
}

/// A program that prints its arguments and the shell's word, and ends with 3.
fn put_explorer(folder: &Path) {
    let path = folder.join("stopwatt-explore");
    fs::write(
        &path,
        "#!/bin/sh\necho \"$@\" $_CLAP_COMPLETE_INDEX\nexit 3\n",
    )
    .unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn arguments_and_status_are_those_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    put_explorer(folder.path());
    for (arguments, given) in [
        (&["explore"][..], ""),
        (&["explore", "--help"], "--help"),
        (&["explore", "psci", "-h"], "psci -h"),
        (
            &["--quiet", "explore", "psci", "-o", "f", "--all"],
            "--quiet psci -o f --all",
        ),
        (
            &["explore", "--verbose", "rcu", "--quiet"],
            "--verbose rcu --quiet",
        ),
    ] {
        let output = run_from(folder.path(), &[], arguments);
        assert_eq!(
            output.status.code(),
            Some(3),
            "{arguments:?}: {}",
            error_of(&output)
        );
        assert_eq!(
            String::from_utf8_lossy(&output.stdout).trim(),
            given,
            "{arguments:?}"
        );
    }
}

#[test]
fn where_the_program_is_not_there_it_is_said_what_to_type() {
    let folder = tempfile::tempdir().unwrap();
    let output = run_from(folder.path(), &[], &["explore", "psci"]);
    assert_eq!(output.status.code(), Some(2));
    let error = error_of(&output);
    for told in [
        "cargo build --release -p stopwatt-explore",
        "cp stopwatt-explore-",
    ] {
        assert!(error.contains(told), "{error}");
    }
    // What needs no explorer works without it.
    assert!(
        run_from(folder.path(), &[], &["explore", "--", "--x"])
            .status
            .code()
            == Some(2)
    );
    assert!(run_from(folder.path(), &[], &["list"]).status.success());
}

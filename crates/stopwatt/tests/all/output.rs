//! The standard output of the command.

use crate::common::root;
use std::process::{Command, Stdio};

/// Closes the reading end before the command writes, as `head` does after the lines it wanted.
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    for arguments in [
        &["list"][..],
        &["list", "--format", "json"],
        &["run", "dataplane", "--windows", "1", "--window", "5"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stopwatt"));
        command
            .args(arguments)
            .current_dir(root())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && !said.contains("panicked"),
            "{arguments:?}: {said}"
        );
    }
}

//! `stopwatt explain`: logs, parameters, codes, and what is none of them.

use crate::common::{PROGRAM, stopwatt, stopwatt_in};
use std::io::Write;
use std::process::{Command, Stdio};

/// Two CPUs that CPU_ON did not bring up, as a serial console has it.
const LOG: &str = "NOTICE:  BL31: v2.12\r
\u{1b}[0m<6>[    0.100000] smp: Bringing up secondary CPUs ...\r
[    1.200000] CPU1: failed to come online\r
Nov 30 07:11:58 board kernel: [    9.100000] psci: failed to boot CPU1 (-22)\r
";

fn json(output: &std::process::Output) -> serde_json::Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[test]
fn a_log_comes_from_a_file_a_pipe_or_as_utf_16() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("boot.log"), LOG).unwrap();
    let wide: Vec<u8> = format!("\u{feff}{LOG}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    std::fs::write(folder.path().join("wide.log"), wide).unwrap();
    let told = json(&stopwatt_in(
        folder.path(),
        &["explain", "boot.log", "--format", "json"],
    ));
    assert_eq!(
        (&told[0]["kind"], told.as_array().unwrap().len()),
        (&"trouble".into(), 1)
    );
    let lines = told[0]["details"].as_array().unwrap().iter();
    let lines: Vec<_> = lines
        .filter(|told| told["kind"] == "line")
        .map(|told| &told["text"])
        .collect();
    assert_eq!(
        lines,
        [
            "3: CPU1: failed to come online",
            "4: psci: failed to boot CPU1 (-22)"
        ]
    );
    let wide = json(&stopwatt_in(
        folder.path(),
        &["explain", "wide.log", "--format", "json"],
    ));
    assert_eq!(wide[0]["text"], told[0]["text"]);
    let mut piped = Command::new(PROGRAM)
        .args(["explain", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    piped
        .stdin
        .take()
        .unwrap()
        .write_all(LOG.as_bytes())
        .unwrap();
    assert_eq!(json(&piped.wait_with_output().unwrap()), told);
    let text = stopwatt_in(folder.path(), &["explain", "boot.log"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.starts_with(told[0]["text"].as_str().unwrap()) && !text.contains('\u{1b}'),
        "{text}"
    );
}

#[test]
fn parameters_and_codes_are_read_without_a_file() {
    let of = |what: &str| json(&stopwatt(&["explain", what, "--format", "json"]));
    assert_eq!(of("0x40000003")[0]["kind"], "parameter");
    assert_eq!(of("16842752"), of("0x1010000"));
    let kinds = |told: serde_json::Value| [told[0]["kind"].clone(), told[1]["kind"].clone()];
    assert_eq!(kinds(of("-22")), ["linux", "psci"]);
}

#[test]
fn what_is_none_of_them_is_an_error_that_names_it() {
    for what in ["missing.log", "0x123456789", "-4711"] {
        let output = stopwatt(&["explain", what]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && said.contains(what),
            "{said}"
        );
    }
    let output = stopwatt(&["explain", "0x0", "--dtb", "README.md"]);
    assert!(
        output.status.code() == Some(2)
            && String::from_utf8_lossy(&output.stderr).contains("README.md")
    );
}

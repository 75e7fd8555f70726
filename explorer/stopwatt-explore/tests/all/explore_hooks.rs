//! `stopwatt explore psci --hooks`: hooks of a port in C, with faults, without one, and what is
//! none.

use crate::common::{error_of, root, shared_object, stopwatt_in};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;

/// The example, with other lines in place of some of its own, as `NAME.so` in the folder.
fn port(folder: &Path, name: &str, lines: &[(&str, &str)]) {
    let source = root().join("crates/code/stopwatt-loop/examples/psci_port.c");
    let mut source = fs::read_to_string(source).unwrap();
    for (old, new) in lines {
        assert!(source.contains(old), "{old}");
        source = source.replace(old, new);
    }
    let file = folder.join(name).with_extension("c");
    fs::write(&file, source).unwrap();
    shared_object(&file, folder);
}

const FIXED: (&str, &str) = ("#ifdef FIXED", "#if 1");

fn explore(folder: &Path, arguments: &[&str]) -> Output {
    let always = [
        "psci",
        "--schedules",
        "50000",
        "--replace",
        "--format",
        "json",
        "-o",
        "f",
    ];
    stopwatt_in(folder, &[&always[..], arguments].concat())
}

/// What is found of the example with other lines: its invariant and its sentence.
fn found(folder: &Path, name: &str, lines: &[(&str, &str)], seed: &str) -> (String, String) {
    port(folder, name, &[&[FIXED], lines].concat());
    let output = explore(folder, &["--hooks", &format!("{name}.so"), "--seed", seed]);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{name}: {}",
        error_of(&output)
    );
    let story: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |key: &str| story["found"][key].as_str().unwrap().to_owned();
    (text("invariant"), text("what"))
}

#[test]
fn a_flag_that_stays_after_a_resume_is_found_told_and_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    port(folder, "port", &[]);
    for seed in ["1", "2", "3"] {
        let output = explore(folder, &["--hooks", "port.so", "--seed", seed]);
        assert_eq!(output.status.code(), Some(1), "{}", error_of(&output));
        let story: Value = serde_json::from_slice(&output.stdout).unwrap();
        let what = story["found"]["what"].as_str().unwrap();
        assert!(
            what.contains("in pwr_domain_") && what.contains("loaded idle["),
            "{what}"
        );
        assert!(
            story["hooks"]["file"]
                .as_str()
                .unwrap()
                .ends_with("port.so"),
            "{story}"
        );
        let again = stopwatt_in(folder, &["replay", "f", "--format", "json"]);
        let again: Value = serde_json::from_slice(&again.stdout).unwrap();
        assert!(again["same"] == true && again["what"] == what, "{again}");
    }
    let all = stopwatt_in(folder, &["replay", "f", "--all"]);
    let all = String::from_utf8(all.stdout).unwrap();
    assert!(
        all.contains("enters the hook pwr_domain_suspend") && all.contains("to idle["),
        "{all}"
    );
    // Another port under the same name, and none.
    port(folder, "port", &[FIXED]);
    let changed = stopwatt_in(folder, &["replay", "f"]);
    assert!(
        changed.status.code() == Some(2) && error_of(&changed).contains("changed since"),
        "{}",
        error_of(&changed)
    );
    let anyway = stopwatt_in(folder, &["replay", "f", "--anyway", "--format", "json"]);
    assert_eq!(anyway.status.code(), Some(0), "{}", error_of(&anyway));
    fs::rename(folder.join("port.so"), folder.join("fixed.so")).unwrap();
    let missing = stopwatt_in(folder, &["replay", "f", "--anyway"]);
    assert!(
        missing.status.code() != Some(0) && error_of(&missing).contains("port.so"),
        "{}",
        error_of(&missing)
    );
    let clean = explore(folder, &["--hooks", "fixed.so"]);
    assert_eq!(
        clean.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&clean.stdout)
    );
}

#[test]
fn faults_of_other_kinds_are_named_with_their_hook() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let opens = "if (state->pwr_domain_state[1] == STOPWATT_OFF)";
    let set = "hw->clean(OFF, cpu);";
    let turns_on =
        "return hw->power_on(STOPWATT_CPU_OF(mpidr)) ? PSCI_E_INTERN_FAIL : PSCI_E_SUCCESS;";
    let is_state = "return standby || off";
    let told = "hw->power_down(last);";
    for (name, invariant, hook, lines) in [
        (
            "shut",
            "domain-up",
            "after pwr_domain_",
            vec![(opens, "if (state->pwr_domain_state[1] > STOPWATT_OFF)")],
        ),
        ("dirty", "domain-state", "in pwr_domain_", vec![(set, "")]),
        (
            "mute",
            "domain-state",
            "in pwr_domain_",
            vec![(told, "if (last) hw->power_down(last);")],
        ),
        (
            "alone",
            "domain-state",
            "in pwr_domain_",
            vec![(told, "hw->power_down(0);")],
        ),
        (
            "deaf",
            "one-cpu-on-wins",
            "in pwr_domain_on",
            vec![(" ? PSCI_E_INTERN_FAIL", " ? PSCI_E_SUCCESS")],
        ),
        (
            "states",
            "answer",
            "in validate_power_state",
            vec![(is_state, "return 1 || standby || off")],
        ),
        (
            "flag",
            "own",
            "in pwr_domain_on_finish (which loaded off[",
            vec![
                (
                    turns_on,
                    "uint32_t cpu = STOPWATT_CPU_OF(mpidr);
                    hw->store(OFF, cpu, 2, STOPWATT_RELAXED);
                    return hw->power_on(cpu) ? PSCI_E_INTERN_FAIL : PSCI_E_SUCCESS;",
                ),
                (
                    "    set_flag(OFF, 0);\n    come_up",
                    "    hw->check(flag(OFF, hw->cpu()) == 2, \"it was turned on\");\n    set_flag(OFF, 0);\n    come_up",
                ),
            ],
        ),
    ] {
        let (broken, what) = found(folder, name, &lines, "1");
        assert!(
            broken == invariant && what.contains(hook),
            "{name}: {broken}: {what}"
        );
    }
}

#[test]
fn a_hook_that_crashes_or_ends_the_program_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let line = "hw->close_port();";
    let headers = (
        "#include <stddef.h>",
        "#include <stddef.h>\n#include <stdlib.h>",
    );
    for (name, new, how) in [
        (
            "null",
            "*(volatile int *)(uintptr_t)hw->cpus() = 1;",
            "SIGSEGV",
        ),
        ("abort", "abort();", "SIGABRT"),
        ("exit", "exit(0);", "ended the program"),
        (
            "deep",
            "{ volatile char large[1 << 20]; for (int at = 1 << 20; at > 0; at--) large[at - 1] = large[at / 2]; }",
            "SIGSEGV",
        ),
    ] {
        port(folder.path(), name, &[FIXED, headers, (line, new)]);
        let output = explore(folder.path(), &["--hooks", &format!("{name}.so")]);
        let error = error_of(&output);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(
            error.contains(&format!("{name}.so: pwr_domain_")) && error.contains(" on CPU "),
            "{error}"
        );
        assert!(error.contains(how), "{error}");
    }
}

#[test]
fn what_is_no_port_is_refused_with_its_file_and_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("text.so"), "no shared object").unwrap();
    fs::write(folder.join("empty.c"), "int nothing;").unwrap();
    shared_object(&folder.join("empty.c"), folder);
    port(folder, "old", &[("= STOPWATT_HOOKS_ABI", "= 7")]);
    port(
        folder,
        "lacks",
        &[
            (
                "    .pwr_domain_off = pwr_domain_off,\n",
                "    .get_sys_suspend_power_state = NULL,\n",
            ),
            (
                "static void pwr_domain_off",
                "void pwr_domain_off(const psci_power_state_t *);\nvoid pwr_domain_off",
            ),
        ],
    );
    port(folder, "cut", &[("    .hardware = &hw,\n", "")]);
    port(folder, "port", &[]);
    for (file, cause) in [
        ("none.so", "No such file"),
        ("text.so", "cannot be loaded"),
        ("empty.so", "has no function `stopwatt_psci_hooks`"),
        ("old.so", "is of version 7"),
        ("lacks.so", "`pwr_domain_off` of its table is NULL"),
        ("cut.so", "`hardware` of its table is NULL"),
    ] {
        let output = explore(folder, &["--hooks", file]);
        let error = error_of(&output);
        assert_eq!(output.status.code(), Some(2), "{file}: {error}");
        assert!(
            error.contains(file) && error.contains(cause) && error.contains("help"),
            "{file}: {error}"
        );
    }
    for more in [
        ["--threads", "2"],
        ["--strategy", "dpor"],
        ["--fault", "no-choosing"],
    ] {
        let output = explore(folder, &["--hooks", "port.so", more[0], more[1]]);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{more:?}: {}",
            error_of(&output)
        );
    }
}

//! Options that take paths, from a folder that is neither the checkout nor above it: a relative
//! path is below the working folder, whichever programs the command starts.

use crate::common::{error_of, root, stopwatt_in};
use std::path::Path;

/// Arguments, and the files or folders that they leave.
const RUNS: [(&str, &[&str]); 11] = [
    (
        "run psci-latency --iterations 1 -o out/run --report out/run.html",
        &["out/run", "out/run.html"],
    ),
    ("report out/run -o out/report.html", &["out/report.html"]),
    (
        "compare out/run out/run --policy in/policy.toml --report out/compare.html",
        &["out/compare.html"],
    ),
    (
        "import rt-instr in/uart.log --platform juno-r1 -o out/import",
        &["out/import"],
    ),
    (
        "import cpuidle in/before.txt in/after.txt -o out/cpuidle --report out/cpuidle.html",
        &["out/cpuidle", "out/cpuidle.html"],
    ),
    ("sweep in/plan.toml -o out/sweep", &["out/sweep"]),
    (
        "payload --data in/checkout -o out/payload.bin",
        &["out/payload.bin"],
    ),
    (
        "platform from in/cpu --energy-model in/model.txt -o out/board.toml",
        &["out/board.toml"],
    ),
    (
        "run placement in/checkout/data/workloads/sysbench.json --platform out/board.toml \
         -o out/placement --report out/placement.html",
        &["out/placement", "out/placement.html"],
    ),
    (
        "capture cpuidle --sysfs in/counted -o out/captured --report out/captured.html -- \
         cp in/after in/counted/cpu0/cpuidle/state0/usage",
        &["out/captured", "out/captured.html"],
    ),
    ("man -o out/man", &["out/man"]),
];

/// Arguments with a file that is not of the kind that they take: what is wrong with it is found
/// before anything slow begins, and is not what is said of a file that is not there.
const WRONG: [&str; 7] = [
    "run psci-calls --firmware in/uart.log --symbols in/uart.log -o out/calls",
    "run idle-replay in/uart.log -o out/replay",
    "import ftrace in/uart.log -o out/trace",
    "import csv in/uart.log -o out/csv",
    "run linux-boot --kernel in/uart.log --cache in/cache --trace out/trace -o out/linux",
    "run tune --loop in/uart.log -o out/tuned",
    "run psci-latency --platform in/uart.toml -o out/latency",
];

#[test]
fn relative_paths_are_below_the_working_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |path: &str| folder.path().join(path);
    std::fs::create_dir(inside("in")).unwrap();
    std::fs::create_dir(inside("out")).unwrap();
    std::os::unix::fs::symlink(root().canonicalize().unwrap(), inside("in/checkout")).unwrap();
    let copy = |from: &Path, to: &str| assert!(std::fs::copy(from, inside(to)).is_ok());
    for name in ["uart.log", "before.txt", "after.txt"] {
        copy(
            &root().join("xtask/site/files").join(name),
            &format!("in/{name}"),
        );
    }
    std::fs::write(inside("in/policy.toml"), "threshold = 0.0\n").unwrap();
    let plan = "experiment = \"psci-latency\"\n[settings]\niterations = 1\n[grid]\nscp.channels = [1, 2]\n";
    std::fs::write(inside("in/plan.toml"), plan).unwrap();
    crate::own_board::kernels_files(&inside("in"));
    let state = inside("in/counted/cpu0/cpuidle/state0");
    std::fs::create_dir_all(&state).unwrap();
    for (file, content) in [
        ("name", "WFI"),
        ("usage", "5"),
        ("time", "700"),
        ("above", "0"),
        ("below", "1"),
    ] {
        std::fs::write(state.join(file), content).unwrap();
    }
    std::fs::write(inside("in/after"), "25").unwrap();
    for (arguments, files) in RUNS {
        let output = stopwatt_in(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
        for file in files {
            assert!(
                inside(file).exists(),
                "{arguments} leaves no {file}: {}",
                error_of(&output)
            );
        }
        assert!(
            output.status.success(),
            "{arguments}: {}",
            error_of(&output)
        );
    }
    // What a program leaves that was started elsewhere.
    assert!(!root().join("firmware/in").exists());
    std::fs::copy(inside("in/uart.log"), inside("in/uart.toml")).unwrap();
    for arguments in WRONG {
        let error = |arguments: &str| {
            let output = stopwatt_in(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
            assert!(!output.status.success(), "{arguments}");
            error_of(&output)
        };
        let (there, missing) = (
            error(arguments),
            error(&arguments.replace("in/uart", "in/none")),
        );
        assert_ne!(there, missing.replace("in/none", "in/uart"), "{arguments}");
        assert!(!there.contains("No such file"), "{arguments}: {there}");
    }
}

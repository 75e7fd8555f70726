//! Options that take paths, from a folder that is neither the checkout nor above it: a relative
//! path is below the working folder, whichever programs the command starts.

use crate::common::{error_of, root, stopwatt_in};
use std::path::Path;

/// Arguments, and the files or folders that they leave.
const RUNS: [(&str, &[&str]); 7] = [
    ("run psci-latency --iterations 1 -o out/run --report out/run.html", &["out/run", "out/run.html"]),
    ("report out/run -o out/report.html", &["out/report.html"]),
    ("compare out/run out/run --policy in/policy.toml --report out/compare.html", &["out/compare.html"]),
    (
        "import rt-instr in/uart.log --platform juno-r1 -o out/import --as-published out/figures.csv",
        &["out/import", "out/figures.csv"],
    ),
    (
        "import cpuidle in/before.txt in/after.txt -o out/cpuidle --report out/cpuidle.html",
        &["out/cpuidle", "out/cpuidle.html"],
    ),
    ("sweep in/plan.toml -o out/sweep", &["out/sweep"]),
    ("payload --data in/checkout -o out/payload.bin", &["out/payload.bin"]),
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
        copy(&root().join("xtask/site/files").join(name), &format!("in/{name}"));
    }
    std::fs::write(inside("in/policy.toml"), "threshold = 0.0\n").unwrap();
    let plan = "experiment = \"psci-latency\"\n[settings]\niterations = 1\n[grid]\nscp.channels = [1, 2]\n";
    std::fs::write(inside("in/plan.toml"), plan).unwrap();
    for (arguments, files) in RUNS {
        let output = stopwatt_in(folder.path(), &arguments.split(' ').collect::<Vec<_>>());
        for file in files {
            assert!(inside(file).exists(), "{arguments} leaves no {file}: {}", error_of(&output));
        }
    }
    // What a program leaves that was started elsewhere.
    assert!(!root().join("firmware/in").exists());
}

//! Mutants: does a test fail for each small fault that is put into the code?

use std::path::Path;
use std::process::Command;

/// The crates in which a fault would change figures without a word, each with the crates whose tests see it. The library's
/// interleavings are tried in `explore`.
const PACKAGES: [(&str, &[&str]); 4] = [
    ("stopwatt-psci", &["stopwatt-psci", "soc", "explore"]),
    ("stopwatt-engine", &["stopwatt-engine", "soc"]),
    ("attribution", &["attribution"]),
    ("comparison", &["comparison"]),
];

/// Tests the mutants of [`PACKAGES`] with cargo-mutants; `more` goes to it as it is. It takes hours, so it is no stage of `test`.
pub fn run(more: &[String]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let version = Command::new(&cargo).args(["mutants", "--version"]).output();
    if !version.is_ok_and(|output| output.status.success()) {
        return Err(
            "cargo-mutants is not installed: run `cargo install --locked cargo-mutants`, then this again".to_owned()
        );
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut missed = Vec::new();
    for (package, testers) in PACKAGES {
        println!("== mutants of {package}");
        let output = Path::new("target/mutants").join(package);
        let folder = root.join(&output);
        std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        // One crate's tests after the other, each on what the ones before missed: building the tests of all takes far longer.
        for (number, tester) in testers.iter().enumerate() {
            let mut command = Command::new(&cargo);
            command.current_dir(&root).args(["mutants", "--package", package, "--test-package", tester, "--output"]);
            command.arg(&output).args((number > 0).then_some("--iterate")).args(more);
            // The seeded faults are changes of text, and so are mutants: a fault whose text a mutant took is left out.
            command.env("SEEDED_LENIENT", "1");
            match command.status() {
                Ok(status) if status.success() => break,
                // 2: a mutant was missed; 3: one ran out of time.
                Ok(status) if matches!(status.code(), Some(2 | 3)) && number + 1 < testers.len() => {}
                Ok(status) if matches!(status.code(), Some(2 | 3)) => missed.push(output.join("mutants.out")),
                Ok(status) => return Err(format!("cargo mutants of {package} ended with {status}")),
                Err(error) => return Err(format!("cannot start cargo mutants: {error}")),
            }
        }
    }
    match missed.as_slice() {
        [] => Ok(()),
        _ => {
            let lists: Vec<_> = missed.iter().map(|list| list.display().to_string()).collect();
            Err(format!("mutants were missed, or ran out of time; the lists: {}", lists.join(", ")))
        }
    }
}

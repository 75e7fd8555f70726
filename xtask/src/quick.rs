//! `cargo xtask quick`: what a small change needs before it is committed. Nothing is installed.

use crate::tools::{
    Result, cargo, cpu_seconds_of_children, git, read, root, run_cargo, said, slow_tests,
};
use crate::{limits, runner};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

/// Beginnings of the names of tests that need what `cargo xtask test` installs.
const NEED_PROGRAMS: [&str; 5] = [
    "browser::",
    "installed::",
    "guest::",
    "other_readers::",
    "report::",
];

/// Format, clippy and tests of the packages that differ from `main`; clippy of those that use them.
///
/// # Errors
/// A check fails, or Git or Cargo cannot say what changed.
pub fn run() -> Result {
    let begin = Instant::now();
    let changed = changed()?;
    println!("== format");
    run_cargo("fmt --all --check")?;
    if changed.is_empty() {
        println!("No package differs from main: there is nothing to compile.");
        return Ok(());
    }
    let names =
        |packages: &BTreeSet<String>| packages.iter().cloned().collect::<Vec<_>>().join(", ");
    println!("== clippy of {}", names(&changed));
    let clippy = |options: &str, packages| {
        let packages = chosen(packages);
        run_cargo(&format!(
            "clippy --quiet --release {options} {packages} -- -D warnings"
        ))
    };
    clippy("--all-targets", &changed)?;
    let above = above(&changed)?;
    if !above.is_empty() {
        println!("== clippy of what uses them: {}", names(&above));
        clippy("", &above)?;
    }
    println!("== tests of {}", names(&changed));
    let programs = runner::build(&format!("--release {}", chosen(&changed)))?;
    let slow = [slow_tests("kept")?, slow_tests("judged")?].concat();
    let is_chosen = |program: &runner::Program, path: &str| {
        let name = program.name(path);
        program.package != "qemu"
            && !NEED_PROGRAMS.iter().any(|start| path.starts_with(start))
            && !slow.iter().any(|(slow, _)| *slow == name)
    };
    runner::run(&programs, &[], is_chosen)?.1?;
    println!(
        "== passed in {:.0} s; `cargo xtask test` is the whole",
        begin.elapsed().as_secs_f64()
    );
    limits::tell_seconds(&root(), "quick-seconds", cpu_seconds_of_children())
}

/// The packages as Cargo's options.
fn chosen(packages: &BTreeSet<String>) -> String {
    packages.iter().map(|name| format!(" -p {name}")).collect()
}

/// The workspace's packages with files that differ from `main`, or that are not committed.
fn changed() -> Result<BTreeSet<String>> {
    let files = git("diff --name-only main")? + &git("ls-files --others --exclude-standard")?;
    Ok(files
        .lines()
        .filter_map(|file| package_of(&root(), Path::new(file)))
        .collect())
}

/// The package that a file belongs to; `None` for documents, data and the firmware's workspace.
fn package_of(root: &Path, file: &Path) -> Option<String> {
    let of_another_workspace = ["firmware", "bench"]
        .iter()
        .any(|folder| file.starts_with(folder));
    let manifest = file
        .ancestors()
        .skip(1)
        .map(|folder| root.join(folder).join("Cargo.toml"))
        .find(|path| path.is_file())?;
    let text = read(&manifest).ok()?;
    if of_another_workspace {
        return None;
    }
    Some(
        text.split("[package]")
            .nth(1)?
            .lines()
            .find_map(|line| line.strip_prefix("name = \""))?
            .trim_end_matches('"')
            .to_owned(),
    )
}

/// The workspace's packages that use one of these.
fn above(changed: &BTreeSet<String>) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for package in changed {
        let tree = format!(
            "tree --offline --workspace --prefix none --edges normal,build,dev --invert {package}"
        );
        // Only what lies in the checkout has its path behind the version.
        let text = said(&mut cargo(&tree))?;
        let ours = text
            .lines()
            .filter(|line| line.contains("(/"))
            .filter_map(|line| line.split(' ').next());
        found.extend(ours.map(str::to_owned));
    }
    found.retain(|name| !changed.contains(name) && name != "stopwatt-python");
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{package_of, root};
    use std::path::Path;

    #[test]
    fn a_file_belongs_to_the_package_around_it() {
        let root = root();
        let of = |file: &str| package_of(&root, Path::new(file));
        assert_eq!(
            of("crates/code/psci/src/lib.rs").as_deref(),
            Some("stopwatt-psci")
        );
        assert_eq!(of("xtask/src/quick.rs").as_deref(), Some("xtask"));
        assert_eq!(of("docs/idle.md"), None);
        assert_eq!(of("firmware/el3/src/main.rs"), None);
    }
}

//! `cargo xtask quick`: what a small change needs before it is committed. Nothing is installed.

use crate::stages::{cargo, check, root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The test files that need a program which `cargo xtask test` installs, or minutes.
const LEFT_OUT: [&str; 2] = ["browser", "installed"];

/// Format, clippy and tests of the packages that differ from `main`, and the unit tests of those
/// that use them.
///
/// # Errors
/// A check fails, or Git or Cargo cannot say what changed.
pub fn run() -> Result<(), String> {
    let begin = Instant::now();
    let changed = changed()?;
    println!("== format");
    check(&mut cargo(&["fmt", "--all", "--check"]))?;
    crate::words::check(&root())?;
    if changed.is_empty() {
        println!("No package differs from main: there is nothing to compile.");
        return Ok(());
    }
    let above = above(&changed)?;
    let names = |packages: &BTreeSet<String>| packages.iter().cloned().collect::<Vec<_>>().join(", ");
    println!("== clippy and tests of {}", names(&changed));
    check(&mut cargo(
        &[&["clippy", "--quiet", "--all-targets"][..], &chosen(&changed), &["--", "-D", "warnings"]].concat(),
    ))?;
    for package in &changed {
        let files = test_files(package)?;
        let mut tests = vec!["test", "--quiet", "-p", package, "--lib", "--bins"];
        let kept = files.iter().filter(|name| !LEFT_OUT.contains(&name.as_str()));
        tests.extend(kept.flat_map(|name| ["--test", name]));
        check(&mut cargo(&tests))?;
    }
    if !above.is_empty() {
        println!("== unit tests of what uses them: {}", names(&above));
        check(&mut cargo(&[&["test", "--quiet", "--lib"][..], &chosen(&above)].concat()))?;
    }
    println!("== passed in {:.0} s; `cargo xtask test` is the whole", begin.elapsed().as_secs_f64());
    Ok(())
}

/// The packages as Cargo's options.
fn chosen(packages: &BTreeSet<String>) -> Vec<&str> {
    packages.iter().flat_map(|name| ["-p", name]).collect()
}

/// The lines that a program prints.
fn lines(command: &mut Command) -> Result<Vec<String>, String> {
    let output = command.output().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

fn git(arguments: &[&str]) -> Result<Vec<String>, String> {
    lines(Command::new("git").args(arguments).current_dir(root()))
}

/// The workspace's packages with files that differ from `main`, or that are not committed.
fn changed() -> Result<BTreeSet<String>, String> {
    let mut files = git(&["diff", "--name-only", "main"])?;
    files.extend(git(&["ls-files", "--others", "--exclude-standard"])?);
    Ok(files.iter().filter_map(|file| package_of(&root(), Path::new(file))).collect())
}

/// The package that a file belongs to; `None` for documents, data and the firmware's workspace.
fn package_of(root: &Path, file: &Path) -> Option<String> {
    let of_another_workspace = ["firmware", "bench"].iter().any(|folder| file.starts_with(folder));
    let manifest =
        file.ancestors().skip(1).map(|folder| root.join(folder).join("Cargo.toml")).find(|path| path.is_file())?;
    let text = std::fs::read_to_string(manifest).ok()?;
    if of_another_workspace {
        return None;
    }
    let package = text.split("[package]").nth(1)?;
    let name = package.lines().find_map(|line| line.strip_prefix("name = \""))?;
    Some(name.trim_end_matches('"').to_owned())
}

/// The workspace's packages that use one of these.
fn above(changed: &BTreeSet<String>) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    for package in changed {
        let tree = [
            "tree",
            "--offline",
            "--workspace",
            "--prefix",
            "none",
            "--edges",
            "normal,build,dev",
            "--invert",
            package,
        ];
        // Only what lies in the checkout has its path behind the version.
        let ours = lines(&mut cargo(&tree))?;
        let ours = ours.iter().filter(|line| line.contains("(/")).filter_map(|line| line.split(' ').next());
        found.extend(ours.map(str::to_owned));
    }
    found.retain(|name| !changed.contains(name) && name != "stopwatt-python");
    Ok(found)
}

/// The names of a package's integration tests.
fn test_files(package: &str) -> Result<Vec<String>, String> {
    let manifest = lines(&mut cargo(&["pkgid", "--offline", "-p", package]))?;
    let path = manifest.first().and_then(|line| line.strip_prefix("path+file://"));
    let folder = path.and_then(|path| path.split('#').next()).map(PathBuf::from);
    let folder = folder.ok_or_else(|| format!("Cargo does not say where {package} lies"))?.join("tests");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(Vec::new()) };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let tests = paths.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let mut names: Vec<String> = tests.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::package_of;
    use std::path::Path;

    #[test]
    fn a_file_belongs_to_the_package_around_it() {
        let root = crate::stages::root();
        let of = |file: &str| package_of(&root, Path::new(file));
        assert_eq!(of("crates/code/psci/src/lib.rs").as_deref(), Some("stopwatt-psci"));
        assert_eq!(of("xtask/src/quick.rs").as_deref(), Some("xtask"));
        assert_eq!(of("docs/idle.md"), None);
        assert_eq!(of("firmware/el3/src/main.rs"), None);
    }
}

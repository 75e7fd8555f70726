//! The Python package: a wheel, installed into a fresh environment, and the tests of it; the
//! documentation site, which shows the package.

use crate::tools::{Result, cargo, check, entries, find_first, read, said, words, write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the wheel, installs it into a fresh environment, and runs those of its tests there that
/// a mark chooses, such as `not judged`.
pub fn run(root: &Path, mark: &str) -> Result {
    no_arrow_below(root)?;
    let python = installed(root)?;
    let mut tests = Command::new(&python);
    // From the folder of the tests: the package's own files must not be what is imported.
    tests
        .args(["-m", "pytest", "--durations", "5", "-m", mark])
        .current_dir(root.join("python/tests"));
    check(
        tests
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("PYTHONPATH"),
    )
}

/// Builds the documentation as a site below `target`, with its commands run and its links looked
/// up.
pub fn site(root: &Path, more: &[String]) -> Result {
    check(
        Command::new(installed(root)?)
            .arg(root.join("xtask/site/build.py"))
            .args(more)
            .env_remove("PYTHONPATH"),
    )
}

/// Builds the wheel and installs it into a fresh environment, whose Python it returns.
fn installed(root: &Path) -> Result<PathBuf> {
    let tools = tools(root)?;
    let wheel = wheel(root, &tools)?;
    fresh(root, &tools, &wheel)
}

/// Arrow's crates are the package's alone: the command's first build has none of them.
fn no_arrow_below(root: &Path) -> Result {
    let mut tree = cargo("tree --locked --package stopwatt --edges normal,build --prefix none");
    let text = said(tree.current_dir(root))?;
    match text
        .lines()
        .find(|line| ["arrow", "pyo3"].iter().any(|name| line.starts_with(name)))
    {
        Some(line) => Err(format!(
            "the command depends on {line}, which belongs to `python` alone"
        )),
        None if text.contains("parquet v") => Ok(()),
        None => Err(format!(
            "{tree:?} does not list the command's crates: {text}"
        )),
    }
}

/// The Python of the environment that [`tools`] makes.
pub fn tools_python(root: &Path) -> PathBuf {
    root.join("target/python/tools/bin/python")
}

/// An environment with what the tests need, made once and made anew when the list of packages
/// changes.
///
/// # Errors
/// Python or a package is missing and cannot be installed.
pub fn tools(root: &Path) -> Result<PathBuf> {
    let folder = root.join("target/python/tools");
    environment(&folder, &root.join("python/requirements.txt")).map(|()| folder)
}

/// An environment with the packages of a list, made anew when the list changes.
///
/// # Errors
/// Python or a package is missing and cannot be installed.
pub fn environment(folder: &Path, list: &Path) -> Result {
    let (wanted, installed) = (read(list)?, folder.join("installed.txt"));
    if read(&installed).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    let _ = std::fs::remove_dir_all(folder);
    check(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    let mut install = Command::new(folder.join("bin/python"));
    install
        .args(words(
            "-m pip install --quiet --disable-pip-version-check -r",
        ))
        .arg(list);
    check(&mut install).map_err(|error| {
        let packages: Vec<&str> = wanted
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .collect();
        format!(
            "{error}\nthe Python packages could not be installed; missing here are: {}",
            packages.join(" ")
        )
    })?;
    write(&installed, &wanted)
}

/// Builds the wheel for this machine. `python/backend.py` leaves the types beside the sources, where
/// wheels for other machines take them.
///
/// # Errors
/// The wheel cannot be built.
pub fn wheel(root: &Path, tools: &Path) -> Result<PathBuf> {
    let out = root.join("target/python/wheels");
    let _ = std::fs::remove_dir_all(&out);
    let mut build = Command::new(tools.join("bin/python"));
    build.args(words(
        "-m pip wheel --quiet --no-build-isolation --no-deps --disable-pip-version-check --wheel-dir",
    ));
    build.arg(&out).arg(root.join("python"));
    find_first(&mut build, &tools.join("bin")).env("MATURIN_PEP517_ARGS", "--locked");
    check(&mut build)?;
    entries(&out)?
        .pop()
        .ok_or_else(|| format!("no wheel in {}", out.display()))
}

/// A fresh environment with the wheel; the tools' packages are seen from it, and are not installed
/// again. Returns its Python.
fn fresh(root: &Path, tools: &Path, wheel: &Path) -> Result<PathBuf> {
    let folder = root.join("target/python/fresh");
    let _ = std::fs::remove_dir_all(&folder);
    check(
        Command::new("python3")
            .args(words("-m venv --without-pip"))
            .arg(&folder),
    )?;
    let python = folder.join("bin/python");
    let mut install = Command::new(tools.join("bin/python"));
    install.args(words("-m pip --python")).arg(&python);
    install
        .args(words(
            "install --quiet --disable-pip-version-check --no-deps --no-index",
        ))
        .arg(wheel);
    check(&mut install)?;
    let (ours, theirs) = (packages(&python)?, packages(&tools.join("bin/python"))?);
    write(&Path::new(&ours).join("tools.pth"), &(theirs + "\n"))?;
    Ok(python)
}

/// Folder in which a Python has its packages.
fn packages(python: &Path) -> Result<String> {
    Ok(said(Command::new(python).args([
        "-c",
        "import sysconfig; print(sysconfig.get_paths()['platlib'])",
    ]))?
    .trim()
    .to_owned())
}

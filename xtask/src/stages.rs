//! The stages of `cargo xtask test`.

use crate::runner::{self, Outcome, Program};
use crate::tools::{
    Result, at, built, cargo, check, copy, cpu_seconds_of_children, create, entries, hold_known,
    read, remove, root, run_cargo, said, slow_tests, words,
};
use crate::{dependencies, limits, needs, python as package};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

/// A stage: its name, what it checks and how.
pub struct Stage {
    /// Name on the command line.
    pub name: &'static str,
    /// The check.
    pub what: &'static str,
    run: fn() -> Result,
}

const fn stage(name: &'static str, what: &'static str, run: fn() -> Result) -> Stage {
    Stage { name, what, run }
}

/// All stages, in their order.
pub const STAGES: [Stage; 14] = [
    stage(
        "format",
        "rustfmt has nothing to change, documents wrap",
        format,
    ),
    stage(
        "locks",
        "lock files are in step; licences and sources of dependencies",
        dependencies::check,
    ),
    stage(
        "program",
        "what the release build takes, and how large the program is",
        program,
    ),
    stage("lints", "clippy on every target, warnings denied", lints),
    stage(
        "web",
        "Biome on the report's script and style sheet: format and lints",
        web,
    ),
    stage(
        "tests",
        "unit, integration, property and documentation tests",
        tests,
    ),
    stage(
        "detail",
        "the no_std crates with overflow checks, and with and without features",
        detail,
    ),
    stage(
        "packages",
        "the libraries that others may take: each builds from its package alone",
        packages,
    ),
    stage(
        "bare-metal",
        "the no_std crates for aarch64 without an operating system",
        bare_metal,
    ),
    stage(
        "firmware",
        "the EL3 image on QEMU: checks, counts, random calls, Linux",
        firmware,
    ),
    stage(
        "aarch64",
        "the data plane's unit tests on aarch64, under emulation",
        aarch64,
    ),
    stage(
        "python",
        "the Python package: a wheel in a fresh environment, its tests",
        python,
    ),
    stage(
        "site",
        "the documents' commands print what the documents show; links",
        documentation,
    ),
    stage(
        "recordings",
        "one thread and many: the same recording",
        recordings,
    ),
];

/// The stages that need Rust alone.
const WITHOUT_NEEDS: [&str; 4] = ["format", "locks", "program", "lints"];

/// The tests of every stage so far, for the table of the slowest.
static OUTCOMES: Mutex<Vec<Outcome>> = Mutex::new(Vec::new());

/// CPU seconds above which a test needs a reason in `xtask/slow.toml`.
const SLOW: f64 = 5.0;

/// Runs the named stages, or all. A stage that fails does not hide those behind it.
///
/// # Errors
/// A name is unknown, or a stage failed; the last lines list which, and why.
pub fn run(names: &[String]) -> Result {
    hold_known(names, "stage", &STAGES.map(|stage| stage.name))?;
    let chosen: Vec<_> = STAGES
        .iter()
        .filter(|stage| names.is_empty() || names.iter().any(|name| name == stage.name))
        .collect();
    // While the first stages compile, what later ones need is fetched.
    let mut installing = chosen
        .iter()
        .any(|stage| !WITHOUT_NEEDS.contains(&stage.name))
        .then(|| std::thread::spawn(install));
    let mut times = Vec::new();
    let mut failures = Vec::new();
    for stage in &chosen {
        if !WITHOUT_NEEDS.contains(&stage.name)
            && let Some(installing) = installing.take()
        {
            let begin = (Instant::now(), cpu_seconds_of_children());
            println!("== needs: programs, Rust targets and Python packages");
            failures.extend(ended(
                "needs",
                installing
                    .join()
                    .unwrap_or_else(|_| Err("it panicked".to_owned())),
            ));
            times.push(("needs", begin));
        }
        println!("== {}: {}", stage.name, stage.what);
        let begin = (Instant::now(), cpu_seconds_of_children());
        failures.extend(ended(stage.name, (stage.run)()));
        times.push((stage.name, begin));
    }
    let seconds = summary(&times)?;
    if names.is_empty() {
        failures.extend(ended(
            "limits",
            limits::tell_seconds(&root(), "test-seconds", seconds),
        ));
    }
    if failures.is_empty() {
        println!("{} passed, 0 failed", chosen.len())
    } else {
        return Err(format!(
            "{} of {} stages failed:\n{}",
            failures.len(),
            chosen.len(),
            failures.join("\n")
        ));
    }
    Ok(())
}

/// Installs programs, targets and the Python packages that tests need.
///
/// # Errors
/// Something is missing and cannot be installed; the text says what.
pub fn install() -> Result {
    needs::install(&needs::TEST)?;
    package::tools(&root()).map(drop)
}

/// The failure of a stage, told where it happens and again at the end.
fn ended(stage: &str, result: Result) -> Option<String> {
    let failure = format!("stage {stage} failed: {}", result.err()?);
    println!("== {failure}");
    Some(failure)
}

/// Prints the stages with their seconds, and the slowest tests; returns the seconds of CPU time of
/// all. `times` has each stage's start.
fn summary(times: &[(&str, (Instant, f64))]) -> Result<f64> {
    let outcomes = OUTCOMES.lock().expect("no stage panicked");
    if !outcomes.is_empty() {
        println!("== the slowest tests");
        runner::slowest(&outcomes, SLOW, &slow_tests("kept")?)
            .iter()
            .for_each(|line| println!("{line}"));
    }
    println!("== stages");
    let end = (Instant::now(), cpu_seconds_of_children());
    let ends = times.iter().skip(1).map(|(_, begin)| *begin).chain([end]);
    let line = |name: &str, from: (Instant, f64), to: (Instant, f64)| {
        println!(
            "{name:12} {:7.1} s {:7.1} s of CPU",
            to.0.duration_since(from.0).as_secs_f64(),
            to.1 - from.1
        );
    };
    times
        .iter()
        .zip(ends)
        .for_each(|((name, from), to)| line(name, *from, to));
    times
        .first()
        .into_iter()
        .for_each(|(_, first)| line("sum", *first, end));
    println!(
        "what was built takes {:.1} GB of the disk",
        bytes_below(&built(""))? as f64 / 1e9
    );
    Ok(end.1)
}

/// The bytes of all files below a folder.
fn bytes_below(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for path in entries(folder)? {
        let about = path.symlink_metadata().map_err(at(&path))?;
        sum += if about.is_dir() {
            bytes_below(&path)?
        } else {
            about.len()
        };
    }
    Ok(sum)
}

fn format() -> Result {
    run_cargo("fmt --all --check")?;
    check(&mut firmware_cargo("fmt --all --check"))?;
    documents()
}

/// Columns at which documents wrap.
const COLUMNS: usize = 100;

/// Documents wrap; tables, code and lines of a link alone may be longer.
fn documents() -> Result {
    let mut wrong = Vec::new();
    for folder in ["", "docs", "docs/adr", "python"] {
        for path in entries(&root().join(folder))?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        {
            let text = read(&path)?;
            wrong.extend(too_long(&text).map(|line| format!("{}:{line}", path.display())));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "lines of more than {COLUMNS} columns: {}",
            wrong.join(", ")
        ))
    }
}

/// Numbers of the lines of a document that are too long.
fn too_long(text: &str) -> impl Iterator<Item = usize> {
    let mut in_code = false;
    text.lines()
        .zip(1..)
        .filter(move |(line, _)| {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
            }
            let may_be_long = in_code || line.starts_with('|') || line.starts_with("![");
            !may_be_long && line.chars().count() > COLUMNS
        })
        .map(|(_, number)| number)
}

/// Clippy on the product, where a function has at most 70 lines (`clippy.toml`), then on all.
fn lints() -> Result {
    let clippy = "clippy --quiet --release --locked --workspace";
    run_cargo(&format!(
        "{clippy} -- -D warnings -W clippy::too_many_lines"
    ))?;
    run_cargo(&format!("{clippy} --all-targets -- -D warnings"))
}

/// The folder below `target` with Biome and axe-core, at the versions that
/// `xtask/web/package-lock.json` pins.
fn web_packages() -> Result<PathBuf> {
    let (from, to) = (root().join("xtask/web"), root().join("target/web"));
    create(&to)?;
    for name in ["package.json", "package-lock.json", ".npmrc"] {
        copy(&from.join(name), &to.join(name))?;
    }
    // Not `npm ci`: a registry may lack the builds for other systems, which the lock then does not
    // name either.
    let install = words("install --no-audit --no-fund --loglevel error");
    check(Command::new("npm").args(install).current_dir(&to))?;
    Ok(to.join("node_modules"))
}

fn web() -> Result {
    let mut biome = Command::new(web_packages()?.join(".bin/biome"));
    let check_assets =
        words("ci --config-path xtask/web crates/results/report/assets --error-on-warnings");
    check(biome.args(check_assets).current_dir(root()))
}

/// Builds the program and holds it, and the source, to the limits.
fn program() -> Result {
    let program = built("release/stopwatt");
    let is_first = !program.exists();
    let before = cpu_seconds_of_children();
    run_cargo("build --quiet --release --locked")?;
    let seconds = is_first.then(|| cpu_seconds_of_children() - before);
    let size = std::fs::metadata(&program).map_err(at(&program))?.len();
    limits::check(&root(), size, seconds)
}

/// The test programs of the workspace, built once by the first stage that runs some.
fn programs() -> Result<&'static [Program]> {
    static PROGRAMS: OnceLock<Result<Vec<Program>>> = OnceLock::new();
    PROGRAMS
        .get_or_init(|| runner::build("--release --locked --workspace --exclude stopwatt-python"))
        .as_deref()
        .map_err(Clone::clone)
}

/// The stage that a test belongs to: what needs the emulator has its own.
fn stage_of(program: &Program) -> &'static str {
    if program.package == "qemu" {
        "firmware"
    } else {
        "tests"
    }
}

/// Runs the tests of a stage.
fn tests_of(stage: &'static str) -> Result {
    let axe = web_packages()?.join("axe-core/axe.min.js");
    let mut environment = vec![
        ("STOPWATT_TEST_PYTHON", package::tools_python(&root())),
        ("STOPWATT_TEST_AXE", axe),
    ];
    environment.extend(published_documents().map(|folder| ("STOPWATT_SOURCES", folder)));
    let judged = slow_tests("judged")?;
    let is_judged =
        |program: &Program, path: &str| judged.iter().any(|(name, _)| *name == program.name(path));
    let (outcomes, result) = runner::run(programs()?, &environment, |program, path| match stage {
        JUDGED => is_judged(program, path),
        _ => stage_of(program) == stage && !is_judged(program, path),
    })?;
    if stage == JUDGED && outcomes.len() != judged.len() {
        return Err(format!(
            "xtask/slow.toml has {} judged tests, and {} were found",
            judged.len(),
            outcomes.len()
        ));
    }
    OUTCOMES.lock().expect("no stage panicked").extend(outcomes);
    result
}

/// The tests that are no part of `test`, in place of a stage.
const JUDGED: &str = "judged";

/// Runs the tests that take too long for every day.
///
/// # Errors
/// One failed, or `xtask/slow.toml` names one that there is not.
pub fn judged_tests() -> Result {
    install()?;
    let tests = tests_of(JUDGED);
    package::run(&root(), "judged").and(tests)
}

fn tests() -> Result {
    // Comments of the libraries with faults are those of the libraries, whose names they have not.
    let examples = cargo(
        "test --quiet --release --locked --workspace --exclude stopwatt-python \
         --exclude psci-faults --exclude rcu-faults --doc",
    )
    .status();
    let result = tests_of("tests");
    if published_documents().is_none() {
        println!(
            "SKIPPED, since it needs the published documents (STOPWATT_SOURCES=FOLDER, or shared/sources beside the checkout): \
             the_published_documents_themselves_are_the_published_cells"
        );
    }
    result?;
    match examples {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("the tests in the documentation failed: {other:?}")),
    }
}

/// The folder of the published documents, which are not ours to give, where it can be found.
fn published_documents() -> Option<PathBuf> {
    let named = std::env::var_os("STOPWATT_SOURCES").map(PathBuf::from);
    let beside = || Some(root().canonicalize().ok()?.parent()?.join("shared/sources"));
    named.or_else(|| beside().filter(|folder| folder.is_dir()))
}

/// The crates that need no operating system, but for `smc`, which has no tests.
const WITHOUT_SYSTEM: &str = "-p stopwatt-cells -p stopwatt-points -p stopwatt-psci -p psci-cases \
    -p idle -p rcu -p placement";

/// The crates that need no operating system, where a wrap or a broken assertion would hide in an
/// optimised build; and psci and points with all their features.
fn detail() -> Result {
    run_cargo(&format!("test --quiet --locked {WITHOUT_SYSTEM}"))?;
    run_cargo("test --quiet --locked -p stopwatt-psci -p stopwatt-points --all-features")
}

/// The libraries that other projects may use, each behind those that it needs.
pub const LIBRARIES: [&str; 7] = [
    "stopwatt-random",
    "stopwatt-cells",
    "stopwatt-points",
    "stopwatt-smc",
    "stopwatt-psci",
    "stopwatt-engine",
    "stopwatt-interleavings",
];

/// Packages the libraries and builds each from its package. Nothing is uploaded: they find each
/// other in a registry on disk that Cargo makes for the purpose.
fn packages() -> Result {
    forget_unpacked(&LIBRARIES)?;
    // Nor does Cargo look again at what it compiled of them, so nothing of an earlier run is taken.
    let target = root().join("target/packages");
    if target.exists() {
        remove(&target)?;
    }
    let packages = LIBRARIES.map(|package| format!("--package {package}"));
    run_cargo(&format!(
        "package --quiet --locked --allow-dirty --target-dir target/packages {}",
        packages.join(" ")
    ))?;
    // The oldest Rust that ports may have, as the manifest says.
    let rustup = |line: &str| check(Command::new("rustup").args(words(line)).current_dir(root()));
    rustup("run 1.85.0 rustc --version")
        .or_else(|_| rustup("toolchain install 1.85.0 --profile minimal --no-self-update"))?;
    rustup("run 1.85.0 cargo check --quiet --locked --target-dir target/oldest -p stopwatt-psci")
}

/// Removes what Cargo unpacked of these packages earlier. Cargo takes a package of one version to
/// stay the same for ever, so it would build the others against the text of an earlier run.
fn forget_unpacked(crates: &[&str]) -> Result {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))
        .ok_or("there is no home directory")?;
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    for registry in entries(&home.join("registry/src")).unwrap_or_default() {
        // A registry on disk has no host, so its directory's name starts with the dash before the
        // hash.
        if !name(&registry).starts_with('-') {
            continue;
        }
        for unpacked in entries(&registry).unwrap_or_default() {
            if crates
                .iter()
                .any(|package| name(&unpacked).starts_with(&format!("{package}-")))
            {
                remove(&unpacked)?;
            }
        }
    }
    Ok(())
}

fn bare_metal() -> Result {
    run_cargo(&format!(
        "build --quiet --release --target aarch64-unknown-none {WITHOUT_SYSTEM} -p stopwatt-smc"
    ))
}

/// Cargo in the firmware's workspace, whose configuration names its target.
fn firmware_cargo(line: &str) -> Command {
    let mut command = cargo(line);
    command.current_dir(root().join("firmware"));
    command
}

/// The firmware's workspace, what of it the host can test, and then everything on the emulator.
fn firmware() -> Result {
    // All of them together, as a plain `cargo build` in the workspace does, and the image as it is
    // measured without what a product needs.
    for what in [
        "--workspace",
        "--package el3 --no-default-features --features plain",
    ] {
        check(&mut firmware_cargo(&format!(
            "clippy --quiet --locked --release {what} -- -D warnings"
        )))?;
    }
    check(&mut firmware_cargo(
        "build --quiet --locked --release --package el3 --package payload",
    ))?;
    check(&mut firmware_cargo(&format!(
        "test --quiet --locked -p boot -p device-tree -p exceptions -p machine --target {}",
        host_target()?
    )))?;
    tests_of("firmware")
}

/// Builds the documentation site; `more` goes to its builder.
pub fn site(more: &[String]) -> Result {
    needs::install(&needs::TEST)?;
    documentation_with(more)
}

fn documentation() -> Result {
    documentation_with(&[])
}

/// Builds the explorer, which pages show, and the site.
fn documentation_with(more: &[String]) -> Result {
    run_cargo("build --quiet --release --locked --package stopwatt-explore")?;
    package::site(&root(), more)
}

/// The Python package.
fn python() -> Result {
    package::run(&root(), "not judged")
}

/// The target that this machine's programs are built for.
fn host_target() -> Result<String> {
    said(Command::new("rustc").arg("-vV"))?
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| "rustc -vV names no host".to_owned())
}

fn aarch64() -> Result {
    let mut command = cargo("test --quiet --target aarch64-unknown-linux-gnu");
    command.args(words("-p dataplane -p core-model --lib --test all"));
    command.env(
        "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
        "aarch64-linux-gnu-gcc",
    );
    command.env(
        "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
        "qemu-aarch64 -L /usr/aarch64-linux-gnu",
    );
    check(&mut command)
}

/// Makes the pictures of the documents: a run with its report, then the page's first timeline in
/// headless Chromium.
pub fn screenshots() -> Result {
    needs::install(&needs::TEST)?;
    // Named from the root, where cargo runs: the page shows its command.
    let folder = Path::new("target/xtask-screenshots");
    let (page, pictures) = (folder.join("latency.html"), folder.join("pictures"));
    create(&root().join(folder))?;
    let mut run = cargo("run --quiet --release -- run psci-latency");
    check(
        run.arg("-o")
            .arg(folder.join("recording"))
            .arg("--report")
            .arg(&page)
            .stdout(std::process::Stdio::null()),
    )?;
    let mut take = cargo("run --quiet --release -p stopwatt --example screenshots --");
    check(take.arg(&page).arg(&pictures))?;
    let docs = root().join("docs/pictures");
    create(&docs)?;
    for (from, to) in [
        ("light-1280-timeline.png", "timeline.png"),
        ("dark-1280-timeline.png", "timeline-dark.png"),
    ] {
        let to = docs.join(to);
        copy(&root().join(&pictures).join(from), &to)?;
        println!("{}", to.display());
    }
    Ok(())
}

/// Makes the same recording with two threads and with one, and compares the bytes.
fn recordings() -> Result {
    let folder = root().join("target/xtask-recordings");
    let record = |threads: &str| -> Result<PathBuf> {
        let output = folder.join(threads);
        let mut command = Command::new(built("release/stopwatt"));
        command
            .args(words(
                "run psci-latency --iterations 3 --free-seeds 5 --replace --format json -o",
            ))
            .arg(&output)
            .current_dir(root());
        command
            .env("RAYON_NUM_THREADS", threads)
            .stdout(std::process::Stdio::null());
        check(&mut command)?;
        Ok(output)
    };
    run_cargo("build --quiet --release --locked")?;
    let (one, two) = (record("1")?, record("2")?);
    for file in [
        "events.parquet",
        "measures.parquet",
        "causes.parquet",
        "recording.toml",
    ] {
        let read = |folder: &Path| {
            let path = folder.join(file);
            let mut bytes = std::fs::read(&path).map_err(at(&path))?;
            if file == "recording.toml" {
                // What differs from run to run stands in [run], the last table.
                bytes.truncate(
                    String::from_utf8_lossy(&bytes)
                        .find("\n[run]")
                        .unwrap_or(bytes.len()),
                );
            }
            Ok::<_, String>(bytes)
        };
        if read(&one)? != read(&two)? {
            return Err(format!(
                "{file} differs between {} and {}",
                one.display(),
                two.display()
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_that_are_too_long_are_found_outside_of_tables_and_code() {
        let long = "word ".repeat(30);
        let text = format!("{long}\n| {long} |\n```\n{long}\n```\nshort\n{long}\n");
        assert_eq!(super::too_long(&text).collect::<Vec<_>>(), [1, 7]);
    }
}

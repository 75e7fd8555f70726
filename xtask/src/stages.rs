//! The stages of `cargo xtask test`.

use crate::{needs, python as package, words};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A stage: its name, what it checks and how.
pub struct Stage {
    /// Name on the command line.
    pub name: &'static str,
    /// The check.
    pub what: &'static str,
    run: fn() -> Result<(), String>,
}

/// All stages, in their order.
pub const STAGES: [Stage; 14] = [
    Stage { name: "format", what: "rustfmt has nothing to change, documents wrap", run: format },
    Stage { name: "words", what: "comments wrap, and say what an item is in plain words", run: plain_words },
    Stage { name: "lints", what: "clippy on every target, warnings denied", run: lints },
    Stage { name: "program", what: "what the release build takes, and how large the program is", run: program },
    Stage { name: "web", what: "Biome on the report's script and style sheet: format and lints", run: web },
    Stage { name: "tests", what: "unit, integration, property and documentation tests", run: tests },
    Stage { name: "detail", what: "the psci and points crates with and without their features", run: features },
    Stage {
        name: "packages",
        what: "the libraries that others may take: each builds from its package alone",
        run: packages,
    },
    Stage { name: "bare-metal", what: "the no_std crates for aarch64 without an operating system", run: bare_metal },
    Stage { name: "firmware", what: "the EL3 image on QEMU: checks, counts, random calls, Linux", run: firmware },
    Stage { name: "guest", what: "traces of Linux in the emulator: governors choose as its kernel does", run: guest },
    Stage { name: "aarch64", what: "the data plane's unit tests on aarch64, under emulation", run: aarch64 },
    Stage {
        name: "python",
        what: "the Python package: a wheel in a fresh environment, its tests, and the documentation site",
        run: python,
    },
    Stage { name: "recordings", what: "debug and release, one thread and many: the same recording", run: recordings },
];

/// The stages that need Rust alone.
const WITHOUT_NEEDS: [&str; 4] = ["format", "words", "lints", "program"];

/// Runs the named stages, or all.
pub fn run(names: &[String]) -> Result<(), String> {
    if let Some(unknown) = names.iter().find(|name| STAGES.iter().all(|stage| stage.name != **name)) {
        let known: Vec<_> = STAGES.iter().map(|stage| stage.name).collect();
        return Err(format!("`{unknown}` is no stage; there are: {}", known.join(", ")));
    }
    let mut times = Vec::new();
    let mut is_installed = false;
    for stage in STAGES.iter().filter(|stage| names.is_empty() || names.iter().any(|name| name == stage.name)) {
        // What is wrong with the text alone is said before anything is installed.
        if !is_installed && !WITHOUT_NEEDS.contains(&stage.name) {
            let begin = Instant::now();
            needs::install(&needs::TEST)?;
            times.push(("needs", begin.elapsed()));
            is_installed = true;
        }
        println!("== {}: {}", stage.name, stage.what);
        let begin = Instant::now();
        (stage.run)().map_err(|error| format!("stage {} failed: {error}", stage.name))?;
        times.push((stage.name, begin.elapsed()));
    }
    println!("== all stages passed");
    for (name, time) in &times {
        println!("{name:12} {:7.1} s", time.as_secs_f64());
    }
    println!("{:12} {:7.1} s", "sum", times.iter().map(|(_, time)| time.as_secs_f64()).sum::<f64>());
    println!("what was built takes {:.1} GB of the disk", bytes_below(&built(""))? as f64 / 1e9);
    // The stages stop at the first failure, so here none failed.
    println!("{} passed, 0 failed", times.len());
    Ok(())
}

/// The bytes of all files below a folder.
fn bytes_below(folder: &Path) -> Result<u64, String> {
    let wrong = |error| format!("{}: {error}", folder.display());
    let mut sum = 0;
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let about = entry.metadata().map_err(wrong)?;
        sum += match about.is_dir() {
            true => bytes_below(&entry.path())?,
            false => about.len(),
        };
    }
    Ok(sum)
}

/// The checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Cargo, in the checkout.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command to its end.
///
/// # Errors
/// It cannot be started, or fails.
pub fn check(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("cannot start {command:?}: {error}")),
    }
}

fn format() -> Result<(), String> {
    check(&mut cargo(&["fmt", "--all", "--check"]))?;
    check(&mut firmware_cargo(&["fmt", "--all", "--check"]))?;
    documents()
}

fn plain_words() -> Result<(), String> {
    words::check(&root())
}

/// Columns at which documents wrap.
const COLUMNS: usize = 100;

/// Documents wrap; tables, code and lines of a link alone may be longer.
fn documents() -> Result<(), String> {
    let mut wrong = Vec::new();
    for folder in ["", "docs", "docs/adr", "python"] {
        let folder = root().join(folder);
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        for path in paths.filter(|path| path.extension().is_some_and(|ending| ending == "md")) {
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            wrong.extend(too_long(&text).map(|line| format!("{}:{line}", path.display())));
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("lines of more than {COLUMNS} columns: {}", wrong.join(", "))),
    }
}

/// Numbers of the lines of a document that are too long.
fn too_long(text: &str) -> impl Iterator<Item = usize> {
    let mut in_code = false;
    let wrong = text.lines().zip(1..).filter(move |(line, _)| {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let may_be_long = in_code || line.starts_with('|') || line.starts_with("![");
        !may_be_long && line.chars().count() > COLUMNS
    });
    wrong.map(|(_, number)| number)
}

fn lints() -> Result<(), String> {
    check(&mut cargo(&[
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--features",
        "idle-experiments/emulator",
        "--",
        "-D",
        "warnings",
    ]))?;
    // The fuzzer's binaries are looked at, not linked: libFuzzer itself need not be there.
    let fuzz = ["clippy", "--quiet", "-p", "fuzz", "--features", "libfuzzer", "--bins", "--", "-D", "warnings"];
    check(cargo(&fuzz).env("CUSTOM_LIBFUZZER_PATH", "./not-linked"))
}

/// Biome, at the version that `xtask/web/package-lock.json` pins, installed below `target`.
fn web() -> Result<(), String> {
    let (from, to) = (root().join("xtask/web"), root().join("target/web"));
    let at = |path: &Path| path.display().to_string();
    std::fs::create_dir_all(&to).map_err(|error| format!("cannot make {}: {error}", at(&to)))?;
    for name in ["package.json", "package-lock.json", ".npmrc"] {
        let copied = std::fs::copy(from.join(name), to.join(name));
        copied.map_err(|error| format!("cannot copy {}: {error}", at(&from.join(name))))?;
    }
    // Not `npm ci`: a registry may lack the builds for other systems, which the lock then does not
    // name either.
    let install = ["install", "--no-audit", "--no-fund", "--loglevel", "error"];
    check(Command::new("npm").args(install).current_dir(&to))?;
    let mut biome = Command::new(to.join("node_modules/.bin/biome"));
    let check_assets = ["ci", "--config-path", "xtask/web", "crates/results/report/assets"];
    check(biome.args(check_assets).args(["--error-on-warnings"]).current_dir(root()))
}

/// The most bytes that the program may have: 27.5 MB. It had 20.9 before it carried the emulator's
/// plugin (0.37), and read dumps of idle states in archives of three kinds, 22.8 before it had five
/// boards more, `eas-energy`, `import wattson` and stock litmus tests, and 23.5 before it read zstd
/// in Parquet, counted what explorations reach, and reported sweeps, and 25.6 before it tuned loops
/// of others and read more of litmus' syntax, and 26.8 before it ran graphs of others, let sweeps
/// grow and watched its memory; it has 27.2 with them.
const LARGEST_PROGRAM: u64 = 27_500_000;

/// A program below the folder that cargo builds into.
fn built(program: &str) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from).join(program)
}

/// Builds the program and prints what that took and how large it is.
fn program() -> Result<(), String> {
    let program = built("release/stopwatt");
    let from = if program.exists() { "of what changed" } else { "from nothing" };
    let before = children_seconds();
    check(&mut cargo(&["build", "--quiet", "--release"]))?;
    let size = std::fs::metadata(&program).map_err(|error| format!("{}: {error}", program.display()))?.len();
    if let (Some(before), Some(after)) = (before, children_seconds()) {
        println!("release build {from}: {:.0} s of CPU time (200 is the aim for a build from nothing)", after - before);
    }
    println!("program: {:.1} MB", size as f64 / 1e6);
    println!("source: {} lines of Rust, without comments, blank lines and tests", lines_of_code()?);
    match size <= LARGEST_PROGRAM {
        true => Ok(()),
        false => Err(format!("the program may have {:.1} MB", LARGEST_PROGRAM as f64 / 1e6)),
    }
}

/// Lines of Rust in the repository that are neither blank nor a comment nor a test's.
fn lines_of_code() -> Result<usize, String> {
    let listed = Command::new("git").args(["ls-files", "*.rs"]).current_dir(root()).output();
    let listed = listed.map_err(|error| format!("cannot start `git`: {error}"))?;
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let is_product = |name: &&str| !["/tests/", "/benches/", "/examples/"].iter().any(|folder| name.contains(folder));
    let mut sum = 0;
    for name in names.lines().filter(is_product) {
        let text = std::fs::read_to_string(root().join(name)).map_err(|error| format!("{name}: {error}"))?;
        let product = text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default();
        sum += product.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count();
    }
    Ok(sum)
}

/// The CPU time of all processes that this one has started and waited for, in seconds; `None` where
/// the system does not say.
fn children_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold anything but ends with the last parenthesis: fields 16 and
    // 17, in ticks of 10 ms.
    let fields: Vec<f64> =
        stat.rsplit_once(')')?.1.split_whitespace().skip(13).take(2).filter_map(|field| field.parse().ok()).collect();
    (fields.len() == 2).then(|| fields.iter().sum::<f64>() / 100.0)
}

/// The workspace without what has a stage of its own.
const WITHOUT_EMULATOR: [&str; 5] = ["--workspace", "--exclude", "qemu", "--exclude", "stopwatt-python"];

fn tests() -> Result<(), String> {
    // What needs the emulator is a stage of its own.
    let mut tests = cargo(&[&["test"][..], &WITHOUT_EMULATOR].concat());
    let documents = published_documents();
    tests.envs(documents.as_ref().map(|folder| ("STOPWATT_SOURCES", folder)));
    check(&mut tests)?;
    // Tests tell it themselves, but where they pass nobody sees what they print.
    if documents.is_none() {
        println!(
            "SKIPPED, since it needs the published documents (STOPWATT_SOURCES=FOLDER, or shared/sources beside the checkout): \
             the_published_documents_themselves_are_the_published_cells"
        );
    }
    Ok(())
}

/// The folder of the published documents, which are not ours to give, where it can be found.
fn published_documents() -> Option<PathBuf> {
    let named = std::env::var_os("STOPWATT_SOURCES").map(PathBuf::from);
    let beside = || Some(root().canonicalize().ok()?.parent()?.join("shared/sources"));
    named.or_else(|| beside().filter(|folder| folder.is_dir()))
}

fn features() -> Result<(), String> {
    check(&mut cargo(&["test", "--quiet", "-p", "stopwatt-psci", "-p", "stopwatt-points"]))?;
    check(&mut cargo(&["test", "--quiet", "-p", "stopwatt-psci", "-p", "stopwatt-points", "--all-features"]))
}

/// Packages the libraries and builds each from its package. Nothing is uploaded: they find each
/// other in a registry on disk that Cargo makes for the purpose.
fn packages() -> Result<(), String> {
    let crates = [
        "stopwatt-random",
        "stopwatt-cells",
        "stopwatt-points",
        "stopwatt-smc",
        "stopwatt-psci",
        "stopwatt-engine",
        "stopwatt-explore",
    ];
    forget_unpacked(&crates)?;
    // Nor does Cargo look again at what it compiled of them, so nothing of an earlier run is taken.
    let target = root().join("target/packages");
    if target.exists() {
        std::fs::remove_dir_all(&target).map_err(|error| format!("cannot remove {}: {error}", target.display()))?;
    }
    let packages: Vec<&str> = crates.iter().flat_map(|package| ["--package", package]).collect();
    let package = ["package", "--quiet", "--locked", "--allow-dirty", "--target-dir", "target/packages"];
    check(&mut cargo(&[&package[..], &packages].concat()))
}

/// Removes what Cargo unpacked of these packages earlier. Cargo takes a package of one version to
/// stay the same for ever, so it would build the others against the text of an earlier run.
fn forget_unpacked(crates: &[&str]) -> Result<(), String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home =
        home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo"))).ok_or("there is no home directory")?;
    let Ok(registries) = std::fs::read_dir(home.join("registry/src")) else { return Ok(()) };
    for registry in registries.filter_map(Result::ok) {
        // A registry on disk has no host, so its directory's name starts with the dash before the
        // hash.
        if !registry.file_name().to_string_lossy().starts_with('-') {
            continue;
        }
        for unpacked in std::fs::read_dir(registry.path()).into_iter().flatten().filter_map(Result::ok) {
            let name = unpacked.file_name();
            let ours = crates.iter().any(|package| name.to_string_lossy().starts_with(&format!("{package}-")));
            if ours {
                let path = unpacked.path();
                std::fs::remove_dir_all(&path).map_err(|error| format!("cannot remove {}: {error}", path.display()))?;
            }
        }
    }
    Ok(())
}

fn bare_metal() -> Result<(), String> {
    let crates = [
        "stopwatt-cells",
        "stopwatt-points",
        "stopwatt-smc",
        "stopwatt-psci",
        "psci-cases",
        "idle",
        "rcu",
        "placement",
    ];
    let packages: Vec<&str> = crates.iter().flat_map(|package| ["--package", package]).collect();
    let build = ["build", "--quiet", "--release", "--target", "aarch64-unknown-none"];
    check(&mut cargo(&[&build[..], &packages[..]].concat()))
}

/// Cargo in the firmware's workspace, whose configuration names its target.
fn firmware_cargo(arguments: &[&str]) -> Command {
    let mut command = cargo(arguments);
    command.current_dir(root().join("firmware"));
    command
}

/// The firmware's workspace, what of it the host can test, and then everything on the emulator.
fn firmware() -> Result<(), String> {
    // All of them together, as a plain `cargo build` in the workspace does, and the image as it is
    // measured without what a product needs.
    let lint = ["clippy", "--quiet", "--locked", "--release"];
    for what in [&["--workspace"][..], &["--package", "el3", "--no-default-features", "--features", "plain"]] {
        check(&mut firmware_cargo(&[&lint[..], what, &["--", "-D", "warnings"]].concat()))?;
    }
    let both = ["build", "--quiet", "--locked", "--release", "--package", "el3", "--package", "payload"];
    check(&mut firmware_cargo(&both))?;
    let host = host_target()?;
    let of_the_host = ["boot", "device-tree", "exceptions", "machine"];
    let packages: Vec<&str> = of_the_host.iter().flat_map(|package| ["--package", package]).collect();
    let test = [&["test", "--quiet", "--locked"][..], &packages, &["--target", &host]].concat();
    check(&mut firmware_cargo(&test))?;
    check(&mut cargo(&["test", "--package", "qemu"]))
}

/// Builds the documentation site; `more` goes to its builder.
pub fn site(more: &[String]) -> Result<(), String> {
    needs::install(&needs::TEST)?;
    package::site(&root(), more)
}

/// The Python package.
fn python() -> Result<(), String> {
    package::run(&root())
}

/// The answers of experiments beside a real kernel.
fn guest() -> Result<(), String> {
    check(&mut cargo(&["test", "--package", "idle-experiments", "--features", "emulator", "--test", "guest"]))
}

/// The target that this machine's programs are built for.
fn host_target() -> Result<String, String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("cannot start rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".to_owned())
}

fn aarch64() -> Result<(), String> {
    let mut command = cargo(&["test", "--quiet", "--target", "aarch64-unknown-linux-gnu"]);
    command.args(["-p", "dataplane", "-p", "core-model", "--lib", "--test", "packets"]);
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc");
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -L /usr/aarch64-linux-gnu");
    check(&mut command)
}

/// Makes the pictures of the documents: a run with its report, then the page's first timeline in
/// headless Chromium.
pub fn screenshots() -> Result<(), String> {
    needs::install(&needs::TEST)?;
    // Named from the root, where cargo runs: the page shows its command.
    let folder = Path::new("target/xtask-screenshots");
    let (page, pictures) = (folder.join("latency.html"), folder.join("pictures"));
    std::fs::create_dir_all(root().join(folder)).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut run = cargo(&["run", "--quiet", "--release", "--", "run", "psci-latency"]);
    check(run.arg("-o").arg(folder.join("recording")).arg("--report").arg(&page).stdout(std::process::Stdio::null()))?;
    let mut take = cargo(&["run", "--quiet", "--release", "-p", "stopwatt", "--example", "screenshots", "--"]);
    check(take.arg(&page).arg(&pictures))?;
    let docs = root().join("docs/pictures");
    std::fs::create_dir_all(&docs).map_err(|error| format!("{}: {error}", docs.display()))?;
    for (from, to) in [("light-1280-timeline.png", "timeline.png"), ("dark-1280-timeline.png", "timeline-dark.png")] {
        let to = docs.join(to);
        std::fs::copy(root().join(&pictures).join(from), &to).map_err(|error| format!("{}: {error}", to.display()))?;
        println!("{}", to.display());
    }
    Ok(())
}

/// Makes the same recording with the debug and the release build, and with one thread, and compares
/// the bytes.
fn recordings() -> Result<(), String> {
    let folder = root().join("target/xtask-recordings");
    let record = |name: &str, program: &str, threads: &str| -> Result<PathBuf, String> {
        let output = folder.join(name);
        let mut command = Command::new(built(program));
        let run =
            ["run", "psci-latency", "--iterations", "3", "--free-seeds", "5", "--replace", "--format", "json", "-o"];
        command.args(run).arg(&output).current_dir(root());
        command.env("RAYON_NUM_THREADS", threads).stdout(std::process::Stdio::null());
        check(&mut command)?;
        Ok(output)
    };
    // With the features of the whole workspace, as the stage `tests` has built it.
    check(&mut cargo(&[&["build", "--quiet", "--bin", "stopwatt"][..], &WITHOUT_EMULATOR].concat()))?;
    check(&mut cargo(&["build", "--quiet", "--release"]))?;
    let release = record("release", "release/stopwatt", "2")?;
    for other in [record("debug", "debug/stopwatt", "2")?, record("one-thread", "release/stopwatt", "1")?] {
        for file in ["events.parquet", "measures.parquet", "causes.parquet", "recording.toml"] {
            let read = |folder: &Path| {
                std::fs::read(folder.join(file)).map_err(|error| format!("{}: {error}", folder.join(file).display()))
            };
            let (mut a, mut b) = (read(&release)?, read(&other)?);
            if file == "recording.toml" {
                // What differs from run to run stands in [run], the last table.
                let cut = |text: &mut Vec<u8>| {
                    let at = String::from_utf8_lossy(text).find("\n[run]").unwrap_or(text.len());
                    text.truncate(at);
                };
                cut(&mut a);
                cut(&mut b);
            }
            if a != b {
                return Err(format!("{file} differs between {} and {}", release.display(), other.display()));
            }
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

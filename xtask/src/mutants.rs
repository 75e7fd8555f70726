//! Mutants: does a test fail for each small fault that is put into the code?

use crate::tools::{check, said};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tests to run on mutants: of which package, and which of its targets.
struct Tester {
    package: &'static str,
    targets: &'static [&'static str],
}

/// A package's tests, all but those in the documentation: to build those takes longer than to build
/// everything else.
const fn all_of(package: &'static str) -> Tester {
    Tester { package, targets: &["--tests"] }
}

/// The crates in which a fault would change figures without a word, each with the tests that see
/// it: the quick ones first, and each of the others on what the ones before it let through. The
/// library's interleavings are tried in `explore`.
const PACKAGES: [(&str, &[Tester]); 4] = [
    ("attribution", &[all_of("attribution")]),
    ("stopwatt-engine", &[all_of("stopwatt-engine"), all_of("soc")]),
    (
        "comparison",
        &[
            Tester { package: "comparison", targets: &["--lib"] },
            Tester { package: "comparison", targets: &["--test", "costs"] },
            Tester { package: "comparison", targets: &["--test", "samples"] },
        ],
    ),
    ("stopwatt-psci", &[all_of("stopwatt-psci"), all_of("soc"), all_of("explore")]),
];

/// The outcome of a package's mutants.
#[derive(Default)]
struct Outcome {
    /// The number of all, with those that `.cargo/mutants.toml` leaves out.
    all: usize,
    /// The number that are left out as equivalent.
    equivalent: usize,
    /// The number that do not compile.
    unviable: usize,
    /// The number that a test caught.
    caught: usize,
    /// Those with which a test ran out of time.
    hung: Vec<String>,
    /// Those that no test saw.
    missed: Vec<String>,
}

/// Tests the mutants of [`PACKAGES`] with cargo-mutants, and prints how many tests caught; with
/// `--explore`, looks for some of the PSCI and the RCU library with the explorer as well. `more`
/// are options of cargo-mutants that choose among them: all take hours, so this is no stage of
/// `test`, and a file that was changed (`--file`) takes minutes.
pub fn run(more: &[String]) -> Result<(), String> {
    let explored = more.iter().position(|option| option == "--explore");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let version = Command::new(&cargo).args(["mutants", "--version"]).output();
    let Some(version) = version.ok().filter(|output| output.status.success()) else {
        return Err(
            "cargo-mutants is not installed: run `cargo install --locked cargo-mutants`, then this again".to_owned()
        );
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    if let Some(at) = explored {
        return explore(&root, &[&more[..at], &more[at + 1..]].concat());
    }
    let mut outcomes = Vec::new();
    for (package, testers) in PACKAGES {
        let run = Run { cargo: &cargo, root: &root, package, output: Path::new("target/mutants-of").join(package) };
        let all = run.listed(&[&["--no-config".to_owned()], more].concat())?.len();
        if all == 0 {
            continue;
        }
        let mutants = run.listed(more)?;
        let equivalent = all - mutants.len();
        println!("== {} mutants of {package}, and {equivalent} that are listed as equivalent", mutants.len());
        let mut outcome = Outcome { all, equivalent, ..Outcome::default() };
        if !mutants.is_empty() {
            run.test(testers, mutants, &mut outcome)?;
        }
        outcomes.push((package, outcome));
    }
    if outcomes.is_empty() {
        return Err("these options leave no mutant of the packages that are looked at".to_owned());
    }
    for (_, outcome) in &outcomes {
        outcome.hung.iter().for_each(|mutant| println!("a test ran out of time with {mutant}"));
        outcome.missed.iter().for_each(|mutant| println!("no test saw {mutant}"));
    }
    println!("{}", String::from_utf8_lossy(&version.stdout).trim());
    println!("package          mutants equivalent unviable caught hung missed");
    for (package, Outcome { all, equivalent, unviable, caught, hung, missed }) in &outcomes {
        let (hung, missed) = (hung.len(), missed.len());
        println!("{package:<16} {all:>7} {equivalent:>10} {unviable:>8} {caught:>6} {hung:>4} {missed:>6}");
    }
    match outcomes.iter().map(|(_, outcome)| outcome.missed.len()).sum() {
        0 => Ok(()),
        missed => Err(format!("{missed} mutants were seen by no test")),
    }
}

/// Looks for a seeded sample of mutants with the explorer and with the tests; the options are those
/// of the script.
fn explore(root: &Path, options: &[String]) -> Result<(), String> {
    check(Command::new("python3").current_dir(root).arg("bench/explore_mutants.py").args(options))
}

/// Runs of cargo-mutants for a package.
struct Run<'a> {
    cargo: &'a OsString,
    root: &'a Path,
    package: &'a str,
    /// Folder of the lists, below `root`.
    output: PathBuf,
}

impl Run<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new(self.cargo);
        command.current_dir(self.root).args(["mutants", "--package", self.package]);
        command
    }

    /// The names of the mutants that options choose.
    fn listed(&self, options: &[String]) -> Result<Vec<String>, String> {
        Ok(said(self.command().arg("--list").args(options))?.lines().map(str::to_owned).collect())
    }

    /// Those of the mutants that were asked for that are in a list which cargo-mutants left. It
    /// also tests those that leave out a field, whatever names it is given.
    fn list(&self, name: &str, asked: &[String]) -> Result<Vec<String>, String> {
        let path = self.root.join(&self.output).join("mutants.out").join(name);
        let text =
            std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Ok(asked.iter().filter(|mutant| text.lines().any(|line| line == *mutant)).cloned().collect())
    }

    /// Tests mutants, each with the testers until one sees it. Whoever runs a test sees that it
    /// hangs, so the next ones are not asked then.
    fn test(&self, testers: &[Tester], mutants: Vec<String>, outcome: &mut Outcome) -> Result<(), String> {
        let folder = self.root.join(&self.output);
        std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        outcome.missed = mutants;
        for tester in testers {
            println!("-- tests of {} {}", tester.package, tester.targets.join(" "));
            let mut command = self.command();
            command.args(["--test-package", tester.package, "--profile", "mutants", "--output"]).arg(&self.output);
            // A test that waits for what a mutant took away waits for ever, and so may a constant
            // that is computed.
            command.args(["--minimum-test-timeout", "10", "--build-timeout", "300"]);
            // By name: with --iterate, a shard would be one of what is left over, and so of other
            // mutants.
            command.args(outcome.missed.iter().flat_map(|mutant| ["--re".to_owned(), exactly(mutant)]));
            // To cargo's every run: what follows `--` would be heeded by that which tests, and not
            // by that which builds.
            command.args(tester.targets.iter().map(|target| format!("--cargo-arg={target}")));
            // A mutant changes one function, and the next one changes it back: what is kept between
            // builds is most of the build.
            command.env("CARGO_INCREMENTAL", "1");
            // The seeded faults are changes of text, and so are mutants: a fault whose text a
            // mutant took is left out.
            command.env("SEEDED_LENIENT", "1");
            let status = command.status().map_err(|error| format!("cannot start cargo mutants: {error}"))?;
            // 2: a mutant was missed; 3: one ran out of time.
            if !matches!(status.code(), Some(0 | 2 | 3)) {
                return Err(format!("cargo mutants of {} ended with {status}", self.package));
            }
            let list = |name| self.list(name, &outcome.missed);
            let (caught, unviable, hung) = (list("caught.txt")?, list("unviable.txt")?, list("timeout.txt")?);
            outcome.missed = list("missed.txt")?;
            outcome.caught += caught.len();
            outcome.unviable += unviable.len();
            outcome.hung.extend(hung);
            if outcome.missed.is_empty() {
                break;
            }
        }
        Ok(())
    }
}

/// A regular expression that matches a mutant's whole name and no other.
fn exactly(mutant: &str) -> String {
    let mut expression = String::from("^");
    for letter in mutant.chars() {
        if r"\.+*?()|[]{}^$".contains(letter) {
            expression.push('\\');
        }
        expression.push(letter);
    }
    expression + "$"
}

//! Mutants: does a test fail for each small fault that is put into the code?

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Tests to run on mutants: of which package, and which of its targets.
struct Tester {
    package: &'static str,
    targets: &'static [&'static str],
}

/// A package's tests, all but those in the documentation: to build those takes longer than to build everything else.
const fn all_of(package: &'static str) -> Tester {
    Tester { package, targets: &["--tests"] }
}

/// The crates in which a fault would change figures without a word, each with the tests that see it: the quick ones first, and each of the
/// others on what the ones before it let through. The library's interleavings are tried in `explore`.
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

/// The fake machine of `psci` is a test's own: a fault there is one of a test.
const LEFT_OUT: [&str; 2] = ["--exclude", "**/psci/src/fake/**"];

/// How many mutants of a package came to what.
#[derive(Default)]
struct Counts {
    /// With those that `.cargo/mutants.toml` leaves out.
    all: usize,
    /// Left out as equivalent.
    equivalent: usize,
    /// They do not compile.
    unviable: usize,
    caught: usize,
    /// A test ran out of time.
    hung: usize,
    missed: usize,
}

/// Tests the mutants of [`PACKAGES`] with cargo-mutants, and prints how many tests caught; `more` goes to cargo-mutants as it is. It takes
/// hours, so it is no stage of `test`.
pub fn run(more: &[String]) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let version = Command::new(&cargo).args(["mutants", "--version"]).output();
    let Some(version) = version.ok().filter(|output| output.status.success()) else {
        return Err(
            "cargo-mutants is not installed: run `cargo install --locked cargo-mutants`, then this again".to_owned()
        );
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut lines, mut missed) = (Vec::new(), Vec::new());
    for (package, testers) in PACKAGES {
        println!("== mutants of {package}");
        let output = Path::new("target/mutants-of").join(package);
        let counts = mutants_of(&cargo, &root, package, testers, &output, more)?;
        if counts.missed + counts.hung > 0 {
            missed.push(output.join("mutants.out").display().to_string());
        }
        let Counts { all, equivalent, unviable, caught, hung, missed } = counts;
        lines.push(format!("{package:<16} {all:>7} {equivalent:>10} {unviable:>8} {caught:>6} {hung:>4} {missed:>6}"));
    }
    println!("{}", String::from_utf8_lossy(&version.stdout).trim());
    println!("package          mutants equivalent unviable caught hung missed\n{}", lines.join("\n"));
    match missed.as_slice() {
        [] => Ok(()),
        _ => Err(format!("mutants were missed, or ran out of time; the lists: {}", missed.join(", "))),
    }
}

/// Tests the mutants of a package; lists are left in `output`, below `root`.
fn mutants_of(
    cargo: &OsString,
    root: &Path,
    package: &str,
    testers: &[Tester],
    output: &Path,
    more: &[String],
) -> Result<Counts, String> {
    let folder = root.join(output);
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let listed = |config: &[&str]| {
        let mut command = Command::new(cargo);
        command
            .current_dir(root)
            .args(["mutants", "--list", "--package", package])
            .args(LEFT_OUT)
            .args(config)
            .args(more);
        match command.output() {
            Ok(output) if output.status.success() => Ok(output.stdout.split(|&byte| byte == b'\n').count() - 1),
            Ok(output) => Err(format!("cannot list mutants of {package}: {}", String::from_utf8_lossy(&output.stderr))),
            Err(error) => Err(format!("cannot start cargo mutants: {error}")),
        }
    };
    let all = listed(&["--no-config"])?;
    let mut counts = Counts { all, equivalent: all - listed(&[])?, ..Counts::default() };
    for (number, tester) in testers.iter().enumerate() {
        let mut command = Command::new(cargo);
        command.current_dir(root).args(["mutants", "--package", package, "--test-package", tester.package, "--output"]);
        command.arg(output).args((number > 0).then_some("--iterate")).args(["--profile", "mutants"]).args(LEFT_OUT);
        // A test that waits for what a mutant took away waits for ever, and so may a constant that is computed.
        command.args(["--minimum-test-timeout", "10", "--build-timeout", "300"]).args(more);
        // To cargo's every run: what follows `--` would be heeded by that which tests, and not by that which builds.
        command.args(tester.targets.iter().map(|target| format!("--cargo-arg={target}")));
        // A mutant changes one function, and the next one changes it back: what is kept between builds is most of the build.
        command.env("CARGO_INCREMENTAL", "1");
        // The seeded faults are changes of text, and so are mutants: a fault whose text a mutant took is left out.
        command.env("SEEDED_LENIENT", "1");
        let status = command.status().map_err(|error| format!("cannot start cargo mutants: {error}"))?;
        // 2: a mutant was missed; 3: one ran out of time.
        if !matches!(status.code(), Some(0 | 2 | 3)) {
            return Err(format!("cargo mutants of {package} ended with {status}"));
        }
        let count = |list: &str| {
            let path = folder.join("mutants.out").join(list);
            let text =
                std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()));
            text.map(|text| text.lines().count())
        };
        counts.caught += count("caught.txt")?;
        counts.unviable += count("unviable.txt")?;
        (counts.missed, counts.hung) = (count("missed.txt")?, count("timeout.txt")?);
        if status.success() {
            break;
        }
    }
    Ok(counts)
}

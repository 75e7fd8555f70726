//! `cargo xtask`: one command for every check.
//!
//! `cargo xtask test` installs what the tests need where it may, says exactly what is missing where
//! it may not, and runs every stage, with its time. A stage that fails does not hide those behind
//! it; the last lines name all that failed.
#![forbid(unsafe_code)]

mod dependencies;
mod dist;
mod judge;
mod limits;
mod needs;
mod python;
mod quick;
mod runner;
mod stages;
mod stored;
mod tools;
mod weight;

use std::process::ExitCode;

const HELP: &str = "cargo xtask <command>

  test           every check: format, lints, tests, bare-metal build, aarch64 under emulation, recordings of both builds
  test STAGE...  only the stages whose names are given
  stages         names of the stages
  needs          installs what the tests need: programs, Rust targets, Python packages
  quick          format, clippy and tests of the packages that differ from main, clippy of those that use them; installs nothing
  judge          what takes hours or fetches large sources, with a table of verdicts; before a release. Names after it choose of
                 tests, costs, core, explore, site, firmware, governors, placement, boards, litmus
  explore        what the explorer finds, what it does not find where nothing is, and how fast it is: half an hour;
                 names after it choose of faults, psci, rcu, litmus, shrunk, every, speed
  dist           programs for x86_64 and aarch64 Linux, wheels, completions, manual pages, checksums, bill of materials and licences,
                 into target/dist; --only PROCESSOR, --no-wheels, --twice (the same bytes?), --try (in a fresh Debian, emulated)
  site           builds the documentation as a site that needs no network, into target/site; its commands are run, its links checked;
                 with --slow those as well that take minutes, with --verbose each with its time
  stored NAME    makes a story's stored recording anew, by the command that it names or by the words behind NAME
  screenshots    makes docs/pictures anew: the report's page, in headless Chromium

Example: cargo xtask test lints tests";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments
        .iter()
        .any(|argument| ["help", "--help", "-h"].contains(&&**argument))
    {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let result = match arguments.first().map(String::as_str) {
        Some("test") => stages::run(&arguments[1..]),
        Some("dist") => dist::run(&arguments[1..]),
        Some("quick") => quick::run(),
        Some("needs") => stages::install(),
        Some("judged-tests") => stages::judged_tests(),
        Some(list @ ("judge" | "explore")) => judge::run(list, &arguments[1..]),
        Some("screenshots") => stages::screenshots(),
        Some("site") => stages::site(&arguments[1..]),
        Some("stored") => stored::stored(&arguments[1..]),
        Some("stages") => {
            stages::STAGES
                .iter()
                .for_each(|stage| println!("{:12} {}", stage.name, stage.what));
            Ok(())
        }
        Some(other) => Err(format!("`{other}` is no command\n\n{HELP}")),
        None => Err(HELP.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

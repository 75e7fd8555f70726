//! Runs programs in the guest, and traces which callbacks are queued meanwhile.

use crate::linux::{Linux, boot};
use crate::{Error, Images, Machine};

/// The program that the guest is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The name: a word.
    pub name: String,
    /// A line for the guest's shell. `closes N` opens and closes a file so often in one process;
    /// `lives N` starts N processes, one after the other.
    pub command: String,
    /// The time that it takes, in seconds of the guest.
    pub seconds: u32,
}

/// The run of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramRun {
    /// Exit status of the run: 0 when all is well.
    pub status: u32,
    /// The last lines that it printed.
    pub output: Vec<String>,
    /// Context switches of all CPUs while it ran.
    pub switches: u64,
    /// Processes and threads that began while it ran.
    pub forks: u64,
    /// The ftrace text: `rcu_callback`, `rcu_kvfree_callback` and `rcu_grace_period` are probes,
    /// and marks say when the program began and ended.
    pub lines: Vec<String>,
}

/// The report of the guest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The kernel's release.
    pub release: String,
    /// Functions of the kernel that are probed.
    pub probes: Vec<String>,
    /// Functions that this kernel does not have, or that cannot be probed.
    pub missing: Vec<String>,
    /// The failures, in words: a module that did not load.
    pub failures: Vec<String>,
    /// The programs, in the order in which they were asked for.
    pub ran: Vec<ProgramRun>,
}

/// Boots, runs each program, powers off.
///
/// # Errors
/// The guest hangs or ends too early. A program that fails is no error: see [`ProgramRun::status`].
pub fn run(
    images: &Images,
    linux: &Linux,
    machine: &Machine,
    programs: &[Program],
    mut progress: impl FnMut(&str),
) -> Result<Report, Error> {
    let work = 60
        * programs
            .iter()
            .map(|program| u64::from(program.seconds) + 1)
            .sum::<u64>();
    let mut guest = boot(images, linux, machine, "", "", work)?;
    let mut report = Report::default();
    let mut left = programs.iter();
    let mut is_trace = false;
    while let Some(line) = guest.line()? {
        let Some(at) = line.find('@').filter(|&at| at == 0 || !is_trace) else {
            if is_trace {
                report
                    .ran
                    .last_mut()
                    .into_iter()
                    .for_each(|ran| ran.lines.push(line.clone()));
            } else {
                guest.check_line(line)?;
            }
            continue;
        };
        let (word, rest) = line[at..].split_once(' ').unwrap_or((&line[at..], ""));
        match word {
            "@linux" => {
                rest.split(' ')
                    .next()
                    .unwrap_or_default()
                    .clone_into(&mut report.release);
                guest.type_line("programs")?;
            }
            "@probe" => report.probes.push(rest.to_owned()),
            "@probe-missing" => report.missing.push(rest.to_owned()),
            "@failure" => report.failures.push(rest.to_owned()),
            "@ready" => match left.next() {
                Some(program) => {
                    progress(&program.name);
                    guest.type_line(&program.command)?;
                }
                None => guest.type_line("end")?,
            },
            "@ran" => {
                let mut numbers = rest
                    .split(' ')
                    .map(|number| number.parse::<u64>().unwrap_or(0));
                let mut number = || numbers.next().unwrap_or(0);
                let (status, switches, forks) = (number() as u32, number(), number());
                report.ran.push(ProgramRun {
                    status,
                    switches,
                    forks,
                    ..ProgramRun::default()
                });
            }
            "@output" => report
                .ran
                .last_mut()
                .into_iter()
                .for_each(|ran| ran.output.push(rest.to_owned())),
            "@trace-begin" => is_trace = true,
            "@trace-end" => is_trace = false,
            "@failed:" => return Err(guest.failed(rest)),
            _ => {}
        }
    }
    match report.ran.len() == programs.len() {
        true => Ok(report),
        false => Err(guest.failed(format!(
            "{} of {} programs ran",
            report.ran.len(),
            programs.len()
        ))),
    }
}

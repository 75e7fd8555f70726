//! The guest: Debian's kernel on our EL3 image, which closes files or runs programs.

use experiment::Error;
use import::ftrace;
use qemu::kernel::Kernel;
use qemu::linux::Handling;
use qemu::programs::{Program, Report};
use qemu::{Build, Images, Machine, linux};
use recording::{Header, Recording};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The plan of the runs: how many CPUs, which rates, how often and how long.
#[derive(Clone, Debug)]
pub struct Plan {
    pub cpus: usize,
    pub rates: Vec<u32>,
    pub runs: u32,
    pub seconds: u32,
}

/// A dose as the guest took it.
pub struct DoseRun {
    pub rate: u32,
    pub run: u32,
    pub recording: Recording,
}

/// Programs as the guest ran them.
pub struct Programs {
    pub report: Report,
    /// The kernel, busybox and the programs: packages and versions.
    pub packages: Vec<String>,
}

/// Runs programs, one after the other.
///
/// # Errors
/// The source tree, the emulator or the packages are missing; the guest fails.
pub fn programs(
    tree: Option<&Path>,
    cache: Option<PathBuf>,
    cpus: usize,
    programs: &[Program],
    say: impl FnMut(&str),
) -> Result<Programs, Error> {
    let images = Images::find(tree, Build::Instrumented).map_err(Error::failed)?;
    let system = linux::fetch_with_programs(&folder(tree, cache)).map_err(Error::failed)?;
    let report = qemu::programs::run(&images, &system, &machine(cpus), programs, say)
        .map_err(Error::failed)?;
    let mut packages = vec![system.kernel_version, system.busybox_version];
    packages.extend(system.program_versions);
    Ok(Programs { report, packages })
}

/// The folder of packages.
fn folder(tree: Option<&Path>, cache: Option<PathBuf>) -> PathBuf {
    cache.unwrap_or_else(|| Images::linux_cache(tree))
}

/// Time counts instructions: how busy this machine is does not show.
fn machine(cpus: usize) -> Machine {
    Machine {
        virtualization: true,
        icount: Some(0),
        ..Machine::new(cpus)
    }
}

/// Runs all doses with callbacks handled in one way: the kernel's version, and what was traced.
///
/// # Errors
/// The source tree, the emulator or the packages are missing; the guest fails; a trace cannot be
/// read.
pub fn doses(
    tree: Option<&Path>,
    cache: Option<PathBuf>,
    kernel: Option<&Kernel>,
    plan: &Plan,
    handling: Handling,
    say: impl FnMut(&str),
) -> Result<(String, Vec<DoseRun>), Error> {
    let images = Images::find(tree, Build::Instrumented).map_err(Error::failed)?;
    let cache = folder(tree, cache);
    let mut system = linux::fetch(&cache).map_err(Error::failed)?;
    if let Some(kernel) = kernel {
        (system.kernel, system.kernel_version) = kernel.fetch(&cache).map_err(Error::failed)?;
    }
    let doses = linux::Doses {
        rates: plan.rates.clone(),
        runs: plan.runs,
        seconds: plan.seconds,
        handling,
    };
    let traces =
        linux::doses(&images, &system, &machine(plan.cpus), &doses, say).map_err(Error::failed)?;
    let imported = |trace: linux::DoseTrace| {
        let recording = imported(&text(&trace.lines))?;
        Ok(DoseRun {
            rate: trace.rate,
            run: trace.run,
            recording,
        })
    };
    let runs = traces
        .into_iter()
        .map(imported)
        .collect::<Result<_, Error>>()?;
    Ok((system.kernel_version, runs))
}

/// Lines as a text.
pub fn text(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// The recording of a trace's text.
///
/// # Errors
/// It is no trace.
pub fn imported(text: &str) -> Result<Recording, Error> {
    let folder = tempfile::tempdir().map_err(Error::failed)?;
    let path = folder.path().join("trace");
    let options = ftrace::Options {
        file: "the guest's trace".to_owned(),
        lenient: false,
        ..ftrace::Options::default()
    };
    let header = Header::new("ftrace", "import", "ns");
    ftrace::record(Cursor::new(text), &options, "guest", header, &path).map_err(Error::failed)?;
    Recording::read(&path).map_err(Error::failed)
}

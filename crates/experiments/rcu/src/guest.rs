//! The doses in a guest: Debian's kernel on our EL3 image.

use experiment::Error;
use import::ftrace;
use qemu::{Build, Images, Machine, linux};
use recording::{Header, Recording};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// What runs: how many CPUs, which rates, how often and how long.
#[derive(Clone, Debug)]
pub struct Plan {
    pub cpus: usize,
    pub rates: Vec<u32>,
    pub runs: u32,
    pub seconds: u32,
}

/// A dose as the guest took it.
pub struct Taken {
    pub rate: u32,
    pub run: u32,
    pub recording: Recording,
}

/// Runs all doses, with all CPUs offloaded or none.
///
/// # Errors
/// The source tree, the emulator or the packages are missing; the guest fails; a trace cannot be read.
pub fn doses(
    root: &Path,
    cache: Option<&str>,
    plan: &Plan,
    offloaded: bool,
    say: impl FnMut(&str),
) -> Result<Vec<Taken>, Error> {
    let images = Images::build(root, Build::Instrumented).map_err(Error::failed)?;
    let cache = cache.map_or_else(|| root.join("target/linux"), PathBuf::from);
    let system = linux::fetch(root, &cache).map_err(Error::failed)?;
    // Time counts instructions: how busy this machine is does not show.
    let machine = Machine { virtualization: true, icount: Some(0), ..Machine::new(plan.cpus) };
    let doses = linux::Doses { rates: plan.rates.clone(), runs: plan.runs, seconds: plan.seconds, offloaded };
    let traces = linux::doses(&images, &system, &machine, &doses, say).map_err(Error::failed)?;
    traces
        .into_iter()
        .map(|trace| {
            let recording = imported(&(trace.lines.join("\n") + "\n"))?;
            Ok(Taken { rate: trace.rate, run: trace.run, recording })
        })
        .collect()
}

/// The recording of a trace's text.
fn imported(text: &str) -> Result<Recording, Error> {
    let folder = tempfile::tempdir().map_err(Error::failed)?;
    let path = folder.path().join("trace");
    let options = ftrace::Options { file: "the guest's trace".to_owned(), lenient: false };
    let header = Header::new("ftrace", "import", "ns");
    ftrace::record(Cursor::new(text), &options, "guest", header, &path).map_err(Error::failed)?;
    Recording::read(&path).map_err(Error::failed)
}

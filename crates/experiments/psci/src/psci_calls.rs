//! `psci-calls`: instructions of each kind of PSCI call, of real firmware.

use crate::firmware;
use crate::machine::{MACHINE_SETTINGS, images, machine, source_tree};
use experiment::{About, Error, Example, Experiment, Kind, Need, Request, Setting, Sink, World, WorldAbout};
use qemu::{Build, payload};

/// Counts the instructions of every PSCI call.
pub struct PsciCalls;

static SETTINGS: [Setting; 4] = {
    let [cpus, gic, virtualization] = MACHINE_SETTINGS;
    let count = Kind::Number { min: 1, max: 1_000_000 };
    [cpus, gic, virtualization, Setting::new("count", count, "Calls of each kind.").or("1000")]
};

static ABOUT: About = About {
    name: "psci-calls",
    summary: "Instructions of every PSCI call, of real firmware on QEMU",
    details: "The firmware is built when it is not up to date. Counts repeat to the instruction.",
    worlds: &[WorldAbout {
        world: World::Qemu,
        about: "the library as an EL3 image on an emulated machine",
        needs: &[Need::Qemu, Need::SourceTree],
    }],
    settings: &SETTINGS,
    cases: &[],
    examples: &[
        Example { arguments: "", about: "needs QEMU; builds the firmware" },
        Example { arguments: "--gic 2 --count 100 --format json", about: "" },
    ],
    sweep_defaults: &[],
    shipped_sweeps: &[],
};

impl Experiment for PsciCalls {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        source_tree(request)?;
        machine(request, Some(0)).map(|_| ())
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        // One instruction is a nanosecond of the machine's time: the finest that its counter shows over many calls.
        let machine = machine(request, Some(0))?;
        let progress = sink.progress();
        let mut reports = Vec::new();
        for (name, build) in [("plain", Build::Plain), ("instrumented", Build::Instrumented)] {
            progress.check()?;
            progress.say(&format!("building and running the {name} firmware"));
            let run = payload::Options::new(payload::Run::Calls, request.settings.number("count"));
            reports.push((name, payload::run(&images(request, build)?, &machine, &run).map_err(Error::failed)?));
        }
        let builds: Vec<_> = reports.iter().map(|(name, report)| (*name, report)).collect();
        let recording = firmware::calls(&machine, &builds);
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

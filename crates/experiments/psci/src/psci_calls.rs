//! `psci-calls`: instructions of each kind of PSCI call, of real firmware.

use crate::firmware;
use crate::machine::{MACHINE_SETTINGS, images, machine, source_tree};
use experiment::{About, Error, Example, Experiment, Kind, Need, Request, Setting, Sink, World, WorldAbout};
use qemu::{Build, Images, Own, Placement, payload};
use std::path::PathBuf;

/// Counts the instructions of every PSCI call.
pub struct PsciCalls;

static SETTINGS: [Setting; 11] = {
    let [cpus, gic, virtualization] = MACHINE_SETTINGS;
    let count = Kind::Number { min: 1, max: 1_000_000 };
    let address = Kind::Checked(is_number, "ADDRESS");
    let offset = Kind::Checked(is_number, "OFFSET");
    [
        cpus,
        gic,
        virtualization,
        Setting::new("cpu", Kind::Checked(is_core, "MODEL"), "Model of its CPUs, as QEMU names them.")
            .or(qemu::Machine::CPU),
        Setting::new("count", count, "Calls of each kind.").or("1000"),
        Setting::new(
            "firmware",
            Kind::InputFile,
            "An EL3 firmware of yours for this machine, as an image for its flash, instead of Stopwatt's. It holds the payload of `stopwatt \
             payload`, or the payload is put beside it; it enters the payload at 0x60000000.",
        ),
        Setting::new(
            "firmware-at",
            address,
            "Load the image at this address and enter it there, rather than in flash.",
        ),
        Setting::new("payload-in-memory", Kind::Switch, "Let the machine load the payload at 0x60000000."),
        Setting::new("payload-offset", offset, "Put the payload into the image at this offset."),
        Setting::new(
            "standby-state",
            Kind::Checked(is_state, "STATE"),
            "power_state of a standby of level 0 in your firmware [0x1].",
        ),
        Setting::new(
            "power-down-state",
            Kind::Checked(is_state, "STATE"),
            "power_state of a power-down of level 0 in your firmware [0x10002].",
        ),
    ]
};

/// A number in decimal or, after 0x, in hexadecimal.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn is_number(text: &str) -> Result<(), String> {
    number(text).map(|_| ()).ok_or_else(|| "a number, such as 0x60000000".to_owned())
}

fn is_state(text: &str) -> Result<(), String> {
    let state = number(text).filter(|state| u32::try_from(*state).is_ok());
    state.map(|_| ()).ok_or_else(|| "a number of 32 bits, such as 0x10002".to_owned())
}

fn is_core(text: &str) -> Result<(), String> {
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    if is_name {
        Ok(())
    } else {
        Err("a name that `qemu-system-aarch64 -cpu help` prints, such as cortex-a72".to_owned())
    }
}

/// What is only for firmware of the user's own.
const FOR_OWN: [&str; 5] = ["firmware-at", "payload-in-memory", "payload-offset", "standby-state", "power-down-state"];

/// The firmware of the user's own, if one is named.
fn own(request: &Request<'_>) -> Result<Option<Own>, Error> {
    let settings = &request.settings;
    let Some(image) = settings.text("firmware") else {
        return match FOR_OWN.iter().find(|name| settings.is_given(name)) {
            Some(name) => {
                Err(Error::usage(format!("--{name} is for firmware of your own"), "name it with --firmware IMAGE"))
            }
            None => Ok(None),
        };
    };
    let offset = settings.text("payload-offset").and_then(number);
    let placement = match (settings.switch("payload-in-memory"), offset) {
        (false, None) => Placement::Packed,
        (true, None) => Placement::InMemory,
        (false, Some(offset)) => Placement::InImage(offset),
        (true, Some(_)) => {
            let message = "--payload-in-memory and --payload-offset say two places";
            return Err(Error::usage(message, "leave one of them out"));
        }
    };
    let at = settings.text("firmware-at").and_then(number);
    Ok(Some(Own { image: PathBuf::from(image), at, placement }))
}

static ABOUT: About = About {
    name: "psci-calls",
    summary: "Instructions of every PSCI call, of real firmware on QEMU",
    details: "The firmware is built when it is not up to date. Counts repeat to the instruction. With --firmware the calls of an image of \
              yours are counted, by the program that `stopwatt payload` writes and that your image enters as its normal world; what \
              the image does not know is listed.",
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
        Example {
            arguments: "--firmware flash.bin --gic 2 --cpu cortex-a72",
            about: "your own, with the payload packed in it",
        },
        Example { arguments: "--firmware bl31.bin --firmware-at 0xe000000 --payload-in-memory", about: "" },
    ],
    sweep_defaults: &[],
    shipped_sweeps: &[],
};

impl Experiment for PsciCalls {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        let own = own(request)?;
        if own.is_none_or(|own| own.placement != Placement::Packed) {
            source_tree(request)?;
        }
        machine(request, Some(0)).map(|_| ())
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        // One instruction is a nanosecond of the machine's time: the finest that its counter shows over many calls.
        let mut machine = machine(request, Some(0))?;
        request.settings.text("cpu").unwrap_or_default().clone_into(&mut machine.cpu);
        let progress = sink.progress();
        if let Some(own) = own(request)? {
            return run_own(request, sink, &machine, &own);
        }
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

/// Runs the payload on firmware that is not ours.
fn run_own(request: &Request<'_>, sink: &mut dyn Sink, machine: &qemu::Machine, own: &Own) -> Result<(), Error> {
    let settings = &request.settings;
    let progress = sink.progress();
    let payload = match own.placement {
        Placement::Packed => None,
        _ => {
            progress.say("building the payload");
            Some(Images::build_payload(source_tree(request)?).map_err(Error::failed)?)
        }
    };
    let boot = own.boot(payload.as_deref()).map_err(Error::failed)?;
    progress.check()?;
    progress.say(&format!("running {}", own.image.display()));
    let state = |name: &str| settings.text(name).and_then(number).map(|state| state as u32);
    let mut run = payload::Options::new(payload::Run::Calls, settings.number("count"));
    (run.standby, run.power_down) = (state("standby-state"), state("power-down-state"));
    let report = payload::run_on(&boot, machine, &run).map_err(Error::failed)?;
    let recording = firmware::calls_of_own(machine, own, &report);
    sink.start(recording.header.clone())?;
    sink.append(&recording)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        assert_eq!(
            [number("0x10"), number("16"), number("x"), number("0x"), number("-1")],
            [Some(16), Some(16), None, None, None]
        );
        assert!(is_state("0x10002").is_ok() && is_state("0x100000000").is_err());
        assert!(is_core("cortex-a72").is_ok() && is_core("max,sve=off").is_err() && is_core("").is_err());
    }
}

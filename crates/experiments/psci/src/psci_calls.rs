//! `psci-calls`: instructions of each kind of PSCI call, of real firmware.

use crate::firmware;
use crate::machine::{CPU, CPUS, GIC, VIRTUALIZATION, images, images_can_be_had, machine};
use document::number;
use experiment::setting::{CheckedSetting, InputFile, Number, Or, Switch};
use experiment::{About, Error, Experiment, Observer, Request, Result, Setting, World};
use qemu::{Build, Images, Machine, OtherFirmware, Placement, Symbols, payload};
use recording::Recording;

/// Counts the instructions of every PSCI call.
pub struct PsciCalls;

const COUNT: Or<Number> = Number::new("count", 1..=1_000_000, "Calls of each kind.").or(1000);

const FIRMWARE: InputFile = InputFile::new(
    "firmware",
    "An EL3 firmware of yours for this machine, as an image for its flash, instead of Stopwatt's. It holds the payload of `stopwatt \
     payload`, or the payload is put beside it; it enters the payload at 0x60000000.",
);

const FIRMWARE_AT: CheckedSetting<u64> = CheckedSetting::new(
    "firmware-at",
    "ADDRESS",
    address,
    "Load the image at this address and enter it there, rather than in flash.",
);

const PAYLOAD_IN_MEMORY: Switch = Switch::new(
    "payload-in-memory",
    "Let the machine load the payload at 0x60000000.",
);

const PAYLOAD_OFFSET: CheckedSetting<u64> = CheckedSetting::new(
    "payload-offset",
    "OFFSET",
    address,
    "Put the payload into the image at this offset.",
);

const BY_FUNCTION: Switch = Switch::new(
    "by-function",
    "Count each call by function, too, and its loads, barriers, writes of system registers and so on.",
);

const SYMBOLS: InputFile = InputFile::new(
    "symbols",
    "ELF file that your image was made of, such as bl31.elf: its calls are counted by function. That of a release build will do.",
);

const STANDBY_STATE: CheckedSetting<u32> = CheckedSetting::new(
    "standby-state",
    "STATE",
    state,
    "power_state of a standby of level 0 in your firmware [0x1].",
);

const POWER_DOWN_STATE: CheckedSetting<u32> = CheckedSetting::new(
    "power-down-state",
    "STATE",
    state,
    "power_state of a power-down of level 0 in your firmware [0x10002].",
);

const BESIDE: Switch = Switch::new(
    "beside",
    "Show the published counts of other firmware beside your own, too.",
);

fn address(text: &str) -> Result<u64, String> {
    number(text).ok_or_else(|| "a number, such as 0x60000000".to_owned())
}

fn state(text: &str) -> Result<u32, String> {
    number(text)
        .and_then(|state| u32::try_from(state).ok())
        .ok_or_else(|| "a number of 32 bits, such as 0x10002".to_owned())
}

/// Settings that are only for firmware of the user's own.
const FOR_OWN: [&dyn Setting; 7] = [
    &BESIDE,
    &FIRMWARE_AT,
    &PAYLOAD_IN_MEMORY,
    &PAYLOAD_OFFSET,
    &SYMBOLS,
    &STANDBY_STATE,
    &POWER_DOWN_STATE,
];

/// The firmware of the user's own, if one is named.
fn own(request: &Request<'_>) -> Result<Option<OtherFirmware>> {
    let settings = &request.settings;
    let Some(image) = settings.get(FIRMWARE) else {
        settings.refuse(
            &FOR_OWN,
            "it is for firmware of your own; name that with --firmware IMAGE",
        )?;
        return Ok(None);
    };
    let placement = match (
        settings.get(PAYLOAD_IN_MEMORY),
        settings.get(PAYLOAD_OFFSET),
    ) {
        (false, None) => Placement::Packed,
        (true, None) => Placement::InMemory,
        (false, Some(offset)) => Placement::InImage(offset),
        (true, Some(_)) => {
            return Err(Error::usage(
                "--payload-in-memory and --payload-offset say two places",
                "leave one of them out",
            ));
        }
    };
    Ok(Some(OtherFirmware {
        image,
        at: settings.get(FIRMWARE_AT),
        placement,
    }))
}

static ABOUT: About = About {
    name: "psci-calls",
    summary: "Instructions of every PSCI call, of real firmware on QEMU",
    details: "The firmware is built when it is not up to date. Counts repeat to the instruction. With --firmware the calls of an image of \
              yours are counted, by the program that `stopwatt payload` writes and that your image enters as its normal world; what \
              the image does not know is listed.",
    worlds: &[(
        World::Qemu,
        "the library as an EL3 image on an emulated machine",
    )],
    settings: &[
        &CPUS,
        &GIC,
        &VIRTUALIZATION,
        &CPU,
        &COUNT,
        &FIRMWARE,
        &BESIDE,
        &FIRMWARE_AT,
        &PAYLOAD_IN_MEMORY,
        &PAYLOAD_OFFSET,
        &BY_FUNCTION,
        &SYMBOLS,
        &STANDBY_STATE,
        &POWER_DOWN_STATE,
    ],
    examples: &[
        ("", "needs QEMU; builds the firmware"),
        ("--gic 2 --count 100 --format json", ""),
        (
            "--firmware flash.bin --gic 2 --cpu cortex-a72",
            "your own, with the payload packed in it",
        ),
        (
            "--by-function --count 100",
            "and what each call spends its instructions on",
        ),
        (
            "--firmware bl31.bin --firmware-at 0xe000000 --payload-in-memory --symbols bl31.elf",
            "the same of your own",
        ),
    ],
    ..About::BARE
};

impl Experiment for PsciCalls {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result {
        let own = own(request)?;
        let settings = &request.settings;
        if own.is_some() && settings.get(BY_FUNCTION) && settings.get(SYMBOLS).is_none() {
            return Err(Error::usage(
                "--by-function needs the names of your firmware's functions",
                "name its ELF file: --symbols bl31.elf",
            ));
        }
        if own.is_none_or(|own| own.placement != Placement::Packed) {
            images_can_be_had(request)?;
        }
        machine(request, Some(0)).map(|_| ())
    }

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording> {
        // One instruction is a nanosecond of the machine's time: the finest that its counter shows
        // over many calls.
        let machine = Machine {
            cpu: request.settings.get(CPU),
            ..machine(request, Some(0))?
        };
        let progress = &observer.progress;
        if let Some(own) = own(request)? {
            return run_own(request, observer, &machine, &own);
        }
        let mut builds = Vec::new();
        for (name, build) in [
            ("plain", Build::Plain),
            ("instrumented", Build::Instrumented),
        ] {
            progress.check()?;
            progress.say(&format!("building and running the {name} firmware"));
            let mut run = payload::Options::new(payload::Run::Calls, request.settings.get(COUNT));
            run.by_instruction = true;
            let images = images(request, build)?;
            let by_function = request.settings.get(BY_FUNCTION);
            let report = counted(
                &payload::Boot::ours(&images, &run),
                &machine,
                run,
                by_function,
            )?;
            let symbols = by_function
                .then(|| Symbols::read(&images.firmware_elf()))
                .transpose();
            builds.push(firmware::Build {
                name,
                report,
                symbols: symbols.map_err(Error::failed)?,
            });
        }
        Ok(firmware::calls(&machine, &builds))
    }
}

/// Counts the calls one by one, or by the machine's clock alone if the emulator takes no plugins
/// and nothing is asked for by function.
fn counted(
    boot: &payload::Boot,
    machine: &Machine,
    run: payload::Options,
    by_function: bool,
) -> Result<payload::Report> {
    let report = match payload::run_on(boot, machine, &run) {
        Err(qemu::Error::Plugin(_)) if !by_function => payload::run_on(
            boot,
            machine,
            &payload::Options {
                by_instruction: false,
                ..run
            },
        ),
        report => report,
    };
    report.map_err(Error::failed)
}

/// Runs the payload on firmware that is not ours.
fn run_own(
    request: &Request<'_>,
    observer: &Observer,
    machine: &Machine,
    own: &OtherFirmware,
) -> Result<Recording> {
    let settings = &request.settings;
    let progress = &observer.progress;
    // What is wrong with the file is told before anything is built.
    let symbols = settings
        .get(SYMBOLS)
        .map(|file| Symbols::read(&file))
        .transpose()
        .map_err(Error::failed)?;
    let payload = match own.placement {
        Placement::Packed => None,
        _ => {
            progress.say("building the payload");
            Some(Images::find_payload(request.source_tree).map_err(Error::failed)?)
        }
    };
    let boot = own.boot(payload.as_deref()).map_err(Error::failed)?;
    progress.check()?;
    let image = own.image.display();
    let lacks = own.lacks_payload();
    progress.say(&if lacks {
        format!("running {image}: {LACKS}")
    } else {
        format!("running {image}")
    });
    let mut run = payload::Options::new(payload::Run::Calls, settings.get(COUNT));
    (run.standby, run.power_down) = (settings.get(STANDBY_STATE), settings.get(POWER_DOWN_STATE));
    run.by_instruction = true;
    let report = counted(&boot, machine, run.clone(), symbols.is_some());
    let report = report.map_err(|error| match lacks {
        true => Error::usage(format!("{error}\n{LACKS}"), LOADS),
        false => error,
    })?;
    if symbols.is_some() && report.passages.is_empty() {
        let message = format!("the payload in {image} does not say where calls begin and end");
        return Err(Error::usage(
            message,
            "write it anew with `stopwatt payload`, and pack it into the image",
        ));
    }
    progress.say("running Stopwatt's firmware, to stand beside it");
    let ours = images_can_be_had(request).and_then(|()| {
        (run.standby, run.power_down) = (None, None);
        let images = images(request, Build::Plain)?;
        counted(&payload::Boot::ours(&images, &run), machine, run, false)
    });
    Ok(firmware::calls_of_own(machine, own, report, symbols, ours))
}

/// An image in which the payload is not found.
const LACKS: &str = "the payload of `stopwatt payload` is not in the image, and --payload-in-memory has the machine load it";
const LOADS: &str = "pack it in, as the program that the firmware enters, or name --payload-in-memory or --payload-offset";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_32_bits() {
        assert!(state("0x10002").is_ok() && state("0x100000000").is_err());
    }
}

//! The emulated machine that real firmware runs on, as settings.

use experiment::{Error, Kind, Request, Setting, World};
use qemu::{Build, Gic, Images, Machine};
use std::path::Path;

/// Settings of the emulated machine.
pub const MACHINE_SETTINGS: [Setting; 3] = [
    Setting::new(
        "cpus",
        Kind::Number { min: 1, max: 32 },
        "CPUs of the emulated machine; the shape of a simulated one is set with --set topology.clusters.",
    )
    .or("4")
    .only(&[World::Qemu]),
    Setting::new(
        "gic",
        Kind::Choice(&[("2", "GICv2, at most 8 CPUs"), ("3", "GICv3, clusters of 16")]),
        "Version of its interrupt controller.",
    )
    .or("3")
    .only(&[World::Qemu]),
    Setting::new("virtualization", Kind::Switch, "Give its CPUs an EL2, in which the normal world then runs.")
        .only(&[World::Qemu]),
];

/// The machine that is asked for; an instruction takes 2^`icount` ns of its time, or the host's time passes.
pub(crate) fn machine(request: &Request<'_>, icount: Option<u8>) -> Result<Machine, Error> {
    let settings = &request.settings;
    let cpus = settings.number("cpus") as usize;
    let gic = match settings.text("gic") {
        Some("2") if cpus > 8 => {
            return Err(Error::usage(format!("GICv2 has no more than 8 CPUs, not {cpus}"), "use --gic 3"));
        }
        Some("2") => Gic::V2,
        _ => Gic::V3,
    };
    Ok(Machine { gic, virtualization: settings.switch("virtualization"), icount, ..Machine::new(cpus) })
}

/// The checkout that firmware is built from.
pub(crate) fn source_tree<'a>(request: &Request<'a>) -> Result<&'a Path, Error> {
    request.source_tree.ok_or_else(|| {
        let help = "run it in a checkout of Stopwatt, or name one with --data";
        Error::usage("the firmware is built from Stopwatt's source tree, which is not here", help)
    })
}

/// The firmware's images, built if they are not up to date.
pub(crate) fn images(request: &Request<'_>, build: Build) -> Result<Images, Error> {
    Images::build(source_tree(request)?, build).map_err(Error::failed)
}

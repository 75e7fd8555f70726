//! The emulated machine that real firmware runs on, as settings.

use experiment::setting::{CheckedSetting, Choice, Number, Or, Switch};
use experiment::{Error, Request, Result, World};
use qemu::{Build, Gic, Images, Machine};

const QEMU: &[World] = &[World::Qemu];

/// CPUs of the emulated machine.
pub const CPUS: Or<Number<usize>> = Number::new(
    "cpus",
    1..=32,
    "CPUs of the emulated machine; the shape of a simulated one is set with --set topology.clusters.",
)
.only(QEMU)
.or(4);

/// Interrupt controller of the machine.
pub const GIC: Or<Choice<Gic>> = Choice::new(
    "gic",
    &[
        ("2", Gic::V2, "GICv2, at most 8 CPUs"),
        ("3", Gic::V3, "GICv3, clusters of 16"),
    ],
    "Version of its interrupt controller.",
)
.only(QEMU)
.or(Gic::V3);

/// Whether the machine has EL2.
pub const VIRTUALIZATION: Switch = Switch::new(
    "virtualization",
    "Give its CPUs an EL2, in which the normal world then runs.",
)
.only(QEMU);

/// Model of the CPUs.
pub const CPU: Or<CheckedSetting<String>> = CheckedSetting::new(
    "cpu",
    "MODEL",
    core,
    "Model of its CPUs, as QEMU names them.",
)
.or(Machine::CPU);

fn core(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    if is_name {
        Ok(text.to_owned())
    } else {
        Err("a name that `qemu-system-aarch64 -cpu help` prints, such as cortex-a72".to_owned())
    }
}

/// The machine that is asked for; an instruction takes 2^`icount` ns of its time, or the host's
/// time passes.
pub fn machine(request: &Request<'_>, icount: Option<u8>) -> Result<Machine> {
    let settings = &request.settings;
    let (cpus, gic) = (settings.get(CPUS), settings.get(GIC));
    if gic == Gic::V2 && cpus > 8 {
        return Err(Error::usage(
            format!("GICv2 has no more than 8 CPUs, not {cpus}"),
            "use --gic 3",
        ));
    }
    Ok(Machine {
        gic,
        virtualization: settings.get(VIRTUALIZATION),
        icount,
        ..Machine::new(cpus)
    })
}

/// Says whether the firmware's images can be had.
pub fn images_can_be_had(request: &Request<'_>) -> Result {
    Images::can_be_had(request.source_tree).map_err(Error::failed)
}

/// The firmware's images, built if they are not up to date.
pub fn images(request: &Request<'_>, build: Build) -> Result<Images> {
    Images::find(request.source_tree, build).map_err(Error::failed)
}

#[cfg(test)]
mod tests {
    use super::core;

    #[test]
    fn a_core_is_a_name() {
        assert!(core("cortex-a72").is_ok() && core("max,sve=off").is_err() && core("").is_err());
    }
}

//! `linux-boot`: Debian's kernel on the firmware.

use crate::firmware;
use crate::machine::{MACHINE_SETTINGS, images, machine, source_tree};
use experiment::{About, Error, Example, Experiment, Kind, Need, Request, Setting, Sink, World, WorldAbout};
use qemu::{Build, linux};
use std::path::PathBuf;

/// Boots Linux, takes its CPUs off and on, and lets it idle.
pub struct LinuxBoot;

static SETTINGS: [Setting; 10] = {
    let [cpus, gic, virtualization] = MACHINE_SETTINGS;
    [
        cpus,
        gic,
        virtualization,
        Setting::new(
            "cycles",
            Kind::Number { min: 0, max: u32::MAX as u64 },
            "How often each CPU is taken off and on.",
        )
        .or("5"),
        Setting::new("stay", Kind::Number { min: 1, max: 60 }, "How long it idles in each state.").unit("s").or("1"),
        Setting::new(
            "suspend-mode",
            Kind::Choice(&[
                ("platform", "the firmware coordinates"),
                ("os-initiated", "the kernel coordinates, and asks for domain states itself"),
            ]),
            "Who coordinates the states of the power domains.",
        )
        .or("platform"),
        Setting::new(
            "cache",
            Kind::Folder,
            "Folder for kernel and busybox; by default `target/linux` of the checkout.",
        ),
        Setting::new(
            "trace",
            Kind::OutputFile,
            "Write the guest's ftrace text to this file: idle states, timers, ticks, interrupts and scheduler, under a workload.",
        ),
        Setting::new(
            "governor",
            Kind::Choice(&[
                ("menu", "weighs the next timer and the last sleeps"),
                ("ladder", "steps up and down by the last sleeps"),
            ]),
            "The kernel's governor of idle states while it is traced.",
        )
        .or("menu"),
        Setting::new("trace-seconds", Kind::Number { min: 1, max: 60 }, "How long it is traced.").unit("s").or("2"),
    ]
};

static ABOUT: About = About {
    name: "linux-boot",
    summary: "Debian's kernel on the firmware: hotplug, idle states, reboot, power-off",
    details: "Debian's kernel and busybox for arm64 are fetched once, with apt, into --cache; the machine's own packages \
              stay as they are. Exit status 1 if a CPU was lost, an idle state was never entered, or reboot or power-off \
              failed.",
    worlds: &[WorldAbout {
        world: World::Qemu,
        about: "the library as an EL3 image on an emulated machine, Linux above it",
        needs: &[Need::Qemu, Need::SourceTree],
    }],
    settings: &SETTINGS,
    cases: &[],
    examples: &[
        Example { arguments: "", about: "" },
        Example { arguments: "--cpus 8 --gic 2 --cycles 200", about: "" },
        Example { arguments: "--suspend-mode os-initiated --trace linux.trace", about: "" },
    ],
    sweep_defaults: &[],
    shipped_sweeps: &[],
};

impl Experiment for LinuxBoot {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        source_tree(request)?;
        machine(request, None).map(|_| ())
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let settings = &request.settings;
        // While it is traced, time is instructions: how busy the host is does not show in the times of timers.
        let icount = settings.text("trace").map(|_| 0);
        let (root, machine, progress) = (source_tree(request)?, machine(request, icount)?, sink.progress());
        progress.say("building the firmware");
        let images = images(request, Build::Instrumented)?;
        progress.check()?;
        progress.say("fetching kernel and busybox");
        let cache = settings.text("cache").map_or_else(|| root.join("target/linux"), PathBuf::from);
        let system = linux::fetch(root, &cache).map_err(Error::failed)?;
        progress.check()?;
        progress.say(&format!("booting {}", system.kernel_version));
        let work = linux::Options {
            cycles: settings.number("cycles") as u32,
            stay: settings.number("stay") as u32,
            os_initiated: settings.text("suspend-mode") == Some("os-initiated"),
            exception_level: None,
            trace: settings.text("trace").map(|_| linux::Tracing {
                governors: vec![settings.text("governor").unwrap_or("menu").to_owned()],
                seconds: settings.number("trace-seconds") as u32,
            }),
        };
        let saw = linux::run(&images, &system, &machine, &work, |line| progress.say(line)).map_err(Error::failed)?;
        if let Some(path) = settings.text("trace") {
            let text = saw.traces.concat().join("\n") + "\n";
            std::fs::write(path, text).map_err(|error| Error::Failed(format!("cannot write {path}: {error}")))?;
        }
        let recording = firmware::linux_boot(&machine, &system, &work, &saw);
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

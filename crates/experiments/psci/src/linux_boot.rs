//! `linux-boot`: Debian's kernel on the firmware.

use crate::firmware;
use crate::machine::{CPU, CPUS, GIC, VIRTUALIZATION, images, images_can_be_had, machine};
use experiment::setting::{CheckedSetting, Choice, Folder, Number, Or, OutputFile};
use experiment::{About, Error, Experiment, Observer, Request, Result, World};
use qemu::kernel::Kernel;
use qemu::linux::{self, Workload};
use qemu::{Build, Images, Machine};
use recording::Recording;

/// Boots Linux, takes its CPUs off and on, and lets it idle.
pub struct LinuxBoot;

const CYCLES: Or<Number<u32>> = Number::new(
    "cycles",
    0..=u32::MAX,
    "How often each CPU is taken off and on.",
)
.or(5);

const STAY: Or<Number<u32>> = Number::new("stay", 1..=60, "How long it idles in each state.")
    .unit("s")
    .or(1);

/// The one who coordinates the states of power domains.
#[derive(Clone, Copy, PartialEq)]
enum Coordinator {
    Platform,
    Os,
}

const SUSPEND_MODE: Or<Choice<Coordinator>> = Choice::new(
    "suspend-mode",
    &[
        (
            "platform",
            Coordinator::Platform,
            "the firmware coordinates",
        ),
        (
            "os-initiated",
            Coordinator::Os,
            "the kernel coordinates, and asks for domain states itself",
        ),
    ],
    "Who coordinates the states of the power domains.",
)
.or(Coordinator::Platform);

const CACHE: Folder = Folder::new(
    "cache",
    "Folder for kernel and busybox; by default `target/linux` of the checkout.",
);

const KERNEL: CheckedSetting<Kernel> = CheckedSetting::new(
    "kernel",
    "VERSION|FILE",
    Kernel::parse,
    "The kernel: Debian's newest for arm64 whose version starts so, of several suites (6.1, 6.12, 7), or an image of yours [default: that of \
     the machine's suite].",
);

const TRACE: OutputFile = OutputFile::new(
    "trace",
    "Write the guest's ftrace text to this file: idle states, timers, ticks, interrupts and scheduler, under a workload.",
);

const GOVERNOR: Or<Choice<&str>> = Choice::new(
    "governor",
    &[
        ("menu", "menu", "weighs the next timer and the last sleeps"),
        ("ladder", "ladder", "steps up and down by the last sleeps"),
        (
            "teo",
            "teo",
            "counts which states would have fitted; Debian's kernels do not have it",
        ),
    ],
    "The kernel's governor of idle states while it is traced.",
)
.or("menu");

const WORKLOAD: Or<Choice<Workload>> = Choice::new(
    "workload",
    &[
        (
            "mixed",
            Workload::Mixed,
            "periodic tasks, tasks that wake each other through pipes, bursts",
        ),
        (
            "idle",
            Workload::Idle,
            "nothing: a console on which nobody types",
        ),
        (
            "hackbench",
            Workload::Hackbench,
            "hackbench: bursts of messages between eight tasks, 20 ms between them",
        ),
        (
            "sqlite",
            Workload::Sqlite,
            "sqlite: an insertion and a look-up every 5 ms, the file in memory",
        ),
        (
            "fio",
            Workload::Fio,
            "fio: two threads read and write files in memory, 2 ms after each eight blocks",
        ),
    ],
    "What the guest does while it is traced.",
)
.or(Workload::Mixed);

const TRACE_SECONDS: Or<Number<u32>> =
    Number::new("trace-seconds", 1..=60, "How long it is traced.")
        .unit("s")
        .or(2);

static ABOUT: About = About {
    name: "linux-boot",
    summary: "Debian's kernel on the firmware: hotplug, idle states, reboot, power-off",
    details: "Debian's kernel and busybox for arm64 are fetched once, with apt, into --cache; the machine's own packages \
              stay as they are. Exit status 1 if a CPU was lost, an idle state was never entered, or reboot or power-off \
              failed.",
    worlds: &[(
        World::Qemu,
        "the library as an EL3 image on an emulated machine, Linux above it",
    )],
    settings: &[
        &CPUS,
        &GIC,
        &VIRTUALIZATION,
        &CPU,
        &CYCLES,
        &STAY,
        &SUSPEND_MODE,
        &CACHE,
        &KERNEL,
        &TRACE,
        &GOVERNOR,
        &WORKLOAD,
        &TRACE_SECONDS,
    ],
    examples: &[
        ("", ""),
        ("--cpus 8 --gic 2 --cycles 200", ""),
        ("--kernel 6.12 --trace linux.trace --governor ladder", ""),
        ("--cycles 0 --trace fio.trace --workload fio", ""),
        ("--suspend-mode os-initiated --trace linux.trace", ""),
    ],
    ..About::BARE
};

impl Experiment for LinuxBoot {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result {
        images_can_be_had(request)?;
        machine(request, None).map(|_| ())
    }

    fn run(&self, request: &Request<'_>, observer: &Observer) -> Result<Recording> {
        let settings = &request.settings;
        // While it is traced, time is instructions: how busy the host is does not show in the times
        // of timers.
        let trace = settings.get(TRACE);
        let icount = trace.as_ref().map(|_| 0);
        let machine = Machine {
            cpu: settings.get(CPU),
            ..machine(request, icount)?
        };
        let progress = &observer.progress;
        progress.say("building the firmware");
        let images = images(request, Build::Instrumented)?;
        progress.check()?;
        progress.say("fetching kernel and busybox");
        let cache = settings
            .get(CACHE)
            .unwrap_or_else(|| Images::linux_cache(request.source_tree));
        let workload = settings.get(WORKLOAD);
        let of_trace = trace.as_ref().map(|_| workload);
        let mut system = linux::fetch(of_trace, &cache).map_err(Error::failed)?;
        if let Some(kernel) = settings.get(KERNEL) {
            (system.kernel, system.kernel_version) = kernel.fetch(&cache).map_err(Error::failed)?;
        }
        progress.check()?;
        progress.say(&format!("booting {}", system.kernel_version));
        let work = linux::Options {
            cycles: settings.get(CYCLES),
            stay: settings.get(STAY),
            os_initiated: settings.get(SUSPEND_MODE) == Coordinator::Os,
            exception_level: None,
            trace: trace.as_ref().map(|_| linux::Tracing {
                workload,
                governors: vec![settings.get(GOVERNOR).to_owned()],
                seconds: settings.get(TRACE_SECONDS),
            }),
        };
        let saw = linux::run(&images, &system, &machine, &work, |line| progress.say(line))
            .map_err(Error::failed)?;
        if let Some(path) = trace {
            std::fs::write(&path, saw.traces.concat().join("\n") + "\n").map_err(|error| {
                Error::Failed(format!("cannot write {}: {error}", path.display()))
            })?;
        }
        Ok(firmware::linux_boot(&machine, &system, &work, &saw))
    }
}

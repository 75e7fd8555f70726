//! `rcu-doses`: files closed at several rates, in a guest and in the small kernel.

use crate::counting::{CpuCounts, count};
use crate::guest::{self, Plan};
use crate::small_kernel::{self, CLOSER};
use experiment::setting::{CheckedSetting, Folder, Number, Or, Switch};
use experiment::{
    About, Error, Example, Experiment, Files, Need, Request, Sink, World, WorldAbout,
};
use minikernel::{Costs, Hardware};
use platforms::PlatformFiles;
use qemu::kernel::Kernel;
use qemu::linux::Handling;
use recording::{Header, Recording, metrics};

/// Closes files on one CPU and counts what idle CPUs do.
pub struct RcuDoses;

/// Closes a second.
const RATES: [u32; 5] = [0, 1, 10, 100, 1000];
/// CPUs of the guest and of the small kernel.
const CPUS: usize = 5;
/// The platform of the small kernel: its cores.
const PLATFORM: &str = "tc2";
/// The guest's idle states. Which of them a governor takes, and whether the tick then stops, is a
/// matter of their times.
const GUEST: &str = "qemu-virt";

const SECONDS: Or<Number<u32>> = Number::new("seconds", 1..=60, "How long each dose is traced.")
    .unit("s")
    .or(3);

const RUNS: Or<Number<u32>> = Number::new(
    "runs",
    1..=10,
    "How often the guest goes through the doses.",
)
.or(2);

const CACHE: Folder = Folder::new(
    "cache",
    "Folder for kernel and busybox; by default `target/linux` of the checkout.",
);

const KERNEL: CheckedSetting<Kernel> = CheckedSetting::new(
    "kernel",
    "VERSION|FILE",
    Kernel::parse,
    "The guest's kernel: Debian's newest for arm64 whose version starts so (6.12), or an image of yours [default: that of the machine's \
     suite].",
);

const LAZY: Switch = Switch::new(
    "lazy",
    "Also with offloaded callbacks that may wait for ten seconds (RCU_LAZY): needs a kernel that has them, such as --kernel 6.12, and \
     --seconds 12 at least.",
);

/// A lazy callback waits for ten seconds, and a dose has to last longer.
const LEAST_LAZY_S: u32 = 12;

static ABOUT: About = About {
    name: "rcu-doses",
    summary: "What closing files costs idle CPUs, in a real kernel and in the small one, offloaded and not",
    details: "Each close queues one callback. A task on CPU 1 closes 0, 1, 10, 100 and 1000 files a second; Debian's kernel runs with \
              rcu_nocbs= for no CPU and for all, and so does the small kernel in its modern form, at the rates that the guest reached. \
              RCU's threads are kept, that of grace periods on CPU 0 and those for offloaded callbacks on CPU 2. Ticks and wake-ups are those of the four other CPUs. The same code counts in the recordings of both.",
    worlds: &[WorldAbout {
        world: World::Qemu,
        about: "Debian's kernel on the firmware, and the small kernel beside it",
        needs: &[Need::Qemu, Need::SourceTree],
    }],
    settings: &[&SECONDS, &RUNS, &CACHE, &KERNEL, &LAZY],
    examples: &[
        Example {
            arguments: "",
            about: "",
        },
        Example {
            arguments: "--runs 3 --format json",
            about: "",
        },
        Example {
            arguments: "--kernel 6.12 --lazy --seconds 25 --runs 1",
            about: "with callbacks that may wait",
        },
    ],
    ..About::BARE
};

impl Experiment for RcuDoses {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, request: &Request<'_>) -> Result<(), Error> {
        let seconds = request.settings.get(SECONDS);
        if request.settings.get(LAZY) && seconds < LEAST_LAZY_S {
            let what =
                format!("--lazy with doses of {seconds} s, in which no lazy callback is invoked");
            return Err(Error::usage(
                what,
                format!("they wait for ten seconds: --seconds {LEAST_LAZY_S} or more"),
            ));
        }
        Ok(())
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let settings = &request.settings;
        let plan = Plan {
            cpus: CPUS,
            rates: RATES.to_vec(),
            runs: settings.get(RUNS),
            seconds: settings.get(SECONDS),
        };
        let hardware = hardware(request.platforms)?;
        let costs = platforms::kernel_costs(request.platforms)?;
        let costs = Costs::new(&Costs::read(&costs)?);
        let progress = sink.progress();
        let mut header = Header::new(ABOUT.name, World::Qemu.name(), "ns");
        header.iterations = plan.runs;
        header.notes.push(format!(
            "The small kernel runs on cores of {PLATFORM} with the guest's idle states, the guest on {CPUS} equal CPUs; rates of the small kernel are those that the guest's closer reached."
        ));
        header.notes.push(
            "The guest does other things, too: at 0 closes a second all of its ticks and wake-ups are those."
                .to_owned(),
        );
        let mut recording = Recording::new(header);
        let kernel = settings.get(KERNEL);
        let all = [
            ("ordinary", Handling::Ordinary),
            ("offloaded", Handling::Offloaded),
            ("lazy", Handling::Lazy),
        ];
        for (mode, handling) in all
            .into_iter()
            .filter(|(_, of)| *of != Handling::Lazy || settings.get(LAZY))
        {
            progress.say(&format!("booting, {mode}"));
            let say = |line: &str| progress.say(line);
            let (version, taken) = guest::doses(
                request.source_tree,
                settings.get(CACHE),
                kernel.as_ref(),
                &plan,
                handling,
                say,
            )?;
            let version = version
                .split_once(' ')
                .map_or(version.as_str(), |(_, version)| version)
                .to_owned();
            recording
                .header
                .versions
                .insert("linux".to_owned(), version);
            progress.check()?;
            for dose in &taken {
                let (counts, seconds) = count(&dose.recording, CPUS);
                add(
                    &mut recording,
                    "guest",
                    dose.rate,
                    mode,
                    dose.run,
                    &counts,
                    seconds,
                );
                if dose.run == 0 {
                    let closed = counts[CLOSER].closed as f64 / seconds;
                    let per_second = if dose.rate == 0 { 0.0 } else { closed };
                    let small = small_kernel::dose(
                        &hardware,
                        costs,
                        CPUS,
                        per_second,
                        plan.seconds,
                        handling,
                    )?;
                    let (counts, _) = count(&small, CPUS);
                    add(
                        &mut recording,
                        "small kernel",
                        dose.rate,
                        mode,
                        0,
                        &counts,
                        f64::from(plan.seconds),
                    );
                }
            }
        }
        sink.start(recording.header.clone())?;
        sink.append(&recording)
    }
}

/// The platform's cores with the guest's idle states, which the emulator enters and leaves at once.
pub(crate) fn hardware(files: &dyn Files) -> Result<Hardware, Error> {
    let platform = PlatformFiles::open(files, PLATFORM)?;
    let machine = platform
        .sources(&platform.release_name("last")?)?
        .machine()?;
    let mut hardware = Hardware::new(&machine, &platforms::idle_states(files, PLATFORM)?, 0)
        .map_err(Error::Failed)?;
    let guest = platforms::idle_states(files, GUEST)?;
    let of_guest = guest
        .domains
        .first()
        .ok_or_else(|| Error::Failed(format!("{GUEST} has no domain")))?;
    for domain in &mut hardware.domains {
        domain.take_idle_states(of_guest);
    }
    Ok(hardware)
}

/// Adds a dose: figures per second, over the CPUs that do not close files, and callbacks over all.
fn add(
    recording: &mut Recording,
    who: &str,
    rate: u32,
    mode: &str,
    run: u32,
    counts: &[CpuCounts],
    seconds: f64,
) {
    let series = recording.series(who, &rate.to_string(), mode);
    let seconds = seconds.max(f64::MIN_POSITIVE);
    let others = || {
        counts
            .iter()
            .enumerate()
            .filter(|(cpu, _)| *cpu != CLOSER)
            .map(|(_, counts)| counts)
    };
    let rows = [
        (
            metrics::WAKE_UP_RATE,
            others().map(|counts| counts.wake_ups).sum::<u64>(),
        ),
        (
            metrics::IDLE_TICK_RATE,
            others().map(|counts| counts.idle_ticks).sum(),
        ),
        (
            metrics::CALLBACK_RATE,
            counts.iter().map(|counts| counts.queued).sum(),
        ),
        (
            metrics::SOFTIRQ_CALLBACK_RATE,
            counts.iter().map(|counts| counts.in_softirq).sum(),
        ),
        (
            metrics::THREAD_CALLBACK_RATE,
            counts.iter().map(|counts| counts.in_threads).sum(),
        ),
    ];
    for (metric, value) in rows {
        recording.add(series, run, metric, "", value as f64 / seconds);
    }
    for (cpu, counts) in counts.iter().enumerate() {
        let rows = [
            (metrics::WAKE_UP_RATE, counts.wake_ups),
            (metrics::IDLE_TICK_RATE, counts.idle_ticks),
            (metrics::CALLBACK_RATE, counts.queued),
            (metrics::SOFTIRQ_CALLBACK_RATE, counts.in_softirq),
            (metrics::THREAD_CALLBACK_RATE, counts.in_threads),
        ];
        for (metric, value) in rows {
            recording
                .add(series, run, metric, "", value as f64 / seconds)
                .cpu = Some(cpu as u16);
        }
    }
}

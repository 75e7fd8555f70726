//! `rcu-doses`: files closed at several rates, in a guest and in the small kernel.

use crate::counting::{CpuCounts, count};
use crate::guest::{self, Plan};
use crate::small_kernel::{self, CLOSER};
use experiment::setting::{Folder, Number, Or};
use experiment::{About, Error, Example, Experiment, Files, Need, Request, Sink, World, WorldAbout};
use minikernel::{Costs, Hardware};
use platforms::PlatformFiles;
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

const SECONDS: Or<Number<u32>> = Number::new("seconds", 1..=60, "How long each dose is traced.").unit("s").or(3);

const RUNS: Or<Number<u32>> = Number::new("runs", 1..=10, "How often the guest goes through the doses.").or(2);

const CACHE: Folder = Folder::new("cache", "Folder for kernel and busybox; by default `target/linux` of the checkout.");

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
    settings: &[&SECONDS, &RUNS, &CACHE],
    cases: &[],
    examples: &[Example { arguments: "", about: "" }, Example { arguments: "--runs 3 --format json", about: "" }],
    sweep_defaults: &[],
    shipped_sweeps: &[],
};

impl Experiment for RcuDoses {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn run(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<(), Error> {
        let root = guest::source_tree(request)?;
        let settings = &request.settings;
        let plan = Plan { cpus: CPUS, rates: RATES.to_vec(), runs: settings.get(RUNS), seconds: settings.get(SECONDS) };
        let hardware = hardware(request.platforms)?;
        let costs = platforms::kernel_costs(request.platforms)?;
        let costs = Costs::new(&Costs::read(&costs)?);
        let progress = sink.progress();
        let mut header = Header::new(ABOUT.name, World::Qemu.name(), "ns");
        header.iterations = plan.runs;
        header.versions.insert("stopwatt".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        header.notes.push(format!(
            "The small kernel runs on cores of {PLATFORM} with the guest's idle states, the guest on {CPUS} equal CPUs; rates of the small kernel are those that the guest's closer reached."
        ));
        header.notes.push(
            "The guest does other things, too: at 0 closes a second all of its ticks and wake-ups are those."
                .to_owned(),
        );
        let mut recording = Recording::new(header);
        for offloaded in [false, true] {
            let mode = if offloaded { "offloaded" } else { "ordinary" };
            progress.say(&format!("booting, {mode}"));
            let taken = guest::doses(root, settings.get(CACHE), &plan, offloaded, |line| progress.say(line))?;
            progress.check()?;
            for dose in &taken {
                let (counts, seconds) = count(&dose.recording, CPUS);
                add(&mut recording, "guest", dose.rate, mode, dose.run, &counts, seconds);
                if dose.run == 0 {
                    let closed = counts[CLOSER].closed as f64 / seconds;
                    let per_second = if dose.rate == 0 { 0.0 } else { closed };
                    let small = small_kernel::dose(&hardware, costs, CPUS, per_second, plan.seconds, offloaded)?;
                    let (counts, _) = count(&small, CPUS);
                    add(&mut recording, "small kernel", dose.rate, mode, 0, &counts, f64::from(plan.seconds));
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
    let machine = platform.sources(&platform.release_name("last")?)?.machine()?;
    let mut hardware = Hardware::new(&machine, &platforms::idle_states(files, PLATFORM)?, 0).map_err(Error::Failed)?;
    let guest = platforms::idle_states(files, GUEST)?;
    let of_guest = guest.domains.first().ok_or_else(|| Error::Failed(format!("{GUEST} has no domain")))?;
    for domain in &mut hardware.domains {
        domain.take_idle_states(of_guest);
    }
    Ok(hardware)
}

/// Adds a dose: figures per second, over the CPUs that do not close files, and callbacks over all.
fn add(recording: &mut Recording, who: &str, rate: u32, mode: &str, run: u32, counts: &[CpuCounts], seconds: f64) {
    let series = recording.series(who, &rate.to_string(), mode);
    let seconds = seconds.max(f64::MIN_POSITIVE);
    let others = || counts.iter().enumerate().filter(|(cpu, _)| *cpu != CLOSER).map(|(_, counts)| counts);
    let rows = [
        (metrics::WAKE_UP_RATE, others().map(|counts| counts.wake_ups).sum::<u64>()),
        (metrics::IDLE_TICK_RATE, others().map(|counts| counts.idle_ticks).sum()),
        (metrics::CALLBACK_RATE, counts.iter().map(|counts| counts.queued).sum()),
        (metrics::SOFTIRQ_CALLBACK_RATE, counts.iter().map(|counts| counts.in_softirq).sum()),
        (metrics::THREAD_CALLBACK_RATE, counts.iter().map(|counts| counts.in_threads).sum()),
    ];
    for (metric, value) in rows {
        recording.measure(series, run, metric.name, metric.unit, value as f64 / seconds);
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
            recording.measure(series, run, metric.name, metric.unit, value as f64 / seconds).cpu = Some(cpu as u16);
        }
    }
}

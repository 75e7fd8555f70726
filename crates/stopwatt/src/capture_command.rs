//! `stopwatt capture`.

use crate::data::Data;
use crate::import_cpuidle;
use crate::output;
use crate::recordings::{self, Request};
use crate::report_command::TellingOptions;
use clap::{Args, Subcommand};
use console::{Console, Progress};
use dataplane::machine::pin;
use findings::cpuidle::exit_latencies;
use import::cpuidle::{Dump, Measured, State, read_live};
use miette::{IntoDiagnostic, Result, WrapErr, bail, miette};
use platforms::Board;
use recording::{Header, Recording, metrics};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::Instant;

/// The counters of this machine that can be taken around a command.
#[derive(Subcommand)]
pub enum Capture {
    /// The kernel's counts of its idle states.
    Cpuidle(CaptureCpuidleOptions),
    /// The kernel's trace, with the events that `run trace-energy` and `run idle-replay` need.
    Trace(CaptureTraceOptions),
    /// How long a CPU takes to leave each of its idle states.
    Wake(CaptureWakeOptions),
}

/// Options of `capture trace`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt capture trace -o trace.txt -- sleep 10
  stopwatt capture trace --print

The first needs root and a kernel with ftrace. The second prints how trace-cmd and Perfetto record the same on a board.")]
pub struct CaptureTraceOptions {
    /// The command to trace, with its arguments.
    #[arg(required_unless_present = "print", last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// Print how to record on a board, and trace nothing.
    #[arg(long)]
    print: bool,
    /// The folder of the kernel's tracer.
    #[arg(long, default_value = "/sys/kernel/tracing", value_name = "DIR")]
    tracefs: PathBuf,
    /// File to write the trace to; one that is there is replaced.
    #[arg(short, long, value_name = "FILE", default_value = "trace.txt")]
    output: PathBuf,
}

/// The events of a trace of energy.
const EVENTS: [&str; 21] = [
    "power/cpu_idle",
    "power/cpu_frequency",
    "power/suspend_resume",
    "power/psci_domain_idle_enter",
    "power/psci_domain_idle_exit",
    "sched/sched_switch",
    "sched/sched_waking",
    "sched/sched_wakeup",
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_entry",
    "irq/softirq_exit",
    "timer/hrtimer_start",
    "timer/hrtimer_cancel",
    "timer/hrtimer_expire_entry",
    "timer/timer_start",
    "timer/timer_cancel",
    "timer/timer_expire_entry",
    "timer/tick_stop",
    "ipi",
    "rcu",
];

/// KiB of the trace for each CPU.
const BUFFER_KB: u32 = 32_768;

/// Options of `capture cpuidle`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt capture cpuidle -- sleep 10
  stopwatt capture cpuidle --variant teo -o recordings/teo -- fio --name=read --rw=randread --size=1G")]
pub struct CaptureCpuidleOptions {
    /// The command to measure, with its arguments.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    #[command(flatten)]
    counted: CountedOptions,
}

/// Options of `capture wake`.
#[derive(Args)]
#[command(after_help = "Examples:
  stopwatt capture wake -o recordings/wake
  stopwatt capture wake --cpu 3 --gaps 500,5000 --rounds 200 --save board.toml

It needs root: all idle states of the CPU but one are disabled in turn, and at the end they are as they were.")]
pub struct CaptureWakeOptions {
    /// The CPU.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    cpu: u16,
    /// The times after which a timer wakes it, in us, parted by commas.
    #[arg(
        long,
        value_name = "US",
        value_delimiter = ',',
        default_value = "20,50,100,200,500,1000,2000,5000,10000,20000,50000"
    )]
    gaps: Vec<u32>,
    /// The number of times that it wakes up from each state after each gap.
    #[arg(long, default_value_t = 40, value_name = "COUNT")]
    rounds: u32,
    /// Platform file to write: as of `platform from`, with the exit latencies that are measured.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    counted: CountedOptions,
}

/// Options of what counts idle states.
#[derive(Args)]
struct CountedOptions {
    /// The name of what is measured: a kernel, a governor; by default the kernel's release.
    #[arg(long, value_name = "NAME", value_parser = output::variant)]
    variant: Option<String>,
    /// The folder of the CPUs.
    #[arg(long, default_value = "/sys/devices/system/cpu", value_name = "DIR")]
    sysfs: PathBuf,
    /// Folder of the recording; an older one of the same kind there is replaced.
    #[arg(short, long, value_name = "DIR", default_value = "recordings/cpuidle")]
    output: PathBuf,
    #[command(flatten)]
    told: TellingOptions,
}

/// Captures what is named.
pub fn run(console: &Console, data: &Data, what: &Capture) -> Result<()> {
    match what {
        Capture::Cpuidle(options) => counted(console, data, &options.counted, None, |_, header| {
            let status = execute(&options.command)?;
            if !status.success() {
                let note = format!("The command ended with {status}.");
                header.notes.push(note);
            }
            Ok(Vec::new())
        }),
        Capture::Wake(options) => wake(console, data, options),
        Capture::Trace(options) if options.print => output::print_text(console, &configurations()),
        Capture::Trace(options) => trace(console, options),
    }
}

/// How trace-cmd and Perfetto record the events.
fn configurations() -> String {
    let events = EVENTS
        .map(|event| format!(" -e {}", event.replace('/', ":")))
        .concat();
    let named = |event: &str| {
        let whole = if event.contains('/') {
            event.to_owned()
        } else {
            format!("{event}/*")
        };
        format!("      ftrace_events: \"{whole}\"\n")
    };
    let ftrace = EVENTS.map(named).concat();
    format!(
        "# trace-cmd, as root:\ntrace-cmd record -b {BUFFER_KB}{events} sleep 10\n\n\
         # Perfetto, a file for `perfetto --txt -c FILE -o trace.pftrace`:\n\
         duration_ms: 10000\nbuffers {{ size_kb: {} }}\ndata_sources {{\n  config {{\n    name: \"linux.ftrace\"\n    \
         ftrace_config {{\n      buffer_size_kb: {BUFFER_KB}\n{ftrace}    }}\n  }}\n}}\n",
        8 * BUFFER_KB
    )
}

/// Traces a command, in a buffer of its own.
fn trace(console: &Console, options: &CaptureTraceOptions) -> Result<()> {
    output::check_file(&options.output)?;
    let instance = options.tracefs.join("instances/stopwatt");
    let written = |name: &str, value: &str| std::fs::write(instance.join(name), value);
    std::fs::create_dir(&instance).map_err(|error| {
        miette!(
            help = "run it as root, and mount tracefs (`mount -t tracefs tracefs /sys/kernel/tracing`); remove what an earlier run left \
                    with rmdir; on a board record with what `stopwatt capture trace --print` prints",
            "cannot trace with {}: {error}",
            instance.display()
        )
    })?;
    let traced = || -> Result<(Vec<u8>, Vec<&str>)> {
        written("buffer_size_kb", &BUFFER_KB.to_string()).into_diagnostic()?;
        let is_missing = |event: &&str| written(&format!("events/{event}/enable"), "1").is_err();
        let missing = EVENTS.into_iter().filter(is_missing).collect();
        let status = execute(&options.command);
        written("tracing_on", "0").into_diagnostic()?;
        status?;
        let text = std::fs::read(instance.join("trace")).into_diagnostic()?;
        Ok((text, missing))
    };
    let traced = traced();
    // The kernel empties the folder itself.
    std::fs::remove_dir(&instance).into_diagnostic()?;
    let (text, missing) = traced?;
    output::write_file(console, &options.output, &text)?;
    let path = options.output.display();
    let missing = match missing[..] {
        [] => String::new(),
        _ => format!("This kernel has no {}.\n", missing.join(", ")),
    };
    output::print_text(
        console,
        &format!(
            "{missing}{path} has the trace. Run it with: stopwatt run trace-energy {path} --platform PLATFORM\n"
        ),
    )
}

/// Runs a command to its end.
fn execute(command: &[OsString]) -> Result<ExitStatus> {
    let [program, arguments @ ..] = command else {
        bail!(
            help = "stopwatt capture cpuidle -- sleep 10",
            "no command is named"
        );
    };
    let shown = Path::new(program).display();
    let status = Command::new(program).args(arguments).status();
    status
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot run {shown}; nothing was recorded"))
}

/// Takes the counters of all CPUs or of one, does the work, takes them again, and says what was
/// counted in between and what the work measured.
fn counted(
    console: &Console,
    data: &Data,
    options: &CountedOptions,
    cpu: Option<u16>,
    work: impl FnOnce(&Dump, &mut Header) -> Result<Vec<Measured>>,
) -> Result<()> {
    // Whether the recording can be written is known before a command that may take hours.
    recordings::check_target(
        &options.output,
        "cpuidle",
        "host",
        &Request::new(),
        options.told.replace,
    )?;
    let how = options.told.telling()?;
    let before = dump(&options.sysfs, cpu)?;
    let mut header = Header::new("cpuidle", "host", "us");
    let start = Instant::now();
    let measured = work(&before, &mut header)?;
    let seconds = start.elapsed().as_secs_f64();
    let after = dump(&options.sysfs, cpu)?;
    if before.counts_as(&after) {
        let help = "a CPU counts a stay when it wakes up: measure for longer, or look at \
                    cpu*/cpuidle/state*/disable and the kernel's command line (idle=poll, cpuidle.off=1)";
        bail!(
            help = help,
            "no CPU came out of an idle state in {seconds:.3} s; nothing was recorded"
        );
    }
    header.run = provenance::this_measurement();
    let variant = options
        .variant
        .clone()
        .or_else(|| header.run.kernel.clone())
        .unwrap_or_else(|| "this machine".to_owned());
    let (mut counts, between) = import_cpuidle::two(&before, &after, &variant, Some(seconds))?;
    counts[0].measured = measured;
    import_cpuidle::finish(
        console,
        data,
        (header, &counts, &between),
        (Some(&options.output), &how),
    )
}

/// The counters of this machine, or of one of its CPUs.
fn dump(folder: &Path, cpu: Option<u16>) -> Result<Dump> {
    let mut dump = read_live(folder)?.unwrap_or_default();
    dump.cpus.retain(|of, _| cpu.is_none_or(|cpu| *of == cpu));
    if dump.cpus.is_empty() {
        let what = cpu.map_or("this machine".to_owned(), |cpu| format!("CPU {cpu}"));
        bail!(
            help = "most virtual machines have none, and a kernel without CONFIG_CPU_IDLE has none: run the command on the machine \
                    itself, or import dumps of another with stopwatt import cpuidle",
            "{what} counts no idle states: there is no cpu*/cpuidle/state*/usage below {}",
            folder.display()
        );
    }
    Ok(dump)
}

/// Measures wake-ups of a CPU, and writes the platform file that is asked for.
fn wake(console: &Console, data: &Data, options: &CaptureWakeOptions) -> Result<()> {
    let (cpu, of) = (options.cpu, &options.counted);
    counted(console, data, of, Some(cpu), |dump, _| {
        wake_ups(console, options, &dump.cpus[&cpu])
    })?;
    let Some(path) = &options.save else {
        return Ok(());
    };
    let mut board = Board::open(&of.sysfs)?;
    for measured in exit_latencies(&Recording::read(&of.output).into_diagnostic()?) {
        let [low, us, high] = measured.us;
        let states = board.cpus.iter_mut().flat_map(|cpu| &mut cpu.states);
        for state in states.filter(|state| state.name == measured.state) {
            state.times[1] = us.round() as u64;
            state.source += &format!(
                "; exit_us: {us:.1} us ({low:.1} to {high:.1} us with 95 %) by capture wake of CPU {cpu}"
            );
        }
    }
    output::write_file(console, path, board.platform_file("measured")?.as_bytes())
}

/// Wakes a CPU up from each state after each gap. A round takes all states, so that they share what
/// drifts.
fn wake_ups(
    console: &Console,
    options: &CaptureWakeOptions,
    states: &[State],
) -> Result<Vec<Measured>> {
    let cpu = options.cpu;
    let cannot = |error| {
        miette!(
            help = "run it as root",
            "cannot choose idle states of CPU {cpu}: {error}"
        )
    };
    let folder = options.counted.sysfs.join(format!("cpu{cpu}"));
    let chosen = wake::States::of_cpu(&folder).map_err(cannot)?;
    let progress = Arc::new(Progress::default());
    let _shown = console.show(progress.clone());
    pin(cpu.into()).map_err(cannot)?;
    let mut measured = Vec::new();
    for &gap in &options.gaps {
        for _ in 0..options.rounds {
            let mut first = None;
            for (place, state) in states.iter().enumerate() {
                progress.check()?;
                let late = chosen.alone(place, || wake::sleep(gap));
                let Some(late) = late.map_err(cannot)? else {
                    continue;
                };
                if place == 0 {
                    first = Some(late);
                } else if let Some(first) = first {
                    measured.push(Measured {
                        place: format!("{gap} us"),
                        cpu: Some(cpu),
                        state: state.name.clone(),
                        metric: metrics::EXIT_LATENCY,
                        value: late - first,
                    });
                }
            }
        }
    }
    Ok(measured)
}

//! Every metric of every experiment, one row each: what it is called, in what unit, which way is
//! better, and for an interval between two points which points those are. Experiments, fits,
//! attribution, comparisons and reports read this table.
//!
//! Who adds a metric adds one row to [`METRICS`].

use crate::header::{Picture, PictureKind};
use crate::units;
use serde::{Deserialize, Serialize};

/// Which way of a metric is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Less is better: times, clocks.
    Lower,
    /// More is better: rates.
    Higher,
    /// Neither: counts, shares of time.
    Neither,
}

/// The interval that a metric is the length of, on one CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Name of the point that starts it.
    pub first: &'static str,
    /// Name of the point that ends it.
    pub last: &'static str,
    /// Names of the PSCI functions of whose call it is a part. Where an iteration has calls of
    /// several, the function that is named first counts, and of its calls the first.
    pub calls: &'static [&'static str],
}

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// Name in `measures.parquet` and on the command line.
    pub name: &'static str,
    /// The description, a sentence.
    pub about: &'static str,
    /// Heading of the metric.
    pub title: &'static str,
    /// Heading of the metric where there is room for one word.
    pub short_title: &'static str,
    /// The unit in which our own experiments record it. A recording of another program's figures,
    /// or of a machine that knows no time, may have another: the measure's own unit holds.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// The interval that it is the length of; `None` for what is counted, or measured otherwise.
    pub interval: Option<Interval>,
    /// The cases that have it; empty where any case may.
    pub cases: &'static [&'static str],
    /// True if it is what its cases are about: their iterations are ranked by it, and their
    /// overview shows it.
    pub principal: bool,
    /// True if it follows from other metrics, or counts more the longer it is counted, so that a
    /// comparison leaves it out unless it is asked for.
    pub derived: bool,
}

impl Metric {
    /// The interval from a point to a point in a call of one of these functions, in these cases.
    const fn between(
        self,
        (first, last): (&'static str, &'static str),
        calls: &'static [&'static str],
        cases: &'static [&'static str],
    ) -> Self {
        Self {
            interval: Some(Interval { first, last, calls }),
            cases,
            ..self
        }
    }

    const fn principal(self) -> Self {
        Self {
            principal: true,
            ..self
        }
    }

    const fn derived(self) -> Self {
        Self {
            derived: true,
            ..self
        }
    }

    /// Begin and end of its interval, given when a CPU passed each point; `None` if it is no
    /// interval or a point is missing.
    pub fn bounds<T>(&self, passed: impl Fn(&str) -> Option<T>) -> Option<(T, T)> {
        let interval = self.interval?;
        Some((passed(interval.first)?, passed(interval.last)?))
    }
}

/// Pictures of a metric, with their titles; of a case, or of all.
impl Metric {
    /// A bar for each variant, made of its subjects, whose values add up.
    pub fn bars(&self, title: &str, case: Option<&str>) -> Picture {
        self.picture(title, case, PictureKind::StackedBars)
    }

    /// Curves over the axis `x`, a curve for each value of `by`.
    pub fn curves(&self, title: &str, case: Option<&str>, x: &str, by: Option<&str>) -> Picture {
        let (x, by) = (x.to_owned(), by.map(str::to_owned));
        self.picture(title, case, PictureKind::Curves { x, by })
    }

    /// A field of cells over the axes `x` and `y`.
    pub fn heat_map(&self, title: &str, case: Option<&str>, x: &str, y: &str) -> Picture {
        let (x, y) = (x.to_owned(), y.to_owned());
        self.picture(title, case, PictureKind::HeatMap { x, y })
    }

    fn picture(&self, title: &str, case: Option<&str>, kind: PictureKind) -> Picture {
        Picture {
            title: title.to_owned(),
            metric: self.name.to_owned(),
            case: case.map(str::to_owned),
            kind,
        }
    }
}

/// A metric that no row says more of.
const PLAIN: Metric = Metric {
    name: "",
    about: "",
    title: "",
    short_title: "",
    unit: "",
    better: Neither,
    interval: None,
    cases: &[],
    principal: false,
    derived: false,
};

/// The cases in which CPUs go down and come up again, and the functions that they call for it.
const POWER_CASES: &[&str] = &["suspend-deepest", "suspend-level0", "cpu-off"];
const POWER_CALLS: &[&str] = &["CPU_SUSPEND", "CPU_OFF"];

macro_rules! metrics {
    ($(
        $(#[doc = $about:literal])+
        $id:ident = ($name:literal, $title:literal, $short:literal, $unit:literal, $better:ident)
            $(.$set:ident($($to:expr),*))*;
    )*) => {
        $($(#[doc = $about])+ pub const $id: Metric = Metric {
            name: $name,
            about: concat!($($about),+).trim_ascii(),
            title: $title,
            short_title: $short,
            unit: $unit,
            better: $better,
            ..PLAIN$(.$set($($to),*))*
        };)*

        /// All metrics, in the order in which tables show them.
        pub const METRICS: [Metric; [$(stringify!($id)),*].len()] = [$($id),*];
    };
}

use Better::{Higher, Lower, Neither};

metrics! {
    // PSCI. The points are those of the runtime instrumentation, which PMF serves.
    /// From the call to the last instruction before low power.
    POWERDOWN = ("powerdown", "Powerdown", "down", "us", Lower)
        .between(("enter-psci", "enter-hw-low-pwr"), POWER_CALLS, POWER_CASES).principal();
    /// From the first instruction after low power to the return to the caller.
    WAKEUP = ("wakeup", "Wakeup", "wake", "us", Lower)
        .between(("exit-hw-low-pwr", "exit-psci"), POWER_CALLS, POWER_CASES);
    /// The flush of the caches on the way down.
    CACHE_FLUSH = ("cache_flush", "Cache flush", "flush", "us", Lower)
        .between(("enter-cflush", "exit-cflush"), POWER_CALLS, POWER_CASES);
    /// From the call to the return, of a call that does no power management.
    LATENCY = ("latency", "Latency", "latency", "us", Lower)
        .between(("enter-psci", "exit-psci"), &["PSCI_VERSION"], &["psci-version"]).principal();
    /// The time that a CPU was in a power state, over all iterations.
    TIME_IN_STATE = ("time_in_state", "Time in state", "state", "us", Neither).derived();
    /// Mean instructions of a kind of call into the firmware.
    CALL = ("call", "Call", "call", "instructions", Lower);
    /// Instructions of a passage of an image.
    PASSAGE = ("passage", "Passage", "passage", "instructions", Lower);

    // Linux.
    /// CPUs that the kernel brought up.
    CPUS_UP = ("cpus_up", "CPUs up", "up", "1", Neither);
    /// Times that a CPU was taken down and brought up again by hotplug.
    HOTPLUG_CYCLES = ("hotplug_cycles", "Hotplug cycles", "cycles", "1", Neither);
    /// Hotplug requests that failed.
    HOTPLUG_FAILURES = ("hotplug_failures", "Hotplug failures", "failures", "1", Neither);
    /// 1 if the kernel came up again after a cold and a warm reset, otherwise 0.
    REBOOTED = ("rebooted", "Rebooted", "rebooted", "1", Neither);
    /// 1 if the kernel turned the machine off when it was told to, otherwise 0.
    POWERED_OFF = ("powered_off", "Powered off", "off", "1", Neither);
    /// Lines of the kernel's trace.
    TRACE_LINES = ("trace_lines", "Trace lines", "lines", "1", Neither);
    /// Entries of a CPU into an idle state.
    IDLE_ENTERED = ("idle_entered", "Idle entered", "entered", "1", Neither);
    /// The time that a CPU stayed in an idle state.
    IDLE_TIME = ("idle_time", "Idle time", "time", "us", Neither);
    /// Entries into an idle state that ended at once, because an interrupt was pending.
    IDLE_REJECTED = ("idle_rejected", "Idle rejected", "rejected", "1", Neither);
    /// Entries into an idle state while the system was suspended to idle.
    IDLE_S2IDLE = ("idle_s2idle", "Entries in suspend-to-idle", "in s2idle", "1", Neither);
    /// Stays in an idle state that were shorter than its target residency, while a shallower state
    /// was there.
    IDLE_ABOVE = ("idle_above", "Above", "above", "1", Lower);
    /// Stays in an idle state for which the next deeper state would have paid.
    IDLE_BELOW = ("idle_below", "Below", "below", "1", Lower);
    /// Share of the time in an idle state that the kernel asked for.
    IDLE_REQUESTED = ("idle_requested", "Time in a requested idle state", "requested", "%", Neither);
    /// Share of the time in an idle state, as hardware counts it.
    IDLE_HARDWARE = ("idle_hardware", "Time in an idle state of the hardware", "hardware", "%", Neither);
    /// Entries into an idle state that hardware counted.
    IDLE_HARDWARE_ENTERED = ("idle_hardware_entered", "Hardware's entries", "hw entered", "1", Neither);
    /// The time in an idle state that hardware counted.
    IDLE_HARDWARE_TIME = ("idle_hardware_time", "Hardware's idle time", "hw time", "us", Neither);
    /// The time in an idle state that hardware counted, in ticks of the time stamp counter.
    IDLE_HARDWARE_TICKS = ("idle_hardware_ticks", "Hardware's idle ticks", "hw ticks", "ticks", Neither);
    /// Mean length of a stay in an idle state that the kernel asked for.
    IDLE_MEAN = ("idle_mean", "Mean stay in an idle state", "mean", "us", Neither);
    /// The time that leaving idle states delayed the work.
    IDLE_DELAY = ("idle_delay", "Delay by idle states", "delay", "us", Lower);
    /// Energy of idle CPUs and domains, at a point of the range of what entering and leaving costs.
    /// A unit is that of the platform's table.
    IDLE_ENERGY = ("idle_energy", "Idle energy", "energy", "unit s", Lower);
    /// Idle intervals of a trace.
    IDLE_INTERVALS = ("idle_intervals", "Idle intervals", "intervals", "1", Neither);
    /// Share of the intervals in which a governor chose what the traced kernel chose.
    IDLE_AGREEMENT = ("idle_agreement", "Agreement with the traced kernel", "agreement", "1", Higher);
    /// The number of times that idle CPUs were woken, per second.
    WAKE_UP_RATE = ("wake_up_rate", "Wake-ups of idle CPUs", "wake-ups", "1/s", Lower);
    /// From the cause of a wake-up until the idle state was over, the median; the subject is the
    /// cause.
    WAKE_EXIT = ("wake_exit", "From cause to end of idle", "to exit", "us", Lower);
    /// From the end of an idle state to the first handler or task, the median; the subject is the
    /// cause.
    WAKE_RUN = ("wake_run", "From end of idle to run", "to run", "us", Lower);
    /// From a timer's expiry to the thread that it wakes from an idle state, less the same from the
    /// first state in the same round.
    EXIT_LATENCY = ("exit_latency", "Exit latency of an idle state", "exit", "us", Lower);
    /// Entries into idle states while a call from another CPU was on its way.
    IDLE_CALLED = ("idle_called", "Entries with a call pending", "called", "1", Lower);
    /// RCU callbacks that were queued, per second.
    CALLBACK_RATE = ("callback_rate", "Callbacks queued", "queued", "1/s", Neither);
    /// Context switches of all CPUs.
    CONTEXT_SWITCHES = ("context_switches", "Context switches", "switches", "1", Neither);
    /// RCU callbacks that were invoked in a softirq, per second.
    SOFTIRQ_CALLBACK_RATE = ("softirq_callback_rate", "Callbacks in softirqs", "softirq", "1/s", Neither);
    /// RCU callbacks that were invoked in threads, per second.
    THREAD_CALLBACK_RATE = ("thread_callback_rate", "Callbacks in threads", "threads", "1/s", Neither);
    /// Energy of the work that a core of capacity 1024 does in a second.
    ENERGY_PER_WORK = ("energy_per_work", "Energy of work", "of work", "unit s", Lower);
    /// From the beginning of a task's period until the task waits for the next one.
    RESPONSE = ("response", "Response time", "response", "ms", Lower);
    /// Periods that a task has finished.
    PERIODS = ("periods", "Periods", "periods", "1", Neither);
    /// From when a timer should have woken a task until the task ran.
    WAKE_LATENCY = ("wake_latency", "Wake-up latency", "latency", "us", Lower);
    /// Share of the time that a domain was in a state, or on its way into one or out of it; each
    /// domain counts as much.
    RESIDENCY = ("residency", "Residency", "residency", "1", Neither);
    /// Share of the time in which at least one CPU of a domain ran.
    RUNNING = ("running", "Running", "running", "1", Neither);
    /// Share of the time in which all CPUs of a domain were in the domain's deepest idle state.
    ASLEEP = ("asleep", "Asleep", "asleep", "1", Neither);
    /// Periods of a task that were over when it came to wait for the next one.
    MISSED_PERIODS = ("missed_periods", "Missed periods", "missed", "1", Lower);
    /// Periods that were left out because of that.
    SKIPPED_PERIODS = ("skipped_periods", "Skipped periods", "skipped", "1", Lower);
    /// The time that a task ran.
    CPU_TIME = ("cpu_time", "CPU time", "CPU time", "us", Neither);
    /// CPU time of a task on one CPU, which is the role.
    CPU_TIME_ON = ("cpu_time_on", "CPU time by CPU", "on", "us", Neither);
    /// CPU time of a task at one operating point of a domain, which is the role.
    CPU_TIME_AT = ("cpu_time_at", "CPU time by operating point", "at", "us", Neither);
    /// The number of times that a task was woken.
    TASK_WAKE_UPS = ("task_wake_ups", "Wake-ups of a task", "woken", "1", Neither);
    /// Times that a task moved to another CPU.
    MIGRATIONS = ("migrations", "Migrations", "moves", "1", Neither);
    /// The time by which a stay in an idle state is longer by a trace than by the traced kernel's
    /// own clock.
    TRACING = ("tracing", "Tracing, per stay", "tracing", "ns", Neither);
    /// The time that a read of a clock takes.
    CLOCK_READ = ("clock_read", "Clock read", "read", "ns", Lower);
    /// The time that a division takes.
    DIVISION = ("division", "Division", "division", "ns", Lower);
    /// Share of choices that another clock or another division changes.
    CHANGED_CHOICES = ("changed_choices", "Changed choices", "choices", "1", Neither);
    /// Share of the energy that another clock or another division changes.
    CHANGED_ENERGY = ("changed_energy", "Changed energy", "energy", "1", Neither);
    /// Entries of a power domain into a domain idle state.
    DOMAIN_ENTERED = ("domain_entered", "Domain entered", "entered", "1", Neither);

    // Energy.
    /// Energy of a whole machine. A unit is that of the platform's table.
    ENERGY = ("energy", "Energy", "energy", "unit s", Lower);
    /// The time that a run took.
    RUN_TIME = ("run_time", "Run time", "time", "s", Lower);
    /// Energy of an owner: the owners' sum is that of the machine.
    OWNED_ENERGY = ("owned_energy", "Energy by owner", "energy", "unit s", Lower);
    /// Power of an owner over a whole trace: its energy divided by the time.
    OWNED_POWER = ("owned_power", "Power by owner", "power", "unit", Lower);
    /// Wake-ups of idle CPUs.
    WAKE_UPS = ("wake_ups", "Wake-ups", "wake-ups", "1", Lower);
    /// Ticks of the scheduler.
    TICKS = ("ticks", "Ticks", "ticks", "1", Neither);
    /// Callbacks that were queued.
    CALLBACKS_QUEUED = ("callbacks_queued", "Callbacks queued", "queued", "1", Neither);
    /// Callbacks that were invoked.
    CALLBACKS_INVOKED = ("callbacks_invoked", "Callbacks invoked", "invoked", "1", Neither);
    /// The value that a draw took for something that was not published: a number, or which of its
    /// values.
    UNKNOWN = ("unknown", "Drawn value", "value", "1", Neither);

    // Explorer.
    /// Schedules that were tried.
    SCHEDULES = ("schedules", "Schedules tried", "schedules", "1", Neither);
    /// Operations of all schedules that were tried.
    OPERATIONS_TRIED = ("operations_tried", "Operations tried", "operations", "1", Neither);

    // Data plane.
    /// Packets forwarded in a second.
    RATE = ("rate", "Rate", "rate", "Mpps", Higher);
    /// Clocks of a node, a loop or a whole graph for each packet.
    CLOCKS_PER_PACKET = ("clocks-per-packet", "Clocks per packet", "clocks", "ticks", Lower);
    /// Clocks for each call of a node that had no packets.
    CLOCKS = ("clocks", "Clocks", "clocks", "ticks", Lower);
    /// Calls of a node that had packets.
    CALLS = ("calls", "Calls", "calls", "calls", Neither).derived();
    /// Packets that a node was given.
    VECTORS = ("vectors", "Vectors", "vectors", "packets", Neither).derived();
    /// Share of the packets that came in which a node was given.
    PACKET_SHARE = ("packet-share", "Share of packets", "share", "1", Neither);
    /// Packets for each call of a node.
    VECTORS_PER_CALL = ("vectors-per-call", "Vectors per call", "vectors", "packets", Neither);
    /// Times that a node suspended itself.
    SUSPENDS = ("suspends", "Suspends", "suspends", "suspends", Neither).derived();
    /// Polls of an input node that found no packet.
    EMPTY_POLLS = ("empty-polls", "Empty polls", "empty", "calls", Neither).derived();
    /// Clocks of the polls that found no packet.
    EMPTY_CLOCKS = ("empty-clocks", "Empty clocks", "empty", "ticks", Neither).derived();
    /// The time that counters counted.
    WINDOW = ("window", "Window", "window", "s", Neither).derived();
    /// Turns of the main loop.
    LOOPS = ("loops", "Loops", "loops", "1", Neither).derived();
    /// Packets that came in.
    RECEIVED = ("received", "Received", "in", "packets", Neither).derived();
    /// Packets that went out.
    SENT = ("sent", "Sent", "out", "packets", Neither).derived();
    /// Packets that a node dropped.
    DROPPED = ("dropped", "Dropped", "dropped", "packets", Neither);
    /// Packets that were left to the host.
    PUNTED = ("punted", "Punted", "punted", "packets", Neither);
    /// Packets that a device refused.
    REFUSED = ("refused", "Refused", "refused", "packets", Neither);
    /// From when a packet was sent until it came out; the subject says which share of the packets
    /// was as fast.
    PACKET_LATENCY = ("packet-latency", "Packet latency", "latency", "us", Lower);
    /// Events of the processor or the kernel for each packet; the role says of which kind.
    EVENTS = ("events", "Events per packet", "events", "1", Lower);
    /// Bytes that a frame touches.
    FOOTPRINT = ("footprint", "Footprint", "bytes", "bytes", Neither);
    /// Packets that were dropped or punted for a reason.
    PACKETS = ("packets", "Packets", "packets", "packets", Neither);
    /// How often a node counted a reason, such as an error, which need not be a loss; the role is
    /// the reason.
    REASONS = ("reasons", "Reasons counted", "counted", "1", Neither).derived();
    /// Share of all sampled latency, or of sampled misses, that a place has.
    SAMPLED = ("sampled", "Share of samples", "share", "%", Neither);
    /// Clocks for each packet in which the core waited for an access.
    STALL_WAITED = ("stall-waited", "Stall waited", "waited", "ticks", Lower);
    /// Clocks for each packet in which an access could not begin, because all fill buffers were in
    /// use.
    STALL_BLOCKED = ("stall-blocked", "Stall blocked", "blocked", "ticks", Lower);
    /// A packet's accesses that find their line in L2; the subject is the node, the role the kind
    /// of data.
    L2_ACCESSES = ("l2-accesses", "L2 accesses per packet", "from L2", "accesses", Lower);
    /// A packet's accesses that find their line in no cache; subject and role as for L2.
    MEMORY_ACCESSES = ("memory-accesses", "Memory accesses per packet", "from memory", "accesses", Lower);
    /// Packets of an interface that were handed to another stack.
    PUNT = ("punt", "Punt", "punt", "packets", Neither);
}

/// The ending of a metric's name for a change that a document prints beside a figure: such a
/// measure says something about the document and not about the machine.
pub const PRINTED_CHANGE: &str = "_printed_change";

/// The metric of that name; `None` for one that only another program's figures have.
pub fn by_name(name: &str) -> Option<&'static Metric> {
    static TABLE: [Metric; METRICS.len()] = METRICS;
    TABLE.iter().find(|metric| metric.name == name)
}

/// The metrics that are intervals between two points, in the order of the table.
pub fn intervals() -> impl Iterator<Item = Metric> {
    METRICS
        .into_iter()
        .filter(|metric| metric.interval.is_some())
}

/// The metrics that are intervals of a case, in the order of the table.
pub fn intervals_of(case: &str) -> impl Iterator<Item = Metric> {
    intervals().filter(move |metric| metric.cases.is_empty() || metric.cases.contains(&case))
}

/// The heading of a metric within a line of words: its title from the table, or else its name with
/// blanks.
pub fn heading(name: &str) -> String {
    let Some(metric) = by_name(name) else {
        return name.replace(['_', '-'], " ");
    };
    let mut letters = metric.title.chars();
    match (letters.next(), letters.as_str()) {
        // An abbreviation keeps its capitals.
        (Some(_), rest) if rest.starts_with(|second: char| second.is_uppercase()) => {
            metric.title.to_owned()
        }
        (Some(first), rest) => first.to_lowercase().chain(rest.chars()).collect(),
        (None, _) => String::new(),
    }
}

/// Which way is better: by the table, or else by the unit, in which times and clocks are better
/// lower and rates higher.
pub fn better(name: &str, unit: &str) -> Better {
    if let Some(metric) = by_name(name) {
        return metric.better;
    }
    match units::unit(unit).map(|unit| unit.dimension) {
        Some(units::Dimension::Rate(_)) => Higher,
        Some(_) => Lower,
        None => Neither,
    }
}

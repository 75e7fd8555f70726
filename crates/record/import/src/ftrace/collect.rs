//! Events of all formats: sorted, counted, and handed on.

use super::clusters::{ClusterIdle, Clusters};
use super::event::{Event, Point};
use super::residency::{Residency, grown, residency};
use super::wakes::{Detail, Wakes};
use crate::error::{ImportError, printable_bytes};
use recording::facts::{Away, KernelTrace};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Takes events a batch at a time, in the order of time.
pub type Taker<'a> = &'a mut dyn FnMut(&[Event]) -> Result<(), recording::Error>;

/// The content of a trace.
#[derive(Debug, Default)]
pub struct Trace {
    /// The format in words.
    pub format: String,
    /// The trace's clock, where the file names it.
    pub clock: Option<String>,
    /// Events that a recording keeps.
    pub events: u64,
    /// RCU's callbacks that were queued, by function.
    pub callbacks: BTreeMap<String, u64>,
    /// All other events, by the kernel's names for them.
    pub others: BTreeMap<String, u64>,
    /// Idle states by CPU and number.
    pub idle: BTreeMap<u16, BTreeMap<u8, Residency>>,
    /// The times in which all CPUs of a cluster were idle.
    pub clusters: Vec<ClusterIdle>,
    /// The facts that the trace gives about its kernel, and names by number: tasks by process
    /// number, and interrupts.
    pub kernel: KernelTrace,
    /// Time of the first event and of the last, in nanoseconds of the trace's clock.
    pub span_ns: Option<(u64, u64)>,
    /// The doubts about the file, a sentence each.
    pub doubts: Vec<String>,
    /// The first of the lines that were left out, where that is allowed.
    pub warnings: Vec<ImportError>,
    /// The number of lines that were left out in all.
    pub left_out: u64,
}

/// Events that are held to be put in order: text that was merged from several buffers is out of
/// order by a few lines.
const WINDOW: usize = 16 * 1024;
/// Kinds of other events that are counted by name.
const MOST_KINDS: usize = 4096;
/// Names of tasks, of interrupts and of timers at a time: far more than systems have, few enough
/// for any memory.
const MOST_NAMES: usize = 1 << 20;
/// The names of an interrupt that devices share are cut behind this.
const LONGEST_NAME: usize = 100;

/// Events on their way from a reader to a recording.
#[derive(Default)]
pub struct Collector<'a> {
    pub timers: Timers,
    pub clusters: Clusters,
    wakes: Wakes,
    /// What is said beside the event that comes next.
    detail: Detail,
    taker: Option<Taker<'a>>,
    failed: Option<recording::Error>,
    waiting: Vec<Event>,
    is_sorted: bool,
    /// Time of the last event that went on its way.
    done_ns: u64,
    cpus: Vec<Cpu>,
    events: u64,
    others: HashMap<Vec<u8>, u64>,
    tasks: HashMap<u32, Vec<u8>>,
    interrupts: BTreeMap<u32, Vec<u8>>,
    /// Tasks that ran with a lower priority than usual.
    pub low: BTreeSet<u32>,
    /// Functions of RCU's callbacks and marks with their numbers, from 1, and how many were queued.
    functions: HashMap<Vec<u8>, (u32, u64)>,
    /// Switches away from tasks in a wait that nothing interrupts; `None` before the first switch.
    waits: Option<u64>,
    /// A switch did not tell.
    has_untold_wait: bool,
    last_jiffies: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    duplicates: u64,
    disordered: u64,
    too_late: u64,
    lost: u64,
    gaps: u64,
    unpaired: u64,
    /// When the machine began to sleep last.
    suspend_ns: Option<u64>,
    away: Vec<Away>,
}

/// A CPU that is said to leave or to sleep is away where it has no event for as long; any other,
/// where it has none for a second. In nanoseconds.
const SILENT_NS: [u64; 2] = [1_000_000, 1_000_000_000];

/// The state that is remembered of a CPU.
#[derive(Clone, Default)]
struct Cpu {
    last: Option<Event>,
    /// Events that were lost before the next one.
    lost: Option<u64>,
    idle: Option<(u64, u8)>,
    states: Vec<Residency>,
    /// When its last event came.
    seen_ns: Option<u64>,
    /// It is on its way to being offline.
    leaves: bool,
}

impl<'a> Collector<'a> {
    pub fn new(taker: Option<Taker<'a>>, clusters: Clusters) -> Self {
        Self {
            clusters,
            taker,
            waiting: Vec::with_capacity(WINDOW),
            is_sorted: true,
            last_jiffies: u64::MAX,
            ..Self::default()
        }
    }

    #[inline]
    fn cpu(&mut self, number: u16) -> &mut Cpu {
        grown(&mut self.cpus, number.into())
    }

    /// Takes an event that a recording keeps.
    #[inline]
    pub fn push(&mut self, event: Event) {
        let detail = std::mem::take(&mut self.detail);
        let state = self.cpu(event.cpu);
        if state.last == Some(event) && event.point != Point::Ipi {
            self.duplicates += 1;
            return;
        }
        state.last = Some(event);
        if let Some(lost) = state.lost.take() {
            let argument = u32::try_from(lost).unwrap_or(u32::MAX);
            let lost = Event {
                point: Point::Lost,
                argument,
                ticks: 0,
                ..event
            };
            self.wakes.event(&lost, Detail::default());
            self.wait(lost);
        }
        self.wakes.event(&event, detail);
        self.wait(event);
    }

    #[inline]
    fn wait(&mut self, event: Event) {
        if self
            .waiting
            .last()
            .is_some_and(|last| event.time_ns < last.time_ns)
        {
            self.is_sorted = false;
            self.disordered += 1;
        }
        self.waiting.push(event);
        if self.waiting.len() >= WINDOW {
            self.hand_on(WINDOW * 3 / 4);
        }
    }

    /// A switch away from a task that waits where nothing interrupts it, or does not; `None` where
    /// the event does not say.
    pub fn waits(&mut self, waits: Option<bool>) {
        *self.waits.get_or_insert(0) += u64::from(waits == Some(true));
        self.has_untold_wait |= waits.is_none();
    }

    /// The count of ticks, when it was another before.
    pub fn jiffies(&mut self, event: Event) {
        if self.last_jiffies != event.ticks {
            self.last_jiffies = event.ticks;
            self.push(event);
        }
    }

    /// Counts an event that no recording keeps.
    pub fn other(&mut self, name: &[u8]) {
        if let Some(count) = self.others.get_mut(name) {
            *count += 1;
        } else {
            let name = if self.others.len() < MOST_KINDS {
                name
            } else {
                b"(further kinds)"
            };
            *self.others.entry(name.to_vec()).or_default() += 1;
        }
    }

    /// Notes that events of a CPU were lost before its next one; `None` where nobody counted them.
    pub fn lost(&mut self, cpu: u16, events: Option<u64>) {
        self.gaps += 1;
        self.lost = self.lost.saturating_add(events.unwrap_or(0));
        let lost = &mut self.cpu(cpu).lost;
        *lost = Some(lost.unwrap_or(0).saturating_add(events.unwrap_or(0)));
    }

    /// The command name of a task.
    pub fn task(&mut self, pid: u32, comm: &[u8]) {
        if let Some(known) = self.tasks.get_mut(&pid) {
            if known != comm {
                comm.clone_into(known);
            }
        } else if self.tasks.len() < MOST_NAMES {
            self.tasks.insert(pid, comm.to_vec());
        }
    }

    /// The name of an interrupt; the names where devices share it.
    pub fn interrupt(&mut self, irq: u32, name: &[u8]) {
        if let Some(names) = self.interrupts.get_mut(&irq) {
            if names != name
                && names.len() < LONGEST_NAME
                && !names.split(|byte| *byte == b',').any(|of| of == name)
            {
                names.push(b',');
                names.extend_from_slice(name);
            }
        } else if self.interrupts.len() < MOST_NAMES {
            self.interrupts.insert(irq, name.to_vec());
        }
    }

    /// A callback of RCU is queued, or invoked, or a mark is written. Returns the number of its
    /// function or of the mark; 0 if there are too many.
    pub fn function(&mut self, function: &[u8], is_queued: bool) -> u32 {
        let next = self.functions.len() as u32 + 1;
        if !self.functions.contains_key(function) {
            if next as usize > MOST_KINDS {
                return 0;
            }
            self.functions.insert(function.to_vec(), (next, 0));
        }
        self.functions
            .get_mut(function)
            .map_or(0, |(number, queued)| {
                *queued += u64::from(is_queued);
                *number
            })
    }

    /// What is said beside the event that comes next: a name, the task that ran and its own.
    pub fn detail(&mut self, name: Option<&[u8]>, task: Option<(u32, &[u8])>) {
        if let Some((pid, comm)) =
            task.filter(|(pid, comm)| *pid != 0 && !comm.is_empty() && *comm != b"<...>")
        {
            self.task(pid, comm);
        }
        self.detail = (
            self.wakes.name(name.unwrap_or_default()),
            task.map(|(pid, _)| pid),
        );
    }

    /// True if writing failed, so that reading on is of no use.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Counts the first of the waiting events and hands them on.
    fn hand_on(&mut self, count: usize) {
        if !self.is_sorted {
            self.waiting.sort_by_key(|event| event.time_ns);
        }
        let late = self
            .waiting
            .partition_point(|event| event.time_ns < self.done_ns);
        if late > 0 {
            self.too_late += late as u64;
            self.waiting.drain(..late);
        }
        let count = count.min(self.waiting.len());
        let waiting = std::mem::take(&mut self.waiting);
        let ready = &waiting[..count];
        for event in ready {
            self.count(event);
        }
        if let Some(last) = ready.last() {
            self.first_ns.get_or_insert(ready[0].time_ns);
            (self.done_ns, self.last_ns) = (last.time_ns, last.time_ns);
        }
        self.events += count as u64;
        if let (Some(taker), None) = (&mut self.taker, &self.failed) {
            self.failed = taker(ready).err();
        }
        self.waiting = waiting;
        self.waiting.drain(..count);
        // What stays behind is in order.
        self.is_sorted = true;
    }

    /// An awake CPU without an event for long, up to now, did something that nobody knows.
    fn silent(&mut self, number: usize, now_ns: u64) {
        let cpu = &mut self.cpus[number];
        let Some(seen_ns) = cpu.seen_ns.replace(now_ns).filter(|_| cpu.idle.is_none()) else {
            return;
        };
        let (why, least_ns) = match self.suspend_ns {
            _ if cpu.leaves => (Away::OFFLINE, SILENT_NS[0]),
            Some(at_ns) if (seen_ns..now_ns).contains(&at_ns) => ("suspended", SILENT_NS[0]),
            _ => ("without events", SILENT_NS[1]),
        };
        if now_ns - seen_ns >= least_ns {
            self.away.push(Away {
                cpu: number as u16,
                why: why.to_owned(),
                ns: [seen_ns, now_ns],
            });
        }
    }

    fn count(&mut self, event: &Event) {
        self.silent(event.cpu.into(), event.time_ns);
        let cpu = &mut self.cpus[usize::from(event.cpu)];
        match event.point {
            Point::Hotplug => {
                cpu.leaves = event.argument == 0;
                if cpu.leaves {
                    self.clusters.leave(event.cpu, event.time_ns);
                }
            }
            Point::Suspend if event.argument != 0 => self.suspend_ns = Some(event.time_ns),
            Point::IdleEnter => {
                self.clusters
                    .change(event.cpu, event.time_ns, Some(event.argument as u8));
                self.unpaired += u64::from(cpu.idle.is_some());
                cpu.idle = Some((event.time_ns, event.argument as u8));
            }
            Point::IdleExit => {
                self.clusters.change(event.cpu, event.time_ns, None);
                let Some((since_ns, state)) = cpu.idle.take() else {
                    self.unpaired += 1;
                    return;
                };
                residency(&mut cpu.states, state).add(event.time_ns - since_ns);
            }
            Point::IdleMiss => {
                let residency = residency(&mut cpu.states, event.ticks.min(255) as u8);
                *(if event.argument == 0 {
                    &mut residency.above
                } else {
                    &mut residency.below
                }) += 1;
            }
            Point::DomainIdleEnter => {
                if event.ticks != 0 {
                    self.suspend_ns = Some(event.time_ns);
                }
                self.clusters.domain(
                    event.cpu,
                    event.time_ns,
                    Some((event.argument, event.ticks != 0)),
                );
            }
            Point::DomainIdleExit => self.clusters.domain(event.cpu, event.time_ns, None),
            // Whatever the CPU was in, it may have left and entered again since.
            Point::Lost => {
                self.clusters.lost(event.cpu);
                cpu.idle = None;
            }
            _ => {}
        }
    }

    /// Says which CPUs were away, and for how long.
    fn tell_away(&mut self, trace: &mut Trace) {
        for number in 0..self.cpus.len() {
            self.silent(number, self.last_ns);
        }
        let of_cpu = |of: &Away| ((of.cpu, of.why.clone()), of.ns[1] - of.ns[0]);
        for ((cpu, why), times) in recording::grouped(self.away.iter().map(of_cpu)) {
            let seconds = times.iter().sum::<u64>() as f64 / 1e9;
            trace.doubts.push(format!(
                "CPU {cpu} was {why} for {seconds:.3} s, which counts neither as running nor as idle"
            ));
        }
        trace.kernel.away = std::mem::take(&mut self.away);
    }

    /// Hands on what waits still, and says what was in the trace.
    pub fn finish(mut self, mut trace: Trace) -> Result<Trace, recording::Error> {
        self.hand_on(usize::MAX);
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        self.tell_away(&mut trace);
        trace.events = self.events;
        trace.span_ns = self.first_ns.map(|first| (first, self.last_ns));
        for (name, count) in self.others {
            *trace.others.entry(printable_bytes(&name)).or_default() += count;
        }
        trace.kernel.uninterrupted_waits = self.waits.filter(|_| !self.has_untold_wait);
        let named = |(number, name): (u32, Vec<u8>)| (number, printable_bytes(&name));
        trace.kernel.low_priority = self.low;
        trace.kernel.tasks.extend(self.tasks.into_iter().map(named));
        let interrupts = self.interrupts.into_iter().map(named);
        trace.kernel.interrupts.extend(interrupts);
        for (name, (number, queued)) in self.functions {
            let name = printable_bytes(&name);
            trace.kernel.functions.insert(number, name.clone());
            if queued > 0 {
                trace.callbacks.insert(name, queued);
            }
        }
        for (number, cpu) in self.cpus.into_iter().enumerate() {
            let states: BTreeMap<u8, Residency> = (0..)
                .zip(cpu.states)
                .filter(|(_, state)| *state != Residency::default())
                .collect();
            if !states.is_empty() {
                trace.idle.insert(number as u16, states);
            }
        }
        trace.kernel.wake_ups = (!trace.idle.is_empty()).then(|| self.wakes.finish(&trace.kernel));
        trace.clusters = self.clusters.finish();
        trace.kernel.domains = trace
            .clusters
            .iter()
            .flat_map(ClusterIdle::sleeps)
            .collect();
        for (count, what) in [
            (
                self.gaps,
                "gaps where the kernel's buffers overflowed: idle intervals around them are left out",
            ),
            (
                self.lost,
                "events were lost in them, as far as they were counted",
            ),
            (self.duplicates, "events stood twice and are counted once"),
            (
                self.disordered,
                "events came before the event that stands before them, and were put in order",
            ),
            (
                self.too_late,
                "events came too late to be put in order, and were left out",
            ),
            (
                self.unpaired,
                "idle events have no partner: the trace begins or ends between them, or a CPU went offline",
            ),
        ] {
            if count > 0 {
                trace.doubts.push(format!("{count} {what}"));
            }
        }
        Ok(trace)
    }
}

/// Small numbers for the addresses of timers that are armed.
#[derive(Default)]
pub struct Timers {
    armed: HashMap<u64, (u32, bool)>,
    free: Vec<u32>,
    next: u32,
}

/// The number of a timer that was armed before the trace began.
pub const UNKNOWN_TIMER: u32 = u32::MAX;

impl Timers {
    /// The number of a timer that is armed; `tick` says whether it is the scheduler's.
    pub fn start(&mut self, address: u64, tick: bool) -> u32 {
        if let Some((number, was_tick)) = self.armed.get_mut(&address) {
            *was_tick = tick;
            return *number;
        }
        if self.armed.len() >= MOST_NAMES {
            return UNKNOWN_TIMER;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.armed.insert(address, (number, tick));
        number
    }

    /// The number of a timer that fires or is taken out, and whether it is the scheduler's.
    pub fn end(&mut self, address: u64) -> (u32, bool) {
        match self.armed.remove(&address) {
            Some((number, tick)) => {
                self.free.push(number);
                (number, tick)
            }
            None => (UNKNOWN_TIMER, false),
        }
    }
}

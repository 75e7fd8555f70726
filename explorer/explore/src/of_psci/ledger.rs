//! The books of a run: what each CPU has asked for, in which state that leaves each domain, and how
//! often each was in a state. They are kept from what the library does on its platform and from the
//! points that it stamps, by rules of their own: the library's words are not looked at before the
//! end.
//!
//! A CPU's request counts from the moment at which it is coordinated until the CPU is out of its
//! state again; both happen under the locks of the domains that it concerns, so that the books are
//! as exact as the locks are.

use self::Request::*;
use super::layout::*;
use super::names::Owner;
use crate::held;
use interleavings::subject::Breach;
use interleavings::subject::Invariant::{Answer, DomainState, Statistics};

/// States of a CPU, its cluster and the system.
pub type States = [u8; 3];

/// The request of a CPU in its present call.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Request {
    #[default]
    Nothing,
    /// CPU_OFF or CPU_FREEZE, with the states that it asks for.
    Off(States),
    Suspend {
        states: States,
        last: u8,
    },
    DefaultSuspend(States),
    SystemSuspend(States),
    Mode,
}

/// A breach of what the books say of states.
fn wrong_state<T>(what: String) -> Result<T, Breach> {
    Err((DomainState, what))
}

/// DENIED and INVALID_PARAMETERS.
pub const DENIED: u64 = -3i64 as u64;
pub const INVALID_PARAMETERS: u64 = -2i64 as u64;
const INTERNAL_FAILURE: u64 = -6i64 as u64;

/// Refusals of the platform, as bits by the negative of their codes: NOT_SUPPORTED,
/// INVALID_PARAMETERS, DENIED and INVALID_ADDRESS.
pub const NOT_OFFERED: u64 = 1 << 1;
pub const NO_STATE: u64 = 1 << 2;
pub const VETO: u64 = 1 << 3;
pub const WRONG_ENTRY: u64 = 1 << 9;

/// The state of SYSTEM_SUSPEND.
pub const SYSTEM: States = [2, 2, 1];

/// The highest level.
const TOP: u8 = 2;

/// A CPU that is in a state, or on its way into it or out of it.
#[derive(Clone, Copy)]
struct Sleeper {
    granted: States,
    /// The highest level whose lock it held then, and will hold when it wakes.
    locks: u8,
    /// True if the CPU went down by CPU_SUSPEND.
    suspend: bool,
    /// True if the CPU went down by CPU_OFF, or was off from the start.
    off: bool,
}

/// Stays in states: how many ended in a wake-up, by state, and between which bounds their times
/// add up.
#[derive(Clone, Default)]
struct Stays {
    began: [u64; 3],
    ended: [u64; 3],
    least: [u64; 3],
    most: [u64; 3],
    /// The operations between which the last one began.
    since: Option<(u32, u32)>,
    /// Stays that every reader of the statistics must see: the call in which they ended is over.
    settled: [u64; 3],
    settled_least: [u64; 3],
}

#[derive(Clone, Default)]
struct CpuBooks {
    asks: Request,
    /// The states that it asks of its cluster and of the system while it is down.
    noted: States,
    down: Option<Sleeper>,
    stays: Stays,
    /// The operation at which its call began, at which it last took the lock of each level, and
    /// from which on it is awake again.
    called: u32,
    acquired: [u32; 3],
    woke: u32,
    // --- Of the present call
    /// The mode that everybody knew of when it began.
    mode: Option<u8>,
    changes: u32,
    committed: bool,
    slept: bool,
    left_early: bool,
    looked: bool,
    pending: bool,
    asked: bool,
    /// The refusals of the platform that are due: one of them is the call's answer.
    due: u64,
    power_on_failed: bool,
    /// A standby that others know of has ended, and the CPU is not out of it yet.
    is_back: bool,
    /// What was asked for, where a port has taken it for a shallower state.
    wanted: Option<States>,
    /// What a port has answered for its domains, by level.
    targets: [Option<u8>; 3],
    /// The answer of the rules of the suspend, where the OS coordinates: an error, or 0.
    verdict: Option<u64>,
    /// The state that ended at each level by the present call, or 0, and its least time.
    unsettled: [(u8, u64); 3],
    /// Since when it is in no suspend.
    awake_since: Option<u32>,
    /// The time stamps that PMF serves, as they were taken.
    stamps: [u64; 6],
    /// Since when it has been waiting in its state.
    rests_since: Option<u32>,
}

#[derive(Clone, Default)]
struct DomainBooks {
    state: u8,
    stays: Stays,
}

/// The books. Domain 0 is the system; the clusters follow.
#[derive(Clone, Default)]
pub(crate) struct Ledger {
    shape: Shape,
    cpus: Vec<CpuBooks>,
    domains: Vec<DomainBooks>,
    /// The suspend mode, as long as it is plain.
    mode: Option<u8>,
    /// Calls that change it, so far and at present; and the mode before them.
    changes: u32,
    changing: u32,
    overlapped: bool,
    before: Option<u8>,
    /// Calls of CPU_SUSPEND so far; since which operation everybody knows that there was one after
    /// the last change of mode; whether there may have been; and how many there were when a change
    /// began, while none was in progress.
    suspends: u32,
    suspended_since: Option<u32>,
    may_have_suspended: bool,
    suspends_before: Option<u32>,
    /// A suspend has failed: nothing orders the mark that there was one before its answer.
    has_failed: bool,
    /// False once it is not plain any more by which rules a request was granted.
    is_exact: bool,
}

pub fn highest(states: &States) -> u8 {
    states.iter().rposition(|&state| state != 0).unwrap_or(0) as u8
}

/// The levels above the CPU's own at which there is a state, and that.
fn of_domains(states: States) -> impl Iterator<Item = (usize, u8)> {
    states
        .into_iter()
        .enumerate()
        .skip(1)
        .filter(|&(_, state)| state != 0)
}

/// True if there are such states: all are known, no level is skipped, and none loses its contents
/// above one that keeps them.
pub fn is_sound(states: &States) -> bool {
    let loses =
        |level: u8| states[usize::from(level)] != 0 && loses(level, states[usize::from(level)]);
    are_known(states)
        && !(states[1] == 0 && states[2] != 0)
        && (1..3).all(|level| loses(level - 1) || !loses(level))
}

/// A suspend as the last of its domains that did not return `right`, or SUCCESS without one.
fn wrong_as_last(states: &States, last: u8, right: Option<u64>) -> String {
    let right = match right {
        None | Some(0) => "SUCCESS".to_owned(),
        Some(error) => (error as i64).to_string(),
    };
    format!(
        "CPU_SUSPEND to {} as the last up to level {last} should have returned {right}, and returned",
        shown(states)
    )
}

pub fn shown(states: &States) -> String {
    let [cpu, cluster, system] = states;
    format!("{cpu}.{cluster}.{system}")
}

impl Ledger {
    /// All CPUs and domains are off, since ever.
    pub(crate) fn new(shape: Shape) -> Self {
        let cpu = CpuBooks {
            noted: OFF,
            down: Some(Sleeper {
                granted: OFF,
                locks: TOP,
                suspend: false,
                off: true,
            }),
            mode: Some(0),
            awake_since: Some(0),
            ..CpuBooks::default()
        };
        let domain = |state| DomainBooks {
            state,
            ..DomainBooks::default()
        };
        let mut domains = vec![domain(OFF[1]); shape.clusters() + 1];
        domains[0].state = OFF[2];
        Self {
            shape,
            cpus: vec![cpu; shape.cpus],
            domains,
            mode: Some(0),
            before: Some(0),
            is_exact: true,
            ..Self::default()
        }
    }

    /// Starts a run: its operations are counted anew.
    pub(crate) fn begin_run(&mut self) {
        let again = |stays: &mut Stays| stays.since = stays.since.map(|_| (0, u32::MAX));
        for cpu in &mut self.cpus {
            again(&mut cpu.stays);
            (cpu.called, cpu.acquired, cpu.woke) = (0, [0; 3], 0);
            cpu.awake_since = cpu.awake_since.map(|_| 0);
        }
        for domain in &mut self.domains {
            again(&mut domain.stays);
        }
    }

    fn shares(&self, one: usize, other: usize, level: usize) -> bool {
        self.shape.domain(one, level) == self.shape.domain(other, level)
    }

    // --- What a CPU does
    // ----------------------------------------------------------------------------

    /// A call begins, for which the platform has these refusals.
    pub(crate) fn calls(&mut self, cpu: usize, asks: Request, due: u64, now: u32) {
        if matches!(asks, Suspend { states, .. } if is_sound(&states)) {
            self.suspends += 1;
            self.may_have_suspended = true;
        }
        if asks == Mode {
            if self.changing == 0 {
                (self.before, self.overlapped) = (self.mode, false);
                self.suspends_before = (!self.has_failed
                    && !self
                        .cpus
                        .iter()
                        .any(|books| matches!(books.asks, Suspend { .. })))
                .then_some(self.suspends);
            } else {
                self.overlapped = true;
            }
            self.changing += 1;
            self.changes += 1;
            self.mode = None;
        }
        let own = &mut self.cpus[cpu];
        own.asks = asks;
        own.rests_since = None;
        own.called = now;
        (own.mode, own.changes) = (self.mode, self.changes);
        (own.asked, own.committed, own.slept, own.left_early) = (false, false, false, false);
        (own.looked, own.pending) = (false, false);
        (own.due, own.power_on_failed, own.is_back, own.verdict) = (due, false, false, None);
        (own.wanted, own.targets) = (None, [None; 3]);
        if matches!(asks, Suspend { .. }) {
            own.awake_since = None;
        }
    }

    /// PSCI_SET_SUSPEND_MODE has returned.
    pub(crate) fn mode_changed(&mut self, wanted: u8, succeeded: bool) {
        self.changing -= 1;
        if succeeded && self.before != Some(wanted) {
            self.suspended_since = None;
            // It may have been the mode all the time.
            self.may_have_suspended &= self.before.is_none();
            self.may_have_suspended |=
                self.overlapped || self.suspends_before != Some(self.suspends);
        }
        self.mode = match (self.changing, self.overlapped) {
            (0, false) if succeeded => Some(wanted),
            (0, false) => self.before,
            _ => None,
        };
    }

    /// The mode, if it was plain since the call began.
    fn mode_of(&self, cpu: usize) -> Option<u8> {
        self.cpus[cpu]
            .mode
            .filter(|_| self.cpus[cpu].changes == self.changes)
    }

    /// The platform is asked whether the CPU may go down, and says so.
    pub(crate) fn is_asked(&mut self, cpu: usize) -> bool {
        self.cpus[cpu].asked = true;
        !self.was_vetoed(cpu)
    }

    /// The power of a CPU is to go: in this call the platform was asked whether it may. A veto that
    /// nobody asked for was due, whether it would have come or not.
    pub(crate) fn may_go(&self, cpu: usize) -> Result<(), Breach> {
        let own = &self.cpus[cpu];
        held(own.asked && own.due == 0, Answer, || {
            format!("CPU {cpu} goes down, and the platform was not asked, or has refused it")
        })
    }

    /// True if the present call of a CPU is CPU_SUSPEND.
    pub(crate) fn suspends(&self, cpu: usize) -> bool {
        matches!(self.cpus[cpu].asks, Suspend { .. })
    }

    /// A port has refused the call, or not, for this reason.
    pub(crate) fn refuses(&mut self, cpu: usize, reason: u64, refuses: bool) {
        let due = &mut self.cpus[cpu].due;
        *due &= !reason;
        if refuses {
            *due |= reason;
        }
    }

    /// A port takes the request of a CPU for these states, which are not deeper.
    pub(crate) fn takes(&mut self, cpu: usize, taken: States) {
        let own = &mut self.cpus[cpu];
        if let Suspend { states, .. } | SystemSuspend(states) = &mut own.asks {
            own.wanted = Some(std::mem::replace(states, taken)).filter(|wanted| *wanted != taken);
        }
    }

    /// A port answers with the state of a CPU's domain at a level; returns its answer for the level
    /// below.
    pub(crate) fn answers(&mut self, cpu: usize, level: u8, state: u8) -> Option<u8> {
        let targets = &mut self.cpus[cpu].targets;
        targets[usize::from(level)] = Some(state);
        targets[usize::from(level) - 1]
    }

    pub(crate) fn power_on_failed(&mut self, cpu: usize, failed: bool) {
        self.cpus[cpu].power_on_failed = failed;
    }

    /// The library looks whether an interrupt is pending.
    pub(crate) fn looks(&mut self, cpu: usize, pending: bool) {
        self.cpus[cpu].looked = true;
        self.cpus[cpu].pending |= pending;
    }

    pub(crate) fn left_early(&mut self, cpu: usize) {
        self.cpus[cpu].left_early = true;
    }

    /// A CPU starts at its reset vector, or its standby has ended.
    pub(crate) fn wakes(&mut self, cpu: usize, now: u32) {
        self.cpus[cpu].woke = now;
    }

    /// A CPU has the lock of its domain at a level. Nothing that the level's states depend on
    /// changes from here on until it lets the lock go, unless the CPU changes it.
    pub(crate) fn acquired(&mut self, cpu: usize, level: u8, now: u32) -> Result<(), Breach> {
        let own = &mut self.cpus[cpu];
        own.acquired[usize::from(level)] = now;
        if own.is_back && own.down.is_some_and(|down| down.locks == level) {
            return self.is_out(cpu, true, None, now);
        }
        if let Suspend { states, last } = own.asks
            && !own.committed
            && level == TOP
        {
            self.cpus[cpu].verdict = Some(self.verdict(cpu, &states, last));
        }
        Ok(())
    }

    /// The answer to a request of a CPU where the OS coordinates: 0 if it is granted. PSCI DEN0022,
    /// 4.2.3.2: the caller must be the last one at every level that it takes down, and what lies
    /// below must stand it.
    fn verdict(&self, cpu: usize, states: &States, last: u8) -> u64 {
        if last > TOP || highest(states) > last {
            return INVALID_PARAMETERS;
        }
        let mut answer = 0;
        for (level, &wanted) in states
            .iter()
            .enumerate()
            .take(usize::from(last) + 1)
            .skip(1)
        {
            for (other, books) in self.cpus.iter().enumerate() {
                if other == cpu || !self.shares(cpu, other, level) {
                    continue;
                }
                // Who wakes without this level's lock must find the level as it left it.
                let Some(down) = books.down.filter(|down| usize::from(down.locks) >= level) else {
                    return DENIED;
                };
                let beside = match level {
                    1 => down.granted[0],
                    _ if self.shares(cpu, other, level - 1) => continue,
                    _ => self.domains[self.shape.domain(other, level - 1)].state,
                };
                if wanted == 0 {
                    continue;
                }
                if beside == 0 {
                    return DENIED;
                }
                if loses(level as u8, wanted) && !loses(level as u8 - 1, beside) {
                    answer = INVALID_PARAMETERS;
                }
            }
        }
        answer
    }

    /// Platform-coordinated: each domain takes the state that the board has for what is asked of it,
    /// or that the port has answered, and above one that runs everything runs. The highest level of
    /// which something is asked, as well.
    fn coordinate(&mut self, cpu: usize, asked: &States) -> (States, u8) {
        let to = highest(asked);
        let mut granted = [asked[0], 0, 0];
        let mut down = true;
        for level in 1..=usize::from(to) {
            self.cpus[cpu].noted[level] = asked[level];
            let of_domain = self
                .cpus
                .iter()
                .enumerate()
                .filter(|(other, _)| self.shares(cpu, *other, level));
            let state = self.cpus[cpu].targets[level]
                .unwrap_or_else(|| coordinate(of_domain.map(|(_, books)| books.noted[level])));
            down = down && state != 0;
            granted[level] = if down { state } else { 0 };
        }
        (granted, to)
    }

    /// A CPU's request is granted: it goes down with its domains up to level `up_to`, and with the
    /// locks up to level `locks` held. Returns the states, and whether the OS coordinates them.
    pub(crate) fn is_granted(
        &mut self,
        cpu: usize,
        up_to: u8,
        locks: u8,
        now: u32,
    ) -> Result<(States, bool), Breach> {
        let own = &mut self.cpus[cpu];
        own.committed = true;
        let began = (
            if locks > 0 {
                own.acquired[usize::from(locks)]
            } else {
                own.called
            },
            now,
        );
        own.noted = [0; 3];
        held(!own.pending, Answer, || {
            format!("CPU {cpu} goes down, though it has found an interrupt pending")
        })?;
        let asks = own.asks;
        let may_go = own.looked || matches!(asks, Off(_) | Nothing | Mode);
        held(may_go, Answer, || {
            format!("CPU {cpu} goes down, and has not looked whether an interrupt is pending")
        })?;
        let mode = self.mode_of(cpu);
        let (granted, lock_to) = self.right_states(cpu, asks, locks)?;
        if self.is_exact && lock_to != locks {
            return wrong_state(format!(
                "CPU {cpu} goes down with the locks up to level {locks} held, and those up to level {lock_to} would be right"
            ));
        }
        if self.is_exact && highest(&granted) != up_to {
            return wrong_state(format!(
                "CPU {cpu} takes what lies above it down up to level {up_to}, and what its CPUs ask for makes {}",
                shown(&granted)
            ));
        }
        let suspend = matches!(asks, Suspend { .. });
        let own = &mut self.cpus[cpu];
        own.down = Some(Sleeper {
            granted,
            locks,
            suspend,
            off: asks == Off(SYSTEM),
        });
        own.stays.begin(granted[0], began);
        for (level, state) in of_domains(granted) {
            let domain = &mut self.domains[self.shape.domain(cpu, level)];
            domain.state = state;
            domain.stays.begin(state, began);
        }
        Ok((granted, suspend && mode == Some(1)))
    }

    /// Another CPU that is not off, or is frozen.
    pub(crate) fn one_not_off(&self, cpu: usize) -> Option<usize> {
        let is_off = |other: usize| self.cpus[other].down.is_some_and(|down| down.off);
        (0..self.cpus.len()).find(|&other| other != cpu && !is_off(other))
    }

    /// The states that a request of a CPU makes right, and the level up to which its locks must be
    /// held.
    fn right_states(
        &mut self,
        cpu: usize,
        asks: Request,
        locks: u8,
    ) -> Result<(States, u8), Breach> {
        let mode = self.mode_of(cpu);
        Ok(match asks {
            Off(states) | DefaultSuspend(states) => self.coordinate(cpu, &states),
            SystemSuspend(states) => {
                if let Some(other) = self.one_not_off(cpu) {
                    return Err((
                        Answer,
                        format!("CPU {cpu} suspends the system, and CPU {other} is not off"),
                    ));
                }
                self.cpus[cpu].noted = states;
                (states, TOP)
            }
            Suspend { states, last } => {
                let verdict = self.verdict(cpu, &states, last);
                let by_os = match mode {
                    Some(mode) => mode == 1,
                    // Where neither the locks nor the answer tell, the books are closed.
                    None if locks != highest(&states) => true,
                    None if highest(&states) < TOP || verdict != 0 => false,
                    None => {
                        self.is_exact = false;
                        true
                    }
                };
                if by_os {
                    if let Some(wanted) = self.cpus[cpu].wanted.filter(|_| self.is_exact) {
                        return Err((
                            Answer,
                            format!(
                                "CPU {cpu} in validate_power_state takes {} for {}, and the OS coordinates: {0} or an error would be right",
                                shown(&wanted),
                                shown(&states)
                            ),
                        ));
                    }
                    if verdict != 0 && self.is_exact {
                        return wrong_state(format!(
                            "CPU {cpu} is granted {} as the last up to level {last}, and {} would be right",
                            shown(&states),
                            if verdict == DENIED {
                                "DENIED"
                            } else {
                                "INVALID_PARAMETERS"
                            },
                        ));
                    }
                    self.cpus[cpu].noted[1..].copy_from_slice(&states[1..]);
                    (states, TOP)
                } else {
                    self.coordinate(cpu, &states)
                }
            }
            Nothing | Mode => ([0; 3], 0),
        })
    }

    /// A CPU tells the power controller of its states, or waits in them.
    pub(crate) fn goes_down(&mut self, cpu: usize, states: States) -> Result<(), Breach> {
        let is_exact = self.is_exact;
        let own = &self.cpus[cpu];
        let right = match (own.down.filter(|_| own.committed), own.asks) {
            (Some(down), _) => down.granted,
            (None, Suspend { states, .. } | DefaultSuspend(states)) if states == [1, 0, 0] => {
                states
            }
            // Before its first run there is nothing that it could have asked for.
            _ => {
                return wrong_state(format!("CPU {cpu} goes to {} unasked", shown(&states)));
            }
        };
        if own.down.is_none() && matches!(own.asks, Suspend { .. }) && self.mode_of(cpu) == Some(1)
        {
            return wrong_state(format!(
                "CPU {cpu} waits where nobody knows of it, though the OS coordinates"
            ));
        }
        if is_exact && right != states {
            return wrong_state(format!(
                "CPU {cpu} goes to {}, and what was asked for makes {}",
                shown(&states),
                shown(&right)
            ));
        }
        Ok(())
    }

    /// A CPU's standby has ended.
    pub(crate) fn standby_ends(&mut self, cpu: usize, states: States, now: u32) {
        let own = &mut self.cpus[cpu];
        own.slept = true;
        own.woke = now;
        match own.down {
            Some(_) => own.is_back = true,
            // Alone, without a lock: nobody else knows of it.
            None => {
                own.stays.begin(states[0], (own.called, now));
                // The time is counted between two stamps around it.
                own.unsettled[0] = own.stays.end(states[0], (own.called, now));
            }
        }
    }

    /// A CPU is out of its state, under the locks: by a wake-up, which counts, or since its
    /// power-down was abandoned. `found` are the states that it takes itself and its domains to be
    /// in, where that is known.
    pub(crate) fn is_out(
        &mut self,
        cpu: usize,
        counts: bool,
        found: Option<States>,
        now: u32,
    ) -> Result<(), Breach> {
        let Some(down) = self.cpus[cpu].down.take() else {
            return wrong_state(format!("CPU {cpu} comes up from no state"));
        };
        let mut states = [down.granted[0], 0, 0];
        for (level, state) in states
            .iter_mut()
            .enumerate()
            .take(usize::from(down.locks) + 1)
            .skip(1)
        {
            *state = self.domains[self.shape.domain(cpu, level)].state;
            if *state == 0 {
                break;
            }
        }
        if let Some(found) = found.filter(|found| self.is_exact && *found != states) {
            return wrong_state(format!(
                "CPU {cpu} comes up from {}, and it and its domains were in {}",
                shown(&found),
                shown(&states)
            ));
        }
        let own = &mut self.cpus[cpu];
        own.slept = true;
        own.is_back = false;
        own.rests_since = None;
        own.noted = [0; 3];
        let woke = (own.woke, now);
        if counts {
            own.unsettled[0] = own.stays.end(states[0], woke);
        }
        for (level, state) in of_domains(states) {
            let domain = &mut self.domains[self.shape.domain(cpu, level)];
            domain.state = 0;
            if counts {
                self.cpus[cpu].unsettled[level] = domain.stays.end(state, woke);
            }
        }
        Ok(())
    }

    /// Counts the stays that ended in the present call of a CPU for everybody.
    fn settle(&mut self, cpu: usize) {
        let own = &mut self.cpus[cpu];
        for (level, (state, least)) in std::mem::take(&mut own.unsettled).into_iter().enumerate() {
            let stays = match level {
                0 => &mut self.cpus[cpu].stays,
                _ => &mut self.domains[self.shape.domain(cpu, level)].stays,
            };
            stays.settled[usize::from(state)] += 1;
            stays.settled_least[usize::from(state)] += least;
        }
    }

    /// A call is over: it has returned `x0`, or the CPU enters the normal world with `None`.
    pub(crate) fn returns(
        &mut self,
        cpu: usize,
        x0: Option<u64>,
        resident: bool,
        now: u32,
    ) -> Result<(), Breach> {
        let mode = self.mode_of(cpu);
        let own = &mut self.cpus[cpu];
        let asks = std::mem::replace(&mut own.asks, Nothing);
        own.awake_since.get_or_insert(now);
        self.settle(cpu);
        let Some(x0) = x0 else { return Ok(()) };
        self.has_failed |= x0 != 0 && matches!(asks, Suspend { .. });
        match self.wrong_answer(cpu, asks, x0, resident, mode) {
            Some(what) => Err((Answer, format!("{what} CPU {cpu} {}", x0 as i64))),
            None => Ok(()),
        }
    }

    /// The beginning of a sentence that says what is wrong about the answer `x0` to `asks`. `mode`
    /// is the mode that was plain since the call began.
    fn wrong_answer(
        &self,
        cpu: usize,
        asks: Request,
        x0: u64,
        resident: bool,
        mode: Option<u8>,
    ) -> Option<String> {
        let own = &self.cpus[cpu];
        let given = u32::try_from(x0.wrapping_neg())
            .ok()
            .and_then(|code| 1_u64.checked_shl(code))
            .unwrap_or(0);
        // Calls that pass an answer on may return NOT_SUPPORTED.
        let wrong_alone = if asks == Nothing {
            WRONG_ENTRY
        } else {
            NOT_OFFERED | WRONG_ENTRY
        };
        match asks {
            Suspend { states, .. } | DefaultSuspend(states) if !is_sound(&states) => {
                (x0 != INVALID_PARAMETERS || own.committed).then(|| {
                    let states = shown(&states);
                    format!("CPU_SUSPEND to {states}, which is no state, returned")
                })
            }
            _ if own.due != 0 || given & wrong_alone != 0 => (own.due & given == 0).then(|| {
                let did = if own.due != 0 {
                    "refuses"
                } else {
                    "does not refuse"
                };
                format!("a call that the platform {did} returned")
            }),
            Suspend { .. } | DefaultSuspend(_) if x0 == 0 => {
                (!own.slept && !own.left_early).then(|| {
                    "a suspend in which it did not sleep, and which no interrupt ended, returned"
                        .to_owned()
                })
            }
            Suspend { states, last } => {
                let right = own.verdict.filter(|_| mode != Some(0));
                (self.is_exact && right != Some(x0)).then(|| wrong_as_last(&states, last, right))
            }
            DefaultSuspend(_) => {
                Some("CPU_DEFAULT_SUSPEND, which nobody refused, returned".to_owned())
            }
            Off(_) if x0 != DENIED || !(own.committed || resident) => {
                Some("a CPU_OFF or CPU_FREEZE, which nobody refused, returned".to_owned())
            }
            Off(_) => (resident && own.committed).then(|| {
                "a CPU_OFF or CPU_FREEZE went on where the Trusted OS resides, and returned"
                    .to_owned()
            }),
            SystemSuspend(_) => {
                let slept = x0 == 0 && (own.slept || own.left_early);
                (x0 != DENIED && !slept)
                    .then(|| "SYSTEM_SUSPEND, in which it did not sleep, returned".to_owned())
            }
            Mode | Nothing => None,
        }
    }

    /// CPU_OFF or CPU_FREEZE goes on: it must not, where the Trusted OS resides.
    pub(crate) fn is_off(&self, cpu: usize) -> bool {
        matches!(self.cpus[cpu].asks, Off(_))
    }

    /// The time stamps of a CPU, by the ids of their points.
    pub(crate) fn stamps(&mut self, cpu: usize) -> &mut [u64; 6] {
        &mut self.cpus[cpu].stamps
    }

    /// The answer of a CPU_ON says that the power controller refused, if and only if it did.
    pub(crate) fn turned_on(&self, cpu: usize, x0: u64) -> Result<(), Breach> {
        let failed = self.cpus[cpu].power_on_failed;
        let did = if failed { "refused" } else { "did not refuse" };
        held(failed == (x0 == INTERNAL_FAILURE), Answer, || {
            let x0 = x0 as i64;
            format!("CPU_ON returned {x0} to CPU {cpu}, and the power controller {did}")
        })
    }

    /// The vetoes of the call, for who wants to know why it was refused.
    pub(crate) fn was_vetoed(&self, cpu: usize) -> bool {
        self.cpus[cpu].due & VETO != 0
    }

    /// The call ended before it changed anything.
    pub(crate) fn did_leave_early(&self, cpu: usize) -> bool {
        self.cpus[cpu].left_early
    }

    /// The mode before the present change.
    pub(crate) fn mode_before(&self) -> Option<u8> {
        self.before.filter(|_| !self.overlapped)
    }

    /// A CPU waits, and has completed all its stores: from here on everybody can know its state.
    pub(crate) fn rests(&mut self, cpu: usize, now: u32) {
        let own = &mut self.cpus[cpu];
        own.rests_since = Some(now);
        if matches!(own.asks, Suspend { .. }) && (own.changes, 0) == (self.changes, self.changing) {
            self.suspended_since.get_or_insert(now);
        }
    }

    /// Whether a CPU had called CPU_SUSPEND before this operation, since the mode last changed: it
    /// certainly had, and it may have.
    pub(crate) fn suspended_before(&self, then: u32) -> (bool, bool) {
        (
            self.suspended_since.is_some_and(|since| since <= then),
            self.may_have_suspended,
        )
    }

    /// True if a CPU rests in CPU_SUSPEND since before this operation and still.
    pub(crate) fn slept_since(&self, cpu: usize, then: u32) -> bool {
        let own = &self.cpus[cpu];
        own.down.is_some_and(|down| down.suspend)
            && own.rests_since.is_some_and(|since| since <= then)
    }

    /// True if a CPU has been in no suspend since before this operation.
    pub(crate) fn awake_since(&self, cpu: usize, then: u32) -> bool {
        self.cpus[cpu]
            .awake_since
            .is_some_and(|since| since <= then)
    }

    // --- Statistics
    // ---------------------------------------------------------------------------------

    /// Stays in a state of a CPU or its ancestor: those that are counted for everybody, and those
    /// that have begun; and the least and the most that they took together.
    pub(crate) fn counts(&self, cpu: usize, level: usize, state: u8) -> [u64; 4] {
        let stays = match level {
            0 => &self.cpus[cpu].stays,
            _ => &self.domains[self.shape.domain(cpu, level)].stays,
        };
        let slot = usize::from(state);
        [
            stays.settled[slot],
            stays.began[slot],
            stays.settled_least[slot],
            stays.most[slot],
        ]
    }

    /// Compares the library's counts with the books: `read` returns count and time of a CPU
    /// (`None`) or a domain in a state.
    pub(crate) fn compare(&self, read: impl Fn(Owner, u8) -> (u64, u64)) -> Result<(), Breach> {
        if !self.is_exact {
            return Ok(());
        }
        let cpus = (0..)
            .map(Owner::Cpu)
            .zip(self.cpus.iter().map(|cpu| &cpu.stays));
        let domains = (0..)
            .map(Owner::Domain)
            .zip(self.domains.iter().map(|domain| &domain.stays));
        for (owner, stays) in cpus.chain(domains) {
            for state in 1..3_u8 {
                let (count, time) = read(owner, state);
                let slot = usize::from(state);
                let name = || match owner {
                    Owner::Cpu(cpu) => format!("CPU {cpu}"),
                    Owner::Domain(domain) => super::names::domain(domain),
                };
                let ended = stays.ended[slot];
                held(count == ended, Statistics, || {
                    format!(
                        "{} was counted {count} times out of state {state}, and came out of it {ended} times",
                        name()
                    )
                })?;
                let (least, most) = (stays.least[slot], stays.most[slot]);
                held((least..=most).contains(&time), Statistics, || {
                    format!(
                        "{} is said to have been in state {state} for {time} operations, and was for {least} to {most}",
                        name()
                    )
                })?;
            }
        }
        Ok(())
    }
}

impl Stays {
    fn begin(&mut self, state: u8, between: (u32, u32)) {
        self.began[usize::from(state)] += 1;
        self.since = Some(between);
    }

    /// A stay ends, between two operations; returns the state and the least time. One that began
    /// before anything was counted does not count: state 0.
    fn end(&mut self, state: u8, woke: (u32, u32)) -> (u8, u64) {
        let Some((earliest, latest)) = self.since else {
            return (0, 0);
        };
        let slot = usize::from(state);
        let least = u64::from(woke.0.saturating_sub(latest));
        self.ended[slot] += 1;
        self.least[slot] += least;
        self.most[slot] += u64::from(woke.1.saturating_sub(earliest));
        (state, least)
    }
}

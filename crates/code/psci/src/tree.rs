//! The power-domain tree at work: ancestors, their locks, and the coordination of their states.

use crate::cpu_index::CpuIndex;
use crate::error::Error;
use crate::lock::{CPU_LOCK, Lock};
use crate::platform::Platform;
use crate::points::psci as point;
use crate::psci::Psci;
use crate::settings::LockKind;
use crate::state::{CPU_LEVEL, CompositeState, Level, LocalState};
use crate::state_checks;
use crate::storage::{Affinity, CpuRecord, DomainRecord, Sleep, WakeRecord};
use crate::suspend_request::SuspendRequest;

/// Aff3..Aff0 of an MPIDR. An argument's other bits must be 0 by the specification (PSCI DEN0022,
/// 5.1.4: the parameter target_cpu). CPU_ON and AFFINITY_INFO refuse them ([`names_a_cpu`]). The
/// other calls ignore them: readers pass `MPIDR_EL1` as it is, and its bit 31 is always 1.
pub(crate) const AFFINITY: u64 = 0xff_00ff_ffff;

/// Says whether an argument has affinity fields alone.
#[inline]
pub(crate) fn names_a_cpu(mpidr: u64) -> Result<(), Error> {
    match mpidr & !AFFINITY {
        0 => Ok(()),
        _ => Err(Error::InvalidParameters),
    }
}

/// The CPU that makes the call, with its record.
pub(crate) struct Caller<'a, P: Platform> {
    pub cpu: CpuIndex,
    pub record: &'a CpuRecord<P>,
}

impl<P: Platform> Clone for Caller<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Platform> Copy for Caller<'_, P> {}

/// The records of some CPUs but for the caller's.
#[inline(always)]
fn others<'a, P: Platform>(
    cpus: &'a [CpuRecord<P>],
    me: Caller<'a, P>,
) -> impl Iterator<Item = &'a CpuRecord<P>> {
    cpus.iter()
        .filter(move |other| !core::ptr::eq(*other, me.record))
}

impl<'a, P: Platform> Psci<'a, P> {
    /// The calling CPU.
    #[inline(always)]
    pub(crate) fn caller(&self) -> Option<Caller<'a, P>> {
        let cpu = self.platform.this_cpu();
        Some(Caller {
            cpu,
            record: self.cpus.get(cpu.get())?,
        })
    }

    /// The CPU that an `mpidr` argument names.
    #[inline]
    pub(crate) fn target(&self, mpidr: u64) -> Result<(CpuIndex, &'a CpuRecord<P>), Error> {
        let cpu = self
            .platform
            .cpu_by_mpidr(mpidr & AFFINITY)
            .ok_or(Error::InvalidParameters)?;
        Ok((
            cpu,
            self.cpus.get(cpu.get()).ok_or(Error::InvalidParameters)?,
        ))
    }

    /// A CPU's ancestor at `level`, 1 to the top.
    #[inline]
    pub(crate) fn ancestor(
        &self,
        record: &CpuRecord<P>,
        level: Level,
    ) -> Option<(u16, &'a DomainRecord<P>)> {
        if level > self.top {
            return None;
        }
        let id = *record.ancestors.get(usize::from(level).wrapping_sub(1))?;
        Some((id, self.domains.get(usize::from(id))?))
    }

    /// The CPUs below a domain.
    #[inline]
    pub(crate) fn cpus_of(&self, domain: &DomainRecord<P>) -> &'a [CpuRecord<P>] {
        let first = domain.first.get();
        self.cpus
            .get(first..first + usize::from(domain.cpus))
            .unwrap_or(&[])
    }

    /// A CPU's own lock, for the transitions of CPU_ON. Taken with caches on only, so it is a
    /// ticket lock everywhere.
    #[inline]
    pub(crate) fn cpu_lock(&self, cpu: CpuIndex, record: &'a CpuRecord<P>) -> Lock<'a, P> {
        Lock::ticket(CPU_LOCK + u32::from(cpu.0), &record.lock)
    }

    fn ancestor_lock(&self, record: &CpuRecord<P>, level: Level) -> Option<Lock<'a, P>> {
        let (id, domain) = self.ancestor(record, level)?;
        Some(match self.platform.lock_kind() {
            LockKind::Ticket => Lock::ticket(u32::from(id), &domain.lock),
            LockKind::Bakery => {
                // The words lie level by level, and within a level by CPU: those of a domain are
                // consecutive.
                let first = (usize::from(level) - 1) * self.cpus.len() + domain.first.get();
                let words = self.words.get(first..first + usize::from(domain.cpus))?;
                Lock::bakery(u32::from(id), words, domain.first)
            }
        })
    }

    /// Locks the ancestors from level 1 up to `to`.
    pub(crate) fn lock_ancestors(&self, me: Caller<'a, P>, to: Level) {
        for level in 1..=to.min(self.top) {
            if let Some(lock) = self.ancestor_lock(me.record, level) {
                lock.acquire(self.platform, me.cpu);
            }
        }
    }

    /// Releases the ancestors from level `to` down to 1.
    pub(crate) fn release_ancestors(&self, me: Caller<'a, P>, to: Level) {
        for level in (1..=to.min(self.top)).rev() {
            if let Some(lock) = self.ancestor_lock(me.record, level) {
                lock.release(self.platform, me.cpu);
            }
        }
    }

    /// Decodes `power_state` and checks that the tree has such a state.
    #[inline]
    pub(crate) fn decode(&self, raw: u32) -> Result<SuspendRequest, Error> {
        let fields = crate::PowerState::parse(self.platform.power_state_format(), raw)
            .ok_or(Error::InvalidParameters)?;
        let request = self.platform.decode_power_state(raw)?;
        let power_down = self
            .platform
            .is_power_down(CPU_LEVEL, request.state.at(CPU_LEVEL));
        if !state_checks::is_sound(self.platform, &request.state, self.top)
            || power_down != fields.power_down
        {
            return Err(Error::InvalidParameters);
        }
        Ok(request)
    }

    /// Platform-coordinated mode: notes what the caller asks for and returns what becomes of it. Up
    /// to `to`, under the locks (PSCI DEN0022, 4.2.3.1).
    pub(crate) fn coordinate(
        &self,
        me: Caller<'a, P>,
        request: &CompositeState,
        to: Level,
    ) -> CompositeState {
        let mut state = CompositeState::RUN;
        state.set(CPU_LEVEL, request.at(CPU_LEVEL));
        let mut down = true;
        for level in 1..=to.min(self.top) {
            let Some((_, domain)) = self.ancestor(me.record, level) else {
                break;
            };
            if let Some(own) = me.record.request(level) {
                own.store(self.platform, request.at(level));
            }
            // Above a domain that runs everything runs, but all must know of the request.
            if !down || request.at(level) == LocalState::RUN {
                down = false;
                continue;
            }
            let requests = self
                .cpus_of(domain)
                .iter()
                .filter_map(|cpu| cpu.request(level));
            let local = self
                .platform
                .coordinate(level, requests.map(|request| request.load(self.platform)));
            down = local != LocalState::RUN;
            state.set(level, local);
        }
        state
    }

    /// OS-initiated mode: checks that the caller is the last one at every level it takes down, and
    /// that what lies below those levels stands it. Changes nothing (PSCI DEN0022, 4.2.3.2).
    ///
    /// # Errors
    /// [`Error::Denied`] if something below a level runs, whatever else is wrong;
    /// [`Error::InvalidParameters`] if all of it sleeps, and in a state that the one asked for does
    /// not go with.
    pub(crate) fn check_os_request(
        &self,
        me: Caller<'a, P>,
        request: &SuspendRequest,
    ) -> Result<(), Error> {
        if request.last_at_level > self.top || request.state.highest() > request.last_at_level {
            return Err(Error::InvalidParameters);
        }
        let mut answer = Ok(());
        for level in 1..=request.last_at_level {
            let Some((_, domain)) = self.ancestor(me.record, level) else {
                return Err(Error::InvalidParameters);
            };
            let wanted = request.state.at(level);
            let loses = wanted != LocalState::RUN && self.platform.is_power_down(level, wanted);
            for other in others(self.cpus_of(domain), me) {
                let down = other.wake_record.load(self.platform);
                // A CPU that wakes without this level's lock must find the level as it left it.
                if down.state == LocalState::RUN || down.locks_to < level {
                    return Err(Error::Denied);
                }
                match self.state_beside(me, other, level - 1, down.state) {
                    Some(LocalState::RUN) if wanted != LocalState::RUN => {
                        return Err(Error::Denied);
                    }
                    // A runner may still follow, and weighs more.
                    Some(local) if loses && !self.platform.is_power_down(level - 1, local) => {
                        answer = Err(Error::InvalidParameters);
                    }
                    _ => {}
                }
            }
        }
        answer
    }

    /// The state of another CPU's domain at `level`, or of the CPU itself, which is in the state
    /// `cpu`; `None` if the caller shares the domain.
    fn state_beside(
        &self,
        me: Caller<'a, P>,
        other: &CpuRecord<P>,
        level: Level,
        cpu: LocalState,
    ) -> Option<LocalState> {
        match self.ancestor(other, level) {
            None => Some(cpu),
            Some((id, _))
                if self
                    .ancestor(me.record, level)
                    .is_some_and(|(own, _)| own == id) =>
            {
                None
            }
            Some((_, domain)) => Some(domain.state.load(self.platform)),
        }
    }

    /// Writes the states that a request was granted, with the locks up to `locks_to` held. From
    /// here on a wake-up finds them.
    pub(crate) fn commit(
        &self,
        me: Caller<'a, P>,
        state: &CompositeState,
        locks_to: Level,
        why: Sleep,
    ) {
        let now = self.platform.now();
        me.record.statistics.begin(self.platform, now);
        for level in 1..=state.highest() {
            if let Some((_, domain)) = self.ancestor(me.record, level) {
                domain.statistics.begin(self.platform, now);
                domain.state.store(self.platform, state.at(level));
            }
        }
        me.record.wake_record.store(
            self.platform,
            WakeRecord {
                state: state.at(CPU_LEVEL),
                locks_to,
                why,
            },
        );
        points::detail(
            self.platform,
            point::COORDINATED,
            u32::from(state.highest()),
        );
    }

    /// The states in which a CPU that wakes finds itself and its ancestors. Called with the locks
    /// up to `down.locks_to` held.
    pub(crate) fn wake_state(&self, me: Caller<'a, P>, down: WakeRecord) -> CompositeState {
        let mut state = CompositeState::RUN;
        state.set(CPU_LEVEL, down.state);
        for level in 1..=down.locks_to.min(self.top) {
            let Some((_, domain)) = self.ancestor(me.record, level) else {
                break;
            };
            let local = domain.state.load(self.platform);
            if local == LocalState::RUN {
                break; // and so does everything above
            }
            state.set(level, local);
        }
        state
    }

    /// Marks the caller and those of its ancestors that were down in `wake_state` as running.
    /// `woke` is the counter's value when they left their states; with `None` the stay does not
    /// count. Called under the locks up to `locks_to`, with the caches on.
    pub(crate) fn set_running(
        &self,
        me: Caller<'a, P>,
        wake_state: &CompositeState,
        locks_to: Level,
        woke: Option<u64>,
    ) {
        for level in 1..=locks_to.min(self.top) {
            let Some((_, domain)) = self.ancestor(me.record, level) else {
                break;
            };
            if let Some(own) = me.record.request(level) {
                own.store(self.platform, LocalState::RUN);
            }
            if wake_state.at(level) != LocalState::RUN {
                domain.state.store(self.platform, LocalState::RUN);
                if let Some(now) = woke {
                    domain
                        .statistics
                        .end(self.platform, level, wake_state.at(level), now);
                }
            }
        }
        if let Some(now) = woke {
            me.record
                .statistics
                .end(self.platform, CPU_LEVEL, wake_state.at(CPU_LEVEL), now);
        }
        me.record
            .wake_record
            .store(self.platform, WakeRecord::RUNNING);
    }

    /// True if another CPU is in CPU_SUSPEND, as far as others can know: a standby of level 0 that
    /// the platform coordinates leaves no trace.
    pub(crate) fn another_sleeps(&self, me: Caller<'a, P>) -> bool {
        others(self.cpus, me).any(|other| {
            let down = other.wake_record.load(self.platform);
            down.state != LocalState::RUN && down.why == Sleep::Suspend
        })
    }

    /// True if every CPU but the caller is off.
    /// A frozen one is not: it holds its domains.
    pub(crate) fn all_others_off(&self, me: Caller<'a, P>) -> bool {
        others(self.cpus, me).all(|other| {
            let is_off = other.affinity.load(self.platform) == Affinity::Off;
            is_off && other.wake_record.load(self.platform).state != LocalState::RUN
        })
    }
}

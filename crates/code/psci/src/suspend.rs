//! CPU_SUSPEND, CPU_DEFAULT_SUSPEND and SYSTEM_SUSPEND (PSCI DEN0022, 5.4, 5.18 and 5.20).

use crate::error::Error;
use crate::platform::Platform;
use crate::points::psci as point;
use crate::power_down::Abandonment;
use crate::psci::Psci;
use crate::state::{CPU_LEVEL, CompositeState, Level};
use crate::state_checks;
use crate::storage::{Sleep, WakeRecord};
use crate::suspend_mode::Mode;
use crate::suspend_request::SuspendRequest;
use crate::transition::PowerDown;
use crate::tree::Caller;

impl<'a, P: Platform> Psci<'a, P> {
    /// CPU_SUSPEND.
    pub(crate) fn cpu_suspend(
        &self,
        me: Caller<'a, P>,
        power_state: u32,
        entry: (u64, u64),
    ) -> Result<(), Error> {
        let request = self.decode(power_state)?;
        let mode = self.note_suspend();
        if mode == Mode::PlatformCoordinated && self.is_standby(&request.state) {
            // The commonest idle state by far, kept free of what the others need. Where the OS
            // coordinates it takes the long way: the last CPU of a domain may then ask for the
            // domain's retention, for which this CPU must be known to sleep.
            self.wait_in_standby(me, &request.state);
            return Ok(());
        }
        self.suspend(me, &request, mode, Sleep::Suspend, entry)
    }

    /// CPU_DEFAULT_SUSPEND: the platform's state, always coordinated by the platform.
    pub(crate) fn cpu_default_suspend(
        &self,
        me: Caller<'a, P>,
        entry: (u64, u64),
    ) -> Result<(), Error> {
        let state = self
            .platform
            .default_suspend_state()
            .ok_or(Error::NotSupported)?;
        if !state_checks::is_sound(self.platform, &state, self.top) {
            return Err(Error::InternalFailure);
        }
        if self.is_standby(&state) {
            self.wait_in_standby(me, &state);
            return Ok(());
        }
        let request = SuspendRequest {
            state,
            last_at_level: CPU_LEVEL,
        };
        self.suspend(me, &request, Mode::PlatformCoordinated, Sleep::Other, entry)
    }

    /// True if the CPU alone waits, and keeps its contents.
    #[inline(always)]
    fn is_standby(&self, state: &CompositeState) -> bool {
        state.highest() == CPU_LEVEL && !self.platform.is_power_down(CPU_LEVEL, state.at(CPU_LEVEL))
    }

    /// Under locks: all but a standby of level 0 that the platform coordinates.
    fn suspend(
        &self,
        me: Caller<'a, P>,
        request: &SuspendRequest,
        mode: Mode,
        why: Sleep,
        entry: (u64, u64),
    ) -> Result<(), Error> {
        let power_down = self
            .platform
            .is_power_down(CPU_LEVEL, request.state.at(CPU_LEVEL));
        let level = request.state.highest();
        if power_down {
            if !self.platform.is_valid_entry_point(entry.0) {
                return Err(Error::InvalidAddress);
            }
            if !self
                .platform
                .power_down_allowed(&request.state, PowerDown::Suspend)
            {
                return Err(Error::Denied);
            }
            me.record.resume_entry.store(self.platform, entry);
        }
        // Once the OS decides, another CPU's request can take any level above us down while we
        // sleep, so the wake-up must lock all of them, and the other must see all that we do here.
        let locks_to = match mode {
            Mode::PlatformCoordinated => level,
            Mode::OsInitiated => self.top,
        };
        self.lock_ancestors(me, locks_to);
        if self.leaves_early(me, locks_to) {
            return Ok(());
        }
        let state = match mode {
            Mode::PlatformCoordinated => self.coordinate(me, &request.state, locks_to),
            Mode::OsInitiated => {
                if let Err(error) = self.check_os_request(me, request) {
                    self.release_ancestors(me, locks_to);
                    return Err(error);
                }
                self.note_request(me, &request.state);
                request.state
            }
        };
        self.commit(me, &state, locks_to, why);
        if power_down {
            // TurnedOn cannot be: only a CPU that is off is turned on.
            let (Abandonment::Undone | Abandonment::TurnedOn(_)) =
                self.power_down(me, &state, locks_to, PowerDown::Suspend);
        } else {
            self.retain(me, &state, locks_to);
        }
        Ok(())
    }

    /// SYSTEM_SUSPEND: all other CPUs must be off; nothing to coordinate.
    pub(crate) fn system_suspend(&self, me: Caller<'a, P>, entry: (u64, u64)) -> Result<(), Error> {
        let state = self
            .platform
            .system_suspend_state()
            .ok_or(Error::NotSupported)?;
        if !state_checks::is_sound(self.platform, &state, self.top)
            || !self.platform.is_power_down(CPU_LEVEL, state.at(CPU_LEVEL))
        {
            return Err(Error::InternalFailure);
        }
        if !self.platform.is_valid_entry_point(entry.0) {
            return Err(Error::InvalidAddress);
        }
        if !self.platform.power_down_allowed(&state, PowerDown::Suspend) {
            return Err(Error::Denied);
        }
        me.record.resume_entry.store(self.platform, entry);
        self.lock_ancestors(me, self.top);
        if !self.all_others_off(me) {
            self.release_ancestors(me, self.top);
            return Err(Error::Denied);
        }
        if self.leaves_early(me, self.top) {
            return Ok(());
        }
        self.note_request(me, &state);
        self.commit(me, &state, self.top, Sleep::Other);
        let (Abandonment::Undone | Abandonment::TurnedOn(_)) =
            self.power_down(me, &state, self.top, PowerDown::Suspend);
        Ok(())
    }

    /// True if an interrupt would end the suspend at once; then the locks are released and nothing
    /// has changed.
    fn leaves_early(&self, me: Caller<'a, P>, locks_to: Level) -> bool {
        let pending = self.platform.interrupt_pending();
        if pending {
            points::detail(self.platform, point::LEFT_EARLY, 0);
            self.release_ancestors(me, locks_to);
        }
        pending
    }

    /// Notes what the caller asks of its ancestors, where nobody coordinates.
    fn note_request(&self, me: Caller<'a, P>, state: &CompositeState) {
        for level in 1..=state.highest() {
            if let Some(own) = me.record.request(level) {
                own.store(self.platform, state.at(level));
            }
        }
    }

    /// Standby of the CPU alone: no lock, nothing that others see.
    fn wait_in_standby(&self, me: Caller<'a, P>, state: &CompositeState) {
        let began = self.stamp_through(me, point::ENTER_HW_LOW_PWR);
        self.platform.standby(state);
        let woke = self.stamp_through(me, point::EXIT_HW_LOW_PWR);
        me.record.statistics.add(
            self.platform,
            CPU_LEVEL,
            state.at(CPU_LEVEL),
            woke.saturating_sub(began),
        );
    }

    /// Retention of the CPU and of ancestors, which is committed and locked.
    fn retain(&self, me: Caller<'a, P>, state: &CompositeState, locks_to: Level) {
        self.release_ancestors(me, locks_to);
        self.stamp_through(me, point::ENTER_HW_LOW_PWR);
        self.platform.standby(state);
        let woke = self.stamp_through(me, point::EXIT_HW_LOW_PWR);
        self.lock_ancestors(me, locks_to);
        let wake_state = self.wake_state(
            me,
            WakeRecord {
                state: state.at(CPU_LEVEL),
                locks_to,
                why: Sleep::Other,
            },
        );
        self.set_running(me, &wake_state, locks_to, Some(woke));
        self.release_ancestors(me, locks_to);
    }
}

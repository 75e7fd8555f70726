//! The way into a power-down, which CPU_SUSPEND, SYSTEM_SUSPEND and CPU_OFF share, and the way back
//! when it is abandoned.

use crate::call::EntryPoint;
use crate::platform::Platform;
use crate::points::psci as point;
use crate::psci::Psci;
use crate::settings::MessageOrder;
use crate::state::{CPU_LEVEL, CompositeState, Level};
use crate::state_checks;
use crate::storage::{Affinity, Sleep, WakeRecord};
use crate::transition::{PowerDown, PowerUp};
use crate::tree::Caller;

/// Reason why a power-down ended without a reset.
pub(crate) enum Abandonment {
    /// Everything is undone, and the caller goes on as before.
    Undone,
    /// The CPU was as good as off, and another one turned it on meanwhile: it goes where that
    /// CPU_ON says.
    TurnedOn(EntryPoint),
}

impl<'a, P: Platform> Psci<'a, P> {
    /// Takes the caller down to `state`, which is committed, with the locks up to `locks_to` held.
    /// Returns only if the power-down is abandoned; then everything is undone and the locks are
    /// free.
    pub(crate) fn power_down(
        &self,
        me: Caller<'a, P>,
        state: &CompositeState,
        locks_to: Level,
        why: PowerDown,
    ) -> Abandonment {
        let level = state_checks::highest_power_down(self.platform, state).unwrap_or(CPU_LEVEL);
        if why == PowerDown::Suspend {
            self.platform.save_context();
            points::detail(self.platform, point::CONTEXT_SAVED, 0);
        }

        self.stamp(me, point::ENTER_CFLUSH, u32::from(level));
        if self.platform.coherent_power_down() {
            self.platform.request_hardware_flush(level);
        } else {
            self.platform.flush_caches(level);
        }
        // From here on our stores go to memory, past caches in which others may hold old lines.
        self.stamp(me, point::EXIT_CFLUSH, u32::from(level));
        self.platform.interrupts_off();
        points::detail(self.platform, point::INTERRUPTS_OFF, 0);

        match self.platform.message_order() {
            MessageOrder::InsideLocks => {
                self.send_message(state, level, why);
                self.release_ancestors(me, locks_to);
            }
            MessageOrder::OutsideLocks => {
                self.release_ancestors(me, locks_to);
                self.send_message(state, level, why);
            }
        }
        if why == PowerDown::Off {
            // Last, after the message: from here on another CPU may turn us on, and its message
            // must come after ours.
            me.record.affinity.store(self.platform, Affinity::Off);
        }
        self.stamp(me, point::ENTER_HW_LOW_PWR, 0);
        self.platform.wait_for_power_down();
        self.undo(
            me,
            WakeRecord {
                state: state.at(CPU_LEVEL),
                locks_to,
                why: Sleep::Other,
            },
            why,
        )
    }

    #[inline]
    fn send_message(&self, state: &CompositeState, level: Level, why: PowerDown) {
        points::detail(self.platform, point::MESSAGE_BEGIN, u32::from(level));
        self.platform.power_down(state, why);
        points::detail(self.platform, point::MESSAGE_END, u32::from(level));
    }

    /// The terminal WFI returned: the CPU kept its registers, but its caches and interrupts are
    /// off, and others believe it down.
    #[cold]
    fn undo(&self, me: Caller<'a, P>, down: WakeRecord, why: PowerDown) -> Abandonment {
        self.stamp(me, point::EXIT_HW_LOW_PWR, 0);
        points::detail(self.platform, point::ABANDONED, u32::from(down.locks_to));
        // As on the way up: the caches come on once the domain is open again, or nobody would snoop
        // them.
        self.lock_ancestors(me, down.locks_to);
        let wake_state = self.wake_state(me, down);
        self.platform.power_down_abandoned(&wake_state);
        self.join_coherency();

        let mut turned_on = None;
        if why == PowerDown::Off {
            let lock = self.cpu_lock(me.cpu, me.record);
            lock.acquire(self.platform, me.cpu);
            if me.record.affinity.load(self.platform) == Affinity::OnPending {
                turned_on = Some(self.on_entry(me));
            }
            me.record.affinity.store(self.platform, Affinity::On);
            lock.release(self.platform, me.cpu);
        }
        match turned_on {
            None => self.platform.interrupts_on(),
            Some(_) => self.platform.interrupts_init(),
        }
        points::detail(self.platform, point::INTERRUPTS_ON, 0);
        self.set_running(me, &wake_state, down.locks_to, None);
        self.release_ancestors(me, down.locks_to);
        match turned_on {
            None => Abandonment::Undone,
            Some(entry) => Abandonment::TurnedOn(entry),
        }
    }

    /// The entry point that CPU_ON left for the caller; under the caller's own lock.
    pub(crate) fn on_entry(&self, me: Caller<'a, P>) -> EntryPoint {
        me.record.on_entry.load(self.platform, PowerUp::On)
    }
}

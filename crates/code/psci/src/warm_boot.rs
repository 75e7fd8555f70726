//! The warm boot path: a CPU that comes out of reset.

use crate::call::EntryPoint;
use crate::platform::Platform;
use crate::points::psci as point;
use crate::psci::Psci;
use crate::storage::Affinity;
use crate::transition::PowerUp;
use crate::tree::Caller;

impl<'a, P: Platform> Psci<'a, P> {
    /// Runs on a CPU after a reset other than the cold boot's: finishes the CPU_ON or the suspend
    /// that it comes from, and returns where it enters the normal world.
    ///
    /// Called with the MMU and caches off or on, as [`Platform::warm_reset`] expects. A CPU that
    /// nobody turned on (on some machines all CPUs start together) stays here in
    /// [`Platform::wait_for_power_down`] until a CPU_ON.
    pub fn warm_boot(&self) -> EntryPoint {
        // Before anything else: the wakeup that is measured starts here.
        let woke = self.platform.now();
        let Some(me) = self.caller() else {
            return self.wait_forever();
        };
        if self.platform.coherent_power_down() {
            // Until `warm_reset` has turned the caches on, a store would go past a line that is
            // still in them: nothing evicts it here, and readers would find the stamp of the wakeup
            // before.
            self.platform.warm_reset();
            self.stamp_at(me, point::EXIT_HW_LOW_PWR, 0, woke);
        } else {
            self.stamp_at(me, point::EXIT_HW_LOW_PWR, 0, woke);
            self.platform.warm_reset();
        }
        points::detail(self.platform, point::RESET_DONE, 0);

        let entry = match self.wait_until_turned_on(me) {
            PowerUp::Resume => self.finish_suspend(me, woke),
            PowerUp::On => self.finish_on(me, woke),
        };
        self.stamp(me, point::EXIT_PSCI, 0);
        entry
    }

    /// Reads what the CPU comes from; with its cache off from memory.
    #[inline]
    fn wait_until_turned_on(&self, me: Caller<'a, P>) -> PowerUp {
        loop {
            match me.record.affinity.load(self.platform) {
                Affinity::On => return PowerUp::Resume,
                Affinity::OnPending => return PowerUp::On,
                Affinity::Off => self.platform.wait_for_power_down(),
            }
        }
    }

    /// A CPU that the topology does not know has nowhere to go.
    #[cold]
    fn wait_forever(&self) -> EntryPoint {
        loop {
            self.platform.wait_for_power_down();
        }
    }

    /// Takes locks up to the level that the suspend locked: none after a suspend of the CPU alone,
    /// since no ancestor can have gone down without its request.
    fn finish_suspend(&self, me: Caller<'a, P>, woke: u64) -> EntryPoint {
        let down = me.record.wake_record.load(self.platform);
        self.lock_ancestors(me, down.locks_to);
        points::detail(self.platform, point::FINISHER, 1);
        let wake_state = self.wake_state(me, down);
        self.platform.powered_up(&wake_state, PowerUp::Resume);
        points::detail(self.platform, point::POWERED_UP, 0);
        self.join_coherency();
        self.platform.interrupts_on();
        points::detail(self.platform, point::INTERRUPTS_ON, 0);
        self.platform.restore_context();
        points::detail(self.platform, point::CONTEXT_RESTORED, 0);
        self.set_running(me, &wake_state, down.locks_to, Some(woke));
        self.release_ancestors(me, down.locks_to);

        me.record.resume_entry.load(self.platform, PowerUp::Resume)
    }

    fn finish_on(&self, me: Caller<'a, P>, woke: u64) -> EntryPoint {
        let down = me.record.wake_record.load(self.platform);
        self.lock_ancestors(me, self.top);
        points::detail(self.platform, point::FINISHER, 0);
        let wake_state = self.wake_state(me, down);
        self.platform.powered_up(&wake_state, PowerUp::On);
        points::detail(self.platform, point::POWERED_UP, 0);
        self.join_coherency();
        self.platform.interrupts_init();
        points::detail(self.platform, point::INTERRUPTS_ON, 0);

        // The caller of CPU_ON holds our lock until it has sent its message: wait for it.
        let lock = self.cpu_lock(me.cpu, me.record);
        lock.acquire(self.platform, me.cpu);
        let entry = self.on_entry(me);
        me.record.affinity.store(self.platform, Affinity::On);
        lock.release(self.platform, me.cpu);

        self.set_running(me, &wake_state, self.top, Some(woke));
        self.release_ancestors(me, self.top);
        entry
    }

    #[inline]
    pub(crate) fn join_coherency(&self) {
        if !self.platform.coherent_power_down() {
            self.platform.caches_on();
            points::detail(self.platform, point::CACHES_ON, 0);
        }
    }
}

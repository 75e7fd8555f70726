//! The power controller: channels that take commands, and what it does with a CPU.

use crate::Soc;
use crate::config::ScpProtocol;
use crate::cpu::{CpuState, Waiting};
use crate::entry::Entry;
use crate::mailbox::{Channel, Command};
use crate::points;
use psci::CpuIndex;

impl Soc {
    /// Sends a command on this CPU's channel and returns when the protocol lets the CPU go on.
    pub(crate) fn send(&self, command: Command) {
        let cpu = self.current_cpu_index();
        let number = cpu % self.channels.len();
        let channel = &self.channels[number];
        let declared = matches!(command, Command::Down { wakes: true, .. });
        if declared {
            self.send_in_order();
        }
        let lock = self.channel_lock(number);
        lock.acquire(self, CpuIndex(cpu as u16));
        self.stamp(points::SCP_WAIT, number as u32);
        match self.protocol() {
            ScpProtocol::Scpi => {
                self.wait_on(channel, cpu, || channel.slot.get().is_none());
                self.post(number, command);
            }
            ScpProtocol::Scmi => {
                self.post(number, command);
                self.wait_on(channel, cpu, || channel.answered.get());
                channel.answered.set(false);
            }
        }
        self.stamp(points::SCP_WAIT_END, number as u32);
        lock.release(self, CpuIndex(cpu as u16));
    }

    fn post(&self, number: usize, command: Command) {
        self.advance(self.memory_access());
        self.channels[number].slot.set(Some(command));
        self.scheduler.wake(self.channel_process(number));
    }

    fn wait_on(&self, channel: &Channel, cpu: usize, ready: impl Fn() -> bool) {
        while !ready() {
            channel.waiter.set(Some(cpu));
            self.wait_for(Waiting::Scp);
        }
        channel.waiter.set(None);
        // The read that finds it ready.
        self.advance(self.memory_access());
    }

    fn wake_waiter(&self, channel: &Channel) {
        if let Some(cpu) = channel.waiter.get() {
            self.scheduler.wake(cpu);
        }
    }

    /// A channel's process.
    pub(crate) fn run_channel(&self, number: usize) {
        let channel = &self.channels[number];
        loop {
            let Some(command) = channel.slot.get() else {
                self.scheduler.wait(None);
                continue;
            };
            self.advance(self.costs().scp.take);
            channel.slot.set(None);
            channel.answered.set(self.protocol() == ScpProtocol::Scmi);
            self.stamp_for(command.sender(), points::SCP_TAKES, number as u32);
            self.wake_waiter(channel);
            match command {
                Command::Down { cpu, cluster, wakes } => self.turn_off(number, cpu, cluster, wakes),
                Command::On { cpu, .. } => self.turn_on(cpu),
            }
            self.stamp_for(command.sender(), points::SCP_DONE, number as u32);
        }
    }

    fn turn_off(&self, channel: usize, cpu: usize, cluster: bool, wakes: bool) {
        let target = &self.cpus[cpu];
        while target.waiting.get() != Waiting::Power {
            target.watched_by.set(Some(self.channel_process(channel)));
            self.scheduler.wait(None);
        }
        target.watched_by.set(None);
        self.advance(self.costs().scp.core_off);
        if cluster {
            self.advance(self.costs().scp.cluster_off);
            self.domains_on[self.machine.platform.topology.cpus[cpu].domain].set(false);
        }
        self.enter_state(cpu, if wakes { CpuState::Suspended } else { CpuState::Off });
        self.stamp_for(cpu, points::POWER_OFF, u32::from(cluster));
        // A CPU that only sleeps keeps its normal world in memory; one that is off has none.
        self.scheduler.restart(cpu, usize::from(wakes), Entry::Down as u32);
    }

    fn turn_on(&self, cpu: usize) {
        self.cpus[cpu].turned_on.set(true);
        if self.cpus[cpu].waiting.get() == Waiting::Power {
            self.scheduler.wake(cpu);
        }
    }

    /// What a CPU without power does: it waits for a wake-up, then gets power and starts at the reset vector.
    pub(crate) fn run_powered_down(&self) {
        let cpu = self.current_cpu_index();
        let this = &self.cpus[cpu];
        // The WFI that ended in the loss of power is over. An interrupt that is pending already leaves no other wait to say so, and the
        // SCP would take the CPU's next power-down for done before its WFI.
        this.waiting.set(Waiting::Nothing);
        this.caches_on.set(false);
        this.l1_dirty.set(0);
        let sleeps = this.state.get() == CpuState::Suspended;
        self.scheduler.set_daemon(cpu, !sleeps);
        loop {
            if this.turned_on.replace(false) || (sleeps && this.pending_interrupts.get().any()) {
                break;
            }
            self.wait_for(Waiting::Power);
        }
        self.scheduler.set_daemon(cpu, false);
        self.note_waking(cpu);
        self.advance(self.machine.platform.assumed.core_on);
        let domain = &self.domains_on[self.machine.platform.topology.cpus[cpu].domain];
        if !domain.replace(true) {
            self.advance(self.machine.platform.assumed.cluster_on);
        }
        self.enter_state(cpu, CpuState::Running);
        self.stamp(points::POWER_ON, 0);
    }
}

//! The power controller: channels that take commands, and what it does with a CPU; and the power
//! units, which take a CPU's power without a command.

use crate::Soc;
use crate::config::{PowerUps, ScpProtocol};
use crate::cpu::{CpuState, Waiting};
use crate::entry::Entry;
use crate::mailbox::{Channel, Command};
use crate::points;
use engine::Time;
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
        match self.machine.release.scp_protocol {
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
        self.channels[number].posted.set(self.now());
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

    /// The process of a channel's server: serves messages and power-ups in the order in which they
    /// came.
    pub(crate) fn run_channel(&self, number: usize) {
        let channel = &self.channels[number];
        loop {
            let command = channel.slot.get();
            if let Some(cpu) = self.next_to_power_up(channel, command.is_some()) {
                self.power_up(cpu);
                continue;
            }
            let Some(command) = command else {
                self.scheduler.wait(None);
                continue;
            };
            self.advance(self.machine.costs.scp.take);
            channel.slot.set(None);
            channel
                .answered
                .set(self.machine.release.scp_protocol == ScpProtocol::Scmi);
            self.stamp_for(command.sender(), points::SCP_TAKES, number as u32);
            self.wake_waiter(channel);
            match command {
                Command::Down {
                    cpu,
                    cluster,
                    wakes,
                } => self.turn_off(number, cpu, cluster, wakes),
                Command::On { cpu, .. } => self.turn_on(cpu),
            }
            self.stamp_for(command.sender(), points::SCP_DONE, number as u32);
        }
    }

    /// Takes the next CPU that waits for its power out of a channel's set; of several the one with
    /// the lowest affinity, as an interrupt controller hands them out. A CPU that asked after the
    /// command in the slot was written comes after it.
    fn next_to_power_up(&self, channel: &Channel, has_command: bool) -> Option<usize> {
        let mut waking = channel.waking.borrow_mut();
        let before = |asked: Time| !has_command || asked <= channel.posted.get();
        let mpidr = |cpu: usize| self.machine.platform.topology.cpus[cpu].mpidr();
        let next = (0..waking.len())
            .filter(|&at| before(waking[at].0))
            .min_by_key(|&at| mpidr(waking[at].1))?;
        Some(waking.swap_remove(next).1)
    }

    fn turn_off(&self, channel: usize, cpu: usize, cluster: bool, wakes: bool) {
        self.wait_for_wfi(cpu, self.channel_process(channel));
        self.advance(self.machine.costs.scp.core_off);
        // An SCP that powers cores up itself knows which of them run. Beside hardware that powers
        // them up, it turns the cluster off as the message says.
        let knows = self.machine.platform.power_ups == PowerUps::OneByOne;
        if cluster && !(knows && self.keeps_cluster_up(cpu)) {
            self.flush_shared_by_hardware(cpu);
            self.advance(self.machine.costs.scp.cluster_off);
            self.domains_on[self.machine.platform.topology.cpus[cpu].domain].set(false);
        }
        self.lose_power(cpu, cluster, wakes);
    }

    /// True if another core of a CPU's cluster runs, which keeps the cluster up.
    fn keeps_cluster_up(&self, cpu: usize) -> bool {
        let members = &self.machine.platform.topology.cpus;
        let domain = members[cpu].domain;
        let runs = |other: usize| self.cpus[other].state.get() == CpuState::Running;
        (0..members.len())
            .any(|other| other != cpu && members[other].domain == domain && runs(other))
    }

    /// Gives a CPU power, and its cluster if it has none.
    fn power_up(&self, cpu: usize) {
        self.advance(self.machine.core_on());
        let domain = &self.domains_on[self.machine.platform.topology.cpus[cpu].domain];
        if !domain.replace(true) {
            self.advance(self.machine.platform.assumed.cluster_on);
        }
        self.cpus[cpu].has_power.set(true);
        self.scheduler.wake(cpu);
    }

    /// Waits until a CPU is in its terminal WFI and hardware has flushed the caches that it has to
    /// itself. `watcher` is the process that runs.
    fn wait_for_wfi(&self, cpu: usize, watcher: usize) {
        let target = &self.cpus[cpu];
        while target.waiting.get() != Waiting::Power {
            target.watched_by.set(Some(watcher));
            self.scheduler.wait(None);
        }
        target.watched_by.set(None);
        if self.machine.release.hardware_coherency {
            let dirty = target.l1_dirty.take();
            self.flush_by_hardware(
                cpu,
                target.l1_lines + target.own_l2_lines,
                target.costs.hardware_flush_line,
                dirty,
            );
            let shared = &self.l2_dirty[usize::from(target.cluster)];
            shared.set((shared.get() + dirty).min(target.l2_lines + target.l3_lines));
        }
    }

    /// The cache that a cluster's cores share is flushed by hardware, on a machine that stays
    /// coherent until then.
    fn flush_shared_by_hardware(&self, cpu: usize) {
        if self.machine.release.hardware_coherency {
            let target = &self.cpus[cpu];
            let dirty = self.l2_dirty[usize::from(target.cluster)].take();
            self.flush_by_hardware(
                cpu,
                target.l2_lines + target.l3_lines,
                self.machine.costs.hardware_shared_line,
                dirty,
            );
        }
    }

    /// Hardware walks `lines` and writes the dirty ones back. Costs that say nothing of such a
    /// flush have none.
    fn flush_by_hardware(&self, cpu: usize, lines: u64, line: Time, dirty: u64) {
        if line == 0 || lines == 0 {
            return;
        }
        self.stamp_for(cpu, points::HARDWARE_FLUSH, lines as u32);
        self.advance(lines * line + dirty * self.machine.platform.line_transfer);
        self.stamp_for(cpu, points::HARDWARE_FLUSH_END, lines as u32);
    }

    /// Leaves a power-down to this CPU's power unit, and goes on at once.
    pub(crate) fn leave_to_power_unit(&self, command: Command) {
        let cpu = command.sender();
        self.pass_in_order();
        self.cpus[cpu].unit.set(Some(command));
        self.scheduler.wake(self.unit_process(cpu));
    }

    /// The process of a CPU's power unit: hardware that serves no other CPU, so that nobody waits
    /// for it.
    pub(crate) fn run_power_unit(&self, cpu: usize) {
        let costs = self.machine.costs.power_units.unwrap_or_default();
        loop {
            let Some(Command::Down { cluster, wakes, .. }) = self.cpus[cpu].unit.take() else {
                self.scheduler.wait(None);
                continue;
            };
            self.wait_for_wfi(cpu, self.unit_process(cpu));
            self.advance(costs.core_off);
            if cluster {
                self.flush_shared_by_hardware(cpu);
                self.advance(costs.cluster_off);
                // The units of a cluster's cores agree: a core that woke meanwhile keeps the
                // cluster up.
                let domain = self.machine.platform.topology.cpus[cpu].domain;
                self.domains_on[domain].set(self.keeps_cluster_up(cpu));
            }
            self.lose_power(cpu, cluster, wakes);
        }
    }

    /// A CPU's power is gone.
    fn lose_power(&self, cpu: usize, cluster: bool, wakes: bool) {
        self.enter_state(
            cpu,
            if wakes {
                CpuState::Suspended
            } else {
                CpuState::Off
            },
        );
        self.stamp_for(cpu, points::POWER_OFF, u32::from(cluster));
        // A CPU that only sleeps keeps its normal world in memory; one that is off has none.
        self.scheduler
            .restart(cpu, usize::from(wakes), Entry::Down as u32);
    }

    fn turn_on(&self, cpu: usize) {
        self.cpus[cpu].turned_on.set(true);
        if self.cpus[cpu].waiting.get() == Waiting::Power {
            self.scheduler.wake(cpu);
        }
    }

    /// A CPU without power waits for a wake-up, then gets power and starts at the reset vector.
    pub(crate) fn run_powered_down(&self) {
        let cpu = self.current_cpu_index();
        let this = &self.cpus[cpu];
        // The WFI that ended in the loss of power is over. An interrupt that is pending already
        // leaves no other wait to say so, and the SCP would take the CPU's next power-down for done
        // before its WFI.
        this.waiting.set(Waiting::Nothing);
        this.caches_on.set(false);
        this.has_called.set(false);
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
        self.advance(self.spread(|assumed| assumed.wake_spread));
        if self.machine.needs_power_units() || self.machine.platform.power_ups == PowerUps::AtOnce {
            // Hardware of its own, which serves no other CPU.
            self.power_up(cpu);
        } else {
            let number = cpu % self.channels.len();
            self.channels[number]
                .waking
                .borrow_mut()
                .push((self.now(), cpu));
            self.scheduler.wake(self.channel_process(number));
            while !this.has_power.get() {
                self.wait_for(Waiting::PowerUp);
            }
        }
        this.has_power.set(false);
        self.advance(self.machine.platform.assumed.boot_rom);
        self.enter_state(cpu, CpuState::Running);
        self.stamp(points::POWER_ON, 0);
    }
}

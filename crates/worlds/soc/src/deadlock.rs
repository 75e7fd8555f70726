//! The report of a deadlock: who waits for what, and who holds it.

use crate::Soc;
use crate::cpu::{CpuState, Waiting};
use points::Point;

impl Soc {
    /// Keeps track of who holds and who waits, for a deadlock's report.
    pub(crate) fn note_lock(&self, point: Point, id: u32) {
        use psci::points::psci::{LOCK_ACQUIRED, LOCK_RELEASED, LOCK_WAIT};
        let cpu = self.current_cpu_index();
        if point == LOCK_WAIT {
            self.lock_waits[cpu].set(Some(id));
        } else if point == LOCK_ACQUIRED {
            self.lock_waits[cpu].set(None);
            self.lock_holders.borrow_mut().insert(id, cpu);
        } else if point == LOCK_RELEASED {
            // The next holder may have noted itself between the release and this stamp.
            let mut holders = self.lock_holders.borrow_mut();
            if holders.get(&id) == Some(&cpu) {
                holders.remove(&id);
            }
        }
    }

    /// Name of a lock by its id.
    fn lock_name(&self, id: u32) -> String {
        match id.checked_sub(psci::lock::PLATFORM_LOCK) {
            Some(channel) => format!("the lock of SCP channel {channel}"),
            None if id >= psci::lock::CPU_LOCK => {
                format!("CPU {}'s own lock", id - psci::lock::CPU_LOCK)
            }
            None => {
                let domain = self.machine.platform.topology.domains.get(id as usize);
                format!(
                    "the lock of `{}`",
                    domain.map_or("?", |domain| domain.name.as_str())
                )
            }
        }
    }

    /// The wait of a process and what it holds, in words.
    pub(crate) fn describe(&self, process: usize) -> String {
        let Some(cpu) = self.cpus.get(process) else {
            return format!("process {process} waits");
        };
        let holder = |id: &u32| match self.lock_holders.borrow().get(id) {
            Some(holder) => format!("held by CPU {holder}"),
            None => "which nobody holds".to_owned(),
        };
        let held: Vec<_> = self
            .lock_holders
            .borrow()
            .iter()
            .filter(|&(_, &by)| by == process)
            .map(|(&id, _)| self.lock_name(id))
            .collect();
        let waits = match (cpu.waiting.get(), self.lock_waits[process].get()) {
            (_, Some(id)) => format!("waits for {}, {}", self.lock_name(id), holder(&id)),
            (Waiting::Event, None) => "waits for an event".to_owned(),
            (Waiting::Interrupt, None) => "waits for an interrupt".to_owned(),
            (Waiting::Power, None) if cpu.state.get() == CpuState::Suspended => {
                "sleeps and nothing will wake it".to_owned()
            }
            (Waiting::Power, None) => "waits in WFI for the SCP".to_owned(),
            (Waiting::PowerUp, None) => "waits for the SCP to power it up".to_owned(),
            (Waiting::Scp, None) => "waits for the SCP".to_owned(),
            (Waiting::Order, None) => {
                let next = self
                    .order
                    .next_to_send()
                    .map_or_else(String::new, |cpu| format!(" until CPU {cpu} has it"));
                format!("keeps back from the SCP{next}, as the case declares")
            }
            (Waiting::Nothing, None) => "waits".to_owned(),
        };
        if held.is_empty() {
            format!("CPU {process} {waits}")
        } else {
            format!("CPU {process} {waits}; it holds {}", held.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Soc;
    use crate::config::Sources;
    use document::Document;
    use engine::Runner;
    use psci::CpuIndex;
    use std::path::Path;

    #[test]
    fn a_deadlock_names_who_holds_and_who_waits() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms");
        let open = |name: &str| Document::open(&root.join(name)).unwrap();
        let mut sources = Sources {
            platform: open("juno-r1.toml"),
            release: open("juno-r1/releases/juno-v2.12.toml"),
            costs: open("juno-r1/costs/juno-v2.12.toml"),
        };
        sources.set("scp.channels", "2").unwrap();
        let soc = Soc::new(&sources.machine().unwrap(), 1);
        let main = |cpu: usize, _| {
            soc.cpus[cpu].caches_on.set(true);
            soc.channel_lock(cpu).acquire(&soc, CpuIndex(cpu as u16));
            soc.advance(engine::PS_PER_US);
            soc.channel_lock(1 - cpu)
                .acquire(&soc, CpuIndex(cpu as u16));
        };
        let mut runner = Runner::new(&soc.scheduler, &main);
        (0..2).for_each(|cpu| runner.start(cpu, 0));
        let deadlock = runner.run().unwrap_err();
        let reports: Vec<_> = deadlock
            .waiters
            .iter()
            .map(|waiter| soc.describe(waiter.process))
            .collect();
        assert_eq!(
            reports,
            [
                "CPU 0 waits for the lock of SCP channel 1, held by CPU 1; it holds the lock of SCP channel 0",
                "CPU 1 waits for the lock of SCP channel 0, held by CPU 0; it holds the lock of SCP channel 1",
            ]
        );
    }
}

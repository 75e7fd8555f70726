//! The search for the CPU on which a task that wakes costs the least energy, as Linux does it: a
//! function of a state, which can be compared with the kernel's own code.

use crate::model::Model;
use crate::task::CpuSet;

/// The kernel whose search it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// Linux 5.0 to 5.19: a task moves if that saves at least a sixteenth of what all CPUs need,
    /// and its own use is its utilisation.
    #[default]
    Until2022,
    /// Linux 6.0 and later: it moves if that saves anything, and its own use is what it is expected
    /// to use.
    Since2022,
}

/// A CPU as the search knows it.
#[derive(Debug)]
pub struct CpuUse {
    /// The utilisation of its tasks, those that are blocked included.
    pub utilisation: u32,
    /// The sum of the estimates of those that run or wait there.
    pub estimated: u32,
    /// Capacity at the highest operating point.
    pub capacity: u32,
    /// The part of it that is left for fair tasks.
    pub left: u32,
}

/// The task that wakes, as the search knows it.
#[derive(Debug)]
pub struct WakingTask {
    /// Utilisation of the CPU.
    pub utilisation: u32,
    /// The use that is expected of it.
    pub estimate: u32,
    /// The CPU where it was.
    pub previous: usize,
    /// The CPUs where it may run.
    pub allowed: CpuSet,
}

/// True if a use fits into 80 % of a capacity.
pub const fn fits(used: u32, capacity: u32) -> bool {
    (used as u64) * 1280 < (capacity as u64) * 1024
}

/// The CPU on which the task costs least: where it was if it costs nothing, or fits nowhere. `cpus`
/// has all CPUs of the model.
pub fn cheapest(rules: Rules, model: &Model, cpus: &[CpuUse], task: &WakingTask) -> usize {
    if task.utilisation == 0 && task.estimate == 0 {
        return task.previous;
    }
    let search = Search {
        rules,
        model,
        cpus,
        task,
    };
    match rules {
        Rules::Until2022 => search.until_2022(),
        Rules::Since2022 => search.since_2022(),
    }
}

struct Search<'a> {
    rules: Rules,
    model: &'a Model,
    cpus: &'a [CpuUse],
    task: &'a WakingTask,
}

impl Search<'_> {
    /// The use of a CPU if the task goes to another one, or to none.
    fn used(&self, cpu: usize, to: Option<usize>) -> u32 {
        let of = &self.cpus[cpu];
        let is_home = self.task.previous == cpu;
        let utilisation = match (is_home, to == Some(cpu)) {
            (true, false) => of.utilisation.saturating_sub(self.task.utilisation),
            (false, true) => of.utilisation.saturating_add(self.task.utilisation),
            _ => of.utilisation,
        };
        let estimated = if to == Some(cpu) {
            of.estimated + self.task.estimate
        } else {
            of.estimated
        };
        utilisation.max(estimated).min(of.capacity)
    }

    /// The CPUs of a domain where it would fit, with what that leaves to spare: on the CPU where it
    /// was, and on the others.
    fn candidates(&self, domain: CpuSet) -> impl Iterator<Item = (usize, u32)> {
        (domain & self.task.allowed)
            .iter(self.cpus.len())
            .filter_map(|cpu| {
                let used = self.used(cpu, Some(cpu));
                fits(used, self.cpus[cpu].left)
                    .then(|| (cpu, self.cpus[cpu].left.saturating_sub(used)))
            })
    }

    /// The clock in kHz that is asked for where the busiest CPU uses this much: 1.25 times as fast
    /// as it needs, which the two kernels round in their own ways.
    fn asked_khz(&self, domain: usize, busiest: u32) -> u64 {
        let Some(top) = self.model.top(domain) else {
            return 0;
        };
        let (khz, busiest, capacity) = (
            top.clock / 1_000,
            u64::from(busiest),
            u64::from(top.capacity),
        );
        match self.rules {
            Rules::Until2022 => (khz + khz / 4) * busiest / capacity,
            Rules::Since2022 => khz * (busiest + busiest / 4).min(capacity) / capacity,
        }
    }

    /// Energy of a domain if the task goes there, and its CPUs use so much together.
    fn energy(&self, domain: usize, to: Option<usize>, sum: u64) -> u64 {
        let busiest = self.used_by(domain, to).max().unwrap_or(0);
        self.model
            .domain_energy(domain, self.asked_khz(domain, busiest), sum)
    }

    /// The use of each CPU of a domain.
    fn used_by(&self, domain: usize, to: Option<usize>) -> impl Iterator<Item = u32> {
        self.model
            .cpus_of(domain)
            .iter(self.cpus.len())
            .map(move |cpu| self.used(cpu, to))
    }

    fn until_2022(&self) -> usize {
        let (mut of_previous, mut best) = (None, None::<(u64, usize)>);
        let mut base = 0;
        for domain in self.model.newest_first() {
            let energy =
                |to| self.energy(domain, to, self.used_by(domain, to).map(u64::from).sum());
            let without = energy(None);
            base += without;
            let delta = |cpu| energy(Some(cpu)).wrapping_sub(without);
            let mut most = None;
            for (cpu, spare) in self.candidates(self.model.cpus_of(domain)) {
                if cpu == self.task.previous {
                    let own = delta(cpu);
                    of_previous = Some(own);
                    best = Some(best.map_or((own, cpu), |best| {
                        if own < best.0 { (own, best.1) } else { best }
                    }));
                }
                if spare > most.map_or(0, |(_, spare)| spare) {
                    most = Some((cpu, spare));
                }
            }
            if let Some((cpu, _)) = most.filter(|(cpu, _)| *cpu != self.task.previous) {
                let own = delta(cpu);
                if best.is_none_or(|(least, _)| own < least) {
                    best = Some((own, cpu));
                }
            }
        }
        let (Some(least), Some(of_previous)) = (best, of_previous) else {
            return best.map_or(self.task.previous, |(_, cpu)| cpu);
        };
        let saves = of_previous.wrapping_sub(least.0) > of_previous.wrapping_add(base) >> 4;
        if saves { least.1 } else { self.task.previous }
    }

    fn since_2022(&self) -> usize {
        let own = self.task.utilisation.max(self.task.estimate);
        let (mut of_previous, mut best) = (None, None::<(u64, usize)>);
        let mut least = u64::MAX;
        for domain in self.model.newest_first() {
            let set = self.model.cpus_of(domain);
            let (mut here, mut most) = (None, None::<(usize, u32)>);
            for (cpu, spare) in self.candidates(set) {
                if cpu == self.task.previous {
                    here = Some(spare);
                } else if most.is_none_or(|(_, best)| spare > best) {
                    most = Some((cpu, spare));
                }
            }
            if here.is_none() && most.is_none() {
                continue;
            }
            let all = set
                .iter(self.cpus.len())
                .map(|cpu| u64::from(self.cpus[cpu].capacity))
                .sum();
            let busy = self
                .used_by(domain, None)
                .map(u64::from)
                .sum::<u64>()
                .min(all);
            let energy = |to: Option<usize>| {
                let busy = if to.is_some() {
                    all.min(busy + u64::from(own))
                } else {
                    busy
                };
                self.energy(domain, to, busy)
            };
            let base = energy(None);
            if here.is_some() {
                let Some(delta) = energy(Some(self.task.previous)).checked_sub(base) else {
                    return self.task.previous;
                };
                of_previous = Some(delta);
                least = least.min(delta);
            }
            if let Some((cpu, _)) = most.filter(|(_, spare)| here.is_none_or(|here| *spare > here))
            {
                let Some(delta) = energy(Some(cpu)).checked_sub(base) else {
                    return self.task.previous;
                };
                if best.is_some() && delta >= least {
                    continue;
                }
                (least, best) = (delta, Some((delta, cpu)));
            }
        }
        match (best, of_previous) {
            (Some((_, cpu)), None) => cpu,
            (Some((_, cpu)), Some(of_previous)) if least < of_previous => cpu,
            _ => self.task.previous,
        }
    }
}

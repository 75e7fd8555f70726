//! Power domains that the kernel takes down with the last of their CPUs, as genpd of Linux does
//! where it coordinates idle states (PSCI's OS-initiated mode, DEN0022 4.2.2).

use crate::hardware::SwitchedDomain;
use crate::kernel::Kernel;
use engine::Time;
use idle::DomainSituation;
use soc::Soc;

impl Kernel {
    /// Takes down the power domains that follow a CPU into its deepest state; `timer` is its next.
    /// True if any does.
    pub fn take_domains_down(&mut self, soc: &Soc, cpu: usize, timer: Time) -> bool {
        let mut domains = std::mem::take(&mut self.hardware.power_domains);
        let mut follows = false;
        for at in 0..domains.len() {
            let (inner, outer) = domains.split_at_mut(at);
            let domain = &mut outer[0];
            if !domain.cpus.contains(&cpu) {
                continue;
            }
            let others = || {
                domain
                    .cpus
                    .iter()
                    .map(|other| (*other, &self.cpus[*other]))
                    .filter(|(other, _)| *other != cpu)
            };
            let deepest = |number: usize| self.hardware.domains[number].table.last();
            let sleeps = others().all(|(_, other)| {
                other
                    .stay
                    .is_some_and(|stay| stay.state == deepest(other.domain))
            });
            if !sleeps
                || !inner
                    .iter()
                    .filter(|inner| inner.cpus.iter().all(|cpu| domain.cpus.contains(cpu)))
                    .all(SwitchedDomain::is_in_deepest)
            {
                break;
            }
            let until = others()
                .filter_map(|(_, other)| Some(other.stay?.timer))
                .fold(timer, Time::min);
            let situation = DomainSituation {
                idle_ns: (until / 1_000).cast_signed() - (self.now / 1_000).cast_signed(),
                latency_limit_ns: self.settings.latency_limit_ns,
                ipi_pending: others().any(|(other, _)| soc.pending_interrupts(other).any()),
            };
            domain.state = domain.governor.select(&domain.states, &situation);
            let Some(state) = domain.state else { break };
            domain.entered[state].1 += 1;
            follows = true;
        }
        self.hardware.power_domains = domains;
        follows
    }

    /// The firmware refused to take down the domains that were to follow a CPU.
    pub fn domains_stayed_up(&mut self, cpu: usize) {
        for domain in self
            .hardware
            .power_domains
            .iter_mut()
            .filter(|domain| domain.cpus.contains(&cpu))
        {
            if let Some(state) = domain.state.take() {
                domain.entered[state].1 -= 1;
            }
        }
    }

    /// A CPU is awake, and so are its power domains.
    pub fn bring_domains_up(&mut self, cpu: usize) {
        self.hardware
            .power_domains
            .iter_mut()
            .filter(|domain| domain.cpus.contains(&cpu))
            .for_each(|domain| domain.state = None);
    }
}

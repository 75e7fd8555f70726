//! Frequencies: which operating point a domain is at, and what a change means for what its CPUs
//! compute.

use crate::events;
use crate::kernel::Kernel;
use crate::settings::Frequency;
use placement::Doing;
use soc::Soc;

impl Kernel {
    /// Chooses a domain's operating point, where frequencies are not fixed.
    pub fn look_at_frequency(&mut self, soc: &Soc, domain: usize) {
        let Frequency::Schedutil { rate_limit_ns } = self.settings.frequency else {
            return;
        };
        let (point, since) = self.points[domain];
        if self.now < since + rate_limit_ns * 1_000 {
            return;
        }
        let cpus = self.hardware.domains[domain].cpus.clone();
        let of = |cpu: usize| {
            self.placement
                .as_ref()
                .and_then(|placement| placement.utilisation(self, cpu))
        };
        let busy = |cpu: usize| self.cpus[cpu].current.is_some();
        let points = &self.hardware.domains[domain].points;
        // Without an account of utilisation a busy CPU counts as fully used.
        let top = points.last().map_or(0, |point| point.capacity);
        let most = cpus
            .clone()
            .map(|cpu| of(cpu).unwrap_or(if busy(cpu) { top } else { 0 }))
            .max()
            .unwrap_or(0);
        let needed = most + most / 4;
        let wanted = points
            .iter()
            .position(|point| point.capacity >= needed)
            .unwrap_or(points.len() - 1);
        if wanted != point {
            self.set_point(soc, domain, wanted);
        }
    }

    /// Looks at a domain's load in a tick of one of its CPUs, where frequencies are ondemand's.
    pub fn sample_load(&mut self, soc: &Soc, domain: usize) {
        /// Load in per cent above which the highest point is taken (`UP`), and below which a lower
        /// one (`DOWN`).
        const UP: u64 = 95;
        const DOWN: u64 = 92;
        let Frequency::Ondemand { sampling_ns } = self.settings.frequency else {
            return;
        };
        let elapsed = self.now - self.sampled[domain];
        if elapsed < sampling_ns.saturating_mul(1_000).max(1) {
            return;
        }
        self.sampled[domain] = self.now;
        let mut busiest = 0;
        for cpu in self.hardware.domains[domain].cpus.clone() {
            let this = &mut self.cpus[cpu];
            let idled = this.idled + this.stay.map_or(0, |stay| self.now - stay.since);
            let idle = idled - std::mem::replace(&mut this.idled_before, idled);
            busiest = busiest.max(elapsed.saturating_sub(idle) * 100 / elapsed);
        }
        let (point, points) = (self.points[domain].0, &self.hardware.domains[domain].points);
        let wanted = if busiest > UP {
            points.len() - 1
        } else if busiest < DOWN {
            let needed = points[point].clock * busiest / DOWN;
            points
                .iter()
                .position(|point| point.clock >= needed)
                .unwrap_or(point)
                .min(point)
        } else {
            point
        };
        if wanted != point {
            self.set_point(soc, domain, wanted);
        }
    }

    /// Brings a domain to an operating point, by its number.
    pub fn set_point(&mut self, soc: &Soc, domain: usize, point: usize) {
        let cpus = self.hardware.domains[domain].cpus.clone();
        let to = self.hardware.domains[domain].points[point];
        for cpu in cpus.clone() {
            if let Some(task) = self.cpus[cpu].current {
                self.note_doing(task, cpu, Doing::Running, Doing::Running);
            }
            self.refresh(cpu);
            self.cpus[cpu].capacity = to.capacity;
            if self.cpus[cpu].computing.is_some() {
                // It has to work out anew when it is done.
                soc.nudge(cpu);
            }
        }
        self.points[domain] = (point, self.now);
        soc.meter().set_running_power(
            self.now,
            domain,
            u64::from(to.core_power),
            u64::from(to.domain_power),
        );
        self.stamp(soc, cpus.start, events::OPERATING_POINT, point as u64);
    }
}

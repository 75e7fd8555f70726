//! The work that the cores of each domain get done at each operating point, and its cost.

use crate::task::CpuSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// An operating point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Clock in Hz.
    pub clock: u64,
    /// Work per time.
    pub capacity: u32,
    /// Power of a core that runs there, times the domain's highest clock, divided by the clock
    /// there: what a unit of use costs.
    pub cost: u64,
}

#[derive(Clone, Debug)]
struct Domain {
    cpus: CpuSet,
    points: Vec<Point>,
}

/// The energy model of a machine.
#[derive(Clone, Debug)]
pub struct Model {
    domains: Vec<Domain>,
}

/// Clock in Hz, capacity, and power of a core that runs.
type PointFigures = (u64, u32, u32);

impl Model {
    /// A model of domains: their CPUs, and their operating points by rising capacity with clock in
    /// Hz, capacity and power of a core.
    ///
    /// # Errors
    /// A domain has no operating points, or their capacities do not rise, or a clock is 0; a CPU is
    /// in two domains, or is above 63.
    pub fn new(domains: &[(&[usize], &[PointFigures])]) -> Result<Self, String> {
        let mut taken = CpuSet::NONE;
        let mut all = Vec::new();
        for (number, &(cpus, points)) in domains.iter().enumerate() {
            if let Some(cpu) = cpus.iter().find(|&&cpu| cpu > 63 || taken.has(cpu)) {
                return Err(format!(
                    "domain {number}: CPU {cpu} is in another domain already, or above 63"
                ));
            }
            let set = CpuSet::from_cpus(cpus.iter().copied());
            taken = CpuSet(taken.0 | set.0);
            let Some(&(highest, ..)) = points.last() else {
                return Err(format!(
                    "domain {number} has no operating points; it needs at least one"
                ));
            };
            if points
                .iter()
                .any(|&(clock, capacity, _)| clock == 0 || capacity == 0)
                || points.windows(2).any(|two| two[0].1 >= two[1].1)
            {
                return Err(format!(
                    "domain {number}: clocks and capacities are above 0, and capacities rise"
                ));
            }
            let cost = |power: u32, clock: u64| {
                (u128::from(power) * u128::from(highest) / u128::from(clock)) as u64
            };
            let points = points.iter().map(|&(clock, capacity, power)| Point {
                clock,
                capacity,
                cost: cost(power, clock),
            });
            all.push(Domain {
                cpus: set,
                points: points.collect(),
            });
        }
        Ok(Self { domains: all })
    }

    /// Energy per time of a domain whose clock is asked to be at least this, in kHz, and whose CPUs
    /// use so much together, as Linux computes it: cost at the lowest point that is as fast, times
    /// use, divided by the highest capacity, in whole units of the model's power. A domain that
    /// there is not needs none.
    pub fn domain_energy(&self, domain: usize, khz: u64, sum: u64) -> u64 {
        let points = self
            .domains
            .get(domain)
            .map_or(&[][..], |domain| &domain.points);
        let Some(top) = points.last() else { return 0 };
        let point = points
            .iter()
            .find(|point| point.clock / 1_000 >= khz)
            .unwrap_or(top);
        (u128::from(point.cost) * u128::from(sum) / u128::from(top.capacity)) as u64
    }

    /// The highest point of a domain; `None` of one that there is not.
    pub fn top(&self, domain: usize) -> Option<Point> {
        self.domains.get(domain)?.points.last().copied()
    }

    /// The CPUs of a domain; none of one that there is not.
    pub fn cpus_of(&self, domain: usize) -> CpuSet {
        self.domains
            .get(domain)
            .map_or(CpuSet::NONE, |domain| domain.cpus)
    }

    /// The domains in the order in which Linux goes through them: it puts each before those that it
    /// knows already.
    pub fn newest_first(&self) -> impl Iterator<Item = usize> {
        (0..self.domains.len()).rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIG: [PointFigures; 2] = [(600_000_000, 512, 2312), (1_200_000_000, 1024, 6997)];
    const LITTLE: [PointFigures; 2] = [(500_000_000, 215, 334), (1_000_000_000, 430, 1024)];

    #[test]
    fn energy_is_cost_times_use_by_capacity_at_the_lowest_point_that_is_fast_enough() {
        let model = Model::new(&[(&[0, 1], &BIG), (&[2, 3], &LITTLE)]).unwrap();
        assert_eq!(model.domain_energy(1, 0, 0), 0);
        // The lower point, whose cost is 334 * 2.
        assert_eq!(model.domain_energy(1, 500_000, 172), 668 * 172 / 430);
        assert_eq!(model.domain_energy(1, 500_001, 273), 1024 * 273 / 430);
        assert_eq!(model.domain_energy(0, 1, 100), 4624 * 100 / 1024);
        assert_eq!(
            model.domain_energy(0, 9_000_000, 5000),
            6997 * 5000 / 1024,
            "more than there is costs as if there were"
        );
        assert_eq!(
            (model.domain_energy(2, 1, 1), model.top(2)),
            (0, None),
            "no such domain"
        );
        assert_eq!(
            model
                .newest_first()
                .map(|domain| model.cpus_of(domain).0)
                .collect::<Vec<_>>(),
            [12, 3]
        );
    }

    #[test]
    fn bad_models_are_refused() {
        let wrong = |domains: &[(&[usize], &[PointFigures])]| Model::new(domains).unwrap_err();
        assert!(wrong(&[(&[0], &[])]).contains("domain 0 has no operating points"));
        assert!(wrong(&[(&[0], &BIG), (&[0], &LITTLE)]).contains("domain 1: CPU 0 is in another"));
        assert!(wrong(&[(&[64], &BIG)]).contains("above 63"));
        assert!(wrong(&[(&[0], &[BIG[1], BIG[0]])]).contains("capacities rise"));
        assert!(wrong(&[(&[0], &[(0, 1, 1)])]).contains("above 0"));
    }
}

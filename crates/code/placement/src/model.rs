//! The work that the cores of each domain get done at each operating point, and its cost.

use crate::task::CpuSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// An operating point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
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
                return Err(format!("domain {number}: CPU {cpu} is in another domain already, or above 63"));
            }
            let set = CpuSet::from_cpus(cpus.iter().copied());
            taken = CpuSet(taken.0 | set.0);
            let Some(&(highest, ..)) = points.last() else {
                return Err(format!("domain {number} has no operating points; it needs at least one"));
            };
            if points.iter().any(|&(clock, capacity, _)| clock == 0 || capacity == 0)
                || points.windows(2).any(|two| two[0].1 >= two[1].1)
            {
                return Err(format!("domain {number}: clocks and capacities are above 0, and capacities rise"));
            }
            let cost = |power: u32, clock: u64| (u128::from(power) * u128::from(highest) / u128::from(clock)) as u64;
            let points = points.iter().map(|&(clock, capacity, power)| Point { capacity, cost: cost(power, clock) });
            all.push(Domain { cpus: set, points: points.collect() });
        }
        Ok(Self { domains: all })
    }

    /// Energy per time if CPUs use this much each: in every domain the lowest operating point that
    /// holds 1.25 times what its busiest CPU uses, and there cost times use, divided by the highest
    /// capacity. The unit is 1/1024 of the model's power.
    pub fn energy(&self, cpus: usize, used: impl Fn(usize) -> u32) -> u128 {
        let of = |domain: &Domain| {
            let most = domain.cpus.iter(cpus).map(&used).max().unwrap_or(0);
            let needed = most.saturating_add(most / 4);
            let fits = domain.points.iter().find(|point| point.capacity >= needed);
            let (Some(point), Some(top)) = (fits.or(domain.points.last()), domain.points.last()) else { return 0 };
            let sum: u128 = domain.cpus.iter(cpus).map(|cpu| u128::from(used(cpu))).sum();
            u128::from(point.cost) * sum * 1024 / u128::from(top.capacity)
        };
        self.domains.iter().map(of).sum()
    }

    /// The CPUs of each domain.
    pub fn domains(&self) -> impl Iterator<Item = CpuSet> {
        self.domains.iter().map(|domain| domain.cpus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BIG: [PointFigures; 2] = [(600, 512, 2312), (1200, 1024, 6997)];
    const LITTLE: [PointFigures; 2] = [(500, 215, 334), (1000, 430, 1024)];

    #[test]
    fn energy_is_cost_times_use_by_capacity_at_the_point_that_holds_the_busiest() {
        let model = Model::new(&[(&[0, 1], &BIG), (&[2, 3], &LITTLE)]).unwrap();
        let at = |used: [u32; 4]| model.energy(4, |cpu| used[cpu]);
        assert_eq!(at([0; 4]), 0);
        // 172 * 1.25 = 215 still fits the lower point: 334 * 2 * 172 / 430.
        assert_eq!(at([0, 0, 172, 0]), 668 * 172 * 1024 / 430);
        assert_eq!(at([0, 0, 173, 0]), 1024 * 173 * 1024 / 430);
        assert_eq!(at([0, 0, 100, 173]), 1024 * 273 * 1024 / 430);
        assert_eq!(at([100, 0, 100, 0]), 4624 * 100 + 668 * 100 * 1024 / 430);
        assert_eq!(at([5000, 0, 0, 0]), 6997 * 5000, "more than there is costs as if there were");
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

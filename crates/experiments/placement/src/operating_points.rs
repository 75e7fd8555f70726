//! Energy per work at each operating point: what it costs to be faster.

use itertools::Itertools;
use minikernel::Hardware;

/// The work that energies are for is what a core of this capacity does in a second.
pub const WORK: u32 = 1024;

/// The cost of work at an operating point. Energies are in units of the platform's table times
/// seconds, for the work that a core of capacity 1024 does in a second.
pub struct PointCost {
    /// The domain's name.
    pub domain: String,
    /// The clock in Hz.
    pub clock: u64,
    /// Work per time.
    pub capacity: u32,
    /// Energy of the core that does it.
    pub core: f64,
    /// The same with what the domain shares, if no other core of it runs.
    pub alone: f64,
    /// The same if all cores of the domain run.
    pub shared: f64,
}

/// All operating points of a machine, by domain and by rising capacity.
pub fn points(hardware: &Hardware) -> Vec<PointCost> {
    let of = |domain: &minikernel::Domain| {
        let cpus = domain.cpus.len() as f64;
        let name = domain.name.clone();
        let cost = move |point: &soc::OperatingPoint| {
            let per_work = |power: f64| power * f64::from(WORK) / f64::from(point.capacity);
            let (core, all) = (f64::from(point.core_power), f64::from(point.domain_power));
            PointCost {
                domain: name.clone(),
                clock: point.clock,
                capacity: point.capacity,
                core: per_work(core),
                alone: per_work(core + all),
                shared: per_work(core + all / cpus),
            }
        };
        domain.points.iter().map(cost).collect_vec()
    };
    hardware.domains.iter().flat_map(of).collect()
}

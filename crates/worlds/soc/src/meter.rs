//! Energy: power of cores and of what they share, integrated over time without rounding, and split
//! among owners.
//!
//! Core power belongs to whoever the core works or idles for. Power that a domain shares is split
//! equally among its CPUs that run. Where none runs it belongs, in equal parts, to the CPUs that
//! keep the domain from a deeper state.

use engine::Time;
use std::ops::Range;

/// Energy in units of power times picoseconds.
pub type Energy = u128;

/// Number of an owner of energy; what it stands for is the user's business.
pub type OwnerId = usize;

/// The activity of a CPU, as far as its power goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activity {
    /// It executes instructions.
    Running,
    /// It is on the way into or out of an idle state. Power is that of the state; what the way
    /// costs is charged as a round trip.
    Moving(u8),
    /// It is in an idle state.
    Idle(u8),
}

impl Activity {
    /// The order in which CPUs keep their domain from sleep, the strongest first.
    const fn depth(self) -> usize {
        match self {
            Self::Running => 0,
            Self::Moving(state) => 2 * state as usize + 1,
            Self::Idle(state) => 2 * state as usize + 2,
        }
    }
}

/// The powers of an idle state. Powers in units, energies in units times picoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdlePower {
    /// Power of a core in it.
    pub core: u64,
    /// Power of the domain while every CPU of it is in this state or a deeper one.
    pub domain: u64,
    /// Energy of entering and leaving, for a core.
    pub core_round_trip: Energy,
    /// Energy of entering and leaving, for the domain, whenever it goes down.
    pub domain_round_trip: Energy,
}

/// The parts of a domain's power.
pub struct DomainPower {
    /// The number of CPUs that it has; they follow those of the domain before.
    pub cpus: usize,
    /// Power of a core that runs, in units.
    pub core_running: u64,
    /// Power of the shared part while a core runs, in units.
    pub domain_running: u64,
    /// The idle states, from shallow to deep.
    pub idle: Vec<IdlePower>,
}

struct Cpu {
    activity: Activity,
    owner: OwnerId,
    power: u64,
    /// The state that it loses power in, and who owns its energy there.
    sleeps_in: (u8, OwnerId),
}

struct Domain {
    power: DomainPower,
    first: usize,
    cpus: Vec<Cpu>,
    since: Time,
    /// Power of the shared part now, and the depth of the CPUs that it is due to.
    shared: u64,
    depth: usize,
    holders: u64,
    /// Time at each depth, in ps.
    time: Vec<Time>,
    /// The number of times that it went down into each state.
    downs: Vec<u64>,
}

/// Integrates power over time.
#[derive(Default)]
pub struct Meter {
    domains: Vec<Domain>,
    domain_of: Vec<usize>,
    owners: usize,
    /// The owner of round trips.
    moving: OwnerId,
    energy: Vec<Energy>,
    /// All energy, integrated beside the owners' shares.
    pub integral: Energy,
    begin: Time,
    end: Time,
}

impl Meter {
    /// A meter of `owners` owners for a span of ps, at whose beginning every CPU runs for owner 0.
    /// Round trips belong to `moving`.
    pub fn new(
        domains: Vec<DomainPower>,
        owners: usize,
        moving: OwnerId,
        span: Range<Time>,
    ) -> Self {
        let mut first = 0;
        let mut domain_of = Vec::new();
        let energy = vec![0; domains.len() * owners];
        let domains = domains
            .into_iter()
            .enumerate()
            .map(|(number, power)| {
                let cpus = (0..power.cpus)
                    .map(|_| Cpu {
                        activity: Activity::Running,
                        owner: 0,
                        power: power.core_running,
                        sleeps_in: (0, 0),
                    })
                    .collect();
                domain_of.extend((0..power.cpus).map(|_| number));
                let depths = 2 * power.idle.len() + 1;
                let mut domain = Domain {
                    first,
                    cpus,
                    since: span.start,
                    shared: 0,
                    depth: 0,
                    holders: 0,
                    time: vec![0; depths],
                    downs: vec![0; power.idle.len()],
                    power,
                };
                first += domain.power.cpus;
                domain.find_holders();
                domain
            })
            .collect();
        Self {
            domains,
            domain_of,
            owners,
            moving,
            energy,
            integral: 0,
            begin: span.start,
            end: span.end,
        }
    }

    /// True if it measures anything.
    pub fn is_empty(&self) -> bool {
        self.domains.is_empty()
    }

    /// Says what a CPU does from `now` on, and for whom.
    pub fn set(&mut self, now: Time, cpu: usize, activity: Activity, owner: OwnerId) {
        let number = self.domain_of[cpu];
        let at = cpu - self.domains[number].first;
        let before = &self.domains[number].cpus[at];
        if (before.activity, before.owner) == (activity, owner) {
            return;
        }
        self.settle(now, number);
        let domain = &mut self.domains[number];
        domain.cpus[at].activity = activity;
        domain.cpus[at].owner = owner;
        domain.cpus[at].power = domain.core_power(activity);
        let depth = domain.depth;
        domain.find_holders();
        let mut trips = 0;
        if let Activity::Idle(state) = activity {
            trips += domain.power.idle[usize::from(state)].core_round_trip;
        }
        // Depth 2s + 2: every CPU is in state s or deeper.
        if domain.depth > depth && domain.depth.is_multiple_of(2) {
            let state = domain.depth / 2 - 1;
            domain.downs[state] += 1;
            trips += domain.power.idle[state].domain_round_trip;
        }
        if trips > 0 && now >= self.begin && now < self.end {
            self.energy[number * self.owners + self.moving] += trips;
            self.integral += trips;
        }
    }

    fn cpu(&mut self, cpu: usize) -> &mut Cpu {
        let domain = &mut self.domains[self.domain_of[cpu]];
        &mut domain.cpus[cpu - domain.first]
    }

    /// Says in which state a CPU is going to lose power, and whose its energy is then.
    pub fn goes_down(&mut self, now: Time, cpu: usize, state: u8, owner: OwnerId) {
        self.cpu(cpu).sleeps_in = (state, owner);
        self.set(now, cpu, Activity::Moving(state), self.moving);
    }

    /// A CPU has lost the power that [`Meter::goes_down`] said it would lose.
    pub fn is_down(&mut self, now: Time, cpu: usize) {
        let (state, owner) = self.cpu(cpu).sleeps_in;
        self.set(now, cpu, Activity::Idle(state), owner);
    }

    /// A CPU that has lost power wakes up.
    pub fn comes_up(&mut self, now: Time, cpu: usize) {
        let this = self.cpu(cpu);
        let (state, _) = this.sleeps_in;
        if matches!(this.activity, Activity::Idle(_)) {
            self.set(now, cpu, Activity::Moving(state), self.moving);
        }
    }

    /// The powers of a domain's running cores and of its shared part change: another operating
    /// point.
    pub fn set_running_power(&mut self, now: Time, domain: usize, core: u64, shared: u64) {
        self.settle(now, domain);
        let domain = &mut self.domains[domain];
        domain.power.core_running = core;
        domain.power.domain_running = shared;
        for at in 0..domain.cpus.len() {
            domain.cpus[at].power = domain.core_power(domain.cpus[at].activity);
        }
        domain.find_holders();
    }

    /// Ends the measurement, at the end of its span at the latest: what comes after `end` ps does
    /// not count.
    pub fn finish(&mut self, end: Time) {
        for domain in 0..self.domains.len() {
            self.settle(end, domain);
        }
        self.end = self.end.min(end);
    }

    /// Energy of an owner in a domain.
    pub fn energy(&self, domain: usize, owner: OwnerId) -> Energy {
        self.energy[domain * self.owners + owner]
    }

    /// The times, in ps, that a CPU of the domain ran (number 0), all were at least on the way into
    /// or out of state s (2s + 1), and all were in state s or deeper (2s + 2).
    pub fn domain_times(&self, domain: usize) -> &[Time] {
        &self.domains[domain].time
    }

    /// The number of times that a domain went down into a state.
    pub fn downs(&self, domain: usize, state: usize) -> u64 {
        self.domains[domain].downs[state]
    }

    fn settle(&mut self, now: Time, number: usize) {
        let domain = &mut self.domains[number];
        let now = now.min(self.end);
        if now <= domain.since {
            return;
        }
        let elapsed = now - domain.since;
        domain.since = now;
        domain.time[domain.depth] += elapsed;
        let energy = &mut self.energy[number * self.owners..(number + 1) * self.owners];
        let mut all = domain.shared;
        for cpu in &domain.cpus {
            if cpu.power > 0 {
                energy[cpu.owner] += Energy::from(cpu.power) * Energy::from(elapsed);
                all += cpu.power;
            }
        }
        self.integral += Energy::from(all) * Energy::from(elapsed);
        if domain.shared > 0 {
            let shared = Energy::from(domain.shared) * Energy::from(elapsed);
            let holders = Energy::from(domain.holders);
            let (part, mut rest) = match domain.holders {
                1 => (shared, 0),
                _ => (shared / holders, shared % holders),
            };
            for cpu in domain
                .cpus
                .iter()
                .filter(|cpu| cpu.activity.depth() == domain.depth)
            {
                // What does not divide goes to the first: a few units times picoseconds, but
                // nothing is lost.
                energy[cpu.owner] += part + rest.min(1);
                rest = rest.saturating_sub(1);
            }
        }
    }
}

impl Domain {
    fn core_power(&self, activity: Activity) -> u64 {
        match activity {
            Activity::Running => self.power.core_running,
            Activity::Moving(state) | Activity::Idle(state) => {
                self.power.idle[usize::from(state)].core
            }
        }
    }

    fn find_holders(&mut self) {
        let depths = || self.cpus.iter().map(|cpu| cpu.activity.depth());
        self.depth = depths().min().unwrap_or(0);
        self.holders = depths().filter(|&depth| depth == self.depth).count() as u64;
        self.shared = match self.depth.checked_sub(1) {
            None => self.power.domain_running,
            Some(depth) => self.power.idle[depth / 2].domain,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: OwnerId = 0;
    const OTHER: OwnerId = 1;
    const IDLE: OwnerId = 2;
    const MOVING: OwnerId = 3;

    fn meter(cpus: usize) -> Meter {
        let idle = vec![
            IdlePower {
                core: 3,
                domain: 70,
                ..IdlePower::default()
            },
            IdlePower {
                core: 1,
                domain: 25,
                core_round_trip: 500,
                domain_round_trip: 10_000,
            },
        ];
        Meter::new(
            vec![DomainPower {
                cpus,
                core_running: 2000,
                domain_running: 7900,
                idle,
            }],
            4,
            MOVING,
            100..1000,
        )
    }

    fn energies(meter: &Meter) -> [Energy; 4] {
        [TASK, OTHER, IDLE, MOVING].map(|owner| meter.energy(0, owner))
    }

    #[test]
    fn shared_power_is_split_among_those_who_run_and_what_does_not_divide_is_not_lost() {
        let mut meter = meter(3);
        meter.set(100, 1, Activity::Running, OTHER);
        meter.finish(101);
        assert_eq!(
            energies(&meter),
            [2000 + 2634 + 2000 + 2633, 2000 + 2633, 0, 0]
        );
        assert_eq!(meter.integral, 3 * 2000 + 7900);
    }

    #[test]
    fn an_idle_cpu_pays_for_the_domain_only_where_it_keeps_it_from_sleep() {
        let mut meter = meter(2);
        meter.set(100, 1, Activity::Idle(0), IDLE);
        meter.set(110, 0, Activity::Idle(1), OTHER);
        meter.finish(120);
        // Ten ps in which CPU 0 runs, then ten in which CPU 1's WFI keeps the domain up: OTHER pays
        // for its own core only.
        assert_eq!(
            energies(&meter),
            [10 * (2000 + 7900), 10, 20 * 3 + 10 * 70, 500]
        );
        assert_eq!(meter.downs(0, 1), 0, "the domain never was down");
        assert_eq!(meter.integral, energies(&meter).iter().sum());
    }

    #[test]
    fn a_domain_that_goes_down_pays_for_its_round_trip_each_time() {
        let mut meter = meter(1);
        for begin in [100, 200] {
            meter.goes_down(begin, 0, 1, IDLE);
            meter.is_down(begin + 10, 0);
            meter.comes_up(begin + 50, 0);
            meter.set(begin + 60, 0, Activity::Running, TASK);
        }
        meter.finish(300);
        assert_eq!(
            energies(&meter),
            [80 * 9900, 0, 80 * 26, 2 * (20 * 26 + 10_500)]
        );
        assert_eq!(
            (meter.downs(0, 1), meter.domain_times(0)),
            (2, &[80, 0, 0, 40, 80][..])
        );
        assert_eq!(meter.integral, energies(&meter).iter().sum());
    }

    #[test]
    fn nothing_after_the_end_and_nothing_before_the_beginning_counts() {
        let mut meter = meter(1);
        meter.set(50, 0, Activity::Idle(1), IDLE);
        meter.set(90, 0, Activity::Running, OTHER);
        meter.finish(110);
        meter.set(200, 0, Activity::Idle(1), IDLE);
        meter.finish(300);
        assert_eq!(energies(&meter), [0, 10 * 9900, 0, 0]);
    }

    #[test]
    fn another_operating_point_changes_what_running_costs_from_then_on() {
        let mut meter = meter(2);
        meter.set(100, 1, Activity::Idle(0), IDLE);
        meter.set_running_power(150, 0, 7000, 15_200);
        meter.finish(160);
        assert_eq!(energies(&meter), [50 * 9900 + 10 * 22_200, 0, 60 * 3, 0]);
    }
}

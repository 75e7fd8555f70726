//! Clusters: how long all CPUs of one were idle at the same time, which is what its own power
//! depends on.

use super::residency::{Residency, grown, residency};
use recording::facts::DomainSleep;
use std::collections::{BTreeMap, BTreeSet};

/// The times in which all CPUs of a cluster were idle.
#[derive(Debug)]
pub struct ClusterIdle {
    /// CPUs of the cluster.
    pub cpus: Vec<u16>,
    /// Residency by the shallowest state that one of the CPUs was in. Nothing counts as too deep or
    /// too shallow.
    pub states: BTreeMap<u8, Residency>,
    /// Residency of the cluster's own states, by the parameter of PSCI and whether it was a suspend
    /// to idle: those that no CPU asked for while another one was in none.
    pub domain: BTreeMap<(u32, bool), Residency>,
}

impl ClusterIdle {
    /// How its CPUs slept, and how it did itself; empty where it has no states of its own.
    pub(super) fn sleeps(&self) -> Vec<DomainSleep> {
        let row = |what: String, entered, total_ns| DomainSleep {
            cpus: self.cpus.clone(),
            what,
            entered,
            total_ns,
        };
        let together_ns = self.states.values().map(|of| of.total_ns).sum();
        let mut rows = vec![row("all CPUs idle".to_owned(), None, together_ns)];
        rows.extend(self.domain.iter().map(|((state, s2idle), of)| {
            let s2idle = if *s2idle { " in a suspend to idle" } else { "" };
            row(
                format!("the cluster in {state:#010x}{s2idle}"),
                Some(of.entered),
                of.total_ns,
            )
        }));
        let own_ns = self
            .domain
            .iter()
            .filter(|((_, s2idle), _)| !s2idle)
            .map(|(_, of)| of.total_ns)
            .sum();
        rows.push(row(
            "all CPUs idle, but not the cluster".to_owned(),
            None,
            together_ns.saturating_sub(own_ns),
        ));
        if self.domain.is_empty() {
            Vec::new()
        } else {
            rows
        }
    }
}

/// All clusters of a trace while it is read.
#[derive(Default)]
pub struct Clusters {
    /// True if someone said which CPUs are a cluster; otherwise all CPUs of the trace are one.
    told: bool,
    all: Vec<Cluster>,
    /// For each CPU the number of its cluster and its place there.
    places: Vec<Option<(usize, usize)>>,
}

#[derive(Default)]
struct Cluster {
    cpus: Vec<(u16, Status)>,
    running: usize,
    /// When the last of the CPUs fell asleep, and the shallowest state then.
    since: Option<(u64, u8)>,
    states: Vec<Residency>,
    /// CPUs that are in a state of their domain, by their places.
    asked: BTreeSet<usize>,
    /// When the last of the CPUs asked for a state, and for which.
    domain_since: Option<(u64, (u32, bool))>,
    /// Residency of each state; `None` for one that is a CPU's own.
    domain: BTreeMap<(u32, bool), Option<Residency>>,
}

/// The state of a CPU.
#[derive(Clone, Copy, PartialEq)]
enum Status {
    /// No event of it came yet. It is taken to be idle: one that sleeps throughout has no events.
    Unseen,
    Running,
    Idle(u8),
    Offline,
}

impl Clusters {
    /// With the CPUs of each cluster; with none, all CPUs are one.
    pub fn new(told: &[Vec<u16>]) -> Self {
        let mut clusters = Self::default();
        told.iter().for_each(|cpus| clusters.tell(cpus));
        clusters
    }

    /// True if nobody said which CPUs are a cluster.
    pub fn is_untold(&self) -> bool {
        !self.told
    }

    /// Adds a cluster. A CPU that is in one is left there.
    pub fn tell(&mut self, cpus: &[u16]) {
        self.told = true;
        self.all.push(Cluster::default());
        for &cpu in cpus {
            if self.place(cpu).is_none() {
                self.add(cpu, self.all.len() - 1);
            }
        }
    }

    fn place(&self, cpu: u16) -> Option<(usize, usize)> {
        self.places.get(usize::from(cpu)).copied().flatten()
    }

    fn add(&mut self, cpu: u16, cluster: usize) -> (usize, usize) {
        let place = (cluster, self.all[cluster].cpus.len());
        self.all[cluster].cpus.push((cpu, Status::Unseen));
        *grown(&mut self.places, cpu.into()) = Some(place);
        place
    }

    /// Notes that a CPU entered an idle state, or that it runs.
    #[inline]
    pub fn change(&mut self, cpu: u16, at_ns: u64, state: Option<u8>) {
        if let Some((number, place)) = self.place_or_new(cpu) {
            self.all[number].change(place, at_ns, state.map_or(Status::Running, Status::Idle));
        }
    }

    /// Notes that a CPU goes offline: its cluster no longer waits for it.
    pub fn leave(&mut self, cpu: u16, at_ns: u64) {
        if let Some((number, place)) = self.place(cpu) {
            self.all[number].change(place, at_ns, Status::Offline);
        }
    }

    #[inline]
    fn place_or_new(&mut self, cpu: u16) -> Option<(usize, usize)> {
        match self.place(cpu) {
            None if !self.told => {
                self.all.resize_with(1, Cluster::default);
                Some(self.add(cpu, 0))
            }
            found => found,
        }
    }

    /// Notes that a CPU asked for a state of its domain, or that it is back.
    pub fn domain(&mut self, cpu: u16, at_ns: u64, state: Option<(u32, bool)>) {
        if let Some((number, place)) = self.place_or_new(cpu) {
            self.all[number].asks(place, at_ns, state);
        }
    }

    /// Notes that events of a CPU were lost: nobody knows what it did.
    pub fn lost(&mut self, cpu: u16) {
        if let Some((number, place)) = self.place(cpu) {
            let cluster = &mut self.all[number];
            (cluster.since, cluster.domain_since) = (None, None);
            cluster.asked.remove(&place);
            cluster.set(place, Status::Running);
        }
    }

    /// The clusters in which all CPUs were ever idle.
    pub fn finish(self) -> Vec<ClusterIdle> {
        self.all
            .into_iter()
            .map(|cluster| ClusterIdle {
                cpus: {
                    let mut cpus: Vec<u16> = cluster.cpus.iter().map(|(cpu, _)| *cpu).collect();
                    cpus.sort_unstable();
                    cpus
                },
                domain: cluster
                    .domain
                    .into_iter()
                    .filter_map(|(state, of)| Some((state, of?)))
                    .collect(),
                states: (0..)
                    .zip(cluster.states)
                    .filter(|(_, of)| of.entered > 0)
                    .collect(),
            })
            .filter(|cluster| cluster.cpus.len() > 1)
            .collect()
    }
}

impl Cluster {
    fn change(&mut self, place: usize, at_ns: u64, now: Status) {
        if let Some((since_ns, state)) = self.since.take() {
            residency(&mut self.states, state).add(at_ns.saturating_sub(since_ns));
        }
        if self.cpus[place].1 == Status::Unseen && now != Status::Running {
            self.ran_before();
        }
        if now == Status::Running && !self.asked.is_empty() {
            self.asks(place, at_ns, None);
        }
        self.set(place, now);
        if self.running == 0 {
            let known = self.cpus.iter().filter_map(|(_, status)| match status {
                Status::Idle(state) => Some(*state),
                _ => None,
            });
            self.since = known.min().map(|state| (at_ns, state));
        }
    }

    /// A CPU ran up to now, so that what was counted without it was never all of them.
    fn ran_before(&mut self) {
        self.states.clear();
        self.domain_since = None;
        self.domain.values_mut().for_each(|of| *of = None);
    }

    fn asks(&mut self, place: usize, at_ns: u64, state: Option<(u32, bool)>) {
        if let Some((since_ns, state)) = self.domain_since.take()
            && let Some(Some(of)) = self.domain.get_mut(&state)
        {
            of.add(at_ns.saturating_sub(since_ns));
        }
        let Some(state) = state else {
            self.asked.remove(&place);
            return;
        };
        if self.cpus[place].1 == Status::Unseen {
            self.ran_before();
            self.set(place, Status::Running);
        }
        self.asked.insert(place);
        // A CPU that waits in a state of its own keeps its cluster up as well.
        let of = self
            .domain
            .entry(state)
            .or_insert(Some(Residency::default()));
        if self.cpus.iter().enumerate().any(|(at, (_, status))| {
            !matches!(status, Status::Unseen | Status::Offline) && !self.asked.contains(&at)
        }) {
            *of = None;
        } else if of.is_some() {
            self.domain_since = Some((at_ns, state));
        }
    }

    fn set(&mut self, place: usize, now: Status) {
        let was = std::mem::replace(&mut self.cpus[place].1, now);
        self.running += usize::from(now == Status::Running);
        self.running -= usize::from(was == Status::Running);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CPUs, and for each state how often and how long.
    type ClusterUsage = (Vec<u16>, Vec<(u8, u64, u64)>);

    fn read(told: &[Vec<u16>], changes: &[(u64, u16, Option<u8>)]) -> Vec<ClusterUsage> {
        let mut clusters = Clusters::new(told);
        changes
            .iter()
            .for_each(|&(at_ns, cpu, state)| clusters.change(cpu, at_ns, state));
        let states = |of: &ClusterIdle| {
            of.states
                .iter()
                .map(|(state, of)| (*state, of.entered, of.total_ns))
                .collect()
        };
        clusters
            .finish()
            .iter()
            .map(|cluster| (cluster.cpus.clone(), states(cluster)))
            .collect()
    }

    const BOTH: [(u64, u16, Option<u8>); 6] = [
        (10, 0, Some(2)),
        (20, 1, Some(1)),
        (50, 1, None),
        (60, 1, Some(2)),
        (90, 0, None),
        (95, 0, Some(0)),
    ];

    #[test]
    fn a_cluster_is_idle_while_all_of_its_cpus_are_in_the_shallowest_state() {
        assert_eq!(
            read(&[vec![0, 1]], &BOTH),
            [(vec![0, 1], vec![(1, 1, 30), (2, 1, 30)])]
        );
        assert_eq!(
            read(&[], &BOTH),
            read(&[vec![0, 1]], &BOTH),
            "all CPUs where nobody says otherwise"
        );
        assert!(
            read(&[vec![0], vec![1]], &BOTH).is_empty(),
            "a cluster of one CPU is that CPU"
        );
    }

    /// A CPU whose first event leaves an idle state slept from the beginning.
    #[test]
    fn a_cpu_without_an_event_sleeps_and_one_that_first_falls_asleep_ran() {
        let slept = [(10, 0, Some(1)), (40, 0, None), (50, 1, None)];
        assert_eq!(
            read(&[vec![0, 1, 7]], &slept),
            [(vec![0, 1, 7], vec![(1, 1, 30)])]
        );
        let ran = [
            (10, 0, Some(1)),
            (40, 0, None),
            (50, 1, Some(1)),
            (60, 0, Some(1)),
            (65, 0, None),
        ];
        assert_eq!(read(&[], &ran), [(vec![0, 1], vec![(1, 1, 5)])]);
    }
}

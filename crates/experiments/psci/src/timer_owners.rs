//! The owner of the timer that wakes the others, where a run does not say it: each CPU, weighted by
//! how many other sessions of the board it owned it in.

use experiment::Conditions;
use itertools::Itertools;
use psci_cases::Case;
use soc::config::Machine;
use std::cmp::Reverse;

/// Names of other sessions by the number of the CPU that owned the timer in them.
pub struct OtherSessions(Vec<Vec<String>>);

/// A CPU that may own the timer.
#[derive(Clone, PartialEq)]
pub(crate) struct Owner {
    /// The CPU, as cluster.core.
    pub(crate) cpu: String,
    /// The probability that it does, from 0 to 1.
    pub(crate) weight: f64,
}

impl OtherSessions {
    /// The sessions that conditions name for a case of a machine, as far as they count.
    pub(crate) fn new(
        machine: &Machine,
        case: &Case,
        conditions: &Conditions,
        counts: impl Fn(&str) -> bool,
    ) -> Self {
        Self(
            (0..machine.platform.topology.cpus.len())
                .map(|cpu| {
                    conditions
                        .get(
                            "timer-owner",
                            &[&machine.platform.name, case.name, &place(machine, cpu)],
                        )
                        .iter()
                        .filter(|session| counts(session))
                        .cloned()
                        .collect()
                })
                .collect(),
        )
    }

    /// The sessions in which a CPU owned the timer.
    pub(crate) fn of(&self, cpu: usize) -> &[String] {
        self.0.get(cpu).map_or(&[], Vec::as_slice)
    }

    /// Each CPU as the owner, the likeliest first; of CPUs alike, the one that reaches the SCP
    /// first. The weight is that of its sessions and one more, so that no CPU is impossible
    /// (Laplace's rule of succession).
    pub(crate) fn owners(&self, machine: &Machine, scp_order: &[usize]) -> Vec<(usize, Owner)> {
        let mut cpus = (0..self.0.len()).collect_vec();
        let arrival = |cpu: usize| {
            scp_order
                .iter()
                .position(|&other| other == cpu)
                .unwrap_or(usize::MAX)
        };
        cpus.sort_by_key(|&cpu| (Reverse(self.of(cpu).len()), arrival(cpu)));
        let weight = |cpu: usize| (self.of(cpu).len() + 1) as f64;
        let all: f64 = cpus.iter().copied().map(weight).sum();
        cpus.into_iter()
            .map(|cpu| {
                (
                    cpu,
                    Owner {
                        cpu: place(machine, cpu),
                        weight: weight(cpu) / all,
                    },
                )
            })
            .collect()
    }

    /// The likeliest owner; `None` if no session says anything.
    pub(crate) fn likeliest(&self, machine: &Machine, scp_order: &[usize]) -> Option<usize> {
        self.owners(machine, scp_order)
            .first()
            .map(|(cpu, _)| *cpu)
            .filter(|&cpu| !self.of(cpu).is_empty())
    }
}

/// A CPU as cluster.core.
pub(crate) fn place(machine: &Machine, cpu: usize) -> String {
    let cpu = &machine.platform.topology.cpus[cpu];
    format!("{}.{}", cpu.cluster, cpu.core)
}

#[cfg(test)]
mod tests {
    use super::*;
    use psci_cases::CASES;

    fn machine() -> Machine {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms");
        let open = |file: &str| document::Document::open(&folder.join(file)).unwrap();
        let [platform, release, costs] = [
            "juno-r1.toml",
            "juno-r1/releases/juno-v2.12.toml",
            "juno-r1/costs/juno-v2.12.toml",
        ]
        .map(open);
        soc::config::Sources {
            platform,
            release,
            costs,
        }
        .machine()
        .unwrap()
    }

    /// Sessions `a`, `b` and `c` with the owners 1.2, 1.2 and 0.1, as far as they count.
    fn made(machine: &Machine, counts: impl Fn(&str) -> bool) -> OtherSessions {
        let mut conditions = Conditions::default();
        for (cpu, sessions) in [
            ("1.2", vec!["a", "b"]),
            ("0.1", vec!["c"]),
            ("7.7", vec!["d"]),
        ] {
            let sessions = sessions.into_iter().map(str::to_owned);
            conditions.add(
                "timer-owner",
                &[&machine.platform.name, CASES[0].name, cpu],
                sessions,
            );
        }
        OtherSessions::new(machine, &CASES[0], &conditions, counts)
    }

    #[test]
    fn owners_weigh_as_many_sessions_as_they_had_and_none_is_impossible() {
        let machine = machine();
        let owners = made(&machine, |_| true).owners(&machine, &[]);
        let all: f64 = owners.iter().map(|(_, owner)| owner.weight).sum();
        assert!((all - 1.0).abs() < 1e-9 && owners.iter().all(|(_, owner)| owner.weight > 0.0));
        assert_eq!(
            (owners[0].1.cpu.as_str(), owners[1].1.cpu.as_str()),
            ("1.2", "0.1")
        );
        assert!((owners[0].1.weight / owners[2].1.weight - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_session_that_does_not_count_changes_nothing() {
        let machine = machine();
        let without = made(&machine, |session| session == "c");
        assert_eq!(
            without
                .likeliest(&machine, &[])
                .map(|cpu| place(&machine, cpu))
                .as_deref(),
            Some("0.1")
        );
        assert!(
            without.owners(&machine, &[])[1..]
                .iter()
                .all(|(_, owner)| owner.weight < 0.2)
        );
    }

    #[test]
    fn of_cpus_alike_the_first_at_the_scp_comes_first_but_none_is_likeliest() {
        let machine = machine();
        let none = made(&machine, |_| false);
        assert_eq!(
            none.owners(&machine, &[4, 2, 0])[..2]
                .iter()
                .map(|(cpu, _)| *cpu)
                .collect::<Vec<_>>(),
            [4, 2]
        );
        assert_eq!(none.likeliest(&machine, &[4, 2, 0]), None);
    }
}

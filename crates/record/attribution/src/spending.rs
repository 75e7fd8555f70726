//! A critical path by what it is spent on.

use crate::activity::Activity;
use crate::causes::Cause;
use crate::path::{Actor, PathPart};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Activity that takes the time of a part of a critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spent {
    /// The SCP has a command in hand, or lets one wait.
    Scp,
    /// A cause, on whichever CPU.
    Cause(Cause),
    /// Outside of the firmware, or before any event.
    Outside,
}

impl Spent {
    fn from_part(part: &PathPart) -> Self {
        match (part.place, part.activity) {
            (Actor::Scp(_), _) => Self::Scp,
            (Actor::Cpu(_), Some(Activity::Cause(cause))) => Self::Cause(cause),
            (Actor::Cpu(_), _) => Self::Outside,
        }
    }

    /// Name of the activity in legends and tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::Scp => "the SCP",
            Self::Cause(cause) => cause.title(),
            Self::Outside => "outside of the firmware",
        }
    }

    /// Name of the activity in output for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scp => "scp",
            Self::Cause(cause) => cause.name(),
            Self::Outside => "outside",
        }
    }
}

/// A critical path by what it is spent on.
#[derive(Clone, Default)]
pub struct Spending {
    /// Ticks of each, the longest first.
    pub parts: Vec<(Spent, u64)>,
    /// The CPUs on which a part was spent for at least a hundredth of the path.
    pub cpus: BTreeMap<Spent, BTreeSet<u16>>,
    /// The number of commands of the SCP that are at least a hundredth of the path each.
    pub commands: usize,
}

impl Spending {
    /// Sums a path up.
    pub fn new(path: &[PathPart]) -> Self {
        let all: u64 = path.iter().map(|part| part.to - part.from).sum();
        let mut ticks: BTreeMap<Spent, u64> = BTreeMap::new();
        let mut by_cpu: BTreeMap<(Spent, u16), u64> = BTreeMap::new();
        // Parts of one command follow each other: before the SCP took it up, and while it had it in
        // hand.
        let mut commands: Vec<(Option<(Actor, u16)>, u64)> = Vec::new();
        for part in path {
            let (spent, length) = (Spent::from_part(part), part.to - part.from);
            *ticks.entry(spent).or_default() += length;
            if let Actor::Cpu(cpu) = part.place {
                *by_cpu.entry((spent, cpu)).or_default() += length;
            }
            let command = part.serves.map(|cpu| (part.place, cpu));
            match commands.last_mut() {
                Some((last, sum)) if *last == command => *sum += length,
                _ => commands.push((command, length)),
            }
        }
        let matters = |ticks: u64| ticks > 0 && ticks * 100 >= all;
        let mut cpus: BTreeMap<Spent, BTreeSet<u16>> = BTreeMap::new();
        for ((spent, cpu), ticks) in by_cpu {
            if matters(ticks) {
                cpus.entry(spent).or_default().insert(cpu);
            }
        }
        let mut parts: Vec<(Spent, u64)> = ticks.into_iter().collect();
        parts.sort_by_key(|&(spent, ticks)| (Reverse(ticks), spent));
        let commands = commands
            .iter()
            .filter(|(command, ticks)| command.is_some() && matters(*ticks))
            .count();
        Self {
            parts,
            cpus,
            commands,
        }
    }

    /// Ticks of all parts.
    pub fn total(&self) -> u64 {
        self.parts.iter().map(|(_, ticks)| ticks).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(place: Actor, ticks: u64, cause: Option<Cause>, serves: Option<u16>) -> PathPart {
        let activity = cause.map(Activity::Cause);
        PathPart {
            place,
            from: 1000,
            to: 1000 + ticks,
            activity,
            serves,
            taken: serves.is_some(),
        }
    }

    /// A hundredth of this path are 4 ticks.
    #[test]
    fn a_path_is_summed_up_and_what_is_less_than_a_hundredth_counts_for_nobody() {
        let (scp, cpu) = (Actor::Scp(0), Actor::Cpu);
        let path = [
            part(cpu(1), 40, Some(Cause::Code), None),
            // One command, before the SCP took it up and after; then two of others, of which one is
            // too short to matter.
            PathPart {
                taken: false,
                ..part(scp, 3, None, Some(1))
            },
            part(scp, 1, None, Some(1)),
            part(scp, 3, None, Some(2)),
            part(Actor::Scp(1), 4, None, Some(2)),
            part(cpu(2), 3, Some(Cause::Code), None),
            part(cpu(3), 4, Some(Cause::Code), None),
            part(cpu(3), 242, Some(Cause::FlushL1), None),
            part(cpu(3), 100, None, None),
        ];
        let code = Spent::Cause(Cause::Code);
        let (flush, outside) = (Spent::Cause(Cause::FlushL1), Spent::Outside);
        let spending = Spending::new(&path);
        assert_eq!(spending.total(), 400);
        assert_eq!(
            spending.parts,
            [(flush, 242), (outside, 100), (code, 47), (Spent::Scp, 11)]
        );
        assert_eq!(spending.commands, 2);
        let cpus: Vec<_> = spending
            .cpus
            .iter()
            .map(|(spent, cpus)| (*spent, cpus.iter().copied().collect()))
            .collect();
        assert_eq!(
            cpus,
            [(code, vec![1, 3]), (flush, vec![3]), (outside, vec![3])]
        );
        assert_eq!(
            Spending::new(&[part(cpu(0), 0, Some(Cause::Code), None)])
                .cpus
                .len(),
            0,
            "it takes no time"
        );
    }

    #[test]
    fn what_a_path_is_spent_on_has_a_name_for_people_and_one_for_machines() {
        for (spent, title, name) in [
            (Spent::Scp, "the SCP", "scp"),
            (
                Spent::Cause(Cause::LockWait),
                Cause::LockWait.title(),
                "lock-wait",
            ),
            (Spent::Outside, "outside of the firmware", "outside"),
        ] {
            assert_eq!((spent.title(), spent.name()), (title, name));
        }
    }
}

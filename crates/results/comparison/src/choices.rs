//! Sleeps in which a governor's file chose otherwise, in replays of one trace.

use crate::request::Input;
use crate::result::Row;
use itertools::Itertools;
use recording::facts::{Changed, Replay};
use recording::metrics::IDLE_ENERGY;
use std::collections::BTreeMap;

/// The states that each governor's file chose in a recording: by CPU and time.
type Choices<'r> = BTreeMap<String, BTreeMap<(u16, u64), &'r str>>;

/// Each governor's file that the base and another recording have replayed on the same sleeps, with
/// what that costs by the rows of its energy.
pub fn changed(inputs: &[Input<'_>], rows: &[Row]) -> Vec<Changed> {
    let base = choices(&inputs[0]);
    let beside = |(side, input): (usize, &Input<'_>)| {
        let all = choices(input).into_iter();
        let one = |(name, own): (String, BTreeMap<_, &str>)| {
            let theirs = base
                .get(&name)
                .filter(|theirs| theirs.keys().eq(own.keys()))?;
            let names = [(input, &name), (&inputs[0], &name)];
            let names = names.map(|(input, name)| format!("{name} of {}", input.name));
            let of_energy =
                |row: &&Row| row.key.metric == IDLE_ENERGY.name && row.key.variant == name;
            let rows = rows.iter().filter(of_energy);
            let is_open = rows.clone().any(|row| !row.key.mode.is_empty());
            let changes = rows.filter_map(|row| row.changes[side].as_ref());
            let less = changes.filter_map(|change| Some(change.percent? / -100.0));
            let less = less.minmax_by(f64::total_cmp).into_option();
            Some(Changed {
                is_open,
                less: less.map(Into::into),
                ..Changed::new(names, theirs.values().copied().zip(own.into_values()))
            })
        };
        all.filter_map(one).collect_vec()
    };
    inputs[1..].iter().enumerate().flat_map(beside).collect()
}

fn choices<'r>(input: &Input<'r>) -> Choices<'r> {
    let mut all = Choices::new();
    let recording = input.runs[0].recording;
    for event in recording.events() {
        let (governor, case, _) = recording.series_texts(event.series);
        if case == Replay::CHOICES {
            let of = all.entry(governor.to_owned()).or_default();
            of.insert((event.cpu, event.time), recording.point_text(event.point));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use crate::Options;
    use crate::result::Verdict;
    use crate::testing::compared;
    use recording::facts::Replay;
    use recording::metrics::IDLE_ENERGY;
    use recording::{Header, Recording};

    /// A replay of a file that chose some states, with energies at two costs of a round trip.
    fn replay(states: [&str; 3], energies: [f64; 2]) -> Recording {
        let mut recording = Recording::new(Header::new("idle-replay", "sim", "ns"));
        let series = recording.series("menu.c", Replay::CHOICES, "");
        for (at, state) in (0..).zip(states) {
            let point = recording.point(state);
            recording.event(series, 0, 1, at, 0, point, 0);
        }
        for name in ["menu.c", "oracle"] {
            let series = recording.series(name, "idle-replay", "");
            for (subject, energy) in ["round trip 0", "round trip 1"].into_iter().zip(energies) {
                let energy = if name == "oracle" { 1.0 } else { energy };
                recording.add(series, 0, IDLE_ENERGY, subject, energy);
            }
        }
        recording
    }

    #[test]
    fn sleeps_that_changed_are_told_with_their_cost() {
        let before = replay(["C1", "C2", "C2"], [2.0, 4.0]);
        let after = replay(["C1", "C1", "C2"], [1.0, 3.0]);
        let comparison = compared(&[&before, &after], &Options::default());
        let [changed] = &comparison.choices[..] else {
            panic!("{:?}", comparison.choices)
        };
        assert_eq!((changed.sleeps, changed.different), (3, [1, 1]));
        assert_eq!(changed.states, [("C2".to_owned(), "C1".to_owned(), 1)]);
        assert_eq!(changed.less, Some([0.25, 0.5]));
        assert!(!changed.is_open);
        // What costs less at one price and more at the other is no change for the better.
        let mixed = replay(["C1", "C1", "C1"], [1.0, 5.0]);
        let comparison = compared(&[&before, &mixed], &Options::default());
        let verdicts = comparison.changes().map(|(_, change)| change.verdict);
        assert!(
            verdicts
                .into_iter()
                .all(|verdict| matches!(verdict, Verdict::Unclear | Verdict::Same))
        );
    }
}

//! Kernels' counts of their idle states, side by side: sums over CPUs, and the share of each
//! state.

use crate::releases::ComparedReleases;
use crate::request::Input;
use crate::result::{IdleShare, IdleTest};
use recording::idle::{IdleCount, IdleSum, idle_counts, percent_of};

/// The tests that the base shares with another recording; none unless all are recordings of idle
/// states' counts.
pub(crate) fn idle_tests(inputs: &[Input<'_>], chosen: &ComparedReleases) -> Vec<IdleTest> {
    if inputs.iter().any(|input| input.recording.header.experiment != "cpuidle") {
        return Vec::new();
    }
    let read = |(side, input): (usize, &Input<'_>)| -> Vec<(String, String, String, IdleSum)> {
        let of = |count: IdleCount<'_>| {
            let variant = chosen.key(count.variant).filter(|_| chosen.takes(side, count.variant))?;
            Some((variant, count.case.to_owned(), count.state.to_owned(), count.sum))
        };
        idle_counts(input.recording).into_iter().filter_map(of).collect()
    };
    let sides: Vec<_> = inputs.iter().enumerate().map(read).collect();
    let mut names: Vec<(&str, &str)> = Vec::new();
    for (variant, case, ..) in &sides[0] {
        if !names.contains(&(variant, case)) {
            names.push((variant, case));
        }
    }
    let test = |(variant, case): (&str, &str)| {
        let mut states: Vec<&str> = Vec::new();
        let sums_of = |side: &[(String, String, String, IdleSum)], state: Option<&str>| {
            let sums = side.iter().filter(|(of, test, name, _)| {
                (of.as_str(), test.as_str()) == (variant, case) && state.is_none_or(|state| name == state)
            });
            sums.map(|(.., sum)| *sum).reduce(IdleSum::plus)
        };
        for (of, test, state, _) in sides.iter().flatten() {
            if (of.as_str(), test.as_str()) == (variant, case) && !states.contains(&state.as_str()) {
                states.push(state);
            }
        }
        let sums: Vec<Option<IdleSum>> = sides.iter().map(|side| sums_of(side, None)).collect();
        let by_time = sums.iter().flatten().all(|sum| sum.time_us.is_some());
        let share = |state: &str| {
            let of_side = |(side, whole): (&Vec<_>, &Option<IdleSum>)| {
                let (part, whole) = (sums_of(side, Some(state))?, (*whole)?);
                match by_time {
                    true => percent_of(part.time_us, whole.time_us?),
                    false => percent_of(Some(part.entered), whole.entered),
                }
            };
            IdleShare { state: state.to_owned(), shares: sides.iter().zip(&sums).map(of_side).collect() }
        };
        IdleTest {
            variant: variant.to_owned(),
            case: case.to_owned(),
            states: states.into_iter().map(share).collect(),
            sums,
            by_time,
        }
    };
    let tests = names.into_iter().map(test);
    tests.filter(|test: &IdleTest| test.sums[1..].iter().any(Option::is_some)).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Input, Options, compare};
    use recording::{Header, Recording, metrics};

    /// A recording of two CPUs, each with a shallow and a deep state: entries, microseconds, above,
    /// below.
    fn counted(deep: [f64; 4]) -> Recording {
        let mut recording = Recording::new(Header::new("cpuidle", "import", "us"));
        let series = recording.series("kernel", "cpuidle", "");
        for cpu in 0..2 {
            for (state, counts) in [("C1", [100.0, 50.0, 0.0, 10.0]), ("C6", deep)] {
                let subject = recording.name(state);
                let all = [metrics::IDLE_ENTERED, metrics::IDLE_TIME, metrics::IDLE_ABOVE, metrics::IDLE_BELOW];
                for (metric, value) in all.into_iter().zip(counts) {
                    let measure = recording.measure(series, 0, metric.name, metric.unit, value);
                    (measure.cpu, measure.subject) = (Some(cpu), Some(subject));
                }
            }
        }
        recording
    }

    #[test]
    fn misses_are_of_all_entries_and_changes_are_in_points() {
        let (a, b) = (counted([100.0, 150.0, 20.0, 0.0]), counted([300.0, 950.0, 90.0, 0.0]));
        let input = |recording| Input { name: String::new(), recording, variant: None };
        let comparison = compare(&[input(&a), input(&b)], &Options::default()).unwrap();
        let [test] = &comparison.idle[..] else { panic!("{:?}", comparison.idle) };
        assert_eq!(test.misses(0), [Some(10.0), Some(5.0), Some(15.0)]);
        assert_eq!(test.misses(1), [Some(22.5), Some(2.5), Some(25.0)]);
        assert_eq!(test.changes(1), [Some(12.5), Some(-2.5), Some(10.0)]);
        let deep = test.states.iter().find(|share| share.state == "C6").unwrap();
        assert_eq!((deep.shares.clone(), test.by_time), (vec![Some(75.0), Some(95.0)], true));
    }

    #[test]
    fn other_recordings_have_no_idle_counts() {
        let mut other = counted([1.0; 4]);
        other.header.experiment = "ftrace".to_owned();
        let input = |recording| Input { name: String::new(), recording, variant: None };
        assert!(compare(&[input(&other), input(&other)], &Options::default()).unwrap().idle.is_empty());
    }
}

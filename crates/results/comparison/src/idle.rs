//! Kernels' counts of their idle states, side by side: sums over CPUs, and the share of each
//! state.

use crate::releases::ComparedReleases;
use crate::request::Input;
use crate::result::{IdleShare, IdleTest};
use findings::cpuidle::{self, State, Test};
use recording::distinct;
use recording::idle::{IdleSum, percent_of};

/// The tests that the base shares with another recording; none unless all are recordings of idle
/// states' counts, one a side. A recording whose counts cannot be read is among the warnings.
pub fn idle_tests(
    inputs: &[Input<'_>],
    chosen: &ComparedReleases,
    warnings: &mut Vec<String>,
) -> Vec<IdleTest> {
    if inputs
        .iter()
        .any(|input| input.runs.len() > 1 || !cpuidle::is_of(input.runs[0].recording))
    {
        return Vec::new();
    }
    let mut sides: Vec<Vec<(String, Test<'_>)>> = Vec::new();
    for (side, input) in inputs.iter().enumerate() {
        let tests = match cpuidle::read(&input.runs[0]) {
            Ok(counted) => counted.tests,
            Err(error) => {
                warnings.push(format!("{}: {error}", input.name));
                Vec::new()
            }
        };
        let named = tests.into_iter().filter_map(|test| {
            let variant = chosen
                .key(test.kernel)
                .filter(|_| chosen.takes(side, test.kernel))?;
            Some((variant, test))
        });
        sides.push(named.collect());
    }
    sides[0]
        .iter()
        .map(|(variant, base)| {
            let of_sides = sides
                .iter()
                .map(|tests| {
                    tests
                        .iter()
                        .find(|(of, test)| (of, test.case) == (variant, base.case))
                        .map(|(_, test)| test)
                })
                .collect();
            idle_test(variant, base.case, of_sides)
        })
        .filter(|test| test.sums[1..].iter().any(Option::is_some))
        .collect()
}

/// A test in each recording that has it.
fn idle_test(variant: &str, case: &str, sides: Vec<Option<&Test<'_>>>) -> IdleTest {
    let states = distinct(
        sides
            .iter()
            .flatten()
            .flat_map(|test| &test.states)
            .map(|state| state.state),
    );
    let sums: Vec<Option<IdleSum>> = sides.iter().map(|test| test.map(|test| test.sum)).collect();
    let by_time = sums.iter().flatten().all(|sum| sum.time_us.is_some());
    let share = |state: &str| {
        let of_side = |test: &Option<&Test<'_>>| {
            let test = (*test)?;
            let of_state = test
                .states
                .iter()
                .filter(|of| of.state == state)
                .map(State::sum);
            let (part, whole) = (of_state.reduce(IdleSum::plus)?, test.sum);
            if by_time {
                percent_of(part.time_us, whole.time_us?)
            } else {
                percent_of(Some(part.entered), whole.entered)
            }
        };
        IdleShare {
            state: state.to_owned(),
            shares: sides.iter().map(of_side).collect(),
        }
    };
    let states = states.into_iter().map(share).collect();
    IdleTest {
        variant: variant.to_owned(),
        case: case.to_owned(),
        sums,
        states,
        by_time,
    }
}

#[cfg(test)]
mod tests {
    use crate::Options;
    use crate::testing::compared;
    use recording::facts::IdleCounts;
    use recording::{Header, Recording, metrics};

    /// A recording of two CPUs, each with a shallow and a deep state: entries, microseconds, above,
    /// below.
    fn counted(deep: [f64; 4]) -> Recording {
        let mut recording = Recording::new(Header::new("cpuidle", "import", "us"));
        recording.header.set_facts(&IdleCounts::default());
        let series = recording.series("kernel", "cpuidle", "");
        for cpu in 0..2 {
            for (state, counts) in [("C1", [100.0, 50.0, 0.0, 10.0]), ("C6", deep)] {
                let subject = recording.name(state);
                let all = [
                    metrics::IDLE_ENTERED,
                    metrics::IDLE_TIME,
                    metrics::IDLE_ABOVE,
                    metrics::IDLE_BELOW,
                ];
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
        let (a, b) = (
            counted([100.0, 150.0, 20.0, 0.0]),
            counted([300.0, 950.0, 90.0, 0.0]),
        );
        let comparison = compared(&[&a, &b], &Options::default());
        let [test] = &comparison.idle[..] else {
            panic!("{:?}", comparison.idle)
        };
        assert_eq!(test.misses(0), [Some(10.0), Some(5.0), Some(15.0)]);
        assert_eq!(test.misses(1), [Some(22.5), Some(2.5), Some(25.0)]);
        assert_eq!(test.changes(1), [Some(12.5), Some(-2.5), Some(10.0)]);
        let deep = test
            .states
            .iter()
            .find(|share| share.state == "C6")
            .unwrap();
        assert_eq!(
            (deep.shares.clone(), test.by_time),
            (vec![Some(75.0), Some(95.0)], true)
        );
    }

    #[test]
    fn other_recordings_have_no_idle_counts() {
        let mut other = counted([1.0; 4]);
        other.header.experiment = "table".to_owned();
        assert!(
            compared(&[&other, &other], &Options::default())
                .idle
                .is_empty()
        );
    }
}

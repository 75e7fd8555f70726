//! The functions in which a change is: instructions of each call by function, side by side.

use crate::request::Input;
use crate::result::{CallFunctions, FunctionRow, Side};
use findings::functions;
use itertools::Itertools;
use recording::facts::{FunctionCounts, Passage};
use std::collections::BTreeMap;

/// The calls that all recordings counted by function. If only some did, a warning says so.
pub fn functions(
    sides: &[Side],
    inputs: &[Input<'_>],
    warnings: &mut Vec<String>,
) -> Vec<CallFunctions> {
    let counts = inputs
        .iter()
        .map(|input| functions::read(input.runs[0].recording).ok().flatten())
        .map(|counts| counts.filter(|counts| !counts.passages.is_empty()))
        .collect_vec();
    if counts.iter().all(Option::is_none) {
        return Vec::new();
    }
    let without = sides
        .iter()
        .zip(&counts)
        .find(|(_, counts)| counts.is_none());
    if let Some((side, _)) = without {
        let name = &side.name;
        warnings.push(format!(
            "{name} was not counted by function, so no function is told; run it with --by-function, or with --symbols for firmware of your own"
        ));
        return Vec::new();
    }
    let counts = counts.into_iter().flatten().collect_vec();
    let is_one = sides.iter().all(|side| side.variants.len() == 1);
    let build_of = |side: usize, build: &str| {
        if is_one {
            sides[side].variants[0].clone()
        } else {
            build.to_owned()
        }
    };
    counts[0]
        .passages
        .iter()
        .filter(|passage| sides[0].variants.contains(&passage.build))
        .filter_map(|base| {
            let passages: Vec<Passage> = counts
                .iter()
                .enumerate()
                .map(|(side, counts)| {
                    counts
                        .passage(&build_of(side, &base.build), &base.call)
                        .cloned()
                })
                .collect::<Option<_>>()?;
            let build = if is_one {
                String::new()
            } else {
                base.build.clone()
            };
            Some(call(build, &passages))
        })
        .collect()
}

fn call(build: String, passages: &[Passage]) -> CallFunctions {
    let mut functions: BTreeMap<&str, Vec<Option<&FunctionCounts>>> = BTreeMap::new();
    for (side, passage) in passages.iter().enumerate() {
        for function in &passage.functions {
            functions
                .entry(&function.name)
                .or_insert_with(|| vec![None; passages.len()])[side] = Some(function);
        }
    }
    let values = |sides: &[Option<&FunctionCounts>], of: fn(&FunctionCounts) -> u64| -> Vec<f64> {
        sides
            .iter()
            .zip(passages)
            .map(|(function, passage)| passage.each(function.map_or(0, of)))
            .collect()
    };
    let differ = |values: &[f64]| values.iter().any(|value| *value != values[0]);
    let row = |(name, sides): (&str, Vec<Option<&FunctionCounts>>)| {
        let others = FunctionCounts::OTHERS
            .into_iter()
            .map(|(name, of)| (name, values(&sides, of)));
        FunctionRow {
            name: name.to_owned(),
            instructions: values(&sides, |function| function.instructions),
            others: others.filter(|(_, values)| differ(values)).collect(),
        }
    };
    let mut changed = functions.into_iter().map(row).collect_vec();
    changed.retain(|row| differ(&row.instructions) || !row.others.0.is_empty());
    let largest = |row: &FunctionRow| {
        (1..passages.len())
            .map(|side| row.change(side).abs())
            .fold(0.0, f64::max)
    };
    changed.sort_by(|a, b| largest(b).total_cmp(&largest(a)).then(a.name.cmp(&b.name)));
    let instructions = passages
        .iter()
        .map(|passage| passage.each(passage.instructions()))
        .collect();
    CallFunctions {
        build,
        call: passages[0].call.clone(),
        instructions,
        changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, testing};
    use recording::facts::Functions;
    use recording::{Header, Recording};

    /// A recording of one call, made ten times, with functions and their instructions in one call.
    fn counted(build: &str, functions: &[(&str, u64)]) -> Recording {
        let mut recording = Recording::new(Header::new("psci-calls", "qemu", "instructions"));
        recording.header.repeatable = Some(true);
        let series = recording.series(build, "psci-calls", "serial");
        let whole: u64 = functions.iter().map(|(_, count)| count).sum();
        let subject = recording.name("PSCI_VERSION");
        recording
            .measure(series, 0, "call", "instructions", whole as f64)
            .subject = Some(subject);
        let functions = functions.iter().map(|(name, count)| FunctionCounts {
            name: (*name).to_owned(),
            instructions: 10 * count,
            loads: 10,
            ..FunctionCounts::default()
        });
        let (build, call) = (build.to_owned(), "PSCI_VERSION".to_owned());
        let passage = Passage {
            build,
            call,
            calls: 10,
            of_others: 0,
            functions: functions.collect(),
            stacks: String::new(),
        };
        recording.header.set_facts(&Functions {
            passages: vec![passage],
            ..Functions::default()
        });
        recording
    }

    fn compared(a: &Recording, b: &Recording) -> crate::Comparison {
        testing::compared(&[a, b], &Options::default())
    }

    #[test]
    fn a_change_is_in_the_functions_that_changed_and_sums_are_those_of_the_calls() {
        let base = counted("firmware", &[("a", 60), ("b", 30), ("c", 7)]);
        let other = counted("firmware", &[("a", 61), ("c", 7), ("d", 50)]);
        let comparison = compared(&base, &other);
        let [call] = comparison.functions.as_slice() else {
            panic!("{:?}", comparison.functions)
        };
        assert_eq!(
            (
                call.build.as_str(),
                call.call.as_str(),
                &call.instructions[..]
            ),
            ("", "PSCI_VERSION", &[97.0, 118.0][..])
        );
        let changed: Vec<_> = call
            .changed
            .iter()
            .map(|row| (row.name.as_str(), row.change(1)))
            .collect();
        assert_eq!(changed, [("d", 50.0), ("b", -30.0), ("a", 1.0)]);
        assert_eq!(
            changed.iter().map(|(_, change)| change).sum::<f64>(),
            call.instructions[1] - call.instructions[0]
        );
        assert_eq!(call.changed[0].others.0, [("loads", vec![0.0, 1.0])]);
        assert!(comparison.has_regression());
        assert_eq!(compared(&base, &base).functions[0].changed, []);
    }

    #[test]
    fn what_moved_from_function_to_function_is_no_regression() {
        let base = counted("plain", &[("a", 60), ("b", 30)]);
        let other = counted("instrumented", &[("a", 30), ("b", 60)]);
        let comparison = compared(&base, &other);
        assert_eq!(comparison.functions[0].changed.len(), 2);
        assert!(!comparison.has_regression());
    }

    #[test]
    fn a_recording_without_functions_is_named() {
        let base = counted("firmware", &[("a", 60)]);
        let mut other = base.clone();
        other.header.facts = None;
        let comparison = compared(&base, &other);
        assert_eq!(comparison.functions, []);
        assert!(
            comparison
                .warnings
                .iter()
                .any(|warning| warning.starts_with("B was not counted by function"))
        );
        assert!(compared(&other, &other).warnings.is_empty());
    }
}

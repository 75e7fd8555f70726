//! Checks laws of an answer over generated inputs. Seeds are fixed, so that nothing fails by chance;
//! a judge asks for more cases than CI does.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{
    Config, RngAlgorithm, TestCaseError, TestCaseResult, TestRng, TestRunner,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The names of the laws, from 1 on.
const LAWS: [&str; 22] = [
    "content",
    "length",
    "names",
    "places",
    "weight",
    "presence",
    "mirror",
    "units",
    "monotone",
    "null",
    "conditions",
    "less is wider",
    "tie",
    "one figure",
    "work",
    "borrowed",
    "whole",
    "asked",
    "published",
    "causes",
    "like with like",
    "complete",
];

/// Steps to a simpler input that is broken too.
const STEPS: usize = 40;

/// Tells in one line how many cases of a law held for a command, for `cargo xtask judge laws`.
///
/// # Panics
/// One of them is broken.
pub fn told(law: u8, command: &str, cases: usize, broken: &[String]) {
    let count = broken.len();
    let name = LAWS[usize::from(law) - 1];
    println!("law {law} ({name}), {command}, {cases} cases, {count} broken");
    assert!(
        broken.is_empty(),
        "law {law}, {command}: {count} of {cases} cases are broken; the first:\n{}",
        broken[0]
    );
}

/// The number of cases: as many as in CI, or so many times more.
pub fn cases(in_ci: usize) -> usize {
    let times = std::env::var("LAWS_TIMES").map_or(1, |times| times.parse().unwrap());
    in_ci * times
}

/// Checks a law of an answer for a command over inputs that are drawn by a seed of their own.
///
/// # Panics
/// An input breaks it; the message has the simplest that was found, and its number.
pub fn holds<S: Strategy>(
    law: u8,
    command: &str,
    in_ci: usize,
    inputs: S,
    check: impl Fn(S::Value) -> TestCaseResult,
) {
    let mut seed = [law; 32];
    for (at, byte) in command.bytes().enumerate() {
        seed[at % 31 + 1] ^= byte;
    }
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let checked = |input: S::Value| {
        let result = catch_unwind(AssertUnwindSafe(|| check(input)));
        result.unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<String>().cloned();
            Err(TestCaseError::fail(
                said.unwrap_or_else(|| "it panicked".to_owned()),
            ))
        })
    };
    let mut broken = Vec::new();
    let (drawn, mut rejected) = (cases(in_ci), 0);
    for case in 0..drawn {
        let mut tree = inputs.new_tree(&mut runner).unwrap();
        let mut why = match checked(tree.current()) {
            Ok(()) => continue,
            Err(TestCaseError::Reject(_)) => {
                rejected += 1;
                continue;
            }
            Err(why) => why,
        };
        let mut simplest = format!("{:?}", tree.current());
        let mut steps = if broken.is_empty() { STEPS } else { 0 };
        while steps > 0 && tree.simplify() {
            steps -= 1;
            while !matches!(checked(tree.current()), Err(TestCaseError::Fail(_))) {
                if steps == 0 || !tree.complicate() {
                    break;
                }
                steps -= 1;
            }
            if let Err(of @ TestCaseError::Fail(_)) = checked(tree.current()) {
                (why, simplest) = (of, format!("{:?}", tree.current()));
            }
        }
        broken.push(format!("case {case}, {simplest}:\n{why}"));
    }
    told(law, command, drawn - rejected, &broken);
}

//! The readers of scenarios and litmus tests, against seeded damage of good inputs.

#[path = "../../../../crates/stopwatt/tests/all/damaged/damage.rs"]
mod damage;

use damage::Target;
use document::Document;
use explorations::Recordable;

const TARGETS: [Target; 2] = [SCENARIO, LITMUS];

#[test]
fn damaged_inputs_are_answered_or_refused() {
    damage::answered_or_refused(&TARGETS);
}

#[test]
fn noise_is_refused() {
    damage::noise_is_refused(&TARGETS);
}

/// The scenario of CPUs under the explorer, for either of its libraries.
const SCENARIO: Target = Target {
    name: "scenario",
    seeds: || {
        let psci = "os_initiated = false\noff = [2]\ncpus = [[{ on = 2 }, { affinity = 2 }], [{ suspend = { states = [2, 2, 0] } }, \
                    \"off\"], []]\n";
        let kernel = "leaf_fanout = 2\ncpus = [[{ read = 0 }, \"jiffy\", \"leave\"], [{ replace = { pointer = 0 } }, { thread = { which \
                      = 0, steps = 8 } }, { idle = { jiffies = 2 } }]]\n";
        vec![psci.into(), kernel.into()]
    },
    run: |bytes| {
        let text = Document::new("s.toml", String::from_utf8_lossy(bytes));
        match (
            <explore::Psci as Recordable>::read(&text),
            <explore::Rcu as Recordable>::read(&text),
        ) {
            (Ok(_), _) | (_, Ok(_)) => true,
            (Err(psci), Err(kernel)) => {
                assert!(!psci.to_string().is_empty() && !kernel.to_string().is_empty());
                false
            }
        }
    },
};

/// A stock litmus test, and what is expected of it.
const LITMUS: Target = Target {
    name: "litmus",
    seeds: || {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../litmus/tests/wider");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        let expected = "Test MP Allowed\nStates 1\n1:X0=1; [x]=2;\nOk\nWitnesses\nPositive: 1 Negative: 0\nObservation MP Always 1 0\n";
        let tests = files
            .iter()
            .filter(|path| path.extension().is_some_and(|end| end == "litmus"));
        tests
            .map(|path| std::fs::read(path).unwrap())
            .chain([b"test,kind\nMP,Allowed\n".into(), expected.into()])
            .collect()
    },
    run: |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let expected = litmus::expected::read(&text).is_ok();
        match litmus::parse(&text) {
            // What a generator wrote is quick to answer; what is larger need not be.
            Ok(test) if bytes.len() < 600 => {
                litmus::answer(&test).is_ok_and(|answer| !answer.text(&test).is_empty())
            }
            Ok(_) => true,
            Err(error) => {
                assert!(!error.what.is_empty());
                expected
            }
        }
    },
};

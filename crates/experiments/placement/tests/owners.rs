//! Every workload that comes with the command, under every policy: to the last unit, energy has an
//! owner.

use experiment::{Conditions, Experiment, Folder, Request, Settings, World};
use minikernel::placement::Kind;
use placement_experiments::{Input, NAMES, Placement, outcome};
use std::path::Path;

fn input(given: &[(&str, &str)]) -> Input {
    let platforms = Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms"));
    let given = given
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let settings = Settings::new(Placement.about(), World::Sim, given).unwrap();
    let request = Request {
        world: World::Sim,
        settings,
        platforms: &platforms,
        conditions: Conditions::default(),
        source_tree: None,
        kept: None,
    };
    Input::read(&request).unwrap()
}

#[test]
fn the_owners_energies_add_up_to_the_integral() {
    for name in NAMES {
        for (rcu, frequency) in [("ordinary", "highest"), ("offloaded", "schedutil")] {
            let input = input(&[
                ("workload", *name),
                ("seconds", "1"),
                ("rcu", rcu),
                ("frequency", frequency),
            ]);
            for kind in Kind::ALL {
                let found = outcome(&input, kind, 1, false, input.time_ns).unwrap();
                assert_eq!(found.total(), found.integral, "{name}, {kind}, {rcu}");
                assert!(
                    found.integral > 0 && found.stalls.is_empty() && found.deadlocks.is_empty(),
                    "{name}, {kind}, {rcu}: {:?}, {:?}",
                    found.stalls,
                    found.deadlocks
                );
            }
        }
    }
}

#[test]
fn a_seed_is_the_same_every_time_and_others_differ() {
    let input = input(&[("seconds", "1")]);
    let of_seed = |seed| outcome(&input, Kind::Hmp, seed, false, input.time_ns).unwrap();
    let first = of_seed(1);
    assert_eq!(first, of_seed(1));
    assert_ne!(first, of_seed(2));
}

//! Every workload that comes with the command, under every policy: to the last unit, energy has an
//! owner.

use experiment::{Conditions, Experiment, Folder, Request, Settings, World};
use minikernel::placement::Kind;
use placement_experiments::{Input, NAMES, Placement, one};
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
                let found = one(&input, kind, 1).unwrap();
                let sum: u128 = found.owners.iter().map(|(_, energy)| energy).sum();
                assert_eq!(sum, found.integral, "{name}, {kind}, {rcu}");
                assert!(
                    found.integral > 0 && found.complaints.is_empty(),
                    "{name}, {kind}, {rcu}: {:?}",
                    found.complaints
                );
            }
        }
    }
}

#[test]
fn a_seed_is_the_same_every_time_and_others_differ() {
    let input = input(&[("seconds", "1")]);
    let first = one(&input, Kind::Hmp, 1).unwrap();
    assert_eq!(first, one(&input, Kind::Hmp, 1).unwrap());
    assert_ne!(first, one(&input, Kind::Hmp, 2).unwrap());
}

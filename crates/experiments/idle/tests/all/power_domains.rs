//! Power domains that the operating system switches.

use crate::replay::{known, sleep};
use document::Document;
use idle::{DomainKind, Kind, Release};
use idle_experiments::platform::{LatencyLimit, Platform};
use idle_experiments::power_domains::follow;
use idle_experiments::replay::{Chooser, GovernorReplay, Ideal, Unsaid, replay};
use idle_experiments::trace::TracedIntervals;
use sleeps::Waker;

const MS: u64 = 1_000_000;

/// Four CPUs in two clusters of two, below a system; a cluster has three states.
fn platform() -> Platform {
    let state = |of: &str, name: &str, us: u64| {
        format!(
            "[[{of}.state]]\nname = \"{name}\"\nentry_us = {us}\nexit_us = {us}\nresidency_us = {}\nsource = \"a test\"\n",
            us * 10
        )
    };
    let domain = |kind: &str, name: &str, cpus: &str| {
        format!("[[{kind}]]\nname = \"{name}\"\ncpus = {cpus}\nsource = \"a test\"\n")
    };
    let cluster = |name: &str, cpus: &str| {
        let states = [("retention", 50), ("off", 100), ("deep", 200)].map(|(name, us)| state("power_domain", name, us));
        domain("power_domain", name, cpus) + &states.concat()
    };
    let text = [
        "name = \"osi\"\ntitle = \"\"\n".to_owned(),
        domain("domain", "cpus", "[0, 1, 2, 3]"),
        state("domain", "WFI", 0),
        state("domain", "cpu-off", 20),
        cluster("first", "[0, 1]"),
        cluster("second", "[2, 3]"),
        domain("power_domain", "system", "[0, 1, 2, 3]"),
        state("power_domain", "system-off", 300),
    ];
    Platform::read(&Document::new("osi", text.concat())).unwrap()
}

/// Each CPU sleeps for this long with a timer at the end, some times, one after the other.
fn followed(platform: &Platform, kind: DomainKind, rounds: &[[u64; 4]]) -> GovernorReplay {
    let sleeps = (0..).zip(rounds).flat_map(|(round, lengths)| {
        (0..).zip(lengths).map(move |(cpu, length)| {
            let enter = round * 100 * MS + u64::from(cpu) * 1000;
            sleep(cpu, enter, enter + length, known(*length), Waker::Timer)
        })
    });
    let traced = TracedIntervals::from_sleeps(sleeps);
    let chooser = Chooser::Governor(Kind::AlwaysDeepest);
    let mut replayed = replay(platform, &traced, chooser, Unsaid::TIMER, 4 * MS, &mut Ideal);
    follow(platform, &traced, kind, &mut replayed);
    replayed
}

fn entered(replayed: &GovernorReplay) -> Vec<Vec<u64>> {
    replayed.domains.iter().map(|domain| domain.states.iter().map(|state| state.entered).collect()).collect()
}

/// The second cluster sleeps too short for any of its states, so the system stays on, too.
#[test]
fn a_domain_follows_its_cpus_as_deep_as_the_first_timer_allows() {
    let replayed = followed(&platform(), DomainKind::CURRENT, &[[50 * MS, 50 * MS, 50 * MS, MS / 5]]);
    assert_eq!(entered(&replayed), [vec![0, 0, 1], vec![0, 0, 0], vec![0]]);
    let together = replayed.domains.iter().map(|domain| domain.together_ns).collect::<Vec<_>>();
    assert_eq!(together, [50 * MS - 1000, MS / 5, MS / 5]);
    // One of 99 in 100 wake-ups waits for the cluster too: 20 us of the CPU and 200 us of the
    // cluster.
    assert_eq!((replayed.delays.quantile_us(50), replayed.delays.quantile_us(99)), (20, 220));
}

/// A parent goes down with its children in their deepest states alone. After its first choice
/// Linux's governor enters none beyond the second state, so that the children never are.
#[test]
fn after_its_first_choice_linux_enters_no_third_state() {
    let rounds = [[50 * MS; 4]; 3];
    let replayed = followed(&platform(), DomainKind::CURRENT, &rounds);
    assert_eq!(entered(&replayed), [vec![0, 2, 1], vec![0, 2, 1], vec![1]]);
    let deepest = followed(&platform(), DomainKind::Deepest, &rounds);
    assert_eq!(entered(&deepest), [vec![0, 0, 3], vec![0, 0, 3], vec![3]]);
    assert_eq!(entered(&followed(&platform(), DomainKind::Never, &rounds)), [vec![0; 3], vec![0; 3], vec![0]]);
}

/// The tightest limit of a domain's CPUs holds for the domain, since Linux 6.1.
#[test]
fn a_limit_of_one_cpu_holds_for_its_domain() {
    let mut platform = platform();
    platform.latency_limit = Some(LatencyLimit { cpus: vec![1], ns: 150_000 });
    let rounds = [[50 * MS; 4]];
    assert_eq!(entered(&followed(&platform, DomainKind::CURRENT, &rounds))[..2], [vec![1, 0, 0], vec![0, 0, 1]]);
    let old = DomainKind::Genpd(Release::new(5, 10));
    assert_eq!(entered(&followed(&platform, old, &rounds))[..2], [vec![0, 0, 1], vec![0, 0, 1]]);
}

#[test]
fn what_is_wrong_in_a_power_domain_is_named() {
    let text = platform().text;
    for (right, wrong, message) in [
        (
            "name = \"first\"\ncpus = [0, 1]",
            "name = \"first\"\ncpus = [0, 9]",
            "power domain `first`: it has no CPU, or one that",
        ),
        ("entry_us = 300", "entry_us = 3000000", "power domain `system`: it has no state, or one of more than 1 s"),
    ] {
        let error = Platform::read(&Document::new("osi", text.replace(right, wrong))).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

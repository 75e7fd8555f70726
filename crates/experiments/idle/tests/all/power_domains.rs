//! Power domains that the operating system switches.

use crate::replay::{known, platform as shipped, sleep};
use document::Document;
use idle::{DomainKind, Kind, Release};
use idle_experiments::platform::{LatencyLimit, Platform};
use idle_experiments::power_domains::follow;
use idle_experiments::replay::{Chooser, GovernorReplay, Ideal, Unsaid, replay};
use idle_experiments::trace::TracedIntervals;
use minikernel::placement::StayPut;
use minikernel::{
    Action, CpuSet, Draw, Hardware, Outcome, Settings, TaskSpec, Workload, events, run,
};
use recording::facts::Away;
use sleeps::{Sleep, SleepLength, Waker};
use soc::config::{IdlePlatform, Sources};

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
        let states = [("retention", 50), ("off", 100), ("deep", 200)]
            .map(|(name, us)| state("power_domain", name, us));
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
    let mut replayed = replay(
        platform,
        &traced,
        chooser,
        Unsaid::TIMER,
        4 * MS,
        &mut Ideal,
    );
    follow(platform, &traced, kind, None, &mut replayed);
    replayed
}

fn entered(replayed: &GovernorReplay) -> Vec<Vec<u64>> {
    replayed
        .domains
        .iter()
        .map(|domain| domain.states.iter().map(|state| state.entered).collect())
        .collect()
}

/// The second cluster sleeps too short for any of its states, so the system stays on, too.
#[test]
fn a_domain_follows_its_cpus_as_deep_as_the_first_timer_allows() {
    let replayed = followed(
        &platform(),
        DomainKind::CURRENT,
        &[[50 * MS, 50 * MS, 50 * MS, MS / 5]],
    );
    assert_eq!(entered(&replayed), [vec![0, 0, 1], vec![0, 0, 0], vec![0]]);
    let together = replayed
        .domains
        .iter()
        .map(|domain| domain.together_ns)
        .collect::<Vec<_>>();
    assert_eq!(together, [50 * MS - 1000, MS / 5, MS / 5]);
    // One of 99 in 100 wake-ups waits for the cluster too: 20 us of the CPU and 200 us of the
    // cluster.
    assert_eq!(
        (
            replayed.delays.quantile_us(50),
            replayed.delays.quantile_us(99)
        ),
        (20, 220)
    );
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
    assert_eq!(
        entered(&followed(&platform(), DomainKind::Never, &rounds)),
        [vec![0; 3], vec![0; 3], vec![0]]
    );
}

/// The tightest limit of a domain's CPUs holds for the domain, since Linux 6.1.
#[test]
fn a_limit_of_one_cpu_holds_for_its_domain() {
    let mut platform = platform();
    platform.latency_limit = Some(LatencyLimit {
        cpus: vec![1],
        ns: 150_000,
    });
    let rounds = [[50 * MS; 4]];
    assert_eq!(
        entered(&followed(&platform, DomainKind::CURRENT, &rounds))[..2],
        [vec![1, 0, 0], vec![0, 0, 1]]
    );
    let old = DomainKind::Genpd(Release::new(5, 10));
    assert_eq!(
        entered(&followed(&platform, old, &rounds))[..2],
        [vec![0, 0, 1], vec![0, 0, 1]]
    );
}

/// Linux 7.3 on QEMU in OS-initiated mode counts in its trace how often it entered the cluster's
/// state. Its own choices replayed give that count: the tick is stopped before such sleeps, and an
/// interrupt that another CPU sent before it slept keeps the cluster on. Linux 6.1 did not look for
/// one.
#[test]
fn recorded_choices_take_the_cluster_down_as_often_as_linux_did() {
    let path = format!("{}/tests/data/osi-7.3.trace.gz", env!("CARGO_MANIFEST_DIR"));
    let traced = TracedIntervals::open(path.as_ref()).unwrap();
    let platform = shipped("qemu-virt-osi");
    let clusters = |kind| {
        let mut replayed = replay(
            &platform,
            &traced,
            Chooser::Recorded,
            Unsaid::TIMER,
            4 * MS,
            &mut Ideal,
        );
        follow(&platform, &traced, kind, None, &mut replayed);
        entered(&replayed)
    };
    assert_eq!(clusters(DomainKind::CURRENT), [vec![20, 0], vec![0]]);
    assert_eq!(
        clusters(DomainKind::Genpd(Release::new(6, 1))),
        [vec![25, 0], vec![0]]
    );
}

/// A trace may lack the CPUs of a whole domain.
#[test]
fn a_domain_without_cpus_that_sleep_is_left_out() {
    let traced = TracedIntervals::from_sleeps(
        [0, 1].map(|cpu| sleep(cpu, 0, 50 * MS, known(50 * MS), Waker::Timer)),
    );
    let chooser = Chooser::Governor(Kind::AlwaysDeepest);
    let mut replayed = replay(
        &platform(),
        &traced,
        chooser,
        Unsaid::TIMER,
        4 * MS,
        &mut Ideal,
    );
    follow(
        &platform(),
        &traced,
        DomainKind::CURRENT,
        None,
        &mut replayed,
    );
    assert_eq!(entered(&replayed)[..2], [vec![0, 0, 1], vec![0, 0, 0]]);
}

/// A CPU that is offline keeps its cluster on as little as one that sleeps.
#[test]
fn a_domain_does_not_wait_for_a_cpu_that_is_offline() {
    let of = |cpu, from, to| {
        sleep(
            cpu,
            from * MS,
            to * MS,
            known((to - from) * MS),
            Waker::Timer,
        )
    };
    let sleeps = [of(0, 0, 1), of(1, 0, 1), of(0, 10, 60), of(0, 80, 81)];
    let entered = |offline: &[[u64; 2]]| {
        let mut traced = TracedIntervals::from_sleeps(sleeps);
        traced.offline = offline
            .iter()
            .map(|ns| Away {
                cpu: 1,
                why: Away::OFFLINE.to_owned(),
                ns: ns.map(|ms| ms * MS),
            })
            .collect();
        let chooser = Chooser::Governor(Kind::AlwaysDeepest);
        let mut replayed = replay(
            &platform(),
            &traced,
            chooser,
            Unsaid::TIMER,
            4 * MS,
            &mut Ideal,
        );
        follow(
            &platform(),
            &traced,
            DomainKind::CURRENT,
            None,
            &mut replayed,
        );
        let cluster = &replayed.domains[0];
        (
            cluster.together_ns / MS,
            cluster.states.iter().map(|of| of.time_ns).sum::<u64>() / MS,
        )
    };
    assert_eq!(entered(&[]), (1, 1), "it runs");
    assert_eq!(entered(&[[5, 70]]), (51, 51));
    assert_eq!(entered(&[[30, 70]]), (31, 31));
}

/// An interrupt ends the stay of a cluster within the time that a CPU of it takes to wake, or a
/// later one does.
#[test]
fn an_interrupt_that_is_on_its_way_keeps_a_cluster_on() {
    let ended_after = |us: u64| {
        let of =
            |cpu: u16, enter_ns, exit_ns| sleep(cpu, enter_ns, exit_ns, known(50 * MS), Waker::Ipi);
        let end = MS + us * 1000;
        let sleeps = [
            of(0, 0, end),
            of(1, MS, MS + 40 * MS),
            of(2, 0, 2 * MS),
            of(3, 1000, 3 * MS),
        ];
        let traced = TracedIntervals::from_sleeps(sleeps);
        let chooser = Chooser::Governor(Kind::AlwaysDeepest);
        let mut replayed = replay(
            &platform(),
            &traced,
            chooser,
            Unsaid::TIMER,
            4 * MS,
            &mut Ideal,
        );
        follow(
            &platform(),
            &traced,
            DomainKind::CURRENT,
            None,
            &mut replayed,
        );
        entered(&replayed)[0].iter().sum::<u64>()
    };
    assert_eq!((ended_after(20), ended_after(21)), (0, 1));
}

/// TC2 with states of single CPUs, whose clusters the kernel takes down.
fn tc2_by_os() -> Document {
    let of_cluster = ["coupled", "stops_timer"];
    let is_own = |line: &&str| !of_cluster.iter().any(|key| line.starts_with(key));
    let text = shipped("tc2")
        .text
        .lines()
        .filter(is_own)
        .map(|line| match line.starts_with("domain_unit_us") {
            true => "domain_unit_us = 0\n".to_owned(),
            false => format!("{line}\n"),
        })
        .collect::<String>();
    let cluster = |name: &str, cpus: &str| {
        format!(
            "[[power_domain]]\nname = \"{name}\"\ncpus = {cpus}\nsource = \"a test\"\n[[power_domain.state]]\n\
             name = \"off\"\nentry_us = 100\nexit_us = 100\nresidency_us = 6000\nsource = \"a test\"\n"
        )
    };
    Document::new(
        "tc2-by-os",
        text + &cluster("a15", "[0, 1]") + &cluster("a7", "[2, 3, 4]"),
    )
}

/// A run of the small kernel by way of the PSCI library in OS-initiated mode.
fn run_by_os(document: &Document) -> Outcome {
    let open = |name: &str| {
        Document::open(
            format!(
                "{}/../../../data/platforms/{name}.toml",
                env!("CARGO_MANIFEST_DIR")
            )
            .as_ref(),
        )
        .unwrap()
    };
    let sources = Sources {
        platform: open("tc2"),
        release: open("tc2/releases/tc2-borrowed"),
        costs: open("tc2/costs/tc2-borrowed"),
    };
    let hardware = Hardware::new(
        &sources.machine().unwrap(),
        &IdlePlatform::read(document).unwrap(),
        0,
    )
    .unwrap();
    let periodic = |cpu: usize, period_ms: u64| {
        let timer = Action::Timer {
            timer: 0,
            period: period_ms * MS,
            relative: false,
        };
        let work = Action::Run {
            time: Draw::Fixed(MS / 10),
            capacity: 430,
        };
        TaskSpec::forever(&format!("task-{cpu}"), vec![timer, work]).on(CpuSet::one(cpu))
    };
    let workload = Workload {
        tasks: vec![periodic(2, 20), periodic(3, 14)],
        ..Workload::default()
    };
    let settings = Settings {
        record: true,
        ..Settings::default()
    };
    run(
        &hardware,
        &settings,
        &workload,
        Box::new(StayPut),
        None,
        1000 * MS,
    )
    .unwrap()
}

/// The stamps of the run are replayed: the clusters go down as often as the kernel of the run took
/// them down, and as often as the firmware cut their power.
#[test]
fn a_replay_and_a_run_take_the_same_clusters_down() {
    let document = tc2_by_os();
    let outcome = run_by_os(&document);
    let ran: Vec<u64> = outcome
        .power_domains
        .iter()
        .map(|domain| domain.entered[0].1)
        .collect();
    let cut =
        |event: &&soc::Event| soc::point_name(event.point) == "power-off" && event.argument == 1;
    let cuts = outcome.events.iter().filter(cut).count() as u64;
    let mut since = [None; 5];
    let mut sleeps = Vec::new();
    for event in &outcome.events {
        let (cpu, at) = (usize::from(event.cpu), event.time / 1000);
        match event.point {
            point if point == events::IDLE_ENTER.id() => {
                since[cpu] = Some((at, event.argument as u8))
            }
            point if point == events::IDLE_LEAVE.id() => {
                let (from, state) = since[cpu].take().unwrap();
                let tick_stopped = Some(true);
                sleeps.push(Sleep {
                    state,
                    tick_stopped,
                    ..sleep(
                        cpu as u16,
                        from,
                        at,
                        crate::replay::equal(at - from),
                        Waker::Timer,
                    )
                });
            }
            _ => {}
        }
    }
    let end = (outcome.begin + outcome.time) / 1000;
    for (cpu, (from, state)) in since
        .into_iter()
        .enumerate()
        .filter_map(|(cpu, of)| Some((cpu, of?)))
    {
        let known = SleepLength::Known {
            timer_ns: u64::MAX,
            tick_ns: None,
        };
        sleeps.push(Sleep {
            state,
            ..sleep(cpu as u16, from, end.max(from), known, Waker::Unknown)
        });
    }
    sleeps.sort_by_key(|sleep| sleep.enter_ns);
    let platform = Platform::read(&document).unwrap();
    let traced = TracedIntervals::from_sleeps(sleeps);
    let mut replayed = replay(
        &platform,
        &traced,
        Chooser::Recorded,
        Unsaid::TIMER,
        4 * MS,
        &mut Ideal,
    );
    follow(&platform, &traced, DomainKind::CURRENT, None, &mut replayed);
    let again: Vec<u64> = entered(&replayed).into_iter().map(|of| of[0]).collect();
    // Of the first the firmware says no, since another CPU is still on its way down.
    assert_eq!(
        (again, ran.iter().sum::<u64>()),
        (vec![1, ran[1] + 1], cuts)
    );
    assert!(ran[0] == 1 && ran[1] > 50, "{ran:?}");
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
        (
            "entry_us = 300",
            "entry_us = 3000000",
            "power domain `system`: it has no state, or one of more than 1 s",
        ),
    ] {
        let error = Platform::read(&Document::new("osi", text.replace(right, wrong)))
            .unwrap_err()
            .to_string();
        assert!(error.contains(message), "{error}");
    }
}

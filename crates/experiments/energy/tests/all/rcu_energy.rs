//! `rcu-energy` on the talk's file, with few draws; files that are wrong.

use document::Document;
use energy_experiments::RcuEnergy;
use energy_experiments::board::Board;
use energy_experiments::configuration::Configuration;
use energy_experiments::plan::{self, Kind, plan};
use energy_experiments::point::Point;
use energy_experiments::runs::{RunResult, run};
use energy_experiments::suite::Suite;
use energy_experiments::unknown::Value;
use experiment::{Conditions, Experiment, Files, Folder, Observer, Request, Settings, World};
use recording::Recording;
use std::path::Path;

fn files() -> Folder {
    Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms"))
}

fn text() -> String {
    files().read("energy/rcu-2013.toml").unwrap()
}

fn suite() -> Suite {
    Suite::read(&Document::new("rcu-2013.toml", text())).unwrap()
}

fn board() -> Board {
    Board::open(
        &files(),
        "tc2",
        &["tc2".to_owned(), "tc2-driver".to_owned()],
    )
    .unwrap()
}

fn run_of(
    suite: &Suite,
    board: &Board,
    name: &str,
    configuration: Configuration,
    point: &Point<'_>,
) -> RunResult {
    let benchmark = suite
        .benchmarks
        .iter()
        .find(|benchmark| benchmark.name == name)
        .unwrap();
    let ran = run(board, benchmark, configuration, point).unwrap();
    assert_eq!(
        ran.owners.iter().sum::<u128>(),
        ran.energy,
        "{name}: the owners' sum is the integral"
    );
    assert!(ran.ended && ran.stalls == 0, "{name}: {ran:?}");
    ran
}

fn record(given: &[(&str, &str)]) -> Result<Recording, experiment::Error> {
    let given = given
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let settings = Settings::new(RcuEnergy.about(), World::Sim, given)?;
    let platforms = files();
    let request = Request {
        world: World::Sim,
        settings,
        platforms: &platforms,
        conditions: Conditions::default(),
        source_tree: None,
        kept: None,
    };
    RcuEnergy.check(&request)?;
    RcuEnergy.run(&request, &Observer::new(Default::default()))
}

/// Benchmarks in the talk's order.
const BENCHMARKS: [&str; 6] = [
    "cyclictest",
    "sysbench",
    "andebench2",
    "andebench8",
    "audio",
    "audio+bbench",
];

#[test]
fn without_callbacks_every_configuration_is_the_same_to_the_last_unit() {
    let (suite, board) = (suite(), board());
    for name in BENCHMARKS {
        for point in [Point::central(&suite, 0), Point::draw(&suite, 3)] {
            let point = point.with("callbacks.rate", Value::Number(0));
            let all = Configuration::ALL
                .map(|configuration| run_of(&suite, &board, name, configuration, &point));
            assert_eq!(all[0].queued, [0, 0], "{name}");
            for (configuration, ran) in Configuration::ALL.iter().zip(&all) {
                assert_eq!(*ran, all[0], "{name}, {}", configuration.name());
            }
        }
    }
}

#[test]
fn callbacks_are_invoked_where_the_configuration_says() {
    let (suite, board) = (suite(), board());
    let point = Point::central(&suite, 0);
    let all = Configuration::ALL
        .map(|configuration| run_of(&suite, &board, "audio", configuration, &point));
    let [reference, offload, idle, both] = &all;
    let queued: u64 = reference.queued.iter().sum();
    assert!(queued > 500, "{queued}");
    for ran in &all {
        let other: u64 = ran.queued.iter().sum();
        // A wake-up that is put off puts off all that follow, so a few callbacks fall behind the
        // end.
        assert!(
            other.abs_diff(queued) * 100 <= queued,
            "the sources are the same in all configurations: {other} and {queued}"
        );
    }
    // CPU 0 is not offloaded, so some are invoked on a big CPU all the same; threads run on LITTLE
    // CPUs alone.
    assert!(reference.invoked[2..] == [0, 0] && idle.invoked[2..] == [0, 0]);
    for ran in [offload, both] {
        assert!(
            ran.invoked[0] > 0
                && ran.invoked[1] == 0
                && ran.invoked[2] == 0
                && ran.invoked[3] > ran.invoked[0]
        );
    }
    // Enforced idle keeps no tick for callbacks; in the reference it is what they cost.
    assert!(reference.ticks[2] > 100, "{:?}", reference.ticks);
    assert!(
        idle.ticks[2] * 10 < reference.ticks[2],
        "{:?} and {:?}",
        idle.ticks,
        reference.ticks
    );
    assert!(offload.ticks[2] < reference.ticks[2]);
}

/// A configuration can save no more than what RCU costs at all, but for the luck of a seed.
#[test]
fn nothing_saves_more_than_rcu_costs() {
    let (suite, board) = (suite(), board());
    const SEEDS: u64 = 5;
    for name in BENCHMARKS {
        for draw in [0, 5] {
            let saved = |seed: u64| {
                let mut point = Point::draw(&suite, draw);
                point.seed = seed;
                let energy = |configuration, point: &Point<'_>| {
                    run_of(&suite, &board, name, configuration, point).energy as f64
                };
                let reference = energy(Configuration::Reference, &point);
                let percent = |energy: f64| 100.0 * (1.0 - energy / reference);
                let configurations = [
                    Configuration::Offload,
                    Configuration::EnforcedIdle,
                    Configuration::Both,
                ];
                let bound = percent(energy(Configuration::Reference, &point.clone().silenced()));
                (
                    configurations.map(|configuration| percent(energy(configuration, &point))),
                    bound,
                )
            };
            let all: Vec<_> = (1..=SEEDS).map(saved).collect();
            let bound = all
                .iter()
                .map(|(_, bound)| *bound)
                .fold(f64::NEG_INFINITY, f64::max);
            for at in 0..3 {
                let least = all
                    .iter()
                    .map(|(saved, _)| saved[at])
                    .fold(f64::INFINITY, f64::min);
                assert!(
                    least <= bound,
                    "{name}, draw {draw}: {least} % saved, and RCU costs {bound} %"
                );
            }
        }
    }
}

/// Threads with a request of their own do not end together: big CPUs are done first, take what is
/// left from LITTLE ones, and these idle.
#[test]
fn sysbench_takes_less_power_where_its_threads_share_no_events() {
    let (suite, board) = (suite(), board());
    let power = |test: &str, threads| {
        let point = Point::central(&suite, 0).with("sysbench.threads", Value::Number(threads));
        let point = point.with("sysbench.test", Value::Word(test.to_owned()));
        let ran = run_of(&suite, &board, "sysbench", Configuration::Reference, &point);
        ran.energy as f64 / ran.time as f64
    };
    for threads in [4, 5, 8] {
        assert!(
            power("mutex", threads) < 0.97 * power("cpu", threads),
            "{threads} threads"
        );
    }
}

/// A benchmark beside another one has its tasks before its own.
#[test]
fn audio_runs_beside_the_browser() {
    let suite = suite();
    let names = |name: &str| {
        let benchmark = suite
            .benchmarks
            .iter()
            .find(|benchmark| benchmark.name == name)
            .unwrap();
        benchmark
            .tasks
            .iter()
            .map(|task| task.get_ref().name.clone())
            .collect::<Vec<_>>()
    };
    let (audio, both) = (names("audio"), names("audio+bbench"));
    assert_eq!(both[..audio.len()], audio);
    assert_eq!(both[audio.len()], "browser");
}

#[test]
fn more_draws_change_nothing_that_was_there() {
    let suite = suite();
    let benchmark = &suite.benchmarks[4];
    let draws = |draws| plan(&suite, &[benchmark], draws, true, &[]);
    let (few, many) = (draws(2), draws(5));
    let of = |visits: &[plan::Visit<'_>], number| {
        let at = visits
            .iter()
            .find(|visit| visit.kind == Kind::Draws && visit.number == number)
            .unwrap();
        (at.point.values().to_vec(), at.point.seed)
    };
    assert_eq!(of(&few, 1), of(&many, 1));
    assert_ne!(of(&many, 1), of(&many, 2));
}

#[test]
fn the_same_request_leaves_the_same_rows() {
    let given = [
        ("draws", "1"),
        ("benchmarks", "andebench8"),
        ("set", "hz=100"),
    ];
    let rows = || {
        let recording = record(&given).unwrap();
        let row = |measure: &recording::Measure| {
            let subject = measure.subject.map_or("", |name| recording.text(name));
            let (series, metric) = (
                recording.series_texts(measure.series),
                recording.text(measure.metric),
            );
            format!(
                "{series:?} {metric} {subject} {} {:x}",
                measure.iteration,
                measure.value.to_bits()
            )
        };
        (
            recording.measures().iter().map(row).collect::<Vec<_>>(),
            recording.header.clone(),
        )
    };
    let (first, second) = (rows(), rows());
    assert!(first.0.len() > 100, "{}", first.0.len());
    assert_eq!(first, second);
    assert!(first.1.complaints.is_empty(), "{:?}", first.1.complaints);
}

#[test]
fn what_cannot_be_set_is_refused_with_what_can() {
    let wrong = |given: &[(&str, &str)]| {
        let error = record(given).map(|_| ()).unwrap_err();
        let help = miette_help(&error);
        format!("{error}; {help}")
    };
    let said = wrong(&[("set", "callback.rate=0")]);
    assert!(said.contains("there is callbacks.rate"), "{said}");
    assert!(wrong(&[("set", "hz=1000")]).contains("100, 250"));
    assert!(wrong(&[("set", "transition=2000")]).contains("1024 at most"));
    assert!(wrong(&[("benchmarks", "audio,vidio")]).contains("andebench8"));
    assert!(wrong(&[("platform", "tc3")]).contains("tc2"));
    assert!(wrong(&[("ranges", "nowhere.toml")]).contains("nowhere.toml"));
}

fn miette_help(error: &experiment::Error) -> String {
    miette::Diagnostic::help(error).map_or_else(String::new, |help| help.to_string())
}

#[test]
fn a_wrong_file_is_named_with_its_line_and_what_would_be_right() {
    let good = text();
    let said = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        let error = Suite::read(&Document::new("mine.toml", good.replacen(from, to, 1)))
            .map(|_| ())
            .unwrap_err();
        format!("{error}; {}", miette_help(&error))
    };
    for (from, to, words) in [
        (
            "unit = \"Hz\"\ncentral = 250",
            "unit = \"Hz\"\ncentral = 300",
            &["mine.toml:", "unknown `hz`", "outside"][..],
        ),
        (
            "low = 0\nhigh = 1024",
            "low = 2000\nhigh = 1024",
            &["mine.toml:", "transition", "`low` is not above `high`"],
        ),
        (
            "spread = \"log\"",
            "spread = \"loud\"",
            &["mine.toml:", "loud", "`even` or `log`"],
        ),
        (
            "name = \"callbacks.rate\"",
            "name = \"callback.rate\"",
            &["mine.toml:", "callbacks.rate", "declare its range"],
        ),
        (
            "do = [\"timer 1ms\", \"run 20us\"]",
            "do = [\"timer 1\", \"run 20us\"]",
            &["mine.toml:", "timer 1", "ns, us, ms or s"],
        ),
        (
            "\"resume out\"",
            "\"resume audio\"",
            &["mine.toml:", "no task `audio`", "decoder"],
        ),
        (
            "\"wait events\"",
            "\"wait ticket\"",
            &["mine.toml:", "no semaphore `ticket`", "declare it"],
        ),
        (
            "instances = \"$sysbench.threads\"",
            "instances = \"$threads\"",
            &["mine.toml:", "$threads", "[[unknown]]"],
        ),
        (
            "cpus = \"$interrupts\"",
            "cpus = \"$hz\"",
            &["mine.toml:", "$hz", "any, each, cpu0, little"],
        ),
        (
            "priority = 80",
            "priority = 100",
            &["mine.toml:", "priority", "1 to 99"],
        ),
        (
            "class = \"busy\"",
            "class = \"lazy\"",
            &["mine.toml:", "lazy", "`busy` or `rest`"],
        ),
        (
            "seconds = 3\n",
            "",
            &["mine.toml:", "cyclictest", "at_most_seconds"],
        ),
        (
            "placement = \"hmp\"",
            "placement = \"fastest\"",
            &["mine.toml:", "all-big"],
        ),
        (
            "frequency = \"highest\"",
            "frequency = \"fast\"",
            &["mine.toml:", "schedutil"],
        ),
        (
            "\"cyclictest.command\" = \"-t1\"",
            "\"cyclictest.command\" = \"-t2\"",
            &["mine.toml:", "-t2", "values"],
        ),
        ("seed = 20130919", "seed = \"many\"", &["mine.toml:"]),
        (
            "beside = \"audio\"",
            "beside = \"radio\"",
            &["mine.toml:", "no benchmark `radio` above", "stands above"],
        ),
        (
            "name = \"browser\"",
            "name = \"decoder\"",
            &[
                "mine.toml:",
                "`decoder` is in both",
                "call one of them otherwise",
            ],
        ),
        (
            "main = true\ninstances = 2",
            "mein = true\ninstances = 2",
            &["mine.toml:", "mein"],
        ),
    ] {
        let said = said(from, to);
        for word in words {
            assert!(said.contains(word), "{to}: {said}");
        }
    }
}

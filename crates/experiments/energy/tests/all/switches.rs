//! Switches: what no draw changes, and `--set` does.

use document::Document;
use energy_experiments::board::{Board, little};
use energy_experiments::configuration::Configuration;
use energy_experiments::plan;
use energy_experiments::point::Point;
use energy_experiments::runs::{RunResult, run};
use energy_experiments::suite::{SWITCHES, Suite};
use energy_experiments::unknown::Value;
use energy_experiments::workload::workload;
use experiment::{Files, Folder};
use minikernel::{Costs, CpuSet, WakeCause};
use std::path::Path;

fn files() -> Folder {
    Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms"))
}

fn read(text: String) -> Result<Suite, experiment::Error> {
    Suite::read(&Document::new("rcu-2013.toml", text))
}

fn suite() -> Suite {
    let mut suite = read(files().read("energy/rcu-2013.toml").unwrap()).unwrap();
    suite.add_kernel_costs(&Costs::read(&platforms::kernel_costs(&files()).unwrap()).unwrap());
    suite
}

fn board() -> Board {
    Board::open(
        &files(),
        "tc2",
        &["tc2".to_owned(), "tc2-driver".to_owned()],
    )
    .unwrap()
}

fn audio(
    suite: &Suite,
    board: &Board,
    set: &[(&str, &str)],
    configuration: Configuration,
) -> RunResult {
    let given: Vec<_> = set
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let values = plan::set(suite, &given).unwrap();
    let central = Point::central(suite, 0);
    let point = values
        .into_iter()
        .fold(central, |point, (name, value)| point.with(&name, value));
    let benchmark = suite
        .benchmarks
        .iter()
        .find(|benchmark| benchmark.name == "audio")
        .unwrap();
    run(board, benchmark, configuration, &point).unwrap()
}

#[test]
fn switches_change_no_draw() {
    let (with, mut without) = (suite(), suite());
    without.switches.clear();
    for draw in 0..4 {
        let (one, other) = (Point::draw(&with, draw), Point::draw(&without, draw));
        assert_eq!((one.values(), one.seed), (other.values(), other.seed));
        assert_eq!(one.number("kernel.tick"), Costs::default().tick);
        assert!(
            SWITCHES
                .iter()
                .all(|(name, [own, _])| one.word(name) == *own)
        );
    }
}

#[test]
fn timers_go_to_the_first_little_cpu_and_wake_others_from_there() {
    let (suite, board) = (suite(), board());
    let remote = |ran: &RunResult| ran.wake_ups[WakeCause::RemoteTimer as usize];
    let own = audio(&suite, &board, &[], Configuration::Reference);
    let little = audio(
        &suite,
        &board,
        &[("timers", "little")],
        Configuration::Reference,
    );
    assert_eq!(remote(&own), 0);
    assert!(
        little.energy != own.energy && remote(&little) > 0,
        "{little:?}"
    );
}

#[test]
fn workqueues_leave_no_work_bound_to_a_big_cpu() {
    let (suite, board) = (suite(), board());
    let benchmark = suite
        .benchmarks
        .iter()
        .find(|benchmark| benchmark.name == "audio")
        .unwrap();
    let cpus = |word: &str| {
        let point = Point::central(&suite, 0).with("workqueues", Value::Word(word.to_owned()));
        let hardware = board.at(&point);
        let little_cpus = CpuSet::from_cpus(little(&hardware).cpus.clone());
        let (tasks, of_benchmark) = workload(benchmark, &point, &hardware);
        let bound = tasks.tasks[of_benchmark..]
            .iter()
            .filter(|task| task.name.starts_with("bound-"));
        (bound.map(|task| task.cpus).collect::<Vec<_>>(), little_cpus)
    };
    assert_eq!(cpus("own").0, (0..5).map(CpuSet::one).collect::<Vec<_>>());
    let (bound, little_cpus) = cpus("little");
    assert_eq!(bound, [little_cpus; 5]);
}

#[test]
fn without_callbacks_nothing_is_saved_with_any_switch() {
    let (suite, board) = (suite(), board());
    let set = [
        ("callbacks.rate", "0"),
        ("timers", "little"),
        ("workqueues", "little"),
        ("kernel.tick", "9000"),
    ];
    let all = Configuration::ALL.map(|configuration| audio(&suite, &board, &set, configuration));
    assert!(all.iter().all(|ran| *ran == all[0]));
    assert!(
        all[0] != audio(&suite, &board, &set[..3], Configuration::Reference),
        "a tick of 9 us costs more"
    );
}

#[test]
fn a_file_without_a_switch_and_a_cost_that_there_is_not_are_named() {
    let text = files().read("energy/rcu-2013.toml").unwrap();
    let error = read(text.replacen("name = \"timers\"", "name = \"timer\"", 1))
        .unwrap_err()
        .to_string();
    assert!(error.contains("no [[switch]] `timers`"), "{error}");
    let error = read(text.replacen("name = \"timers\"", "name = \"hz\"", 1))
        .unwrap_err()
        .to_string();
    assert!(error.contains("two unknowns or switches `hz`"), "{error}");
    let given = [("kernel.tik".to_owned(), "1".to_owned())];
    let error = format!("{:?}", plan::set(&suite(), &given).unwrap_err());
    assert!(error.contains("kernel.tick"), "{error}");
}

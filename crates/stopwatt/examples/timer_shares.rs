//! Whether a share of sleeps that known timers end predicts what a reverted commit did: fitted to
//! the published figures of the kernel with the commit, and held against those without it.
//!
//! ```text
//! cargo run --release -p stopwatt --example timer_shares
//! ```

use idle::{Accounting, Governor, Kind, KnownSituation, Outcome, SleepLength, State, States};
use toml::{Table, Value};

/// The part of a workload's file that is read here. Times are nanoseconds.
struct Workload {
    tick_ns: u64,
    work_ns: u64,
    /// Weight, least and spread of each range of sleeps, in microseconds.
    ranges: Vec<[u64; 3]>,
    states: States,
}

impl Workload {
    fn read(text: &str) -> Self {
        let table: Table = text.parse().expect("a workload");
        let number = |table: &Table, key: &str| {
            table
                .get(key)
                .and_then(Value::as_integer)
                .unwrap_or(0)
                .cast_unsigned()
        };
        let tables = |table: &Table, key: &str| -> Vec<Table> {
            let all = table.get(key).and_then(Value::as_array).expect("tables");
            all.iter().filter_map(Value::as_table).cloned().collect()
        };
        let state = |of: &Table| match of.contains_key("polling") {
            true => State::polling(),
            false => State::new(
                number(of, "exit_latency_us") * 1_000,
                number(of, "residency_us") * 1_000,
            ),
        };
        let states: Vec<State> = tables(&table, "state").iter().map(state).collect();
        let phase = &tables(&table, "phase")[0];
        let range = |of: &Table| ["weight", "least_us", "spread_us"].map(|key| number(of, key));
        Self {
            tick_ns: number(&table, "tick_us") * 1_000,
            work_ns: number(phase, "work_us") * 1_000,
            ranges: tables(phase, "answers").iter().map(range).collect(),
            states: States::new(&states).expect("states in order"),
        }
    }
}

/// A stream of numbers, as the workloads' own.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Shares of stays that were too deep and too shallow, in percent.
type Misses = [f64; 2];

/// The cases that were published with a commit and with it reverted.
const CASES: [&str; 5] = [
    "jasper-lake",
    "oracle-sqlite",
    "oracle-jbb",
    "oracle-fio",
    "oracle-rds",
];

/// The governor of a case and its published misses, with the commit or with it reverted.
fn published(figures: &str, case: &str, which: &str) -> (String, Misses) {
    let rows = figures
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let row = rows
        .into_iter()
        .find(|row| row[..2] == [case, which])
        .expect("a published case");
    let percent = |column: usize| row[column].parse().expect("a share in percent");
    (row[2].to_owned(), [percent(6), percent(7)])
}

/// No timer is nearer than this where none ends the sleep, in nanoseconds.
const FAR_NS: u64 = 100_000_000;
const LENGTH_NS: u64 = 10_000_000_000;
const SEEDS: u64 = 4;

/// When the next sleep ends, and whether a timer ends it.
fn draw(ranges: &[[u64; 3]], chance: &mut Chance, now: u64, timers_percent: u64) -> (u64, bool) {
    let mut at = chance.below(ranges.iter().map(|[weight, ..]| weight).sum());
    let mut length_ns = 0;
    for &[weight, least_us, spread_us] in ranges {
        if at < weight {
            length_ns = (least_us + chance.below(spread_us.max(1))) * 1_000 + chance.below(1_000);
            break;
        }
        at -= weight;
    }
    (now + length_ns, chance.below(100) < timers_percent)
}

fn live(workload: &Workload, governor: &str, timers_percent: u64, seed: u64) -> Misses {
    let Workload {
        tick_ns,
        work_ns,
        ranges,
        states,
    } = workload;
    let tick_ns = *tick_ns;
    let mut governor = Governor::new(Kind::find(governor).expect("a release"), states, tick_ns);
    let mut chance = Chance(seed);
    let mut accounting = Accounting::default();
    let (mut now, mut stopped) = (0, false);
    let mut next = draw(ranges, &mut chance, 0, timers_percent);
    while now < LENGTH_NS {
        let fires = if next.1 {
            next.0.max(now)
        } else {
            (now / FAR_NS + 1) * FAR_NS
        };
        let tick = (now / tick_ns + 1) * tick_ns;
        let event = |stopped: bool| if stopped { fires } else { fires.min(tick) };
        let length = SleepLength {
            timer_ns: fires - now,
            event_ns: event(stopped) - now,
        };
        let mut asked = KnownSituation {
            tick_stopped: stopped,
            ..KnownSituation::new(length)
        };
        let choice = governor.select(states, &mut asked);
        stopped |= choice.stop_tick;
        let wake = event(stopped).min(next.0).max(now);
        let got_tick = wake == event(stopped) && !stopped && tick <= fires;
        let residency_ns = accounting.leave(states, choice.state, wake - now);
        governor.reflect(
            states,
            &Outcome {
                got_tick,
                ..Outcome::stay(choice.state, residency_ns)
            },
        );
        now = wake + states.get(choice.state).exit_latency_ns;
        let is_over = next.0 <= wake;
        if !got_tick || is_over {
            stopped = false;
            now += work_ns;
        }
        if is_over {
            next = draw(ranges, &mut chance, now, timers_percent);
        }
    }
    let sum = |of: fn(&idle::Usage) -> u64| {
        (0..states.len())
            .map(|state| of(accounting.usage(state)))
            .sum::<u64>() as f64
    };
    let entered = sum(|usage| usage.entered);
    [
        100.0 * sum(|usage| usage.above) / entered,
        100.0 * sum(|usage| usage.below) / entered,
    ]
}

/// The mean of two errors, in points.
fn error(one: Misses, other: Misses) -> f64 {
    ((one[0] - other[0]).abs() + (one[1] - other[1]).abs()) / 2.0
}

fn main() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data");
    let figures = std::fs::read_to_string(format!("{data}/published/idle-cases.csv"))
        .expect("published figures");
    println!("workload       share  fit  prediction  no change  without timers");
    let mut sums = [0.0; 3];
    for name in CASES {
        let (with, published_with) = published(&figures, name, "with the commit");
        let (without, published_without) = published(&figures, name, "reverted");
        let text = std::fs::read_to_string(format!("{data}/workloads/idle/{name}.toml"))
            .expect("a workload");
        let workload = Workload::read(&text);
        let mean = |governor: &str, percent: u64| {
            let each = (1..=SEEDS).map(|seed| live(&workload, governor, percent, seed));
            each.fold([0.0; 2], |sum, one| {
                [
                    sum[0] + one[0] / SEEDS as f64,
                    sum[1] + one[1] / SEEDS as f64,
                ]
            })
        };
        let fits =
            (0..=10).map(|tenth| (10 * tenth, error(mean(&with, 10 * tenth), published_with)));
        let (percent, fit) = fits
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("some shares");
        let errors = [
            error(mean(&without, percent), published_without),
            error(published_with, published_without),
            error(mean(&without, 0), published_without),
        ];
        println!(
            "{name:14} {percent:4} % {fit:4.1} {:11.1} {:10.1} {:15.1}",
            errors[0], errors[1], errors[2]
        );
        sums.iter_mut()
            .zip(errors)
            .for_each(|(sum, error)| *sum += error / CASES.len() as f64);
    }
    println!(
        "mean                      {:11.1} {:10.1} {:15.1}",
        sums[0], sums[1], sums[2]
    );
}

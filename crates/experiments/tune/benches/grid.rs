//! The picks of `stopwatt tune` beside the best of a whole grid, which this process measures by
//! itself: its own records, its own rounds.
//!
//! `cargo bench -p tune-experiments --bench grid -- LOOP.so ...` needs `cargo build --release`.
//! `BATCH` and `MEGABYTES` are 256 each, unless the environment says otherwise.
#![expect(unsafe_code, reason = "a shared object is called by its C interface")]

use itertools::Itertools;
use std::ffi::c_void;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use stopwatt_loop::{ABI, CHOICE, Knob, LINE, LoopTable, SYMBOL};
use worker_process::shared_object::tables;

/// Seconds of a slice.
const SLICE: f64 = 0.0004;

/// Distances of the grid, in the finest form that has few enough combinations.
const DISTANCES: [&[u32]; 3] = [
    &[
        0, 1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 96,
    ],
    &[0, 2, 4, 8, 12, 16, 24, 32, 48],
    &[0, 4, 8, 16, 32],
];
const MOST: usize = 3000;

/// Rounds of the grid, of the best hundred, and of the last.
const ROUNDS: [(usize, usize); 3] = [(4, 100), (24, 12), (200, 0)];

struct Bench {
    table: LoopTable,
    state: *mut c_void,
    order: Vec<*mut c_void>,
    batch: usize,
    next: usize,
}

impl Bench {
    fn open(path: &Path, batch: usize, bytes: u64) -> (Self, Vec<Knob>) {
        // SAFETY: stopwatt_loop.h says what the function is.
        let mut all = unsafe { tables::<LoopTable>(path, SYMBOL, ABI, "stopwatt_loop.h") }.unwrap();
        let table = all.next().unwrap().unwrap();
        // SAFETY: as above.
        let knobs =
            unsafe { std::slice::from_raw_parts(table.knob, table.knobs as usize) }.to_vec();
        let most = if table.most_records > 0 {
            table.most_records
        } else {
            u64::MAX
        };
        let count = (bytes / table.record_bytes).min(most);
        let mut order = vec![std::ptr::null_mut(); count as usize];
        // SAFETY: there is room for that many records.
        let state = unsafe { table.set_up.unwrap()(count, 7, order.as_mut_ptr()) };
        assert!(!state.is_null(), "there is no memory for {count} records");
        fastrand::Rng::with_seed(3).shuffle(&mut order);
        let bench = Self {
            table,
            state,
            order,
            batch,
            next: 0,
        };
        (bench, knobs)
    }

    /// Seconds per record.
    fn slice(&mut self, values: &[u32]) -> f64 {
        for seconds in [SLICE / 8.0, SLICE] {
            let (from, mut done) = (Instant::now(), 0);
            loop {
                if self.next + self.batch > self.order.len() {
                    self.next = 0;
                }
                let records = &self.order[self.next..self.next + self.batch];
                // SAFETY: the records are of this state, and there is a value for each knob.
                unsafe {
                    self.table.run.unwrap()(
                        self.state,
                        records.as_ptr(),
                        records.len() as u64,
                        values.as_ptr(),
                    )
                };
                (self.next, done) = (self.next + self.batch, done + self.batch);
                let took = from.elapsed().as_secs_f64();
                if took >= seconds {
                    if seconds < SLICE {
                        break;
                    }
                    return took / done as f64;
                }
            }
        }
        unreachable!("the second slice returns")
    }

    /// For each candidate its seconds, round by round.
    fn rounds(&mut self, candidates: &[Vec<u32>], rounds: usize) -> Vec<Vec<f64>> {
        let mut random = fastrand::Rng::with_seed(5);
        let mut order = (0..candidates.len()).collect_vec();
        let mut all = vec![Vec::new(); candidates.len()];
        for _ in 0..rounds {
            random.shuffle(&mut order);
            for at in &order {
                all[*at].push(self.slice(&candidates[*at]));
            }
        }
        all
    }
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let sorted = values.into_iter().sorted_by(f64::total_cmp).collect_vec();
    sorted[sorted.len() / 2]
}

/// The median of quotients, round by round.
fn ratio(one: &[f64], other: &[f64]) -> f64 {
    median(one.iter().zip(other).map(|(a, b)| a / b))
}

/// The whole grid, in the finest form that is small enough.
fn grid(knobs: &[Knob], batch: u32) -> Vec<Vec<u32>> {
    let axis = |knob: &Knob, distances: &[u32]| -> Vec<u32> {
        let most = if knob.most == 0 { batch - 1 } else { knob.most };
        let all = match knob.kind {
            LINE => vec![0],
            CHOICE => (0..32).map(|bit| 1 << bit).collect(),
            _ => distances.to_vec(),
        };
        let fits = all
            .into_iter()
            .filter(|of| (knob.least..=most).contains(of));
        fits.collect()
    };
    let grids = DISTANCES.map(|distances| {
        let axes = knobs.iter().map(|knob| axis(knob, distances)).collect_vec();
        axes.into_iter().multi_cartesian_product().collect_vec()
    });
    let small = grids.iter().find(|grid| grid.len() <= MOST);
    small.unwrap_or(&grids[DISTANCES.len() - 1]).clone()
}

/// What `stopwatt tune` picks, with the seconds that it took.
fn picked(path: &Path, knobs: &[Knob], batch: usize, megabytes: u64) -> (Vec<u32>, f64) {
    let from = Instant::now();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target/release/stopwatt");
    let program = std::env::var_os("STOPWATT").map_or(program, Into::into);
    let folder = std::env::temp_dir().join(format!("tune-grid-{}", std::process::id()));
    let output = Command::new(program)
        .args(["tune", "--format", "json", "--batch", &batch.to_string()])
        .args(["--memory", &megabytes.to_string(), "--output"])
        .arg(&folder)
        .arg("--loop")
        .arg(path)
        .output()
        .unwrap();
    let seconds = from.elapsed().as_secs_f64();
    let _ = std::fs::remove_dir_all(folder);
    let story: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let mut found = story["best"]["values"].as_array().unwrap().iter();
    let mut own = || found.next().unwrap().as_u64().unwrap() as u32;
    let values = knobs
        .iter()
        .map(|knob| if knob.kind == LINE { 0 } else { own() });
    (values.collect(), seconds)
}

fn main() {
    let number = |name: &str| -> u64 {
        std::env::var(name).map_or(256, |text| text.parse().expect("a number"))
    };
    let (batch, megabytes) = (number("BATCH") as usize, number("MEGABYTES"));
    println!(
        "| loop | pick | seconds | best of the grid | pick / best | today / best | rule / best | 16 halved / best |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for path in std::env::args()
        .skip(1)
        .filter(|path| !path.starts_with("--"))
    {
        let path = Path::new(&path);
        let (mut bench, knobs) = Bench::open(path, batch, megabytes << 20);
        let (pick, seconds) = picked(path, &knobs, batch, megabytes);
        let mut pool = grid(&knobs, batch as u32);
        let depth = |mut at: usize| {
            let mut depth = 0;
            while let Some(after) = knobs.get(knobs[at].after as usize) {
                (at, depth) = (knobs[at].after as usize, depth + 1);
                let _ = after;
            }
            depth
        };
        let deepest = (0..knobs.len()).map(depth).max().unwrap_or(0);
        let each = |value: &dyn Fn(usize, &Knob) -> u32| {
            let own = knobs.iter().enumerate().map(|(at, knob)| match knob.kind {
                LINE => 0,
                CHOICE => knob.today,
                _ => value(at, knob).min(batch as u32 - 1),
            });
            own.collect_vec()
        };
        let named = [
            pick.clone(),
            each(&|_, knob| knob.today),
            each(&|at, _| 12 << (deepest - depth(at))),
            each(&|at, _| 16 >> depth(at)),
        ];
        for (rounds, kept) in ROUNDS {
            pool.extend(named.iter().cloned());
            pool = pool.into_iter().unique().collect();
            let all = bench.rounds(&pool, rounds);
            let of = |values: &Vec<u32>| {
                &all[pool
                    .iter()
                    .position(|other| other == values)
                    .expect("it is in the pool")]
            };
            let medians = all
                .iter()
                .map(|ticks| median(ticks.iter().copied()))
                .collect_vec();
            let sorted = (0..pool.len()).sorted_by(|a, b| medians[*a].total_cmp(&medians[*b]));
            let sorted = sorted.collect_vec();
            if kept == 0 {
                let best = &all[sorted[0]];
                let against = named
                    .iter()
                    .map(|values| format!("{:.3}", ratio(of(values), best)));
                println!(
                    "| {} | {} | {seconds:.0} | {} | {} |",
                    path.file_stem().unwrap_or_default().display(),
                    pick.iter().join("/"),
                    pool[sorted[0]].iter().join("/"),
                    against.format(" | ")
                );
            }
            let best = sorted.iter().take(kept.max(1)).map(|at| pool[*at].clone());
            pool = best.collect();
        }
    }
}

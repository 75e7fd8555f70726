//! `placement --tasks`: more and more equal small tasks under the placement of Linux, with its
//! energy model and without.

use crate::input::{
    Board, PLATFORM, RATE_LIMIT_NS, RcuChoice, SECONDS, SEED, SEEDS, fastest, rcu_of,
};
use experiment::setting::{CheckedSetting, Number, Or, Switch};
use experiment::{Error, Observer, Request, Result, World, side_by_side};
use itertools::Itertools;
use minikernel::placement::{EnergyAware, Placement, Rules};
use minikernel::{Action, Costs, Draw, Frequency, Outcome, Settings, Start, TaskSpec, Workload};
use recording::{Header, Recording, facts, metrics};

/// The experiment that its recordings name: they have a story of their own.
/// The form of a recording with many tasks.
const FORM: &str = "tasks";

/// The rules by which tasks are placed.
#[derive(Clone, Copy, Debug)]
pub enum PlacementRules {
    Searching(Rules),
    WithoutEnergy,
}

/// Names of the rules, in the order in which they are shown.
const PLACINGS: [(&str, PlacementRules); 3] = [
    ("eas", PlacementRules::Searching(Rules::Until2022)),
    ("eas-6.0", PlacementRules::Searching(Rules::Since2022)),
    ("off", PlacementRules::WithoutEnergy),
];

/// One assumption about what no source says.
#[derive(Clone, Copy)]
struct Assumed {
    /// The mode of its measures.
    name: &'static str,
    /// The cost of a round trip into an idle state, as a part of 1024 of its range.
    round_trip: u64,
    /// True if the duty is of the slowest core: rt-app measures its loop on the first CPU.
    of_slowest: bool,
    /// The power that does not hang on work, of clusters and idle states, in percent of the
    /// platform's.
    still_percent: u64,
    /// True if the tasks are started from the fastest core.
    from_fastest: bool,
}

/// The usual assumptions.
const ASSUMED: Assumed = Assumed {
    name: "300",
    round_trip: 300,
    of_slowest: false,
    still_percent: 100,
    from_fastest: false,
};

/// The sets of assumptions that are tried: the lowest round trip, the usual one and the highest,
/// and then each other assumption changed alone.
const ASSUMPTIONS: [Assumed; 7] = [
    Assumed {
        name: "0",
        round_trip: 0,
        ..ASSUMED
    },
    ASSUMED,
    Assumed {
        name: "1024",
        round_trip: 1024,
        ..ASSUMED
    },
    Assumed {
        name: "duty of the slowest core",
        of_slowest: true,
        ..ASSUMED
    },
    Assumed {
        name: "half the power of clusters and idle states",
        still_percent: 50,
        ..ASSUMED
    },
    Assumed {
        name: "twice the power of clusters and idle states",
        still_percent: 200,
        ..ASSUMED
    },
    Assumed {
        name: "started from the fastest core",
        from_fastest: true,
        ..ASSUMED
    },
];
/// The boards where nothing is said: the Juno r2 of the device tree, and with `--full` that of the
/// mail with the published energies, too.
const USUAL_PLATFORMS: [&str; 2] = ["juno-r2-a72", "juno-r2-a72,juno-r2-a57"];
/// Places of round trips, which every seed runs with; the others run with a few seeds.
const ROUND_TRIPS: usize = 3;
const FEW_SEEDS: u32 = 3;
/// The most tasks that a run may have.
const MOST_TASKS: u32 = 500;

fn counts(text: &str) -> Result<Vec<u32>, String> {
    let all: Option<Vec<u32>> = text
        .split(',')
        .map(|text| {
            text.trim()
                .parse()
                .ok()
                .filter(|count| (1..=MOST_TASKS).contains(count))
        })
        .collect();
    match all {
        Some(all) if all.is_sorted_by(|a, b| a < b) => Ok(all),
        _ => Err(format!(
            "rising whole numbers from 1 to {MOST_TASKS}, parted by commas"
        )),
    }
}

fn placings(text: &str) -> Result<Vec<(&'static str, PlacementRules)>, String> {
    let names = text.split(',').map(str::trim).collect_vec();
    let known = PLACINGS.map(|(name, _)| name);
    if let Some(wrong) = names.iter().find(|name| !known.contains(name)) {
        return Err(format!(
            "there is no `{wrong}`; there are {}",
            known.join(", ")
        ));
    }
    Ok(PLACINGS
        .into_iter()
        .filter(|(name, _)| names.contains(name))
        .collect())
}

pub const TASKS: CheckedSetting<Vec<u32>> = CheckedSetting::new(
    "tasks",
    "COUNTS",
    counts,
    "In place of a workload: so many equal small tasks, each number in turn, placed as Linux places them with its energy model and without, such \
     as 10,20,30,40,50.",
);

pub const RULES: CheckedSetting<Vec<(&'static str, PlacementRules)>> = CheckedSetting::new(
    "rules",
    "NAMES",
    placings,
    "With --tasks: rules of placement, parted by commas [default: all]: eas (Linux 5.0 to 5.19), eas-6.0 (Linux 6.0 and later), off (no energy model).",
);

pub const PERIOD: Or<Number> = Number::new("period", 1..=1000, "With --tasks: their period.")
    .unit("ms")
    .or(16);
pub const DUTY: Or<Number> = Number::new(
    "duty",
    1..=100,
    "With --tasks: the part of a period that each computes on the fastest core at its top clock.",
)
.unit("%")
.or(5);
pub const FULL: Switch = Switch::new(
    "full",
    "With --tasks: with all that is assumed, each in turn otherwise, ten seeds, and both CPUs that Juno r2 is said to have; some minutes.",
);
/// The length of a run, in seconds, where nothing is said.
const USUAL_SECONDS: u64 = 30;
/// The number of seeds where nothing is said, and with `--full`.
const USUAL_SEEDS: [u32; 2] = [1, 10];

/// A run that is to be made.
struct Job<'a> {
    board: &'a Board,
    assumed: Assumed,
    name: &'static str,
    placing: PlacementRules,
    tasks: u32,
    seed: u64,
}

struct TasksRequest {
    boards: Vec<Vec<(Assumed, Board)>>,
    tasks: Vec<u32>,
    placings: Vec<(&'static str, PlacementRules)>,
    period_ns: u64,
    duty_percent: u64,
    seconds: u64,
    seeds: (u64, u32),
    costs: Costs,
}

impl TasksRequest {
    fn read(request: &Request<'_>) -> Result<Self> {
        let settings = &request.settings;
        let full = usize::from(settings.get(FULL));
        let seeds = if settings.is_given(&SEEDS) {
            settings.get(SEEDS)
        } else {
            USUAL_SEEDS[full]
        };
        let names = if settings.is_given(&PLATFORM) {
            settings.get(PLATFORM)
        } else {
            USUAL_PLATFORMS[full].to_owned()
        };
        let names = names.split(',').map(str::trim).collect_vec();
        let read = |name: &&str| {
            let of = |assumed: Assumed| {
                let mut board =
                    Board::read(request.platforms, name, None, &[], assumed.round_trip, &[])?;
                board.hardware.scale_still(assumed.still_percent);
                Ok((assumed, board))
            };
            if full == 1 {
                ASSUMPTIONS.into_iter().map(of).collect()
            } else {
                Ok(vec![of(ASSUMED)?])
            }
        };
        Ok(Self {
            boards: names.iter().map(read).collect::<Result<_>>()?,
            tasks: settings.get(TASKS).unwrap_or_default(),
            placings: settings.get(RULES).unwrap_or_else(|| PLACINGS.to_vec()),
            period_ns: settings.get(PERIOD) * 1_000_000,
            duty_percent: settings.get(DUTY),
            seconds: settings.get(SECONDS).unwrap_or(USUAL_SECONDS),
            seeds: (settings.get(SEED).into(), seeds),
            costs: Costs::new(&Costs::read(&platforms::kernel_costs(request.platforms)?)?),
        })
    }

    fn jobs(&self) -> Vec<Job<'_>> {
        let mut jobs = Vec::new();
        for boards in &self.boards {
            for (at, (assumed, board)) in boards.iter().enumerate() {
                let seeds = if at < ROUND_TRIPS {
                    self.seeds.1
                } else {
                    self.seeds.1.min(FEW_SEEDS)
                };
                for &(name, placing) in &self.placings {
                    for &tasks in &self.tasks {
                        let seeds = self.seeds.0..self.seeds.0 + u64::from(seeds);
                        jobs.extend(seeds.map(|seed| Job {
                            board,
                            assumed: *assumed,
                            name,
                            placing,
                            tasks,
                            seed,
                        }));
                    }
                }
            }
        }
        jobs
    }

    /// Tasks that each compute for the duty of the fastest core, or of the slowest. rt-app's
    /// threads count their periods from when they first run, which the source leaves to chance:
    /// each starts at any time within a period.
    fn workload(&self, job: &Job<'_>) -> Workload {
        let mut random = engine::SplitMix64::fork(job.seed, u64::from(job.tasks));
        let top = job
            .board
            .hardware
            .domains
            .iter()
            .filter_map(|domain| domain.points.last())
            .map(|point| point.capacity);
        let capacity = if job.assumed.of_slowest {
            top.min()
        } else {
            top.max()
        }
        .unwrap_or(1024);
        let time = Draw::Fixed(self.period_ns * self.duty_percent / 100);
        Workload {
            tasks: (0..job.tasks)
                .map(|number| TaskSpec {
                    start: Start::At(random.next() % self.period_ns),
                    ..TaskSpec::forever(
                        &format!("task {number}"),
                        vec![
                            Action::Timer {
                                timer: 0,
                                period: self.period_ns,
                                relative: false,
                            },
                            Action::Run { time, capacity },
                        ],
                    )
                })
                .collect(),
            ..Workload::default()
        }
    }

    fn run(&self, job: &Job<'_>) -> Result<Outcome> {
        let hardware = &job.board.hardware;
        let settings = Settings {
            seed: job.seed,
            frequency: Frequency::Schedutil {
                rate_limit_ns: RATE_LIMIT_NS,
            },
            costs: self.costs,
            ..Settings::default()
        };
        let model = hardware.energy_model().map_err(Error::failed)?;
        let policy = match job.placing {
            PlacementRules::Searching(rules) => EnergyAware::with_rules(model, rules),
            PlacementRules::WithoutEnergy => EnergyAware::without_energy(model),
        };
        let first = hardware.domains[fastest(hardware)].cpus.start;
        let policy = if job.assumed.from_fastest {
            policy.started_from(first)
        } else {
            policy
        };
        let policy: Box<dyn Placement> = Box::new(policy);
        let rcu = rcu_of(&settings, hardware.cpus(), RcuChoice::Ordinary)?;
        minikernel::run(
            hardware,
            &settings,
            &self.workload(job),
            policy,
            Some(Box::new(rcu)),
            self.seconds * 1_000_000_000,
        )
        .map_err(|wrong| {
            Error::failed(format!(
                "{} tasks on {}: {wrong}",
                job.tasks, job.board.name
            ))
        })
    }

    fn facts(&self) -> facts::ManyTasks {
        facts::ManyTasks {
            boards: self
                .boards
                .iter()
                .map(|boards| {
                    let board = &boards[0].1;
                    facts::TaskBoard {
                        name: board.name.clone(),
                        title: board.idle.title.clone(),
                        big: board.hardware.domains[fastest(&board.hardware)]
                            .name
                            .clone(),
                        watts_per_unit: board.idle.watts_per_unit().map(|watts| watts.value),
                    }
                })
                .collect(),
            tasks: self.tasks.clone(),
            period_ms: self.period_ns / 1_000_000,
            duty_percent: self.duty_percent,
            seconds: self.seconds,
        }
    }
}

/// Says what is wrong with a request.
///
/// # Errors
/// A platform is not there, or has no operating points.
pub fn check(request: &Request<'_>) -> Result {
    TasksRequest::read(request).map(|_| ())
}

/// Runs numbers of equal tasks on boards.
///
/// # Errors
/// A platform cannot be read; the run is to stop.
pub fn run(request: &Request<'_>, observer: &Observer) -> Result<Recording> {
    let asked = TasksRequest::read(request)?;
    let mut header = Header::new("placement", World::Sim.name(), "ns");
    header.form = FORM.to_owned();
    header.set_facts(&asked.facts());
    (header.seed, header.iterations) = asked.seeds;
    header.seeded_modes = ASSUMPTIONS.map(|assumed| assumed.name.to_owned()).to_vec();
    let mut recording = Recording::new(header);
    let jobs = asked.jobs();
    let progress = &observer.progress;
    progress.expect(jobs.len() as u64, "runs");
    for (job, outcome) in jobs
        .iter()
        .zip(&side_by_side(progress, &jobs, |job| asked.run(job))?)
    {
        add(&mut recording, asked.seeds.0, job, outcome);
    }
    Ok(recording)
}

/// Adds what a run took: the platform is the variant, the rules are the case, what is assumed is
/// the mode, and the number of tasks is the subject.
fn add(recording: &mut Recording, first: u64, job: &Job<'_>, outcome: &Outcome) {
    let series = recording.series(&job.board.name, job.name, job.assumed.name);
    let tasks = format!("{} tasks", job.tasks);
    let iteration = (job.seed - first) as u32;
    let mut measure = |metric: metrics::Metric, role: &str, value: f64| {
        recording.add_part(series, iteration, metric, [&tasks, role], value);
    };
    measure(metrics::ENERGY, "", outcome.total() as f64 / 1e12);
    for domain in &outcome.domains {
        measure(
            metrics::RUNNING,
            &domain.name,
            domain.running as f64 / outcome.time.max(1) as f64,
        );
    }
    measure(
        metrics::MIGRATIONS,
        "",
        outcome
            .tasks
            .iter()
            .map(|task| task.counts.moves)
            .sum::<u64>() as f64,
    );
    let mut late = outcome
        .tasks
        .iter()
        .flat_map(|task| &task.counts.responses)
        .copied()
        .collect_vec();
    late.sort_unstable();
    if let Some(&p95) = late.get(late.len() * 95 / 100) {
        measure(metrics::RESPONSE, "p95", p95 as f64 / 1e6);
    }
    if outcome.total() != outcome.integral {
        recording.header.complaints.push(format!(
            "{}, {}, {} tasks, seed {}: the owners' energies do not add up to the integral.",
            job.board.name, job.name, job.tasks, job.seed
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_checked() {
        assert_eq!(counts("1, 2,30").unwrap(), [1, 2, 30]);
        for wrong in ["", "2,1", "0", "501", "x"] {
            assert!(counts(wrong).unwrap_err().contains("1 to 500"), "{wrong}");
        }
        assert_eq!(placings("off,eas").unwrap().len(), 2);
        assert!(placings("eas-5").unwrap_err().contains("eas, eas-6.0, off"));
    }
}

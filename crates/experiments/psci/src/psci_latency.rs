//! `psci-latency`: the six PSCI procedures on a simulated SoC.

use crate::timer_owners::{OtherSessions, Owner, place};
use crate::uncertainty::{Uncertainty, intervals};
use engine::SplitMix64;
use itertools::Itertools;
use psci_cases::{Action, Case, Mode};
use rayon::prelude::*;
use recording::conditions;
use recording::metrics::{self, Metric};
use recording::{Event, Header, Measure, Recording, Series, TimerOwners};
use soc::config::Machine;
use soc::{Conditions, CpuState, Order, RunError, RunOutcome, SETTLED};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The experiment's name.
pub const NAME: &str = "psci-latency";

/// Mode of the runs in which the order at the SCP is left to chance.
pub const FREE_RUNNING: &str = "parallel-free";

/// One release on its machine.
pub struct Release {
    /// The machine, costs included.
    pub machine: Machine,
    /// The conditions that the parallel cases declare, by case.
    pub orders: BTreeMap<String, Order>,
    /// Other sessions that say who owns the timer of a case, by case.
    pub owners: BTreeMap<String, OtherSessions>,
    /// The uncertainty of the costs.
    pub uncertainty: Uncertainty,
}

/// Options of the experiment.
pub struct Options {
    /// Repetitions of each case, in one boot. At least 1.
    pub iterations: u32,
    /// Seed of all that is left to chance.
    pub seed: u64,
    /// The number of seeds that the parallel suspends run freely with, beside the compared run; 0
    /// for none.
    pub free_seeds: u32,
    /// True if events are kept.
    pub events: bool,
}

/// A case that did not come to its end.
#[derive(Debug, thiserror::Error)]
#[error("{release}, {case} in {mode}: {source}", mode = .mode.name())]
pub struct Error {
    release: String,
    case: &'static str,
    mode: Mode,
    source: RunError,
}

/// The task of one simulation.
struct Job<'a> {
    release: &'a Release,
    conditions: Conditions,
    mode: &'a str,
    /// Iteration under which a free run is recorded.
    first_iteration: u32,
    /// Of a run whose costs are drawn from what the fit leaves uncertain, the owner of the timer in
    /// whose mode it is, or `None` if it is in none. Such a run is one of many behind an interval,
    /// and is not recorded itself.
    drawn: Option<Option<Owner>>,
}

/// Runs cases for all releases, side by side on all cores of the machine, into one recording.
///
/// `each` is called from any thread, once for each of the [`iterations`]; when it answers no, the
/// cases that have not begun are left out.
///
/// # Errors
/// The first case, in the order of releases and cases, that did not come to its end.
pub fn run(
    releases: &[Release],
    cases: &[Case],
    options: &Options,
    each: impl Fn() -> bool + Sync,
) -> Result<Recording, Error> {
    let goes_on = AtomicBool::new(true);
    let parts: Vec<_> = jobs(releases, cases, options)
        .into_par_iter()
        .filter(|_| goes_on.load(Relaxed))
        .map(|job| {
            let part = job.run(&|| {
                goes_on.fetch_and(each(), Relaxed);
            });
            part.map(|part| (job.drawn, part))
        })
        .collect();
    let mut whole = Recording::new(header(releases, cases, options));
    let (drawn, parts): (Vec<_>, Vec<_>) = parts
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .partition(|(drawn, _)| drawn.is_some());
    whole.header.intervals = intervals(
        drawn
            .into_iter()
            .map(|(drawn, part)| (drawn.flatten(), part)),
    );
    let mut parts = parts.into_iter().map(|(_, part)| part);
    // Often there is one.
    if let Some(mut first) = parts.next() {
        std::mem::swap(&mut first.header, &mut whole.header);
        whole = first;
    }
    let parts = parts.collect_vec();
    whole.reserve_events(parts.iter().map(|part| part.events().len()).sum());
    // Each part's memory is given back before the next one's is filled again.
    for part in parts {
        whole.append(&part);
    }
    Ok(whole)
}

/// Bytes of the measures that [`run`] records, as a reader holds them.
pub fn bytes_of_measures(releases: &[Release], cases: &[Case], options: &Options) -> u64 {
    let cpus: u64 = releases
        .iter()
        .map(|release| release.machine.platform.topology.cpus.len() as u64)
        .sum();
    cpus * cases
        .iter()
        .map(|case| {
            let seeds = if is_ordered(case) {
                u64::from(options.free_seeds)
            } else {
                0
            };
            (u64::from(options.iterations) + seeds)
                * metrics::intervals_of(case.name).count() as u64
        })
        .sum::<u64>()
        * size_of::<Measure>() as u64
}

/// The number of iterations that [`run`] simulates.
pub fn iterations(releases: &[Release], cases: &[Case], options: &Options) -> u64 {
    jobs(releases, cases, options)
        .iter()
        .map(|job| u64::from(job.conditions.iterations))
        .sum()
}

fn jobs<'a>(releases: &'a [Release], cases: &[Case], options: &Options) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for release in releases {
        let order = |case: &Case| {
            release
                .orders
                .get(case.name)
                .filter(|_| case.mode == Mode::Parallel)
                .cloned()
        };
        for &case in cases {
            let conditions = Conditions {
                case,
                iterations: options.iterations,
                seed: options.seed,
                order: order(&case).unwrap_or_default(),
                events: if options.events {
                    iterations_with_events(&release.machine)
                } else {
                    0
                },
                spread: false,
            };
            jobs.push(Job {
                release,
                conditions,
                mode: case.mode.name(),
                first_iteration: 0,
                drawn: None,
            });
        }
        for case in cases.iter().copied().filter(is_ordered) {
            jobs.extend(
                (0..options.free_seeds)
                    .flat_map(|number| seeded_jobs(release, case, order(&case), options, number)),
            );
        }
    }
    jobs
}

/// Draws that a mode has at least, for it to have ends.
const FEWEST_OF_MODE: usize = 5;

/// The runs of a case with a seed of its own: one in free order, and draws behind the intervals.
fn seeded_jobs<'a>(
    release: &'a Release,
    case: Case,
    order: Option<Order>,
    options: &Options,
    number: u32,
) -> Vec<Job<'a>> {
    let conditions = Conditions {
        case,
        iterations: 1,
        // Seeds of their own, apart from the compared run's.
        seed: engine_seed(options.seed, number),
        order: Order::default(),
        events: 0,
        spread: true,
    };
    let drawn = |timer, spread, owner| Job {
        release,
        conditions: Conditions {
            order: Order {
                timer: Some(timer),
                ..order.clone().unwrap_or_default()
            },
            iterations: SETTLED + 1,
            spread,
            ..conditions.clone()
        },
        mode: case.mode.name(),
        first_iteration: number,
        drawn: Some(owner),
    };
    let mut jobs = Vec::new();
    // An interval is about a declared order.
    if let Some(order) = &order {
        // The owner of the timer is uncertain, whatever is declared: each CPU owns it in turn.
        let turn = number as usize % release.machine.platform.topology.cpus.len();
        jobs.push(drawn(turn, true, None));
        let owners = release
            .owners
            .get(case.name)
            .map_or_else(Vec::new, |it| it.owners(&release.machine, &order.scp));
        let is_enough =
            order.timer.is_some() && options.free_seeds as usize >= FEWEST_OF_MODE * owners.len();
        // A mode is what an owner gives if interrupts take as long to each CPU, as the tables of
        // all known sessions have it.
        if let Some((timer, owner)) = owners.into_iter().nth(turn).filter(|_| is_enough) {
            jobs.push(drawn(timer, false, Some(owner)));
        }
    }
    jobs.push(Job {
        release,
        conditions,
        mode: FREE_RUNNING,
        first_iteration: number,
        drawn: None,
    });
    jobs
}

/// True if the order in which CPUs reach the SCP decides the figures of a case.
fn is_ordered(case: &Case) -> bool {
    case.mode == Mode::Parallel && matches!(case.action, Action::Suspend(_))
}

/// The number of iterations of a case of which events are kept: they tell why a figure is what it
/// is, and a few of them tell it; all of a long run would take gigabytes. A hundred on six CPUs.
pub fn iterations_with_events(machine: &Machine) -> u32 {
    let cpus = machine.platform.topology.cpus.len().max(1) as u32;
    (CPU_ITERATIONS / cpus).max(SETTLED + 1)
}

/// Iterations with events, times CPUs.
const CPU_ITERATIONS: u32 = 600;

fn engine_seed(seed: u64, number: u32) -> u64 {
    seed.wrapping_add(1 + u64::from(number))
}

impl Job<'_> {
    /// True if it is what an owner of the timer gives with the costs as they are.
    fn is_first_of_mode(&self) -> bool {
        matches!(self.drawn, Some(Some(_)))
            && (self.first_iteration as usize) < self.release.machine.platform.topology.cpus.len()
    }

    fn run(&self, each: &dyn Fn()) -> Result<Recording, Error> {
        let mut machine = Cow::Borrowed(&self.release.machine);
        if self.drawn.is_some() && !self.is_first_of_mode() {
            self.release
                .uncertainty
                .draw(&mut machine.to_mut().costs, self.conditions.seed);
        }
        let case = self.conditions.case;
        let outcome =
            soc::run_and_tell(&machine, &self.conditions, each).map_err(|source| Error {
                release: machine.release.name.clone(),
                case: case.name,
                mode: case.mode,
                source,
            })?;
        let mut part = Recording::new(Header::new(NAME, "sim", "ps"));
        let series = part.series(&machine.release.name, case.name, self.mode);
        record_events(&mut part, series, &outcome);
        self.record_latencies(&mut part, series, &outcome);
        // Of the compared run, which has no seed of its own.
        if self.mode != FREE_RUNNING && self.drawn.is_none() {
            self.record_state_times(&mut part, series, &outcome);
        }
        Ok(part)
    }

    /// The intervals of the case, as the table of metrics has them, from the stamps that the
    /// procedure read (see `../../docs/psci-latency.md`).
    fn record_latencies(&self, part: &mut Recording, series: Series, outcome: &RunOutcome) {
        let frequency = self.release.machine.platform.counter_frequency as f64;
        let microseconds = |from: u64, to: u64| (to - from) as f64 * 1e6 / frequency;
        // Another stream than the costs' and the machine's.
        let mut noise = SplitMix64::fork(self.conditions.seed, 2);
        let mut measured = outcome.measured.iter().collect_vec();
        measured.sort_by_key(|measured| (measured.iteration, measured.cpu));
        // Of a draw one iteration counts: the others would be the same draw again.
        let counts = |measured: &&soc::ProcedureStamps| {
            self.drawn.is_none() || measured.iteration == SETTLED
        };
        let metrics = metrics::intervals_of(self.conditions.case.name).collect_vec();
        for measured in measured.into_iter().filter(counts) {
            for metric in &metrics {
                let Some((from, to)) =
                    metric.bounds(|point| soc::stamp_at(&measured.stamps, point))
                else {
                    continue;
                };
                let iteration = self.first_iteration + measured.iteration;
                let mut value = microseconds(from, to);
                if self.drawn.is_some() && !self.is_first_of_mode() {
                    value += self.release.uncertainty.left_over(value, &mut noise);
                }
                self.push(part, (series, iteration), measured.cpu, *metric, "", value);
            }
        }
    }

    fn record_state_times(&self, part: &mut Recording, series: Series, outcome: &RunOutcome) {
        for (cpu, times) in outcome.state_times.iter().enumerate() {
            for (state, &time) in CpuState::NAMES.into_iter().zip(times) {
                let value = time as f64 / 1e6;
                self.push(part, (series, 0), cpu, metrics::TIME_IN_STATE, state, value);
            }
        }
    }

    /// Adds a measure of a CPU, which has a role.
    fn push(
        &self,
        part: &mut Recording,
        (series, iteration): (Series, u32),
        cpu: usize,
        metric: Metric,
        subject: &str,
        value: f64,
    ) {
        let machine = &self.release.machine;
        let place = &machine.platform.topology.cpus[cpu];
        let role = if cpu == machine.release.lead {
            "lead"
        } else {
            "non-lead"
        };
        let measure = part.add_part(series, iteration, metric, [subject, role], value);
        measure.cpu = Some(cpu as u16);
        measure.cluster = Some(place.cluster);
        measure.core = Some(place.core);
    }
}

fn record_events(part: &mut Recording, series: Series, outcome: &RunOutcome) {
    part.reserve_events(outcome.events.len());
    let mut points = Vec::new();
    for event in &outcome.events {
        let id = usize::from(event.point);
        if points.len() <= id {
            points.resize(id + 1, None);
        }
        let point = *points[id].get_or_insert_with(|| {
            part.point_with(
                soc::point_name(event.point),
                soc::point(event.point).and_then(|point| point.argument()),
            )
        });
        part.push(Event {
            time: event.time,
            ticks: event.ticks,
            iteration: event.iteration,
            argument: event.argument,
            series,
            cpu: event.cpu,
            point,
        });
    }
}

/// Notes the conditions of the compared run of a case whose order decides its figures.
fn note_conditions(header: &mut Header, release: &Release, case: &Case) {
    let machine = &release.machine;
    let of = format!(
        "{}/{}/{}",
        machine.release.name,
        case.name,
        case.mode.name()
    );
    let mut note = |key: &str, cpus: &[usize]| {
        let places = cpus.iter().map(|&cpu| place(machine, cpu)).collect_vec();
        let text = if cpus.is_empty() {
            conditions::CHANCE
        } else {
            &places.join(" ")
        };
        header.set_condition(&of, key, text);
    };
    let order = release.orders.get(case.name).cloned().unwrap_or_default();
    // Without a declared owner the first at the SCP has the timer, and wakes the others by number.
    let timer = order.timer.or(order.scp.first().copied());
    note(conditions::ORDER, &order.scp);
    note(conditions::TIMER, timer.as_slice());
    if !order.wakes.is_empty() {
        note(conditions::WAKES, &order.wakes);
    }
}

fn header(releases: &[Release], cases: &[Case], options: &Options) -> Header {
    let mut header = Header::new(NAME, "sim", "ps");
    header.seed = options.seed;
    header.iterations = options.iterations;
    header.repeatable = Some(true);
    header.seeded_modes = if options.free_seeds > 0 {
        vec![FREE_RUNNING.to_owned()]
    } else {
        Vec::new()
    };
    if releases.iter().any(|release| {
        cases
            .iter()
            .any(|case| is_ordered(case) && !release.orders.contains_key(case.name))
    }) {
        header.free_modes.push(Mode::Parallel.name().to_owned());
    }
    header.time.counter_hz = releases
        .first()
        .map(|release| release.machine.platform.counter_frequency);
    for release in releases {
        for case in cases.iter().filter(|case| is_ordered(case)) {
            note_conditions(&mut header, release, case);
        }
        let Release {
            machine, owners, ..
        } = release;
        header
            .versions
            .insert(machine.release.name.clone(), machine.release.title.clone());
        header
            .timer_owners
            .extend(owners.iter().filter_map(|(case, owners)| {
                let sessions: BTreeMap<_, _> = (0..machine.platform.topology.cpus.len())
                    .filter_map(|cpu| {
                        Some((place(machine, cpu), owners.of(cpu).to_vec()))
                            .filter(|(_, them)| !them.is_empty())
                    })
                    .collect();
                let (release, case) = (machine.release.name.clone(), case.clone());
                (!sessions.is_empty()).then_some(TimerOwners {
                    release,
                    case,
                    sessions,
                })
            }));
    }
    header
}

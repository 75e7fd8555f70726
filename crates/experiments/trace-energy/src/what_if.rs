//! What the energy of a trace would have been otherwise: with lazy or offloaded callbacks of RCU,
//! with timers and work of low priority on the slowest cluster, with a task on another one.

use crate::machine::{Domain, Machine};
use crate::meter::Meter;
use crate::owner::Owner;
use crate::told::Told;
use crate::wakes::Gone;
use import::ftrace::Point;
use itertools::Itertools;
use recording::facts::{KernelTrace, TraceWhatIf};

/// Tasks that are moved, the most energy first.
const MOST_TASKS: usize = 5;
/// The longest that a lazy callback waits, in nanoseconds: `rcu_barrier`'s and the shrinker's aside,
/// `jiffies_lazy_flush` of kernel/rcu/tree.h.
const LAZY_NS: u64 = 10_000_000_000;

/// Events that a question needs, each with its name.
const NEEDED: [(&[Point], &str); 6] = [
    (&[Point::IdleExit], "power:cpu_idle"),
    (&[Point::SchedSwitch], "sched:sched_switch"),
    (&[Point::IrqEnter], "irq:irq_handler_entry"),
    (&[Point::SoftirqEnter], "irq:softirq_entry"),
    (
        &[Point::HrtimerExpire, Point::TickExpire],
        "timer:hrtimer_expire_entry",
    ),
    (&[Point::Ipi, Point::IpiRaise], "ipi:*"),
];

/// The answers. Energies are multiplied by `scale`.
pub fn answers(
    machine: &Machine,
    kernel: &KernelTrace,
    told: &Told,
    meter: &Meter<'_>,
    (seconds, scale): (f64, f64),
) -> Vec<TraceWhatIf> {
    let missing = NEEDED
        .iter()
        .find(|(points, _)| !told.has(points))
        .map(|(_, name)| format!("the trace has no {name}"));
    let order = (0..machine.domains.len())
        .sorted_by_key(|domain| top(&machine.domains[*domain]))
        .collect_vec();
    let little = order[0];
    let others = &order[1..];
    let alone = others
        .is_empty()
        .then(|| "the platform has one cluster".to_owned());
    let wakes = &meter.wakes;
    let moved = |of: &[&Vec<Gone>]| {
        let parts = others
            .iter()
            .flat_map(|domain| of.iter().map(|of| of[*domain]));
        sum(parts.map(|gone| on(&machine.domains[little], gone)))
    };
    let flushes = told
        .span_ns
        .map_or(0, |[first, last]| (last - first) / LAZY_NS + 1)
        * told.cpus.len() as u64;
    let lazy = fewer(sum(wakes.rcu.iter().copied()), flushes);
    let mut answers = vec![
        answer("RCU's callbacks are lazy", lazy, missing.clone(), scale),
        answer(
            "RCU's callbacks run on the slowest cluster",
            moved(&[&wakes.rcu, &wakes.shared]),
            missing.clone().or_else(|| alone.clone()),
            scale,
        ),
        answer(
            "timers and tasks of low priority are on the slowest cluster",
            moved(&[&wakes.movable]),
            missing.or_else(|| alone.clone()),
            scale,
        ),
    ];
    if alone.is_none() {
        answers.extend(tasks(machine, kernel, meter, (seconds, scale), &order));
    }
    answers
}

/// What is saved if a task runs in the slowest domain, or one of that domain in the fastest.
fn tasks(
    machine: &Machine,
    kernel: &KernelTrace,
    meter: &Meter<'_>,
    (seconds, scale): (f64, f64),
    order: &[usize],
) -> Vec<TraceWhatIf> {
    let (little, big) = (order[0], order[order.len() - 1]);
    let tasks = meter.shares.iter().filter_map(|share| match share.owner {
        Owner::Task(_) => {
            let name = share.owner.name(kernel, "", &[]);
            Some(((name, share.domain), Gone::from(&share.of)))
        }
        _ => None,
    });
    let tasks = recording::grouped(tasks).into_iter();
    let tasks = tasks.map(|(task, parts)| (task, sum(parts.into_iter())));
    let tasks = tasks.filter(|(_, here)| here.work[1] > 0.0);
    let most = tasks.sorted_by(|(_, a), (_, b)| b.energy[0].total_cmp(&a.energy[0]));
    let other = |((name, domain), here): ((String, usize), Gone)| {
        let to = if domain == little { big } else { little };
        let (from, there) = (&machine.domains[domain], &machine.domains[to]);
        let load = here.work[1] / (seconds * 1e9 * f64::from(top(there)));
        let late = (load > 1.0).then(|| {
            format!(
                "it needs {:.0} % of a CPU there, so it would be late",
                100.0 * load
            )
        });
        let name = format!("{name} runs on {}, not on {}", there.name, from.name);
        TraceWhatIf {
            wake_ups: None,
            ..answer(&name, on(there, here), late, scale)
        }
    };
    most.take(MOST_TASKS).map(other).collect()
}

fn top(domain: &Domain) -> u32 {
    domain.points.last().map_or(0, |point| point.capacity)
}

/// What is gone, or why it cannot be told.
fn answer(name: &str, gone: Gone, missing: Option<String>, scale: f64) -> TraceWhatIf {
    let is_told = missing.is_none();
    TraceWhatIf {
        name: name.to_owned(),
        energy: is_told.then(|| gone.energy.map(|energy| energy * scale)),
        wake_ups: is_told.then_some(gone.count),
        missing,
    }
}

/// What is saved if the work is done in a domain, at any of its operating points; what the domain
/// shares is up already, or is paid as well.
fn on(domain: &Domain, gone: Gone) -> Gone {
    let per_work = |power: u32, capacity: u32| f64::from(power) / f64::from(capacity);
    let points = domain.points.iter();
    let least = points
        .clone()
        .map(|point| per_work(point.core_power, point.capacity));
    let most = points.map(|point| per_work(point.core_power + point.domain_power, point.capacity));
    let [least, most] = [
        least.fold(f64::INFINITY, f64::min),
        most.fold(0.0, f64::max),
    ];
    // The CPU there may sleep, and wake up for each.
    let trips = domain.states.iter().map(|state| state.core_trip[1]).max();
    let trips = gone.count[1] as f64 * trips.unwrap_or(0) as f64;
    Gone {
        energy: [
            gone.energy[0] - gone.work[1] * most - trips,
            gone.energy[1] - gone.work[0] * least,
        ],
        ..gone
    }
}

/// All but some of the wake-ups, which come all the same.
fn fewer(gone: Gone, stay: u64) -> Gone {
    let count = gone.count[0].saturating_sub(stay);
    let part = count as f64 / gone.count[0].max(1) as f64;
    Gone {
        count: [count, gone.count[1]],
        energy: [gone.energy[0] * part, gone.energy[1]],
        ..gone
    }
}

fn sum(parts: impl Iterator<Item = Gone>) -> Gone {
    parts.fold(Gone::default(), |sum, gone| Gone {
        count: [0, 1].map(|end| sum.count[end] + gone.count[end]),
        energy: [0, 1].map(|end| sum.energy[end] + gone.energy[end]),
        work: [0, 1].map(|end| sum.work[end] + gone.work[end]),
    })
}

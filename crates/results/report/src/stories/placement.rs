//! `placement`: a workload under each policy of placement, with an owner for each unit of energy.

use super::story::Story;
use crate::blocks::{
    Bar, Blocks, Cell, Dot, Drawing, IntervalRow, Picture, Table, figure, fixed, whole,
};
use crate::words::placement::{self as words, ends};
use findings::InOrder;
use findings::Interval;
use findings::placement::{MOST_TASKS, PERCENTS, Placement, Point, Policy, Task, natural};
use itertools::Itertools;
use recording::{distinct, total_order};

impl Story for Placement<'_> {
    fn tell(&self, told: &mut Blocks) {
        if !self.policies.is_empty() {
            told.answer(words::answer(self));
            told.picture(picture(self));
            told.table(overview(self));
            told.note(settings(self));
            told.table(missed(self));
            told.picture(owners_picture(self));
            told.table(owners(self));
            told.table(where_tasks_ran(self, "CPU time of", |task| {
                &task.share_by_cpu
            }));
            told.table(where_tasks_ran(self, "CPU time of", |task| {
                &task.share_by_operating_point
            }));
            told.table(by_policy(
                self,
                "woken by, per s",
                |policy| policy.wake_ups_per_s.names(),
                |policy, cause| policy.wake_ups_per_s.get(cause).copied(),
            ));
            told.table(by_policy(
                self,
                "response p95, ms",
                |policy| policy.tasks.names(),
                |policy, task| policy.p95(Some(task)),
            ));
            told.table(by_policy(
                self,
                "woken late by p99, us",
                |policy| policy.tasks.names(),
                |policy, task| {
                    policy
                        .tasks
                        .get(task)?
                        .wake_latency_us
                        .as_ref()?
                        .get("p99")
                        .copied()
                },
            ));
        }
        if let Some(top) = &self.top_points {
            let words = words::top(top);
            if self.policies.is_empty() {
                told.answer(words)
            } else {
                told.paragraph(words)
            }
        }
        if self.policies.is_empty() {
            told.table(work_costs(&self.operating_points));
        }
    }
}

/// Energy against p95, a dot for each policy; energy alone where no task has periods.
fn picture(placement: &Placement<'_>) -> Option<Picture> {
    let (unit, scale) = placement.unit();
    let energy = |policy: &Policy<'_>| Some(policy.energy_unit_s?.times(scale));
    let dot = |policy: &Policy<'_>| {
        let pooled = policy.p95(placement.task)?;
        let x = policy
            .tasks
            .get(placement.task?)
            .and_then(|task| task.p95_ms_by_seed)
            .map_or([pooled; 3], |seeds| {
                [seeds.low.min(pooled), pooled, seeds.high.max(pooled)]
            });
        Some(Dot {
            name: policy.name.to_owned(),
            x,
            y: energy(policy)?.all(),
        })
    };
    let dots = placement.policies.iter().filter_map(dot).collect_vec();
    if let Some(task) = placement.task.filter(|_| !dots.is_empty()) {
        let x = (format!("p95 of {task}"), "ms".to_owned());
        let picture = Picture::new(
            "Energy against latency",
            "energy",
            &unit,
            Drawing::Dots { x, dots },
        );
        return Some(picture.noted(
            "Lower and further left is better; lines are from the lowest seed to the highest.",
        ));
    }
    let rows = placement
        .policies
        .iter()
        .filter_map(|policy| Some(IntervalRow::new(policy.name, energy(policy)?.all())))
        .collect();
    Some(Picture::new(
        "Energy by policy",
        "energy",
        &unit,
        Drawing::Intervals(rows),
    ))
}

fn overview(placement: &Placement<'_>) -> Table {
    let (task, (unit, scale)) = (placement.task, placement.unit());
    let ends_itself = placement
        .policies
        .iter()
        .filter_map(|policy| policy.run_time_s)
        .flat_map(Interval::all)
        .collect_vec()
        .windows(2)
        .any(|two| two[0] != two[1]);
    let share = |of: Option<Interval>| of.map(|of| ends(of.times(100.0), |share| fixed(share, 1)));
    let table = Table::with_rows(&placement.policies)
        .words("policy", |policy| policy.name)
        .numbers("periods", |policy| {
            policy.tasks.get(task?).map(|task| whole(task.periods))
        })
        .each(PERCENTS, |table, percent| {
            table.numbers(format!("{percent}, ms"), move |policy| {
                policy.response(task, percent).map(figure)
            })
        })
        .when(ends_itself, |table| {
            table.numbers("time, s", |policy| {
                policy.run_time_s.map(|time| ends(time, figure))
            })
        })
        .when(unit == "J" || !placement.has_yardstick(), |table| {
            table.numbers(format!("energy, {unit}"), |policy| {
                policy
                    .energy_unit_s
                    .map(|energy| ends(energy.times(scale), figure))
            })
        })
        .numbers("energy, % of all-big's", |policy| {
            share(policy.energy_of_all_big)
        })
        .numbers(format!("{} runs, %", placement.facts.big), |policy| {
            share(policy.big)
        })
        .numbers("moves", |policy| {
            fixed(policy.tasks.values().map(|task| task.migrations).sum(), 0)
        });
    let note = task.map_or_else(String::new, |task| {
        format!(
            "p50, p95 and p99 of {task}: from the beginning of its period to the end of its work, over the periods of all seeds. Other intervals are from the \
             lowest seed to the highest; moves are those of all tasks in a run, on average."
        )
    });
    table.noted(note)
}

/// The settings of the run in a sentence.
fn settings(placement: &Placement<'_>) -> String {
    let sooner = placement
        .policies
        .iter()
        .filter_map(|policy| policy.run_time_s)
        .any(|time| time.low < placement.facts.seconds);
    format!(
        "{} on {}, {}, RCU {}; {} seeds of {} s{}.",
        placement.workload,
        placement.platform.unwrap_or(""),
        match placement.frequency.as_str() {
            "schedutil" => "frequencies follow the load",
            _ => "at the highest operating points",
        },
        placement.rcu,
        placement.seeds,
        placement.facts.seconds,
        if sooner { " at most" } else { "" }
    )
}

/// Periodic tasks that were late for their next period, under any policy.
fn missed(placement: &Placement<'_>) -> Table {
    let mut rows = Vec::new();
    for policy in &placement.policies {
        let late = policy
            .tasks
            .0
            .iter()
            .filter(|(_, of)| of.missed_periods > 0.0);
        rows.extend(late.map(|(task, of)| (policy.name, *task, of)));
    }
    let share = |of: &Task<'_>| fixed(of.missed_periods / of.periods.max(1.0) * 100.0, 1);
    Table::with_rows(&rows)
        .words("late for the next period", |(_, task, _)| *task)
        .words("policy", |(policy, ..)| *policy)
        .numbers("periods", |(_, _, of)| whole(of.periods))
        .numbers("late", |(_, _, of)| whole(of.missed_periods))
        .numbers("late, %", |(_, _, of)| share(of))
        .numbers("left out", |(_, _, of)| whole(of.skipped_periods))
        .noted("All seeds. A timer of mode relative starts anew when it is late, and leaves out the periods that are over.")
}

/// The tasks with most CPU time, and where or how fast: a row per policy and task.
fn where_tasks_ran<'r>(
    placement: &Placement<'r>,
    title: &str,
    of: impl for<'t> Fn(&'t Task<'r>) -> &'t InOrder<'r, f64>,
) -> Table {
    let mut rows = Vec::new();
    let mut left_out = 0;
    for policy in &placement.policies {
        let mut tasks = policy
            .tasks
            .0
            .iter()
            .map(|(task, of)| (*task, of))
            .collect_vec();
        tasks.sort_by(|(_, a), (_, b)| b.cpu_time_us_per_s.total_cmp(&a.cpu_time_us_per_s));
        left_out = tasks.len().saturating_sub(MOST_TASKS);
        rows.extend(
            tasks
                .into_iter()
                .take(MOST_TASKS)
                .map(|(task, of)| (policy.name, task, of)),
        );
    }
    let mut places = distinct(rows.iter().flat_map(|(_, _, task)| of(task).names()));
    if places.is_empty() {
        return Table::default();
    }
    places.sort_by_key(|place| natural(place));
    let table = Table::with_rows(&rows)
        .words(title, |(_, task, _)| *task)
        .words("policy", |(policy, ..)| *policy)
        .numbers("ms/s", |(_, _, of)| figure(of.cpu_time_us_per_s / 1e3))
        .numbers("woken, 1/s", |(_, _, of)| figure(of.wake_ups_per_s))
        .each(&places, |table, place| {
            table.numbers(format!("{place}, %"), |(_, _, task)| {
                of(task).get(place).map(|share| fixed(share * 100.0, 0))
            })
        });
    let more = if left_out == 0 {
        ""
    } else {
        " The tasks with most of it; JSON has all."
    };
    table.noted(format!(
        "CPU time of all seeds, and the part of it on a CPU or at an operating point.{more}"
    ))
}

/// The same as a bar for each policy.
fn owners_picture(placement: &Placement<'_>) -> Option<Picture> {
    let (unit, scale) = placement.unit();
    let names = placement.owner_names();
    let bars = placement
        .policies
        .iter()
        .map(|policy| {
            let energies = names.iter().filter_map(|owner| {
                let energy = policy.owners_unit_s.get(owner)?;
                Some((owner.to_string(), energy * scale))
            });
            Bar::new(policy.name, energies)
        })
        .collect_vec();
    let picture = Picture::new("Energy by owner", "energy", &unit, Drawing::Bars(bars));
    (!names.is_empty()).then(|| picture.noted(placement.of_the_middle()))
}

/// Energy by owner, the most first, with its sum.
fn owners(placement: &Placement<'_>) -> Table {
    let (unit, scale) = placement.unit();
    let of = |policy: &Policy<'_>, owner: &str| {
        policy.owners_unit_s.get(owner).copied().unwrap_or(0.0) * scale
    };
    let names = placement.owner_names();
    let mut table = Table::with_rows(&names)
        .words(format!("energy of, {unit}"), |owner| *owner)
        .each(&placement.policies, |table, policy| {
            table.numbers(policy.name, move |owner| figure(of(policy, owner)))
        })
        .done();
    let last = |words: &str, value: &dyn Fn(&Policy<'_>) -> f64| {
        let cells = placement
            .policies
            .iter()
            .map(|policy| Cell::from(figure(value(policy))));
        std::iter::once(Cell::from(words))
            .chain(cells)
            .collect_vec()
    };
    table.rows.push(last("all owners", &|policy| {
        names.iter().map(|owner| of(policy, owner)).sum()
    }));
    table.rows.push(last("the integral", &|policy| {
        policy.middle_integral * scale
    }));
    table.noted(format!(
        "{} Below, by cause: means over the seeds.",
        placement.of_the_middle()
    ))
}

/// What is known of some names under each policy.
fn by_policy<'r>(
    placement: &Placement<'r>,
    title: &str,
    names: impl Fn(&Policy<'r>) -> Vec<&'r str>,
    of: impl Fn(&Policy<'r>, &str) -> Option<f64>,
) -> Table {
    let all = placement.policies.first().map_or_else(Vec::new, names);
    let names = all
        .into_iter()
        .filter(|name| {
            placement
                .policies
                .iter()
                .any(|policy| of(policy, name).is_some())
        })
        .collect_vec();
    Table::with_rows(&names)
        .words(title, |row| *row)
        .each(&placement.policies, |table, policy| {
            table.numbers(policy.name, |row| of(policy, row).map(figure))
        })
        .done()
}

/// The table of the points.
fn work_costs(points: &[Point<'_>]) -> Table {
    let Some(top) = points.iter().max_by_key(|of| total_order(of.capacity)) else {
        return Table::default();
    };
    let share = |energy: f64| fixed(100.0 * energy / top.core, 1);
    let note = format!(
        "Energy of the same work, in % of what the core alone takes for it at {}.",
        top.point
    );
    Table::with_rows(points)
        .words("operating point", |point| point.point)
        .numbers("capacity", |point| whole(point.capacity))
        .numbers("core", |point| share(point.core))
        .numbers("core and cluster", |point| share(point.core_and_cluster))
        .numbers("each core of a full cluster", |point| {
            share(point.full_cluster)
        })
        .noted(note)
}

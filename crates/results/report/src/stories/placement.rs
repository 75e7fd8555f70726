//! `placement`: a workload under each policy of placement, with an owner for each unit of energy.

use super::story::Story;
use crate::blocks::{
    Bar, Blocks, Cell, Dot, Drawing, IntervalRow, Number, Picture, Table, Text, figure, fixed,
    listed, name, text, whole,
};
use evidence::Leaders;
use findings::InOrder;
use findings::Interval;
use findings::placement::{
    MOST_TASKS, PERCENTS, Placement, Point, Policy, Task, Top, YARDSTICK, natural,
};
use itertools::Itertools;
use recording::distinct;

fn ends(interval: Interval, number: impl Fn(f64) -> Number) -> Cell {
    Cell::Range(number(interval.low), number(interval.high))
}

impl Story for Placement<'_> {
    fn tell(&self, told: &mut Blocks) {
        if !self.policies.is_empty() {
            told.answer(answer(self));
            if let Some(picture) = picture(self) {
                told.picture(picture);
            }
            told.table(overview(self));
            told.note(settings(self));
            if let Some(missed) = missed(self) {
                told.table(missed);
            }
            if let Some(picture) = owners_picture(self) {
                told.picture(picture);
            }
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
                    let late = policy.tasks.get(task)?.wake_latency_us.as_ref()?;
                    late.get("p99").copied()
                },
            ));
        }
        if let Some(top) = &self.top_points {
            let words = top_words(top);
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

/// The energy of some policies in brackets, with a blank before; nothing where it is not known.
fn energy(placement: &Placement<'_>, policies: &[&str]) -> String {
    let (unit, scale) = placement.unit();
    // From the least of all that are named to the most.
    let over = |policies: &[&str], of: fn(&Policy<'_>) -> Option<Interval>| {
        let all = policies
            .iter()
            .filter_map(|policy| of(placement.find(policy)?));
        all.reduce(|one, other| Interval {
            low: one.low.min(other.low),
            high: one.high.max(other.high),
            ..one
        })
    };
    // Without watts the yardstick's share is the energy.
    let is_known = unit == "J" || !placement.has_yardstick();
    let is_reference = matches!(policies, [one] if unit == format!("% of {one}'s"));
    let energy =
        over(policies, |policy| policy.energy_unit_s).filter(|_| is_known && !is_reference);
    let energy =
        energy.map(|energy| format!("{} {unit}", ends(energy.times(scale), figure).plain()));
    let share =
        over(policies, |policy| policy.energy_of_all_big).filter(|_| policies != [YARDSTICK]);
    let share = share.map(|share| {
        format!(
            "{} % of all-big's",
            ends(share.times(100.0), |share| fixed(share, 1)).plain()
        )
    });
    let both = [energy, share].into_iter().flatten().collect_vec();
    if both.is_empty() {
        String::new()
    } else {
        format!(" ({})", both.join(", "))
    }
}

/// What was left undone or late; which policy is fast; and which takes least energy.
fn answer(placement: &Placement<'_>) -> Text {
    let said = [
        undone(placement),
        late(placement),
        latency(placement),
        thrifty(placement),
        least_energy(placement),
    ];
    let mut words = Text::default();
    for sentence in said.into_iter().filter(|text| !text.is_empty()).take(3) {
        words.push(if words.is_empty() { "" } else { " " });
        words.extend(sentence);
    }
    words
}

/// The policies under which a task did less than under another.
fn undone(placement: &Placement<'_>) -> Text {
    let undone = || placement.policies.iter().filter(|policy| !policy.is_done);
    let worst = undone().max_by(|a, b| a.unfinished_share.total_cmp(&b.unfinished_share));
    let Some((worst, task)) = worst.and_then(|worst| Some((worst, worst.unfinished?))) else {
        return Text::default();
    };
    let share = figure(100.0 * worst.unfinished_share);
    let mut words = text![
        "Under ",
        name(worst.name),
        format!(" {share} % of the work of "),
        name(task),
        " is left undone: no energy is ranked of "
    ];
    words.extend(listed(undone().map(|policy| name(policy.name))));
    words.push(".");
    words
}

/// Where no policy is in time: a task is late in a twentieth of its periods or more under each, or
/// more is asked of its CPUs than they can do.
fn late(placement: &Placement<'_>) -> Text {
    let share = |policy: &&Policy<'_>| policy.latest().map_or(0.0, |(_, share)| share);
    let load = placement.facts.load_percent;
    let late = placement
        .policies
        .iter()
        .filter(|policy| share(policy) >= 0.05);
    let late = late.collect_vec();
    // Where one policy is in time, the latencies tell the others.
    if late.len() < placement.policies.len() && load <= 100.0 {
        return Text::default();
    }
    let worst = Leaders::most(late, |policy| Some([share(policy); 2]));
    let first = worst.as_ref().and_then(|worst| worst.items[0].latest());
    let (Some(worst), Some((task, late))) = (&worst, first) else {
        return Text::default();
    };
    let mut words = text![
        name(task),
        format!(
            " is late in {} % of its periods under ",
            figure(100.0 * late)
        )
    ];
    match worst.items.len() {
        1 => words.extend(text![name(worst.items[0].name)]),
        all if all == placement.policies.len() => words.push(format!("all {all} policies")),
        some => words.push(format!("{some} policies")),
    }
    words.push(if load > 100.0 {
        format!(": {} % of its CPUs' time is asked for.", fixed(load, 0))
    } else {
        ".".to_owned()
    });
    words
}

/// The policies with the lowest latency.
fn latency(placement: &Placement<'_>) -> Text {
    let lowest = &placement.wins.latency[..];
    let first = lowest
        .first()
        .or(placement.policies.first().map(|of| &of.name));
    let ms = first.and_then(|policy| placement.find(policy)?.p95(placement.task));
    let (Some(task), Some(ms)) = (placement.task, ms) else {
        return Text::default();
    };
    let mut words = text!["The p95 of ", name(task), format!(" is {} ms", figure(ms))];
    if lowest.is_empty() {
        let all = placement.policies.len();
        words.push(if all > 1 {
            format!(" under all {all} policies")
        } else {
            String::new()
        });
    } else {
        words.push(" with ");
        words.extend(listed(lowest.iter().map(|policy| name(*policy))));
        words.push(", the lowest");
    }
    words.push(".");
    words
}

/// The policies with least energy of those that are nearly as fast; where latency is alike these
/// are those of all.
fn thrifty(placement: &Placement<'_>) -> Text {
    let near = &placement.wins.energy_at_latency_within_10_percent[..];
    if near.is_empty() || near == placement.wins.energy {
        return Text::default();
    }
    let mut words = text!["Of those within 10 % of it, "];
    words.extend(listed(near.iter().map(|policy| name(*policy))));
    let take = if near.len() > 1 { "take" } else { "takes" };
    let energy = energy(placement, near);
    words.push(format!(" {take} the least energy{energy}."));
    words
}

/// The policies that take least energy of all that did all work.
fn least_energy(placement: &Placement<'_>) -> Text {
    let done = placement.policies.iter().filter(|policy| policy.is_done);
    let done = done.collect_vec();
    let names = done.iter().map(|policy| policy.name).collect_vec();
    let is_same = |policy: &&Policy<'_>| {
        let pairs = policy.integrals.iter().zip(&done[0].integrals);
        pairs
            .into_iter()
            .all(|(own, first)| (own / first - 1.0).abs() < 0.005)
    };
    let energy = |policies: &[&str]| energy(placement, policies);
    match (&placement.wins.energy[..], &names[..]) {
        ([], []) => Text::default(),
        ([], [one]) => text!["Energy of ", name(*one), format!("{}.", energy(&names))],
        ([], all) if done.iter().all(is_same) => {
            let mut words = listed(all.iter().map(|policy| name(*policy)));
            words.push(" take the same energy.");
            words
        }
        ([], all) => {
            text![format!(
                "No policy takes the least energy with every seed{}.",
                energy(all)
            )]
        }
        (least, _) => {
            let mut words = listed(least.iter().map(|policy| name(*policy)));
            let take = if least.len() > 1 { "take" } else { "takes" };
            words.push(format!(" {take} the least energy of all{}.", energy(least)));
            words
        }
    }
}

/// Energy against p95, a dot for each policy; energy alone where no task has periods.
fn picture(placement: &Placement<'_>) -> Option<Picture> {
    let (unit, scale) = placement.unit();
    let energy = |policy: &Policy<'_>| Some(policy.energy_unit_s?.times(scale));
    let dot = |policy: &Policy<'_>| {
        let pooled = policy.p95(placement.task)?;
        let by_seed = policy
            .tasks
            .get(placement.task?)
            .and_then(|task| task.p95_ms_by_seed);
        let x = by_seed.map_or([pooled; 3], |seeds| {
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
    let row = |policy: &Policy<'_>| Some(IntervalRow::new(policy.name, energy(policy)?.all()));
    let rows = placement.policies.iter().filter_map(row).collect();
    Some(Picture::new(
        "Energy by policy",
        "energy",
        &unit,
        Drawing::Intervals(rows),
    ))
}

fn overview(placement: &Placement<'_>) -> Table {
    let (task, (unit, scale)) = (placement.task, placement.unit());
    let times = placement
        .policies
        .iter()
        .filter_map(|policy| policy.run_time_s)
        .flat_map(Interval::all)
        .collect_vec();
    let ends_itself = times.windows(2).any(|two| two[0] != two[1]);
    let share = |of: Option<Interval>| of.map(|of| ends(of.times(100.0), |share| fixed(share, 1)));
    let table = Table::with_rows(&placement.policies)
        .words("policy", |policy| name(policy.name))
        .when(task.is_some(), |table| {
            let of = |policy: &Policy<'_>| policy.tasks.get(task?).map(|task| whole(task.periods));
            table
                .numbers("periods", of)
                .each(PERCENTS, |table, percent| {
                    table.numbers(format!("{percent}, ms"), move |policy| {
                        policy.response(task, percent).map(figure)
                    })
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
        .when(placement.has_yardstick(), |table| {
            table.numbers("energy, % of all-big's", |policy| {
                share(policy.energy_of_all_big)
            })
        })
        .numbers(format!("{} runs, %", placement.facts.big), |policy| {
            share(policy.big)
        })
        .numbers("moves", |policy| {
            fixed(policy.tasks.values().map(|task| task.migrations).sum(), 0)
        });
    let note = task.map_or_else(Text::default, |task| {
        text![
            "p50, p95 and p99 of ",
            name(task),
            ": from the beginning of its period to the end of its work, over the periods of all seeds. Other intervals are from the \
             lowest seed to the highest; moves are those of all tasks in a run, on average."
        ]
    });
    table.done().noted(note)
}

/// The settings of the run in a sentence.
fn settings(placement: &Placement<'_>) -> Text {
    let sooner = placement
        .policies
        .iter()
        .filter_map(|policy| policy.run_time_s)
        .any(|time| time.low < placement.facts.seconds);
    text![
        name(placement.workload.as_str()),
        format!(
            " on {}, {}, RCU {}; {} seeds of {} s{}.",
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
    ]
}

/// Periodic tasks that were late for their next period, under any policy.
fn missed(placement: &Placement<'_>) -> Option<Table> {
    let mut rows = Vec::new();
    for policy in &placement.policies {
        let late = policy
            .tasks
            .0
            .iter()
            .filter(|(_, of)| of.missed_periods > 0.0);
        rows.extend(late.map(|(task, of)| (policy.name, *task, of)));
    }
    (!rows.is_empty()).then(|| {
        let share = |of: &Task<'_>| fixed(of.missed_periods / of.periods.max(1.0) * 100.0, 1);
        Table::with_rows(&rows)
            .words("late for the next period", |(_, task, _)| name(*task))
            .words("policy", |(policy, ..)| name(*policy))
            .numbers("periods", |(_, _, of)| whole(of.periods))
            .numbers("late", |(_, _, of)| whole(of.missed_periods))
            .numbers("late, %", |(_, _, of)| share(of))
            .numbers("left out", |(_, _, of)| whole(of.skipped_periods))
            .done()
            .noted("All seeds. A timer of mode relative starts anew when it is late, and leaves out the periods that are over.")
    })
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
        .words(title, |(_, task, _)| name(*task))
        .words("policy", |(policy, ..)| name(*policy))
        .numbers("ms/s", |(_, _, of)| figure(of.cpu_time_us_per_s / 1e3))
        .numbers("woken, 1/s", |(_, _, of)| figure(of.wake_ups_per_s))
        .each(&places, |table, place| {
            table.numbers(format!("{place}, %"), |(_, _, task)| {
                of(task).get(place).map(|share| fixed(share * 100.0, 0))
            })
        })
        .done();
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
    let bar = |policy: &Policy<'_>| {
        let energies = names.iter().filter_map(|owner| {
            let energy = policy.owners_unit_s.get(owner)?;
            Some((owner.to_string(), energy * scale))
        });
        Bar::new(policy.name, energies)
    };
    let bars = placement.policies.iter().map(bar).collect_vec();
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
        .words(format!("energy of, {unit}"), |owner| name(*owner))
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
    let is_known = |name: &&str| {
        placement
            .policies
            .iter()
            .any(|policy| of(policy, name).is_some())
    };
    let names = all.into_iter().filter(is_known).collect_vec();
    Table::with_rows(&names)
        .words(title, |row| name(*row))
        .each(&placement.policies, |table, policy| {
            table.numbers(policy.name, |row| of(policy, row).map(figure))
        })
        .done()
}

/// The price of speed in a sentence.
fn top_words(top: &Top<'_>) -> Text {
    text![
        "At their top points ",
        name(top.fast),
        format!(" is {:.2} times as fast as ", top.times_as_fast),
        name(top.slow),
        format!(
            ", and its core takes {:.2} times the energy for the same work ({:.2} times with the cluster).",
            top.times_the_energy, top.times_the_energy_with_cluster
        )
    ]
}

/// The table of the points.
fn work_costs(points: &[Point<'_>]) -> Table {
    let Some(top) = points
        .iter()
        .max_by(|a, b| a.capacity.total_cmp(&b.capacity))
    else {
        return Table::default();
    };
    let share = |energy: f64| fixed(100.0 * energy / top.core, 1);
    let note = format!(
        "Energy of the same work, in % of what the core alone takes for it at {}.",
        top.point
    );
    Table::with_rows(points)
        .words("operating point", |point| name(point.point))
        .numbers("capacity", |point| whole(point.capacity))
        .numbers("core", |point| share(point.core))
        .numbers("core and cluster", |point| share(point.core_and_cluster))
        .numbers("each core of a full cluster", |point| {
            share(point.full_cluster)
        })
        .done()
        .noted(note)
}

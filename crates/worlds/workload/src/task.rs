//! Tasks and their phases.

use crate::class::{Class, NO_DEADLINES, class};
use crate::event::{Thread, event, no_event};
use crate::global::Global;
use crate::values::Source;
use document::json::{Item, Key, Value};
use document::{Result, quoted};
use minikernel::{CpuSet, Phase, Policy, Start, TaskSpec};

/// Keys of a task that are not events.
pub const PROPERTIES: [&str; 12] = [
    "instance",
    "delay",
    "loop",
    "policy",
    "priority",
    "cpus",
    "util_min",
    "util_max",
    "phases",
    "taskgroup",
    "stopwatt_main",
    "stopwatt_pin",
];

/// Properties of deadline scheduling.
const DEADLINE: [&str; 5] = [
    "dl-runtime",
    "dl-period",
    "dl-deadline",
    "dl-reclaim",
    "deadline",
];

/// The reason why a property is refused, and what would be right: those of deadline scheduling, and
/// of machines with several memories.
fn refused(name: &str) -> Option<(&'static str, &'static str)> {
    match name {
        _ if DEADLINE.contains(&name) => {
            Some(("deadline scheduling is not simulated", NO_DEADLINES))
        }
        "membind_nodes" => Some(("there is one memory", "leave it out")),
        _ => None,
    }
}

/// Properties, each at most once, and what is left: the events.
struct Parts<'a> {
    properties: Vec<(&'a str, &'a Item)>,
    events: Vec<(&'static str, &'a Item)>,
}

impl<'a> Parts<'a> {
    fn get(&self, name: &str) -> Option<&'a Item> {
        self.properties
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, item)| item)
    }
}

fn parts<'a>(source: &Source, item: &'a Item, what: &str, allowed: &[&str]) -> Result<Parts<'a>> {
    let mut parts = Parts {
        properties: Vec::new(),
        events: Vec::new(),
    };
    for (key, item) in source.object(item, what)? {
        if let Some((why, help)) = refused(&key.name) {
            return source.wrong(
                key.at,
                format!("{} is refused: {why}", quoted(&key.name)),
                help,
            );
        }
        if allowed.contains(&key.name.as_str()) {
            if parts.get(&key.name).is_some() {
                return Err(source.twice(key));
            }
            parts.properties.push((&key.name, item));
        } else if PROPERTIES.contains(&key.name.as_str()) {
            return source.wrong(
                key.at,
                format!(
                    "{} is a property of a task, and not of a phase",
                    quoted(&key.name)
                ),
                "put it beside `phases`",
            );
        } else if let Some(event) = event(&key.name) {
            parts.events.push((event, item));
        } else {
            return Err(no_event(source, key, allowed));
        }
    }
    Ok(parts)
}

/// The number of instances of a task that start.
pub fn instances(source: &Source, item: &Item) -> Result<usize> {
    source
        .object(item, "a task")?
        .iter()
        .find(|(key, _)| key.name == "instance")
        .map_or(Ok(1), |(_, item)| {
            Ok(source.integer(item, "the number of instances", 0..=1_024)? as usize)
        })
}

fn loops(source: &Source, item: Option<&Item>, default: Option<u32>) -> Result<Option<u32>> {
    let Some(item) = item else { return Ok(default) };
    let loops = source.integer(item, "`loop`", -1..=i64::from(u32::MAX))?;
    Ok(u32::try_from(loops).ok())
}

fn cpus(source: &Source, item: &Item) -> Result<CpuSet> {
    let Value::Array(items) = &item.value else {
        return source.wrong(
            item.at,
            format!("`cpus` is not {}", item.value.kind()),
            "it is an array of CPUs, such as `[0, 2]`",
        );
    };
    if items.is_empty() {
        return source.wrong(
            item.at,
            "`cpus` is empty, so that the task may run nowhere",
            "name one CPU at least",
        );
    }
    let cpus = items
        .iter()
        .map(|cpu| Ok(source.integer(cpu, "a CPU", 0..=63)? as usize));
    Ok(CpuSet::from_cpus(cpus.collect::<Result<Vec<_>>>()?))
}

/// Checks what would do something that is not simulated.
fn check_clamps(source: &Source, parts: &Parts) -> Result {
    for (name, none) in [("util_min", 0), ("util_max", 1024)] {
        let Some(item) = parts.get(name) else {
            continue;
        };
        if source.integer(item, &format!("`{name}`"), 0..=1024)? != none {
            return source.wrong(
                item.at,
                format!("`{name}` clamps utilisation, which is not simulated"),
                format!("leave it out, or write {none}, which clamps nothing"),
            );
        }
    }
    Ok(())
}

/// The task group that a task or phase names, if any.
fn group(thread: &mut Thread, parts: &Parts, policy: Policy) -> Result<Option<usize>> {
    let source = thread.source;
    let Some(item) = parts
        .get("taskgroup")
        .filter(|item| item.value != Value::String(String::new()))
    else {
        return Ok(None);
    };
    let path = source.string(item, "`taskgroup`")?;
    if !path.starts_with('/') {
        return source.wrong(
            item.at,
            format!("the task group {} does not begin at the root", quoted(path)),
            format!("write {}", quoted(&format!("/{path}"))),
        );
    }
    if !matches!(policy, Policy::Fair { .. }) {
        return source.wrong(
            item.at,
            "a task group of a task that is not SCHED_OTHER",
            "leave `taskgroup` out, or empty: only SCHED_OTHER has shares",
        );
    }
    thread.objects.group(source, item.at, path).map(Some)
}

fn policy(source: &Source, parts: &Parts, default: Class) -> Result<Policy> {
    let class = parts
        .get("policy")
        .map_or(Ok(default), |item| class(source, item))?;
    let priority = parts.get("priority");
    Ok(match class {
        Class::Fair => {
            let nice = priority.map_or(Ok(0), |item| {
                source.integer(item, "the priority of SCHED_OTHER", -20..=19)
            })?;
            Policy::Fair { nice: nice as i8 }
        }
        Class::RealTime => {
            let priority = priority.map_or(Ok(10), |item| {
                source.integer(item, "the priority of SCHED_FIFO", 1..=99)
            })?;
            Policy::RealTime {
                priority: priority as u8,
            }
        }
    })
}

/// A task of the kernel, and whether it says of itself that it is what the run is about.
pub fn task(
    thread: &mut Thread,
    global: &Global,
    key: &Key,
    item: &Item,
) -> Result<(TaskSpec, Option<bool>)> {
    let source = thread.source;
    let parts = parts(source, item, "a task", &PROPERTIES)?;
    check_clamps(source, &parts)?;
    let own = parts
        .get("cpus")
        .map(|item| cpus(source, item))
        .transpose()?;
    let policy = policy(source, &parts, global.class)?;
    let own_group = group(thread, &parts, policy)?;
    let mut phases = match parts.get("phases") {
        None => {
            let phase = vec![Phase::once(actions(thread, &parts)?)];
            if parts.events.is_empty() {
                return source.wrong(
                    key.at,
                    format!("task {} does nothing", quoted(&key.name)),
                    "give it events or `phases`",
                );
            }
            phase
        }
        Some(phases) => {
            if let Some((event, item)) = parts.events.first() {
                return source.wrong(
                    item.at,
                    format!("`{event}` stands beside `phases`"),
                    "put all events into phases",
                );
            }
            self::phases(thread, phases, policy, own)?
        }
    };
    if let Some(first) = phases.first_mut() {
        first.group = first.group.or(own_group);
    }
    let pin = parts
        .get("stopwatt_pin")
        .map_or(Ok(false), |item| source.switch(item, "`stopwatt_pin`"))?;
    let delay = parts
        .get("delay")
        .map_or(Ok(0), |item| source.us(item, "`delay`"))?;
    let instances = instances(source, item)?;
    let name = match instances {
        0 | 1 => key.name.clone(),
        _ => format!("{}-{}", key.name, thread.instance),
    };
    let spec = TaskSpec {
        name,
        policy,
        cpus: if pin {
            CpuSet::one(thread.instance % thread.options.cpus.clamp(1, 64))
        } else {
            own.unwrap_or(CpuSet::ALL)
        },
        start: if instances == 0 {
            Start::ByFork
        } else {
            Start::At(delay)
        },
        loops: loops(source, parts.get("loop"), None)?,
        phases,
        main: false,
    };
    let main = parts
        .get("stopwatt_main")
        .map(|item| source.switch(item, "`stopwatt_main`"))
        .transpose()?;
    Ok((spec, main))
}

fn phases(
    thread: &mut Thread,
    item: &Item,
    policy: Policy,
    own: Option<CpuSet>,
) -> Result<Vec<Phase>> {
    const OF_A_PHASE: [&str; 7] = [
        "loop",
        "policy",
        "priority",
        "cpus",
        "util_min",
        "util_max",
        "taskgroup",
    ];
    let source = thread.source;
    let mut phases = Vec::new();
    for (_, item) in source.object(item, "`phases`")? {
        let parts = parts(source, item, "a phase", &OF_A_PHASE)?;
        check_clamps(source, &parts)?;
        if let Some(at) = parts.get("policy").or(parts.get("priority")) {
            let class = if matches!(policy, Policy::Fair { .. }) {
                Class::Fair
            } else {
                Class::RealTime
            };
            if self::policy(source, &parts, class)? != policy {
                return source.wrong(
                    at.at,
                    "a policy or priority that changes with the phase is not simulated",
                    "put it beside `phases`, or give each phase a task of its own",
                );
            }
        }
        let loops = loops(source, parts.get("loop"), Some(1))?;
        let cpus = parts
            .get("cpus")
            .map(|item| cpus(source, item))
            .transpose()?;
        let group = group(thread, &parts, policy)?;
        phases.push(Phase {
            loops,
            actions: actions(thread, &parts)?,
            cpus,
            group,
        });
    }
    if phases.iter().all(|phase| phase.actions.is_empty()) {
        return source.wrong(
            item.at,
            "there is no event in any phase",
            "give each phase events",
        );
    }
    // A phase without CPUs has those of the task, and not those of the phase before.
    if phases.iter().any(|phase| phase.cpus.is_some()) {
        for phase in &mut phases {
            phase.cpus = phase.cpus.or(own).or(Some(CpuSet::ALL));
        }
    }
    Ok(phases)
}

fn actions(thread: &mut Thread, parts: &Parts) -> Result<Vec<minikernel::Action>> {
    let mut actions = Vec::new();
    for &(event, item) in &parts.events {
        thread.actions(event, item, &mut actions)?;
    }
    Ok(actions)
}

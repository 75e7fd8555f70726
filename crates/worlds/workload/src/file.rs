//! The whole file.

use crate::event::Thread;
use crate::global::{global, settings};
use crate::names::{DeclaredTask, Objects};
use crate::options::Options;
use crate::task::{instances, task};
use crate::values::Source;
use document::json::{Item, Key, Span};
use document::{Document, Result, quoted};
use minikernel::{Start, TaskSpec, Workload};
use std::collections::BTreeMap;

/// The most tasks, instances counted, and the most events of all of them.
const MOST_TASKS: usize = 4_096;
const MOST_EVENTS: usize = 1_000_000;

/// The content of a file.
#[derive(Debug)]
pub struct File {
    /// The tasks.
    pub workload: Workload,
    /// The time that they run, in nanoseconds; `None` if the file does not say.
    pub duration_ns: Option<u64>,
    /// The capacity that `run` was calibrated for.
    pub capacity: u32,
    /// The file's settings with their values.
    pub settings: BTreeMap<String, i64>,
    /// Keys of `global` that have no effect here.
    pub no_effect: Vec<String>,
    /// Sentences about what has an effect that its author may not have meant.
    pub warnings: Vec<String>,
}

/// Declares the tasks, so that each may name those behind it.
fn declare(
    source: &Source<'_>,
    tasks: &Item,
    declared: &[(Key, Item)],
    objects: &mut Objects,
) -> Result {
    let mut count = 0;
    for (key, item) in declared {
        if key.name.is_empty() {
            return source.wrong(key.at, "a task without a name", "give it one");
        }
        let instances = instances(source, item)?;
        objects.tasks.push(DeclaredTask {
            name: key.name.clone(),
            first: count,
            instances,
        });
        count += instances.max(1);
        if count > MOST_TASKS {
            return source.wrong(
                key.at,
                format!(
                    "with {} there are more than {MOST_TASKS} tasks",
                    quoted(&key.name)
                ),
                "let there be fewer instances",
            );
        }
    }
    if count == 0 {
        return source.wrong(
            tasks.at,
            "there is no task",
            "write `\"name\": { \"run\": 1000, \"sleep\": 1000 }`",
        );
    }
    Ok(())
}

/// Refuses a barrier in a task that is forked: how many copies will arrive at it is not known.
fn none_is_forked(
    source: &Source<'_>,
    objects: &Objects,
    specs: &[TaskSpec],
    barriers: &[(usize, Span)],
) -> Result {
    if let Some(&(_, at)) = barriers
        .iter()
        .find(|&&(task, _)| objects.forked.contains(&task) || specs[task].start == Start::ByFork)
    {
        return source.wrong(
            at,
            "a barrier in a task that is forked: how many will be there is not known",
            "use a semaphore or a condition",
        );
    }
    Ok(())
}

/// The tasks with what they share.
fn workload(specs: Vec<TaskSpec>, objects: Objects) -> Workload {
    Workload {
        tasks: specs,
        devices: Vec::new(),
        mutexes: objects.mutexes.in_order(),
        conditions: objects.conditions.count(),
        semaphores: vec![0; objects.semaphores.count()],
        barriers: objects.parties,
        timers: objects.timers.count(),
        groups: objects.groups,
    }
}

/// Marks the tasks whose end ends the run: those that the file chooses, or all if all end.
fn mark_mains(specs: &mut [TaskSpec], mains: Vec<Option<bool>>) {
    let started = |spec: &TaskSpec| spec.start != Start::ByFork;
    let all_end = specs
        .iter()
        .filter(|spec| started(spec))
        .all(|spec| spec.loops.is_some());
    let chosen = mains.contains(&Some(true));
    for (spec, main) in specs.iter_mut().zip(mains) {
        spec.main = started(spec) && if chosen { main == Some(true) } else { all_end };
    }
}

/// Reads a file of rt-app.
///
/// # Errors
/// What is wrong or not simulated, with its place.
pub fn read(document: &Document, options: &Options) -> Result<File> {
    let plain = Source {
        document,
        settings: BTreeMap::new(),
    };
    let root = document.json()?;
    let [tasks, _, global_item] =
        plain.fields(&root, "the file", ["tasks", "resources", "global"])?;
    let settings = settings(&plain, global_item, options)?;
    let source = Source { settings, ..plain };
    let global = global(&source, global_item, options)?;
    let Some(tasks) = tasks else {
        return source.wrong(
            root.at,
            "there is no `tasks`",
            "write `{ \"tasks\": { \"name\": { ... } } }`",
        );
    };
    let declared = source.object(tasks, "`tasks`")?;
    let mut objects = Objects::default();
    declare(&source, tasks, declared, &mut objects)?;
    let mut specs = Vec::new();
    let mut mains = Vec::new();
    let mut barriers = Vec::new();
    let mut events = 0;
    for (number, (key, item)) in declared.iter().enumerate() {
        let copies = objects.tasks[number].instances.max(1);
        for instance in 0..copies {
            let mut thread = Thread {
                source: &source,
                options,
                capacity: global.capacity,
                objects: &mut objects,
                name: &key.name,
                instance,
                timers: Vec::new(),
                held: Vec::new(),
                barrier: None,
            };
            let (spec, main) = task(&mut thread, &global, key, item)?;
            barriers.extend(thread.barrier.map(|at| (specs.len(), at)));
            events += spec
                .phases
                .iter()
                .map(|phase| phase.actions.len())
                .sum::<usize>();
            if events > MOST_EVENTS {
                return source.wrong(
                    key.at,
                    format!("more than {MOST_EVENTS} events, all instances counted"),
                    "use `loop`, or fewer instances",
                );
            }
            specs.push(spec);
            mains.push(main);
        }
    }
    none_is_forked(&source, &objects, &specs, &barriers)?;
    mark_mains(&mut specs, mains);
    let warnings = objects.lost();
    let workload = workload(specs, objects);
    let (duration_ns, capacity) = (global.duration_ns, global.capacity);
    Ok(File {
        workload,
        duration_ns,
        capacity,
        settings: source.settings,
        no_effect: global.no_effect,
        warnings,
    })
}

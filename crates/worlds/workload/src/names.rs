//! The objects that tasks share, by name: each gets a number when it is first met.

use crate::values::Source;
use document::json::Span;
use document::{Result, one_of, quoted};
use minikernel::{GroupSpec, TaskId};
use std::collections::{BTreeMap, BTreeSet};

/// The most task groups, as in rt-app.
const MOST_GROUPS: usize = 32;
/// The most objects of a kind.
const MOST_OBJECTS: usize = 65_536;

/// Objects of a kind.
#[derive(Debug, Default)]
pub struct Names(BTreeMap<String, usize>);

impl Names {
    pub fn number(&mut self, source: &Source, at: Span, name: &str) -> Result<usize> {
        if let Some(&number) = self.0.get(name) {
            return Ok(number);
        }
        let number = self.count();
        if number == MOST_OBJECTS {
            return source.wrong(
                at,
                format!("more than {MOST_OBJECTS} objects of a kind"),
                "let tasks share some",
            );
        }
        self.0.insert(name.to_owned(), number);
        Ok(number)
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The names, by number.
    pub fn in_order(&self) -> Vec<String> {
        let mut names: Vec<_> = self.0.iter().collect();
        names.sort_unstable_by_key(|(_, number)| **number);
        names.into_iter().map(|(name, _)| name.clone()).collect()
    }
}

/// A task as the file declares it: a number of tasks of the kernel from `first` on.
pub struct DeclaredTask {
    pub(crate) name: String,
    pub(crate) first: TaskId,
    /// The number that start; 0 if it only starts as a copy.
    pub(crate) instances: usize,
}

/// All shared objects.
#[derive(Default)]
pub struct Objects {
    pub(crate) tasks: Vec<DeclaredTask>,
    pub(crate) mutexes: Names,
    pub(crate) conditions: Names,
    pub(crate) semaphores: Names,
    pub(crate) barriers: Names,
    /// Number of tasks that name each barrier.
    pub(crate) parties: Vec<usize>,
    /// Timers that are not unique: whoever names one moves it on.
    pub(crate) timers: Names,
    /// Tasks that are started as copies.
    pub(crate) forked: Vec<TaskId>,
    /// Task groups below the root, by path, and the one that each is in.
    pub(crate) groups: Vec<GroupSpec>,
    /// Conditions on which somebody is suspended or waits.
    pub(crate) awaited: BTreeSet<usize>,
    /// Conditions that are resumed: the name, and the task that does it.
    pub(crate) resumed: Vec<(usize, String, String)>,
}

impl Objects {
    /// The one task of a name.
    pub fn task(&self, source: &Source, at: Span, name: &str) -> Result<&DeclaredTask> {
        let mut found = self.tasks.iter().filter(|task| task.name == name);
        match (found.next(), found.next()) {
            (Some(task), None) => Ok(task),
            (Some(_), Some(_)) => source.wrong(
                at,
                format!("there is more than one task {}", quoted(name)),
                "give each a name of its own",
            ),
            (None, _) => {
                let mut names: Vec<&str> = self
                    .tasks
                    .iter()
                    .take(20)
                    .map(|task| task.name.as_str())
                    .collect();
                names.dedup();
                source.wrong(
                    at,
                    format!("there is no task {}", quoted(name)),
                    one_of(name, &names),
                )
            }
        }
    }

    /// The group of a path such as `/a/b`, counted from 1; the root is 0. Those that it is in come
    /// with it.
    pub fn group(&mut self, source: &Source, at: Span, path: &str) -> Result<usize> {
        let mut group = 0;
        let mut whole = String::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            whole.push('/');
            whole.push_str(part);
            let known = self.groups.iter().position(|other| other.name == whole);
            let index = known.unwrap_or(self.groups.len());
            if known.is_none() {
                if index == MOST_GROUPS {
                    return source.wrong(
                        at,
                        format!(
                            "with {} there are more than {MOST_GROUPS} task groups",
                            quoted(path)
                        ),
                        "let tasks share groups, as rt-app has it",
                    );
                }
                self.groups.push(GroupSpec {
                    name: whole.clone(),
                    parent: group,
                });
            }
            group = index + 1;
        }
        Ok(group)
    }

    /// Sentences about resumes that nobody waits for.
    pub fn lost(&self) -> Vec<String> {
        let lost = self
            .resumed
            .iter()
            .filter(|(number, ..)| !self.awaited.contains(number));
        let mut sentences = Vec::new();
        for (_, name, task) in lost {
            let sentence = format!(
                "Task {task} resumes {name}, on which no task is ever suspended: as in rt-app, the signal is lost."
            );
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        sentences
    }

    /// A barrier that a thread names.
    pub fn barrier(&mut self, source: &Source, at: Span, name: &str) -> Result<usize> {
        let number = self.barriers.number(source, at, name)?;
        if self.parties.len() <= number {
            self.parties.push(0);
        }
        self.parties[number] += 1;
        Ok(number)
    }
}

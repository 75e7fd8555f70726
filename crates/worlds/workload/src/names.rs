//! The objects that tasks share, by name: each gets a number when it is first met.

use crate::values::Source;
use document::json::Span;
use document::{Error, one_of, quoted};
use minikernel::TaskId;
use std::collections::BTreeMap;

/// Objects of a kind.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeMap<String, u16>);

impl Names {
    pub(crate) fn number(&mut self, source: &Source, at: Span, name: &str) -> Result<u16, Error> {
        if let Some(&number) = self.0.get(name) {
            return Ok(number);
        }
        let number = u16::try_from(self.0.len())
            .map_err(|_| source.error(at, "more than 65536 objects of a kind", "let tasks share some"))?;
        self.0.insert(name.to_owned(), number);
        Ok(number)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

/// A task as the file declares it: a number of tasks of the kernel from `first` on.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) first: TaskId,
    /// The number that start; 0 if it only starts as a copy.
    pub(crate) instances: usize,
}

/// All shared objects.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    pub(crate) tasks: Vec<Declared>,
    pub(crate) mutexes: Names,
    pub(crate) conditions: Names,
    pub(crate) semaphores: Names,
    pub(crate) barriers: Names,
    /// By barrier: how many name it.
    pub(crate) parties: Vec<usize>,
    /// Timers that are not unique, with the thread that uses each.
    pub(crate) timers: BTreeMap<String, TaskId>,
    /// Tasks that are started as copies.
    pub(crate) forked: Vec<TaskId>,
}

impl Objects {
    /// The one task of a name.
    pub(crate) fn task(&self, source: &Source, at: Span, name: &str) -> Result<&Declared, Error> {
        let mut found = self.tasks.iter().filter(|task| task.name == name);
        match (found.next(), found.next()) {
            (Some(task), None) => Ok(task),
            (Some(_), Some(_)) => {
                let what = format!("there is more than one task {}", quoted(name));
                Err(source.error(at, what, "give each a name of its own"))
            }
            (None, _) => {
                let mut names: Vec<&str> = self.tasks.iter().take(20).map(|task| task.name.as_str()).collect();
                names.dedup();
                Err(source.error(at, format!("there is no task {}", quoted(name)), one_of(name, &names)))
            }
        }
    }

    /// A barrier that a thread names.
    pub(crate) fn barrier(&mut self, source: &Source, at: Span, name: &str) -> Result<u16, Error> {
        let number = self.barriers.number(source, at, name)?;
        if self.parties.len() <= usize::from(number) {
            self.parties.push(0);
        }
        self.parties[usize::from(number)] += 1;
        Ok(number)
    }
}

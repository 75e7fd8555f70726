//! The request to an experiment.

use crate::files::Files;
use crate::kept::Kept;
use crate::settings::Settings;
use crate::world::World;
use itertools::Itertools;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A request to run an experiment.
pub struct Request<'a> {
    /// World in which it is to run.
    pub world: World,
    /// The settings.
    pub settings: Settings,
    /// Platform files: `juno-r1.toml`, `juno-r1/releases/…`. Published figures are not among them.
    pub platforms: &'a dyn Files,
    /// Under what conditions published runs ran.
    pub conditions: Conditions,
    /// A checkout of Stopwatt, where there is one.
    pub source_tree: Option<&'a Path>,
    /// Values that earlier runs made of the same files, where there may be such runs.
    pub kept: Option<&'a Kept>,
}

/// Under what conditions published runs ran: the order of CPUs, the cells of a study. Never what
/// they measured. A clone shares them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions(Arc<BTreeMap<String, Vec<String>>>);

impl Conditions {
    /// Adds the values of a condition. `of` says what it is the condition of: a platform, a
    /// release, a case.
    pub fn add(&mut self, condition: &str, of: &[&str], values: impl IntoIterator<Item = String>) {
        Arc::make_mut(&mut self.0).insert(key(condition, of), values.into_iter().collect());
    }

    /// The values of a condition; empty where it is not known.
    pub fn get(&self, condition: &str, of: &[&str]) -> &[String] {
        self.0.get(&key(condition, of)).map_or(&[], Vec::as_slice)
    }
}

fn key(condition: &str, of: &[&str]) -> String {
    std::iter::once(condition)
        .chain(of.iter().copied())
        .join("\n")
}

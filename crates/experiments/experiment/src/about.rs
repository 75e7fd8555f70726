//! An experiment's description of itself.

use crate::setting::{Kind, Setting};
use crate::world::World;
use itertools::Itertools;
use std::fmt;

/// The description of an experiment and of its settings.
pub struct About {
    /// Name of the experiment on the command line and in recordings, in lower case with hyphens.
    pub name: &'static str,
    /// A description in a line without a full stop.
    pub summary: &'static str,
    /// More, for its help; may be empty. Lines are broken where they are shown.
    pub details: &'static str,
    /// The worlds that it runs in, each with the code that runs there, in a line; the first is the
    /// default.
    pub worlds: &'static [(World, &'static str)],
    /// The settings, in the order of the help.
    pub settings: &'static [&'static dyn Setting],
    /// Names of its cases, for `stopwatt list`; may be empty.
    pub cases: &'static [&'static str],
    /// Command lines that are worth showing, at least one: the arguments behind `stopwatt run NAME`
    /// and the purpose; either may be empty.
    pub examples: &'static [(&'static str, &'static str)],
    /// The values that a sweep over its settings starts from, where those are not the defaults:
    /// settings with their values, as they would be given.
    pub sweep_defaults: &'static [(&'static dyn Setting, &'static str)],
}

impl About {
    /// A description that says nothing yet, for the parts that an experiment has no use for.
    pub const BARE: Self = Self {
        name: "",
        summary: "",
        details: "",
        worlds: &[],
        settings: &[],
        cases: &[],
        examples: &[],
        sweep_defaults: &[],
    };

    /// The world of a name, if it runs there.
    pub fn world(&self, name: &str) -> Option<World> {
        let mut worlds = self.worlds.iter().map(|(world, _)| *world);
        worlds.find(|world| world.name() == name)
    }

    /// The advice to somebody who named another world.
    pub fn known_worlds(&self) -> String {
        let mut names = self.worlds.iter().map(|(world, _)| world.name());
        format!("its worlds are: {}", names.join(", "))
    }

    /// A setting by its name.
    pub fn setting(&self, name: &str) -> Option<&'static dyn Setting> {
        self.settings
            .iter()
            .copied()
            .find(|setting| setting.name() == name)
    }

    /// The setting that takes keys of the platform's files, if there is one.
    pub fn keys(&self) -> Option<&'static dyn Setting> {
        self.settings
            .iter()
            .copied()
            .find(|setting| matches!(setting.kind(), Kind::Keys))
    }

    /// A key with its value as a setting with its own: what is no setting is a key of the
    /// platform's files, where the experiment takes some.
    pub fn given(&self, key: &str, value: &str) -> (String, String) {
        match (self.setting(key), self.keys()) {
            (None, Some(keys)) => (keys.name().to_owned(), format!("{key}={value}")),
            _ => (key.to_owned(), value.to_owned()),
        }
    }
}

impl fmt::Debug for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("About").field(&self.name).finish()
    }
}

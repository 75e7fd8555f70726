//! An experiment's description of itself.

use crate::setting::{Kind, Setting};
use crate::world::World;
use std::fmt;

/// The description of an experiment and of its settings.
pub struct About {
    /// Name of the experiment on the command line and in recordings, in lower case with hyphens.
    pub name: &'static str,
    /// A description in a line without a full stop.
    pub summary: &'static str,
    /// More, for its help; may be empty. Lines are broken where they are shown.
    pub details: &'static str,
    /// The worlds that it runs in; the first is the default.
    pub worlds: &'static [WorldAbout],
    /// The settings, in the order of the help.
    pub settings: &'static [&'static dyn Setting],
    /// Names of its cases, for `stopwatt list`; may be empty.
    pub cases: &'static [&'static str],
    /// Command lines that are worth showing, at least one.
    pub examples: &'static [Example],
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

    /// The experiment's words about a world; `None` if it does not run there.
    pub fn world(&self, world: World) -> Option<&WorldAbout> {
        self.worlds.iter().find(|about| about.world == world)
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

/// The words of an experiment about a world that it runs in.
pub struct WorldAbout {
    /// The world.
    pub world: World,
    /// The code that runs there, in a line.
    pub about: &'static str,
}

/// A command line that is worth showing.
pub struct Example {
    /// The arguments behind `stopwatt run NAME`; may be empty.
    pub arguments: &'static str,
    /// The purpose; may be empty.
    pub about: &'static str,
}

impl fmt::Debug for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("About").field(&self.name).finish()
    }
}

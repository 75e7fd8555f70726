//! An experiment's description of itself.

use crate::sweep::Shipped;

/// What an experiment is and what it can be told.
#[derive(Debug)]
pub struct About {
    /// Its name on the command line and in recordings, in lower case with hyphens.
    pub name: &'static str,
    /// What it is, in a line without a full stop.
    pub summary: &'static str,
    /// More, for its help; may be empty. Lines are broken where they are shown.
    pub details: &'static str,
    /// The worlds that it runs in; the first is the default.
    pub worlds: &'static [WorldAbout],
    /// What it can be told, in the order of its help.
    pub settings: &'static [Setting],
    /// Names of its cases, for `stopwatt list`; may be empty.
    pub cases: &'static [&'static str],
    /// Command lines that are worth showing, at least one.
    pub examples: &'static [Example],
    /// What a sweep over its settings starts from, where that is not the defaults: names of settings with their values.
    pub sweep_defaults: &'static [(&'static str, &'static str)],
    /// Sweeps that come with it.
    pub shipped_sweeps: &'static [Shipped],
}

impl About {
    /// What it says about a world; `None` if it does not run there.
    pub fn world(&self, world: World) -> Option<&WorldAbout> {
        self.worlds.iter().find(|about| about.world == world)
    }

    /// A setting by its name.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }
}

/// The kinds of worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// Simulated hardware.
    Sim,
    /// This machine.
    Host,
    /// Real firmware on an emulated machine.
    Qemu,
    /// The explorer's machine, in which interleavings and memory orders are choices.
    Explore,
}

impl World {
    /// The world's name on the command line and in recordings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Host => "host",
            Self::Qemu => "qemu",
            Self::Explore => "explore",
        }
    }
}

/// What an experiment says about a world that it runs in.
#[derive(Debug)]
pub struct WorldAbout {
    /// The world.
    pub world: World,
    /// What runs where, in a line.
    pub about: &'static str,
    /// What must be there.
    pub needs: &'static [Need],
}

/// What must be there for an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// QEMU for Arm.
    Qemu,
    /// The source tree of Stopwatt, from which the firmware is built, and Rust.
    SourceTree,
}

impl Need {
    /// What it is, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Qemu => "qemu-system-aarch64",
            Self::SourceTree => "a checkout of Stopwatt, from which the firmware is built, and Rust",
        }
    }
}

/// Something that an experiment can be told.
#[derive(Debug)]
pub struct Setting {
    /// Its name, in lower case with hyphens; `--name` on the command line.
    pub name: &'static str,
    /// What it is, as help shows it: a sentence or more.
    pub about: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What its number counts, such as `ms`; empty where it is clear or not a number.
    pub unit: &'static str,
    /// Its value where it is not given; `None` where not being given means something of its own.
    pub default: Option<&'static str>,
    /// The worlds in which it means something; empty for all.
    pub worlds: &'static [World],
    /// Whether it stands on the command line without `--name`, as the file does that an experiment is about.
    pub positional: bool,
}

impl Setting {
    /// A setting for all worlds, without unit and default.
    pub const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, about, kind, unit: "", default: None, worlds: &[], positional: false }
    }

    /// Without `--name` on the command line.
    pub const fn positional(mut self) -> Self {
        self.positional = true;
        self
    }

    /// With a default.
    pub const fn or(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// With a unit.
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// For these worlds alone.
    pub const fn only(mut self, worlds: &'static [World]) -> Self {
        self.worlds = worlds;
        self
    }

    /// Whether it means something in a world.
    pub fn is_for(&self, world: World) -> bool {
        self.worlds.is_empty() || self.worlds.contains(&world)
    }
}

/// What a setting takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number in a range, both ends included.
    Number {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// Nothing: it is given or not.
    Switch,
    /// One of some words, each with what it means.
    Choice(&'static [(&'static str, &'static str)]),
    /// A word that a function checks; its error says what would be right. The second is what help calls it.
    Checked(fn(&str) -> Result<(), String>, &'static str),
    /// The name of a platform, or the path of a platform file.
    Platform,
    /// Releases of the platform, each by its name; may be given again.
    Releases,
    /// `KEY=VALUE` for a key of the platform's files; may be given again.
    Keys,
    /// A file to write.
    OutputFile,
    /// A file to read.
    InputFile,
    /// A folder.
    Folder,
}

impl Kind {
    /// Whether it may be given more than once.
    pub const fn is_list(&self) -> bool {
        matches!(self, Self::Releases | Self::Keys)
    }

    /// What help puts in the place of the value.
    pub const fn value_name(&self) -> &'static str {
        match self {
            Self::Number { .. } => "N",
            Self::Switch => "",
            Self::Choice(_) => "WHICH",
            Self::Checked(_, name) => name,
            Self::Platform => "NAME|FILE",
            Self::Releases => "NAME",
            Self::Keys => "KEY=VALUE",
            Self::OutputFile | Self::InputFile => "FILE",
            Self::Folder => "DIR",
        }
    }
}

/// A command line that is worth showing.
#[derive(Debug)]
pub struct Example {
    /// What stands behind `stopwatt run NAME`; may be empty.
    pub arguments: &'static str,
    /// What it is for; may be empty.
    pub about: &'static str,
}

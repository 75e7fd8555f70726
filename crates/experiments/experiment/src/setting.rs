//! Settings: what an experiment can be told, declared once as constants with types.
//!
//! A constant says name, range and meaning of a setting; command line, help, the Python package and
//! the documents come from it. An experiment lists its constants in its [`About`](crate::About),
//! and asks with them for values of the right type:
//!
//! ```
//! use experiment::setting::{Number, Or, Switch};
//!
//! const ITERATIONS: Or<Number<u32>> = Number::new("iterations", 1..=1000, "Repetitions.").or(3);
//! const HOT: Switch = Switch::new("hot", "Hand out the buffer that was freed last.");
//! ```

use crate::world::World;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

/// Something that an experiment can be told, whatever the type of its value.
pub trait Setting: Sync {
    /// Name, meaning and worlds.
    fn described(&self) -> &SettingDescription;

    /// The kind of value that it takes.
    fn kind(&self) -> Kind;

    /// Value where it is not given, as it would be given; `None` where not being given means
    /// something of its own.
    fn default(&self) -> Option<String>;

    /// Checks a value as it is given.
    ///
    /// # Errors
    /// A sentence about what would be right.
    fn check(&self, text: &str) -> Result<(), String>;

    /// Name of the setting, in lower case with hyphens; `--name` on the command line.
    fn name(&self) -> &'static str {
        self.described().name
    }

    /// Returns true if it means something in a world.
    fn is_for(&self, world: World) -> bool {
        let worlds = self.described().worlds;
        worlds.is_empty() || worlds.contains(&world)
    }
}

/// The description of a setting, whatever its kind.
#[derive(Clone, Copy)]
pub struct SettingDescription {
    /// Name of the setting, in lower case with hyphens; `--name` on the command line.
    pub name: &'static str,
    /// Meaning of the setting, as help shows it: a sentence or more.
    pub about: &'static str,
    /// The unit of its number, such as `ms`; empty where it is clear or not a number.
    pub unit: &'static str,
    /// The worlds in which it means something; empty for all.
    pub worlds: &'static [World],
    /// True if it stands on the command line without `--name`, as the file does that an experiment
    /// is about.
    pub positional: bool,
}

/// The kind of value that a setting takes, for help and for checks by others.
#[derive(Clone)]
pub enum Kind {
    /// A whole number.
    Number,
    /// Nothing: it is given or not.
    Switch,
    /// One of some words, each with what it means.
    Choice(Vec<(&'static str, &'static str)>),
    /// A word that is checked; the name that help has for it.
    Checked(&'static str),
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
    /// Returns true if it may be given more than once.
    pub fn is_list(&self) -> bool {
        matches!(self, Self::Releases | Self::Keys)
    }

    /// The kind's name, for machines.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Switch => "switch",
            Self::Choice(_) => "choice",
            Self::Checked(_) => "text",
            Self::Platform => "platform",
            Self::Releases => "releases",
            Self::Keys => "keys",
            Self::OutputFile | Self::InputFile | Self::Folder => "path",
        }
    }

    /// The word that help puts in the place of the value.
    pub fn value_name(&self) -> &'static str {
        match self {
            Self::Number => "N",
            Self::Switch => "",
            Self::Choice(_) => "WHICH",
            Self::Checked(name) => name,
            Self::Platform => "NAME|FILE",
            Self::Releases => "NAME",
            Self::Keys => "KEY=VALUE",
            Self::OutputFile | Self::InputFile => "FILE",
            Self::Folder => "DIR",
        }
    }
}

/// A setting that takes values of a kind.
#[derive(Clone, Copy)]
pub struct DeclaredSetting<K> {
    described: SettingDescription,
    takes: K,
}

impl<K: Copy> DeclaredSetting<K> {
    const fn of_kind(name: &'static str, takes: K, about: &'static str) -> Self {
        Self {
            described: SettingDescription {
                name,
                about,
                unit: "",
                worlds: &[],
                positional: false,
            },
            takes,
        }
    }

    /// With a unit.
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.described.unit = unit;
        self
    }

    /// For these worlds alone.
    pub const fn only(mut self, worlds: &'static [World]) -> Self {
        self.described.worlds = worlds;
        self
    }

    /// Without `--name` on the command line.
    pub const fn positional(mut self) -> Self {
        self.described.positional = true;
        self
    }
}

impl<K: One> DeclaredSetting<K> {
    /// With a default.
    pub const fn or(self, usual: K::Usual) -> DeclaredSetting<WithDefault<K>> {
        DeclaredSetting {
            described: self.described,
            takes: WithDefault {
                one: self.takes,
                usual,
            },
        }
    }
}

impl<K: Takes> DeclaredSetting<K> {
    /// The value, from what was given for it and checked; the last counts, where one counts.
    pub(crate) fn value(&self, given: &[String]) -> K::Value {
        self.takes.value(given)
    }
}

impl<K: Takes> Setting for DeclaredSetting<K> {
    fn described(&self) -> &SettingDescription {
        &self.described
    }

    fn kind(&self) -> Kind {
        self.takes.kind()
    }

    fn default(&self) -> Option<String> {
        self.takes.default()
    }

    fn check(&self, text: &str) -> Result<(), String> {
        self.takes.check(text)
    }
}

/// A kind of setting: how what is given becomes a value.
pub trait Takes: Copy + Sync + 'static {
    /// The type of the value.
    type Value;

    /// The kind, without the type.
    fn kind(&self) -> Kind;

    /// Checks a value as it is given.
    ///
    /// # Errors
    /// A sentence about what would be right.
    fn check(&self, text: &str) -> Result<(), String>;

    /// The value, from what was given and checked.
    fn value(&self, given: &[String]) -> Self::Value;

    /// The default as it would be given, if there is one.
    fn default(&self) -> Option<String> {
        None
    }
}

/// A kind of setting with one value, which is not there unless it is given.
pub trait One: Copy + Sync + 'static {
    /// The type of its value.
    type Item;
    /// A default, as a constant holds it.
    type Usual: Copy + Sync;

    /// The kind, without the type.
    fn kind(&self) -> Kind;

    /// Reads a value as it is given.
    ///
    /// # Errors
    /// A sentence about what would be right.
    fn parse(&self, text: &str) -> Result<Self::Item, String>;

    /// A default as it would be given.
    fn shown(&self, usual: Self::Usual) -> String;
}

impl<K: One> Takes for K {
    type Value = Option<K::Item>;

    fn kind(&self) -> Kind {
        One::kind(self)
    }

    fn check(&self, text: &str) -> Result<(), String> {
        self.parse(text).map(drop)
    }

    fn value(&self, given: &[String]) -> Self::Value {
        given.last().and_then(|text| self.parse(text).ok())
    }
}

/// A kind of setting with a default.
#[derive(Clone, Copy)]
pub struct WithDefault<K: One> {
    one: K,
    usual: K::Usual,
}

impl<K: One> Takes for WithDefault<K> {
    type Value = K::Item;

    fn kind(&self) -> Kind {
        One::kind(&self.one)
    }

    fn check(&self, text: &str) -> Result<(), String> {
        self.one.check(text)
    }

    fn value(&self, given: &[String]) -> Self::Value {
        let usual = || self.one.parse(&self.one.shown(self.usual)).ok();
        self.one
            .value(given)
            .or_else(usual)
            .expect("a default is a value that may be given")
    }

    fn default(&self) -> Option<String> {
        Some(self.one.shown(self.usual))
    }
}

/// A setting of one value, for [`Or`].
pub trait Single {
    /// Kind of the setting.
    type Kind: One;
}

impl<K: One> Single for DeclaredSetting<K> {
    type Kind = K;
}

/// A setting with a default: `Or<Number<u32>>`.
pub type Or<S> = DeclaredSetting<WithDefault<<S as Single>::Kind>>;

/// A whole number in a range.
pub type Number<N = u64> = DeclaredSetting<Whole<N>>;

/// Takes a whole number in a range, both ends included.
#[derive(Clone, Copy)]
pub struct Whole<N> {
    least: N,
    most: N,
}

impl<N: Copy> DeclaredSetting<Whole<N>> {
    /// A number in a range, both ends included.
    pub const fn new(name: &'static str, range: RangeInclusive<N>, about: &'static str) -> Self {
        Self::of_kind(
            name,
            Whole {
                least: *range.start(),
                most: *range.end(),
            },
            about,
        )
    }
}

impl<N: Copy + PartialOrd + Display + FromStr + Sync + 'static> One for Whole<N> {
    type Item = N;
    type Usual = N;

    fn kind(&self) -> Kind {
        Kind::Number
    }

    fn parse(&self, text: &str) -> Result<N, String> {
        text.parse()
            .ok()
            .filter(|number| (self.least..=self.most).contains(number))
            .ok_or_else(|| format!("a whole number from {} to {}", self.least, self.most))
    }

    fn shown(&self, usual: N) -> String {
        usual.to_string()
    }
}

/// Something that is on if it is given.
pub type Switch = DeclaredSetting<OnOrOff>;

/// Takes nothing.
#[derive(Clone, Copy)]
pub struct OnOrOff;

impl DeclaredSetting<OnOrOff> {
    /// A switch, which is off by default.
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self::of_kind(name, OnOrOff, about)
    }
}

impl Takes for OnOrOff {
    type Value = bool;

    fn kind(&self) -> Kind {
        Kind::Switch
    }

    fn check(&self, text: &str) -> Result<(), String> {
        match text {
            "true" | "false" => Ok(()),
            _ => Err("true or false".to_owned()),
        }
    }

    fn value(&self, given: &[String]) -> bool {
        given.last().is_some_and(|text| text == "true")
    }
}

/// One of some words, each of which stands for a value.
pub type Choice<T> = DeclaredSetting<OneOf<T>>;

/// Takes one of some words, with the value that each stands for and what it means.
#[derive(Clone, Copy)]
pub struct OneOf<T: 'static>(&'static [(&'static str, T, &'static str)]);

impl<T: Copy> DeclaredSetting<OneOf<T>> {
    /// A choice among words, each with its value and what it means.
    pub const fn new(
        name: &'static str,
        choices: &'static [(&'static str, T, &'static str)],
        about: &'static str,
    ) -> Self {
        Self::of_kind(name, OneOf(choices), about)
    }
}

impl<T: Copy + PartialEq + Sync + 'static> One for OneOf<T> {
    type Item = T;
    type Usual = T;

    fn kind(&self) -> Kind {
        Kind::Choice(
            self.0
                .iter()
                .map(|(word, _, about)| (*word, *about))
                .collect(),
        )
    }

    fn parse(&self, text: &str) -> Result<T, String> {
        self.0
            .iter()
            .find(|(word, _, _)| *word == text)
            .map(|(_, value, _)| *value)
            .ok_or_else(|| {
                let known: Vec<_> = self.0.iter().map(|(word, _, _)| *word).collect();
                format!("one of {}", known.join(", "))
            })
    }

    fn shown(&self, usual: T) -> String {
        self.0
            .iter()
            .find(|(_, value, _)| *value == usual)
            .map_or("", |(word, _, _)| word)
            .to_owned()
    }
}

/// A word that a function reads.
pub type CheckedSetting<T> = DeclaredSetting<Read<T>>;

/// Takes a word that a function reads.
pub struct Read<T> {
    value_name: &'static str,
    parse: fn(&str) -> Result<T, String>,
}

impl<T> Clone for Read<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Read<T> {}

impl<T> DeclaredSetting<Read<T>> {
    /// A word that goes by `value_name` in help, and that `parse` reads; its error says what would
    /// be right.
    pub const fn new(
        name: &'static str,
        value_name: &'static str,
        parse: fn(&str) -> Result<T, String>,
        about: &'static str,
    ) -> Self {
        Self::of_kind(name, Read { value_name, parse }, about)
    }
}

impl<T: 'static> One for Read<T> {
    type Item = T;
    type Usual = &'static str;

    fn kind(&self) -> Kind {
        Kind::Checked(self.value_name)
    }

    fn parse(&self, text: &str) -> Result<T, String> {
        (self.parse)(text)
    }

    fn shown(&self, usual: &'static str) -> String {
        usual.to_owned()
    }
}

fn named(text: &str) -> Result<(), String> {
    if text.is_empty() {
        Err("a name".to_owned())
    } else {
        Ok(())
    }
}

/// Kinds of settings that are all alike, and need no more than a name.
macro_rules! plain {
    ($($(#[$about:meta])* $name:ident = $takes:ident,)+) => {
        $($(#[$about])*
        pub type $name = DeclaredSetting<$takes>;

        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $takes;

        impl DeclaredSetting<$takes> {
            /// A setting of this kind.
            pub const fn new(name: &'static str, about: &'static str) -> Self {
                Self::of_kind(name, $takes, about)
            }
        })+
    };
}

plain! {
    /// The name of a platform, or the path of a platform file.
    Platform = PlatformName,
    /// Releases of the platform, each by its name; may be given again.
    Releases = ReleaseNames,
    /// `KEY=VALUE` for keys of the platform's files; may be given again.
    Keys = KeyValues,
    /// A file to read.
    InputFile = InputPath,
    /// A file to write.
    OutputFile = OutputPath,
    /// A folder.
    Folder = FolderPath,
}

impl Takes for ReleaseNames {
    type Value = Vec<String>;

    fn kind(&self) -> Kind {
        Kind::Releases
    }

    fn check(&self, text: &str) -> Result<(), String> {
        named(text)
    }

    fn value(&self, given: &[String]) -> Vec<String> {
        given.to_vec()
    }
}

impl Takes for KeyValues {
    type Value = Vec<(String, String)>;

    fn kind(&self) -> Kind {
        Kind::Keys
    }

    fn check(&self, text: &str) -> Result<(), String> {
        match text.split_once('=') {
            Some((key, _)) if !key.trim().is_empty() => Ok(()),
            _ => Err("KEY=VALUE, such as scp.channels=2".to_owned()),
        }
    }

    fn value(&self, given: &[String]) -> Self::Value {
        given
            .iter()
            .filter_map(|text| text.split_once('='))
            .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
            .collect()
    }
}

/// Kinds of settings that are a name or a path.
macro_rules! of_name {
    ($($takes:ident: $kind:ident of $item:ident,)+) => {
        $(impl One for $takes {
            type Item = $item;
            type Usual = &'static str;

            fn kind(&self) -> Kind {
                Kind::$kind
            }

            fn parse(&self, text: &str) -> Result<$item, String> {
                named(text).map(|()| text.into())
            }

            fn shown(&self, usual: &'static str) -> String {
                usual.to_owned()
            }
        })+
    };
}

of_name! {
    PlatformName: Platform of String,
    InputPath: InputFile of PathBuf,
    OutputPath: OutputFile of PathBuf,
    FolderPath: Folder of PathBuf,
}

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
use std::fmt::{Debug, Display};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

/// Something that an experiment can be told, whatever the type of its value.
pub trait Setting: Sync {
    /// Name, meaning and worlds.
    fn described(&self) -> &Described;

    /// The kind of value that it takes.
    fn kind(&self) -> Kind;

    /// Its value where it is not given, as it would be given; `None` where not being given means
    /// something of its own.
    fn default(&self) -> Option<String> {
        None
    }

    /// Checks a value as it is given.
    ///
    /// # Errors
    /// The advice: what would be right.
    fn check(&self, text: &str) -> Result<(), String>;

    /// Its name, in lower case with hyphens; `--name` on the command line.
    fn name(&self) -> &'static str {
        self.described().name
    }

    /// Returns true if it means something in a world.
    fn is_for(&self, world: World) -> bool {
        let worlds = self.described().worlds;
        worlds.is_empty() || worlds.contains(&world)
    }
}

/// The description that all settings have.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// Its name, in lower case with hyphens; `--name` on the command line.
    pub name: &'static str,
    /// Its meaning, as help shows it: a sentence or more.
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
#[derive(Clone, Debug)]
pub enum Kind {
    /// A whole number.
    Number,
    /// Nothing: it is given or not.
    Switch,
    /// One of some words, each with what it means.
    Choice(Vec<(&'static str, &'static str)>),
    /// A word that is checked; what help calls it.
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

/// A setting whose value has a type.
pub trait Typed: Setting {
    /// The type.
    type Value;

    /// The value, from what was given for it and checked; the last counts, where one counts.
    fn value(&self, given: &[String]) -> Self::Value;
}

/// A setting that has one value, which is not there unless it is given.
pub trait Single: Setting {
    /// The type of its value.
    type Item;
    /// A default of it, as a constant holds it.
    type Usual: Copy + Sync;

    /// Reads a value as it is given.
    ///
    /// # Errors
    /// The advice: what would be right.
    fn parse(&self, text: &str) -> Result<Self::Item, String>;

    /// The value of a default.
    fn usual(&self, usual: Self::Usual) -> Self::Item;

    /// A default as it would be given.
    fn shown(&self, usual: Self::Usual) -> String;
}

impl<S: Single> Typed for S {
    type Value = Option<S::Item>;

    fn value(&self, given: &[String]) -> Self::Value {
        given.last().and_then(|text| self.parse(text).ok())
    }
}

/// A setting with a default.
#[derive(Clone, Copy, Debug)]
pub struct Or<S: Single> {
    setting: S,
    usual: S::Usual,
}

impl<S: Single> Setting for Or<S> {
    fn described(&self) -> &Described {
        self.setting.described()
    }

    fn kind(&self) -> Kind {
        self.setting.kind()
    }

    fn default(&self) -> Option<String> {
        Some(self.setting.shown(self.usual))
    }

    fn check(&self, text: &str) -> Result<(), String> {
        self.setting.check(text)
    }
}

impl<S: Single> Typed for Or<S> {
    type Value = S::Item;

    fn value(&self, given: &[String]) -> Self::Value {
        self.setting.value(given).unwrap_or_else(|| self.setting.usual(self.usual))
    }
}

/// The methods that every kind of setting has beside its name.
macro_rules! described {
    ($($kind:ident $(<$type:ident: $($bound:path),+>)?),+ $(,)?) => {
        $(impl$(<$type: Copy + $($bound +)+ 'static>)? $kind$(<$type>)? {
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
        })+
    };
}

described!(Switch, Platform, Releases, Keys, InputFile, OutputFile, Folder);
described!(Number<N: Sync>, Choice<T: Sync>);

impl<T: 'static> Checked<T> {
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
}

const fn described(name: &'static str, about: &'static str) -> Described {
    Described { name, about, unit: "", worlds: &[], positional: false }
}

/// A whole number in a range.
#[derive(Clone, Copy, Debug)]
pub struct Number<N = u64> {
    described: Described,
    least: N,
    most: N,
}

impl<N: Copy + PartialOrd + Display + FromStr + Sync + 'static> Number<N> {
    /// A number in a range, both ends included.
    pub const fn new(name: &'static str, range: RangeInclusive<N>, about: &'static str) -> Self {
        Self { described: described(name, about), least: *range.start(), most: *range.end() }
    }

    /// With a default.
    pub const fn or(self, usual: N) -> Or<Self> {
        Or { setting: self, usual }
    }
}

impl<N: Copy + PartialOrd + Display + FromStr + Sync + 'static> Setting for Number<N> {
    fn described(&self) -> &Described {
        &self.described
    }

    fn kind(&self) -> Kind {
        Kind::Number
    }

    fn check(&self, text: &str) -> Result<(), String> {
        self.parse(text).map(drop)
    }
}

impl<N: Copy + PartialOrd + Display + FromStr + Sync + 'static> Single for Number<N> {
    type Item = N;
    type Usual = N;

    fn parse(&self, text: &str) -> Result<N, String> {
        let number = text.parse().ok().filter(|number| (self.least..=self.most).contains(number));
        number.ok_or_else(|| format!("a whole number from {} to {}", self.least, self.most))
    }

    fn usual(&self, usual: N) -> N {
        usual
    }

    fn shown(&self, usual: N) -> String {
        usual.to_string()
    }
}

/// Something that is on if it is given.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    described: Described,
}

impl Switch {
    /// A switch, which is off by default.
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self { described: described(name, about) }
    }
}

impl Setting for Switch {
    fn described(&self) -> &Described {
        &self.described
    }

    fn kind(&self) -> Kind {
        Kind::Switch
    }

    fn check(&self, text: &str) -> Result<(), String> {
        match text {
            "true" | "false" => Ok(()),
            _ => Err("true or false".to_owned()),
        }
    }
}

impl Typed for Switch {
    type Value = bool;

    fn value(&self, given: &[String]) -> bool {
        given.last().is_some_and(|text| text == "true")
    }
}

/// One of some words, each of which stands for a value.
#[derive(Clone, Copy, Debug)]
pub struct Choice<T: 'static> {
    described: Described,
    choices: &'static [(&'static str, T, &'static str)],
}

impl<T: Copy + PartialEq + Sync + 'static> Choice<T> {
    /// A choice among words, each with its value and what it means.
    pub const fn new(
        name: &'static str,
        choices: &'static [(&'static str, T, &'static str)],
        about: &'static str,
    ) -> Self {
        Self { described: described(name, about), choices }
    }

    /// With a default, which is one of the values.
    pub const fn or(self, usual: T) -> Or<Self> {
        Or { setting: self, usual }
    }

    /// The word that stands for a value.
    pub fn word(&self, value: T) -> &'static str {
        self.choices.iter().find(|(_, known, _)| *known == value).map_or("", |(word, _, _)| word)
    }
}

impl<T: Copy + PartialEq + Sync + 'static> Setting for Choice<T> {
    fn described(&self) -> &Described {
        &self.described
    }

    fn kind(&self) -> Kind {
        Kind::Choice(self.choices.iter().map(|(word, _, about)| (*word, *about)).collect())
    }

    fn check(&self, text: &str) -> Result<(), String> {
        self.parse(text).map(drop)
    }
}

impl<T: Copy + PartialEq + Sync + 'static> Single for Choice<T> {
    type Item = T;
    type Usual = T;

    fn parse(&self, text: &str) -> Result<T, String> {
        let found = self.choices.iter().find(|(word, _, _)| *word == text);
        found.map(|(_, value, _)| *value).ok_or_else(|| {
            let known: Vec<_> = self.choices.iter().map(|(word, _, _)| *word).collect();
            format!("one of {}", known.join(", "))
        })
    }

    fn usual(&self, usual: T) -> T {
        usual
    }

    fn shown(&self, usual: T) -> String {
        self.word(usual).to_owned()
    }
}

/// A word that a function reads.
#[derive(Debug)]
pub struct Checked<T> {
    described: Described,
    value_name: &'static str,
    parse: fn(&str) -> Result<T, String>,
}

/// A default of a [`Checked`] setting.
#[derive(Debug)]
pub struct Usual<T> {
    value: fn() -> T,
    shown: fn(&T) -> String,
}

impl<T> Clone for Checked<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Checked<T> {}

impl<T> Clone for Usual<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Usual<T> {}

impl<T: 'static> Checked<T> {
    /// A word that goes by `value_name` in help, and that `parse` reads; its error says what would
    /// be right.
    pub const fn new(
        name: &'static str,
        value_name: &'static str,
        parse: fn(&str) -> Result<T, String>,
        about: &'static str,
    ) -> Self {
        Self { described: described(name, about), value_name, parse }
    }

    /// With a default, and what shows it as it would be given.
    pub const fn or(self, value: fn() -> T, shown: fn(&T) -> String) -> Or<Self> {
        Or { setting: self, usual: Usual { value, shown } }
    }
}

impl<T: 'static> Setting for Checked<T> {
    fn described(&self) -> &Described {
        &self.described
    }

    fn kind(&self) -> Kind {
        Kind::Checked(self.value_name)
    }

    fn check(&self, text: &str) -> Result<(), String> {
        self.parse(text).map(drop)
    }
}

impl<T: 'static> Single for Checked<T> {
    type Item = T;
    type Usual = Usual<T>;

    fn parse(&self, text: &str) -> Result<T, String> {
        (self.parse)(text)
    }

    fn usual(&self, usual: Usual<T>) -> T {
        (usual.value)()
    }

    fn shown(&self, usual: Usual<T>) -> String {
        (usual.shown)(&(usual.value)())
    }
}

/// The name of a platform, or the path of a platform file.
#[derive(Clone, Copy, Debug)]
pub struct Platform {
    described: Described,
}

impl Platform {
    /// A platform.
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self { described: described(name, about) }
    }

    /// With a default.
    pub const fn or(self, usual: &'static str) -> Or<Self> {
        Or { setting: self, usual }
    }
}

impl Setting for Platform {
    fn described(&self) -> &Described {
        &self.described
    }

    fn kind(&self) -> Kind {
        Kind::Platform
    }

    fn check(&self, text: &str) -> Result<(), String> {
        named(text)
    }
}

impl Single for Platform {
    type Item = String;
    type Usual = &'static str;

    fn parse(&self, text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }

    fn usual(&self, usual: &'static str) -> String {
        usual.to_owned()
    }

    fn shown(&self, usual: &'static str) -> String {
        usual.to_owned()
    }
}

fn named(text: &str) -> Result<(), String> {
    if text.is_empty() { Err("a name".to_owned()) } else { Ok(()) }
}

/// Releases of the platform, each by its name; may be given again.
#[derive(Clone, Copy, Debug)]
pub struct Releases {
    described: Described,
}

impl Releases {
    /// Releases.
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self { described: described(name, about) }
    }
}

impl Setting for Releases {
    fn described(&self) -> &Described {
        &self.described
    }

    fn kind(&self) -> Kind {
        Kind::Releases
    }

    fn check(&self, text: &str) -> Result<(), String> {
        named(text)
    }
}

impl Typed for Releases {
    type Value = Vec<String>;

    fn value(&self, given: &[String]) -> Vec<String> {
        given.to_vec()
    }
}

/// `KEY=VALUE` for keys of the platform's files; may be given again.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    described: Described,
}

impl Keys {
    /// Keys with their values.
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self { described: described(name, about) }
    }
}

impl Setting for Keys {
    fn described(&self) -> &Described {
        &self.described
    }

    fn kind(&self) -> Kind {
        Kind::Keys
    }

    fn check(&self, text: &str) -> Result<(), String> {
        match text.split_once('=') {
            Some((key, _)) if !key.trim().is_empty() => Ok(()),
            _ => Err("KEY=VALUE, such as scp.channels=2".to_owned()),
        }
    }
}

impl Typed for Keys {
    type Value = Vec<(String, String)>;

    fn value(&self, given: &[String]) -> Self::Value {
        let pairs = given.iter().filter_map(|text| text.split_once('='));
        pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
    }
}

/// Settings that name a file or a folder.
macro_rules! paths {
    ($($(#[$about:meta])* $kind:ident,)+) => {
        $($(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $kind {
            described: Described,
        }

        impl $kind {
            /// A path.
            pub const fn new(name: &'static str, about: &'static str) -> Self {
                Self { described: described(name, about) }
            }
        }

        impl Setting for $kind {
            fn described(&self) -> &Described {
                &self.described
            }

            fn kind(&self) -> Kind {
                Kind::$kind
            }

            fn check(&self, text: &str) -> Result<(), String> {
                named(text)
            }
        }

        impl Typed for $kind {
            type Value = Option<PathBuf>;

            fn value(&self, given: &[String]) -> Self::Value {
                given.last().map(PathBuf::from)
            }
        })+
    };
}

paths! {
    /// A file to read.
    InputFile,
    /// A file to write.
    OutputFile,
    /// A folder.
    Folder,
}

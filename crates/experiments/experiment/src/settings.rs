//! What an experiment was told, checked against its description.

use crate::about::{About, Kind, Setting, World};
use crate::error::Error;
use std::collections::BTreeMap;

/// What an experiment was told. Every setting that the experiment describes can be asked for; asking for another is a mistake of the
/// experiment's, and panics.
#[derive(Clone, Debug)]
pub struct Settings {
    about: &'static About,
    given: BTreeMap<&'static str, Vec<String>>,
}

impl Settings {
    /// Checks names and values. A switch is given with the value `true`.
    ///
    /// # Errors
    /// A name that there is not, with the nearest that there is; a value of the wrong kind, with what would be right; a setting of another
    /// world.
    pub fn new(
        about: &'static About,
        world: World,
        given: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, Error> {
        if about.world(world).is_none() {
            let known: Vec<_> = about.worlds.iter().map(|about| about.world.name()).collect();
            let message = format!("{} does not run in the world {}", about.name, world.name());
            return Err(Error::usage(message, format!("its worlds are: {}", known.join(", "))));
        }
        let mut settings = Self { about, given: BTreeMap::new() };
        for (name, value) in given {
            let setting = about.setting(&name).ok_or_else(|| unknown(about, &name))?;
            if !setting.is_for(world) {
                let worlds: Vec<_> = setting.worlds.iter().map(|world| world.name()).collect();
                let help =
                    format!("leave it out, or add --world {}; it is: {}", worlds.join(" or --world "), setting.about);
                return Err(Error::usage(format!("--{name} means nothing in the world {}", world.name()), help));
            }
            check(setting, &value)?;
            let values = settings.given.entry(setting.name).or_default();
            if !setting.kind.is_list() {
                values.clear();
            }
            values.push(value);
        }
        Ok(settings)
    }

    /// Whether it was given, rather than left at its default.
    pub fn is_given(&self, name: &str) -> bool {
        self.setting(name);
        self.given.contains_key(name)
    }

    /// What was given, with the names of the settings.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.given.iter().flat_map(|(name, values)| values.iter().map(move |value| (*name, value.as_str())))
    }

    /// Its value, or its default; `None` where it has neither.
    pub fn text(&self, name: &str) -> Option<&str> {
        let setting = self.setting(name);
        self.given.get(name).and_then(|values| values.last()).map(String::as_str).or(setting.default)
    }

    /// Its values, for one that may be given more than once.
    pub fn texts(&self, name: &str) -> &[String] {
        self.setting(name);
        self.given.get(name).map_or(&[], Vec::as_slice)
    }

    /// Its number, or the default's.
    ///
    /// # Panics
    /// It is no number, or has neither value nor default.
    pub fn number(&self, name: &str) -> u64 {
        self.number_if_given(name).unwrap_or_else(|| panic!("the setting `{name}` has no default"))
    }

    /// Its number, or the default's; `None` where there is neither.
    ///
    /// # Panics
    /// It is no number.
    pub fn number_if_given(&self, name: &str) -> Option<u64> {
        let text = self.text(name)?;
        Some(text.parse().unwrap_or_else(|_| panic!("the setting `{name}` is no number: {text}")))
    }

    /// Whether a switch is on.
    pub fn switch(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    /// `KEY=VALUE` pairs.
    pub fn keys(&self, name: &str) -> Vec<(String, String)> {
        let pairs = self.texts(name).iter().filter_map(|text| text.split_once('='));
        pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect()
    }

    fn setting(&self, name: &str) -> &'static Setting {
        self.about.setting(name).unwrap_or_else(|| panic!("{} describes no setting `{name}`", self.about.name))
    }
}

fn unknown(about: &About, name: &str) -> Error {
    let known = about.settings.iter().map(|setting| setting.name);
    let help = match document::nearest(name, known.clone()) {
        Some(near) => format!("there is --{near}"),
        None => format!("there are: {}", known.collect::<Vec<_>>().join(", ")),
    };
    Error::usage(format!("{} has no setting `{name}`", about.name), help)
}

fn check(setting: &Setting, value: &str) -> Result<(), Error> {
    let wrong = |right: String| Err(Error::usage(format!("`{value}` is no value of --{}", setting.name), right));
    match &setting.kind {
        Kind::Number { min, max } => match value.parse::<u64>() {
            Ok(number) if (*min..=*max).contains(&number) => Ok(()),
            _ => wrong(format!("a whole number from {min} to {max}")),
        },
        Kind::Switch if matches!(value, "true" | "false") => Ok(()),
        Kind::Switch => wrong("true or false".to_owned()),
        Kind::Choice(choices) if choices.iter().any(|(name, _)| *name == value) => Ok(()),
        Kind::Choice(choices) => {
            let known: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            wrong(format!("one of {}", known.join(", ")))
        }
        Kind::Checked(check, _) => check(value).or_else(wrong),
        Kind::Keys => match value.split_once('=') {
            Some((key, _)) if !key.trim().is_empty() => Ok(()),
            _ => wrong("KEY=VALUE, such as scp.channels=2".to_owned()),
        },
        Kind::Platform | Kind::Releases | Kind::OutputFile | Kind::InputFile | Kind::Folder if value.is_empty() => {
            wrong("a name".to_owned())
        }
        Kind::Platform | Kind::Releases | Kind::OutputFile | Kind::InputFile | Kind::Folder => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::about::{Example, WorldAbout};

    static ABOUT: About = About {
        name: "test",
        summary: "a test",
        details: "",
        worlds: &[
            WorldAbout { world: World::Sim, about: "", needs: &[] },
            WorldAbout { world: World::Host, about: "", needs: &[] },
        ],
        settings: &[
            Setting::new("iterations", Kind::Number { min: 1, max: 10 }, "Repetitions.").or("3"),
            Setting::new("seed", Kind::Number { min: 0, max: u64::MAX }, "Seed.").only(&[World::Sim]),
            Setting::new("graph", Kind::Choice(&[("l2", ""), ("ip4", "")]), "Graph.").or("l2"),
            Setting::new("hot", Kind::Switch, "Reuse."),
            Setting::new("set", Kind::Keys, "Keys."),
        ],
        cases: &[],
        examples: &[Example { arguments: "", about: "" }],
        sweep_defaults: &[],
        shipped_sweeps: &[],
    };

    fn settings(world: World, given: &[(&str, &str)]) -> Result<Settings, Error> {
        Settings::new(&ABOUT, world, given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn what_is_given_counts_and_else_the_default() {
        let told =
            settings(World::Sim, &[("graph", "ip4"), ("hot", "true"), ("set", "a=1"), ("set", "b = 2")]).unwrap();
        assert_eq!((told.number("iterations"), told.text("graph"), told.switch("hot")), (3, Some("ip4"), true));
        assert_eq!(told.number_if_given("seed"), None);
        assert_eq!(told.keys("set"), [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())]);
        assert!(told.is_given("graph") && !told.is_given("iterations"));
    }

    #[test]
    fn what_is_wrong_is_refused_with_what_would_be_right() {
        let said = |world, given: &[(&str, &str)]| match settings(world, given).unwrap_err() {
            Error::Usage { message, help } => format!("{message}: {}", help.unwrap()),
            other => panic!("{other}"),
        };
        assert_eq!(said(World::Sim, &[("iteration", "1")]), "test has no setting `iteration`: there is --iterations");
        assert!(said(World::Sim, &[("wholly-else", "1")]).contains("there are: iterations, seed"));
        assert!(said(World::Sim, &[("iterations", "11")]).contains("a whole number from 1 to 10"));
        assert!(said(World::Sim, &[("graph", "ip5")]).contains("one of l2, ip4"));
        assert!(said(World::Sim, &[("set", "=1")]).contains("KEY=VALUE"));
        assert!(said(World::Host, &[("seed", "1")]).contains("add --world sim"));
        assert!(said(World::Qemu, &[]).contains("its worlds are: sim, host"));
    }
}

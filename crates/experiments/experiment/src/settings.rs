//! The settings of a request: what an experiment is told, checked against its description.

use crate::about::About;
use crate::error::{Error, Result};
use crate::kept::KeptKey;
use crate::setting::{DeclaredSetting, Setting, Takes};
use crate::world::World;
use document::nearest;
use itertools::Itertools;
use std::collections::BTreeMap;

/// The values of an experiment's settings. Everything in it was checked; a setting that was not
/// given has its default.
#[derive(Debug)]
pub struct Settings {
    about: &'static About,
    given: BTreeMap<&'static str, Vec<String>>,
}

impl Settings {
    /// Checks names and values against an experiment's description.
    ///
    /// # Errors
    /// A name that there is not, with the nearest that there is; a value of the wrong kind, with
    /// what would be right; a setting of another world.
    pub fn new(
        about: &'static About,
        world: World,
        given: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self> {
        if about.world(world.name()).is_none() {
            return Err(Error::usage(
                format!("{} does not run in the world {}", about.name, world.name()),
                about.known_worlds(),
            ));
        }
        let mut settings = Self {
            about,
            given: BTreeMap::new(),
        };
        for (name, value) in given {
            let setting = about.setting(&name).ok_or_else(|| unknown(about, &name))?;
            if !setting.is_for(world) {
                let described = setting.described();
                let worlds = described
                    .worlds
                    .iter()
                    .map(|world| world.name())
                    .collect_vec();
                let help = format!(
                    "leave it out, or add --world {}; it is: {}",
                    worlds.join(" or --world "),
                    described.about
                );
                return Err(Error::usage(
                    format!("--{name} means nothing in the world {}", world.name()),
                    help,
                ));
            }
            let wrong = |right| Error::usage(format!("`{value}` is no value of --{name}"), right);
            setting.check(&value).map_err(wrong)?;
            let values = settings.given.entry(setting.name()).or_default();
            if !setting.kind().is_list() {
                values.clear();
            }
            values.push(value);
        }
        Ok(settings)
    }

    /// The value of a setting, or its default.
    pub fn get<K: Takes>(&self, setting: DeclaredSetting<K>) -> K::Value {
        debug_assert!(
            self.about.setting(setting.name()).is_some(),
            "{} is not listed",
            setting.name()
        );
        setting.value(self.given.get(setting.name()).map_or(&[], Vec::as_slice))
    }

    /// Returns true if a setting was given, rather than left at its default.
    pub fn is_given(&self, setting: &dyn Setting) -> bool {
        self.given.contains_key(setting.name())
    }

    /// Refuses settings that mean nothing beside the others that were given.
    ///
    /// # Errors
    /// The first of `meaningless` that was given, with what would be right.
    pub fn refuse(&self, meaningless: &[&dyn Setting], help: &str) -> Result {
        match meaningless.iter().find(|setting| self.is_given(**setting)) {
            Some(setting) => Err(Error::usage(
                format!("--{} means nothing here", setting.name()),
                help,
            )),
            None => Ok(()),
        }
    }

    /// The same for all that were given, but those in `meant`.
    ///
    /// # Errors
    /// The first other one, likewise.
    pub fn refuse_all_but(&self, meant: &[&dyn Setting], help: &str) -> Result {
        match self
            .given
            .keys()
            .find(|name| meant.iter().all(|setting| setting.name() != **name))
        {
            Some(name) => Err(Error::usage(format!("--{name} means nothing here"), help)),
            None => Ok(()),
        }
    }

    /// The values that were given for some settings, as a key of what is made of them.
    pub fn key_of(&self, settings: &[&dyn Setting]) -> KeptKey {
        let of = |(name, _): &(&'static str, &str)| settings.iter().any(|it| it.name() == *name);
        self.given()
            .filter(of)
            .map(|(name, value)| (name, value.to_owned()))
            .collect()
    }

    /// The values that were given, with the names of the settings.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.given
            .iter()
            .flat_map(|(name, values)| values.iter().map(move |value| (*name, value.as_str())))
    }
}

fn unknown(about: &About, name: &str) -> Error {
    let known = about
        .settings
        .iter()
        .map(|setting| setting.name())
        .collect_vec();
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("there is --{near}"),
        None => format!("there are: {}", known.join(", ")),
    };
    Error::usage(format!("{} has no setting `{name}`", about.name), help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::{CheckedSetting, Choice, Keys, Number, Or, Switch};

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Graph {
        CrossConnect,
        Route,
    }

    const ITERATIONS: Or<Number<u32>> = Number::new("iterations", 1..=10, "Repetitions.").or(3);
    const SEED: Number = Number::new("seed", 0..=u64::MAX, "Seed.").only(&[World::Sim]);
    const GRAPH: Or<Choice<Graph>> = Choice::new(
        "graph",
        &[("l2", Graph::CrossConnect, ""), ("ip4", Graph::Route, "")],
        "Graph.",
    )
    .or(Graph::CrossConnect);
    const HOT: Switch = Switch::new("hot", "Reuse.");
    const SIZE: Or<CheckedSetting<f64>> =
        CheckedSetting::new("size", "MiB", size, "Size.").or("0.5");
    const SET: Keys = Keys::new("set", "Keys.");

    fn size(text: &str) -> Result<f64, String> {
        text.parse()
            .ok()
            .filter(|size| *size > 0.0)
            .ok_or_else(|| "a size above 0".to_owned())
    }

    static ABOUT: About = About {
        name: "test",
        summary: "a test",
        details: "",
        worlds: &[(World::Sim, ""), (World::Host, "")],
        settings: &[&ITERATIONS, &SEED, &GRAPH, &HOT, &SIZE, &SET],
        cases: &[],
        examples: &[("", "")],
        sweep_defaults: &[],
    };

    fn settings(world: World, given: &[(&str, &str)]) -> Result<Settings, Error> {
        Settings::new(
            &ABOUT,
            world,
            given
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        )
    }

    #[test]
    fn what_is_given_counts_and_else_the_default() {
        let told = settings(
            World::Sim,
            &[
                ("graph", "ip4"),
                ("hot", "true"),
                ("set", "a=1"),
                ("set", "b = 2"),
            ],
        )
        .unwrap();
        assert_eq!(
            (told.get(ITERATIONS), told.get(GRAPH), told.get(HOT)),
            (3, Graph::Route, true)
        );
        assert_eq!((told.get(SEED), told.get(SIZE)), (None, 0.5));
        assert_eq!(
            told.get(SET),
            [
                ("a".to_owned(), "1".to_owned()),
                ("b".to_owned(), "2".to_owned())
            ]
        );
        assert!(told.is_given(&GRAPH) && !told.is_given(&ITERATIONS));
        let defaults: Vec<_> = ABOUT
            .settings
            .iter()
            .map(|setting| setting.default())
            .collect();
        assert_eq!(
            defaults,
            [
                Some("3".to_owned()),
                None,
                Some("l2".to_owned()),
                None,
                Some("0.5".to_owned()),
                None
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_refused_with_what_would_be_right() {
        let said = |world, given: &[(&str, &str)]| match settings(world, given).unwrap_err() {
            Error::Usage { message, help } => format!("{message}: {}", help.unwrap()),
            other => panic!("{other}"),
        };
        assert_eq!(
            said(World::Sim, &[("iteration", "1")]),
            "test has no setting `iteration`: there is --iterations"
        );
        assert!(said(World::Sim, &[("wholly-else", "1")]).contains("there are: iterations, seed"));
        assert!(said(World::Sim, &[("iterations", "11")]).contains("a whole number from 1 to 10"));
        assert!(
            said(World::Sim, &[("iterations", "99999999999")])
                .contains("a whole number from 1 to 10")
        );
        assert!(said(World::Sim, &[("graph", "ip5")]).contains("one of l2, ip4"));
        assert!(said(World::Sim, &[("size", "-1")]).contains("a size above 0"));
        assert!(said(World::Sim, &[("hot", "yes")]).contains("true or false"));
        assert!(said(World::Sim, &[("set", "=1")]).contains("KEY=VALUE"));
        assert!(said(World::Host, &[("seed", "1")]).contains("add --world sim"));
        assert!(said(World::Qemu, &[]).contains("its worlds are: sim, host"));
    }
}

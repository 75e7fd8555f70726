//! A plan held to the description of its experiment, before anything runs.

use crate::axis::{Axis, PlacedValue, RandomKey, Span, Value, Values};
use crate::plan::{Plan, Point};
use document::one_of;
use experiment::{Error, Experiment, Kind, Settings, World};
use std::ops::Range;

/// Values of a key that are looked at one by one; further ones are checked when their points run.
const LOOKED_AT: usize = 10_000;

/// A plan with its experiment, to which it fits.
pub struct Fitting {
    /// The plan.
    pub plan: Plan,
    /// The experiment.
    pub experiment: &'static dyn Experiment,
    /// The world.
    pub world: World,
}

impl Fitting {
    /// Checks the plan against the experiment that `find` knows by its name; `known` are all names.
    ///
    /// # Errors
    /// An unknown experiment, world or key, or a value that a setting does not take, with its line
    /// and what would be right.
    pub fn new(
        plan: Plan,
        find: impl Fn(&str) -> Option<&'static dyn Experiment>,
        known: &[&str],
    ) -> Result<Self, document::Error> {
        let wrong = |place: Range<usize>, message: &str, help: String| {
            Err(plan.source.wrong(place, message, help))
        };
        let Some(experiment) = find(&plan.experiment) else {
            return wrong(
                plan.experiment_place.clone(),
                &format!("there is no experiment `{}`", plan.experiment),
                one_of(&plan.experiment, known),
            );
        };
        let about = experiment.about();
        let world = match &plan.world {
            None => about.worlds[0].0,
            Some(name) => match about.world(name) {
                Some(world) => world,
                None => {
                    return wrong(
                        plan.world_place.clone(),
                        &format!("{} does not run in a world `{name}`", about.name),
                        about.known_worlds(),
                    );
                }
            },
        };
        let fitting = Self {
            experiment,
            world,
            plan,
        };
        fitting.check()?;
        Ok(fitting)
    }

    fn check(&self) -> Result<(), document::Error> {
        for (key, it) in &self.plan.settings {
            self.check_value(key, it)?;
        }
        for axis in &self.plan.axes {
            match axis {
                Axis::Grid {
                    key,
                    values: Values::Each(values),
                    ..
                } => {
                    values
                        .iter()
                        .take(LOOKED_AT)
                        .try_for_each(|it| self.check_value(key, it))?;
                }
                Axis::Grid {
                    key,
                    place,
                    values: Values::Range { first, last },
                } => {
                    for end in [first, last] {
                        self.check_at(key, place, Value::Text(end.to_string()))?;
                    }
                }
                Axis::List(rows) => {
                    rows.iter()
                        .flatten()
                        .take(LOOKED_AT)
                        .try_for_each(|(key, it)| self.check_value(key, it))?;
                }
                Axis::Draws { keys, .. } => {
                    keys.iter().try_for_each(|drawn| self.check_drawn(drawn))?;
                }
                Axis::Repetitions(count) if self.world == World::Sim => {
                    return Err(self.plan.source.wrong_as_a_whole(format!(
                        "{count} repetitions in the world sim, where the same inputs give the same figures"
                    ), "vary the seed instead: [seeds] with count = N"));
                }
                Axis::Repetitions(_) => {}
            }
        }
        Ok(())
    }

    fn check_drawn(&self, drawn: &RandomKey) -> Result<(), document::Error> {
        let check = |value: Value| self.check_at(&drawn.key, &drawn.place, value);
        match &drawn.span {
            Span::Choice(values) => values
                .iter()
                .try_for_each(|it| self.check_value(&drawn.key, it)),
            Span::Whole { from, to } => {
                check(Value::Whole(*from)).and_then(|()| check(Value::Whole(*to)))
            }
            Span::Numbers { from, unit, .. } => check(match unit {
                Some(unit) => Value::Quantity(*from, unit.clone()),
                None => Value::Number(*from),
            }),
        }
    }

    fn check_at(
        &self,
        key: &str,
        place: &Range<usize>,
        value: Value,
    ) -> Result<(), document::Error> {
        let place = place.clone();
        self.check_value(key, &PlacedValue { value, place })
    }

    fn check_value(&self, key: &str, it: &PlacedValue) -> Result<(), document::Error> {
        let about = self.experiment.about();
        let wrong = |message: &str, help: &str| {
            Err(self.plan.source.wrong(it.place.clone(), message, help))
        };
        if about
            .setting(key)
            .is_some_and(|setting| matches!(setting.kind(), Kind::OutputFile))
        {
            return wrong(
                &format!("`{key}` is a file to write"),
                "every point would write it anew; run a single point with `stopwatt run` for it",
            );
        }
        match Settings::new(
            about,
            self.world,
            [self.experiment.about().given(key, &it.value.text())],
        ) {
            Ok(_) => Ok(()),
            Err(Error::Usage { message, help }) => {
                // The command line's spelling of a setting is not the plan's.
                let plain = |text: String| text.replace("--", "");
                wrong(&plain(message), &plain(help.unwrap_or_default()))
            }
            Err(other) => wrong(&other.to_string(), ""),
        }
    }

    /// The settings of the experiment at a point.
    ///
    /// # Errors
    /// A value that a setting does not take.
    pub fn settings(&self, point: &Point) -> Result<Settings, Error> {
        let fixed = self
            .plan
            .settings
            .iter()
            .map(|(key, it)| self.experiment.about().given(key, &it.value.text()));
        let varied = point
            .varied
            .iter()
            .map(|(key, value)| self.experiment.about().given(key, &value.text()));
        Settings::new(self.experiment.about(), self.world, fixed.chain(varied))
    }

    /// The files that settings name at a point.
    pub(crate) fn files_named(&self, point: &Point) -> Vec<String> {
        let about = self.experiment.about();
        self.plan
            .settings
            .iter()
            .map(|(key, it)| (key, &it.value))
            .chain(point.varied.iter().map(|(key, value)| (key, value)))
            .filter(|(key, _)| {
                about
                    .setting(key)
                    .is_some_and(|it| matches!(it.kind(), Kind::InputFile))
            })
            .map(|(_, value)| value.text())
            .collect()
    }
}

//! A point: a value for each unknown and each switch.

use crate::actions::Term;
use crate::suite::{Suite, Text};
use crate::unknown::Value;
use engine::SplitMix64;

/// A value for each unknown of a suite, and the seed of what tasks leave to chance.
#[derive(Clone)]
pub struct Point<'s> {
    /// The suite.
    pub suite: &'s Suite,
    /// Values in the order of the suite's unknowns, then of its switches.
    values: Vec<Value>,
    /// Seed of the tasks' streams.
    pub seed: u64,
    /// True if nobody queues callbacks: every source is silent, and all else is as it would be.
    pub silent: bool,
}

/// Streams of the kernel's seeds lie apart from those that draw values.
const SEEDS: u64 = 1 << 48;

impl<'s> Point<'s> {
    /// The central point, with one of its seeds.
    pub fn central(suite: &'s Suite, seed: u32) -> Self {
        let values = suite
            .may_be_set()
            .map(|unknown| unknown.central.clone())
            .collect();
        let seed = SplitMix64::fork(suite.seed, 2 * SEEDS + u64::from(seed)).next();
        Self {
            suite,
            values,
            seed,
            silent: false,
        }
    }

    /// A draw. Each unknown has a stream of its own, so that another one more changes none of them.
    pub fn draw(suite: &'s Suite, draw: u32) -> Self {
        let values = suite
            .unknowns
            .iter()
            .enumerate()
            .map(|(at, unknown)| {
                unknown.draw(&mut SplitMix64::fork(
                    suite.seed,
                    (at as u64) << 32 | u64::from(draw),
                ))
            })
            .chain(suite.switches.iter().map(|switch| switch.central.clone()))
            .collect();
        let seed = SplitMix64::fork(suite.seed, SEEDS + u64::from(draw)).next();
        Self {
            suite,
            values,
            seed,
            silent: false,
        }
    }

    /// The same point with another value of an unknown. A rate of no callbacks at all silences
    /// every source of them.
    ///
    /// # Panics
    /// There is no such unknown.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.silent |= name == "callbacks.rate" && value == Value::Number(0);
        let at = self
            .suite
            .unknown(name)
            .unwrap_or_else(|| panic!("no unknown `{name}`"));
        self.values[at] = value;
        self
    }

    /// The same point without callbacks.
    #[must_use]
    pub fn silenced(mut self) -> Self {
        self.silent = true;
        self
    }

    /// The values of the unknowns, in the order of the suite.
    pub fn values(&self) -> &[Value] {
        &self.values[..self.suite.unknowns.len()]
    }

    fn value(&self, name: &str) -> &Value {
        let at = self
            .suite
            .unknown(name)
            .unwrap_or_else(|| panic!("no unknown `{name}`"));
        &self.values[at]
    }

    /// The number that an unknown is.
    ///
    /// # Panics
    /// It is no number; the suite's reader has made sure that those that are asked for are.
    pub fn number(&self, name: &str) -> u64 {
        match self.value(name) {
            Value::Number(number) => *number,
            Value::Word(word) => panic!("`{name}` is `{word}`"),
        }
    }

    /// The word that an unknown is.
    pub fn word(&self, name: &str) -> String {
        self.value(name).to_string()
    }

    /// The number of an unknown or switch that not every file has.
    pub fn find_number(&self, name: &str) -> Option<u64> {
        match self.values[self.suite.unknown(name)?] {
            Value::Number(number) => Some(number),
            Value::Word(_) => None,
        }
    }

    /// True if an unknown or switch is there and is this word.
    pub fn is_word(&self, name: &str, word: &str) -> bool {
        let value = self.suite.unknown(name).map(|at| &self.values[at]);
        matches!(value, Some(Value::Word(own)) if own == word)
    }

    /// True if an unknown has this value.
    pub fn is(&self, name: &str, value: &Value) -> bool {
        self.value(name) == value
    }

    /// The number that a term stands for.
    pub fn term(&self, term: &Term) -> u64 {
        match term {
            Term::Is(number) => *number,
            Term::Unknown(name) => self.number(name),
        }
    }

    /// The words that a text stands for.
    pub fn text(&self, text: &Text) -> String {
        match text {
            Text::Is(word) => word.clone(),
            Text::Unknown(name) => self.word(name),
        }
    }
}

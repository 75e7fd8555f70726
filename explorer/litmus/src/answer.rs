//! The answer to a test, and its text.

use crate::test::{
    Quantifier::{self, Exists, Forall, NotExists},
    Test, Variable,
};
use std::collections::{BTreeMap, BTreeSet};

/// The values of the observed variables when all threads have ended, each as far as the type of its
/// variable holds it.
pub type State = BTreeMap<Variable, u64>;

/// The answer to a test.
#[derive(Debug, Default)]
pub struct Answer {
    /// All final states of the executions that the model allows.
    pub states: BTreeSet<State>,
    /// Allowed executions in which the condition holds.
    pub positive: u64,
    /// Allowed executions in which the condition does not hold.
    pub negative: u64,
    /// Steps of the search: each chooses what a thread does, the place of a store in the order of
    /// its location, or the store that a load reads. The check of an execution counts as several.
    pub steps: u64,
    /// True if runs were cut that, with more jumps backwards, could end otherwise.
    pub is_cut: bool,
    /// True if an execution that the model allows has no end: a loop waits for what never comes.
    pub is_endless: bool,
}

impl Answer {
    /// The share of the executions in which the condition holds, of those that ended: Never,
    /// Sometimes or Always.
    pub fn observation(&self) -> &'static str {
        match (self.positive, self.negative) {
            (0, _) => "Never",
            (_, 0) => "Always",
            _ => "Sometimes",
        }
    }

    /// False if executions that were not followed to an end could change the observation.
    pub fn is_observed(&self) -> bool {
        !self.is_endless && (!self.is_cut || self.observation() == "Sometimes")
    }

    /// The executions that decide on a quantifier: those that have the condition, or those that do
    /// not where all are asked for it.
    fn decisive(&self, quantifier: Quantifier) -> u64 {
        match quantifier {
            Forall => self.negative,
            _ => self.positive,
        }
    }

    /// True if the test's quantifier is satisfied: herd7's `Ok`.
    pub fn is_ok(&self, quantifier: Quantifier) -> bool {
        (self.decisive(quantifier) > 0) == (quantifier == Exists)
    }

    /// The reason why there is no verdict, as a sentence without a full stop: an execution has no
    /// end, or the verdict could be another one with more jumps backwards.
    pub fn doubt(&self, test: &Test) -> Option<String> {
        let most = test.unroll;
        if self.is_endless {
            Some(format!(
                "an execution never ends: a loop repeats its round, and nothing that it reads changes any more (each loop was followed for {most} jumps backwards)"
            ))
        } else if self.is_cut && self.decisive(test.quantifier) == 0 {
            Some(format!(
                "loops were followed for {most} jumps backwards, no further"
            ))
        } else {
            None
        }
    }

    /// The verdict on the condition in one word: Allowed or Forbidden, and Required where a test
    /// asks of all executions and all have it.
    pub fn verdict(&self, quantifier: Quantifier) -> &'static str {
        match quantifier {
            Forall if self.negative == 0 => "Required",
            _ if self.positive > 0 => "Allowed",
            _ => "Forbidden",
        }
    }

    /// The answer in the form of herd7's.
    pub fn text(&self, test: &Test) -> String {
        let asked = match test.quantifier {
            Exists => "Allowed",
            NotExists => "Forbidden",
            Forall => "Required",
        };
        let doubt = self.doubt(test);
        let mut text = match &doubt {
            Some(doubt) => format!("Test {}: no answer, since {doubt}\n", test.name),
            None => format!("Test {} {asked}\n", test.name),
        };
        text += &format!("States {}\n", self.states.len());
        for state in &self.states {
            write(state, test, &mut text);
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        if doubt.is_none() {
            let ok = self.is_ok(test.quantifier);
            text += if ok { "Ok\n" } else { "No\n" };
        }
        // herd7 counts what speaks for a test's quantifier first.
        let (for_it, against) = match test.quantifier {
            NotExists => (self.negative, self.positive),
            _ => (self.positive, self.negative),
        };
        text += &format!("Witnesses\nPositive: {for_it} Negative: {against}\n");
        if self.is_observed() {
            text += &format!(
                "Observation {} {} {} {}\n",
                test.name,
                self.observation(),
                self.positive,
                self.negative
            );
        }
        text
    }
}

/// One line of a state, as herd7 writes it: an array of which all is known in one piece.
fn write(state: &State, test: &Test, text: &mut String) {
    let whole: Vec<(&str, Vec<Variable>)> = test
        .objects
        .iter()
        .filter(|object| object.elements.is_some())
        .map(|object| (object.name.as_str(), test.named(&object.name)))
        .filter(|(_, elements)| elements.iter().all(|element| state.contains_key(element)))
        .collect();
    for (variable, value) in state {
        let array = whole
            .iter()
            .find(|(_, elements)| elements.contains(variable));
        *text += &match array {
            None => format!("{variable}={}; ", test.shown(variable, *value)),
            Some((name, elements)) if elements.first() == Some(variable) => {
                let values: Vec<String> = elements
                    .iter()
                    .filter_map(|element| Some(test.shown(element, *state.get(element)?)))
                    .collect();
                format!("{name}={{{}}}; ", values.join(","))
            }
            Some(_) => continue,
        };
    }
}

//! The search for the highest load of which no more than a given share is lost: bisection as in RFC
//! 2544, with several trials of a load, as FD.io's searches have, because a machine that does other
//! things now and then loses a packet at any load.

/// The result of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Packets a second that were offered: fewer than asked for where the generator cannot send
    /// them.
    pub offered: f64,
    /// Share of them that was lost.
    pub loss: f64,
    /// True if what forwards lacked its processor for long.
    pub held_up: bool,
}

/// A load and its trials.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadTrials {
    /// Packets a second that were asked for.
    pub load: f64,
    /// The outcome.
    pub outcomes: Vec<Outcome>,
    /// Trials that do not count, because the generator was held up and sent too little, or what
    /// forwards was held up.
    pub short: usize,
}

impl LoadTrials {
    /// Trials within a goal, and beyond.
    fn votes(&self, goal: f64) -> (usize, usize) {
        let good = self
            .outcomes
            .iter()
            .filter(|outcome| outcome.loss <= goal)
            .count();
        (good, self.outcomes.len() - good)
    }

    /// True if its trials differ.
    pub fn is_divided(&self, goal: f64) -> bool {
        let (good, bad) = self.votes(goal);
        good > 0 && bad > 0
    }
}

/// The precision of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Width between the bounds, as a share of the upper one.
    pub width: f64,
    /// Most trials of a load; the majority counts.
    pub trials: usize,
}

/// The bounds that a search found, in packets per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The highest load within the goal, with none beyond the goal below it; `None` if there was
    /// none.
    pub lower: Option<f64>,
    /// The lowest load beyond the goal; `None` if the generator cannot send enough for one.
    pub upper: Option<f64>,
}

/// A trial of which the generator sent less than this share is repeated, as often as a load is
/// tried at most.
const REACHED: f64 = 0.98;

/// Loads below this share of the highest are not tried.
const SMALLEST: f64 = 1.0 / 1024.0;

/// Searches below the load `highest`, and tries `likely` first after it. `tried` has earlier
/// trials, which count as well, and keeps the new ones.
///
/// # Errors
/// Those of a trial.
pub fn bounds<E>(
    goal: f64,
    (highest, likely): (f64, f64),
    precision: Precision,
    tried: &mut Vec<LoadTrials>,
    mut trial: impl FnMut(f64) -> Result<Outcome, E>,
) -> Result<Bounds, E> {
    let majority = precision.trials / 2 + 1;
    let mut load = highest;
    loop {
        let there = tried
            .iter()
            .position(|tried| tried.load == load)
            .unwrap_or_else(|| {
                tried.push(LoadTrials {
                    load,
                    outcomes: Vec::new(),
                    short: 0,
                });
                tried.len() - 1
            });
        while tried[there].votes(goal).0 < majority && tried[there].votes(goal).1 < majority {
            let outcome = trial(load)?;
            if (outcome.held_up || outcome.offered < REACHED * load)
                && tried[there].short < precision.trials
            {
                tried[there].short += 1;
            } else {
                tried[there].outcomes.push(outcome);
            }
        }
        let bad = |tried: &&LoadTrials| tried.votes(goal).1 >= majority;
        let upper = tried
            .iter()
            .filter(bad)
            .min_by(|a, b| a.load.total_cmp(&b.load));
        let below = |tried: &&LoadTrials| {
            tried.votes(goal).0 >= majority && upper.is_none_or(|upper| tried.load < upper.load)
        };
        let lower = tried
            .iter()
            .filter(below)
            .max_by(|a, b| a.load.total_cmp(&b.load));
        let Some(upper) = upper.map(|upper| upper.load) else {
            // The generator may have sent less than it was asked for. It counts what it did send,
            // and that may be more at a lower load.
            let offered = |tried: &LoadTrials| {
                tried
                    .outcomes
                    .iter()
                    .map(|outcome| outcome.offered)
                    .fold(tried.load, f64::min)
            };
            let good = tried.iter().filter(|tried| tried.votes(goal).0 >= majority);
            return Ok(Bounds {
                lower: good.map(offered).max_by(f64::total_cmp),
                upper: None,
            });
        };
        let lower = lower.map(|lower| lower.load);
        let from = lower.unwrap_or(0.0);
        if upper - from <= precision.width * upper || upper < highest * SMALLEST {
            return Ok(Bounds {
                lower,
                upper: Some(upper),
            });
        }
        let is_new = !tried.iter().any(|tried| tried.load == likely);
        load = if is_new && likely > from && likely < upper {
            likely
        } else {
            (from + upper) / 2.0
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRECISION: Precision = Precision {
        width: 0.01,
        trials: 3,
    };

    fn found(
        goal: f64,
        highest: f64,
        mut loss: impl FnMut(f64) -> f64,
    ) -> (Bounds, Vec<LoadTrials>) {
        let mut tried = Vec::new();
        let trial = |load| {
            Ok::<_, ()>(Outcome {
                offered: load,
                loss: loss(load),
                held_up: false,
            })
        };
        let found = bounds(goal, (highest, highest / 2.0), PRECISION, &mut tried, trial).unwrap();
        (found, tried)
    }

    #[test]
    fn the_bounds_hold_the_rate_at_which_loss_begins() {
        for capacity in [3e3, 400e3, 777e3, 999e3] {
            let (found, tried) = found(0.0, 1e6, |load| (1.0 - capacity / load).max(0.0));
            let (lower, upper) = (found.lower.unwrap(), found.upper.unwrap());
            assert!(
                lower <= capacity && capacity < upper && upper - lower <= 0.01 * upper,
                "{found:?}"
            );
            assert!(tried.len() < 25, "{tried:?}");
        }
        let (found, _) = found(0.0, 1e6, |_| 0.0);
        assert_eq!(
            found,
            Bounds {
                lower: Some(1e6),
                upper: None
            }
        );
    }

    #[test]
    fn a_share_of_loss_is_allowed_where_it_is_the_goal() {
        let (found, _) = found(0.005, 1e6, |load| (1.0 - 400e3 / load).max(0.0));
        let edge = 400e3 / 0.995;
        assert!(
            found.lower.unwrap() <= edge && found.upper.unwrap() > edge,
            "{found:?}"
        );
    }

    #[test]
    fn where_everything_loses_there_is_no_lower_bound() {
        let (found, _) = found(0.0, 1e6, |_| 0.1);
        assert!(
            found.lower.is_none() && found.upper.unwrap() < 1e3,
            "{found:?}"
        );
    }

    #[test]
    fn one_bad_trial_of_three_does_not_count_and_is_seen() {
        let mut count = 0;
        let (found, tried) = found(0.0, 1e6, |load| {
            count += 1;
            if load > 500e3 || count % 3 == 0 {
                0.2
            } else {
                0.0
            }
        });
        assert!(
            found.lower.unwrap() <= 500e3 && found.upper.unwrap() <= 506e3,
            "{found:?}"
        );
        assert!(tried.iter().any(|tried| tried.is_divided(0.0)), "{tried:?}");
    }

    #[test]
    fn a_load_above_one_that_loses_is_no_lower_bound() {
        // Loses between 300 and 350 thousand, and not between there and 500.
        let (found, _) = found(0.0, 1e6, |load| {
            if load > 500e3 || (250e3..350e3).contains(&load) {
                0.1
            } else {
                0.0
            }
        });
        assert!(found.lower.unwrap() < found.upper.unwrap());
    }

    #[test]
    fn a_trial_in_which_the_generator_was_held_up_is_repeated() {
        let (mut tried, mut count) = (Vec::new(), 0);
        let trial = |load: f64| {
            count += 1;
            let offered = if count == 1 { load / 10.0 } else { load };
            // In the third trial the graph had no processor, and lost half of what it was sent.
            let (held_up, limit) = (count == 3, if count == 3 { 0.0 } else { 400e3 });
            Ok::<_, ()>(Outcome {
                offered,
                loss: if offered > limit { 0.1 } else { 0.0 },
                held_up,
            })
        };
        let found = bounds(0.0, (1e6, 5e5), PRECISION, &mut tried, trial).unwrap();
        assert!(
            found.lower.unwrap() > 390e3 && found.upper.unwrap() < 405e3,
            "{found:?}"
        );
        assert_eq!(tried.iter().map(|tried| tried.short).sum::<usize>(), 2);
    }

    #[test]
    fn what_the_generator_cannot_send_is_not_claimed() {
        let mut tried = Vec::new();
        let trial = |load: f64| {
            Ok::<_, ()>(Outcome {
                offered: load.min(600e3),
                loss: 0.0,
                held_up: false,
            })
        };
        let found = bounds(0.0, (1e6, 5e5), PRECISION, &mut tried, trial).unwrap();
        assert_eq!(
            found,
            Bounds {
                lower: Some(600e3),
                upper: None
            }
        );
    }
}

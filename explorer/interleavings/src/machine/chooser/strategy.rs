//! Strategies: how an exploration chooses.

/// A strategy: how an exploration chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// At each operation all that can go are equally likely.
    Random,
    /// Probabilistic concurrency testing: priorities, and a number of changes of them (Burckhardt and
    /// others, "A randomized scheduler with probabilistic guarantees of finding bugs", 2010).
    Pct(u32),
    /// A process runs until it cannot go on; now and then one stands still for up to 256 operations
    /// of the others.
    PassingOver,
    /// The plainest run with about this number of deviations, anywhere and of any kind.
    Few(u32),
    /// Every run, but of those that differ in the order of independent operations alone one
    /// (dynamic partial-order reduction), with memory in all its orders. Before all others.
    Dpor,
}

impl Strategy {
    /// The default strategies, which take turns.
    pub fn in_turn() -> Vec<Self> {
        vec![Self::Random, Self::Pct(3), Self::PassingOver]
    }
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Pct(changes) => write!(f, "pct:{changes}"),
            Self::PassingOver => f.write_str("passing-over"),
            Self::Few(deviations) => write!(f, "few:{deviations}"),
            Self::Dpor => f.write_str("dpor"),
        }
    }
}

impl std::str::FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            None if text == "random" => Ok(Self::Random),
            None if text == "passing-over" => Ok(Self::PassingOver),
            None if text == "pct" => Ok(Self::Pct(3)),
            None if text == "dpor" => Ok(Self::Dpor),
            Some((kind @ ("pct" | "few"), number)) => match number.parse() {
                Ok(number @ 1..=64) => Ok(if kind == "pct" {
                    Self::Pct(number)
                } else {
                    Self::Few(number)
                }),
                _ => Err(format!(
                    "`{number}` in `{text}`: a number from 1 to 64 is right"
                )),
            },
            _ => Err(format!(
                "there is no strategy `{text}`: random, pct:N, passing-over, few:N and dpor are right"
            )),
        }
    }
}

//! All governors behind one type.

use crate::ladder::Ladder;
use crate::menu::Menu;
use crate::menu_310::Menu310;
use crate::number::Number;
use crate::rules::{Family, Release, Rule, Rules};
use crate::situation::{Choice, Outcome, Situation};
use crate::states::States;
use crate::teo::Teo;
use core::fmt;

/// A kind of governor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// menu as in Linux 3.10.
    Menu310,
    /// ladder, as in Linux 6.1.
    Ladder,
    /// A yardstick: the shallowest state, always.
    NeverDeep,
    /// A yardstick: the deepest state, always.
    AlwaysDeepest,
    /// menu or teo of a release.
    Dated(Family, Release),
}

impl Kind {
    /// One for each way to choose that is told apart, in the order in which they are shown.
    pub const ALL: [Self; 9] = [
        Self::Menu310,
        Self::menu(6, 1),
        Self::menu(7, 1),
        Self::teo(6, 10),
        Self::teo(6, 11),
        Self::teo(6, 18),
        Self::Ladder,
        Self::NeverDeep,
        Self::AlwaysDeepest,
    ];

    /// menu of a release.
    pub const fn menu(major: u16, minor: u16) -> Self {
        Self::Dated(Family::Menu, Release::new(major, minor))
    }

    /// teo of a release.
    pub const fn teo(major: u16, minor: u16) -> Self {
        Self::Dated(Family::Teo, Release::new(major, minor))
    }

    /// The kind of a name: one of [`Kind::ALL`], or that of a release as menu@6.12.117. `None`
    /// where there is none, and where the release is older than [`Family::oldest`].
    pub fn find(name: &str) -> Option<Self> {
        if let Some((_, kind)) = [
            ("menu@3.10", Self::Menu310),
            ("ladder", Self::Ladder),
            ("never-deep", Self::NeverDeep),
            ("always-deepest", Self::AlwaysDeepest),
        ]
        .into_iter()
        .find(|(known, _)| *known == name)
        {
            return Some(kind);
        }
        let (family, release) = name.split_once('@')?;
        let family = [Family::Menu, Family::Teo]
            .into_iter()
            .find(|known| known.name() == family)?;
        let release = Release::parse(release).filter(|release| *release >= family.oldest())?;
        Some(Self::Dated(family, release))
    }

    /// True if it asks whether the CPU is utilised.
    pub fn asks_utilisation(self) -> bool {
        self.rules()
            .is_some_and(|(_, rules)| rules.has(Rule::TeoUtilised))
    }

    /// True if it asks for tasks that wait for input or output.
    pub fn asks_waiters(self) -> bool {
        self.rules().is_some_and(|(family, rules)| {
            family == Family::Menu && !rules.has(Rule::MenuNoWaiters)
        })
    }

    /// The rules by which it chooses, where they changed with the kernel.
    fn rules(self) -> Option<(Family, Rules)> {
        match self {
            Self::Dated(family, release) => Some((family, Rules::of_release(family, release))),
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Menu310 => f.pad("menu@3.10"),
            Self::Ladder => f.pad("ladder"),
            Self::NeverDeep => f.pad("never-deep"),
            Self::AlwaysDeepest => f.pad("always-deepest"),
            Self::Dated(family, release) => write!(f, "{}@{release}", family.name()),
        }
    }
}

/// The governor of one CPU.
#[derive(Clone, PartialEq)]
pub struct Governor<N = u64>(Inner<N>);

#[derive(Clone, PartialEq)]
enum Inner<N> {
    Menu310(Menu310),
    Menu(Menu<N>),
    Teo(Teo<N>),
    Ladder(Ladder),
    NeverDeep,
    AlwaysDeepest,
}

/// Widens what a governor remembers until it holds what another remembers, too.
fn widen<'n, N: Number + 'n>(
    own: impl Iterator<Item = &'n mut N>,
    others: impl Iterator<Item = &'n mut N>,
) {
    own.zip(others).for_each(|(own, of)| *own = own.join(*of));
}

impl<N: Number> Governor<N> {
    /// A governor that knows nothing of the past yet. `tick_ns` is the period of the scheduler's
    /// tick.
    pub fn new(kind: Kind, states: &States, tick_ns: u64) -> Self {
        Self(match (kind, kind.rules()) {
            (_, Some((Family::Menu, rules))) => Inner::Menu(Menu::new(rules, tick_ns)),
            (_, Some((Family::Teo, rules))) => Inner::Teo(Teo::new(rules, tick_ns)),
            (Kind::Ladder, _) => Inner::Ladder(Ladder::new(states)),
            (Kind::NeverDeep, _) => Inner::NeverDeep,
            (Kind::AlwaysDeepest, _) => Inner::AlwaysDeepest,
            _ => Inner::Menu310(Menu310::new()),
        })
    }

    /// Chooses a state of `states`, for a CPU that is about to idle.
    pub fn select(&mut self, states: &States, situation: &mut impl Situation<N>) -> Choice {
        let choice = match &mut self.0 {
            Inner::Menu310(menu) => menu.select(states, situation),
            Inner::Menu(menu) => menu.select(states, situation),
            Inner::Teo(teo) => teo.select(states, situation),
            Inner::Ladder(ladder) => ladder.select(states, situation),
            Inner::NeverDeep => Choice {
                state: states.first_enabled(),
                stop_tick: true,
            },
            Inner::AlwaysDeepest => {
                let state = states.deepest_within(situation.latency_limit_ns());
                Choice {
                    state,
                    stop_tick: true,
                }
            }
        };
        debug_assert!(
            choice.state < states.len(),
            "a governor chose a state that there is not"
        );
        choice
    }

    /// Tells what became of the last choice.
    pub fn reflect(&mut self, states: &States, outcome: &Outcome) {
        match &mut self.0 {
            Inner::Menu310(menu) => menu.reflect(outcome),
            Inner::Menu(menu) => menu.reflect(states, outcome),
            Inner::Teo(teo) => teo.reflect(states, outcome),
            Inner::Ladder(ladder) => ladder.reflect(outcome),
            Inner::NeverDeep | Inner::AlwaysDeepest => {}
        }
    }

    /// Calls a function with each number that it remembers and that a join may widen.
    pub fn each_number(&mut self, of: impl FnMut(&mut N)) {
        match &mut self.0 {
            Inner::Menu(menu) => menu.numbers().for_each(of),
            Inner::Teo(teo) => teo.numbers().for_each(of),
            Inner::Menu310(_) | Inner::Ladder(_) | Inner::NeverDeep | Inner::AlwaysDeepest => {}
        }
    }

    /// Makes it any governor between this one and another of the same kind.
    pub fn join(&mut self, other: Self) {
        match (&mut self.0, other.0) {
            (Inner::Menu(menu), Inner::Menu(mut other)) => widen(menu.numbers(), other.numbers()),
            (Inner::Teo(teo), Inner::Teo(mut other)) => widen(teo.numbers(), other.numbers()),
            _ => {}
        }
    }

    /// Makes it any governor of its kind, whatever its past.
    pub fn blur(&mut self) {
        match &mut self.0 {
            Inner::Menu(menu) => menu.blur(),
            Inner::Teo(teo) => teo.blur(),
            Inner::Menu310(_) | Inner::Ladder(_) | Inner::NeverDeep | Inner::AlwaysDeepest => {}
        }
    }

    /// After how long the governor wants to be asked again about the choice that it made last, in
    /// nanoseconds, if nothing wakes the CPU before; `None` where it does not.
    pub fn ask_again_ns(&self) -> Option<u64> {
        match &self.0 {
            Inner::Menu310(menu) => menu.ask_again_ns(),
            _ => None,
        }
    }

    /// The time that a CPU polls at most, in nanoseconds, before the state is left and the governor
    /// is asked again: until the shallowest other state would pay.
    pub fn poll_limit_ns(&self, states: &States, tick_ns: u64) -> u64 {
        states
            .all()
            .iter()
            .skip(1)
            .find(|state| !state.disabled)
            .map_or(tick_ns, |state| state.target_residency_ns)
    }
}

//! The changes of menu and teo by kernel, from Linux 5.10 on, each with its commit and the releases
//! that have it.

use core::fmt;

/// A release of Linux: 6.12, 6.12.117, 6.18-rc4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// The first number.
    pub major: u16,
    /// The second number.
    pub minor: u16,
    /// The third number, from long-term branches; 0 where there is none.
    pub patch: u16,
    /// The number of the release candidate; [`FINAL`] for a release.
    candidate: u16,
}

/// Number that stands for "no release candidate": the release itself comes after all of them.
const FINAL: u16 = u16::MAX;

impl Release {
    /// A release without a third number.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self::patched(major, minor, 0)
    }

    /// A release of a long-term branch.
    pub const fn patched(major: u16, minor: u16, patch: u16) -> Self {
        Self {
            major,
            minor,
            patch,
            candidate: FINAL,
        }
    }

    /// A release candidate.
    pub const fn candidate(major: u16, minor: u16, candidate: u16) -> Self {
        Self {
            major,
            minor,
            patch: 0,
            candidate,
        }
    }

    /// Reads 6.12, 6.12.117 or 6.18-rc4, with or without a v; a distribution's own number behind it
    /// (6.12.117-1) says nothing here. `None` if it is none of them.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let (numbers, rest) = text.split_once(['-', '+', '~']).unwrap_or((text, ""));
        let mut numbers = numbers.split('.').map(|number| number.parse::<u16>());
        let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        let patch = numbers.next().transpose().ok()?.unwrap_or(0);
        if numbers.next().is_some() {
            return None;
        }
        let candidate = match rest.strip_prefix("rc") {
            Some(number) => number.split(['-', '~']).next()?.parse().ok()?,
            None => FINAL,
        };
        Some(Self {
            major,
            minor,
            patch,
            candidate,
        })
    }

    const fn is_of_branch(self, other: Self) -> bool {
        self.major == other.major && self.minor == other.minor
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        if self.patch > 0 {
            write!(f, ".{}", self.patch)?;
        }
        if self.candidate < FINAL {
            write!(f, "-rc{}", self.candidate)?;
        }
        Ok(())
    }
}

/// A governor that changed with the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// menu.
    Menu,
    /// teo, from 5.14 on: what it was before had nothing of it but the name.
    Teo,
}

impl Family {
    /// The kernel's name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Menu => "menu",
            Self::Teo => "teo",
        }
    }

    /// The first release whose governor is here.
    pub const fn oldest(self) -> Release {
        match self {
            Self::Menu => Release::new(5, 10),
            Self::Teo => Release::new(5, 14),
        }
    }

    /// The releases of which the kernel's own C code was run beside this, for 100 000 random steps
    /// (`cargo xtask judge governors`); at most one choice of a thousand differed.
    pub const fn judged(self) -> &'static [Release] {
        const JUDGED: [Release; 6] = [
            Release::patched(5, 10, 223),
            Release::patched(6, 1, 176),
            Release::patched(6, 1, 192),
            Release::patched(6, 12, 117),
            Release::patched(7, 2, 13),
            Release::patched(7, 3, 4),
        ];
        match self {
            Self::Menu => &JUDGED,
            Self::Teo => JUDGED.split_at(1).1,
        }
    }
}

/// A rule by which a governor chooses, in the order of the table.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// menu: with the tick stopped, a short prediction becomes the time to the next timer, not to
    /// the next event.
    MenuStoppedToTimer,
    /// menu: timers are asked for only if the recent stays do not agree on a very short one.
    MenuTimersOnDemand,
    /// menu: tasks that wait for input or output do not matter.
    MenuNoWaiters,
    /// menu: stays that stick out are dropped on either side of the mean.
    MenuBothEnds,
    /// menu: without agreement, the largest stay that is left is the prediction.
    MenuLargestLeft,
    /// menu: a state that the hardware refused counts as a stay without end.
    MenuRefusals,
    /// menu: a state that is too slow ends the search before anything else is asked.
    MenuLatencyFirst,
    /// menu: polling gives way only to a state that can be left within the prediction.
    MenuPollingLatency,
    /// menu: polling gives way only to a shallow state.
    MenuPollingShallow,
    /// menu: with the tick stopped, timers are always asked for.
    MenuStoppedAsks,
    /// menu: a timer within two ticks is net enough for a short prediction.
    MenuSafeTimer,
    /// teo: the last nine stays count for themselves, too.
    TeoRecent,
    /// teo: a busy CPU takes a shallower state.
    TeoUtilised,
    /// teo: the candidate is from the statistics, and timers are asked for only if needed.
    TeoTimersOnDemand,
    /// teo: stays beyond the tick have a bin of their own.
    TeoTickBin,
    /// teo: for state 0, timers are asked for after all.
    TeoAskAtZero,
    /// teo: without many short stays, timers are asked for shallow states as well.
    TeoShortIdles,
    /// teo: the state that fits the timer is taken, even if it is shallow and the tick stopped.
    TeoAnyShallower,
    /// teo: counts of intercepts before the tick grow with those before it, not after it.
    TeoTickIntercepts,
    /// teo: counts decay to zero, and their total is their sum.
    TeoDecayToZero,
    /// teo: wake-ups by the tick are counted, and are hits of the deepest state if they are most.
    TeoTickWakeups,
    /// teo: the search for a shallower state takes the first with most of the intercepts.
    TeoSimpleLookup,
    /// teo: with the tick stopped, a state as deep as the shallowest allowed one stays.
    TeoKeepEqual,
    /// teo: a wake-up by the tick where intercepts are rare is a hit.
    TeoTickHit,
    /// teo: the tick stays where two thirds, not five eighths, of the stays end before it.
    TeoTwoThirds,
    /// teo: a hit is a stay that ended near the timer.
    TeoCloseHit,
    /// teo: the search goes down to the bin with most intercepts.
    TeoMostIntercepts,
    /// teo: with the tick stopped, timers are always asked for, and a far one asks for a deep
    /// state.
    TeoSafeTimer,
}

/// A change of a governor's choices.
pub struct Change {
    /// Name of the [`Rule`] that it brought.
    pub rule: &'static str,
    /// The rule's number.
    bit: usize,
    /// The governor.
    pub family: Family,
    /// The commit in mainline; empty where it is not known.
    pub commit: &'static str,
    /// The choice that it makes, without the name of its governor.
    pub about: &'static str,
    /// The first mainline release with it, and then the first of each long-term branch that took it
    /// over. A branch's release stands for "this or an earlier one" where it is that of a package.
    pub from: Releases,
    /// The first releases without it again; empty where it stayed.
    pub until: Releases,
}

/// Releases, parted by blanks.
#[derive(Clone, Copy)]
pub struct Releases(&'static str);

impl Releases {
    /// Each of them, that of mainline first.
    pub fn iter(self) -> impl Iterator<Item = Release> {
        self.0.split_whitespace().filter_map(Release::parse)
    }
}

/// The table of the changes.
const TABLE: &str = include_str!("changes.txt");

/// Every change, in the order of mainline.
///
/// # Panics
/// The table is not sound, which a test holds it to.
pub fn changes() -> impl Iterator<Item = Change> {
    TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .enumerate()
        .map(|(bit, line)| {
            let mut columns = line.split('|').map(str::trim);
            let mut next = || columns.next().expect("five columns");
            let rule = next();
            let family = if rule.starts_with("Menu") {
                Family::Menu
            } else {
                Family::Teo
            };
            Change {
                rule,
                bit,
                family,
                commit: next(),
                from: Releases(next()),
                until: Releases(next()),
                about: next(),
            }
        })
}

impl Change {
    /// True if a release has it.
    pub fn is_in(&self, release: Release) -> bool {
        reaches(release, self.from) && !reaches(release, self.until)
    }
}

/// True if a release is at or behind the first of the places, which is mainline's, or at or behind
/// the one of its own branch.
fn reaches(release: Release, places: Releases) -> bool {
    places
        .iter()
        .skip(1)
        .find(|branch| branch.is_of_branch(release))
        .or(places.iter().next())
        .is_some_and(|from| release >= from)
}

/// The rules of a governor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules(u64);

impl Rules {
    /// Those of a release.
    pub fn of_release(family: Family, release: Release) -> Self {
        let here = changes().filter(|change| change.family == family && change.is_in(release));
        Self(here.fold(0, |rules, change| rules | 1 << change.bit))
    }

    pub const fn has(self, rule: Rule) -> bool {
        self.0 & 1 << rule as u32 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KnownSituation, Outcome, SleepLength, State, States};

    #[test]
    fn releases_are_read_and_written() {
        for text in ["6.12", "6.12.117", "6.18-rc4", "5.10.223"] {
            let release = Release::parse(text).unwrap();
            let mut written = heapless(release);
            assert_eq!(written.as_str(), text);
            written.clear();
        }
        assert_eq!(
            Release::parse("v6.12.117-1~deb12u1"),
            Some(Release::patched(6, 12, 117))
        );
        for wrong in ["6", "", "6.x", "6.1.2.3", "menu", "6.18-rc"] {
            assert_eq!(Release::parse(wrong), None, "{wrong}");
        }
        assert!(Release::parse("6.18-rc3") < Release::parse("6.18"));
    }

    fn heapless(release: Release) -> std::string::String {
        std::string::ToString::to_string(&release)
    }

    #[test]
    fn a_backport_counts_in_its_branch_alone() {
        let has = |text: &str, rule| {
            Rules::of_release(Family::Menu, Release::parse(text).unwrap()).has(rule)
        };
        let largest = |text| has(text, Rule::MenuLargestLeft);
        assert!(!largest("5.15.184") && largest("5.15.193") && !largest("5.15.196"));
        assert!(
            !largest("6.14")
                && largest("6.15")
                && largest("6.17")
                && largest("6.18-rc2")
                && !largest("6.18-rc3")
        );
        assert!(
            largest("6.16.9"),
            "a branch that took nothing over is as mainline was"
        );
        assert!(
            !has("6.12", Rule::MenuNoWaiters)
                && has("6.12.117", Rule::MenuNoWaiters)
                && has("6.13", Rule::MenuNoWaiters)
        );
        assert!(!has("6.12.117", Rule::MenuBothEnds), "never taken over");
    }

    fn first(releases: Releases) -> Release {
        releases.iter().next().unwrap()
    }

    #[test]
    fn changes_stand_in_the_order_of_mainline_and_end_after_they_began() {
        for family in [Family::Menu, Family::Teo] {
            let of_family = || changes().filter(|change| change.family == family);
            for (one, next) in of_family().zip(of_family().skip(1)) {
                assert!(
                    first(one.from) <= first(next.from),
                    "{} and {}",
                    one.rule,
                    next.rule
                );
            }
        }
        for change in changes() {
            assert!(
                change
                    .until
                    .iter()
                    .next()
                    .is_none_or(|until| until > first(change.from)),
                "{}",
                change.rule
            );
            assert!(
                change.from.iter().skip(1).all(|branch| branch.patch > 0),
                "{}",
                change.rule
            );
            let words =
                change.from.0.split(' ').count() + change.until.0.split_whitespace().count();
            assert_eq!(
                words,
                change.from.iter().count() + change.until.iter().count(),
                "{}",
                change.rule
            );
        }
        let last = changes().last().unwrap();
        assert_eq!(
            (last.rule, last.bit),
            (
                std::format!("{:?}", Rule::TeoSafeTimer).as_str(),
                Rule::TeoSafeTimer as usize
            )
        );
        assert_eq!(
            changes().position(|change| change.rule == "MenuRefusals"),
            Some(Rule::MenuRefusals as usize)
        );
    }

    /// A life of a governor in situations drawn from a seed: what it chooses.
    fn choices(
        family: Family,
        rules: Rules,
        tick_ns: u64,
        seed: u64,
    ) -> std::vec::Vec<crate::Choice> {
        let mut state = seed * 2 + 1;
        let mut draw = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut menu = crate::menu::Menu::new(rules, tick_ns);
        let mut teo = crate::teo::Teo::new(rules, tick_ns);
        let us = |exit: u64, residency: u64| State::new(exit * 1_000, residency * 1_000);
        let shallow = if seed.is_multiple_of(2) {
            State::polling()
        } else {
            us(1, 1)
        };
        let middle = if seed.is_multiple_of(7) {
            us(5, 30).disabled()
        } else {
            us(5, 30)
        };
        let deep_us = if seed.is_multiple_of(5) { 5_000 } else { 400 };
        let deeper = us(300, deep_us + 4_000 * (seed % 3));
        let states = States::new(&[
            shallow,
            us(2, 10 + 8 * (seed % 4 / 2)),
            middle,
            us(100, deep_us),
            deeper,
        ])
        .unwrap();
        let (mut chosen, mut stopped, mut length) = (std::vec::Vec::new(), false, 0);
        for step in 0..400 {
            if step % 20 == 0 {
                length = 10_u64.pow(3 + draw(6) as u32);
            }
            let timer_ns = length * (1 + draw(9));
            let event_ns = if stopped && draw(2) == 0 {
                timer_ns
            } else {
                timer_ns.min(1 + draw(tick_ns))
            };
            let mut asked = KnownSituation {
                latency_limit_ns: if draw(8) == 0 {
                    1_000 * draw(400)
                } else {
                    crate::NO_LIMIT_NS
                },
                io_waiters: draw(3) as u32,
                tick_stopped: stopped,
                utilised: draw(2) == 0,
                ..KnownSituation::new(SleepLength { timer_ns, event_ns })
            };
            let choice = match family {
                Family::Menu => menu.select(&states, &mut asked),
                Family::Teo => teo.select(&states, &mut asked),
            };
            chosen.push(choice);
            stopped = (stopped || choice.stop_tick) && draw(3) > 0;
            let woken_ns = if draw(2) == 0 {
                event_ns
            } else {
                length / 8 + draw(length)
            };
            let stay_ns = event_ns.min(woken_ns);
            let mut outcome = match draw(12) {
                0 => Outcome::refused(),
                _ => Outcome::stay(choice.state, stay_ns),
            };
            outcome.got_tick = !stopped && stay_ns == event_ns && event_ns < timer_ns;
            match family {
                Family::Menu => menu.reflect(&states, &outcome),
                Family::Teo => teo.reflect(&states, &outcome),
            }
        }
        chosen
    }

    /// A rule whose input nobody sets would change nothing.
    #[test]
    fn every_rule_that_is_listed_changes_a_choice() {
        for change in changes() {
            // The first release with it, and the same without it.
            let rules = Rules::of_release(change.family, first(change.from));
            assert!(rules.0 & 1 << change.bit != 0, "{}", change.rule);
            let without = Rules(rules.0 & !(1 << change.bit));
            let differs = |seed| {
                let of = |rules| choices(change.family, rules, crate::TICK_NS, seed);
                of(rules) != of(without)
            };
            assert!((0..200).any(differs), "{} changes nothing", change.rule);
        }
    }
}

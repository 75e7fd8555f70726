//! Limits under which governors choose: the longest latency that is allowed, and states that are
//! switched off.

use crate::platform::{LatencyLimit, Platform};
use experiment::setting::CheckedSetting;
use experiment::{Error, Settings};
use itertools::Itertools;
use platforms::DISABLE;
use std::fmt;
use std::ops::RangeInclusive;

/// The longest exit latencies that are allowed.
pub const LATENCY_LIMIT: CheckedSetting<Asked> = CheckedSetting::new(
    "latency-limit",
    "[CPUS:]US",
    latencies,
    "Also each governor where no state may take longer to leave than this (/dev/cpu_dma_latency), in us; several as 20,100; 10..2000 for \
     each limit from which another state is left; 4-7:100 for these CPUs alone (pm_qos_resume_latency_us).",
);

/// The limit for s2idle.
pub const WAKEUP_LIMIT: CheckedSetting<u64> = CheckedSetting::new(
    "wakeup-limit",
    "US",
    |text| {
        text.parse()
            .ok()
            .filter(|us| *us <= MOST_US)
            .ok_or_else(|| format!("a whole number of us up to {MOST_US}"))
    },
    "The state that s2idle enters where none may take longer to leave than this (/dev/cpu_wakeup_latency, Linux 6.19), in us.",
);

/// Linux takes a limit as a 32-bit number of us; none of its states takes this long.
const MOST_US: u64 = 1_000_000_000;

/// The limits that the command line gives for some CPUs, or for all.
pub struct Asked {
    /// CPUs as they were given; empty for all.
    cpu_list: String,
    cpus: Vec<u16>,
    us: Vec<RangeInclusive<u64>>,
}

/// Reads limits.
fn latencies(text: &str) -> Result<Asked, String> {
    let right = || {
        format!("us up to {MOST_US}, such as 100, or 20,100, or 10..2000, or for some CPUs 4-7:100")
    };
    let (list, limits) = text
        .split_once(':')
        .map_or((None, text), |(list, limits)| (Some(list), limits));
    let number = |text: &str| text.trim().parse().ok().filter(|us| *us <= MOST_US);
    let range = |text: &str| match text.split_once("..") {
        Some((low, high)) => number(low)
            .zip(number(high))
            .filter(|(low, high)| low <= high)
            .map(|(low, high)| low..=high),
        None => number(text).map(|us| us..=us),
    };
    let us = limits
        .split(',')
        .map(range)
        .collect::<Option<_>>()
        .ok_or_else(right)?;
    let cpus = list.map_or(Ok(Vec::new()), import::ftrace::cpu_list)?;
    Ok(Asked {
        cpu_list: list.unwrap_or("").to_owned(),
        cpus,
        us,
    })
}

/// A limit under which a governor chooses.
#[derive(Clone, Debug, Default)]
pub struct Limit {
    /// The longest exit latency that is allowed, in us; `None` where any is.
    pub latency_us: Option<u64>,
    /// The CPUs for which it holds, as they were given; empty for all.
    pub cpu_list: String,
    /// The same as numbers.
    pub cpus: Vec<u16>,
    /// States that are switched off.
    pub disabled: Vec<String>,
}

impl Limit {
    /// The limits that are asked for, for a platform.
    ///
    /// # Errors
    /// A state that is to be switched off is none of the platform's, or none is left.
    pub fn all(settings: &Settings, platform: &Platform) -> Result<Vec<Self>, Error> {
        let disabled = settings.get(DISABLE).unwrap_or_default();
        platforms::disable(&mut platform.clone(), &disabled)?;
        let mut only = Self {
            disabled,
            ..Self::default()
        };
        let Some(Asked { cpu_list, cpus, us }) = settings.get(LATENCY_LIMIT) else {
            return Ok(if only.disabled.is_empty() {
                Vec::new()
            } else {
                vec![only]
            });
        };
        (only.cpu_list, only.cpus) = (cpu_list, cpus);
        let turns = platform
            .domains
            .iter()
            .flat_map(|domain| domain.table.all())
            .map(|state| state.exit_latency_ns);
        let of_domains = platform.power_domains.iter().flat_map(|of| &of.states);
        let turns = turns
            .chain(of_domains.map(|state| state.off_ns + state.on_ns))
            .map(|ns| ns.div_ceil(1000))
            .collect_vec();
        let mut limits = us
            .iter()
            .flat_map(|range| {
                turns
                    .iter()
                    .copied()
                    .filter(|us| range.contains(us))
                    .chain([*range.start()])
            })
            .collect_vec();
        limits.sort_unstable();
        limits.dedup();
        let limit = |us| Self {
            latency_us: Some(us),
            ..only.clone()
        };
        Ok(limits.into_iter().map(limit).collect())
    }

    /// The same platform under this limit.
    pub fn of(&self, platform: &Platform) -> Platform {
        let mut platform = platform.clone();
        platform.latency_limit = self.latency_us.map(|us| LatencyLimit {
            cpus: self.cpus.clone(),
            ns: us.saturating_mul(1000),
        });
        // The command line has already refused a state that cannot be switched off.
        let _ = platforms::disable(&mut platform, &self.disabled);
        platform
    }

    /// Names of the states that may be chosen: the first one whatever the limit, as in Linux; and
    /// those of power domains, which follow CPUs into their deepest state alone.
    pub fn left(&self, platform: &Platform) -> Vec<String> {
        let limited = self.of(platform);
        let table = &limited.domains[0].table;
        let fits = |(at, state): &(usize, &idle::State)| {
            let is_short = self
                .latency_us
                .is_none_or(|us| state.exit_latency_ns <= us.saturating_mul(1000));
            !state.disabled && (is_short || *at == table.first_enabled())
        };
        let states = limited.state_names().zip(table.all().iter().enumerate());
        let left = states.filter(|(_, state)| fits(state)).collect_vec();
        let follows = left.last().is_some_and(|(_, (at, _))| *at == table.last());
        let domains = limited.power_domains.iter().filter(|_| follows);
        let of_domains = domains.flat_map(|of| of.state_names.iter().zip(&of.states));
        let of_domains = of_domains.filter(|(_, state)| {
            state.residency_ns < idle::NEVER_NS
                && self.latency_us.is_none_or(|us| is_within(state, us))
        });
        let cpu_names = left.iter().map(|(name, _)| *name);
        cpu_names
            .chain(of_domains.map(|(name, _)| name.as_str()))
            .unique()
            .map(str::to_owned)
            .collect()
    }
}

/// True if a power domain's state takes no longer to enter and leave than a limit.
const fn is_within(state: &idle::DomainState, limit_us: u64) -> bool {
    state.off_ns + state.on_ns <= limit_us.saturating_mul(1000)
}

/// The states that s2idle enters within a limit. Of a CPU: of those that a driver offers to it the
/// one that takes longest to leave, else WFI, which it does not offer. Behind the deepest, each power
/// domain whose inner ones are in their deepest enters its deepest one within the limit
/// (`cpu_system_power_down_ok` of drivers/pmdomain/governor.c, Linux 7.2).
pub fn s2idle_states(platform: &Platform, limit_us: u64) -> Vec<&str> {
    let table = &platform.domains[0].table;
    let fits = |(at, state): &(usize, &idle::State)| {
        *at == 0 || !state.polling && state.exit_latency_ns <= limit_us.saturating_mul(1000)
    };
    let states = table.all().iter().enumerate().filter(fits);
    let chosen = states.max_by_key(|(_, state)| state.exit_latency_ns);
    let Some((chosen, _)) = chosen else {
        return Vec::new();
    };
    let mut names = platform.state_names().skip(chosen).take(1).collect_vec();
    let mut stay_on: Vec<u16> = Vec::new();
    if chosen != table.last() {
        return names;
    }
    let domains = platform.power_domains.iter();
    for domain in domains.sorted_by_key(|domain| domain.cpus.len()) {
        if domain.cpus.iter().any(|cpu| stay_on.contains(cpu)) {
            continue;
        }
        let state = domain
            .states
            .iter()
            .rposition(|state| is_within(state, limit_us));
        names.extend(state.map(|state| domain.state_names[state].as_str()));
        if state.is_none_or(|state| state + 1 < domain.states.len()) {
            stay_on.extend(&domain.cpus);
        }
    }
    names.into_iter().unique().collect()
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(us) = self.latency_us {
            write!(f, " <= {us} us")?;
        }
        if !self.cpu_list.is_empty() {
            write!(f, " on {}", self.cpu_list)?;
        }
        if self.disabled.is_empty() {
            Ok(())
        } else {
            write!(f, " without {}", self.disabled.join(", "))
        }
    }
}

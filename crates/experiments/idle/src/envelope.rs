//! Bounds of what a governor may have done, where the trace does not say enough.
//!
//! What is unknown may differ from interval to interval. So the search replays each interval with
//! every value that the trace admits: the time to the next timer, cut into ranges within which a
//! governor chooses alike, the tick running or not, and whatever else a governor asks for. It keeps
//! all states that the governor may be in afterwards. Where these are too many, it replaces them by
//! one whose numbers are intervals that hold them all. So the bounds leave nothing out, and may be
//! wider than need be.

use crate::energy::{Energies, Segment, Segments};
use crate::platform::{POINTS, Platform, StayCost};
use crate::replay::{Delays, Ideal, Sleeper, Stay, Unsaid, asks_tasks, later, seen, situation};
use crate::span::{Span, on_all_ways};
use crate::trace::TracedIntervals;
use idle::{
    Accounting, Governor, Kind, KnownSituation, MAX_STATES, NEVER_NS, Number, Outcome, SleepLength,
    Usage,
};
use itertools::Itertools;
use sleeps::{Sleep, SleepLength as Known};

/// The least and the most of each count over all that may have been chosen.
pub struct Envelope {
    /// By state: the least, and the most.
    pub states: [Vec<Usage>; 2],
    /// Over all states: the least, and the most. Entries are not counted here.
    pub all: [Usage; 2],
    /// The least and the most energy.
    pub energies: [Energies; 2],
    /// The shortest and the longest delays.
    pub delays: [Delays; 2],
    /// The states in which each interval of each CPU may have ended.
    pub(crate) lasts: Vec<Vec<Last>>,
}

/// The states in which an interval may have ended.
#[derive(Clone, Copy)]
pub(crate) struct Last {
    /// A bit for each.
    states: u32,
    /// True if nothing about the interval is open, so that the replay knows it.
    is_known: bool,
}

impl Last {
    /// True if it is a state; `None` where it may be.
    pub const fn is(self, state: usize) -> Option<bool> {
        if self.states & 1 << state == 0 {
            Some(false)
        } else if self.is_known {
            Some(true)
        } else {
            None
        }
    }
}

/// The replay whose bounds are searched for.
#[derive(Clone, Copy)]
struct Search<'s> {
    platform: &'s Platform,
    traced: &'s TracedIntervals,
    kind: Kind,
    own: bool,
    tick_ns: u64,
    tracing_ns: u64,
}

/// A past that the governor of a CPU may have: the traced kernel's own choices, or its own in the
/// replay.
struct Past {
    is_taught: bool,
    governors: Vec<Governor<Span>>,
    /// As in [`Ways`].
    most: usize,
    left: u64,
    stops: [bool; 2],
}

/// The most states of a governor that are kept apart; where there are more, they are merged.
const MOST: usize = 96;

/// The most branches that are searched for one CPU. After that, any choice counts as possible in an
/// interval of which something is unknown.
const WAYS: u64 = 200_000;

/// A timer that is further away than this counts as no timer, in nanoseconds: 13 days.
const FURTHEST_NS: u64 = 1 << 50;

/// Picks one end.
const ENDS: [fn(u64, u64) -> u64; 2] = [u64::min, u64::max];
const ENDS_OF_ENERGY: [fn(u128, u128) -> u128; 2] = [u128::min, u128::max];

impl Envelope {
    /// The envelope of a governor on a trace; `None` where it has one way to choose. `own` is true
    /// for the governor of the traced kernel: its past may be the kernel's own choices.
    pub fn new(
        platform: &Platform,
        traced: &TracedIntervals,
        segments: &Segments,
        kind: Kind,
        own: bool,
        tick_ns: u64,
    ) -> Option<Self> {
        // menu of 3.10 sets a timer to be asked again, which multiplies the branches.
        if kind == Kind::Menu310 {
            return None;
        }
        let search = Search {
            platform,
            traced,
            kind,
            own,
            tick_ns,
            tracing_ns: traced.tracing_ns().unwrap_or(0),
        };
        let all = search.envelope(segments);
        let is_open = all.lasts.iter().flatten().any(|last| !last.is_known);
        is_open.then_some(all)
    }

    /// Counts an interval that may have gone in several ways.
    fn count(&mut self, sleeper: &Sleeper<'_>, ways: &[Vec<Stay>]) {
        let domain = sleeper.domain();
        let counted = |stays: &Vec<Stay>| {
            let mut accounting = Accounting::default();
            let mut all = Usage::default();
            for stay in stays {
                accounting.leave(&domain.table, stay.state, stay.stay_ns);
            }
            (0..MAX_STATES).for_each(|state| all += *accounting.usage(state));
            (accounting, all)
        };
        let counted = ways.iter().map(counted).collect_vec();
        for (end, pick) in ENDS.into_iter().enumerate() {
            for (state, sum) in self.states[end].iter_mut().enumerate() {
                let usages = counted.iter().map(|(of, _)| *of.usage(state));
                *sum += usages
                    .reduce(|a, b| picked(pick, &a, &b))
                    .unwrap_or_default();
            }
            let all = counted.iter().map(|(_, all)| *all);
            self.all[end] += all.reduce(|a, b| picked(pick, &a, &b)).unwrap_or_default();
        }
        let delays = ways.iter().filter_map(|stays| stays.last());
        let delays = delays.map(|stay| stay.delay_ns(domain)).minmax();
        for (end, delay_ns) in delays
            .into_option()
            .into_iter()
            .flat_map(|(a, b)| [(0, a), (1, b)])
        {
            self.delays[end].count(delay_ns);
        }
        for point in 0..POINTS.len() {
            let cost =
                |stay: &Stay| StayCost::of_core(&domain.states[stay.state], point).of(stay.stay_ns);
            let costs = ways.iter().map(|stays| stays.iter().map(cost).sum());
            self.cost(point, costs);
        }
    }

    /// Adds what costs one of some energies.
    fn cost(&mut self, point: usize, costs: impl Iterator<Item = u128> + Clone) {
        for (end, pick) in ENDS_OF_ENERGY.into_iter().enumerate() {
            self.energies[end][point] += costs.clone().reduce(pick).unwrap_or(0);
        }
    }

    /// Counts a time in which all CPUs of a domain are idle: it is in the shallowest of their
    /// states.
    fn count_domain(&mut self, platform: &Platform, segments: &Segments, segment: &Segment) {
        let last = |&(cpu, at): &(u16, u32)| self.lasts[usize::from(cpu)][at as usize].states;
        let lasts = segments.covers(segment).iter().map(last).collect_vec();
        let reach = |mask: u32| mask.checked_ilog2().unwrap_or(0);
        let deepest = lasts.iter().copied().map(reach).min().unwrap_or(0);
        let some = lasts.iter().fold(0, |all, mask| all | mask);
        let states = &platform.domains[usize::from(segment.domain)].states;
        let levels = (0..=deepest).filter(|level| some & 1 << level != 0);
        for point in 0..POINTS.len() {
            let cost =
                |level: u32| StayCost::of_domain(&states[level as usize], point).of(segment.ns);
            self.cost(point, levels.clone().map(cost));
        }
    }
}

/// The picked end of each count.
fn picked(pick: fn(u64, u64) -> u64, a: &Usage, b: &Usage) -> Usage {
    Usage {
        entered: pick(a.entered, b.entered),
        time_ns: pick(a.time_ns, b.time_ns),
        above: pick(a.above, b.above),
        below: pick(a.below, b.below),
        rejected: pick(a.rejected, b.rejected),
    }
}

impl Search<'_> {
    fn envelope(&self, segments: &Segments) -> Envelope {
        let none = vec![Usage::default(); self.platform.domains[0].states.len()];
        let mut envelope = Envelope {
            states: [none.clone(), none],
            all: [Usage::default(); 2],
            energies: [[0; POINTS.len()]; 2],
            delays: Default::default(),
            lasts: Vec::new(),
        };
        for cpu in 0..self.traced.cpus.len() {
            let lasts = self.cpu(cpu, &mut envelope);
            envelope.lasts.push(lasts);
        }
        for segment in &segments.all {
            envelope.count_domain(self.platform, segments, segment);
        }
        if self.platform.power.is_none() {
            envelope.energies = [[0; POINTS.len()]; 2];
        }
        envelope
    }

    /// Lives through all intervals of a CPU.
    fn cpu(&self, cpu: usize, envelope: &mut Envelope) -> Vec<Last> {
        let sleeper = Sleeper::new(self.platform, cpu, self.tick_ns);
        let table = &sleeper.domain().table;
        let edges = self.edges(table);
        let numbers = 0..self.traced.cpus[cpu].len();
        let past = |is_taught| {
            let governors = vec![Governor::new(self.kind, table, self.tick_ns)];
            let (most, left) = (MOST, WAYS);
            let mut past = Past {
                is_taught,
                governors,
                most,
                left,
                stops: [false; 2],
            };
            // The kernel's past before the trace is taken to be as in it.
            for number in numbers.clone().filter(|_| is_taught) {
                self.step(&sleeper, (cpu, number), &edges, &mut past);
            }
            past
        };
        let mut pasts = may_be(if self.own { None } else { Some(false) })
            .map(past)
            .collect_vec();
        let one = |number| {
            let steps = pasts.iter_mut();
            let ways = steps.flat_map(|past| self.step(&sleeper, (cpu, number), &edges, past));
            let ways = ways.unique().collect_vec();
            envelope.count(&sleeper, &ways);
            let ends = ways.iter().filter_map(|stays| stays.last());
            let stops = pasts.iter().map(|past| past.stops).dedup().collect_vec();
            let is_one = ways.len() == 1 && stops.len() == 1 && stops[0] != [true; 2];
            Last {
                states: ends.fold(0, |states, stay| states | 1 << stay.state),
                is_known: is_one && is_known(&self.traced.cpus[cpu][number]),
            }
        };
        numbers.clone().map(one).collect()
    }

    /// Lives through an interval with a past: the ways that it may have gone.
    fn step(
        &self,
        sleeper: &Sleeper<'_>,
        (cpu, number): (usize, usize),
        edges: &[u64],
        past: &mut Past,
    ) -> Vec<Vec<Stay>> {
        let sleep = &self.traced.cpus[cpu][number];
        let last = sleeper.domain().table.last();
        let outcome = past
            .is_taught
            .then(|| seen(self.traced, (cpu, number), last, self.tracing_ns));
        let all = self.all_that_may_be(sleep, edges);
        let is_one = all.len() == 1;
        let mut ways = Ways {
            found: Vec::new(),
            most: if is_one { MOST } else { past.most },
            left: past.left,
            stops: [false; 2],
        };
        let mut goes = |(got_tick, asked)| {
            let outcome = outcome.map(|outcome| Outcome {
                got_tick,
                ..outcome
            });
            let left = (sleep.interval_ns(), got_tick);
            self.go(sleeper, &past.governors, asked, left, outcome, &mut ways)
        };
        if !(is_one || past.left > 0) || !all.into_iter().all(&mut goes) {
            ways = self.anything(sleeper, sleep);
        }
        past.most = if ways.is_full() { 1 } else { MOST };
        (past.left, past.stops) = (ways.left, ways.stops);
        let stays = ways.found.iter().map(|(stays, _)| stays.clone());
        let stays = stays.unique().collect();
        past.governors = ways.governors();
        stays
    }

    /// Goes all ways of some governors through an interval; false where they are too many.
    fn go(
        &self,
        sleeper: &Sleeper<'_>,
        governors: &[Governor<Span>],
        mut asked: KnownSituation<Span>,
        (mut left_ns, got_tick): (u64, bool),
        past: Option<Outcome>,
        ways: &mut Ways,
    ) -> bool {
        let none = governors
            .iter()
            .map(|governor| (Vec::new(), governor.clone()));
        let mut open = none.collect_vec();
        loop {
            let mut again = Ways {
                found: Vec::new(),
                most: ways.most,
                left: 0,
                stops: [false; 2],
            };
            let mut gone = 0;
            for (stays, governor) in &open {
                on_all_ways(|| {
                    let mut governor = governor.clone();
                    let left = (left_ns, got_tick);
                    let (stay, stop_tick) =
                        sleeper.asks(&mut governor, asked, left, past, &mut Ideal);
                    let stays = stays.iter().copied().chain([stay]).collect();
                    let is_over = stay.stay_ns == left_ns;
                    let to = if is_over { &mut *ways } else { &mut again };
                    to.stops[usize::from(stop_tick)] = true;
                    to.add(stays, governor);
                    gone += 1;
                });
            }
            ways.left = ways.left.saturating_sub(gone - 1);
            open = again.found;
            // All that are left stayed as long: until the limit of polling.
            let Some(stay) = open.first().and_then(|(stays, _)| stays.last()) else {
                return true;
            };
            if ways.left == 0 && gone > 1 {
                return false;
            }
            left_ns -= stay.stay_ns;
            asked = later(asked, stay.stay_ns);
        }
    }

    /// Any state for the whole of an interval, or for what is left of it after polling.
    fn anything(&self, sleeper: &Sleeper<'_>, sleep: &Sleep) -> Ways {
        let table = &sleeper.domain().table;
        let mut governor = Governor::new(self.kind, table, self.tick_ns);
        governor.blur();
        let latency_ns = self.platform.latency_limit_ns(sleep.cpu);
        let interval_ns = sleep.interval_ns();
        let limit_ns = governor.poll_limit_ns(table, self.tick_ns).max(1);
        let most_polls = match table.get(0).polling {
            true => interval_ns.saturating_sub(1) / limit_ns,
            false => 0,
        };
        let mut ways = Ways {
            found: Vec::new(),
            most: 1,
            left: 0,
            stops: [true; 2],
        };
        for (state, of) in table.all().iter().enumerate() {
            let fits = !of.disabled && of.exit_latency_ns <= latency_ns;
            if fits || state == 0 || state == table.first_enabled() {
                for polls in [0, most_polls] {
                    let polled = (0..polls).map(|_| Stay::new(0, limit_ns, &mut Ideal));
                    let last = Stay::new(state, interval_ns - polls * limit_ns, &mut Ideal);
                    ways.add(polled.chain([last]).collect(), governor.clone());
                }
            }
        }
        ways
    }

    /// The times at which a governor tells a timer from one that comes a nanosecond later.
    fn edges(&self, table: &idle::States) -> Vec<u64> {
        let tick_ns = self.tick_ns;
        let states = table.all().iter().map(|state| state.target_residency_ns);
        let ticks = [tick_ns, tick_ns + 1, 2 * tick_ns + 1, FURTHEST_NS + 1];
        let decades = (4..9).map(|decade| 10_u64.pow(decade));
        let all = states.chain(ticks).chain(decades);
        all.sorted_unstable().dedup().collect()
    }

    /// All that a governor may have found in an interval, as far as one differs from another.
    fn all_that_may_be(&self, sleep: &Sleep, edges: &[u64]) -> Vec<(bool, KnownSituation<Span>)> {
        let kind = self.kind;
        let is_known = !asks_tasks(kind, self.traced)
            && (sleep.utilised.is_some() || !kind.asks_utilisation());
        let timers = timers(sleep, edges);
        let all = timers
            .into_iter()
            .cartesian_product(may_be(sleep.tick_stopped));
        let all = all.cartesian_product(may_be(is_known.then_some(false)));
        let all = all.cartesian_product(may_be(sleep.got_tick));
        let one = |(((timer_ns, tick_stopped), is_busy), got_tick)| {
            let unsaid = Unsaid {
                tick_stopped,
                is_busy,
                ..Unsaid::TIMER
            };
            let event_ns = match sleep.length {
                Known::Known {
                    tick_ns: Some(tick_ns),
                    ..
                } => Span::with(timer_ns, tick_ns.into(), u64::min),
                _ if tick_stopped => timer_ns,
                _ => Span::from(0).join(timer_ns),
            };
            let length = SleepLength { timer_ns, event_ns };
            (got_tick, situation(self.platform, sleep, unsaid, length))
        };
        // Other governors do not ask.
        let most = if matches!(kind, Kind::Dated(..)) {
            usize::MAX
        } else {
            1
        };
        all.map(one).take(most).collect()
    }
}

/// True if the time to the next event is known: the timer's, or the tick's.
fn is_known(sleep: &Sleep) -> bool {
    let [least_ns, most_ns] = sleep.length.ends_ns();
    match sleep.length {
        Known::Known {
            tick_ns: Some(_), ..
        } => true,
        _ => least_ns == most_ns && sleep.tick_stopped == Some(true),
    }
}

/// The values that an answer may have: the known one, or both.
fn may_be(known: Option<bool>) -> impl Iterator<Item = bool> + Clone {
    let is_so = move |one: &bool| known.is_none_or(|known| known == *one);
    [false, true].into_iter().filter(is_so)
}

/// The times to the next timer, in parts that no edge cuts.
fn timers(sleep: &Sleep, edges: &[u64]) -> Vec<Span> {
    let end_ns = NEVER_NS - sleep.enter_ns.min(NEVER_NS);
    let [least_ns, most_ns] = sleep.length.ends_ns();
    if least_ns == most_ns {
        return vec![least_ns.min(end_ns).into()];
    }
    let furthest_ns = most_ns.min(FURTHEST_NS);
    let cuts = edges.iter().copied().chain([sleep.interval_ns() + 1]);
    let cuts = cuts.filter(|cut| (least_ns + 1..=furthest_ns).contains(cut));
    let from = cuts
        .chain([least_ns, furthest_ns + 1])
        .sorted_unstable()
        .dedup();
    let part = |(from, to): (u64, u64)| Span::from(from).join((to - 1).into());
    let never = (most_ns > FURTHEST_NS).then(|| end_ns.into());
    from.tuple_windows().map(part).chain(never).collect()
}

/// The ways that an interval may have gone.
struct Ways {
    /// Stays, and the governor afterwards.
    found: Vec<(Vec<Stay>, Governor<Span>)>,
    /// The most that are kept apart by their governors.
    most: usize,
    /// Branches that may still be searched.
    left: u64,
    /// Whether the last choice of some left the tick running, and of some stopped it.
    stops: [bool; 2],
}

impl Ways {
    fn add(&mut self, stays: Vec<Stay>, governor: Governor<Span>) {
        let is_full = self.is_full();
        let same = self
            .found
            .iter_mut()
            .find(|way| way.0 == stays && (is_full || way.1 == governor));
        match same {
            Some((_, other)) => other.join(governor),
            None => self.found.push((stays, governor)),
        }
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.most
    }

    /// The governors that there may be, each once; one for all where they are many.
    fn governors(self) -> Vec<Governor<Span>> {
        let is_full = self.is_full();
        let mut all: Vec<Governor<Span>> = Vec::new();
        for (_, governor) in self.found {
            match all.iter_mut().find(|other| is_full || **other == governor) {
                Some(other) => other.join(governor),
                None => all.push(governor),
            }
        }
        all
    }
}

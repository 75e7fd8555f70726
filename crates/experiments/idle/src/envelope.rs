//! Bounds of what a governor may have done, where the trace does not say enough.
//!
//! What is unknown may differ from interval to interval. So the search replays each interval with
//! every value that the trace admits: the time to the next timer, cut into ranges within which a
//! governor chooses alike, the tick running or not, and whatever else a governor asks for. It keeps
//! all states that the governor may be in afterwards. Where these are too many, it replaces them by
//! one whose numbers are intervals that hold them all. So the bounds leave nothing out, and may be
//! wider than need be.

use crate::energy::{Energies, Segment, Segments};
use crate::platform::{Domain, POINTS, Platform, StayCost};
use crate::replay::{Delays, Ideal, Sleeper, Stay, Unsaid, asks_tasks, later, seen, situation};
use crate::span::{Span, on_all_ways};
use crate::trace::TracedIntervals;
use idle::{
    Accounting, Governor, Kind, KnownSituation, NEVER_NS, Number, Outcome, SleepLength, Usage,
};
use itertools::Itertools;
use sleeps::Sleep;

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
    /// Parts that each decade of a time to a timer is cut into.
    parts: u64,
}

/// A past that the governor of a CPU may have: the traced kernel's own choices, or its own in the
/// replay.
struct Past {
    is_taught: bool,
    governors: Vec<Governor<Span>>,
    /// Shares of the intervals to come in the branches that are left, as in [`share`].
    ahead: u64,
    /// As in [`Ways`].
    left: u64,
    stops: [bool; 2],
}

/// The most states of a governor that are kept apart; where there are more, they are merged.
const MOST: usize = 96;

/// The most ways through an interval that are kept apart.
const MOST_WAYS: usize = 16_000;

/// The most branches that are searched for one CPU. After that, any choice counts as possible in an
/// interval of which something is unknown.
const WAYS: u64 = 100_000;

/// The most intervals of unknown sleep length that are cut finely.
const FEW: usize = 32;

/// A timer that is further away than this counts as no timer, in nanoseconds: 13 days.
const FURTHEST_NS: u64 = 1 << 50;

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
        let is_open = |sleep: &&Sleep| {
            let [least_ns, most_ns] = sleep.length.ends_ns();
            least_ns < most_ns
        };
        let open = traced.all().filter(is_open).count();
        let is_rare = open <= FEW && 4 * open <= traced.all().count();
        let search = Search {
            parts: if is_rare { 10 } else { 2 },
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
}

/// The least and the most of each figure.
type Ends = [Vec<u128>; 2];

/// The ways of a CPU through all of its intervals, with one past.
struct Lived {
    /// Governors that there may be before the first interval.
    first: usize,
    /// The ways through each interval.
    steps: Vec<Vec<Gone>>,
}

/// A way through an interval.
struct Gone {
    stays: Vec<Stay>,
    /// A bit for each governor that may go it.
    froms: u128,
    /// The index, among the governors of the next interval, of the one that follows.
    to: usize,
}

/// The figures of some stays: counts by state, counts over all states, and energies. The energies
/// of domains, which CPUs share, have a least and a most.
fn costs(domain: &Domain, states: usize, stays: &[Stay], shared: &[Energies; 2]) -> Ends {
    let mut accounting = Accounting::default();
    for stay in stays {
        accounting.leave(&domain.table, stay.state, stay.stay_ns);
    }
    let usages = (0..states).map(|state| *accounting.usage(state));
    let all = usages.clone().fold(Usage::default(), |mut all, of| {
        all += of;
        all
    });
    let counts = usages.chain([all]);
    let counts = counts.flat_map(|of| [of.entered, of.time_ns, of.above, of.below]);
    let counts = counts.map(u128::from);
    let energy = |point, shared| {
        let of =
            |stay: &Stay| StayCost::of_core(&domain.states[stay.state], point).of(stay.stay_ns);
        stays.iter().map(of).sum::<u128>() + shared
    };
    let ends = shared.each_ref();
    ends.map(|end| {
        let energies = (0..).zip(end).map(|(point, shared)| energy(point, shared));
        counts.clone().chain(energies).collect()
    })
}

/// Adds each figure of others.
fn add(sums: &mut [u128], others: &[u128]) {
    sums.iter_mut()
        .zip(others)
        .for_each(|(sum, other)| *sum += other);
}

/// Makes ends wide enough for others.
fn join(ends: &mut Option<Ends>, others: &Ends) {
    let ends = ends.get_or_insert_with(|| others.clone());
    for ((own, others), pick) in ends.iter_mut().zip(others).zip([u128::min, u128::max]) {
        let pairs = own.iter_mut().zip(others);
        pairs.for_each(|(own, other)| *own = pick(*own, *other));
    }
}

/// The interval of a CPU that a time in which all CPUs of a domain are idle goes with.
type Owner = Option<(usize, usize)>;

/// The energies that domains take while all of their CPUs are idle.
struct Shared<'s> {
    platform: &'s Platform,
    segments: &'s Segments,
    lasts: &'s [Vec<Last>],
    /// Each with the longest of its intervals that are open, by which it is sorted.
    owned: Vec<(Owner, &'s Segment)>,
}

impl<'s> Shared<'s> {
    fn new(search: &Search<'s>, segments: &'s Segments, lasts: &'s [Vec<Last>]) -> Self {
        let cpus = &search.traced.cpus;
        let owner = |segment| {
            let covers = segments.covers(segment).iter();
            let covers = covers.map(|&(cpu, at)| (usize::from(cpu), at as usize));
            let open = covers.filter(|of| lasts[of.0][of.1].states.count_ones() > 1);
            open.max_by_key(|of| cpus[of.0][of.1].interval_ns())
        };
        let owned = segments.all.iter();
        let owned = owned.map(|segment| (owner(segment), segment));
        Self {
            platform: search.platform,
            segments,
            lasts,
            owned: owned.sorted_by_key(|of| of.0).collect(),
        }
    }

    /// The least and the most in the times that go with an interval, if it ends in a state: a
    /// domain is in the shallowest state of its CPUs.
    fn costs(&self, owner: Owner, state: usize) -> [Energies; 2] {
        let mut sums = [[0; POINTS.len()]; 2];
        let first = self.owned.partition_point(|of| of.0 < owner);
        let owned = self.owned[first..].iter().take_while(|of| of.0 == owner);
        for (_, segment) in owned {
            let states = &self.platform.domains[usize::from(segment.domain)].states;
            let masks = self.segments.covers(segment).iter().map(|&(cpu, at)| {
                let of = (usize::from(cpu), at as usize);
                let is_own = owner == Some(of);
                if is_own {
                    1 << state
                } else {
                    self.lasts[of.0][of.1].states
                }
            });
            let some = masks.clone().fold(0, |all, mask| all | mask);
            let deepest = masks.filter_map(u32::checked_ilog2).min().unwrap_or(0);
            let levels = (0..=deepest).filter(|level| some & 1 << level != 0);
            let [least, most] = &mut sums;
            for (point, (least, most)) in least.iter_mut().zip(most).enumerate() {
                let cost = |level| StayCost::of_domain(&states[level as usize], point);
                let costs = levels.clone().map(|level| cost(level).of(segment.ns));
                let costs = costs.minmax().into_option().unwrap_or_default();
                *least += costs.0;
                *most += costs.1;
            }
        }
        sums
    }
}

impl Search<'_> {
    fn envelope(&self, segments: &Segments) -> Envelope {
        let states = self.platform.domains[0].states.len();
        let mut delays = Default::default();
        let cpus = 0..self.traced.cpus.len();
        let lived = cpus.map(|cpu| self.cpu(cpu, &mut delays));
        let (lived, lasts): (Vec<_>, Vec<_>) = lived.unzip();
        let shared = Shared::new(self, segments, &lasts);
        let mut sums = costs(
            &self.platform.domains[0],
            states,
            &[],
            &shared.costs(None, 0),
        );
        for (cpu, lived) in lived.iter().enumerate() {
            for (sums, of) in sums.iter_mut().zip(self.sum(cpu, lived, &shared)) {
                add(sums, &of);
            }
        }
        let figures = sums.map(|sums| {
            let (counts, energies) = sums.split_at(4 * (states + 1));
            let usages = counts.chunks_exact(4).map(|of| Usage {
                entered: of[0] as u64,
                time_ns: of[1] as u64,
                above: of[2] as u64,
                below: of[3] as u64,
                rejected: 0,
            });
            let mut usages = usages.collect_vec();
            let is_priced = self.platform.power.is_some();
            let energies = is_priced.then(|| energies.try_into().ok()).flatten();
            (
                usages.pop().unwrap_or_default(),
                usages,
                energies.unwrap_or_default(),
            )
        });
        let [least, most] = figures;
        Envelope {
            states: [least.1, most.1],
            all: [least.0, most.0],
            energies: [least.2, most.2],
            delays,
            lasts,
        }
    }

    /// The least and the most of a CPU over all ways through its intervals.
    fn sum(&self, cpu: usize, pasts: &[Lived], shared: &Shared<'_>) -> Ends {
        let domain = &self.platform.domains[self.platform.place(cpu as u16).0];
        let states = self.platform.domains[0].states.len();
        let none = costs(domain, states, &[], &Default::default());
        let firsts = pasts.iter().map(|past| vec![none.clone(); past.first]);
        let mut open = firsts.collect_vec();
        let all = |open: &[Vec<Ends>]| {
            let mut found = None;
            let all = open.iter().flatten();
            all.for_each(|ends| join(&mut found, ends));
            found
        };
        for number in 0..pasts.first().map_or(0, |past| past.steps.len()) {
            let shared =
                (0..domain.states.len()).map(|state| shared.costs(Some((cpu, number)), state));
            let shared = shared.collect_vec();
            for (past, before) in pasts.iter().zip(&mut open) {
                let mut after: Vec<Option<Ends>> = Vec::new();
                for way in &past.steps[number] {
                    let last = way.stays.last().map_or(0, |stay| stay.state);
                    let costs = costs(domain, states, &way.stays, &shared[last]);
                    let froms = before.iter().enumerate();
                    let froms = froms.filter(|(from, _)| way.froms & 1 << from != 0);
                    let mut gone = None;
                    froms.for_each(|(_, from)| join(&mut gone, from));
                    let Some(mut gone) = gone else { continue };
                    let sums = gone.iter_mut().zip(&costs);
                    sums.for_each(|(sums, costs)| add(sums, costs));
                    after.resize(after.len().max(way.to + 1), None);
                    join(&mut after[way.to], &gone);
                }
                *before = after.into_iter().flatten().collect();
            }
            // A kernel's own past may be as one in some intervals and as the other in others.
            let found = all(&open).filter(|_| pasts.len() > 1);
            if let Some(found) = found {
                let open = open.iter_mut().flatten();
                open.for_each(|ends| ends.clone_from(&found));
            }
        }
        all(&open).unwrap_or(none)
    }

    /// Lives through all intervals of a CPU.
    fn cpu(&self, cpu: usize, delays: &mut [Delays; 2]) -> (Vec<Lived>, Vec<Last>) {
        let sleeper = Sleeper::new(self.platform, cpu, self.tick_ns);
        let table = &sleeper.domain().table;
        let edges = self.edges(table);
        let numbers = 0..self.traced.cpus[cpu].len();
        let past = |is_taught| {
            let governors = vec![Governor::new(self.kind, table, self.tick_ns)];
            let sleeps = self.traced.cpus[cpu].iter();
            let mut past = Past {
                is_taught,
                governors,
                ahead: sleeps.map(share).sum::<u64>() * if is_taught { 2 } else { 1 },
                left: WAYS,
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
        let lived = |past: &Past| Lived {
            first: past.governors.len(),
            steps: Vec::new(),
        };
        let mut lived = pasts.iter().map(lived).collect_vec();
        let one = |number| {
            for (past, lived) in pasts.iter_mut().zip(&mut lived) {
                lived
                    .steps
                    .push(self.step(&sleeper, (cpu, number), &edges, past));
            }
            let ways = lived.iter().flat_map(|lived| &lived.steps[number]);
            let ways = ways.map(|way| &way.stays).unique().collect_vec();
            let ends = ways.iter().filter_map(|stays| stays.last());
            let waited = ends.clone().map(|stay| stay.delay_ns(sleeper.domain()));
            if let Some((shortest, longest)) = waited.minmax().into_option() {
                delays[0].count(shortest);
                delays[1].count(longest);
            }
            let stops = pasts.iter().map(|past| past.stops).dedup().collect_vec();
            let is_one = ways.len() == 1 && stops.len() == 1 && stops[0] != [true; 2];
            Last {
                states: ends.fold(0, |states, stay| states | 1 << stay.state),
                is_known: is_one && is_known(&self.traced.cpus[cpu][number]),
            }
        };
        let lasts = numbers.clone().map(one).collect();
        (lived, lasts)
    }

    /// Lives through an interval with a past: the ways that it may have gone.
    fn step(
        &self,
        sleeper: &Sleeper<'_>,
        (cpu, number): (usize, usize),
        edges: &[u64],
        past: &mut Past,
    ) -> Vec<Gone> {
        let sleep = &self.traced.cpus[cpu][number];
        let last = sleeper.domain().table.last();
        let outcome = past
            .is_taught
            .then(|| seen(self.traced, (cpu, number), last, self.tracing_ns));
        let all = self.all_that_may_be(sleep, edges);
        let is_one = all.len() == 1;
        past.ahead -= share(sleep);
        let mut ways = Ways {
            found: Vec::new(),
            most: MOST_WAYS,
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
        (past.left, past.stops) = (ways.left, ways.stops);
        let gone;
        let next = self.traced.cpus[cpu].get(number + 1);
        let most = next.map_or(MOST, |sleep| {
            // A part of the branches is for comparisons that go both ways.
            let branches = past.left * share(sleep) / (2 * past.ahead);
            let ways = self.all_that_may_be(sleep, edges).len();
            (MOST_WAYS.min(branches as usize) / ways).clamp(1, MOST)
        });
        (past.governors, gone) = ways.governors(most);
        gone
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
        let none = governors.iter().enumerate();
        let none = none.map(|(from, governor)| (Vec::new(), governor.clone(), 1 << from));
        let mut open = none.collect_vec();
        loop {
            let mut again = Ways {
                found: Vec::new(),
                most: ways.most,
                left: 0,
                stops: [false; 2],
            };
            let mut gone = 0;
            for (stays, governor, froms) in &open {
                on_all_ways(|| {
                    let mut governor = governor.clone();
                    let left = (left_ns, got_tick);
                    let (stay, stop_tick) =
                        sleeper.asks(&mut governor, asked, left, past, &mut Ideal);
                    let stays = stays.iter().copied().chain([stay]).collect();
                    let is_over = stay.stay_ns == left_ns;
                    let to = if is_over { &mut *ways } else { &mut again };
                    to.stops[usize::from(stop_tick)] = true;
                    to.add(stays, governor, *froms);
                    gone += 1;
                });
            }
            ways.left = ways.left.saturating_sub(gone - 1);
            open = again.found;
            // All that are left stayed as long: until the limit of polling.
            let Some(stay) = open.first().and_then(|(stays, ..)| stays.last()) else {
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
            most: 0,
            left: 0,
            stops: [true; 2],
        };
        for (state, of) in table.all().iter().enumerate() {
            let fits = !of.disabled && of.exit_latency_ns <= latency_ns;
            if fits || state == 0 || state == table.first_enabled() {
                for polls in [0, most_polls] {
                    let polled = (0..polls).map(|_| Stay::new(0, limit_ns, &mut Ideal));
                    let last = Stay::new(state, interval_ns - polls * limit_ns, &mut Ideal);
                    ways.add(polled.chain([last]).collect(), governor.clone(), u128::MAX);
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
        let parts = move |decade| (1..self.parts).map(move |part| part * 10_u64.pow(decade));
        let decades = (4..9).flat_map(parts);
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
            let event_ns = match sleep.length.tick_ns() {
                Some(tick_ns) => Span::with(timer_ns, tick_ns.into(), u64::min),
                None if tick_stopped => timer_ns,
                None => Span::from(0).join(timer_ns),
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

/// The share of an interval in the branches of a search.
fn share(sleep: &Sleep) -> u64 {
    if is_known(sleep) { 1 } else { 16 }
}

/// True if the time to the next event is known: the timer's, or the tick's.
fn is_known(sleep: &Sleep) -> bool {
    let [least_ns, most_ns] = sleep.length.ends_ns();
    let is_event_known = sleep.length.tick_ns().is_some() || sleep.tick_stopped == Some(true);
    least_ns == most_ns && is_event_known
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
    /// Stays, the governor afterwards, and a bit for each governor that may go there.
    found: Vec<(Vec<Stay>, Governor<Span>, u128)>,
    /// Ways beyond this number join one of the same stays.
    most: usize,
    /// Branches that may still be searched.
    left: u64,
    /// True if some last choice left the tick running; true if some last choice stopped it.
    stops: [bool; 2],
}

impl Ways {
    fn add(&mut self, stays: Vec<Stay>, governor: Governor<Span>, froms: u128) {
        let is_full = self.found.len() >= self.most;
        let searched = if is_full {
            &mut self.found[..]
        } else {
            &mut []
        };
        match searched.iter_mut().rev().find(|way| way.0 == stays) {
            Some((_, other, more)) => {
                other.join(governor);
                *more |= froms;
            }
            None => self.found.push((stays, governor, froms)),
        }
    }

    /// The governors that there may be, each once; where they are more than some number, those that
    /// lie closest together are one. And the ways to them.
    fn governors(self, most: usize) -> (Vec<Governor<Span>>, Vec<Gone>) {
        let numbers = |(stays, mut governor, froms): (Vec<Stay>, Governor<Span>, u128)| {
            let mut numbers = Vec::new();
            governor.each_number(|number| numbers.push(number.ends()));
            (numbers, stays, governor, froms)
        };
        let mut all = self.found.into_iter().map(numbers).collect_vec();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        let gaps = all
            .iter()
            .tuple_windows()
            .map(|(one, other)| match one.2 == other.2 {
                true => 0.0,
                // Two that cannot be joined stay apart.
                false if one.0.is_empty() => f64::INFINITY,
                false => apart(&one.0, &other.0),
            });
        let gaps = gaps.collect_vec();
        let widest = gaps.iter().sorted_by(|one, other| other.total_cmp(one));
        let joined = widest.copied().nth(most - 1).unwrap_or(0.0);
        let mut governors: Vec<Governor<Span>> = Vec::new();
        let mut gone: Vec<Gone> = Vec::new();
        for (at, (_, stays, governor, froms)) in all.into_iter().enumerate() {
            let gap = if at == 0 { f64::INFINITY } else { gaps[at - 1] };
            match governors.last_mut() {
                Some(last) if gap <= joined && gap.is_finite() => last.join(governor),
                _ => governors.push(governor),
            }
            let to = governors.len() - 1;
            let mut same = gone
                .iter_mut()
                .rev()
                .take_while(|way: &&mut Gone| way.to == to);
            match same.find(|way| way.stays == stays) {
                Some(way) => way.froms |= froms,
                None => gone.push(Gone { stays, froms, to }),
            }
        }
        (governors, gone)
    }
}

/// The distance between two governors: for each number that they remember, the difference as a
/// share of the larger one, all added up.
fn apart(one: &[[u64; 2]], other: &[[u64; 2]]) -> f64 {
    let pairs = one.iter().flatten().zip(other.iter().flatten());
    let share =
        |(one, other): (&u64, &u64)| one.abs_diff(*other) as f64 / (*one.max(other)).max(1) as f64;
    pairs.map(share).sum()
}

//! The critical path of a metric: what its end hung on, followed back in time.

use crate::lanes::{Activity, Iteration, LaneSpan, Service};
use crate::split::Cause;
use crate::timeline::Mark;
use std::collections::BTreeMap;

/// Where a part of a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// On a CPU.
    Cpu(u16),
    /// In the SCP, on this channel.
    Scp(u32),
}

/// A part of a critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPart {
    /// Where.
    pub place: Place,
    /// Begin, in ticks.
    pub from: u64,
    /// End, in ticks; after the begin.
    pub to: u64,
    /// What the CPU did; `None` in the SCP.
    pub activity: Option<Activity>,
    /// In the SCP: the CPU whose command it served; `None` while it turned to the next command.
    pub serves: Option<u16>,
}

impl Iteration<'_> {
    /// The critical path of a CPU's metric, in order of time, from the metric's begin to its end without holes; empty if the
    /// iteration does not have the metric.
    ///
    /// It is followed back from the end. Where the CPU waited for a lock, the path goes on at the holder from the moment it let
    /// go. Where it waited for the SCP, the path goes on in the SCP; and from the begin of a command to the command
    /// before, if that one ended after this one had been sent, else to the CPU that sent it. All else is the time of who did it.
    pub fn path(&self, cpu: u16, metric: &str) -> Vec<PathPart> {
        let Some((begin, end)) = self.window(cpu, metric) else { return Vec::new() };
        let mut walk =
            Walk { iteration: self, lanes: BTreeMap::new(), services: self.services(), begin, parts: Vec::new() };
        walk.back(Place::Cpu(cpu), end);
        walk.parts.reverse();
        walk.parts
    }
}

struct Walk<'a, 'i> {
    iteration: &'a Iteration<'i>,
    lanes: BTreeMap<u16, Vec<LaneSpan>>,
    services: Vec<Service>,
    begin: u64,
    /// Last part first.
    parts: Vec<PathPart>,
}

impl Walk<'_, '_> {
    fn back(&mut self, mut place: Place, mut at: u64) {
        // A hop costs no time. Holders that wait for each other in a circle would hop for ever; no sound recording has that.
        let mut hops = 0;
        while at > self.begin && hops < 1000 {
            let before = at;
            (place, at) = match place {
                Place::Cpu(cpu) => self.on_cpu(cpu, at),
                Place::Scp(channel) => self.in_scp(channel, at),
            };
            hops = if at < before { 0 } else { hops + 1 };
        }
        if at > self.begin {
            self.part(place, self.begin, at, None, None);
        }
    }

    fn part(&mut self, place: Place, from: u64, to: u64, activity: Option<Activity>, serves: Option<u16>) -> u64 {
        let from = from.max(self.begin);
        if from < to {
            self.parts.push(PathPart { place, from, to, activity, serves });
        }
        from
    }

    fn on_cpu(&mut self, cpu: u16, at: u64) -> (Place, u64) {
        let iteration = self.iteration;
        let lane = self.lanes.entry(cpu).or_insert_with(|| iteration.lane(cpu));
        let index = lane.partition_point(|span| span.to < at);
        let Some(span) = lane.get(index).copied().filter(|span| span.from < at) else {
            // Before the CPU's first event nothing is known of it.
            return (Place::Cpu(cpu), self.part(Place::Cpu(cpu), self.begin, at, None, None));
        };
        match (span.activity, span.on, span.holder) {
            (Activity::Cause(Cause::LockWait | Cause::ScpChannelWait), _, Some(holder)) => (Place::Cpu(holder), at),
            // The SCP's own time between two commands belongs to it as well.
            (Activity::Cause(Cause::ScpWait), Some(channel), _) if self.served_before(channel, span.from, at) => {
                (Place::Scp(channel), at)
            }
            _ => (Place::Cpu(cpu), self.part(Place::Cpu(cpu), span.from, at, Some(span.activity), None)),
        }
    }

    /// Whether the SCP had a command in hand at some time of the span.
    fn served_before(&self, channel: u32, from: u64, at: u64) -> bool {
        self.services.iter().any(|service| service.channel == channel && service.from < at && service.to > from)
    }

    fn in_scp(&mut self, channel: u32, at: u64) -> (Place, u64) {
        let here = Place::Scp(channel);
        let last = self.services.iter().rev().find(|service| service.channel == channel && service.from < at).copied();
        let Some(service) = last else {
            return (here, self.part(here, self.begin, at, None, None));
        };
        if service.to < at {
            // Between two commands.
            return (here, self.part(here, service.to, at, None, None));
        }
        let from = self.part(here, service.from, at, None, Some(service.cpu));
        let earlier = self.services.iter().rev().find(|other| other.channel == channel && other.to <= service.from);
        let sent = self.sent(channel, &service);
        match earlier {
            Some(earlier) if sent.is_none_or(|sent| earlier.to > sent) => (here, from),
            _ => match sent {
                Some(sent) => (Place::Cpu(service.cpu), self.part(here, sent, from, None, None)),
                None => (Place::Cpu(service.cpu), from),
            },
        }
    }

    /// When a command lay before the SCP: its CPU had the slot, or began to wait for the response.
    fn sent(&self, channel: u32, service: &Service) -> Option<u64> {
        let steps = self.iteration.timeline.steps.get(&service.cpu)?;
        let is_sign = |mark: Mark| matches!(mark, Mark::ScpWait | Mark::ScpWaitEnd);
        let sign = |step: &&crate::timeline::Step| {
            is_sign(step.mark) && step.argument == channel && step.ticks <= service.from
        };
        steps.iter().rev().find(sign).map(|step| step.ticks)
    }
}

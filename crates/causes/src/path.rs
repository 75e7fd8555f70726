//! The critical path of a metric: what its end hung on, followed back in time.

use crate::lanes::{Activity, Iteration, LaneSpan, Service};
use crate::split::Cause;
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
    /// In the SCP: the CPU whose command it was about.
    pub serves: Option<u16>,
    /// In the SCP: whether it had the command in hand; before, it had yet to take it.
    pub taken: bool,
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

    fn part(
        &mut self,
        place: Place,
        from: u64,
        to: u64,
        activity: Option<Activity>,
        serves: Option<(u16, bool)>,
    ) -> u64 {
        let from = from.max(self.begin);
        if from < to {
            let (serves, taken) = (serves.map(|(cpu, _)| cpu), serves.is_some_and(|(_, taken)| taken));
            self.parts.push(PathPart { place, from, to, activity, serves, taken });
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

    /// Whether the SCP was busy with a command at some time of the span.
    fn served_before(&self, channel: u32, from: u64, at: u64) -> bool {
        self.services.iter().any(|service| service.channel == channel && service.turned < at && service.to >= from)
    }

    fn in_scp(&mut self, channel: u32, at: u64) -> (Place, u64) {
        let here = Place::Scp(channel);
        let of_channel = |service: &&Service| service.channel == channel;
        let Some(service) = self.services.iter().rev().filter(of_channel).find(|service| service.turned < at).copied()
        else {
            return (here, self.part(here, self.begin, at, None, None));
        };
        if service.to < at {
            // Idle between two commands; a path comes here only if the stamps are torn.
            return (here, self.part(here, service.to, at, None, None));
        }
        let mut at = at;
        if service.from < at {
            at = self.part(here, service.from, at, None, Some((service.cpu, true)));
        }
        if service.turned < at {
            at = self.part(here, service.turned, at, None, Some((service.cpu, false)));
        }
        // It was the SCP that was late if it came from another command, else the sender.
        let came_from_another =
            self.services.iter().filter(of_channel).any(|other| other.to == at && other.from < service.from);
        (if came_from_another { here } else { Place::Cpu(service.cpu) }, at)
    }
}

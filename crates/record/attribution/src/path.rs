//! The critical path of a metric: what its end hung on, followed back in time.

use crate::activity::{Activity, LaneSpan};
use crate::causes::WaitFor;
use crate::lanes::{Iteration, Service};
use std::collections::BTreeMap;

/// CPU or SCP that a part of a path runs on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Actor {
    /// A CPU.
    Cpu(u16),
    /// The SCP, on this channel.
    Scp(u32),
}

/// A part of a critical path.
#[derive(Debug)]
pub struct PathPart {
    /// The address.
    pub place: Actor,
    /// Start, in ticks.
    pub from: u64,
    /// End, in ticks; after the begin.
    pub to: u64,
    /// The activity of the CPU; `None` in the SCP.
    pub activity: Option<Activity>,
    /// CPU whose command the SCP serves; `None` outside of the SCP.
    pub serves: Option<u16>,
    /// True if the SCP had already taken the command; false outside of the SCP.
    pub taken: bool,
}

impl Iteration<'_> {
    /// The critical path of a CPU's metric, in order of time, from the metric's begin to its end
    /// without holes; empty if the iteration does not have the metric.
    ///
    /// It is followed back from the end. Where the CPU waited for a lock, the path goes on at the
    /// holder from the moment it let go. Where it waited for the SCP, the path goes on in the SCP;
    /// and from the start of a command to the command before, if that one ended after this one had
    /// been sent, else to the CPU that sent it. All else is the time of who did it.
    pub fn path(&self, cpu: u16, metric: &str) -> Vec<PathPart> {
        self.paths(&[cpu], metric).remove(&cpu).unwrap_or_default()
    }

    /// [`Iteration::path`] of several CPUs, for little more than that of one.
    pub fn paths(&self, cpus: &[u16], metric: &str) -> BTreeMap<u16, Vec<PathPart>> {
        let mut services: BTreeMap<u32, Vec<Service>> = BTreeMap::new();
        for service in self.services() {
            services.entry(service.channel).or_default().push(service);
        }
        let mut walk = Walk {
            iteration: self,
            lanes: BTreeMap::new(),
            services,
            begin: 0,
            parts: Vec::new(),
        };
        let mut paths = BTreeMap::new();
        for &cpu in cpus {
            let Some((begin, end)) = self.window(cpu, metric) else {
                continue;
            };
            walk.begin = begin;
            walk.back(Actor::Cpu(cpu), end);
            walk.parts.reverse();
            paths.insert(cpu, std::mem::take(&mut walk.parts));
        }
        paths
    }
}

struct Walk<'a, 'i> {
    iteration: &'a Iteration<'i>,
    lanes: BTreeMap<u16, Vec<LaneSpan>>,
    /// Services of each channel, in the order in which the SCP took the commands.
    services: BTreeMap<u32, Vec<Service>>,
    begin: u64,
    /// Last part first.
    parts: Vec<PathPart>,
}

impl Walk<'_, '_> {
    fn back(&mut self, mut place: Actor, mut at: u64) {
        // A hop costs no time. Holders that wait for each other in a circle would hop for ever; no
        // sound recording has that.
        let mut hops = 0;
        while at > self.begin && hops < 1000 {
            let before = at;
            (place, at) = match place {
                Actor::Cpu(cpu) => self.on_cpu(cpu, at),
                Actor::Scp(channel) => self.in_scp(channel, at),
            };
            hops = if at < before { 0 } else { hops + 1 };
        }
        if at > self.begin {
            self.part(place, self.begin, at, None, None);
        }
    }

    fn part(
        &mut self,
        place: Actor,
        from: u64,
        to: u64,
        activity: Option<Activity>,
        serves: Option<(u16, bool)>,
    ) -> u64 {
        let from = from.max(self.begin);
        if from < to {
            let (serves, taken) = (
                serves.map(|(cpu, _)| cpu),
                serves.is_some_and(|(_, taken)| taken),
            );
            self.parts.push(PathPart {
                place,
                from,
                to,
                activity,
                serves,
                taken,
            });
        }
        from
    }

    fn on_cpu(&mut self, cpu: u16, at: u64) -> (Actor, u64) {
        let iteration = self.iteration;
        let lane = self.lanes.entry(cpu).or_insert_with(|| iteration.lane(cpu));
        let index = lane.partition_point(|span| span.to < at);
        let Some(span) = lane.get(index).copied().filter(|span| span.from < at) else {
            // Before the CPU's first event nothing is known of it.
            return (
                Actor::Cpu(cpu),
                self.part(Actor::Cpu(cpu), self.begin, at, None, None),
            );
        };
        let wait = match span.activity {
            Activity::Cause(cause) => cause.wait(),
            _ => None,
        };
        match (wait, span.on, span.holder) {
            (Some(WaitFor::Lock), _, Some(holder)) => (Actor::Cpu(holder), at),
            // The SCP's own time between two commands belongs to it as well.
            (Some(WaitFor::Scp), Some(channel), _)
                if self.served_before(channel, span.from, at) =>
            {
                (Actor::Scp(channel), at)
            }
            _ => (
                Actor::Cpu(cpu),
                self.part(Actor::Cpu(cpu), span.from, at, Some(span.activity), None),
            ),
        }
    }

    /// The last command of a channel that the SCP turned to before a time, and the one before it.
    fn last_service(&self, channel: u32, at: u64) -> Option<(Service, Option<Service>)> {
        let services = self.services.get(&channel)?;
        let index = services
            .partition_point(|service| service.turned < at)
            .checked_sub(1)?;
        Some((
            services[index],
            index.checked_sub(1).map(|before| services[before]),
        ))
    }

    /// True if the SCP was busy with a command at some time of the span.
    fn served_before(&self, channel: u32, from: u64, at: u64) -> bool {
        self.last_service(channel, at)
            .is_some_and(|(service, _)| service.to >= from)
    }

    fn in_scp(&mut self, channel: u32, at: u64) -> (Actor, u64) {
        let here = Actor::Scp(channel);
        let Some((service, before)) = self.last_service(channel, at) else {
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
        let came_from_another = before.is_some_and(|before| before.to == at);
        (
            if came_from_another {
                here
            } else {
                Actor::Cpu(service.cpu)
            },
            at,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::Cause;
    use crate::cells::window;
    use crate::lanes::{Call, Timelines};
    use crate::split::Split;
    use crate::testing::{Events, SUSPEND, add, empty, of_events};
    use recording::Recording;

    /// Three CPUs: 0 and 1 share lock 1; all send to the SCP, which serves one command after the
    /// other.
    ///
    /// ```text
    /// 0  enter 0, lock 1 at 5, sends at 10, low power at 20
    /// 1  enter 0, waits for lock 1 until 20, waits for the SCP from 30 to 55, low power at 60
    /// S  takes 0 at 15, done at 50; takes 1 at 55, done at 90
    /// ```
    fn recording() -> Recording {
        let mut recording = empty();
        recording.header.time.counter_hz = Some(1_000_000);
        let series = recording.series("r", "suspend-deepest", "parallel");
        let events: Events<'_> = &[
            (0, 0, "enter-psci", SUSPEND),
            (1, 0, "enter-psci", SUSPEND),
            (1, 4, "lock-wait", 1),
            (0, 5, "lock-wait", 1),
            (0, 5, "lock-acquired", 1),
            (0, 9, "scp-wait", 0),
            (0, 10, "scp-wait-end", 0),
            (0, 15, "scp-takes", 0),
            (0, 20, "lock-released", 1),
            (0, 20, "enter-hw-low-pwr", 0),
            (1, 20, "lock-acquired", 1),
            (1, 30, "scp-wait", 0),
            (0, 50, "scp-done", 0),
            (1, 55, "scp-takes", 0),
            (1, 55, "scp-wait-end", 0),
            (1, 60, "lock-released", 1),
            (1, 60, "enter-hw-low-pwr", 0),
            (1, 90, "scp-done", 0),
        ];
        add(&mut recording, series, 0, events);
        for (cpu, value) in [(0, 20.0), (1, 60.0)] {
            recording.measure(series, 0, "powerdown", "us", value).cpu = Some(cpu);
        }
        recording
    }

    fn parts(path: &[PathPart]) -> Vec<(Actor, u64, u64, Option<u16>, bool)> {
        path.iter()
            .map(|part| (part.place, part.from, part.to, part.serves, part.taken))
            .collect()
    }

    #[test]
    fn a_path_goes_from_the_waiter_to_the_scp_and_on_to_who_kept_it_busy() {
        let recording = recording();
        let timelines = Timelines::new(&recording);
        let iteration = timelines.iteration(timelines.series()[0], 0).unwrap();
        let (cpu0, cpu1, scp) = (Actor::Cpu(0), Actor::Cpu(1), Actor::Scp(0));
        assert_eq!(
            parts(&iteration.path(1, "powerdown")),
            [
                (cpu0, 0, 9, None, false),
                (cpu0, 9, 10, None, false),
                (scp, 10, 15, Some(0), false),
                (scp, 15, 50, Some(0), true),
                (scp, 50, 55, Some(1), false),
                (cpu1, 55, 60, None, false),
            ]
        );
        assert_eq!(
            parts(&iteration.path(0, "powerdown")).last(),
            Some(&(cpu0, 10, 20, None, false))
        );
        assert!(iteration.path(2, "powerdown").is_empty());
    }

    #[test]
    fn only_questions_for_another_cpus_state_are_polls() {
        let call = |function| Call {
            function,
            from: 0,
            to: 1,
        };
        for function in [smc::AFFINITY_INFO, smc::AFFINITY_INFO | smc::SMC64] {
            assert!(call(Some(function)).is_poll(), "{function:#x}");
        }
        for function in [
            Some(smc::CPU_ON | smc::SMC64),
            Some(SUSPEND),
            Some(smc::SMC64),
            Some(0),
            None,
        ] {
            assert!(!call(function).is_poll(), "{function:x?}");
        }
    }

    /// CPU 1 waits for CPU 0's lock, and CPU 0 for CPU 1's: no sound recording, and a path that
    /// must end all the same.
    #[test]
    fn a_path_in_a_circle_ends_and_has_no_hole() {
        let (recording, series) = of_events(&[
            (0, 0, "enter-psci", SUSPEND),
            (1, 0, "enter-psci", SUSPEND),
            (0, 2, "lock-acquired", 1),
            (1, 2, "lock-acquired", 2),
            (0, 4, "lock-wait", 2),
            (1, 4, "lock-wait", 1),
            (0, 30, "lock-acquired", 2),
            (1, 30, "lock-acquired", 1),
            (0, 40, "enter-hw-low-pwr", 0),
            (1, 40, "enter-hw-low-pwr", 0),
        ]);
        let timelines = Timelines::new(&recording);
        let path = timelines.iteration(series, 0).unwrap().path(1, "powerdown");
        assert_eq!((path[0].from, path[path.len() - 1].to), (0, 40));
        assert!(
            path.windows(2).all(|pair| pair[0].to == pair[1].from),
            "{path:?}"
        );
    }

    /// A powerdown's path where the SCP is behind all of it, or from when the CPU sent its command,
    /// or a CPU of which nothing is known.
    #[test]
    fn a_path_says_from_when_on_the_scp_was_what_was_waited_for() {
        let (cpu0, cpu2, scp) = (Actor::Cpu(0), Actor::Cpu(2), Actor::Scp(0));
        type Parts<'a> = &'a [(Actor, u64, u64, Option<u16>, bool)];
        let cases: [(&str, Events<'_>, Parts<'_>); 3] = [
            (
                "the SCP was busy with another's command since before the call",
                &[
                    (1, 5, "scp-wait", 0),
                    (1, 10, "scp-takes", 0),
                    (0, 30, "enter-psci", SUSPEND),
                    (0, 30, "scp-wait", 0),
                    (1, 40, "scp-done", 0),
                    (0, 40, "scp-takes", 0),
                    (0, 50, "scp-wait-end", 0),
                    (0, 50, "scp-done", 0),
                    (0, 50, "enter-hw-low-pwr", 0),
                ],
                &[(scp, 30, 40, Some(1), true), (scp, 40, 50, Some(0), true)],
            ),
            (
                "the SCP had nothing to do until the CPU sent its command: before, the CPU itself took its time",
                &[
                    (1, 1, "scp-takes", 0),
                    (1, 20, "scp-done", 0),
                    (0, 10, "enter-psci", SUSPEND),
                    (0, 30, "scp-wait", 0),
                    (0, 33, "scp-takes", 0),
                    (0, 50, "scp-done", 0),
                    (0, 50, "scp-wait-end", 0),
                    (0, 50, "enter-hw-low-pwr", 0),
                ],
                &[
                    (cpu0, 10, 30, None, false),
                    (scp, 30, 33, Some(0), false),
                    (scp, 33, 50, Some(0), true),
                ],
            ),
            (
                "the SCP had a command of CPU 2, of which nothing is known before that",
                &[
                    (1, 0, "lock-acquired", 1),
                    (0, 5, "enter-psci", SUSPEND),
                    (0, 5, "scp-wait", 0),
                    (2, 20, "scp-takes", 0),
                    (2, 20, "lock-wait", 1),
                    (0, 30, "scp-wait-end", 0),
                    (0, 30, "enter-hw-low-pwr", 0),
                    (2, 40, "scp-done", 0),
                    (2, 41, "lock-acquired", 1),
                ],
                &[(cpu2, 5, 20, None, false), (scp, 20, 30, Some(2), true)],
            ),
        ];
        for (what, events, expected) in cases {
            let (recording, series) = of_events(events);
            let timelines = Timelines::new(&recording);
            let path = timelines.iteration(series, 0).unwrap().path(0, "powerdown");
            assert_eq!(parts(&path), expected, "{what}");
        }
    }

    /// A call with a thousand flushes: no part of a long path is cut off.
    #[test]
    fn a_long_path_has_all_its_parts() {
        let mut events = vec![(0, 0, "enter-psci", SUSPEND)];
        for flush in 1..=1000 {
            events.extend([
                (0, 10 * flush, "enter-cflush", 0),
                (0, 10 * flush + 5, "exit-cflush", 0),
            ]);
        }
        events.push((0, 10_010, "enter-hw-low-pwr", 0));
        let (recording, series) = of_events(&events);
        let timelines = Timelines::new(&recording);
        let path = timelines.iteration(series, 0).unwrap().path(0, "powerdown");
        assert_eq!(path.len(), 2001);
        assert!(path.iter().all(|part| part.activity.is_some()));
    }

    /// The SCP took a command, had nothing to do for a while, and was waited for only then: the
    /// wait is the CPU's own.
    #[test]
    fn a_wait_that_the_scp_did_not_cause_stays_on_the_cpu() {
        let (recording, series) = of_events(&[
            (1, 0, "scp-takes", 0),
            (1, 5, "scp-done", 0),
            (0, 8, "enter-psci", SUSPEND),
            (0, 10, "scp-wait", 0),
            (0, 16, "scp-wait-end", 0),
            (0, 20, "enter-hw-low-pwr", 0),
        ]);
        let timelines = Timelines::new(&recording);
        let path = timelines.iteration(series, 0).unwrap().path(0, "powerdown");
        assert!(
            path.iter().all(|part| part.place == Actor::Cpu(0)),
            "{path:?}"
        );
        assert_eq!((path[0].from, path[path.len() - 1].to), (8, 20));
    }

    /// Two channels serve side by side: a path follows the one that its CPU waits for.
    #[test]
    fn a_path_follows_its_own_channel() {
        let (recording, series) = of_events(&[
            (0, 0, "enter-psci", SUSPEND),
            (2, 1, "scp-takes", 1),
            (1, 2, "scp-takes", 0),
            (0, 4, "scp-wait", 1),
            (2, 12, "scp-done", 1),
            (0, 12, "scp-takes", 1),
            (1, 13, "scp-done", 0),
            (0, 14, "scp-wait-end", 1),
            (0, 20, "enter-hw-low-pwr", 0),
            (0, 30, "scp-done", 1),
        ]);
        let timelines = Timelines::new(&recording);
        let path = timelines.iteration(series, 0).unwrap().path(0, "powerdown");
        let in_scp: Vec<_> = path
            .iter()
            .filter(|part| part.place == Actor::Scp(1))
            .map(|part| part.serves)
            .collect();
        assert!(
            in_scp.contains(&Some(2)) && in_scp.contains(&Some(0)),
            "{path:?}"
        );
        assert!(
            path.iter().all(|part| part.place != Actor::Scp(0)),
            "{path:?}"
        );
        assert_eq!((path[0].from, path[path.len() - 1].to), (0, 20));
    }

    #[test]
    fn without_the_scp_a_path_goes_to_the_holder_of_the_lock() {
        let (recording, series) = of_events(&[
            (0, 2, "enter-psci", SUSPEND),
            (0, 3, "lock-acquired", 1),
            (1, 0, "enter-psci", SUSPEND),
            (1, 4, "lock-wait", 1),
            (0, 20, "lock-released", 1),
            (0, 21, "enter-hw-low-pwr", 0),
            (1, 20, "lock-acquired", 1),
            (1, 30, "enter-hw-low-pwr", 0),
        ]);
        let timelines = Timelines::new(&recording);
        let iteration = timelines.iteration(series, 0).unwrap();
        let path = iteration.path(1, "powerdown");
        let places: Vec<_> = path
            .iter()
            .map(|part| (part.place, part.from, part.to, part.activity))
            .collect();
        assert_eq!(
            places,
            [
                // Before its first event nothing is known of a CPU.
                (Actor::Cpu(0), 0, 2, None),
                (Actor::Cpu(0), 2, 20, Some(Activity::Cause(Cause::Code))),
                (Actor::Cpu(1), 20, 30, Some(Activity::Cause(Cause::Code))),
            ]
        );
    }

    #[test]
    fn lanes_have_no_holes_and_say_who_was_waited_for() {
        let recording = recording();
        let timelines = Timelines::new(&recording);
        let iteration = timelines.iteration(timelines.series()[0], 0).unwrap();
        let lane = iteration.lane(1);
        assert!(
            lane.windows(2).all(|pair| pair[0].to == pair[1].from),
            "{lane:?}"
        );
        assert_eq!((lane[0].from, lane.last().unwrap().to), (0, 90));
        let wait = lane
            .iter()
            .find(|span| span.activity == Activity::Cause(Cause::LockWait))
            .unwrap();
        assert_eq!(
            (wait.from, wait.to, wait.holder, wait.on),
            (5, 20, Some(0), Some(1))
        );
        // The split of the metric is the sum of its spans.
        let timeline = iteration.timeline;
        let (from, to) = window(timeline, 1, "powerdown").unwrap();
        let Split { causes, waits } = Split::new(timeline, 1, from, to);
        assert_eq!(causes.values().sum::<u64>(), 60);
        assert_eq!(
            (causes[&Cause::LockWait], causes[&Cause::ScpWait]),
            (15, 25)
        );
        assert_eq!(
            waits
                .iter()
                .map(|wait| (wait.holder, wait.ticks))
                .collect::<Vec<_>>(),
            [(0, 20), (0, 15)]
        );
        assert_eq!(timelines.each().len(), 2, "a span for each measure");
    }

    #[test]
    fn the_median_and_the_worst_iteration_are_those_of_the_slowest_cpu() {
        let mut recording = empty();
        let series = recording.series("r", "c", "serial");
        for (iteration, values) in [[5.0, 1.0], [2.0, 9.0], [7.0, 3.0], [9.0, 1.0]]
            .iter()
            .enumerate()
        {
            for (cpu, &value) in (0..).zip(values) {
                recording
                    .measure(series, iteration as u32, "powerdown", "us", value)
                    .cpu = Some(cpu);
            }
        }
        let chosen = Timelines::new(&recording).chosen(series).unwrap();
        assert_eq!(
            chosen.longest.each,
            [(0, 5.0), (1, 9.0), (2, 7.0), (3, 9.0)]
        );
        assert_eq!((chosen.median, chosen.worst), (2, 1));
    }
}

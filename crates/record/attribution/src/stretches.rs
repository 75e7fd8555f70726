//! The lanes that a recording declares: what each CPU did when, as stretches of time and marks.

use recording::{Lane, PointName, Recording, Series};
use std::collections::BTreeMap;

/// A stretch of time on a lane. Times are those of the recording's events.
pub struct Stretch {
    /// When it begins.
    pub from: u64,
    /// When it ends.
    pub to: u64,
    /// The argument of the event that began it.
    pub what: u32,
}

/// A mark on a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark<'r> {
    /// When.
    pub at: u64,
    /// The name.
    pub name: &'r str,
    /// The event's argument.
    pub argument: u32,
}

/// A lane of a CPU, or of the whole machine.
pub struct CpuLane<'r> {
    /// Whose events these are: a trace's, or those of one of several governors.
    pub series: Series,
    /// The CPU; `None` for a lane of the whole machine.
    pub cpu: Option<u16>,
    /// The track's description.
    pub lane: &'r Lane,
    /// Stretches of the lane, in order; none overlaps another.
    pub stretches: Vec<Stretch>,
    /// Marks of the lane, in order.
    pub marks: Vec<Mark<'r>>,
}

impl CpuLane<'_> {
    /// Whose it is: "CPU 3".
    pub fn owner(&self) -> String {
        self.cpu
            .map_or_else(|| "machine".to_owned(), |cpu| format!("CPU {cpu}"))
    }
}

/// The lanes of every CPU and then those of the machine: by CPU, then by series and lane in the
/// order in which they are declared. A lane without a stretch is left out.
///
/// Events of a CPU must come in the order of time, as they do in recordings. A stretch that has no
/// end lasts until the last event.
pub fn cpu_lanes(recording: &Recording) -> Vec<CpuLane<'_>> {
    let declared = &recording.header.lanes;
    let roles = roles(recording);
    let mut lanes = BTreeMap::new();
    for event in recording.events() {
        for (number, role) in roles.get(event.point.index()).into_iter().flatten() {
            let lane = &declared[*number];
            let cpu = (!lane.machine).then_some(event.cpu);
            let place = cpu.map_or(u32::MAX, u32::from);
            let of_cpu = lanes
                .entry((place, event.series, *number))
                .or_insert_with(|| {
                    let series = event.series;
                    Open {
                        lane: CpuLane {
                            series,
                            cpu,
                            lane,
                            stretches: Vec::new(),
                            marks: Vec::new(),
                        },
                        begun: None,
                    }
                });
            match role {
                Role::Mark(name) => of_cpu.lane.marks.push(Mark {
                    at: event.time,
                    name,
                    argument: event.argument,
                }),
                Role::Begin | Role::End => {
                    if let Some((from, what)) = of_cpu.begun.take() {
                        of_cpu.lane.stretches.push(Stretch {
                            from,
                            to: event.time,
                            what,
                        });
                    }
                    if matches!(role, Role::Begin) && lane.nothing != Some(event.argument) {
                        of_cpu.begun = Some((event.time, event.argument));
                    }
                }
            }
        }
    }
    let end = recording
        .events()
        .iter()
        .map(|event| event.time)
        .max()
        .unwrap_or(0);
    lanes
        .into_values()
        .map(|Open { mut lane, begun }| {
            lane.stretches.extend(begun.map(|(from, what)| Stretch {
                from,
                to: end,
                what,
            }));
            lane
        })
        .filter(|lane| !lane.stretches.is_empty())
        .collect()
}

/// A lane in the making.
struct Open<'r> {
    lane: CpuLane<'r>,
    /// When the present stretch began, and what it is.
    begun: Option<(u64, u32)>,
}

/// The role of a point for a track.
enum Role<'r> {
    Begin,
    End,
    Mark(&'r str),
}

/// For each point of the recording the lanes that it says something about.
fn roles(recording: &Recording) -> Vec<Vec<(usize, Role<'_>)>> {
    let mut roles = Vec::new();
    for (number, lane) in recording.header.lanes.iter().enumerate() {
        let begin = std::iter::once((&lane.begin, Role::Begin));
        let end = lane.end.iter().map(|point| (point, Role::End));
        let marks = lane
            .marks
            .iter()
            .map(|(point, name)| (point, Role::Mark(name)));
        for (point, role) in begin.chain(end).chain(marks) {
            let Some(index) = recording.find_point(point).map(PointName::index) else {
                continue;
            };
            if roles.len() <= index {
                roles.resize_with(index + 1, Vec::new);
            }
            roles[index].push((number, role));
        }
    }
    roles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::add;
    use recording::Header;

    #[test]
    fn stretches_end_where_the_lane_says_or_where_the_next_begins() {
        let mut recording = Recording::new(Header::new("trace", "import", "ns"));
        recording.header.lanes = vec![
            Lane {
                title: "idle state".to_owned(),
                begin: "enter".to_owned(),
                end: Some("exit".to_owned()),
                marks: [("fires".to_owned(), "timer".to_owned())].into(),
                ..Lane::default()
            },
            Lane {
                title: "task".to_owned(),
                begin: "switch".to_owned(),
                nothing: Some(0),
                ..Lane::default()
            },
        ];
        let series = recording.series("trace", "", "");
        let events = [
            (4, 1, "switch", 0),
            (4, 2, "enter", 3),
            (4, 5, "fires", 9),
            (4, 6, "exit", 0),
            (4, 7, "switch", 42),
            (4, 9, "switch", 0),
            (4, 10, "enter", 1),
            (4, 12, "other", 0),
        ];
        add(&mut recording, series, 0, &events);
        let lanes = cpu_lanes(&recording);
        let of = |number: usize| {
            lanes[number]
                .stretches
                .iter()
                .map(|s| (s.from, s.to, s.what))
                .collect::<Vec<_>>()
        };
        assert_eq!((lanes.len(), lanes[0].cpu), (2, Some(4)));
        assert_eq!(of(0), [(2, 6, 3), (10, 12, 1)]);
        assert_eq!(of(1), [(7, 9, 42)]);
        assert_eq!(
            lanes[0].marks,
            [Mark {
                at: 5,
                name: "timer",
                argument: 9
            }]
        );
    }

    #[test]
    fn a_stretch_of_the_machine_may_end_on_another_cpu_than_it_began_on() {
        let mut recording = Recording::new(Header::new("small-kernel", "sim", "ns"));
        recording.header.lanes = vec![Lane {
            title: "grace periods".to_owned(),
            begin: "start".to_owned(),
            end: Some("end".to_owned()),
            machine: true,
            ..Lane::default()
        }];
        let series = recording.series("reference", "audio", "");
        add(
            &mut recording,
            series,
            0,
            &[
                (3, 1, "start", 1),
                (0, 7, "end", 1),
                (0, 8, "start", 1),
                (2, 9, "end", 1),
            ],
        );
        let lanes = cpu_lanes(&recording);
        assert_eq!((lanes.len(), lanes[0].owner().as_str()), (1, "machine"));
        assert_eq!(
            lanes[0]
                .stretches
                .iter()
                .map(|s| (s.from, s.to))
                .collect::<Vec<_>>(),
            [(1, 7), (8, 9)]
        );
    }
}

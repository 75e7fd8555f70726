//! The events on each CPU in a recording that has the points of an imported trace.

use import::ftrace::Point;
use recording::Recording;
use recording::facts::KernelTrace;

/// The functions of the callback that a close queues: a file's, or what security modules keep of a
/// pipe's inode where files are freed without one.
const CLOSES: [&str; 2] = ["file_free_rcu", "inode_free_by_rcu"];

/// Counts of a CPU over a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuCounts {
    /// The number of times that the CPU left an idle state.
    pub wake_ups: u64,
    /// Ticks that came while the CPU ran its idle loop.
    pub idle_ticks: u64,
    /// Callbacks that were queued here.
    pub queued: u64,
    /// Callbacks that free a file which was closed, where the functions are known.
    pub closed: u64,
    /// Callbacks that were invoked here, in the softirq or in whatever thread it interrupted.
    pub in_softirq: u64,
    /// Callbacks that were invoked here by a thread for offloaded callbacks (`rcuo…`).
    pub in_threads: u64,
}

/// Counts by CPU, and how long the recording lasts in seconds. `cpus` is how many there are, for
/// CPUs without an event.
pub fn count(recording: &Recording, cpus: usize) -> (Vec<CpuCounts>, f64) {
    let kernel: KernelTrace = recording.header.facts().unwrap_or_default();
    let threads = offload_threads(&kernel);
    let close = CLOSES.iter().find_map(|name| kernel.function(name));
    let mut counts = vec![CpuCounts::default(); cpus];
    let mut current = vec![0_u32; cpus];
    let mut idle = vec![false; cpus];
    let point = |point: Point| recording.find_point(point.name());
    let [enter, exit, switch, tick, queued, invoked] = [
        Point::IdleEnter,
        Point::IdleExit,
        Point::SchedSwitch,
        Point::TickExpire,
        Point::RcuCallback,
        Point::RcuInvokeCallback,
    ]
    .map(point);
    for event in recording.events() {
        let cpu = usize::from(event.cpu);
        let Some(of_cpu) = counts.get_mut(cpu) else {
            continue;
        };
        match Some(event.point) {
            at if at == enter => idle[cpu] = true,
            at if at == exit => of_cpu.wake_ups += u64::from(std::mem::take(&mut idle[cpu])),
            at if at == switch => current[cpu] = event.argument,
            at if at == tick => of_cpu.idle_ticks += u64::from(current[cpu] == 0),
            at if at == queued => {
                of_cpu.queued += 1;
                of_cpu.closed += u64::from(Some(event.argument) == close);
            }
            at if at == invoked && threads.contains(&current[cpu]) => of_cpu.in_threads += 1,
            at if at == invoked => of_cpu.in_softirq += 1,
            _ => {}
        }
    }
    let times = || recording.events().iter().map(|event| event.time);
    let span_ns = times().max().unwrap_or(0) - times().min().unwrap_or(0);
    (counts, span_ns as f64 / 1e9)
}

/// Tasks that are threads for offloaded callbacks, by their names.
fn offload_threads(kernel: &KernelTrace) -> Vec<u32> {
    kernel
        .tasks
        .iter()
        .filter(|(_, name)| name.starts_with("rcuo"))
        .map(|(number, _)| *number)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::Header;

    #[test]
    fn what_happened_is_counted_by_cpu() {
        let mut recording = Recording::new(Header::new("trace", "import", "ns"));
        let names =
            |names: [(u32, &str); 2]| names.map(|(number, name)| (number, name.to_owned())).into();
        recording.header.set_facts(&KernelTrace {
            tasks: names([(7, "init"), (9, "rcuop/1")]),
            functions: names([(1, "mt_free_rcu"), (2, "file_free_rcu")]),
            ..KernelTrace::default()
        });
        let series = recording.series("trace", "", "");
        let rows = [
            (1_000, 0, Point::IdleEnter, 1),
            (2_000, 0, Point::IdleExit, 0),
            (2_100, 0, Point::TickExpire, 3),
            (2_200, 0, Point::IdleEnter, 1),
            (3_000, 0, Point::IdleExit, 0),
            (3_050, 0, Point::RcuInvokeCallback, 0),
            (3_100, 0, Point::SchedSwitch, 9),
            (3_200, 0, Point::RcuInvokeCallback, 0),
            (3_300, 0, Point::TickExpire, 3),
            (1_500, 1, Point::SchedSwitch, 7),
            (2_000, 1, Point::RcuCallback, 1),
            (1_000_001_000, 1, Point::RcuCallback, 2),
        ];
        for (time, cpu, point, argument) in rows {
            let point = recording.point(point.name());
            recording.event(series, 0, cpu, time, 0, point, argument);
        }
        let (counts, seconds) = count(&recording, 3);
        let first = CpuCounts {
            wake_ups: 2,
            idle_ticks: 1,
            in_softirq: 1,
            in_threads: 1,
            ..CpuCounts::default()
        };
        assert_eq!(
            counts,
            [
                first,
                CpuCounts {
                    queued: 2,
                    closed: 1,
                    ..CpuCounts::default()
                },
                CpuCounts::default()
            ]
        );
        assert_eq!(seconds, 1.0);
    }
}

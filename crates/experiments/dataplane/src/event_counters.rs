//! Events of the processor, or of the kernel, for each packet and node: perf_event.

use crate::events::Events;
use dataplane::graph::{EVENTS, Probe};
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};
use perf_event::{Builder, Counter, Group};
use std::io::ErrorKind;
use std::sync::{Arc, OnceLock};

/// Counts events of the thread that opened it.
pub struct Counters {
    group: Group,
    counters: Vec<Counter>,
    /// The names of what is counted, in order.
    pub names: Vec<String>,
    /// Why counts say nothing, if they do not.
    pub trouble: Arc<OnceLock<String>>,
}

/// The share of the time that a group has to count. With more events than it has counters, a
/// processor counts for a part of the time only.
const COUNTED: f64 = 0.95;

impl Counters {
    /// Starts counting what the machine has of these events.
    ///
    /// # Errors
    /// Why it has none of them, or does not let us count.
    pub fn start(events: Events) -> Result<Self, String> {
        let missed = |which, result| Cache {
            which,
            operation: CacheOp::READ,
            result,
        };
        let wanted: [(&str, Builder<'_>); EVENTS] = match events {
            Events::Hardware => [
                ("cycles", Builder::new(Hardware::CPU_CYCLES)),
                ("instructions", Builder::new(Hardware::INSTRUCTIONS)),
                (
                    "L1 data misses",
                    Builder::new(missed(CacheId::L1D, CacheResult::MISS)),
                ),
                (
                    "LLC misses",
                    Builder::new(missed(CacheId::LL, CacheResult::MISS)),
                ),
            ],
            Events::Software => [
                ("task clock ns", Builder::new(Software::TASK_CLOCK)),
                ("page faults", Builder::new(Software::PAGE_FAULTS)),
                ("context switches", Builder::new(Software::CONTEXT_SWITCHES)),
                ("migrations", Builder::new(Software::CPU_MIGRATIONS)),
            ],
        };
        let mut group = Group::new().map_err(|error| format!("perf_event: {error}"))?;
        let (mut counters, mut names, mut why) = (Vec::new(), Vec::new(), Vec::new());
        for (name, builder) in wanted {
            match group.add(&builder) {
                Ok(counter) => {
                    counters.push(counter);
                    names.push(name.to_owned());
                }
                Err(error) => {
                    let error = match error.kind() {
                        ErrorKind::NotFound => "perf_event finds no counters".to_owned(),
                        _ => error.to_string(),
                    };
                    if !why.contains(&error) {
                        why.push(error);
                    }
                }
            }
        }
        if counters.is_empty() {
            return Err(why.join("; "));
        }
        group
            .enable()
            .map_err(|error| format!("perf_event: {error}"))?;
        Ok(Self {
            group,
            counters,
            names,
            trouble: Arc::default(),
        })
    }
}

impl Probe for Counters {
    fn read(&mut self) -> [u64; EVENTS] {
        let mut counts = [0; EVENTS];
        let mut read = || {
            let data = self.group.read().map_err(|error| error.to_string())?;
            let times = data.time_running().zip(data.time_enabled());
            if times.is_some_and(|(ran, enabled)| ran < enabled.mul_f64(COUNTED)) {
                return Err("it has too few counters for these events at once".to_owned());
            }
            for (count, counter) in counts.iter_mut().zip(&self.counters) {
                *count = data.get(counter).ok_or("a counter is gone")?.value();
            }
            Ok(())
        };
        if let Err(why) = read() {
            self.trouble.get_or_init(|| why);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs::{GraphKind, Load, graphs};

    /// The kernel's events go the same way as the processor's, which a machine may not have.
    #[test]
    fn each_node_has_its_events() {
        let load = Load {
            buffers: 2048,
            ..Load::new(GraphKind::Ip4Route)
        };
        let mut graph = graphs(load, 1).remove(0);
        let counters = match Counters::start(Events::Software) {
            Ok(counters) => counters,
            Err(why) => {
                eprintln!("SKIPPED each_node_has_its_events: {why}");
                return;
            }
        };
        assert_eq!(counters.names[0], "task clock ns");
        graph.set_probe(Some(Box::new(counters)));
        for _ in 0..200 {
            graph.run_once();
        }
        for row in graph.runtime().iter().filter(|row| row.counters.calls > 0) {
            let nanoseconds = row.counters.events[0] as f64 / row.counters.vectors as f64;
            assert!(
                nanoseconds > 0.01 && nanoseconds < 10_000.0,
                "{}: {nanoseconds}",
                row.name
            );
        }
        graph.set_probe(None);
        graph.clear_runtime();
        graph.run_once();
        assert!(
            graph
                .runtime()
                .iter()
                .all(|row| row.counters.events == [0; EVENTS])
        );
    }
}

//! Which callbacks are queued in a trace, between the marks that say when a program began and
//! ended.

use import::ftrace::Point;
use recording::Recording;
use recording::facts::KernelTrace;
use std::collections::BTreeMap;

/// The length of the start and of the end of a program, in seconds.
const EDGE_S: f64 = 0.05;
/// Pieces of memory that are queued to be freed, without a function of their own.
const KVFREE: &str = "kvfree";

/// Callbacks that were queued while a program ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueuedCallbacks {
    /// The time that the program ran.
    pub seconds: f64,
    /// Callbacks by function.
    pub by_function: BTreeMap<String, u64>,
    /// Callbacks that were queued neither in the first nor in the last 50 ms.
    pub steady: u64,
    /// Grace periods that began.
    pub grace_periods: u64,
}

impl QueuedCallbacks {
    /// All callbacks.
    pub fn total(&self) -> u64 {
        self.by_function.values().sum()
    }

    /// Callbacks per second without the first and the last 50 ms; `None` if the program ran for
    /// less than twice as long as those.
    pub fn steady_rate(&self) -> Option<f64> {
        let middle = self.seconds - 2.0 * EDGE_S;
        (middle >= 2.0 * EDGE_S).then(|| self.steady as f64 / middle)
    }
}

/// Counts what a trace of one program holds.
///
/// # Errors
/// The marks are missing: in words.
pub fn of_program(trace: &Recording) -> Result<QueuedCallbacks, String> {
    let kernel: KernelTrace = trace.header.facts().unwrap_or_default();
    let (begin_ns, end_ns) =
        match (kernel.mark("program-begin"), kernel.mark("program-end")) {
            (Some(begin_ns), Some(end_ns)) if begin_ns < end_ns => (begin_ns, end_ns),
            _ => return Err(
                "the trace does not say when the program began and ended: its buffer was too small"
                    .to_owned(),
            ),
        };
    let functions = &kernel.functions;
    let [callback, kvfree, grace_period] = [
        Point::RcuCallback,
        Point::RcuKvfreeCallback,
        Point::RcuGracePeriod,
    ]
    .map(|point| trace.find_point(point.name()));
    let mut queued = QueuedCallbacks {
        seconds: (end_ns - begin_ns) as f64 / 1e9,
        ..QueuedCallbacks::default()
    };
    let edge_ns = (EDGE_S * 1e9) as u64;
    for event in trace
        .events()
        .iter()
        .filter(|event| (begin_ns..=end_ns).contains(&event.time))
    {
        let at = Some(event.point);
        if at == grace_period {
            queued.grace_periods += 1;
        }
        let function = match at {
            at if at == callback => functions
                .get(&event.argument)
                .map_or("unknown", |name| name),
            at if at == kvfree => KVFREE,
            _ => continue,
        };
        *queued.by_function.entry(function.to_owned()).or_default() += 1;
        queued.steady +=
            u64::from(event.time > begin_ns + edge_ns && event.time + edge_ns < end_ns);
    }
    Ok(queued)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::imported;

    const EXCERPT: &str = include_str!("../tests/data/closes.trace");

    #[test]
    fn callbacks_between_the_marks_are_counted_by_function() {
        let queued = of_program(&imported(EXCERPT).unwrap()).unwrap();
        let of = |name: &str| queued.by_function.get(name).copied();
        assert_eq!(
            (of("file_free_rcu"), of("mt_free_rcu"), of("kvfree")),
            (Some(11), Some(2), Some(1))
        );
        assert_eq!((queued.total(), queued.grace_periods), (14, 1));
        assert!((queued.seconds - 0.212).abs() < 1e-6, "{}", queued.seconds);
        // Two of them in the middle.
        assert_eq!(queued.steady, 2);
        assert!((queued.steady_rate().unwrap() - 2.0 / 0.112).abs() < 1e-6);
    }

    #[test]
    fn a_trace_without_marks_is_refused() {
        let lines: Vec<&str> = EXCERPT
            .lines()
            .filter(|line| !line.contains("program-end"))
            .collect();
        let error = of_program(&imported(&(lines.join("\n") + "\n")).unwrap()).unwrap_err();
        assert!(error.contains("began and ended"), "{error}");
    }

    #[test]
    fn a_program_of_a_tenth_of_a_second_has_no_steady_part() {
        assert_eq!(
            QueuedCallbacks {
                seconds: 0.1,
                ..QueuedCallbacks::default()
            }
            .steady_rate(),
            None
        );
    }
}

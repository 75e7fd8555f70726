//! Spans: intervals between two points on one CPU.

use crate::rows::{Event, PointName, Recording, Series};
use std::collections::HashMap;

/// A kind of span: its start, its end and what it is called.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    /// The name of the span: "cache-flush".
    pub name: &'a str,
    /// The point that starts it.
    pub begin: PointName,
    /// The point that ends it.
    pub end: PointName,
    /// True if begin and end must carry the same argument, as those of a lock do.
    pub same_argument: bool,
}

/// One interval on one CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Index of its [`Pair`].
    pub pair: usize,
    /// Variant, case and mode.
    pub series: Series,
    /// The iteration.
    pub iteration: u32,
    /// The CPU.
    pub cpu: u16,
    /// Argument of the begin.
    pub argument: u32,
    /// Time of the begin, in the recording's unit.
    pub begin: u64,
    /// Time of the end.
    pub end: u64,
    /// The number of spans that were open around it.
    pub depth: u32,
    /// Index of the innermost span around it, in [`Spans::spans`].
    pub parent: Option<usize>,
    /// Time of the interval, less the time of the spans directly within it.
    pub own: u64,
}

impl Span {
    /// From begin to end.
    pub fn duration(&self) -> u64 {
        self.end - self.begin
    }
}

/// The spans that [`find`] makes of a recording's events.
#[derive(Debug)]
pub struct Spans {
    /// The spans, in the order of their starts.
    pub spans: Vec<Span>,
    /// Starts that never ended, as a CPU's last one before its power goes, and ends that never
    /// started: indices of events.
    pub unpaired: Vec<usize>,
}

/// Pairs starts and ends per series, iteration and CPU.
///
/// An end closes the innermost open begin of its pair; starts opened since then and still open are
/// unpaired. Events of one CPU and iteration must be in order of time, as every world pushes them.
pub fn find(recording: &Recording, pairs: &[Pair<'_>]) -> Spans {
    let mut open = HashMap::new();
    let mut found: Vec<Option<Span>> = Vec::new();
    let mut around: Vec<Option<usize>> = Vec::new();
    let mut unpaired = Vec::new();
    for (index, event) in recording.events().iter().enumerate() {
        let stack = open
            .entry((event.series, event.iteration, event.cpu))
            .or_default();
        for (pair_index, pair) in pairs.iter().enumerate() {
            if event.point == pair.end {
                close(
                    stack,
                    &mut found,
                    &mut unpaired,
                    index,
                    event,
                    pair_index,
                    pair.same_argument,
                );
            }
            if event.point == pair.begin {
                around.push(stack.last().map(|open| open.place));
                stack.push(Open {
                    event: index,
                    place: found.len(),
                    pair: pair_index,
                    from: *event,
                    within: 0,
                });
                found.push(None);
            }
        }
    }
    unpaired.extend(open.into_values().flatten().map(|open| open.event));
    unpaired.sort_unstable();

    // Starts that never ended leave holes: what lay inside one belongs to what was around it.
    let mut places: Vec<Option<usize>> = Vec::with_capacity(found.len());
    let mut spans: Vec<Span> = Vec::new();
    for (found, around) in found.iter().zip(&around) {
        let parent = around.and_then(|place| places[place]);
        match found {
            Some(span) => {
                places.push(Some(spans.len()));
                spans.push(Span {
                    parent,
                    depth: parent.map_or(0, |p| spans[p].depth + 1),
                    ..*span
                });
            }
            None => places.push(parent),
        }
    }
    Spans { spans, unpaired }
}

struct Open {
    event: usize,
    place: usize,
    pair: usize,
    from: Event,
    within: u64,
}

fn close(
    stack: &mut Vec<Open>,
    found: &mut [Option<Span>],
    unpaired: &mut Vec<usize>,
    index: usize,
    event: &Event,
    pair: usize,
    same_argument: bool,
) {
    let Some(at) = stack.iter().rposition(|open| {
        open.pair == pair && (!same_argument || open.from.argument == event.argument)
    }) else {
        unpaired.push(index);
        return;
    };
    let Some(open) = stack.drain(at..).reduce(|mut outer, inner| {
        unpaired.push(inner.event);
        outer.within += inner.within;
        outer
    }) else {
        return;
    };
    let duration = event.time.saturating_sub(open.from.time);
    found[open.place] = Some(Span {
        pair,
        series: event.series,
        iteration: event.iteration,
        cpu: event.cpu,
        argument: open.from.argument,
        begin: open.from.time,
        end: open.from.time + duration,
        depth: 0,
        parent: None,
        own: duration.saturating_sub(open.within),
    });
    if let Some(around) = stack.last_mut() {
        around.within += duration;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Header;

    fn recording(events: &[(u16, u64, &str, u32)]) -> Recording {
        let mut recording = Recording::new(Header::new("e", "sim", "ps"));
        let series = recording.series("v", "c", "");
        for &(cpu, time, point, argument) in events {
            let point = recording.point(point);
            recording.event(series, 0, cpu, time, time, point, argument);
        }
        recording
    }

    fn pair<'a>(recording: &mut Recording, name: &'a str, same_argument: bool) -> Pair<'a> {
        let (begin, end) = (
            recording.point(&format!("{name}-begin")),
            recording.point(&format!("{name}-end")),
        );
        Pair {
            name,
            begin,
            end,
            same_argument,
        }
    }

    #[test]
    fn a_span_within_a_span_has_a_parent_and_takes_from_its_own_time() {
        let mut r = recording(&[
            (0, 10, "call-begin", 0),
            (0, 12, "flush-begin", 0),
            (0, 17, "flush-end", 0),
            (0, 20, "call-end", 0),
        ]);
        let pairs = [pair(&mut r, "call", false), pair(&mut r, "flush", false)];
        let found = find(&r, &pairs);
        assert!(found.unpaired.is_empty());
        let [call, flush] = found.spans[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (call.duration(), call.own, call.depth, call.parent),
            (10, 5, 0, None)
        );
        assert_eq!(
            (flush.duration(), flush.own, flush.depth, flush.parent),
            (5, 5, 1, Some(0))
        );
    }

    #[test]
    fn cpus_do_not_mix() {
        let mut r = recording(&[
            (0, 1, "call-begin", 0),
            (1, 2, "call-begin", 0),
            (0, 5, "call-end", 0),
            (1, 9, "call-end", 0),
        ]);
        let pairs = [pair(&mut r, "call", false)];
        let durations: Vec<_> = find(&r, &pairs)
            .spans
            .iter()
            .map(|s| (s.cpu, s.duration()))
            .collect();
        assert_eq!(durations, [(0, 4), (1, 7)]);
    }

    #[test]
    fn recursion_pairs_the_innermost() {
        let mut r = recording(&[
            (0, 1, "call-begin", 0),
            (0, 2, "call-begin", 0),
            (0, 3, "call-end", 0),
            (0, 9, "call-end", 0),
        ]);
        let pairs = [pair(&mut r, "call", false)];
        let durations: Vec<_> = find(&r, &pairs).spans.iter().map(Span::duration).collect();
        assert_eq!(durations, [8, 1]);
    }

    #[test]
    fn power_down_leaves_an_unpaired_begin_and_the_rest_intact() {
        let mut r = recording(&[
            (0, 1, "call-begin", 0),
            (0, 2, "wait-begin", 0),
            (0, 3, "flush-begin", 0),
            (0, 4, "flush-end", 0),
            (0, 9, "call-end", 0),
            (0, 10, "flush-end", 0),
        ]);
        let pairs = [
            pair(&mut r, "call", false),
            pair(&mut r, "wait", false),
            pair(&mut r, "flush", false),
        ];
        let found = find(&r, &pairs);
        assert_eq!(found.unpaired, [1, 5]);
        assert_eq!(
            found
                .spans
                .iter()
                .map(|s| (s.pair, s.duration()))
                .collect::<Vec<_>>(),
            [(0, 8), (2, 1)]
        );
        assert_eq!(
            (
                found.spans[1].parent,
                found.spans[1].depth,
                found.spans[0].own
            ),
            (Some(0), 1, 7)
        );
    }

    #[test]
    fn locks_pair_by_argument() {
        let mut r = recording(&[
            (0, 1, "lock-begin", 7),
            (0, 2, "lock-begin", 8),
            (0, 5, "lock-end", 8),
            (0, 6, "lock-end", 7),
        ]);
        let pairs = [pair(&mut r, "lock", true)];
        let found = find(&r, &pairs);
        assert_eq!(
            found
                .spans
                .iter()
                .map(|s| (s.argument, s.duration()))
                .collect::<Vec<_>>(),
            [(7, 5), (8, 3)]
        );
    }
}

//! The time that reads of a clock and divisions take on this machine.

use crate::clocks::Clock;
use itertools::Itertools;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;

/// Times of a read or a division in nanoseconds, over rounds.
#[derive(Debug)]
pub struct Times {
    /// Mean.
    pub average: f64,
    /// Mean without the longest of 100: an interrupt or a preemption falls into few rounds, and is
    /// no part of what reads cost.
    pub trimmed: f64,
    /// Standard deviation.
    pub stddev: f64,
    /// Shortest.
    pub min: f64,
    /// Longest.
    pub max: f64,
    /// The values that a quarter are below, half, three quarters, and 99 of 100.
    pub percentiles: [f64; 4],
}

impl Times {
    /// The percentiles that are kept, in parts of 1000.
    pub const PERCENTILES: [(&'static str, usize); 4] =
        [("p25", 250), ("p50", 500), ("p75", 750), ("p99", 990)];

    /// Statistics of at least one time in nanoseconds.
    pub fn from_ns(mut ns: Vec<f64>) -> Self {
        ns.sort_unstable_by(f64::total_cmp);
        let mean = |ns: &[f64]| ns.iter().sum::<f64>() / ns.len().max(1) as f64;
        // The mean of equal times may be rounded to less than each.
        let average = mean(&ns).clamp(ns[0], ns[ns.len() - 1]);
        let variance =
            ns.iter().map(|ns| (ns - average).powi(2)).sum::<f64>() / ns.len().max(1) as f64;
        let at = |parts: usize| ns[(ns.len() * parts / 1000).min(ns.len() - 1)];
        Self {
            average,
            trimmed: mean(&ns[..ns.len() - ns.len() / 100]),
            stddev: variance.sqrt(),
            min: ns[0],
            max: ns[ns.len() - 1],
            percentiles: Self::PERCENTILES.map(|(_, parts)| at(parts)),
        }
    }
}

/// The amount that is measured: a number of rounds, each of a number of reads.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Rounds.
    pub rounds: usize,
    /// Reads or divisions of a round.
    pub reads: usize,
}

/// Times reads of a clock in a row by `threads` threads at once, at least 1: the mean read of each
/// round of each thread. A read waits for the one before it, so no two overlap.
pub fn clock(clock: Clock, threads: usize, effort: Effort, tick_ns: f64) -> Times {
    let barrier = Barrier::new(threads);
    let one = || {
        let round = |_| {
            // All begin each round together, so that they race.
            barrier.wait();
            let (mut value, from) = (0, Clock::Counter.read(0));
            for _ in 0..effort.reads {
                value = black_box(clock.read(value));
            }
            Clock::Counter.read(0).wrapping_sub(from) as f64 * tick_ns / effort.reads as f64
        };
        (0..effort.rounds).map(round).collect_vec()
    };
    let all = thread::scope(|scope| {
        (0..threads)
            .map(|_| scope.spawn(one))
            // All run before the first is waited for.
            .collect_vec()
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_default())
            .collect()
    });
    Times::from_ns(all)
}

/// A way to make microseconds of nanoseconds.
#[derive(Clone, Copy)]
pub enum Division {
    /// Division by 1000.
    By1000,
    /// Division by 1024: a shift of 10 bits.
    Shift10,
    /// Division by 1000 as a multiplication and a shift.
    MultiplyShift,
}

/// The factor with which `x / 1000` is a multiplication: `(x >> 3) * MULTIPLIER >> 68`, exact for
/// every `x`.
const MULTIPLIER: u64 = 0x20c4_9ba5_e353_f7cf;
const MULTIPLIER_SHIFT: u32 = 68;

/// All of them, with their names in recordings.
pub const DIVISIONS: [(&str, Division); 3] = [
    ("/ 1000", Division::By1000),
    (">> 10", Division::Shift10),
    ("multiply and shift", Division::MultiplyShift),
];

#[inline(always)]
fn multiply_and_shift(ns: u64, multiplier: u64, shift: u32) -> u64 {
    ((u128::from(ns >> 3) * u128::from(multiplier)) >> shift) as u64
}

/// Times divisions, each of which waits for the one before it. With `known` the compiler knows the
/// divisor.
pub fn division(division: Division, known: bool, effort: Effort, tick_ns: f64) -> Times {
    match (division, known) {
        (Division::By1000, true) => chain(effort, tick_ns, |ns| ns / 1000),
        (Division::Shift10, true) => chain(effort, tick_ns, |ns| ns >> 10),
        (Division::MultiplyShift, true) => chain(effort, tick_ns, |ns| {
            multiply_and_shift(ns, MULTIPLIER, MULTIPLIER_SHIFT)
        }),
        (Division::By1000, false) => {
            let divisor = black_box(1000_u64).max(1);
            chain(effort, tick_ns, |ns| ns / divisor)
        }
        (Division::Shift10, false) => {
            let shift = black_box(10_u32);
            chain(effort, tick_ns, |ns| ns >> shift)
        }
        (Division::MultiplyShift, false) => {
            let (multiplier, shift) = (black_box(MULTIPLIER), black_box(MULTIPLIER_SHIFT));
            chain(effort, tick_ns, |ns| {
                multiply_and_shift(ns, multiplier, shift)
            })
        }
    }
}

/// The mean time of a division in each round, with the exclusive or that keeps the values large.
fn chain(effort: Effort, tick_ns: f64, divide: impl Fn(u64) -> u64) -> Times {
    let round = |_| {
        let mut value = black_box(0x1234_5678_9abc_u64);
        let from = Clock::Counter.read(0);
        for _ in 0..effort.reads {
            value = divide(value) ^ 0x5555_1234_5678_9abc;
        }
        black_box(value);
        Clock::Counter.read(0).wrapping_sub(from) as f64 * tick_ns / effort.reads as f64
    };
    Times::from_ns((0..effort.rounds).map(round).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clocks::CLOCKS;
    use proptest::prelude::*;

    #[test]
    fn times_are_what_the_rounds_say() {
        let times = Times::from_ns(vec![10.0, 0.0, 5.0, 15.0]);
        assert_eq!(
            (times.average, times.min, times.max, times.percentiles[1]),
            (7.5, 0.0, 15.0, 10.0)
        );
        assert!((times.stddev - 5.590_169_943).abs() < 1e-6);
        let times = Times::from_ns([vec![10.0; 198], vec![10_000.0; 2]].concat());
        assert_eq!(
            (times.average, times.trimmed, times.percentiles[1]),
            (109.9, 10.0, 10.0)
        );
    }

    #[test]
    fn reads_take_time_on_every_thread() {
        let effort = Effort {
            rounds: 3,
            reads: 200,
        };
        for threads in [1, 2] {
            for source in [0, 1, 4].map(|at| CLOCKS[at].1) {
                let times = clock(source, threads, effort, 1.0);
                assert!(
                    times.min <= times.average && times.average <= times.max && times.average > 0.0,
                    "{source:?} {times:?}"
                );
                assert!(times.percentiles.is_sorted());
            }
        }
    }

    proptest! {
        #[test]
        fn a_multiplication_divides_exactly(ns in any::<u64>()) {
            prop_assert_eq!(multiply_and_shift(ns, MULTIPLIER, MULTIPLIER_SHIFT), ns / 1000);
        }
    }
}

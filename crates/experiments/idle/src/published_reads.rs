//! Reads of a clock that take as long as published ones: the distribution has their average and
//! minimum, nearly their standard deviation, and their maximum once in a million.

use crate::replay::Reading;
use engine::SplitMix64;
use idle::Clock;

/// The published figures of a clock's reads, in nanoseconds.
#[derive(Clone, Copy)]
pub struct Spread {
    /// Average.
    pub average: f64,
    /// Standard deviation.
    pub stddev: f64,
    /// Shortest.
    pub minimum: f64,
    /// Longest.
    pub maximum: f64,
}

impl Spread {
    /// From the four numbers of a condition: average, standard deviation, minimum, maximum.
    ///
    /// # Errors
    /// They are not four numbers in order.
    pub fn parse(values: &[String]) -> Result<Self, String> {
        let numbers: Vec<f64> = values.iter().filter_map(|text| text.parse().ok()).collect();
        match numbers[..] {
            [average, stddev, minimum, maximum]
                if minimum <= average && average <= maximum && stddev >= 0.0 =>
            {
                Ok(Self {
                    average,
                    stddev,
                    minimum,
                    maximum,
                })
            }
            _ => Err(format!(
                "{values:?} is no average, standard deviation, minimum and maximum in nanoseconds"
            )),
        }
    }
}

/// Quantiles of a distribution that are kept.
const QUANTILES: usize = 1024;
/// Draws of which one is the maximum.
const PER_MAXIMUM: u64 = 1_000_000;

/// Draws reads. The same seed gives the same reads, whatever the clock: a draw is a place among the
/// quantiles.
pub struct Reads {
    quantiles: Vec<u64>,
    maximum: u64,
    clock: Clock,
    random: SplitMix64,
}

impl Reads {
    /// Reads with a published spread, and a division.
    ///
    /// Above the minimum lies an Erlang distribution of two stages with the published average. Its
    /// standard deviation is the distance from minimum to average divided by the root of 2, which
    /// comes within a tenth of both published ones.
    pub fn new(spread: Spread, clock: Clock, seed: u64) -> Self {
        let mean = spread.average - spread.minimum;
        // The distribution function at x means is 1 - (1 + 2x) e^(-2x); the quantiles are found by
        // walking up it in small steps. The exponential is a product, for no simulation takes one
        // from the system's library.
        const STEPS: f64 = 1024.0;
        let step = 1.0 - 2.0 / STEPS + 2.0 / (STEPS * STEPS) - 4.0 / (3.0 * STEPS * STEPS * STEPS);
        let (mut x, mut exponential) = (0.0_f64, 1.0_f64);
        let mut quantiles = Vec::with_capacity(QUANTILES);
        for at in 0..QUANTILES {
            let wanted = (at as f64 + 0.5) / QUANTILES as f64;
            while 1.0 - (1.0 + 2.0 * x) * exponential < wanted {
                x += 1.0 / STEPS;
                exponential *= step;
            }
            quantiles.push((spread.minimum + mean * x).round() as u64);
        }
        Self {
            quantiles,
            maximum: spread.maximum.round() as u64,
            clock,
            random: SplitMix64::new(seed),
        }
    }

    /// The length of a read in nanoseconds.
    pub fn draw(&mut self) -> u64 {
        let drawn = self.random.next();
        if (drawn >> 10).is_multiple_of(PER_MAXIMUM) {
            return self.maximum;
        }
        self.quantiles[drawn as usize % QUANTILES]
    }
}

impl Reading for Reads {
    fn reads_ns(&mut self) -> [u64; 2] {
        [self.draw(), self.draw()]
    }

    fn clock(&self) -> Clock {
        self.clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_reads_have_the_published_spread() {
        // Made-up figures with the published ratio of spread to distance from the minimum.
        for (average, stddev, minimum) in [(200.0, 71.0, 100.0), (1000.0, 283.0, 600.0)] {
            let spread = Spread {
                average,
                stddev,
                minimum,
                maximum: 50_000.0,
            };
            let mut reads = Reads::new(spread, Clock::Nanoseconds, 7);
            let drawn: Vec<f64> = (0..300_000).map(|_| reads.draw() as f64).collect();
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            let below: Vec<f64> = drawn.iter().copied().filter(|ns| *ns < 50_000.0).collect();
            let variance =
                below.iter().map(|ns| (ns - mean).powi(2)).sum::<f64>() / below.len() as f64;
            assert!((mean / average - 1.0).abs() < 0.01, "{mean}");
            assert!(
                (variance.sqrt() / stddev - 1.0).abs() < 0.1,
                "{}",
                variance.sqrt()
            );
            assert!(drawn.iter().all(|ns| *ns >= minimum && *ns <= 50_000.0));
        }
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let spread = Spread {
            average: 200.0,
            stddev: 70.0,
            minimum: 100.0,
            maximum: 5000.0,
        };
        let [mut a, mut b] = [1, 1].map(|seed| Reads::new(spread, Clock::Nanoseconds, seed));
        assert!((0..1000).all(|_| a.draw() == b.draw()));
    }

    #[test]
    fn four_numbers_are_a_spread() {
        let text = |values: &[&str]| {
            values
                .iter()
                .map(|value| (*value).to_owned())
                .collect::<Vec<_>>()
        };
        assert!(Spread::parse(&text(&["10", "2", "5", "40"])).is_ok());
        assert!(Spread::parse(&text(&["10", "2", "15", "40"])).is_err());
        assert!(Spread::parse(&text(&["10", "2", "5"])).is_err());
    }
}

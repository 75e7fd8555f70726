//! The random lengths of a task, drawn from its own stream, with integers alone.

use engine::SplitMix64;

/// A length that is drawn anew each time, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Always the same.
    Fixed(u64),
    /// Anything from `low` to `high`, both included.
    Uniform {
        /// The shortest.
        low: u64,
        /// The longest; no shorter than the shortest.
        high: u64,
    },
    /// The gap between events that come independently of each other, this long on average; at most
    /// 44 times that.
    Exponential {
        /// The average.
        mean: u64,
    },
}

impl Draw {
    /// The average.
    pub const fn mean(self) -> u64 {
        match self {
            Self::Fixed(length) => length,
            Self::Uniform { low, high } => low / 2 + high / 2,
            Self::Exponential { mean } => mean,
        }
    }

    /// True if it can be drawn: no shortest length above the longest, and nothing above an hour.
    pub const fn is_sound(self) -> bool {
        const HOUR: u64 = 3_600_000_000_000;
        match self {
            Self::Fixed(length) => length <= HOUR,
            Self::Uniform { low, high } => low <= high && high <= HOUR,
            Self::Exponential { mean } => mean <= HOUR,
        }
    }

    /// Draws a length. A fixed one draws nothing.
    pub fn next(self, random: &mut SplitMix64) -> u64 {
        match self {
            Self::Fixed(length) => length,
            Self::Uniform { low, high } => {
                low + random.below((high.saturating_sub(low)).saturating_add(1))
            }
            Self::Exponential { mean } => {
                ((u128::from(mean) * u128::from(minus_ln(random.next()))) >> 32) as u64
            }
        }
    }
}

/// ln 2 in parts of 2^32.
const LN_2: u64 = 2_977_044_472;

/// -ln(x / 2^64) in parts of 2^32: the logarithm to base 2 bit by bit, by squaring. 0 counts as 1.
fn minus_ln(x: u64) -> u64 {
    let shift = x.leading_zeros().min(63);
    // A number from 1 to just under 2, in parts of 2^63.
    let mut number = if x == 0 { 1 << 63 } else { x << shift };
    let mut fraction = 0_u64;
    for _ in 0..32 {
        fraction <<= 1;
        let square = (u128::from(number) * u128::from(number)) >> 63;
        if square >> 64 != 0 {
            fraction |= 1;
            number = (square >> 1) as u64;
        } else {
            number = square as u64;
        }
    }
    // log2 of x is 63 - shift + fraction; of x / 2^64 that less 64.
    let bits = (u64::from(shift) + 1) << 32;
    ((u128::from(bits - fraction) * u128::from(LN_2)) >> 32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_right_to_nine_digits() {
        for x in [
            1_u64,
            2,
            3,
            1000,
            1 << 40,
            u64::MAX / 3,
            u64::MAX / 2,
            u64::MAX,
        ] {
            let right = -((x as f64) / 2f64.powi(64)).ln() * 2f64.powi(32);
            let wrong = (minus_ln(x) as f64 - right).abs();
            assert!(wrong < 32.0, "{x}: {} and not {right}", minus_ln(x));
        }
    }

    #[test]
    fn draws_have_their_mean_and_stay_in_their_range() {
        let mut random = SplitMix64::new(7);
        let mut mean =
            |draw: Draw| (0..100_000).map(|_| draw.next(&mut random)).sum::<u64>() / 100_000;
        assert_eq!(mean(Draw::Fixed(9)), 9);
        assert!((994..=1006).contains(&mean(Draw::Uniform {
            low: 500,
            high: 1500
        })));
        let exponential = mean(Draw::Exponential { mean: 1_000_000 });
        assert!(
            (990_000..=1_010_000).contains(&exponential),
            "{exponential}"
        );
        let low = (0..1000).map(|_| Draw::Uniform { low: 3, high: 5 }.next(&mut random));
        assert_eq!(
            low.fold((9, 0), |(least, most), at| (at.min(least), at.max(most))),
            (3, 5)
        );
    }
}

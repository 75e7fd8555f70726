//! Per-entity load tracking: how much a task has run of late, as a sum in which the past counts the
//! less the longer it is over.
//!
//! Time is cut into periods of 1024 units of 1024 ns each, which Linux calls 1024 us. What was done
//! in a period counts half as much 32 periods later: a sum is multiplied by y per period, with y^32
//! = 1/2. A period that is not over counts in part. The arithmetic is Linux's own, to the digit:
//! products with y^n in 32-bit fractions, cut off and not rounded.

use crate::view::Doing;

/// Length of a period in units of 1024 ns.
pub const PERIOD: u32 = 1024;

/// The capacity of the fastest CPU, and of any CPU beside itself.
pub const CAPACITY: u32 = 1024;

/// The sum that a task reaches which always runs: 1024 (1 + y + y^2 + ...) in Linux's arithmetic.
pub const LONGEST_SUM: u32 = 47_742;

/// Periods after which a sum has halved.
const HALF_LIFE: u64 = 32;

/// After this number of periods nothing is left of any sum.
const FORGOTTEN: u64 = HALF_LIFE * 63;

/// y^n for n from 0 to 31, as fractions of 2^32, cut off.
const POWERS: [u32; HALF_LIFE as usize] = powers();

/// y^n = 2^(-n/32), by square roots of integers: 2^(-1/2), 2^(-1/4), ... up to 2^(-1/32), with 62
/// bits each.
const fn powers() -> [u32; HALF_LIFE as usize] {
    // 2^(-1/2^k) for k from 1 to 5, in parts of 2^62.
    let mut roots = [0_u64; 5];
    let mut of: u128 = 1 << 61;
    let mut k = 0;
    while k < 5 {
        let root = root(of << 62);
        roots[k] = root as u64;
        of = root;
        k += 1;
    }
    let mut powers = [0; HALF_LIFE as usize];
    let mut n = 0;
    while n < HALF_LIFE as usize {
        let mut power: u128 = 1 << 62;
        let mut k = 0;
        while k < 5 {
            // 16/32 is 1/2, 8/32 is 1/4, and so on.
            if n & (16 >> k) != 0 {
                power = (power * roots[k] as u128) >> 62;
            }
            k += 1;
        }
        // 1 itself does not fit: 2^32 - 1 stands for it.
        let all = u32::MAX as u128;
        powers[n] = ((power * all) >> 62) as u32;
        n += 1;
    }
    powers
}

/// The largest integer whose square is not above `of`.
const fn root(of: u128) -> u128 {
    let (mut low, mut high) = (0_u128, 1_u128 << 63);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if middle * middle <= of {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// The rest of a sum after a number of periods.
pub const fn decay(sum: u64, periods: u64) -> u64 {
    if periods == 0 {
        return sum;
    }
    if periods > FORGOTTEN {
        return 0;
    }
    let halved = sum >> (periods / HALF_LIFE);
    ((halved as u128 * POWERS[(periods % HALF_LIFE) as usize] as u128) >> 32) as u64
}

/// The addition that uninterrupted doing makes to a sum, from `before` units ago in an earlier
/// period to `after` units into the present one, with `periods` limits between: the first part,
/// whole periods, the last part.
const fn segments(periods: u64, before: u32, after: u32) -> u32 {
    let first = decay(before as u64, periods) as u32;
    let whole = LONGEST_SUM - decay(LONGEST_SUM as u64, periods) as u32 - PERIOD;
    first + whole + after
}

/// The load of one task.
///
/// Linux keeps a load sum and a runnable sum; for a task they are the same, the load being that sum
/// times the task's weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pelt {
    /// Until when it is known, in units of 1024 ns.
    known: u64,
    /// The time that has passed of the present period.
    into: u32,
    /// Time in which it ran or waited for a CPU.
    pub runnable: u32,
    /// Time in which it ran.
    pub running: u32,
    /// Time in which it ran, times the capacity that it had.
    pub used: u64,
}

impl Pelt {
    /// The unit of time: a power of two of nanoseconds that is nearly a microsecond.
    const fn units(now_ps: u64) -> u64 {
        (now_ps / 1_000) >> 10
    }

    /// A task that has done nothing so far.
    pub const fn new(now_ps: u64) -> Self {
        Self {
            known: Self::units(now_ps),
            into: 0,
            runnable: 0,
            running: 0,
            used: 0,
        }
    }

    /// A task that counts as one that has always run and used this much of a core, as new tasks do
    /// in some policies.
    pub const fn full(now_ps: u64, utilisation: u32) -> Self {
        let sum = LONGEST_SUM - PERIOD;
        Self {
            runnable: sum,
            running: sum,
            used: sum as u64 * utilisation as u64,
            ..Self::new(now_ps)
        }
    }

    /// Brings it up to a time, until which the task did this on a core of this capacity. An earlier
    /// time changes nothing.
    pub fn update(&mut self, now_ps: u64, doing: Doing, capacity: u32) {
        let now = Self::units(now_ps);
        let elapsed = now.saturating_sub(self.known);
        if elapsed == 0 {
            return;
        }
        self.known = now;
        let at = elapsed + u64::from(self.into);
        let periods = at / u64::from(PERIOD);
        let into = (at % u64::from(PERIOD)) as u32;
        let added = match periods {
            0 => elapsed as u32,
            _ => segments(periods, PERIOD - self.into, into),
        };
        self.runnable = decay(u64::from(self.runnable), periods) as u32;
        self.running = decay(u64::from(self.running), periods) as u32;
        self.used = decay(self.used, periods);
        self.into = into;
        if doing != Doing::Nothing {
            self.runnable += added;
        }
        if doing == Doing::Running {
            self.running += added;
            self.used += u64::from(added) * u64::from(capacity);
        }
    }

    /// The sum that it would have, had it always run: the last period counts only as far as it is
    /// over.
    pub const fn divider(&self) -> u32 {
        LONGEST_SUM - PERIOD + self.into
    }

    /// Goes on from another time, as on the clock of another CPU.
    pub const fn rebase(&mut self, now_ps: u64) {
        self.known = Self::units(now_ps);
    }

    /// The part of the time in which it ran or waited, of 1024. HMP's `load_avg_ratio`: neither
    /// capacity nor weight count.
    pub const fn ratio(&self) -> u32 {
        (self.runnable as u64 * 1024 / self.divider() as u64) as u32
    }

    /// Load: the share of time in which the task ran or waited, times its weight (1024 at nice 0).
    pub const fn load(&self, weight: u64) -> u64 {
        (self.runnable as u128 * weight as u128 / self.divider() as u128) as u64
    }

    /// The utilisation, in units of the capacity: a task that always runs has the capacity of its
    /// CPU.
    pub const fn utilisation(&self) -> u32 {
        (self.used / self.divider() as u64) as u32
    }

    /// The share of the time in which it could have run that it did, of 1024. 1024 if it could
    /// never have run.
    pub const fn served(&self) -> u32 {
        if self.runnable == 0 {
            1024
        } else {
            (self.running as u64 * 1024 / self.runnable as u64) as u32
        }
    }

    /// True if nothing is left of what it did.
    pub const fn is_forgotten(&self) -> bool {
        self.runnable == 0 && self.used == 0
    }

    /// True if nothing would be left of it at the time until which another is known, had it done
    /// nothing since.
    pub(crate) const fn is_forgotten_at(&self, other: &Self) -> bool {
        let periods = other.known.saturating_sub(self.known) / PERIOD as u64;
        decay(self.runnable as u64, periods) == 0 && decay(self.used, periods) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_024_000;

    #[test]
    fn powers_are_linuxs_to_the_digit() {
        let of = |n: usize| POWERS[n];
        assert_eq!(
            [of(0), of(1), of(2), of(8)],
            [0xffff_ffff, 0xfa83_b2da, 0xf525_7d14, 0xd744_fcc9]
        );
        assert_eq!(
            [of(16), of(17), of(24), of(31)],
            [0xb504_f333, 0xb123_f581, 0x9837_f050, 0x82cd_8698]
        );
    }

    #[test]
    fn the_longest_sum_is_where_the_series_stops() {
        let mut sum = 1024;
        while decay(sum, 1) + 1024 != sum {
            sum = decay(sum, 1) + 1024;
        }
        assert_eq!(sum, 47_742);
    }

    #[test]
    fn a_sum_halves_in_32_periods() {
        // Half of it is 23871. Linux then multiplies by y^0, for which 2^32 - 1 stands, and cuts
        // off: one less, to the digit.
        assert_eq!(
            [decay(47_742, 32), decay(47_742, 64), decay(47_742, 320)],
            [23_870, 11_934, 45]
        );
        assert_eq!(
            [decay(47_743, 32), decay(1 << 40, 32), decay(1 << 40, 0)],
            [23_870, (1 << 39) - 128, 1 << 40]
        );
        assert_eq!([decay(1, 32), decay(u64::MAX, 2017)], [0, 0]);
        assert_eq!([decay(47_742, 1), decay(47_742, 31)], [46_718, 24_393]);
    }

    #[test]
    fn the_first_and_the_last_period_count_in_part() {
        let mut pelt = Pelt::new(0);
        pelt.update(300 * US, Doing::Nothing, 1024);
        pelt.update(1000 * US, Doing::Running, 1024);
        assert_eq!(pelt.running, 700);
        // 24 units of the first period, two whole ones, 100 units of the fourth.
        pelt.update((3 * 1024 + 100) * US, Doing::Running, 1024);
        let whole = 47_742 - decay(47_742, 3) as u32 - 1024;
        assert_eq!(
            pelt.running,
            decay(700, 3) as u32 + decay(24, 3) as u32 + whole + 100
        );
        assert_eq!(pelt.divider(), 47_742 - 1024 + 100);
    }

    #[test]
    fn always_runs_is_all_and_waiting_is_load_but_no_use() {
        let mut ran = Pelt::new(0);
        let mut waited = Pelt::new(0);
        for tick in 1..=500 {
            ran.update(tick * 4_000_000_000, Doing::Running, 430);
            waited.update(tick * 4_000_000_000, Doing::Waiting, 430);
        }
        assert!((1022..=1024).contains(&ran.ratio()), "{}", ran.ratio());
        assert!(
            (429..=430).contains(&ran.utilisation()),
            "{}",
            ran.utilisation()
        );
        assert_eq!(
            (waited.ratio(), waited.utilisation(), waited.served()),
            (ran.ratio(), 0, 0)
        );
        assert_eq!(ran.load(2048) / 2, ran.load(1024));
        assert_eq!(ran.served(), 1024);
    }

    #[test]
    fn a_full_one_is_full_and_decays_like_any() {
        let mut full = Pelt::full(0, 1024);
        assert_eq!((full.ratio(), full.utilisation()), (1024, 1024));
        full.update(32 * 1024 * US, Doing::Nothing, 1024);
        assert_eq!(
            (full.ratio(), full.utilisation()),
            (511, 511),
            "half, cut off"
        );
        full.update(4000 * 1024 * US, Doing::Nothing, 1024);
        assert!(full.is_forgotten());
    }

    #[test]
    fn earlier_times_change_nothing() {
        let mut pelt = Pelt::full(5_000 * US, 1024);
        let before = pelt;
        pelt.update(4_000 * US, Doing::Running, 1024);
        assert_eq!(pelt, before);
    }
}

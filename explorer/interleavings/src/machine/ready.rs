//! The processes that can go.

/// Processes that can go, as a set of bits: those that run, and CPUs that sleep until an interrupt,
/// which may come at any time.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    pub awake: u64,
    pub asleep: u64,
}

impl Ready {
    #[inline(always)]
    pub fn can_go(self, process: usize) -> bool {
        (self.awake | self.asleep) >> process & 1 != 0
    }

    /// The process that goes by default when the present one cannot: the lowest that is awake, else
    /// the first interrupt comes.
    #[inline(always)]
    pub fn first(self) -> Option<usize> {
        let set = if self.awake != 0 {
            self.awake
        } else {
            self.asleep
        };
        (set != 0).then(|| set.trailing_zeros() as usize)
    }
}

/// The `n`-th process of a set.
#[inline(always)]
pub fn nth(set: u64, n: u64) -> usize {
    let mut left = set;
    for _ in 0..n {
        left &= left - 1;
    }
    left.trailing_zeros() as usize
}

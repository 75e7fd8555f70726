//! The time in an idle state.

/// The time that a CPU was in an idle state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residency {
    /// The number of times that the state was entered and left.
    pub entered: u64,
    /// Nanoseconds in all.
    pub total_ns: u64,
    /// The shortest stay in nanoseconds.
    pub shortest_ns: u64,
    /// The longest stay in nanoseconds.
    pub longest_ns: u64,
    /// The number of times that the kernel said afterwards that the state was too deep.
    pub above: u64,
    /// The number of times that the kernel said afterwards that the state was too shallow.
    pub below: u64,
}

impl Residency {
    /// Adds a stay.
    pub(super) fn add(&mut self, stay_ns: u64) {
        self.entered += 1;
        self.total_ns += stay_ns;
        self.shortest_ns = match self.entered {
            1 => stay_ns,
            _ => self.shortest_ns.min(stay_ns),
        };
        self.longest_ns = self.longest_ns.max(stay_ns);
    }
}

/// The residency of a state; an empty one the first time.
pub fn residency(states: &mut Vec<Residency>, state: u8) -> &mut Residency {
    grown(states, state.into())
}

/// A place in a list, which grows where it is shorter.
#[inline]
pub fn grown<T: Default>(all: &mut Vec<T>, at: usize) -> &mut T {
    if at >= all.len() {
        all.resize_with(at + 1, T::default);
    }
    &mut all[at]
}

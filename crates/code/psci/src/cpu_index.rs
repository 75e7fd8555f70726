//! Numbers of CPUs.

use core::fmt;

/// Dense number of a CPU, from 0; the order is the platform's.
///
/// ```
/// use psci::CpuIndex;
///
/// let names = ["boot", "second"];
/// assert_eq!(names[CpuIndex(1).get()], "second");
/// assert_eq!(format!("{:?}", CpuIndex(1)), "CPU 1");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CpuIndex(pub u16);

impl CpuIndex {
    /// The number as an index into tables of CPUs.
    #[inline(always)]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for CpuIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CPU {}", self.0)
    }
}

//! Configuration of RCU.

use alloc::vec::Vec;
use core::fmt;

/// The Linux whose mechanisms are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// Linux 3.10 to 3.12: one thread per offloaded CPU; enforced idle (`RCU_FAST_NO_HZ`) may be
    /// had.
    Y2013,
    /// Linux 6: threads for grace periods and for callbacks, a bypass list, `RCU_LAZY`.
    Modern,
}

/// Configuration of RCU.
///
/// ```
/// use rcu::{Form, Settings};
///
/// let mut settings = Settings::new(8, 250, Form::Modern);
/// settings.offloaded = vec![1, 2, 3];
/// settings.lazy = true;
/// assert_eq!((settings.blimit, settings.direct_per_jiffy), (10, 64));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Number of CPUs, 1 to 4096; all are online at first.
    pub cpus: usize,
    /// Jiffies in a second, 24 to 1000.
    pub hz: u64,
    /// The Linux whose mechanisms are used.
    pub form: Form,
    /// CPUs whose callbacks threads invoke (`rcu_nocbs=`). In [`Form::Y2013`] not CPU 0.
    pub offloaded: Vec<usize>,
    /// CPUs that may go idle without a tick although they have callbacks (`RCU_FAST_NO_HZ`);
    /// offloaded ones among them are skipped. Only in [`Form::Y2013`].
    pub enforced_idle: Vec<usize>,
    /// `RCU_LAZY`: on offloaded CPUs, a callback that is not
    /// [`Urgency::Hurry`](crate::Urgency::Hurry) may wait for ten seconds. Only in
    /// [`Form::Modern`].
    pub lazy: bool,
    /// True if the kernel can be preempted: then a tick that finds no reader is a quiescent state,
    /// even if it came from the kernel.
    pub preemptible: bool,
    /// CPUs per leaf of the tree, 1 to 63; Linux: 16.
    pub leaf_fanout: usize,
    /// Children per other node of the tree, 2 to 64; Linux: 64.
    pub interior_fanout: usize,
    /// Callbacks that a softirq invokes at most; Linux: 10.
    pub blimit: u64,
    /// Callbacks on a CPU from which on the limit falls and grace periods are hurried; Linux:
    /// 10000.
    pub qhimark: u64,
    /// Callbacks on a CPU at which the limit comes back; Linux: 100.
    pub qlowmark: u64,
    /// Callbacks that an offloaded CPU queues in a jiffy before they go to the bypass list, in the
    /// modern form; Linux: 16 * 1000 / HZ.
    pub direct_per_jiffy: u64,
    /// Seconds after which a grace period counts as stalled; Linux: 21.
    pub stall_s: u64,
}

impl Settings {
    /// Linux's defaults: nothing is offloaded, the kernel is preemptible.
    pub fn new(cpus: usize, hz: u64, form: Form) -> Self {
        Self {
            cpus,
            hz,
            form,
            offloaded: Vec::new(),
            enforced_idle: Vec::new(),
            lazy: false,
            preemptible: true,
            leaf_fanout: 16,
            interior_fanout: 64,
            blimit: 10,
            qhimark: 10_000,
            qlowmark: 100,
            direct_per_jiffy: 16 * 1000 / hz.max(1),
            stall_s: 21,
        }
    }

    /// Jiffies from the start of a grace period to the first look at who holds it up, and from one
    /// look to the next.
    ///
    /// ```
    /// use rcu::{Form, Settings};
    ///
    /// assert_eq!(Settings::new(4, 250, Form::Modern).force_jiffies(), 1);
    /// assert_eq!(Settings::new(512, 1000, Form::Modern).force_jiffies(), 5);
    /// ```
    pub fn force_jiffies(&self) -> u64 {
        1 + u64::from(self.hz > 250) + u64::from(self.hz > 500) + self.cpus as u64 / 256
    }

    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        let range = |what, value: u64, low, high| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(SettingsError::Range {
                    what,
                    value,
                    low,
                    high,
                })
            }
        };
        range("cpus", self.cpus as u64, 1, 4096)?;
        range("hz", self.hz, 24, 1000)?;
        range("leaf_fanout", self.leaf_fanout as u64, 1, 63)?;
        range("interior_fanout", self.interior_fanout as u64, 2, 64)?;
        range("blimit", self.blimit, 1, u64::MAX)?;
        range("stall_s", self.stall_s, 1, 86_400)?;
        for &cpu in self.offloaded.iter().chain(&self.enforced_idle) {
            if cpu >= self.cpus {
                return Err(SettingsError::NoSuchCpu {
                    cpu,
                    cpus: self.cpus,
                });
            }
        }
        match self.form {
            Form::Y2013 if self.offloaded.contains(&0) => Err(SettingsError::CpuZeroOffloaded),
            Form::Y2013 if self.lazy => Err(SettingsError::LazyIsModern),
            Form::Modern if !self.enforced_idle.is_empty() => Err(SettingsError::EnforcedIdleIsOld),
            _ => Ok(()),
        }
    }
}

/// Why [`Rcu::new`](crate::Rcu::new) refuses settings.
///
/// ```
/// use rcu::SettingsError;
///
/// let error = SettingsError::NoSuchCpu { cpu: 4, cpus: 4 };
/// assert_eq!(error.to_string(), "there is no CPU 4: the 4 CPUs are 0 to 3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsError {
    /// A number is out of its range.
    Range {
        /// Name of the setting.
        what: &'static str,
        /// Value that was given.
        value: u64,
        /// Least value that is allowed.
        low: u64,
        /// Greatest value that is allowed.
        high: u64,
    },
    /// A list names a CPU that does not exist.
    NoSuchCpu {
        /// Number of the CPU.
        cpu: usize,
        /// Number of CPUs that exist.
        cpus: usize,
    },
    /// CPU 0 is to be offloaded, in the form of 2013.
    CpuZeroOffloaded,
    /// `RCU_LAZY` is set in the form of 2013, which has none.
    LazyIsModern,
    /// Enforced idle is set in the modern form, which has none.
    EnforcedIdleIsOld,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range { what, value, low, high } => write!(f, "{what} is {value}; it must be {low} to {high}"),
            Self::NoSuchCpu { cpu, cpus } => write!(f, "there is no CPU {cpu}: the {cpus} CPUs are 0 to {}", cpus - 1),
            Self::CpuZeroOffloaded => {
                f.write_str("CPU 0 cannot be offloaded in the form of 2013, as in Linux 3.8: take it off the list")
            }
            Self::LazyIsModern => f.write_str("RCU_LAZY came with Linux 6.2: use the modern form"),
            Self::EnforcedIdleIsOld => {
                f.write_str("enforced idle (RCU_FAST_NO_HZ) left Linux with 5.17: use the form of 2013")
            }
        }
    }
}

impl core::error::Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_look_comes_later_with_a_finer_jiffy_and_with_more_cpus() {
        let jiffies = |cpus, hz| Settings::new(cpus, hz, Form::Modern).force_jiffies();
        assert_eq!(
            [
                jiffies(5, 100),
                jiffies(5, 250),
                jiffies(5, 300),
                jiffies(5, 1000),
                jiffies(512, 1000)
            ],
            [1, 1, 2, 3, 5]
        );
    }

    #[test]
    fn what_cannot_be_had_is_refused_with_what_would_be_right() {
        let with = |form, change: fn(&mut Settings)| {
            let mut settings = Settings::new(4, 250, form);
            change(&mut settings);
            settings.check().map_err(|error| alloc::format!("{error}"))
        };
        assert_eq!(
            with(Form::Y2013, |settings| settings.offloaded =
                Vec::from([1, 2, 3])),
            Ok(())
        );
        let refused = |form, change| with(form, change).expect_err("refused");
        assert!(
            refused(Form::Y2013, |settings| settings.offloaded.push(0))
                .contains("CPU 0 cannot be offloaded")
        );
        assert!(
            refused(Form::Modern, |settings| settings.offloaded.push(4))
                .contains("the 4 CPUs are 0 to 3")
        );
        assert!(refused(Form::Modern, |settings| settings.enforced_idle.push(1)).contains("5.17"));
        assert!(refused(Form::Y2013, |settings| settings.lazy = true).contains("6.2"));
        assert!(refused(Form::Y2013, |settings| settings.leaf_fanout = 64).contains("1 to 63"));
    }
}

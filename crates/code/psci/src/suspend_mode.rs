//! PSCI_SET_SUSPEND_MODE (PSCI DEN0022, 5.21).
//!
//! To platform-coordinated: every other CPU must be off. To OS-initiated, the specification has two
//! conditions: each CPU is running, off, or suspended by CPU_DEFAULT_SUSPEND; and "none of the
//! cores has called CPU_SUSPEND since the last change of mode or boot". The second cannot be met by
//! an operating system that was started by another one which had idled, and it guards nothing here:
//! whoever takes a level down looks at which locks each sleeper will take, whatever the mode in
//! which it fell asleep. So [`Platform::suspend_mode_change`] chooses, and by default the first
//! condition alone counts.

use crate::error::Error;
use crate::platform::Platform;
use crate::psci::Psci;
use crate::settings::SuspendModeChange;
use crate::tree::Caller;

/// The one who decides on the states above the CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    PlatformCoordinated,
    OsInitiated,
}

const OS_INITIATED: u8 = 1;

impl<'a, P: Platform> Psci<'a, P> {
    /// The present mode, for a CPU_SUSPEND; notes that there was one.
    ///
    /// Takes no lock, so the mode may change right after. That does no harm: whoever takes a level
    /// down in the new mode looks at which locks each sleeper will take when it wakes, not at the
    /// mode in which it went to sleep.
    #[inline]
    pub(crate) fn note_suspend(&self) -> Mode {
        if !self.platform.optional_calls().os_initiated {
            return Mode::PlatformCoordinated;
        }
        if self.platform.suspend_mode_change() == SuspendModeChange::BeforeAnySuspend
            && !self.system.suspended.load(self.platform)
        {
            self.system.suspended.store(self.platform, true);
        }
        match self.system.mode.load(self.platform) {
            OS_INITIATED => Mode::OsInitiated,
            _ => Mode::PlatformCoordinated,
        }
    }

    /// PSCI_SET_SUSPEND_MODE: checks and writes under the same locks.
    pub(crate) fn set_suspend_mode(&self, me: Caller<'a, P>, mode: u32) -> Result<(), Error> {
        let wanted = match mode {
            0 => 0,
            1 => OS_INITIATED,
            _ => return Err(Error::InvalidParameters),
        };
        self.lock_ancestors(me, self.top);
        let result = if self.system.mode.load(self.platform) == wanted {
            Ok(())
        } else {
            let allowed = match wanted {
                OS_INITIATED => {
                    let never =
                        self.platform.suspend_mode_change() == SuspendModeChange::BeforeAnySuspend;
                    !(never && self.system.suspended.load(self.platform) || self.another_sleeps(me))
                }
                _ => self.all_others_off(me),
            };
            if allowed {
                self.system.mode.store(self.platform, wanted);
                self.system.suspended.store(self.platform, false);
                Ok(())
            } else {
                Err(Error::Denied)
            }
        };
        self.release_ancestors(me, self.top);
        result
    }
}

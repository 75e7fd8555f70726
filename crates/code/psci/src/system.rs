//! Calls on the whole system, the Trusted OS and the hardware's state: argument checks around the
//! platform's methods.

use crate::cpu_index::CpuIndex;
use crate::error::Error;
use crate::platform::Platform;
use crate::psci::Psci;
use crate::state::Level;
use crate::trusted_os::TrustedOs;

/// Types of SYSTEM_RESET2 with this bit are the vendor's (PSCI DEN0022, 5.13.3).
const VENDOR_RESET: u32 = 1 << 31;

impl<P: Platform> Psci<'_, P> {
    pub(crate) fn system_off(&self) -> u64 {
        self.platform.system_off();
        Error::InternalFailure.register()
    }

    pub(crate) fn system_reset(&self) -> u64 {
        self.platform.system_reset();
        Error::InternalFailure.register()
    }

    /// The one architectural type is 0, a warm reset; the others are the vendor's.
    pub(crate) fn system_reset2(&self, reset_type: u32, cookie: u64) -> u64 {
        if reset_type != 0 && reset_type & VENDOR_RESET == 0 {
            return Error::InvalidParameters.register();
        }
        self.platform.system_reset2(reset_type, cookie).register()
    }

    /// HIBERNATE_OFF is type 1, and what type 0 stands for as well; its cookie is 0.
    pub(crate) fn system_off2(&self, off_type: u32, cookie: u64) -> u64 {
        if off_type > 1 || cookie != 0 {
            return Error::InvalidParameters.register();
        }
        self.platform.hibernate().register()
    }

    pub(crate) fn mem_protect(&self, enable: u32) -> Result<u64, Error> {
        match enable {
            0 | 1 => self.platform.mem_protect(enable == 1).map(u64::from),
            _ => Err(Error::InvalidParameters),
        }
    }

    pub(crate) fn mem_protect_check_range(&self, base: u64, length: u64) -> Result<(), Error> {
        let sound = length != 0 && base.checked_add(length - 1).is_some();
        if sound && self.platform.mem_protect_check_range(base, length) {
            Ok(())
        } else {
            Err(Error::Denied)
        }
    }

    /// PSCI DEN0022, 5.8: a Trusted OS that cannot be moved denies it, and one that can is moved by
    /// the CPU that it lives on.
    pub(crate) fn migrate(&self, caller: CpuIndex, mpidr: u64) -> Result<(), Error> {
        let home = match self.platform.trusted_os() {
            TrustedOs::Migratable(home) => home,
            TrustedOs::Fixed(_) => return Err(Error::Denied),
            TrustedOs::Absent => return Err(Error::NotSupported),
        };
        let (cpu, record) = self.target(mpidr)?;
        if caller != home {
            return Err(Error::NotPresent);
        }
        if record.affinity.load(self.platform) != crate::storage::Affinity::On {
            return Err(Error::Denied);
        }
        self.platform.migrate(cpu)
    }

    /// 0 for a Trusted OS that migrates, 1 for one that does not, 2 for none.
    pub(crate) fn migrate_info_type(&self) -> u64 {
        match self.platform.trusted_os() {
            TrustedOs::Migratable(_) => 0,
            TrustedOs::Fixed(_) => 1,
            TrustedOs::Absent => 2,
        }
    }

    pub(crate) fn migrate_info_up_cpu(&self) -> u64 {
        match self.platform.trusted_os() {
            TrustedOs::Migratable(home) | TrustedOs::Fixed(home) => {
                self.cpus.get(home.get()).map_or(0, |record| record.mpidr)
            }
            TrustedOs::Absent => 0,
        }
    }

    pub(crate) fn node_hw_state(&self, mpidr: u64, level: u32) -> Result<u64, Error> {
        let (cpu, _) = self.target(mpidr)?;
        if level > u32::from(self.top) {
            return Err(Error::InvalidParameters);
        }
        self.platform
            .node_hw_state(cpu, level as Level)
            .map(|state| state as u64)
    }
}

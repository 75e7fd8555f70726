//! Time stamps, and the PMF calls that read them.
//!
//! # Which stamps a reader sees
//! Those of the CPU's last PSCI call, and none older: ENTER_PSCI opens a call, and a stamp from
//! before it reads as 0, "not taken". A suspend that leaves early, because an interrupt is pending,
//! thus shows no flush and no low-power time, instead of those of an older suspend. PMF calls are
//! not PSCI calls and open nothing. A CPU's next PSCI call makes its stamps old, so they are read
//! before that; those of a CPU that has turned itself off last until it is turned on and makes a
//! call.

use crate::call::Outcome;
use crate::error::Error;
use crate::platform::Platform;
use crate::points::psci as point;
use crate::psci::Psci;
use crate::tree::Caller;
use points::Point;

/// Version of the interface.
const VERSION: u64 = 1;
/// Owner of the time stamps, in the uppermost byte of their ids.
const OWNER: u32 = 0x41;
/// Flag: the stamp may be in memory, past a line in the reader's cache.
const CACHE_MAINTENANCE: u64 = 1;

/// Services, in bits 15:10 of a time stamp's id.
const PSCI_STAT: u32 = 0;
const RT_INSTR: u32 = 1;

impl<'a, P: Platform> Psci<'a, P> {
    /// Takes a stamp now.
    #[inline(always)]
    pub(crate) fn stamp(&self, me: Caller<'a, P>, point: Point, argument: u32) {
        if !cfg!(feature = "off") {
            let ticks = points::stamp(self.platform, point, argument);
            if let Some(cell) = me.record.stamps.get(usize::from(point.id())) {
                cell.store(self.platform, ticks);
            }
        }
    }

    /// Takes a stamp of a moment that has been read.
    #[inline(always)]
    pub(crate) fn stamp_at(&self, me: Caller<'a, P>, point: Point, argument: u32, ticks: u64) {
        if !cfg!(feature = "off") {
            points::stamp_at(self.platform, point, argument, ticks);
            if let Some(cell) = me.record.stamps.get(usize::from(point.id())) {
                cell.store(self.platform, ticks);
            }
        }
    }

    /// Takes a stamp, with the caches on, in a cell that is else stored with the caches off;
    /// returns the counter's value, which statistics need even where there are no stamps.
    #[inline(always)]
    pub(crate) fn stamp_through(&self, me: Caller<'a, P>, point: Point) -> u64 {
        let ticks = self.platform.now();
        if !cfg!(feature = "off") {
            points::stamp_at(self.platform, point, 0, ticks);
            if let Some(cell) = me.record.stamps.get(usize::from(point.id())) {
                cell.store_through(self.platform, ticks);
            }
        }
        ticks
    }

    /// GET_TIMESTAMP: id, MPIDR, flags. A 64-bit call returns the stamp in X1, a 32-bit one its
    /// halves in W1 and W2.
    pub(crate) fn pmf_get_timestamp(&self, wide: bool, [id, mpidr, flags]: [u64; 3]) -> Outcome {
        match self.time_stamp(id as u32, mpidr, flags & CACHE_MAINTENANCE != 0) {
            Ok(ticks) if wide => Outcome::Return([0, ticks, 0, 0]),
            Ok(ticks) => Outcome::Return([0, ticks & 0xffff_ffff, ticks >> 32, 0]),
            Err(error) => Outcome::error(error),
        }
    }

    /// VERSION.
    pub(crate) fn pmf_version(&self) -> Outcome {
        if self.has_stamps() {
            Outcome::Return([0, VERSION, 0, 0])
        } else {
            Outcome::error(Error::NotSupported)
        }
    }

    /// True if there are stamps, for this caller.
    fn has_stamps(&self) -> bool {
        !cfg!(feature = "off") && self.platform.may_read_stamps()
    }

    fn time_stamp(&self, id: u32, mpidr: u64, maintain: bool) -> Result<u64, Error> {
        if !self.has_stamps() {
            return Err(Error::NotSupported);
        }
        let point = match (id >> 24, id >> 10 & 0x3fff, id & 0x3ff) {
            (OWNER, RT_INSTR, point @ 0..=5) => point as u16,
            // PSCI_STAT's times are two of the stamps of runtime instrumentation.
            (OWNER, PSCI_STAT, 0) => point::ENTER_HW_LOW_PWR.id(),
            (OWNER, PSCI_STAT, 1) => point::EXIT_HW_LOW_PWR.id(),
            _ => return Err(Error::InvalidParameters),
        };
        let (_, record) = self.target(mpidr)?;
        let cell = |point: u16| {
            record
                .stamps
                .get(usize::from(point))
                .ok_or(Error::InvalidParameters)
        };
        // In this order: a call that starts in between makes the stamp old rather than the other
        // way round.
        let ticks = cell(point)?.load(self.platform, maintain);
        let entered = cell(point::ENTER_PSCI.id())?.load(self.platform, maintain);
        Ok(if ticks < entered { 0 } else { ticks })
    }
}

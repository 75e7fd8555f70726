//! The input node that all drivers share: the loop that fills a frame, its counters, and the watch
//! over an interface that may go away.

use std::time::{Duration, Instant};

use dataplane::buffers::{DATA_BYTES, Pool};
use dataplane::frame::{FRAME_MAX, Frame};
use dataplane::graph::{Input, Reason};
use dataplane::plane::Plane;

/// The way in which packets of an interface come in.
pub trait Driver: Send {
    /// The reasons that it may meet, for `show errors`.
    const REASONS: &'static [Reason];

    /// Puts packets into a frame until it has no more room, or there are no more packets.
    fn fill(&mut self, room: &mut Room<'_>);

    /// Packets that the kernel dropped since the last call.
    fn kernel_drops(&mut self) -> u64 {
        0
    }

    /// Returns true if the interface is there and up. If it was `away` at the last look, it is
    /// opened again first.
    fn look(&mut self, away: bool) -> bool;

    /// The way in which packets come in, for `show hardware`.
    fn hardware(&self) -> String;
}

/// The room that is left in a frame, and the counters of what is put there.
pub struct Room<'a> {
    pool: &'a mut Pool,
    frame: &'a mut Frame,
    wanted: usize,
    bytes: u64,
    dropped: u64,
    counts: &'a mut [u64],
}

impl Room<'_> {
    /// Packets in the frame so far.
    pub fn taken(&self) -> usize {
        self.frame.len
    }

    /// Lets `write` put the next packet into a buffer and return its length. Returns false if there
    /// is no packet, no buffer or no room.
    #[inline(always)]
    pub fn put(&mut self, write: impl FnOnce(&mut [u8; DATA_BYTES], &mut DriverCounters<'_>) -> Option<usize>) -> bool {
        let row = self.frame.len;
        // A buffer first: without one, the packet waits where it is.
        if row >= self.wanted || self.pool.allocate(&mut self.frame.buffer[row..=row]) == 0 {
            return false;
        }
        let data = self.pool.data_mut(self.frame.buffer[row]);
        let mut met = DriverCounters { dropped: &mut self.dropped, counts: self.counts };
        let Some(length) = write(data, &mut met) else {
            self.pool.free(&self.frame.buffer[row..=row]);
            return false;
        };
        // A longer packet may have lain in this buffer before. Its bytes behind this one must not
        // be taken for this one's own.
        data[length..(length + 64).min(DATA_BYTES)].fill(0);
        self.frame.length[row] = length as u16;
        self.frame.len += 1;
        self.bytes += length as u64;
        true
    }
}

/// Counters of what a driver meets.
pub struct DriverCounters<'a> {
    dropped: &'a mut u64,
    counts: &'a mut [u64],
}

impl DriverCounters<'_> {
    /// Counts a packet under the driver's reason of that number.
    #[inline]
    pub fn count(&mut self, reason: usize) {
        self.counts[reason] += 1;
    }

    /// Counts a packet under the driver's reason of that number, and drops it.
    #[inline]
    pub fn drop(&mut self, reason: usize) {
        self.count(reason);
        *self.dropped += 1;
    }
}

/// The reason that every driver may meet, behind its own reasons.
const AWAY: Reason = Reason::error("interface went down or away");

/// Time between two looks at an interface whether it is still there.
const LOOK: Duration = Duration::from_millis(100);
/// Time between two looks for an interface that is away.
const AWAY_LOOK: Duration = Duration::from_secs(1);
/// Polls of which one asks the kernel: each question is a system call.
const POLLS: u32 = 256;

/// Receives into the graph through a driver.
pub struct DriverInput<D> {
    driver: D,
    interface: u16,
    name: String,
    /// The driver's own reasons, and then [`AWAY`].
    counts: Vec<u64>,
    polls: u32,
    was_busy: bool,
    looked: Instant,
    away: bool,
}

impl<D: Driver> DriverInput<D> {
    /// An input node of that name for an interface of the graph.
    pub fn new(driver: D, interface: u16, name: String) -> Self {
        let counts = vec![0; D::REASONS.len() + 1];
        Self { driver, interface, name, counts, polls: 0, was_busy: false, looked: Instant::now(), away: false }
    }

    /// Notices an interface that went away, and one that is back. Nothing waits to be received.
    #[cold]
    fn look(&mut self, plane: &mut Plane) {
        if self.looked.elapsed() < if self.away { AWAY_LOOK } else { LOOK } {
            return;
        }
        self.looked = Instant::now();
        let is_up = self.driver.look(self.away);
        if !is_up && !self.away {
            self.counts[D::REASONS.len()] += 1;
        }
        self.away = !is_up;
        plane.interfaces[self.interface as usize].is_up = is_up;
    }
}

impl<D: Driver> Input for DriverInput<D> {
    fn name(&self) -> &str {
        &self.name
    }

    fn interface(&self) -> u16 {
        self.interface
    }

    fn poll(&mut self, plane: &mut Plane, frame: &mut Frame) {
        let wanted = plane.settings.frame_size.min(FRAME_MAX);
        let mut room = Room { pool: &mut plane.pool, frame, wanted, bytes: 0, dropped: 0, counts: &mut self.counts };
        self.driver.fill(&mut room);
        let Room { bytes, dropped, .. } = room;
        let interface = &mut plane.interfaces[self.interface as usize];
        interface.rx.add(frame.len as u64 + dropped, bytes);
        interface.drops += dropped;
        // Now and then is enough, and always once nothing is left after load.
        self.polls = self.polls.wrapping_add(1);
        if (frame.len == 0 && self.was_busy) || self.polls.is_multiple_of(POLLS) {
            interface.kernel_drops += self.driver.kernel_drops();
            if frame.len == 0 {
                self.look(plane);
            }
        }
        self.was_busy = frame.len > 0;
    }

    fn hardware(&self) -> String {
        self.driver.hardware()
    }

    fn counts(&self) -> Vec<(Reason, u64)> {
        D::REASONS.iter().copied().chain([AWAY]).zip(self.counts.iter().copied()).collect()
    }

    fn clear_counts(&mut self) {
        self.counts.fill(0);
    }
}

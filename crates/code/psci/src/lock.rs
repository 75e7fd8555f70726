//! Locks: Lamport's bakery for CPUs that may have their caches off, and a ticket lock for those
//! that stay coherent.
//!
//! Platform code uses them as well, for instance for the channel to a power controller, which is
//! used on the way down with caches off: a [`Lock`] over words of its own, with an id from
//! [`PLATFORM_LOCK`] up.
//!
//! There are no guards: a CPU that powers down loses its stack, and no destructor runs. Whoever
//! acquires, releases.

use crate::cpu_index::CpuIndex;
use crate::platform::Platform;
use crate::points::psci as point;
use crate::shared::{Coherent, MaintainedWord};

/// Id of the first CPU's own lock; the power domains' locks have the domain's index as id.
pub const CPU_LOCK: u32 = 0x4000;

/// First of the ids that are the platform's to give.
pub const PLATFORM_LOCK: u32 = 0x8000;

/// One CPU's word in a bakery lock: bit 0 is set while the CPU chooses, the rest is its ticket, 0
/// for none.
pub struct BakeryWord<P: Platform>(MaintainedWord<u32, P>);

impl<P: Platform> BakeryWord<P> {
    pub(crate) fn publish(&self, platform: &P) {
        self.0.publish(platform);
    }
}

impl<P: Platform> Default for BakeryWord<P> {
    /// The word of a CPU that does not want the lock.
    fn default() -> Self {
        Self(MaintainedWord::new(0))
    }
}

const CHOOSING: u32 = 1;

/// Lamport's bakery over n positions: plain loads and stores, so it works between CPUs with caches
/// on and off.
///
/// Tickets can tie, since two CPUs may choose at once; a tie goes to the lower position. Arrival
/// order is therefore not quite FIFO.
///
/// # Cost
/// An uncontended acquire is 2 stores and 2(n - 1) loads, each with its maintenance: store
/// "choosing"; load the n - 1 others for the highest ticket; store the ticket; load the n - 1
/// others once more. A contended one adds a load for each time a word is looked at again. A release
/// is one store and one event.
///
/// # Limits
/// A ticket has 31 bits and starts from 1 again whenever nobody holds or wants the lock; it would
/// take 2^31 acquisitions without such a moment to overflow it.
pub(crate) struct Bakery<'a, P: Platform> {
    words: &'a [BakeryWord<P>],
}

impl<P: Platform> Clone for Bakery<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Platform> Copy for Bakery<'_, P> {}

impl<'a, P: Platform> Bakery<'a, P> {
    /// A bakery in which the CPU at position i uses the i-th of `words`.
    pub const fn new(words: &'a [BakeryWord<P>]) -> Self {
        Self { words }
    }

    /// Waits until the CPU at `position` holds the lock.
    ///
    /// While another CPU chooses its ticket the wait spins: choosing is short and sends no event.
    /// The wait for a turn sleeps in [`Platform::wait_for_event`].
    pub fn acquire(&self, platform: &P, position: usize) {
        let Some(own) = self.words.get(position) else {
            debug_assert!(false, "a CPU without a position in this bakery");
            return;
        };
        self.write(platform, own, CHOOSING);
        let mut highest = 0;
        for (_, other) in self.others(position) {
            highest = highest.max(other.0.load(platform) >> 1);
        }
        let ticket = highest.wrapping_add(1);
        self.write(platform, own, ticket << 1);

        for (other_position, other) in self.others(position) {
            loop {
                let word = other.0.load(platform);
                if word & CHOOSING != 0 {
                    core::hint::spin_loop();
                    continue;
                }
                let theirs = word >> 1;
                if theirs == 0 || (ticket, position) < (theirs, other_position) {
                    break;
                }
                platform.wait_for_event();
            }
        }
    }

    /// Lets the lock go and wakes those who wait.
    #[inline]
    pub fn release(&self, platform: &P, position: usize) {
        if let Some(own) = self.words.get(position) {
            own.0.store(platform, 0);
            platform.send_event();
        }
    }

    /// All that a CPU writes must be seen before it looks at the others. The maintenance of a word
    /// ends in a barrier; where there is none, the barrier is ours.
    #[inline(always)]
    fn write(&self, platform: &P, own: &BakeryWord<P>, word: u32) {
        own.0.store(platform, word);
        if platform.coherent_power_down() {
            platform.barrier();
        }
    }

    #[inline(always)]
    fn others(&self, position: usize) -> impl Iterator<Item = (usize, &'a BakeryWord<P>)> {
        self.words
            .iter()
            .enumerate()
            .filter(move |&(other, _)| other != position)
    }
}

/// A ticket lock in one word, for CPUs with their caches on: FIFO.
///
/// # Cost
/// An uncontended acquire is one atomic add; a contended one adds a load for each look. A release
/// is a load, an atomic add and an event.
pub struct Ticket<P: Platform> {
    /// Next ticket in the upper half, ticket now served in the lower.
    word: Coherent<u32, P>,
}

const NEXT: u32 = 1 << 16;
const SERVED: u32 = NEXT - 1;

impl<P: Platform> Ticket<P> {
    /// Waits until the caller holds the lock.
    pub fn acquire(&self, platform: &P) {
        let word = self.word.fetch_add(platform, NEXT);
        let ticket = word >> 16;
        if word & SERVED != ticket {
            self.word.wait_until(platform, SERVED, ticket);
        }
    }

    /// Lets the lock go and wakes those who wait.
    #[inline]
    pub fn release(&self, platform: &P) {
        // The lower half must wrap without a carry into the upper one.
        let served = self.word.load(platform) & SERVED;
        let step = if served == SERVED {
            0u32.wrapping_sub(SERVED)
        } else {
            1
        };
        self.word.fetch_add(platform, step);
        platform.send_event();
    }
}

impl<P: Platform> Default for Ticket<P> {
    /// A free lock.
    fn default() -> Self {
        Self {
            word: Coherent::new(0),
        }
    }
}

enum Kind<'a, P: Platform> {
    Bakery {
        bakery: Bakery<'a, P>,
        first: CpuIndex,
    },
    Ticket(&'a Ticket<P>),
}

/// A lock of either kind with an id, which its stamps carry.
pub struct Lock<'a, P: Platform> {
    id: u32,
    kind: Kind<'a, P>,
}

impl<'a, P: Platform> Lock<'a, P> {
    /// A bakery between the CPUs from `first` on, one for each of `words`.
    #[inline(always)]
    pub const fn bakery(id: u32, words: &'a [BakeryWord<P>], first: CpuIndex) -> Self {
        Self {
            id,
            kind: Kind::Bakery {
                bakery: Bakery::new(words),
                first,
            },
        }
    }

    /// A ticket lock.
    #[inline(always)]
    pub const fn ticket(id: u32, ticket: &'a Ticket<P>) -> Self {
        Self {
            id,
            kind: Kind::Ticket(ticket),
        }
    }

    /// Waits until `cpu`, the caller, holds the lock.
    #[inline]
    pub fn acquire(&self, platform: &P, cpu: CpuIndex) {
        points::detail(platform, point::LOCK_WAIT, self.id);
        match &self.kind {
            Kind::Bakery { bakery, first } => {
                bakery.acquire(platform, cpu.get().wrapping_sub(first.get()))
            }
            Kind::Ticket(ticket) => ticket.acquire(platform),
        }
        points::detail(platform, point::LOCK_ACQUIRED, self.id);
    }

    /// Releases the lock.
    #[inline]
    pub fn release(&self, platform: &P, cpu: CpuIndex) {
        match &self.kind {
            Kind::Bakery { bakery, first } => {
                bakery.release(platform, cpu.get().wrapping_sub(first.get()))
            }
            Kind::Ticket(ticket) => ticket.release(platform),
        }
        points::detail(platform, point::LOCK_RELEASED, self.id);
    }
}

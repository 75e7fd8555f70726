//! The queue: which process is the earliest.

use crate::process::ProcessId;
use crate::time::Time;
use std::cell::Cell;

/// The most processes that a queue takes.
pub const MOST_PROCESSES: usize = 1 << 16;

/// A leaf of nobody: the process runs, or waits without a deadline, or is done.
const EMPTY: u64 = u64::MAX;

/// A leaf of a process that goes after the span that keys can tell apart.
const FAR: u64 = EMPTY - 1;

/// Bits of a key for the order of arrival.
const ARRIVAL_BITS: u32 = 22;

/// A tournament: a leaf per process, and above each pair the smaller of the two, so that the root
/// is the earliest.
///
/// Processes go by time, and by order of arrival where times are equal. A process has one place at
/// most. To queue it, or to take it out, plays one game per level, always as many, and no game's
/// outcome decides what comes next: the processor has no branch to guess wrong, which is most of
/// what a heap costs.
///
/// So that a game is one comparison, a key has 64 bits: time since [`Queue::base`], order of
/// arrival, process. Who goes later than such a time can say is FAR, and gets a key when nobody
/// else is left; when arrivals no longer fit, all are numbered anew.
pub struct Queue {
    /// The root is at 1, and the children of i at 2i and 2i + 1.
    nodes: Box<[Cell<u64>]>,
    leaves: usize,
    /// When each process goes, and its place among all arrivals; of no meaning while its leaf is
    /// empty.
    places: Box<[Cell<(Time, u64)>]>,
    process_bits: u32,
    /// The time that keys count from.
    base: Cell<Time>,
    /// The next arrival.
    next: Cell<u64>,
    /// The process that was taken last, or [`NOBODY`]: its leaf still has its key, which no longer
    /// counts. Mostly it is queued again before anybody else is taken, and then that is one way to
    /// the root instead of two.
    taken: Cell<ProcessId>,
}

/// No process.
const NOBODY: ProcessId = ProcessId::MAX;

impl Queue {
    /// A queue for processes `0..processes`, with nobody in it.
    pub fn new(processes: usize) -> Self {
        let leaves = processes.next_power_of_two().max(2);
        Self {
            nodes: (0..2 * leaves).map(|_| Cell::new(EMPTY)).collect(),
            leaves,
            places: (0..processes).map(|_| Cell::default()).collect(),
            process_bits: leaves.trailing_zeros(),
            base: Cell::new(0),
            next: Cell::new(0),
            taken: Cell::new(NOBODY),
        }
    }

    /// When the earliest goes; the end of time where nobody is queued.
    #[inline(always)]
    pub fn earliest(&self) -> Time {
        match self.first() {
            EMPTY => Time::MAX,
            FAR => self.earliest_far(),
            key => self.base.get() + (key >> (ARRIVAL_BITS + self.process_bits)),
        }
    }

    /// The smallest key, but for that of the process that was taken.
    #[inline(always)]
    fn first(&self) -> u64 {
        let taken = self.taken.get();
        if taken == NOBODY {
            return self.nodes[1].get();
        }
        let (mut node, mut first) = (self.leaves + taken, EMPTY);
        while node > 1 {
            first = first.min(self.nodes[node ^ 1].get());
            node >>= 1;
        }
        first
    }

    /// True if a process is queued.
    fn has(&self, process: ProcessId) -> bool {
        self.nodes[self.leaves + process].get() != EMPTY && self.taken.get() != process
    }

    /// Queues a process behind all that go at the same time, wherever it stood before. No time may
    /// be earlier than that of the last process that [`Queue::take_earliest`] took.
    #[inline(always)]
    pub fn put(&self, process: ProcessId, time: Time) {
        if self.next.get() >> ARRIVAL_BITS != 0 {
            self.number_anew();
        }
        let arrival = self.next.get();
        self.next.set(arrival + 1);
        self.places[process].set((time, arrival));
        if self.taken.get() == process {
            self.taken.set(NOBODY);
        }
        self.play(process, self.key(process, time, arrival));
    }

    /// Takes a process out again if it is the earliest; whether it is.
    #[inline(always)]
    pub fn take_if_earliest(&self, process: ProcessId) -> bool {
        let key = self.nodes[1].get();
        let is_earliest =
            key < FAR && key as usize & (self.leaves - 1) == process && self.taken.get() == NOBODY;
        if is_earliest {
            self.taken.set(process);
        }
        is_earliest
    }

    /// Clears the leaf of the process that was taken.
    #[inline(always)]
    fn forget_taken(&self) {
        let taken = self.taken.replace(NOBODY);
        if taken != NOBODY {
            self.play(taken, EMPTY);
        }
    }

    /// Takes the earliest out, with its time.
    #[inline(always)]
    pub fn take_earliest(&self) -> Option<(Time, ProcessId)> {
        self.forget_taken();
        if self.nodes[1].get() >= FAR {
            if self.nodes[1].get() == EMPTY {
                return None;
            }
            self.come_near();
        }
        let key = self.nodes[1].get();
        let process = key as usize & (self.leaves - 1);
        let time = self.base.get() + (key >> (ARRIVAL_BITS + self.process_bits));
        self.taken.set(process);
        Some((time, process))
    }

    #[inline(always)]
    fn key(&self, process: ProcessId, time: Time, arrival: u64) -> u64 {
        let since = time - self.base.get();
        // One bit less than there are, so that no key is FAR or EMPTY.
        match since >> (63 - ARRIVAL_BITS - self.process_bits) {
            0 => (((since << ARRIVAL_BITS) | arrival) << self.process_bits) | process as u64,
            _ => FAR,
        }
    }

    #[inline(always)]
    fn play(&self, process: ProcessId, key: u64) {
        let mut node = self.leaves + process;
        let mut winner = key;
        self.nodes[node].set(winner);
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1].get());
            node >>= 1;
            self.nodes[node].set(winner);
        }
    }

    /// The processes that are queued.
    fn queued(&self) -> impl Iterator<Item = ProcessId> {
        (0..self.places.len()).filter(|process| self.has(*process))
    }

    #[cold]
    fn earliest_far(&self) -> Time {
        self.queued()
            .map(|process| self.places[process].get().0)
            .min()
            .unwrap_or(Time::MAX)
    }

    /// All are far: counts time from the earliest of them.
    #[cold]
    fn come_near(&self) {
        self.base.set(self.earliest_far());
        self.key_anew();
    }

    /// Numbers the arrivals of those who are queued from 0.
    #[cold]
    fn number_anew(&self) {
        let mut queued: Vec<ProcessId> = self.queued().collect();
        queued.sort_unstable_by_key(|&process| self.places[process].get().1);
        for (arrival, &process) in (0..).zip(&queued) {
            self.places[process].set((self.places[process].get().0, arrival));
        }
        self.next.set(queued.len() as u64);
        self.key_anew();
    }

    fn key_anew(&self) {
        for process in self.queued() {
            let (time, arrival) = self.places[process].get();
            self.play(process, self.key(process, time, arrival));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    /// A queue beside a list that is searched.
    #[test]
    fn the_earliest_goes_first_and_of_equals_who_came_first_whatever_was_queued_and_taken_out() {
        // Steps of picoseconds, so that times are often equal; of minutes, so that keys cannot say
        // them; and both.
        for (processes, small, large) in [
            (1, 4, 4),
            (6, 4, 4),
            (64, 8, 8),
            (100, 1, 1 << 46),
            (3, 9, 1 << 60),
            (700, 3, 1 << 30),
        ] {
            let queue = Queue::new(processes);
            let mut list: Vec<Option<(Time, u64)>> = vec![None; processes];
            let mut random = SplitMix64::new(processes as u64);
            let mut now = 0;
            for arrival in 0..4000 {
                let process = random.below(processes as u64) as usize;
                match random.below(8) {
                    0 => {
                        queue.forget_taken();
                        queue.play(process, EMPTY);
                        list[process] = None;
                    }
                    1..5 => {
                        let most = if random.below(4) == 0 { large } else { small };
                        let step = random.below(most);
                        let time = (now + step).min(1 << 62);
                        queue.put(process, time);
                        list[process] = Some((time, arrival));
                    }
                    _ => {
                        let first = (0..processes)
                            .filter(|&p| list[p].is_some())
                            .min_by_key(|&p| list[p]);
                        let expected = first.map(|process| (list[process].unwrap().0, process));
                        assert_eq!(queue.take_earliest(), expected);
                        if let Some((time, process)) = expected {
                            now = time;
                            list[process] = None;
                        }
                    }
                }
                if arrival == 2000 {
                    queue.number_anew();
                }
                let earliest = list
                    .iter()
                    .flatten()
                    .min()
                    .map_or(Time::MAX, |&(time, _)| time);
                assert_eq!(queue.earliest(), earliest);
                assert_eq!(queue.has(process), list[process].is_some());
            }
        }
    }

    /// Round times far away, of which the lower bits say nothing.
    #[test]
    fn a_time_that_no_key_can_say_goes_last() {
        for bits in 40..62 {
            let queue = Queue::new(3);
            queue.put(0, 1 << bits);
            queue.put(1, 5);
            queue.put(2, (1 << bits) - 1);
            let taken: Vec<_> = std::iter::from_fn(|| queue.take_earliest()).collect();
            assert_eq!(
                taken,
                [(5, 1), ((1 << bits) - 1, 2), (1 << bits, 0)],
                "2^{bits} ps"
            );
        }
    }

    #[test]
    fn arrivals_are_numbered_anew_before_they_no_longer_fit() {
        let queue = Queue::new(3);
        queue.put(2, 50);
        for _ in 0..5 << ARRIVAL_BITS {
            queue.put(0, 50);
        }
        queue.put(1, 50);
        let taken: Vec<_> = std::iter::from_fn(|| queue.take_earliest()).collect();
        assert_eq!(taken, [(50, 2), (50, 0), (50, 1)]);
    }
}

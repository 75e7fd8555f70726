//! The invariants of RCU, which hold whatever happens: the check watches from outside, and takes no
//! operation.

use super::library::{Count, Counts};
use crate::held;
use interleavings::subject::Invariant::*;
use interleavings::subject::{Breach, Invariant};
use rcu_faults::Stall;

#[derive(Clone, Copy)]
struct Callback {
    /// The moment at which it was queued.
    at: u64,
    invoked: bool,
    /// The jiffy, and whether it may be put off.
    jiffy: u64,
    may_wait: bool,
    /// Grace periods that had started before.
    started_before: u64,
    /// The object that it frees.
    object: usize,
    /// The CPU that queued it.
    cpu: usize,
}

/// Moments are numbered in the order in which things happen.
#[derive(Default)]
pub(crate) struct Oracle {
    moment: u64,
    /// For each reader, the moment at which its read section started.
    reads_since: Vec<Option<u64>>,
    queued: Vec<Callback>,
    /// Callbacks that were not invoked yet.
    pub(crate) left: usize,
    freed: Vec<bool>,
    /// For each CPU: whether it is where no reader can be, or when it last was.
    quiet: Vec<(bool, u64)>,
    /// Counts that the library keeps as well, by their [`Count`].
    seen: Counts,
    /// Grace periods that have started, and the moment of the last start.
    started: u64,
    start: u64,
    /// The jiffy of that start while the grace period lasts.
    lasts_since: Option<u64>,
    /// The last report of a stall: its grace period, whether that had started, and the jiffy.
    last_report: Option<(u64, bool, u64)>,
    /// The jiffy from which on CPUs have nothing else to do.
    pub(crate) done_at: Option<u64>,
}

/// The grace periods that may start from the moment at which a callback is queued until it is
/// invoked: of a callback that may not be put off, and of one that may. One is needed, and one more
/// if a first was about to start. The others pass while the CPU that queued it has not given it a
/// number yet, or while nobody runs the thread that invokes it. In 250 000 callbacks 5 and 8 were
/// the most.
const MOST_PERIODS: [u64; 2] = [16, 32];

/// Jiffies for which a callback that may not be put off waits once there is no other work; 15 were
/// the most.
const SOON: u64 = 48;

/// Counts of what is not seen from outside, or is compared by itself.
const UNSEEN: [Count; 4] = [
    Count::Bypass,
    Count::Reported,
    Count::Forced,
    Count::DeferredWakes,
];

/// Jiffies for which the clock passes a CPU that stands still, at most.
pub const STANDS: u64 = 3;

/// Jiffies for which a stall may go unreported after its time.
const STALL_LATE: u64 = 12;

impl Oracle {
    /// The start of a run, with that many readers, objects that are there from the start, and CPUs.
    pub(crate) fn new(readers: usize, objects: usize, cpus: usize) -> Self {
        Self {
            quiet: vec![(false, 0); cpus],
            reads_since: vec![None; readers],
            freed: vec![false; objects],
            ..Self::default()
        }
    }

    pub(crate) fn next_moment(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    pub(crate) fn read_starts(&mut self, reader: usize) {
        self.reads_since[reader] = Some(self.next_moment());
    }

    pub(crate) fn read_ends(&mut self, reader: usize) {
        self.reads_since[reader] = None;
    }

    /// A CPU passes a quiescent state: it switches, or its tick finds no reader.
    pub(crate) fn was_quiet(&mut self, cpu: usize) {
        self.quiet[cpu].1 = self.next_moment();
    }

    /// A CPU goes where no reader can be, or comes from there: idle outside of interrupts, or off.
    pub(crate) fn is_quiet(&mut self, cpu: usize, quiet: bool) {
        self.quiet[cpu] = (quiet, self.next_moment());
    }

    /// A grace period has started, and is the next one.
    pub(crate) fn grace_period_starts(&mut self, number: u32, jiffy: u64) -> Result<(), Breach> {
        self.started += 1;
        self.start = self.next_moment();
        self.lasts_since = Some(jiffy);
        let started = self.started;
        held(started == u64::from(number), GracePeriod, || {
            format!("grace period {number} starts as the {started}th")
        })
    }

    /// RCU has seen a tick: it has reported a grace period that has lasted for too long, and again
    /// after three times as long. A CPU may hear of its start, and another one see the limit, some
    /// jiffies later.
    pub(crate) fn ticked(&self, jiffy: u64, patience: u64) -> Result<(), Breach> {
        let Some(since) = self.lasts_since else {
            return Ok(());
        };
        let limit = self
            .last_report
            .filter(|&(of, had, _)| (of, had) == (self.started, true))
            .map_or(since + patience, |(.., at)| at + 3 * patience);
        held(jiffy <= limit + STALL_LATE, SoonEnough, || {
            format!(
                "the grace period that started in jiffy {since} is not reported as stalled in jiffy {jiffy}"
            )
        })
    }

    /// It has ended: since its start every CPU has passed a quiescent state, and every reader has
    /// ended that was there.
    pub(crate) fn grace_period_ends(&mut self, number: u32) -> Result<(), Breach> {
        let start = self.start;
        self.saw(Count::Ended);
        self.lasts_since = None;
        self.next_moment();
        if let Some(cpu) = self
            .quiet
            .iter()
            .position(|&(is, last)| !is && last <= start)
        {
            let what = format!(
                "grace period {number} ends, and CPU {cpu} has passed no quiescent state since it started"
            );
            return Err((GracePeriod, what));
        }
        self.nobody_reads_since(start, GracePeriod, |reader| {
            format!("grace period {number} ends while task {reader} reads since before it started")
        })
    }

    /// No read section lasts that started before a moment.
    fn nobody_reads_since(
        &self,
        moment: u64,
        invariant: Invariant,
        what: impl FnOnce(usize) -> String,
    ) -> Result<(), Breach> {
        let reader = self
            .reads_since
            .iter()
            .position(|since| since.is_some_and(|since| since < moment));
        reader.map_or(Ok(()), |reader| Err((invariant, what(reader))))
    }

    /// A callback that was invoked has not waited for long: see [`MOST_PERIODS`].
    pub(crate) fn was_in_time(&self, number: usize, jiffy: u64) -> Result<(), Breach> {
        let queued = self.queued[number];
        let periods = self.started - queued.started_before;
        let most = MOST_PERIODS[usize::from(queued.may_wait)];
        held(periods <= most, SoonEnough, || {
            format!(
                "callback {number} is invoked after {periods} grace periods have started since it was queued, and {most} are enough"
            )
        })?;
        let waited = self
            .done_at
            .map_or(0, |done| jiffy - done.max(queued.jiffy));
        held(queued.may_wait || waited <= SOON, SoonEnough, || {
            format!(
                "callback {number}, which may not be put off, is invoked {waited} jiffies after all work was done"
            )
        })
    }

    /// Something happened that the library counts as well.
    pub(crate) fn saw(&mut self, what: Count) {
        self.seen[what as usize] += 1;
    }

    /// The library's counts agree with what happened.
    pub(crate) fn compare(&self, counts: &Counts) -> Result<(), Breach> {
        let mut seen = self.seen;
        seen[Count::Left as usize] = self.left as u64;
        for of in Count::ALL.into_iter().filter(|of| !UNSEEN.contains(of)) {
            let (count, right) = (counts[of as usize], seen[of as usize]);
            held(count == right, Statistics, || {
                format!("{}, are counted as {count}, and were {right}", of.words())
            })?;
        }
        Ok(())
    }

    /// A stall is reported: of a grace period that there is, and after its time.
    pub(crate) fn stalled(
        &mut self,
        &Stall {
            grace_period: number,
            age,
            started,
            ..
        }: &Stall,
        jiffy: u64,
        patience: u64,
    ) -> Result<(), Breach> {
        let wrong = |what: String| Err((SoonEnough, format!("a stall is reported {what}")));
        if age < patience {
            return wrong(format!("after {age} jiffies, and {patience} are none"));
        }
        if let Some((.., at)) =
            self.last_report
                .replace((number, started, jiffy))
                .filter(|&(of, had, at)| {
                    (of, had) == (number, started) && jiffy + STANDS < at + 3 * patience
                })
        {
            return wrong(format!(
                "again after {} jiffies, and {} are right",
                jiffy - at,
                3 * patience
            ));
        }
        if !started {
            return Ok(());
        }
        if number > self.started {
            return wrong(format!(
                "of grace period {number}, and {} have started",
                self.started
            ));
        }
        // One that has ended meanwhile is not known any more.
        match self.lasts_since.filter(|_| number == self.started) {
            // Who tells it may have stood still since it looked, and who started the period, too.
            Some(since) if age.abs_diff(jiffy - since) > 2 * STANDS => wrong(format!(
                "after {age} jiffies, and the grace period has lasted for {}",
                jiffy - since
            )),
            _ => Ok(()),
        }
    }

    /// A new object.
    pub(crate) fn object(&mut self) -> usize {
        self.freed.push(false);
        self.freed.len() - 1
    }

    /// A reader looks at an object, which must not have been freed.
    pub(crate) fn look(&self, reader: usize, object: usize) -> Result<(), Breach> {
        held(!self.freed[object], ReadersSafe, || {
            format!("task {reader} looks at object {object}, which was freed")
        })
    }

    /// A callback is about to be queued that frees an object; returns its number.
    pub(crate) fn queue(&mut self, cpu: usize, object: usize, jiffy: u64, may_wait: bool) -> usize {
        let at = self.next_moment();
        self.saw(Count::Queued);
        self.queued.push(Callback {
            at,
            invoked: false,
            jiffy,
            may_wait,
            started_before: self.started,
            object,
            cpu,
        });
        self.left += 1;
        self.queued.len() - 1
    }

    /// A CPU takes callbacks over from another one.
    pub(crate) fn takes_over(&mut self, from: usize, to: usize, count: usize) {
        if count == 0 {
            return;
        }
        self.seen[Count::Adopted as usize] += count as u64;
        for callback in self
            .queued
            .iter_mut()
            .filter(|callback| callback.cpu == from)
        {
            callback.cpu = to;
        }
    }

    /// Of the callbacks that a CPU queued and that were not invoked: the first, the moment at which
    /// it was queued, and whether it may be put off.
    pub(crate) fn first_left(&self, cpu: usize) -> Option<(usize, u64, bool)> {
        let mut left = self
            .queued
            .iter()
            .enumerate()
            .filter(|(_, callback)| callback.cpu == cpu && !callback.invoked);
        left.next()
            .map(|(number, callback)| (number, callback.at, callback.may_wait))
    }

    /// The object that a callback frees.
    pub(crate) fn frees(&self, number: usize) -> usize {
        self.queued[number].object
    }

    /// A callback that has not been invoked, if there is one.
    pub(crate) fn one_left(&self) -> Option<usize> {
        self.queued.iter().position(|queued| !queued.invoked)
    }

    /// A callback is invoked: once, and not before all have ended who were reading when it was
    /// queued.
    pub(crate) fn invoke(&mut self, number: usize) -> Result<(), Breach> {
        let queued = self.queued[number];
        self.queued[number].invoked = true;
        held(!queued.invoked, InvokedOnce, || {
            format!("callback {number} is invoked twice")
        })?;
        self.left -= 1;
        self.freed[queued.object] = true;
        self.nobody_reads_since(queued.at, ReadersSafe, |reader| {
            format!(
                "callback {number} is invoked while task {reader} reads since before it was queued"
            )
        })
    }
}

//! Code that makes no operation gives nobody else a turn, not even the explorer: another thread
//! watches for it. The time that it waited for a CPU does not count, so a busy machine changes
//! nothing.

use crate::operation::OperationIndex;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// The heartbeat of the runs on one thread, on a cache line of its own; no run reads it.
#[repr(align(128))]
pub(crate) struct Heart {
    /// Bits 63 to 56 are the process, 55 to 32 a count of operations, and 31 to 0 the operation;
    /// [`RESTS`] between two runs.
    beat: AtomicU64,
    /// Where Linux tells the time that the thread waited for a CPU.
    times: PathBuf,
    born: Instant,
    /// The last beat that was heard, and the thread's time then.
    heard: Mutex<(u64, Duration)>,
}

const RESTS: u64 = u64::MAX;

static HEARTS: Mutex<Vec<Weak<Heart>>> = Mutex::new(Vec::new());

thread_local! {
    static HEART: Arc<Heart> = {
        let thread = std::fs::read_link("/proc/thread-self").unwrap_or_default();
        let heart = Arc::new(Heart {
            beat: AtomicU64::new(RESTS),
            times: PathBuf::from("/proc").join(thread).join("schedstat"),
            born: Instant::now(),
            heard: Mutex::new((RESTS, Duration::ZERO)),
        });
        let mut hearts = HEARTS.lock().unwrap_or_else(PoisonError::into_inner);
        hearts.retain(|heart| heart.strong_count() > 0);
        hearts.push(Arc::downgrade(&heart));
        heart
    };
}

impl Heart {
    /// That of the present thread.
    pub(super) fn own() -> Arc<Self> {
        HEART.with(Arc::clone)
    }

    #[inline(always)]
    pub(crate) fn beat(&self, process: usize, operation: OperationIndex) {
        let count = (self.beat.load(Relaxed) >> 32).wrapping_add(1) & 0x00ff_ffff;
        self.beat.store(
            (process as u64) << 56 | count << 32 | u64::from(operation.number()),
            Relaxed,
        );
    }

    /// The run has ended.
    pub(crate) fn rest(&self) {
        self.beat.store(RESTS, Relaxed);
    }

    /// The process and its last operation, if a run has made none for as long as `patience`. A
    /// thread that is gone is not stuck, nor one whose times the system does not tell.
    fn stuck(&self, patience: Duration) -> Option<(u8, OperationIndex)> {
        let times = std::fs::read_to_string(&self.times).ok()?;
        let waited = times.split_ascii_whitespace().nth(1)?.parse().ok()?;
        let spent = self
            .born
            .elapsed()
            .saturating_sub(Duration::from_nanos(waited));
        let beat = self.beat.load(Relaxed);
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if beat != heard.0 {
            *heard = (beat, spent);
        }
        let is_stuck = beat != RESTS && spent.saturating_sub(heard.1) >= patience;
        is_stuck.then(|| ((beat >> 56) as u8, OperationIndex::of_number(beat as u32)))
    }
}

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Watches until it is dropped.
pub struct Watchdog(Arc<AtomicBool>);

/// Calls `stuck` with the process and its last operation if the runs of a thread make no operation
/// for as long as `patience`. It is called once, from another thread: what is
/// stuck cannot be helped, so it should end the program.
pub fn watch(patience: Duration, stuck: impl Fn(u8, OperationIndex) + Send + 'static) -> Watchdog {
    let over = Arc::new(AtomicBool::new(false));
    let ends = over.clone();
    thread::spawn(move || {
        while !ends.load(Relaxed) {
            thread::sleep(LOOK.min(patience));
            let hearts = HEARTS
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            let mut hearts = hearts.iter().filter_map(Weak::upgrade);
            let found = hearts.find_map(|heart| heart.stuck(patience));
            if let Some((process, operation)) = found.filter(|_| !ends.load(Relaxed)) {
                return stuck(process, operation);
            }
        }
    });
    Watchdog(over)
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Does `work` on a thread of its own, under the name of the present one.
///
/// # Errors
/// The runs on it have made no operation for as long as `patience`: the process and its last
/// operation. The thread is left alone, since nobody can end it.
pub(crate) fn run_watched<R: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<thread::Result<R>, (u8, OperationIndex)> {
    let (begins, begun) = mpsc::channel();
    let name = thread::current().name().unwrap_or("test").to_owned();
    let worker = thread::Builder::new().name(name).spawn(move || {
        let _ = begins.send(Heart::own());
        // What is sent through is dropped at the end, whatever that is.
        let _begins = begins;
        work()
    });
    let worker = worker.expect("the system has a thread for the test");
    let heart = begun.recv().expect("the thread begins");
    while begun.recv_timeout(LOOK.min(patience)).err() == Some(RecvTimeoutError::Timeout) {
        if let Some(stuck) = heart.stuck(patience) {
            return Err(stuck);
        }
    }
    Ok(worker.join())
}

#[cfg(test)]
mod tests {
    use super::{Duration, Heart, run_watched};
    use crate::operation::OperationIndex;

    #[test]
    fn work_without_an_operation_is_given_up_and_a_rest_is_not() {
        let patience = Duration::from_millis(100);
        let (ends, end) = std::sync::mpsc::channel::<()>();
        let stuck = run_watched(patience, move || {
            Heart::own().beat(3, OperationIndex::default());
            while end.try_recv() != Err(std::sync::mpsc::TryRecvError::Disconnected) {}
        });
        assert_eq!(stuck.unwrap_err(), (3, OperationIndex::default()));
        drop(ends);
        let rests = run_watched(patience, || {
            Heart::own().rest();
            std::thread::sleep(Duration::from_millis(300));
        });
        assert!(rests.unwrap().is_ok(), "there is no run");
    }

    #[test]
    fn each_operation_begins_the_time_anew_and_a_rest_has_none() {
        let (heart, instant) = (Heart::own(), Duration::from_nanos(1));
        for _ in 0..2 {
            heart.beat(0, OperationIndex::default());
            assert_eq!(heart.stuck(instant), None);
        }
        while heart.stuck(instant).is_none() {}
        heart.rest();
        assert_eq!(heart.stuck(instant), None);
    }
}

//! Code that makes no operation gives nobody else a turn, not even the explorer: another thread
//! watches for it, by the time that it has had on a CPU. So a busy machine changes nothing.

use crate::operation::OperationIndex;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// The heartbeat of the runs on one thread, on a cache line of its own; no run reads it.
#[repr(align(128))]
pub(super) struct Heart {
    /// Bits 63 to 56 are the process, 55 to 32 a count of operations, and 31 to 0 the operation.
    beat: AtomicU64,
    /// Where Linux tells the thread's time on a CPU.
    times: Option<PathBuf>,
    born: Instant,
}

static HEARTS: Mutex<Vec<Weak<Heart>>> = Mutex::new(Vec::new());

thread_local! {
    static HEART: Arc<Heart> = Heart::register();
}

impl Heart {
    fn register() -> Arc<Self> {
        let thread = std::fs::read_link("/proc/thread-self").ok();
        let heart = Arc::new(Self {
            beat: AtomicU64::new(0),
            times: thread.map(|thread| PathBuf::from("/proc").join(thread).join("schedstat")),
            born: Instant::now(),
        });
        let mut hearts = HEARTS.lock().unwrap_or_else(PoisonError::into_inner);
        hearts.retain(|heart| heart.strong_count() > 0);
        hearts.push(Arc::downgrade(&heart));
        heart
    }

    /// That of the present thread.
    pub(super) fn own() -> Arc<Self> {
        HEART.with(Arc::clone)
    }

    #[inline(always)]
    pub(super) fn beat(&self, process: usize, operation: OperationIndex) {
        let count = (self.beat.load(Relaxed) >> 32).wrapping_add(1) & 0x00ff_ffff;
        self.beat.store(
            (process as u64) << 56 | count << 32 | u64::from(operation.number()),
            Relaxed,
        );
    }

    /// The time that the thread has had on a CPU, or its age where the system does not tell it. A
    /// thread that is gone gets none.
    fn spent(&self) -> Duration {
        let Some(times) = &self.times else {
            return self.born.elapsed();
        };
        let times = std::fs::read_to_string(times).unwrap_or_default();
        let first = times.split_ascii_whitespace().next();
        Duration::from_nanos(first.and_then(|time| time.parse().ok()).unwrap_or(0))
    }
}

/// A heart that is listened to.
struct Pulse {
    heart: Arc<Heart>,
    beat: u64,
    since: Duration,
}

impl Pulse {
    fn of(heart: Arc<Heart>) -> Self {
        Self {
            beat: heart.beat.load(Relaxed),
            since: heart.spent(),
            heart,
        }
    }

    /// The process and its last operation, if there was none for as long as `patience`.
    fn stuck(&mut self, patience: Duration) -> Option<(u8, OperationIndex)> {
        let (beat, spent) = (self.heart.beat.load(Relaxed), self.heart.spent());
        if beat != self.beat {
            (self.beat, self.since) = (beat, spent);
        }
        let is_stuck = spent.saturating_sub(self.since) >= patience;
        is_stuck.then(|| ((beat >> 56) as u8, OperationIndex::of_number(beat as u32)))
    }
}

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// Watches until it is dropped.
pub struct Watchdog(Arc<AtomicBool>);

/// Calls `stuck` with the process and its last operation if the runs of a thread make no operation
/// for as long as `patience`, a time on a CPU. It is called once, from another thread: what is
/// stuck cannot be helped, so it should end the program.
pub fn watch(patience: Duration, stuck: impl Fn(u8, OperationIndex) + Send + 'static) -> Watchdog {
    let over = Arc::new(AtomicBool::new(false));
    let ends = over.clone();
    thread::spawn(move || {
        let mut pulses: Vec<Pulse> = Vec::new();
        while !ends.load(Relaxed) {
            thread::sleep(LOOK.min(patience));
            let hearts = HEARTS.lock().unwrap_or_else(PoisonError::into_inner);
            for heart in hearts.iter().filter_map(Weak::upgrade) {
                if !pulses.iter().any(|pulse| Arc::ptr_eq(&pulse.heart, &heart)) {
                    pulses.push(Pulse::of(heart));
                }
            }
            drop(hearts);
            let found = pulses.iter_mut().find_map(|pulse| pulse.stuck(patience));
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
/// The runs on it have made no operation for as long as `patience`, a time on a CPU: the process
/// and its last operation. The thread is left alone, since nobody can end it.
pub(crate) fn run_watched<R: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<thread::Result<R>, (u8, OperationIndex)> {
    let (begins, begun) = mpsc::channel();
    let (ends, ended) = mpsc::channel::<()>();
    let name = thread::current().name().unwrap_or("test").to_owned();
    let worker = thread::Builder::new().name(name).spawn(move || {
        // Dropped at the end, whatever that is.
        let _ends = ends;
        let _ = begins.send(Heart::own());
        work()
    });
    let worker = worker.expect("the system has a thread for the test");
    let mut pulse = Pulse::of(begun.recv().expect("the thread begins"));
    while ended.recv_timeout(LOOK.min(patience)) == Err(RecvTimeoutError::Timeout) {
        if let Some(stuck) = pulse.stuck(patience) {
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
    fn work_without_an_operation_is_given_up_and_other_work_is_not() {
        let patience = Duration::from_millis(100);
        let (ends, end) = std::sync::mpsc::channel::<()>();
        let stuck = run_watched(patience, move || {
            Heart::own().beat(3, OperationIndex::default());
            while end.try_recv() != Err(std::sync::mpsc::TryRecvError::Disconnected) {}
        });
        assert_eq!(stuck.unwrap_err(), (3, OperationIndex::default()));
        drop(ends);
        let waits = run_watched(patience, || {
            std::thread::sleep(3 * Duration::from_millis(100))
        });
        assert!(waits.unwrap().is_ok(), "who waits takes no time on a CPU");
        let beats = run_watched(patience, || {
            let begin = std::time::Instant::now();
            while begin.elapsed() < Duration::from_millis(300) {
                Heart::own().beat(0, OperationIndex::default());
            }
        });
        assert!(beats.unwrap().is_ok());
    }
}

//! Code that makes no operation gives nobody else a turn, not even the explorer: a thread watches
//! for it.

use crate::operation::OperationIndex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// The heartbeat of all runs, for a thread that watches whether the process gets on; no run reads
/// it. Bits 63 to 56 are the process, 55 to 32 a count of operations, and 31 to 0 the operation.
static BEAT: AtomicU64 = AtomicU64::new(0);

#[inline(always)]
pub fn beat(process: usize, operation: OperationIndex) {
    let count = (BEAT.load(Relaxed) >> 32).wrapping_add(1) & 0x00ff_ffff;
    BEAT.store(
        (process as u64) << 56 | count << 32 | u64::from(operation.number()),
        Relaxed,
    );
}

/// Watches until it is dropped.
pub struct Watchdog(Arc<AtomicBool>);

/// Calls `stuck` with the process and its last operation if no run makes an operation for as long
/// as `patience`. It is called once, from another thread: what is stuck cannot be helped, so it
/// should end the program.
pub fn watch(patience: Duration, stuck: impl Fn(u8, OperationIndex) + Send + 'static) -> Watchdog {
    let over = Arc::new(AtomicBool::new(false));
    let ends = over.clone();
    thread::spawn(move || {
        let (mut last, mut since) = (BEAT.load(Relaxed), Instant::now());
        while !ends.load(Relaxed) {
            thread::sleep(Duration::from_millis(50).min(patience));
            let beat = BEAT.load(Relaxed);
            if beat != last {
                (last, since) = (beat, Instant::now());
            } else if since.elapsed() >= patience && !ends.load(Relaxed) {
                stuck((beat >> 56) as u8, OperationIndex::of_number(beat as u32));
                return;
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

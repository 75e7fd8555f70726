//! The generator and the sink: packets at an even rate, of which some carry the time at which they
//! were sent.

use dataplane::inputs::PACKET_BYTES;
use dataplane::packet_socket::{Receiver, Sender};
use experiment::Progress;
use hdrhistogram::Histogram;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Offset of the mark that a packet carries a time: the first bytes behind the UDP header.
const MARK_AT: usize = 42;
const MARK: [u8; 2] = [0x5a, 0xa5];
/// Packets that are handed over at once at most.
const BATCH: usize = 32;
/// Packets that are sent at once at most after the generator was held up. What it missed beyond is
/// not sent: it would be a burst that nobody asked for.
const CATCH_UP: u64 = 256;

/// The packets that a generator is to send.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Packets a second; as many as it can where there is none.
    pub load: Option<f64>,
    /// The length.
    pub length: Duration,
    /// The number of them that carry a time, each second.
    pub timed: u32,
    /// The packets, in turn: at least one.
    pub templates: Vec<[u8; 64]>,
}

/// The packets that a generator sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentCounts {
    /// Packets.
    pub packets: u64,
    /// Length of the interval in seconds.
    pub seconds: f64,
    /// The processor that it was on at the end.
    pub cpu: Option<usize>,
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos() as u64
}

/// Sends from an interface of the calling thread's namespace until the time is over, or the run is
/// to stop.
///
/// # Errors
/// The interface is not there, or may not be used.
pub fn generate(interface: &str, offer: &Offer, progress: &Progress) -> io::Result<SentCounts> {
    let templates = &offer.templates;
    let timed_every = match (offer.load, offer.timed) {
        (Some(load), timed @ 1..) => (load / f64::from(timed)).ceil().max(1.0) as u64,
        _ => u64::MAX,
    };
    let mut sender = Sender::new(interface)?;
    let mut batch = [[0; 64]; BATCH];
    let (mut packets, mut skipped, mut next, mut until_timed) = (0, 0, 0, timed_every);
    let start = Instant::now();
    let seconds = loop {
        let elapsed = start.elapsed();
        if elapsed >= offer.length || progress.check().is_err() {
            break elapsed.as_secs_f64();
        }
        let due = match offer.load {
            Some(load) => {
                let due = ((elapsed.as_secs_f64() * load) as u64).saturating_sub(packets + skipped);
                skipped += due.saturating_sub(CATCH_UP);
                due.min(BATCH as u64) as usize
            }
            None => BATCH,
        };
        if due == 0 {
            std::hint::spin_loop();
            continue;
        }
        for packet in &mut batch[..due] {
            *packet = templates[next];
            next = if next + 1 == templates.len() {
                0
            } else {
                next + 1
            };
            until_timed -= 1;
            if until_timed == 0 {
                until_timed = timed_every;
                packet[MARK_AT..MARK_AT + 2].copy_from_slice(&MARK);
                packet[MARK_AT + 2..MARK_AT + 10].copy_from_slice(&now().to_le_bytes());
            }
        }
        packets += sender.send(
            batch[..due]
                .iter()
                .map(|packet| &packet[..PACKET_BYTES as usize]),
        ) as u64;
    };
    Ok(SentCounts {
        packets,
        seconds,
        cpu: dataplane::machine::cpu(),
    })
}

/// The time that packets were on their way.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// Nanoseconds.
    pub histogram: Histogram<u64>,
    /// Packets that were there before they were sent: somebody has set the clock.
    pub impossible: u64,
    /// Packets with a time that the sink had no room for.
    pub missed: u64,
}

/// Takes the times of packets that come in on an interface.
pub struct Sink {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Latencies>>,
}

impl Sink {
    /// Starts one, on a thread of its own, in the calling thread's namespace.
    ///
    /// # Errors
    /// The interface is not there, or may not be used.
    pub fn start(interface: &str) -> io::Result<Self> {
        let mut receiver = Receiver::marked(interface, MARK_AT as u16, MARK)?;
        let mut histogram = Histogram::new(3).map_err(io::Error::other)?;
        let stop = Arc::<AtomicBool>::default();
        let told = stop.clone();
        let thread = thread::Builder::new()
            .name("sink".to_owned())
            .spawn(move || {
                let mut impossible = 0;
                loop {
                    // Asked for before the last look, so that nothing is left.
                    let is_last = told.load(Ordering::Relaxed);
                    while let Some(packet) = receiver.next_packet() {
                        let Some(sent) = packet.bytes.get(MARK_AT + 2..MARK_AT + 10) else {
                            continue;
                        };
                        let sent = u64::from_le_bytes(sent.try_into().unwrap_or_default());
                        match (packet.stamp.as_nanos() as u64).checked_sub(sent) {
                            Some(latency) => histogram.record(latency).map_err(io::Error::other)?,
                            None => impossible += 1,
                        }
                    }
                    if is_last {
                        return Ok(Latencies {
                            histogram,
                            impossible,
                            missed: receiver.kernel_drops()?,
                        });
                    }
                    receiver.wait(20)?;
                }
            })?;
        Ok(Self { stop, thread })
    }

    /// Stops it and returns what it saw.
    ///
    /// # Errors
    /// It could not read on.
    pub fn finish(self) -> io::Result<Latencies> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .map_err(|_| io::Error::other("the sink's thread is gone"))?
    }
}

//! Two workers forward while routes change under them: each packet goes to a next hop that its
//! route had at that time, and none is lost.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dataplane::buffers::Reuse;
use dataplane::fib::Prefix;
use dataplane::frame::Frame;
use dataplane::graph::Graph;
use dataplane::inputs::{Generator, udp_packet};
use dataplane::nodes::{Device, Discard};
use dataplane::plane::{Mac, Mode, Plane, Settings};
use forwarder::control::Control;
use forwarder::workers::Workers;
use forwarder::{prompt, standard};

const US: Mac = Mac([2, 0, 0, 0, 0, 1]);
const OUT: Mac = Mac([2, 0, 0, 0, 0, 2]);
const PEER: Mac = Mac([2, 0, 0, 0, 0, 9]);

/// Destinations, each with a route of its own.
const SLOTS: usize = 4096;
/// Next hops; the first one is that of the network that covers all.
const HOPS: u8 = 5;
const CHANGES_A_SECOND: u64 = 10_000;
const BATCH: u64 = 100;

/// The ways that each destination's packets may take just now, as bits; and those that were seen.
struct Watch {
    allowed: Vec<AtomicU8>,
    checked: AtomicU64,
    wrong: AtomicU64,
}

/// Compares each packet's next hop with what its route has.
struct Checker(Arc<Watch>);

impl Device for Checker {
    fn send(&mut self, plane: &mut Plane, frame: &Frame) -> usize {
        let mut wrong = 0;
        for buffer in frame.buffers() {
            let data = plane.pool.data(*buffer);
            let slot = usize::from(data[31]) << 8 | usize::from(data[32]);
            let allowed = self.0.allowed[slot].load(Ordering::SeqCst);
            let is_whole = data[..5] == [2, 9, 9, 9, 9] && data[6..12] == OUT.0 && data[22] == 63;
            wrong += u64::from(!is_whole || allowed >> data[5] & 1 == 0);
        }
        self.0.checked.fetch_add(frame.len as u64, Ordering::Relaxed);
        self.0.wrong.fetch_add(wrong, Ordering::Relaxed);
        frame.len
    }
}

/// A destination, and a prefix of 24 to 32 bits around it.
fn route(slot: usize) -> (Ipv4Addr, Prefix) {
    let address = Ipv4Addr::from((20 << 24) + ((slot as u32) << 8) + 129);
    (address, Prefix::new(address, 24 + (slot % 9) as u8).unwrap())
}

/// Two graphs over the same tables, and the next hops' adjacencies.
fn graphs(watch: &Arc<Watch>) -> (Vec<Graph>, Vec<u16>) {
    let mut plane = Plane::new(4096, Reuse::Hot, Settings::default());
    plane.add_interface("in", US, Mode::Route);
    let out = plane.add_interface("out", OUT, Mode::Route);
    let hops: Vec<u16> = (0..HOPS).map(|hop| plane.add_neighbour(out, Mac([2, 9, 9, 9, 9, hop])).unwrap()).collect();
    plane.add_route("20.0.0.0/8".parse().unwrap(), hops[0]).unwrap();
    let other = plane.for_another_worker();
    let control = Arc::<Control>::default();
    let graph = |(worker, plane): (usize, Plane)| {
        let devices: Vec<Box<dyn Device>> = vec![Box::new(Discard), Box::new(Checker(watch.clone()))];
        let (mut graph, first) = standard::build(plane, devices, &control);
        // Each goes through all destinations, in an order of its own.
        let step = [1, 1021][worker];
        let packets = (0..SLOTS).map(|n| route(n * step % SLOTS).0);
        let packets = packets.map(|to| udp_packet(US, PEER, Ipv4Addr::new(10, 0, 0, 9), to, 64)).collect();
        graph.add_input(Generator::new(0, packets, None), first);
        graph
    };
    (vec![plane, other].into_iter().enumerate().map(graph).collect(), hops)
}

/// Memory of this process that is in place, in kB.
fn resident_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A few seconds; `STOPWATT_SOAK_SECONDS=600` makes it ten minutes.
#[test]
fn ten_thousand_route_changes_a_second_lose_nothing_and_lead_nobody_astray() {
    let seconds: u64 = std::env::var("STOPWATT_SOAK_SECONDS").map_or(3, |text| text.parse().unwrap());
    let watch = Arc::new(Watch {
        allowed: (0..SLOTS).map(|_| AtomicU8::new(1)).collect(),
        checked: AtomicU64::new(0),
        wrong: AtomicU64::new(0),
    });
    let (graphs, hops) = graphs(&watch);
    let tables = graphs[0].plane.tables.clone();
    let workers = Workers::start(graphs, &[], true).unwrap();
    let (start, total) = (Instant::now(), seconds * CHANGES_A_SECOND);
    let mut random = fastrand::Rng::with_seed(0x9e37_79b9);
    // Changes whose old next hop a packet under way may still take, with the epoch after which none
    // does.
    let mut under_way: VecDeque<(u64, Vec<(usize, u8)>)> = VecDeque::new();
    let (mut changes, mut slot, mut early) = (0, 0, None);
    while changes < total {
        let mut batch = Vec::new();
        for _ in 0..BATCH {
            let hop = random.u8(..HOPS);
            watch.allowed[slot].fetch_or(1 << hop, Ordering::SeqCst);
            let prefix = route(slot).1;
            match hop {
                // The network that covers it takes over.
                0 => drop(tables.change().fib.delete(prefix, dataplane::plane::MISS)),
                hop => drop(tables.change().fib.add(prefix, hops[hop as usize]).unwrap()),
            }
            batch.push((slot, hop));
            slot = (slot + 1) % SLOTS;
        }
        changes += BATCH;
        under_way.push_back((tables.epochs.retire(), batch));
        // Before a destination has its next turn, its last one is over.
        let most = SLOTS / BATCH as usize / 2;
        while under_way.front().is_some_and(|(epoch, _)| *epoch <= tables.epochs.passed() || under_way.len() > most) {
            assert!(start.elapsed() < Duration::from_secs(2 * seconds + 50), "a worker does not go on");
            if under_way.front().is_some_and(|(epoch, _)| *epoch > tables.epochs.passed()) {
                std::thread::yield_now();
                continue;
            }
            for (slot, hop) in under_way.pop_front().unwrap().1 {
                watch.allowed[slot].store(1 << hop, Ordering::SeqCst);
            }
        }
        let due = Duration::from_micros(changes * 1_000_000 / CHANGES_A_SECOND);
        std::thread::sleep(due.saturating_sub(start.elapsed()));
        if early.is_none() && changes > total / 3 {
            early = resident_kb();
        }
    }
    let took = start.elapsed().as_secs_f64();
    let late = resident_kb();
    let graphs = workers.stop().unwrap();
    let (checked, wrong) = (watch.checked.load(Ordering::Relaxed), watch.wrong.load(Ordering::Relaxed));
    println!(
        "{changes} changes in {took:.1} s, {checked} packets checked, {wrong} wrong; memory {early:?} kB, then {late:?}"
    );
    assert_eq!(wrong, 0, "of {checked} packets");
    for graph in &graphs {
        let balance = graph.balance();
        assert!(balance.received > 10_000, "{balance:?}");
        assert_eq!(balance.received, balance.sent, "{balance:?}");
    }
    if let (Some(early), Some(late)) = (early, late) {
        assert!(late < early + 8192, "memory grew from {early} kB to {late} kB");
    }
}

#[test]
fn workers_are_asked_while_they_forward_and_their_counters_add_up() {
    let watch = Arc::new(Watch {
        allowed: (0..SLOTS).map(|_| AtomicU8::new(1)).collect(),
        checked: AtomicU64::new(0),
        wrong: AtomicU64::new(0),
    });
    let workers = Workers::start(graphs(&watch).0, &[], false).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    workers.each(|graph| prompt::apply(graph, &prompt::parse("trace add pg-input 1").unwrap())).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let reports = workers.reports().unwrap();
    let sum = dataplane::graph::Report::sum(&reports).unwrap();
    assert_eq!(reports.len(), 2);
    assert!(reports.iter().all(|report| report.balance.sent > 0 && report.traces.len() == 1));
    assert_eq!(sum.balance.sent, reports.iter().map(|report| report.balance.sent).sum::<u64>());
    assert_eq!(sum.interfaces[1].tx.packets, sum.balance.sent);
    let node = |report: &dataplane::graph::Report| {
        report.runtime.iter().find(|row| row.name == "ip4-lookup").unwrap().counters.vectors
    };
    assert_eq!(node(&sum), reports.iter().map(node).sum::<u64>());
    let shown = dataplane::show::runtime(&reports);
    assert!(shown.contains("Thread 0 stopwatt_wk_0") && shown.contains("Thread 1 stopwatt_wk_1"), "{shown}");
    let threads = workers.threads();
    assert_eq!(threads.lines().count(), 3, "{threads}");
    let graphs = workers.stop().unwrap();
    assert!(graphs.iter().all(|graph| graph.balance().holds()));
}

#[test]
#[cfg(target_os = "linux")]
fn a_processor_that_is_not_there_is_an_error() {
    let watch = Arc::new(Watch {
        allowed: (0..SLOTS).map(|_| AtomicU8::new(1)).collect(),
        checked: AtomicU64::new(0),
        wrong: AtomicU64::new(0),
    });
    let error = Workers::start(graphs(&watch).0, &[1000], false).err().unwrap().to_string();
    assert!(error.contains("processor 1000"), "{error}");
}

//! A network for measuring, and a trial in it: a generator, what forwards, and a sink, each in a
//! network namespace of its own.
//!
//! ```text
//!   namespace A: a0 ═══ in0 :namespace M: out0 ═══ b0 :namespace B
//!     generator          what is measured          sink
//! ```
use super::command::Program;
use super::flow::{Latencies, Offer, SentCounts, Sink, generate};
use super::namespace::{Counts, Namespace, backlog_drops};
use crate::graphs::{self, Ends, INSIDE, Load, OUTSIDE, our_mac, peer_mac};
use crate::slice::Look;
use dataplane::graph::Graph;
use dataplane::machine;
use experiment::{Error, Progress};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The program that forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// The kernel itself.
    Kernel,
    /// Our graph, through packet sockets.
    Packet,
    /// A program of the user's.
    Command,
}

impl Driver {
    /// Every driver, with its name.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Kernel, "kernel"),
        (Self::Packet, "packet"),
        (Self::Command, "command"),
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL
            .into_iter()
            .find(|(driver, _)| *driver == self)
            .map_or("", |(_, name)| name)
    }
}

/// A packet that is not out so long after the last one was sent counts as lost: it waited in a
/// queue, which a longer trial would overflow.
pub const PATIENCE: Duration = Duration::from_millis(10);
/// After so long without a packet, those that are not there are lost for good.
const QUIET: Duration = Duration::from_millis(40);

/// A program of the user's may take so long until it forwards.
const START: Duration = Duration::from_secs(20);

/// Packets that did not come out, as one counter tells it.
#[derive(Clone, Debug)]
pub struct Loss {
    /// The interface or node that has the counter.
    pub place: String,
    /// The reason, in the counter's words.
    pub reason: String,
    /// The number of packets.
    pub packets: u64,
}

impl Loss {
    fn new(place: &str, reason: &str, packets: u64) -> Self {
        Self {
            place: place.to_owned(),
            reason: reason.to_owned(),
            packets,
        }
    }
}

/// The result of a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The packets that were sent.
    pub sent: SentCounts,
    /// Packets that came out in time.
    pub in_time: u64,
    /// Packets that came out later.
    pub late: u64,
    /// True if our graph lacked its processor for long: it lost packets for want of time.
    pub held_up: bool,
    /// The counts of packets that did not come out.
    pub lost_at: Vec<Loss>,
    /// The time that the packets with a time were on their way.
    pub latencies: Latencies,
    /// Driver and mode by which packets come in; the command line of a program; empty for the
    /// kernel.
    pub hardware: String,
}

impl Trial {
    /// Packets a second that were offered.
    pub fn offered(&self) -> f64 {
        self.sent.packets as f64 / self.sent.seconds.max(1e-9)
    }

    /// Packets a second that were forwarded.
    pub fn forwarded(&self) -> f64 {
        self.in_time as f64 / self.sent.seconds.max(1e-9)
    }

    /// Packets that never came out.
    pub fn lost(&self) -> u64 {
        self.sent.packets.saturating_sub(self.in_time + self.late)
    }

    /// Share of the packets that did not come out in time.
    pub fn loss(&self) -> f64 {
        self.sent.packets.saturating_sub(self.in_time) as f64 / self.sent.packets.max(1) as f64
    }
}

/// The network of a driver.
pub struct Bench {
    driver: Driver,
    load: Load,
    a: Namespace,
    m: Namespace,
    b: Namespace,
    program: Option<Program>,
}

/// The processor that the generator is kept on.
pub const GENERATOR_CPU: usize = 0;

/// The processor on which is forwarded: another than the generator's, if there is one.
pub fn forwarder_cpu() -> usize {
    usize::from(thread::available_parallelism().is_ok_and(|all| all.get() > 1))
}

/// Our graph on a thread of its own.
struct Running {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<(Graph, bool)>>,
}

impl Running {
    /// Starts the graph of a load between `in0` and `out0` of the calling thread's namespace.
    fn start(load: Load) -> io::Result<Self> {
        let ends = Ends {
            interfaces: ["in0", "out0"].map(str::to_owned),
            macs: [our_mac(INSIDE), our_mac(OUTSIDE)],
        };
        let mut graph = graphs::between(load, &ends, peer_mac(OUTSIDE))?;
        let stop = Arc::<AtomicBool>::default();
        let told = stop.clone();
        let thread = thread::Builder::new()
            .name("forwarder".to_owned())
            .spawn(move || {
                machine::pin(forwarder_cpu())?;
                let before = Look::new();
                while !told.load(Ordering::Relaxed) {
                    graph.run_once();
                }
                Ok((graph, Look::new().is_held_up(&before)))
            })?;
        Ok(Self { stop, thread })
    }

    /// The graph, and whether it lacked the processor for long.
    fn stop(self) -> io::Result<(Graph, bool)> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread
            .join()
            .map_err(|_| io::Error::other("the forwarder's thread is gone"))?
    }
}

fn failed(error: io::Error) -> Error {
    Error::Failed(format!("the network for measuring: {error}"))
}

impl Bench {
    /// Makes the network. `command` is what forwards if the driver is [`Driver::Command`]: it is
    /// started, and its first packet waited for.
    ///
    /// # Errors
    /// This needs root and `ip`; or the command forwards nothing.
    pub fn new(
        driver: Driver,
        load: Load,
        command: &str,
        progress: &Arc<Progress>,
    ) -> Result<Self, Error> {
        let mut made = Self::made(driver, load).map_err(failed)?;
        if driver == Driver::Command {
            made.start_program(command, progress)?;
        }
        Ok(made)
    }

    fn made(driver: Driver, load: Load) -> io::Result<Self> {
        let [a, m, b] = ["rates-a", "rates-m", "rates-b"].map(Namespace::new);
        let (a, m, b) = (a?, m?, b?);
        for (end, ours, number, there) in [("a0", "in0", INSIDE, &a), ("b0", "out0", OUTSIDE, &b)] {
            let (our_mac, peer) = (our_mac(number), there.path().display());
            // Nobody has the address of the neighbour behind `out0`: the sink's kernel takes note
            // of packets to it and has no more work with them.
            m.ip(&format!(
                "link add {ours} address {our_mac} type veth peer {end} netns {peer}"
            ))?;
            m.ip(&format!("link set {ours} up"))?;
            there.ip(&format!("link set {end} up"))?;
        }
        if driver == Driver::Kernel {
            m.ip("address add 172.16.1.1/24 dev in0")?;
            m.ip("address add 172.16.2.1/24 dev out0")?;
            m.ip(&format!(
                "neighbour add 172.16.2.2 lladdr {} dev out0 nud permanent",
                peer_mac(OUTSIDE)
            ))?;
            m.ip("route add 20.0.0.0/8 via 172.16.2.2")?;
            m.sysctl("net/ipv4/ip_forward", "1")?;
            // Otherwise the kernel forwards on the processor of the generator, within the
            // generator's calls.
            let mask = format!("{:x}", 1_u64 << forwarder_cpu());
            m.within(move || std::fs::write("/sys/class/net/in0/queues/rx-0/rps_cpus", mask))??;
        }
        Ok(Self {
            driver,
            load,
            a,
            m,
            b,
            program: None,
        })
    }

    fn start_program(&mut self, command: &str, progress: &Arc<Progress>) -> Result<(), Error> {
        progress.say(&format!("waiting until `{command}` forwards"));
        let program = Program::start(command, &self.m, forwarder_cpu()).map_err(Error::failed)?;
        self.program = Some(program);
        let started = Instant::now();
        loop {
            progress.check()?;
            let ((_, in_time, _), late) = self
                .send(Some(1000.0), Duration::from_millis(50), 0, progress)
                .map_err(failed)?;
            if in_time + late > 0 {
                if let Some(program) = &self.program {
                    program.pause();
                }
                return Ok(());
            }
            if let Some(program) = &self.program {
                program.check().map_err(Error::failed)?;
                if started.elapsed() > START {
                    let waited = format!("forwarded nothing in {} s", START.as_secs());
                    return Err(Error::failed(program.error(&waited)));
                }
            }
        }
    }

    /// The program that forwards.
    pub fn driver(&self) -> Driver {
        self.driver
    }

    /// Starts our graph; nothing for the kernel and for a program of the user's, which forward
    /// anyway.
    fn start(&self) -> Result<Option<Running>, Error> {
        if let Some(program) = &self.program {
            program.check().map_err(Error::failed)?;
            program.resume();
        }
        if self.driver != Driver::Packet {
            return Ok(None);
        }
        let load = self.load;
        self.m
            .within(move || Running::start(load))
            .and_then(|started| started)
            .map(Some)
            .map_err(failed)
    }

    /// The kernel's counts of packets that go nowhere.
    fn kernel_counts(&self) -> io::Result<Vec<Loss>> {
        let mut counts = vec![Loss::new("processor", "queue full", backlog_drops()?)];
        for (namespace, name) in [
            (&self.a, "a0"),
            (&self.m, "in0"),
            (&self.m, "out0"),
            (&self.b, "b0"),
        ] {
            let there = namespace.within(move || Counts::read(name))??;
            counts.push(Loss::new(name, "receive drops", there.receive_drops));
            counts.push(Loss::new(name, "send drops", there.send_drops));
        }
        Ok(counts)
    }

    fn received(&self) -> io::Result<u64> {
        Ok(self.b.within(|| Counts::read("b0"))??.received)
    }

    /// Sends at a load for some time, or as much as the generator can.
    ///
    /// # Errors
    /// The forwarding program cannot be started, or the run was interrupted.
    pub fn trial(
        &self,
        load: Option<f64>,
        length: Duration,
        timed: u32,
        progress: &Arc<Progress>,
    ) -> Result<Trial, Error> {
        let running = self.start()?;
        let before = self.kernel_counts().map_err(failed)?;
        let (measured, late) = self.send(load, length, timed, progress).map_err(failed)?;
        if let Some(program) = &self.program {
            program.pause();
        }
        progress.check()?;
        let (sent, in_time, latencies) = measured;
        let mut lost_at = self.kernel_counts().map_err(failed)?;
        for (loss, before) in lost_at.iter_mut().zip(before) {
            loss.packets = loss.packets.saturating_sub(before.packets);
        }
        let mut hardware = self
            .program
            .as_ref()
            .map(|program| program.command().to_owned())
            .unwrap_or_default();
        let mut held_up = false;
        if let Some(running) = running {
            let (graph, lacked) = running.stop().map_err(failed)?;
            held_up = lacked;
            let report = graph.report();
            for interface in &report.interfaces {
                lost_at.push(Loss::new(
                    &interface.name,
                    "kernel queue full",
                    interface.kernel_drops,
                ));
                lost_at.push(Loss::new(&interface.name, "tx-error", interface.tx_errors));
            }
            lost_at.extend(
                report
                    .errors
                    .iter()
                    .map(|row| Loss::new(&row.node, row.reason.text, row.count)),
            );
            hardware = report
                .hardware
                .first()
                .map(|(_, text)| text.clone())
                .unwrap_or_default();
        }
        lost_at.retain(|loss| loss.packets > 0);
        Ok(Trial {
            sent,
            in_time,
            late,
            held_up,
            lost_at,
            latencies,
            hardware,
        })
    }

    /// Sends, and waits until nothing comes out any more. Returns what was sent, what came out in
    /// time and how long it took; and what came out later.
    fn send(
        &self,
        load: Option<f64>,
        length: Duration,
        timed: u32,
        progress: &Arc<Progress>,
    ) -> io::Result<((SentCounts, u64, Latencies), u64)> {
        let offer = Offer {
            load,
            length,
            timed,
            templates: graphs::templates(self.load),
        };
        let sink = self.b.within(|| Sink::start("b0"))??;
        let before = self.received()?;
        let told = progress.clone();
        let generator = self.a.within(move || {
            thread::Builder::new()
                .name("generator".to_owned())
                .spawn(move || {
                    machine::pin(GENERATOR_CPU)?;
                    generate("a0", &offer, &told)
                })
        })??;
        let sent = generator
            .join()
            .map_err(|_| io::Error::other("the generator's thread is gone"))??;
        let ended = Instant::now();
        thread::sleep(PATIENCE);
        let in_time = self.received()?;
        let (mut last, mut since) = (in_time, Instant::now());
        // It ends in any case: what waits in queues is bounded, and so is the time of a machine
        // that stands still.
        while since.elapsed() < QUIET && ended.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(5));
            let there = self.received()?;
            if there != last {
                (last, since) = (there, Instant::now());
            }
        }
        let latencies = sink.finish()?;
        Ok(((sent, in_time - before, latencies), last - in_time))
    }
}

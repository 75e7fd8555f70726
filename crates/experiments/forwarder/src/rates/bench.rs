//! A network for measuring, and a trial in it: a generator, what forwards, and a sink, each in a
//! network namespace of its own.
//!
//! ```text
//!   namespace A: a0 ═══ in0 :namespace M: out0 ═══ b0 :namespace B
//!     generator          what is measured          sink
//! ```
//! With TAP devices there are no cables: `in0` and `out0` are the kernel's ends of them, where
//! generator and sink are, too.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use dataplane::graph::Report;
use dataplane::plane::Mac;
use dataplane::show::worker_name;
use dataplane_experiments::graphs::{destination, network};
use document::Document;
use experiment::{Error, Progress};
use forwarder::workers::Workers;

use super::command::Program;
use super::flow::{Latencies, Offer, Sent, Sink, generate};
use super::namespace::{Counts, Namespace, backlog_drops};
use crate::config::Config;

/// The program that forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// The kernel itself.
    Kernel,
    /// Our graph, through packet sockets.
    Packet,
    /// Our graph, through AF_XDP.
    AfXdp,
    /// Our graph, through TAP devices in the place of veth.
    Tap,
    /// A program of the user's.
    Command,
}

impl Driver {
    /// Every driver, with its name.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Kernel, "kernel"),
        (Self::Packet, "packet"),
        (Self::AfXdp, "af-xdp"),
        (Self::Tap, "tap"),
        (Self::Command, "command"),
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(driver, _)| *driver == self).map_or("", |(_, name)| name)
    }
}

/// The plan of a measurement, whatever the driver.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Routes.
    pub routes: u32,
    /// Flows.
    pub flows: u32,
    /// Buffers of a worker.
    pub buffers: usize,
    /// Packets of a frame.
    pub frame_size: usize,
    /// True if header checksums are verified.
    pub verify_checksum: bool,
    /// Threads that forward.
    pub workers: usize,
}

const IN: Mac = Mac([2, 0xfe, 0, 0, 0, 0x10]);
const OUT: Mac = Mac([2, 0xfe, 0, 0, 0, 0x20]);
const A: Mac = Mac([2, 0xfe, 0, 0, 0, 0xa]);
const B: Mac = Mac([2, 0xfe, 0, 0, 0, 0xb]);
/// The neighbour that packets are sent to. Nobody has this address: B's kernel takes note of such
/// packets and has no more work with them.
const NEIGHBOUR: Mac = Mac([2, 0xfe, 0, 0, 0, 0xbb]);

/// A packet that is not out so long after the last one was sent counts as lost: it waited in a
/// queue, which a longer trial would overflow.
pub const PATIENCE: Duration = Duration::from_millis(10);
/// After so long without a packet, those that are not there are lost for good.
const QUIET: Duration = Duration::from_millis(40);

/// A program of the user's may take so long until it forwards.
const START: Duration = Duration::from_secs(20);

/// The result of a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The packets that were sent.
    pub sent: Sent,
    /// Packets that came out in time.
    pub in_time: u64,
    /// Packets that came out later.
    pub late: u64,
    /// Counters that tell of packets that did not come out, by name.
    pub lost_at: Vec<(String, u64)>,
    /// Packets that each worker sent, by its name.
    pub workers: Vec<(String, u64)>,
    /// The time that the packets with a time were on their way.
    pub latencies: Latencies,
    /// The way in which packets come in, as `show hardware` says it; the command line of a program;
    /// empty for the kernel.
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
    plan: Plan,
    a: Namespace,
    m: Namespace,
    b: Namespace,
    generator_cpu: usize,
    worker_cpus: Vec<usize>,
    program: Option<Program>,
}

/// The processor that the generator is kept on, and those of the workers: others, if there are any.
fn placed(workers: usize) -> (usize, Vec<usize>) {
    let all = thread::available_parallelism().map_or(1, usize::from);
    let worker = |number| if all == 1 { 0 } else { 1 + number % (all - 1) };
    (0, (0..workers).map(worker).collect())
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
    pub fn new(driver: Driver, plan: Plan, command: &str, progress: &Arc<Progress>) -> Result<Self, Error> {
        let mut made = Self::made(driver, plan).map_err(failed)?;
        if driver == Driver::Command {
            made.start_program(command, progress)?;
        }
        Ok(made)
    }

    fn made(driver: Driver, plan: Plan) -> io::Result<Self> {
        let [a, m, b] = ["rates-a", "rates-m", "rates-b"].map(Namespace::new);
        let (a, m, b) = (a?, m?, b?);
        let cables = [("a0", A, "in0", IN, &a), ("b0", B, "out0", OUT, &b)];
        // Each worker has a queue of its own.
        let queues = plan.workers;
        for (end, mac, ours, our_mac, there) in cables.into_iter().filter(|_| driver != Driver::Tap) {
            let peer = there.path().display();
            m.ip(&format!(
                "link add {ours} address {our_mac} numrxqueues {queues} numtxqueues {queues} type veth peer {end} address {mac} \
                 numrxqueues {queues} numtxqueues {queues} netns {peer}"
            ))?;
            m.ip(&format!("link set {ours} up"))?;
            there.ip(&format!("link set {end} up"))?;
        }
        let (generator_cpu, worker_cpus) = placed(plan.workers);
        if driver == Driver::Kernel {
            m.ip("address add 10.0.1.1/24 dev in0")?;
            m.ip("address add 10.0.2.1/24 dev out0")?;
            m.ip(&format!("neighbour add 10.0.2.2 lladdr {NEIGHBOUR} dev out0 nud permanent"))?;
            m.ip("route add 20.0.0.0/8 via 10.0.2.2")?;
            m.sysctl("net/ipv4/ip_forward", "1")?;
            // Otherwise the kernel forwards on the processor of the generator, within the
            // generator's calls.
            let mask = format!("{:x}", 1_u64 << worker_cpus[0].min(63));
            m.within(move || std::fs::write("/sys/class/net/in0/queues/rx-0/rps_cpus", mask))??;
        }
        Ok(Self { driver, plan, a, m, b, generator_cpu, worker_cpus, program: None })
    }

    fn start_program(&mut self, command: &str, progress: &Arc<Progress>) -> Result<(), Error> {
        progress.say(&format!("waiting until `{command}` forwards"));
        let program = Program::start(command, &self.m, &self.worker_cpus).map_err(Error::failed)?;
        self.program = Some(program);
        let started = Instant::now();
        loop {
            progress.check()?;
            let ((_, in_time, _), late) =
                self.send(Some(1000.0), Duration::from_millis(50), 0, progress).map_err(failed)?;
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

    /// Processors: the generator's, and those on which is forwarded.
    pub fn processors(&self) -> (usize, &[usize]) {
        match self.driver {
            Driver::Kernel => (self.generator_cpu, &self.worker_cpus[..1]),
            _ => (self.generator_cpu, &self.worker_cpus),
        }
    }

    fn config(&self) -> String {
        let driver = self.driver.name();
        let Plan { buffers, frame_size, verify_checksum, workers, routes, .. } = self.plan;
        let mut text = format!(
            "buffers = {buffers}\nframe_size = {frame_size}\nverify_checksum = {verify_checksum}\nworkers = {workers}\n\
             [[interface]]\nname = \"in0\"\ndriver = \"{driver}\"\nmac = \"{IN}\"\naddresses = [\"10.0.1.1/24\"]\n\
             [[interface]]\nname = \"out0\"\ndriver = \"{driver}\"\nmac = \"{OUT}\"\naddresses = [\"10.0.2.1/24\"]\n\
             [[neighbour]]\naddress = \"10.0.2.2\"\ninterface = \"out0\"\nmac = \"{NEIGHBOUR}\"\n"
        );
        for number in 0..routes {
            let network = Ipv4Addr::from(network(number));
            text.push_str(&format!("[[route]]\nprefix = \"{network}/24\"\nvia = \"10.0.2.2\"\n"));
        }
        text
    }

    /// Starts what forwards; nothing for the kernel and for a program of the user's, which do so
    /// anyway.
    fn start(&self) -> Result<Option<Workers>, Error> {
        if let Some(program) = &self.program {
            program.check().map_err(Error::failed)?;
            program.resume();
        }
        if matches!(self.driver, Driver::Kernel | Driver::Command) {
            return Ok(None);
        }
        let config = Config::read(&Document::new("the network for measuring", self.config()))?;
        let cpus = self.worker_cpus.clone();
        let started = self.m.within(move || {
            let graphs = config.router()?.graphs;
            Workers::start(graphs, &cpus, true).map_err(Error::failed)
        });
        started.map_err(failed)?.map(Some)
    }

    /// The kernel's counts of packets that go nowhere.
    fn kernel_counts(&self) -> io::Result<Vec<(String, u64)>> {
        let mut counts = vec![("queue of a processor full".to_owned(), backlog_drops()?)];
        for (namespace, name) in [self.source(), (&self.m, "in0"), (&self.m, "out0"), self.sink()] {
            // TAP devices have no other ends.
            if counts.iter().any(|(there, _): &(String, u64)| there.starts_with(name)) {
                continue;
            }
            let there = namespace.within(move || Counts::read(name))??;
            counts.push((format!("{name}: receive drops"), there.receive_drops));
            counts.push((format!("{name}: send drops"), there.send_drops));
        }
        Ok(counts)
    }

    /// The place where the generator sends.
    fn source(&self) -> (&Namespace, &'static str) {
        if self.driver == Driver::Tap { (&self.m, "in0") } else { (&self.a, "a0") }
    }

    /// The interface at which what was forwarded comes out.
    fn sink(&self) -> (&Namespace, &'static str) {
        if self.driver == Driver::Tap { (&self.m, "out0") } else { (&self.b, "b0") }
    }

    fn received(&self) -> io::Result<u64> {
        let (namespace, name) = self.sink();
        Ok(namespace.within(move || Counts::read(name))??.received)
    }

    /// Sends at a load for some time, or as much as the generator can.
    ///
    /// # Errors
    /// What forwards cannot be started, or the run is to stop.
    pub fn trial(
        &self,
        load: Option<f64>,
        length: Duration,
        timed: u32,
        progress: &Arc<Progress>,
    ) -> Result<Trial, Error> {
        let workers = self.start()?;
        let before = self.kernel_counts().map_err(failed)?;
        let (measured, late) = self.send(load, length, timed, progress).map_err(failed)?;
        if let Some(program) = &self.program {
            program.pause();
        }
        progress.check()?;
        let (sent, in_time, latencies) = measured;
        let mut lost_at: Vec<(String, u64)> = self.kernel_counts().map_err(failed)?;
        for ((_, count), (_, before)) in lost_at.iter_mut().zip(before) {
            *count = count.saturating_sub(before);
        }
        let mut shares = Vec::new();
        let mut hardware = self.program.as_ref().map(|program| program.command().to_owned()).unwrap_or_default();
        if let Some(workers) = workers {
            let gone = |gone| Error::Failed(format!("{gone}"));
            let graphs = workers.stop().map_err(gone)?;
            let reports: Vec<Report> = graphs.iter().map(|graph| graph.report()).collect();
            for (number, report) in reports.iter().enumerate() {
                shares.push((worker_name(number), report.balance.sent));
            }
            if let Some(all) = Report::sum(&reports) {
                for interface in &all.interfaces {
                    lost_at.push((format!("{}: kernel queue full", interface.name), interface.kernel_drops));
                    lost_at.push((format!("{}: tx-error", interface.name), interface.tx_errors));
                }
                lost_at.extend(all.errors.iter().map(|row| (format!("{}: {}", row.node, row.reason.text), row.count)));
                hardware = all.hardware.first().map(|(_, text)| text.clone()).unwrap_or_default();
            }
        }
        lost_at.retain(|(_, count)| *count > 0);
        Ok(Trial { sent, in_time, late, lost_at, workers: shares, latencies, hardware })
    }

    /// Sends, and waits until nothing comes out any more. Returns what was sent, what came out in
    /// time and how long it took; and what came out later.
    fn send(
        &self,
        load: Option<f64>,
        length: Duration,
        timed: u32,
        progress: &Arc<Progress>,
    ) -> io::Result<((Sent, u64, Latencies), u64)> {
        let routes = self.plan.routes.max(1);
        let offer = Offer {
            load,
            length,
            timed,
            macs: (IN, A),
            from: Ipv4Addr::new(10, 0, 1, 2),
            to: (0..self.plan.flows.max(1)).map(|flow| destination(flow, routes)).collect(),
        };
        let (namespace, name) = self.sink();
        let sink = namespace.within(move || Sink::start(name))??;
        let before = self.received()?;
        let (cpu, told) = (self.generator_cpu, progress.clone());
        let (namespace, name) = self.source();
        let generator = namespace.within(move || {
            thread::Builder::new().name("generator".to_owned()).spawn(move || {
                dataplane::machine::pin(cpu)?;
                generate(name, &offer, &told)
            })
        })??;
        let sent = generator.join().map_err(|_| io::Error::other("the generator's thread is gone"))??;
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

//! The forwarder's configuration: interfaces, neighbours, routes.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dataplane::buffers::Reuse;
use dataplane::fib::Prefix;
use dataplane::graph::{Graph, Input};
use dataplane::inputs::Packets;
use dataplane::nodes::{Device, Discard};
use dataplane::own::{OwnAddress, Owner};
use dataplane::plane::{DISCARD, Mac, Mode, Plane, Settings};
use dataplane::wiring::{INTERFACES_MAX, Registry, Wiring};
use document::{Document, Error, Spanned};
use forwarder::control::{Control, Timing};
use forwarder::drivers::af_packet::PacketDriver;
use forwarder::drivers::af_xdp::{self, XdpDriver, XdpOutput};
use forwarder::drivers::interface;
use forwarder::drivers::packet_socket::{Receiver, Sender};
use forwarder::drivers::tap::{self, TapDriver, TapOutput};
use forwarder::nodes::{ICMP_PER_SECOND, registry};
use forwarder::{pcap, standard};
use serde::Deserialize;

/// Help for a configuration that is wrong.
const RIGHT: &str = "docs/forwarder.md has a configuration";

/// The forwarder's configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Interfaces of this machine.
    pub interface: Vec<Spanned<InterfaceConfig>>,
    /// Static neighbours.
    #[serde(default)]
    pub neighbour: Vec<Spanned<NeighbourConfig>>,
    /// Routes.
    #[serde(default)]
    pub route: Vec<Spanned<RouteConfig>>,
    /// Buffers; 16384 by default.
    pub buffers: Option<Spanned<usize>>,
    /// Packets of a frame; 256 by default.
    pub frame_size: Option<Spanned<usize>>,
    /// True if header checksums are verified; they are by default.
    pub verify_checksum: Option<bool>,
    /// The way in which neighbours are found.
    #[serde(default)]
    pub neighbours: NeighboursConfig,
    /// A file with a graph; the standard one by default.
    pub graph: Option<Spanned<PathBuf>>,
    /// Threads that forward; 1 by default.
    pub workers: Option<Spanned<usize>>,
    /// Processors on which they are kept, in their order; anywhere by default.
    pub cpus: Option<Spanned<Vec<usize>>>,
    /// Most ICMP errors a second; 1000 by default.
    pub icmp_errors_per_second: Option<u32>,
    /// The place where it was read.
    #[serde(skip)]
    source: Document,
}

/// The router that a configuration makes.
pub struct Router {
    /// Each worker's graph.
    pub graphs: Vec<Graph>,
    /// The neighbours of all workers.
    pub control: Arc<Control>,
}

/// `[[interface]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceConfig {
    /// Its name on this machine.
    pub name: String,
    /// Not an interface of this machine: packets come from this capture file, once.
    pub pcap_in: Option<PathBuf>,
    /// Not an interface of this machine: packets go to this capture file.
    pub pcap_out: Option<PathBuf>,
    /// Ethernet address; needed with capture files, the machine's own otherwise.
    pub mac: Option<String>,
    /// The way in which packets come in and go out; `packet` by default.
    pub driver: Option<Spanned<Driver>>,
    /// Cross connect: all packets go out of this one. Without it, packets are routed.
    pub cross_connect: Option<String>,
    /// Our addresses, as `10.0.1.1/24`; those that the kernel has on the interface where they are
    /// not given.
    pub addresses: Option<Vec<String>>,
    /// Bytes of the largest IP packet; the interface's own by default, 1500 with capture files.
    pub mtu: Option<u16>,
    /// VLANs whose tag is taken off.
    #[serde(default)]
    pub vlans: Vec<u16>,
}

/// The way in which packets come in from an interface of this machine and go out of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Driver {
    /// Packet sockets: the kernel keeps the interface and sees every packet, too.
    #[default]
    Packet,
    /// AF_XDP: the kernel sees nothing that comes in.
    AfXdp,
    /// A TAP device, which is made: the kernel has the other end.
    Tap,
}

/// `[neighbours]`: how neighbours are found that are not given. What is left out is as in
/// [`Timing::default`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeighboursConfig {
    /// Milliseconds between two requests.
    pub interval_ms: Option<Spanned<u64>>,
    /// Requests without an answer after which a neighbour is taken to be away.
    pub requests: Option<Spanned<u32>>,
    /// Seconds after which a known neighbour is asked whether it is still there.
    pub lifetime_s: Option<Spanned<u64>>,
    /// Most neighbours that are found by asking.
    pub most: Option<Spanned<usize>>,
    /// Most packets that wait for one neighbour.
    pub queue: Option<Spanned<usize>>,
    /// Most packets that wait for neighbours at all.
    pub queue_all: Option<Spanned<usize>>,
}

/// `[[neighbour]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeighbourConfig {
    /// Its address.
    pub address: Ipv4Addr,
    /// The interface it is behind.
    pub interface: String,
    /// Its Ethernet address.
    pub mac: String,
}

/// `[[route]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteConfig {
    /// The network.
    pub prefix: String,
    /// The neighbour's address; without it, packets are dropped.
    pub via: Option<Ipv4Addr>,
}

/// Most workers.
const WORKERS_MAX: usize = 32;

/// Most IP bytes that a buffer can hold behind an Ethernet header with a tag.
const MTU_MAX: u16 = (dataplane::buffers::DATA_BYTES - 18) as u16;

impl Config {
    /// Reads a configuration and checks what can be checked without the machine.
    ///
    /// # Errors
    /// What is wrong, with its line and what would be right.
    pub fn read(document: &Document) -> Result<Self, Error> {
        let mut config: Self = document.read().map_err(|error| error.with_help(RIGHT))?;
        config.source = document.clone();
        config.check()?;
        Ok(config)
    }

    /// Something is wrong with the table or value that starts there.
    fn wrong<T>(&self, there: &Spanned<T>, message: impl Display) -> Error {
        self.source.wrong(there.span(), message.to_string(), RIGHT)
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |there, message: String| Err(self.wrong(there, message));
        let wrong_at = |there: &Spanned<Driver>, message: String| Err(self.wrong(there, message));
        if self.interface.is_empty() || self.interface.len() > INTERFACES_MAX {
            let message = format!("there must be 1 to {INTERFACES_MAX} [[interface]] tables");
            return Err(self.source.wrong_as_a_whole(message, RIGHT));
        }
        let names = || self.interface.iter().map(|interface| &interface.get_ref().name);
        for (number, there) in self.interface.iter().enumerate() {
            let interface = there.get_ref();
            if names().take(number).any(|name| *name == interface.name) {
                return wrong(there, format!("interface `{}` is there twice", interface.name));
            }
            if let Some(peer) = &interface.cross_connect
                && !names().any(|name| name == peer)
            {
                let what = format!("interface `{}` is cross connected to `{peer}`, which is not there", interface.name);
                return wrong(there, what);
            }
            if interface.is_capture() && interface.mac.is_none() {
                return wrong(there, format!("interface `{}` is a capture file: it needs a mac", interface.name));
            }
            if let Some(driver) = &interface.driver
                && interface.is_capture()
            {
                return wrong_at(driver, format!("interface `{}` is a capture file: it has no driver", interface.name));
            }
            if interface.mtu.is_some_and(|mtu| !(68..=MTU_MAX).contains(&mtu)) {
                return wrong(there, format!("the mtu of `{}` must be 68 to {MTU_MAX}", interface.name));
            }
            if interface.vlans.iter().any(|vlan| !(1..=4094).contains(vlan)) {
                return wrong(there, format!("a vlan of `{}` is not 1 to 4094", interface.name));
            }
        }
        if let Some(size) = &self.frame_size {
            Settings::checked_frame_size(*size.get_ref()).map_err(|message| self.wrong(size, message))?;
        }
        self.timing()?;
        self.wiring(&self.registry(&Arc::default()))?;
        if let Some(workers) = &self.workers {
            if !(1..=WORKERS_MAX).contains(workers.get_ref()) {
                let message = format!("workers must be 1 to {WORKERS_MAX}");
                return Err(self.wrong(workers, message));
            }
            let capture = self.interface.iter().find(|there| there.get_ref().is_capture());
            if *workers.get_ref() > 1
                && let Some(there) = capture
            {
                let name = &there.get_ref().name;
                return wrong(there, format!("`{name}` is a capture file, which one worker alone can read and write"));
            }
        }
        if let Some(cpus) = &self.cpus
            && cpus.get_ref().len() != self.workers()
        {
            let (cpus, given) = (cpus, cpus.get_ref().len());
            let message = format!("cpus must have one processor for each of {} workers, not {given}", self.workers());
            return Err(self.wrong(cpus, message));
        }
        if let Some(count) = &self.buffers
            && !(1024..=1 << 20).contains(count.get_ref())
        {
            return Err(self.wrong(count, "buffers must be 1024 to 1048576"));
        }
        Ok(())
    }

    /// The way in which neighbours are found.
    fn timing(&self) -> Result<Timing, Error> {
        /// A number of the table, if it is given and within bounds.
        fn within<N: Copy + PartialOrd + Display>(
            config: &Config,
            name: &str,
            given: Option<&Spanned<N>>,
            usual: N,
            (least, most): (N, N),
        ) -> Result<N, Error> {
            match given {
                Some(there) if !(least..=most).contains(there.get_ref()) => {
                    Err(config.wrong(there, format!("{name} must be {least} to {most}")))
                }
                Some(there) => Ok(*there.get_ref()),
                None => Ok(usual),
            }
        }
        let (given, usual) = (&self.neighbours, Timing::default());
        let interval = usual.interval.as_millis() as u64;
        let interval = within(self, "interval_ms", given.interval_ms.as_ref(), interval, (10, 60_000))?;
        let lifetime = usual.lifetime.as_secs();
        let lifetime = within(self, "lifetime_s", given.lifetime_s.as_ref(), lifetime, (1, 86_400))?;
        Ok(Timing {
            interval: Duration::from_millis(interval),
            requests: within(self, "requests", given.requests.as_ref(), usual.requests, (1, 100))?,
            lifetime: Duration::from_secs(lifetime),
            most: within(self, "most", given.most.as_ref(), usual.most, (1, 16_384))?,
            queue: within(self, "queue", given.queue.as_ref(), usual.queue, (1, 1024))?,
            queue_all: within(self, "queue_all", given.queue_all.as_ref(), usual.queue_all, (1, 16_384))?,
        })
    }

    /// The number of threads that forward.
    pub fn workers(&self) -> usize {
        self.workers.as_ref().map_or(1, |workers| *workers.get_ref())
    }

    /// Processors on which they are kept; none if it does not matter.
    pub fn cpus(&self) -> &[usize] {
        self.cpus.as_ref().map_or(&[], |cpus| cpus.get_ref())
    }

    /// Builds each worker's graph on this machine's interfaces.
    ///
    /// # Errors
    /// An interface is not there or may not be used, or the tables have no room for what is
    /// configured.
    pub fn router(&self) -> Result<Router, Error> {
        let on = |there: &Spanned<InterfaceConfig>, error: io::Error| {
            self.wrong(there, format!("interface `{}`: {error}", there.get_ref().name))
        };
        for there in &self.interface {
            let InterfaceConfig { name, cross_connect, .. } = there.get_ref();
            let is_seen = !there.get_ref().is_capture() && there.get_ref().driver() == Driver::Packet;
            if is_seen && cross_connect.is_none() && interface::kernel_forwards(name) {
                let what = format!(
                    "the kernel forwards what comes in on `{name}`, so packets would go out twice: \
                     sysctl -w net.ipv4.conf.{name}.forwarding=0"
                );
                return Err(self.wrong(there, what));
            }
        }
        // Each worker has places of its own on each interface.
        let places = self.interface.iter().map(|there| self.places(there.get_ref()).map_err(|e| on(there, e)));
        let places = places.collect::<Result<Vec<_>, _>>()?;
        let control = Arc::<Control>::default();
        let plane = self.plane(&control, |there| {
            let interface = there.get_ref();
            let first = self.interface.iter().position(|other| std::ptr::eq(other, there));
            let first = first.and_then(|number| places[number].first());
            Machine::read(interface, first).map_err(|e| on(there, e))
        })?;
        let mut planes = vec![plane];
        while planes.len() < self.workers() {
            planes.push(planes[0].for_another_worker());
        }
        let mut places: Vec<_> = places.into_iter().map(Vec::into_iter).collect();
        let graphs = planes.into_iter().map(|plane| {
            let of_worker = places.iter_mut().map(|places| places.next().unwrap_or(Attachment::None)).collect();
            self.graph(plane, &control, of_worker)
        });
        Ok(Router { graphs: graphs.collect::<Result<_, _>>()?, control })
    }

    /// A place on an interface for each worker.
    fn places(&self, interface: &InterfaceConfig) -> io::Result<Vec<Attachment>> {
        let (name, workers) = (&interface.name, self.workers());
        let numbers = 0..workers as u32;
        interface.check_mtu()?;
        match interface.driver() {
            _ if interface.is_capture() => Ok(Vec::new()),
            Driver::Packet => {
                numbers.map(|_| Ok(Attachment::Packet(Sender::new(name)?, Receiver::new(name)?))).collect()
            }
            Driver::Tap => {
                let is_shared = workers > 1;
                numbers.map(|_| tap::Queue::open(name, is_shared).map(Attachment::Tap)).collect()
            }
            Driver::AfXdp => {
                let queues = interface::queues(name)?;
                if queues < workers as u32 {
                    return Err(io::Error::other(format!(
                        "it has {queues} receive queues for {workers} workers: give it more (`ethtool -L {name} combined {workers}`) \
                         or take fewer workers"
                    )));
                }
                let handed = af_xdp::XdpInterface::new(name)?;
                // A queue without a worker of its own goes to one that has one already.
                let open = |number| af_xdp::Queue::open(&handed, number);
                let of_worker = |worker| (worker..queues).step_by(workers).map(open).collect::<io::Result<_>>();
                numbers.map(|worker| of_worker(worker).map(Attachment::AfXdp)).collect()
            }
        }
    }

    /// The graph of the file that is given, or the standard one.
    fn wiring(&self, registry: &Registry) -> Result<Wiring, Error> {
        let graph = match &self.graph {
            Some(there) => Document::open(there.get_ref())?,
            None => Document::new("the standard graph", standard::TEXT),
        };
        let right = "docs/forwarder.md says how a graph is written";
        Wiring::parse(graph.text(), registry).map_err(|error| graph.wrong_line(error.line, error.message, right))
    }

    /// The nodes that one worker's graph may have.
    fn registry(&self, control: &Arc<Control>) -> Registry {
        registry(control, self.icmp_errors_per_second.unwrap_or(ICMP_PER_SECOND))
    }

    /// Builds one worker's graph on its places, one for each interface.
    fn graph(&self, plane: Plane, control: &Arc<Control>, places: Vec<Attachment>) -> Result<Graph, Error> {
        let on = |there: &Spanned<InterfaceConfig>, error: io::Error| {
            self.wrong(there, format!("interface `{}`: {error}", there.get_ref().name))
        };
        let mut devices: Vec<Box<dyn Device>> = Vec::new();
        let mut inputs: Vec<Box<dyn Input>> = Vec::new();
        for (number, (there, place)) in self.interface.iter().zip(places).enumerate() {
            let (interface, number) = (there.get_ref(), number as u16);
            let mtu = plane.interfaces[usize::from(number)].mtu;
            match place {
                Attachment::None => {
                    devices.push(match &interface.pcap_out {
                        Some(file) => {
                            let out = File::create(file).and_then(|out| pcap::Writer::new(BufWriter::new(out)));
                            Box::new(out.map_err(|cause| {
                                Error::new(
                                    format!("cannot write {}: {cause}", file.display()),
                                    "name another file as pcap_out",
                                )
                            })?)
                        }
                        None => Box::new(Discard),
                    });
                    if let Some(file) = &interface.pcap_in {
                        let shown = file.display().to_string();
                        let packets = disk::read(file, disk::MOST_BYTES);
                        let packets = packets.map_err(|cause| Error::unreadable(&shown, cause))?;
                        let packets = pcap::read(&packets);
                        let packets =
                            packets.map_err(|wrong| Error::new(format!("{shown}: {wrong}"), "name a capture file"))?;
                        inputs.push(Box::new(Packets::new(number, &format!("pcap-input-{}", interface.name), packets)));
                    }
                }
                Attachment::Packet(sender, receiver) => {
                    devices.push(Box::new(sender));
                    let input = PacketDriver::input(receiver, number, &interface.name, mtu, self.workers() > 1);
                    inputs.push(Box::new(input.map_err(|e| on(there, e))?));
                }
                Attachment::Tap(queue) => {
                    devices.push(Box::new(TapOutput::new(queue.clone())));
                    inputs.push(Box::new(TapDriver::input(queue, number)));
                }
                Attachment::AfXdp(queues) => {
                    devices.push(match queues.first() {
                        Some(queue) => Box::new(XdpOutput::new(queue.clone())),
                        None => Box::new(Discard),
                    });
                    inputs.extend(
                        queues.into_iter().map(|queue| Box::new(XdpDriver::input(queue, number)) as Box<dyn Input>),
                    );
                }
            }
        }
        let registry = self.registry(control);
        let (mut graph, first) = self.wiring(&registry)?.build(plane, devices, &registry);
        inputs.into_iter().for_each(|input| graph.add_input(input, first));
        Ok(graph)
    }

    /// Interfaces, addresses, neighbours and routes; `machine` says what an interface of this
    /// machine has.
    ///
    /// # Errors
    /// Those of `machine`, or the tables have no room for what is configured.
    pub fn plane(
        &self,
        control: &Control,
        machine: impl Fn(&Spanned<InterfaceConfig>) -> Result<Machine, Error>,
    ) -> Result<Plane, Error> {
        let settings = Settings {
            frame_size: self.frame_size.as_ref().map_or(256, |size| *size.get_ref()),
            verify_checksum: self.verify_checksum.unwrap_or(true),
            ..Settings::default()
        };
        let buffers = self.buffers.as_ref().map_or(16 * 1024, |count| *count.get_ref());
        let mut plane = Plane::new(buffers, Reuse::Hot, settings);
        let mut neighbours = control.lock();
        neighbours.timing = self.timing()?;
        for there in &self.interface {
            let interface = there.get_ref();
            let wrong = |e: &dyn Display| self.wrong(there, format!("interface `{}`: {e}", interface.name));
            let machine = if interface.is_capture() { Machine::default() } else { machine(there)? };
            let mac = match &interface.mac {
                Some(mac) => mac.parse().map_err(|e: String| wrong(&e))?,
                None => machine.mac,
            };
            let mode = match &interface.cross_connect {
                Some(peer) => {
                    let peer = self.interface.iter().position(|i| i.get_ref().name == *peer);
                    Mode::CrossConnect { peer: peer.unwrap_or_default() as u16 }
                }
                None => Mode::Route,
            };
            let number = plane.add_interface(&interface.name, mac, mode);
            let added = &mut plane.interfaces[number as usize];
            added.kernel_sees = !interface.is_capture() && interface.driver() == Driver::Packet;
            added.mtu = interface.mtu.unwrap_or(machine.mtu);
            added.vlans.clone_from(&interface.vlans);
            let addresses = match &interface.addresses {
                Some(given) => {
                    given.iter().map(|text| address(text)).collect::<Result<_, _>>().map_err(|e: String| wrong(&e))?
                }
                None => machine.addresses.clone(),
            };
            for (address, length) in addresses {
                let kernel_has_it = machine.addresses.iter().any(|(there, _)| *there == address);
                let kernel_has_it = kernel_has_it && plane.interfaces[number as usize].kernel_sees;
                let owner = if kernel_has_it { Owner::Kernel } else { Owner::Us };
                if plane.own.find(address).is_some() {
                    return Err(wrong(&format!("address {address} is there twice")));
                }
                plane.add_address(OwnAddress { address, length, interface: number, owner }).map_err(|e| wrong(&e))?;
            }
        }
        let mut adjacencies = HashMap::new();
        for there in &self.neighbour {
            let neighbour = there.get_ref();
            let wrong = |e: &dyn Display| self.wrong(there, format!("neighbour {}: {e}", neighbour.address));
            let interface = plane
                .find_interface(&neighbour.interface)
                .ok_or_else(|| wrong(&format!("no interface `{}`", neighbour.interface)))?;
            let mac = neighbour.mac.parse().map_err(|e: String| wrong(&e))?;
            let (side, now) = (plane.side(interface), plane.now);
            let added = neighbours.add_static(&plane.tables, side, neighbour.address, mac, now);
            adjacencies.insert(neighbour.address, added.map_err(|e| wrong(&e))?);
        }
        for there in &self.route {
            let route = there.get_ref();
            let prefix: Prefix = route.prefix.parse().map_err(|e: String| self.wrong(there, e))?;
            let wrong = |e: &dyn Display| self.wrong(there, format!("route {prefix}: {e}"));
            if prefix.length() == 32 && prefix.address().is_unspecified() {
                return Err(wrong(&"0.0.0.0 is no address of a host"));
            }
            if prefix.length() >= 4 && matches!(prefix.address().octets()[0], 127 | 224..=239) {
                return Err(wrong(&"nothing is forwarded to 127.0.0.0/8 and 224.0.0.0/4"));
            }
            let adjacency = match route.via {
                None => DISCARD,
                Some(via) if adjacencies.contains_key(&via) => adjacencies[&via],
                Some(via) => {
                    let mut at_hand = plane.own.all().iter();
                    let at_hand = at_hand.find(|own| own.network().is_some_and(|network| network.covers(via)));
                    let own = at_hand.filter(|own| own.address != via).ok_or_else(|| {
                        wrong(&format!(
                            "no [[neighbour]] with address {via}, and no interface whose addresses have it in their network"
                        ))
                    })?;
                    let (side, now) = (plane.side(own.interface), plane.now);
                    neighbours.named(&plane.tables, side, via, now).map_err(|e| wrong(&e))?
                }
            };
            plane.add_route(prefix, adjacency).map_err(|e| wrong(&e))?;
        }
        Ok(plane)
    }
}

/// The properties of an interface of this machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its Ethernet address.
    pub mac: Mac,
    /// Bytes of the largest IP packet, as far as a buffer holds it.
    pub mtu: u16,
    /// The kernel's addresses.
    pub addresses: Vec<(Ipv4Addr, u8)>,
}

impl Default for Machine {
    fn default() -> Self {
        Self { mac: Mac::default(), mtu: 1500, addresses: Vec::new() }
    }
}

impl Machine {
    /// The kernel's answer about an interface. Of a TAP device the kernel has the other end, with
    /// addresses of its own.
    fn read(interface: &InterfaceConfig, place: Option<&Attachment>) -> io::Result<Self> {
        let name = &interface.name;
        let mtu = interface::mtu(name)?.min(MTU_MAX.into()) as u16;
        match place {
            Some(Attachment::Tap(queue)) => Ok(Self { mac: queue.mac()?, mtu, addresses: Vec::new() }),
            _ => Ok(Self { mac: interface::mac(name)?, mtu, addresses: interface::addresses(name)? }),
        }
    }
}

/// The part of an interface that a worker has.
enum Attachment {
    /// Nothing of this machine: it is a capture file.
    None,
    /// Sockets to send and to receive.
    Packet(Sender, Receiver),
    /// A queue of a TAP device.
    Tap(Arc<tap::Queue>),
    /// Queues that AF_XDP hands over; it sends through the first.
    AfXdp(Vec<Arc<af_xdp::Queue>>),
}

/// `10.0.1.1/24`, or an address alone, which has no network at hand.
fn address(text: &str) -> Result<(Ipv4Addr, u8), String> {
    let wrong = || format!("`{text}` is no address: it must look like 10.0.1.1/24 or 10.0.1.1");
    let (address, length) = text.split_once('/').unwrap_or((text, "32"));
    let address: Ipv4Addr = address.parse().map_err(|_| wrong())?;
    let length = length.parse().ok().filter(|length| (1..=32).contains(length)).ok_or_else(wrong)?;
    if matches!(address.octets()[0], 0 | 127 | 224..) {
        return Err(format!("`{address}` is no address of a host"));
    }
    Ok((address, length))
}

impl InterfaceConfig {
    fn driver(&self) -> Driver {
        self.driver.as_ref().map_or(Driver::default(), |driver| *driver.get_ref())
    }

    /// Refuses an interface that has longer packets than the driver takes. Its own MTU counts, not
    /// the `mtu` of the file alone: the kernel hands in what the interface takes.
    fn check_mtu(&self) -> io::Result<()> {
        let (name, driver) = (&self.name, self.driver());
        // A TAP device is made with an MTU of 1500.
        if self.is_capture() || driver == Driver::Tap {
            return Ok(());
        }
        let (most, what) = match driver {
            Driver::AfXdp => (af_xdp::MTU_MAX, "AF_XDP takes"),
            Driver::Packet | Driver::Tap => (MTU_MAX, "a buffer holds"),
        };
        let mtu = interface::mtu(name)?;
        if mtu > most.into() {
            return Err(io::Error::other(format!(
                "its MTU is {mtu}, and {what} packets of up to {most} bytes: `ip link set {name} mtu {most}`, or the 1500 of \
                 Ethernet, on it and on all hosts behind it"
            )));
        }
        match self.mtu {
            Some(given) if u32::from(given) > mtu => Err(io::Error::other(format!(
                "the file gives it an mtu of {given}, and it takes {mtu}: `ip link set {name} mtu {given}`, or a smaller `mtu` \
                 in the file"
            ))),
            _ => Ok(()),
        }
    }

    fn is_capture(&self) -> bool {
        self.pcap_in.is_some() || self.pcap_out.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"
buffers = 2048
frame_size = 128
verify_checksum = false
[[interface]]
name = "left"
addresses = ["10.1.0.1", "10.1.0.2"]
mtu = 1400
vlans = [7, 4094]
[[interface]]
name = "right"
mac = "02:00:00:00:00:03"
cross_connect = "left"
pcap_out = "out.pcap"
[[neighbour]]
address = "10.9.0.2"
interface = "right"
mac = "02:00:00:00:00:04"
[[route]]
prefix = "20.0.0.0/8"
via = "10.9.0.2"
[[route]]
prefix = "21.0.0.0/25"
"#;

    fn plane(text: String) -> Result<Plane, Error> {
        Config::read(&Document::new("forward.toml", text))?.plane(&Control::default(), |_| Ok(Machine::default()))
    }

    #[test]
    fn what_is_written_is_what_is_built() {
        let plane = plane(CONFIG.to_owned()).unwrap();
        let names: Vec<_> = plane.interfaces.iter().map(|i| (i.name.as_str(), i.mtu, i.mode)).collect();
        assert_eq!(names, [("left", 1400, Mode::Route), ("right", 1500, Mode::CrossConnect { peer: 0 })]);
        let routes = plane.tables.change().fib.len();
        // Four that are always there, two own addresses, a neighbour and two routes.
        assert_eq!((plane.pool.capacity(), plane.settings.frame_size, routes), (2048, 128, 9));
    }
}

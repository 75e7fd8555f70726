//! `dataplane --config FILE`: a forwarder between interfaces of this machine.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufWriter, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use clap::Args;
use dataplane::af_packet::{self, PacketInput, Sender};
use dataplane::buffers::Reuse;
use dataplane::fib::Prefix;
use dataplane::graph::Graph;
use dataplane::inputs::Packets;
use dataplane::nodes::{Device, Discard};
use dataplane::pcap;
use dataplane::plane::{DISCARD, Mode, Plane, Settings};
use dataplane::show;
use dataplane::standard::{INTERFACES_MAX, Ip4Path, build};
use serde::Deserialize;

use crate::error::Error;

/// The forwarder's configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Interfaces of this machine.
    pub interface: Vec<InterfaceConfig>,
    /// Static neighbours.
    #[serde(default)]
    pub neighbour: Vec<NeighbourConfig>,
    /// Routes.
    #[serde(default)]
    pub route: Vec<RouteConfig>,
    /// Buffers; 16384 by default.
    pub buffers: Option<usize>,
    /// Packets of a frame; 256 by default.
    pub frame_size: Option<usize>,
    /// Whether header checksums are verified; they are by default.
    pub verify_checksum: Option<bool>,
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
    /// Cross connect: all packets go out of this one. Without it, packets are routed.
    pub cross_connect: Option<String>,
    /// Our addresses: packets to them are left to the kernel.
    #[serde(default)]
    pub addresses: Vec<Ipv4Addr>,
    /// Bytes of the largest IP packet; 1500 by default.
    pub mtu: Option<u16>,
    /// VLANs whose tag is taken off.
    #[serde(default)]
    pub vlans: Vec<u16>,
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

/// Options of `dataplane`.
#[derive(Args, Debug)]
pub struct ForwardOptions {
    /// Configuration: interfaces, neighbours, routes.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Stop after so many seconds; without it, at the end of the commands or never.
    #[arg(long, value_name = "S")]
    pub seconds: Option<u64>,
    /// Read commands (show runtime, show interface, ...) from standard input; its end stops the forwarder.
    #[arg(long)]
    pub prompt: bool,
    /// Poll without ever sleeping.
    #[arg(long)]
    pub busy: bool,
}

/// Most IP bytes that a buffer can hold behind an Ethernet header with a tag.
const MTU_MAX: u16 = (dataplane::buffers::DATA_BYTES - 18) as u16;

impl Config {
    /// Reads a configuration and checks what can be checked without the machine.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(Error::io(path))?;
        let config: Self = toml::from_str(&text).map_err(|e| Error::data(path, e))?;
        let wrong = |message: String| Err(Error::data(path, message));
        if config.interface.is_empty() || config.interface.len() > INTERFACES_MAX {
            return wrong(format!("there must be 1 to {INTERFACES_MAX} [[interface]] tables"));
        }
        for interface in &config.interface {
            if config.interface.iter().filter(|i| i.name == interface.name).count() > 1 {
                return wrong(format!("interface `{}` is there twice", interface.name));
            }
            if let Some(peer) = &interface.cross_connect
                && !config.interface.iter().any(|i| i.name == *peer)
            {
                return wrong(format!(
                    "interface `{}` is cross connected to `{peer}`, which is not there",
                    interface.name
                ));
            }
            if interface.is_capture() && interface.mac.is_none() {
                return wrong(format!("interface `{}` is a capture file: it needs a mac", interface.name));
            }
            if interface.mtu.is_some_and(|mtu| !(68..=MTU_MAX).contains(&mtu)) {
                return wrong(format!("the mtu of `{}` must be 68 to {MTU_MAX}", interface.name));
            }
        }
        if let Some(size) = config.frame_size {
            Settings::checked_frame_size(size).map_err(|message| Error::data(path, message))?;
        }
        if config.buffers.is_some_and(|count| !(1024..=1 << 20).contains(&count)) {
            return wrong("buffers must be 1024 to 1048576".to_owned());
        }
        Ok(config)
    }

    /// Builds the graph on this machine's interfaces.
    pub fn graph(&self, path: &Path) -> Result<Graph, Error> {
        let wrong = |message: String| Error::data(path, message);
        let settings = Settings {
            frame_size: self.frame_size.unwrap_or(256),
            verify_checksum: self.verify_checksum.unwrap_or(true),
            ..Settings::default()
        };
        let mut plane = Plane::new(self.buffers.unwrap_or(16 * 1024), Reuse::Hot, settings);
        let on = |name: &str, error: io::Error| wrong(format!("interface `{name}`: {error}"));
        for interface in &self.interface {
            let mac = match &interface.mac {
                Some(mac) => mac.parse().map_err(|e| wrong(format!("interface `{}`: {e}", interface.name)))?,
                None => af_packet::mac(&interface.name).map_err(|e| on(&interface.name, e))?,
            };
            let mode = match &interface.cross_connect {
                Some(peer) => {
                    let peer = self.interface.iter().position(|i| i.name == *peer);
                    Mode::CrossConnect { peer: peer.unwrap_or_default() as u16 }
                }
                None => Mode::Route,
            };
            let number = plane.add_interface(&interface.name, mac, mode);
            let added = &mut plane.interfaces[number as usize];
            added.mtu = interface.mtu.unwrap_or(1500);
            added.vlans.clone_from(&interface.vlans);
            for address in &interface.addresses {
                plane.add_local(*address).map_err(|e| wrong(e.to_string()))?;
            }
        }
        let mut adjacencies = HashMap::new();
        for neighbour in &self.neighbour {
            let interface = plane.find_interface(&neighbour.interface).ok_or_else(|| {
                wrong(format!("neighbour {}: no interface `{}`", neighbour.address, neighbour.interface))
            })?;
            let mac = neighbour.mac.parse().map_err(|e| wrong(format!("neighbour {}: {e}", neighbour.address)))?;
            let adjacency = plane.add_neighbour(interface, mac);
            adjacencies.insert(neighbour.address, adjacency);
            if let Some(host) = Prefix::new(neighbour.address, 32) {
                plane.add_route(host, adjacency).map_err(|e| wrong(e.to_string()))?;
            }
        }
        for route in &self.route {
            let prefix: Prefix = route.prefix.parse().map_err(&wrong)?;
            let adjacency = match route.via {
                None => DISCARD,
                Some(via) => *adjacencies
                    .get(&via)
                    .ok_or_else(|| wrong(format!("route {prefix}: no [[neighbour]] with address {via}")))?,
            };
            plane.add_route(prefix, adjacency).map_err(|e| wrong(format!("route {prefix}: {e}")))?;
        }
        let mut devices: Vec<Box<dyn Device>> = Vec::new();
        for interface in &self.interface {
            devices.push(match &interface.pcap_out {
                Some(file) => {
                    let out = File::create(file).and_then(|out| pcap::Writer::new(BufWriter::new(out)));
                    Box::new(out.map_err(Error::io(file))?)
                }
                None if interface.is_capture() => Box::new(Discard),
                None => Box::new(Sender::new(&interface.name).map_err(|e| on(&interface.name, e))?),
            });
        }
        let (mut graph, first) = build(plane, devices, Ip4Path::Nodes);
        for (number, interface) in self.interface.iter().enumerate() {
            if let Some(file) = &interface.pcap_in {
                let packets = fs::read(file).map_err(Error::io(file))?;
                let packets = pcap::read(&packets).map_err(|e| Error::data(file, e))?;
                graph.add_input(Packets::new(number as u16, &format!("pcap-input-{}", interface.name), packets), first);
                continue;
            }
            if interface.is_capture() {
                continue;
            }
            let receiver = af_packet::Receiver::new(&interface.name).map_err(|e| on(&interface.name, e))?;
            graph.add_input(PacketInput::new(receiver, number as u16, &interface.name), first);
        }
        Ok(graph)
    }
}

impl InterfaceConfig {
    fn is_capture(&self) -> bool {
        self.pcap_in.is_some() || self.pcap_out.is_some()
    }
}

impl ForwardOptions {
    /// Forwards until it is time to stop; returns what to print at the end.
    pub fn run(&self) -> Result<String, Error> {
        let mut graph = Config::read(&self.config)?.graph(&self.config)?;
        let commands = self.prompt.then(read_lines);
        forward(&mut graph, self.seconds.map(Duration::from_secs), self.busy, commands);
        if !graph.balance().holds() {
            return Err(Error::Usage(format!("packets do not add up: {:?}", graph.balance())));
        }
        Ok(format!("{}\n{}\n{}", show::runtime(&graph), show::interfaces(&graph), show::errors(&graph)))
    }
}

/// Lines of standard input, from a thread of their own.
fn read_lines() -> Receiver<String> {
    let (lines, received) = channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if lines.send(line).is_err() {
                break;
            }
        }
    });
    received
}

/// Runs the graph, and commands between its rounds.
fn forward(graph: &mut Graph, length: Option<Duration>, busy: bool, commands: Option<Receiver<String>>) {
    use std::sync::mpsc::TryRecvError;
    /// Empty rounds after which the forwarder sleeps a little.
    const PATIENCE: u32 = 64;
    const NAP: Duration = Duration::from_micros(50);
    let start = Instant::now();
    let mut idle = 0;
    let mut rounds = 0_u32;
    loop {
        if graph.is_done() && commands.is_none() {
            // Capture files alone, and they are at their end.
            return;
        }
        idle = if graph.run_once() == 0 { idle + 1 } else { 0 };
        rounds = rounds.wrapping_add(1);
        if idle >= PATIENCE && !busy {
            std::thread::sleep(NAP);
        }
        if idle == 0 && !rounds.is_multiple_of(64) {
            continue;
        }
        if length.is_some_and(|length| start.elapsed() >= length) {
            return;
        }
        match commands.as_ref().map(Receiver::try_recv) {
            Some(Ok(line)) => {
                let answer = show::command(graph, &line).unwrap_or_else(|message| format!("{message}\n"));
                print!("{answer}");
                let _ = io::stdout().flush();
            }
            // Commands that are at an end stop a forwarder that was given no time.
            Some(Err(TryRecvError::Disconnected)) if length.is_none() => return,
            _ => {}
        }
    }
}

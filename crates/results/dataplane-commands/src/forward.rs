//! `dataplane --config FILE`: a forwarder between interfaces of this machine.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
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
use dataplane::graph::{ErrorRow, Graph, RuntimeRow};
use dataplane::inputs::Packets;
use dataplane::nodes::{Device, Discard};
use dataplane::pcap;
use dataplane::plane::{DISCARD, Mac, Mode, Plane, Settings};
use dataplane::show;
use dataplane::standard::{INTERFACES_MAX, Ip4Path, build};
use dataplane_experiments::results;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::arguments::{Format, OutputOptions, header, json};
use crate::error::Error;
use crate::graphs::NodeResult;

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
    /// Whether header checksums are verified; they are by default.
    pub verify_checksum: Option<bool>,
    /// Where it was read.
    #[serde(skip)]
    source: Source,
}

/// A configuration's file and text, for errors that name a line.
#[derive(Clone, Debug, Default)]
struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    /// Something is wrong with the table or value that begins there.
    fn wrong<T>(&self, there: &Spanned<T>, message: impl Display) -> Error {
        let line = self.text.as_bytes()[..there.span().start].iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::data(&self.path, format!("line {line}: {message}"))
    }
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
    /// Run the commands in a file, one a line, before the first packet: `trace add`, `run ROUNDS`, `show trace`. A line that begins with
    /// # is a remark.
    #[arg(long, value_name = "FILE")]
    pub exec: Option<PathBuf>,
    /// Poll without ever sleeping.
    #[arg(long)]
    pub busy: bool,
    /// Output.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// Most IP bytes that a buffer can hold behind an Ethernet header with a tag.
const MTU_MAX: u16 = (dataplane::buffers::DATA_BYTES - 18) as u16;

impl Config {
    /// Reads a configuration and checks what can be checked without the machine.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(Error::io(path))?;
        Self::parse(path, text)
    }

    /// As [`Config::read`], of a text; the path is for errors.
    pub fn parse(path: &Path, text: String) -> Result<Self, Error> {
        let mut config: Self = toml::from_str(&text).map_err(|e| Error::data(path, e))?;
        config.source = Source { path: path.to_owned(), text };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), Error> {
        let wrong = |there, message: String| Err(self.source.wrong(there, message));
        if self.interface.is_empty() || self.interface.len() > INTERFACES_MAX {
            let message = format!("there must be 1 to {INTERFACES_MAX} [[interface]] tables");
            return Err(Error::data(&self.source.path, message));
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
            if interface.mtu.is_some_and(|mtu| !(68..=MTU_MAX).contains(&mtu)) {
                return wrong(there, format!("the mtu of `{}` must be 68 to {MTU_MAX}", interface.name));
            }
            if interface.vlans.iter().any(|vlan| !(1..=4094).contains(vlan)) {
                return wrong(there, format!("a vlan of `{}` is not 1 to 4094", interface.name));
            }
        }
        if let Some(size) = &self.frame_size {
            Settings::checked_frame_size(*size.get_ref()).map_err(|message| self.source.wrong(size, message))?;
        }
        if let Some(count) = &self.buffers
            && !(1024..=1 << 20).contains(count.get_ref())
        {
            return Err(self.source.wrong(count, "buffers must be 1024 to 1048576"));
        }
        Ok(())
    }

    /// Builds the graph on this machine's interfaces.
    pub fn graph(&self) -> Result<Graph, Error> {
        let on = |there: &Spanned<InterfaceConfig>, error: io::Error| {
            self.source.wrong(there, format!("interface `{}`: {error}", there.get_ref().name))
        };
        let plane = self.plane(|there| af_packet::mac(&there.get_ref().name).map_err(|e| on(there, e)))?;
        let mut devices: Vec<Box<dyn Device>> = Vec::new();
        for there in &self.interface {
            let interface = there.get_ref();
            devices.push(match &interface.pcap_out {
                Some(file) => {
                    let out = File::create(file).and_then(|out| pcap::Writer::new(BufWriter::new(out)));
                    Box::new(out.map_err(Error::io(file))?)
                }
                None if interface.is_capture() => Box::new(Discard),
                None => Box::new(Sender::new(&interface.name).map_err(|e| on(there, e))?),
            });
        }
        let (mut graph, first) = build(plane, devices, Ip4Path::Nodes);
        for (number, there) in self.interface.iter().enumerate() {
            let interface = there.get_ref();
            if let Some(file) = &interface.pcap_in {
                let packets = fs::read(file).map_err(Error::io(file))?;
                let packets = pcap::read(&packets).map_err(|e| Error::data(file, e))?;
                graph.add_input(Packets::new(number as u16, &format!("pcap-input-{}", interface.name), packets), first);
                continue;
            }
            if interface.is_capture() {
                continue;
            }
            let receiver = af_packet::Receiver::new(&interface.name).map_err(|e| on(there, e))?;
            graph.add_input(PacketInput::new(receiver, number as u16, &interface.name), first);
        }
        Ok(graph)
    }

    /// Interfaces, neighbours and routes; `own_mac` says what an interface of this machine has.
    pub fn plane(&self, own_mac: impl Fn(&Spanned<InterfaceConfig>) -> Result<Mac, Error>) -> Result<Plane, Error> {
        let settings = Settings {
            frame_size: self.frame_size.as_ref().map_or(256, |size| *size.get_ref()),
            verify_checksum: self.verify_checksum.unwrap_or(true),
            ..Settings::default()
        };
        let buffers = self.buffers.as_ref().map_or(16 * 1024, |count| *count.get_ref());
        let mut plane = Plane::new(buffers, Reuse::Hot, settings);
        for there in &self.interface {
            let interface = there.get_ref();
            let wrong = |e: &dyn Display| self.source.wrong(there, format!("interface `{}`: {e}", interface.name));
            let mac = match &interface.mac {
                Some(mac) => mac.parse().map_err(|e: String| wrong(&e))?,
                None => own_mac(there)?,
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
            added.mtu = interface.mtu.unwrap_or(1500);
            added.vlans.clone_from(&interface.vlans);
            for address in &interface.addresses {
                plane.add_local(*address).map_err(|e| wrong(&e))?;
            }
        }
        let mut adjacencies = HashMap::new();
        for there in &self.neighbour {
            let neighbour = there.get_ref();
            let wrong = |e: &dyn Display| self.source.wrong(there, format!("neighbour {}: {e}", neighbour.address));
            let interface = plane
                .find_interface(&neighbour.interface)
                .ok_or_else(|| wrong(&format!("no interface `{}`", neighbour.interface)))?;
            let mac = neighbour.mac.parse().map_err(|e: String| wrong(&e))?;
            let adjacency = plane.add_neighbour(interface, mac);
            adjacencies.insert(neighbour.address, adjacency);
            if let Some(host) = Prefix::new(neighbour.address, 32) {
                plane.add_route(host, adjacency).map_err(|e| wrong(&e))?;
            }
        }
        for there in &self.route {
            let route = there.get_ref();
            let prefix: Prefix = route.prefix.parse().map_err(|e: String| self.source.wrong(there, e))?;
            let wrong = |e: &dyn Display| self.source.wrong(there, format!("route {prefix}: {e}"));
            let adjacency = match route.via {
                None => DISCARD,
                Some(via) => {
                    let known = adjacencies.get(&via).copied();
                    known.ok_or_else(|| wrong(&format!("no [[neighbour]] with address {via}")))?
                }
            };
            plane.add_route(prefix, adjacency).map_err(|e| wrong(&e))?;
        }
        Ok(plane)
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
        self.output.check()?;
        if self.prompt && self.output.format == Format::Json {
            return Err(Error::Usage(
                "--format json prints the end alone: leave it out, or leave out --prompt".to_owned(),
            ));
        }
        let mut graph = Config::read(&self.config)?.graph()?;
        if let Some(script) = &self.exec {
            let answers = execute(&mut graph, script)?;
            if self.output.format == Format::Term {
                say(&answers);
            }
        }
        let commands = self.prompt.then(read_lines);
        forward(&mut graph, self.seconds.map(Duration::from_secs), self.busy, commands);
        if !graph.balance().holds() {
            return Err(Error::CheckFailed(format!("packets do not add up: {:?}", graph.balance())));
        }
        if let Some(folder) = &self.output.output {
            let mut header = header("forward", "host", "ticks", 1);
            header.time.counter_hz = Some(dataplane::machine::counter_hz());
            header.settings.insert("config".to_owned(), self.config.display().to_string());
            let name = self.config.file_stem().map_or_else(|| "forward".into(), |stem| stem.to_string_lossy());
            results::forwarder(header, &name, &graph).write(folder)?;
        }
        match self.output.format {
            Format::Json => json(&ForwardResult::of(&graph)),
            Format::Term => {
                Ok(format!("{}\n{}\n{}", show::runtime(&graph), show::interfaces(&graph), show::errors(&graph)))
            }
        }
    }
}

/// What a forwarder did, for machines.
#[derive(Clone, Debug, Serialize)]
struct ForwardResult {
    /// Seconds since the start, or since the counters were cleared.
    seconds: f64,
    /// Nodes in the order of the packets' way.
    nodes: Vec<NodeResult>,
    /// The counters of each interface, by the names that `show interface` prints.
    interfaces: BTreeMap<String, BTreeMap<&'static str, u64>>,
    /// Why packets were dropped or punted.
    errors: Vec<ErrorResult>,
}

#[derive(Clone, Debug, Serialize)]
struct ErrorResult {
    node: String,
    reason: &'static str,
    severity: &'static str,
    packets: u64,
}

impl ForwardResult {
    fn of(graph: &Graph) -> Self {
        let node = |row: RuntimeRow| NodeResult {
            calls: row.counters.calls,
            vectors: row.counters.vectors,
            clocks_per_packet: row.counters.ticks_per_packet(),
            empty_polls: row.counters.empty_polls,
            name: row.name,
        };
        let error = |row: ErrorRow| ErrorResult {
            node: row.node,
            reason: row.reason.text,
            severity: row.reason.severity.name(),
            packets: row.count,
        };
        let interfaces = graph.plane.interfaces.iter();
        Self {
            seconds: graph.seconds(),
            nodes: graph.runtime().into_iter().map(node).collect(),
            interfaces: interfaces.map(|i| (i.name.clone(), i.counters().into_iter().collect())).collect(),
            errors: graph.errors().into_iter().filter(|row| row.count > 0).map(error).collect(),
        }
    }
}

/// Runs a script's commands and returns their answers; a wrong one ends it.
fn execute(graph: &mut Graph, script: &Path) -> Result<String, Error> {
    let mut answers = String::new();
    let text = fs::read_to_string(script).map_err(Error::io(script))?;
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let answer = show::command(graph, line)
            .map_err(|message| Error::data(script, format!("line {}: {message}", number + 1)))?;
        answers.push_str(&answer);
    }
    Ok(answers)
}

/// Prints an answer. Whoever asked may have gone, which is no reason to stop forwarding.
fn say(answer: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(answer.as_bytes()).and_then(|()| out.flush());
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
                say(&answer);
            }
            // Commands that are at an end stop a forwarder that was given no time.
            Some(Err(TryRecvError::Disconnected)) if length.is_none() => return,
            _ => {}
        }
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
        Config::parse(Path::new("forward.toml"), text)?.plane(|_| Ok(Mac::default()))
    }

    #[test]
    fn what_is_written_is_what_is_built() {
        let plane = plane(CONFIG.to_owned()).unwrap();
        let names: Vec<_> = plane.interfaces.iter().map(|i| (i.name.as_str(), i.mtu, i.mode)).collect();
        assert_eq!(names, [("left", 1400, Mode::Route), ("right", 1500, Mode::CrossConnect { peer: 0 })]);
        assert_eq!((plane.pool.capacity(), plane.settings.frame_size, plane.fib.len()), (2048, 128, 5));
    }
}

//! The process that runs a graph. It has it for itself, so a node that crashes or hangs takes
//! nothing else with it.

use super::node::{ClearedInput, Fault, Foreign, Shared, Texts};
use super::objects::{self, ObjectNode};
use super::protocol::{Flow, NodeAbout, Packets, Plan, RefusedNode, Request};
use crate::graphs::{self, INSIDE, Running, Target};
use dataplane::buffers::{LINE, Pool};
use dataplane::graph::{Graph, Input, Node};
use dataplane::inputs::{Generator, PACKET_BYTES, Packets as List};
use dataplane::plane::Plane;
use dataplane::{standard, wiring};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use worker_process::Wrong;
use worker_process::place::Places;

/// The argument that makes the program such a process. Another one behind it says where the memory
/// is that outlives it.
pub const ARGUMENT: &str = "graph-worker";

/// Runs a graph for the process that started this one: 0 when there is nothing more to do, 2 if it
/// was not started as it must be.
pub fn work(memory: Option<&OsStr>) -> u8 {
    let Some(Ok(places)) = memory.and_then(OsStr::to_str).map(Places::open) else {
        return 2;
    };
    let mut worker = Worker {
        places,
        nodes: Vec::new(),
        running: None,
        guard: 0,
        whose: String::new(),
        shared: Shared::default(),
    };
    worker_process::work(|request| worker.answer(request))
}

/// A graph, or the node that cannot be set up.
type Built = Result<Graph, RefusedNode>;

struct Worker {
    places: Places,
    nodes: Vec<ObjectNode>,
    running: Option<Running>,
    /// Bytes in front of each packet and of its private data, which stay 0.
    guard: usize,
    /// The nodes of shared objects, in words.
    whose: String,
    shared: Shared,
}

impl Worker {
    fn answer(&mut self, request: Request) -> Result<Value, Wrong> {
        match request {
            Request::Load(paths) => return Ok(json!(self.load(&paths)?)),
            Request::Build(plan) => return Ok(json!(self.build(&plan)?)),
            _ => {}
        }
        let Some(running) = &mut self.running else {
            return Err(Wrong::new(
                "there is no graph",
                "this process is for stopwatt alone",
            ));
        };
        let guard = self.guard;
        let slots = |graph: &Graph| is_overwritten(&graph.plane.pool, guard);
        let is_overwritten = running.graphs.iter().any(slots);
        let found = match (is_overwritten, &request) {
            (true, _) => look(running, guard, &self.shared, LOOKS),
            (false, Request::Window(_)) => None,
            (false, _) => look(running, guard, &self.shared, 1),
        };
        if let Some((fault, help)) = found {
            return Err(Wrong::new(fault, help));
        }
        if is_overwritten {
            return Err(Wrong::new(
                format!("{} wrote outside of a packet's buffer", self.whose),
                "a packet's data has STOPWATT_DATA_BYTES bytes",
            ));
        }
        let reply = match request {
            Request::WarmUp(length) => running.warm_up(length).map(|()| Value::Null),
            Request::Window(length) => running.window(length).map(|of| json!(of)),
            Request::Count(events, length) => running.count(events, length).map(|of| json!(of)),
            Request::Load(_) | Request::Build(_) | Request::End => {
                let ended = running.end();
                // The nodes are torn down while somebody watches.
                self.running = None;
                ended.map(|of| json!(of))
            }
        };
        match self.shared.take() {
            Some((fault, help)) => Err(Wrong::new(fault, help)),
            None if self.running.is_none() && has_children() => Err(Wrong::new(
                format!("{} left a process behind", self.whose),
                "what a node starts, its `tear_down` ends and waits for",
            )),
            None => reply.map_err(|error| Wrong::new(error.to_string(), "send this report")),
        }
    }

    fn add(&mut self, text: &str) -> Result<u32, Wrong> {
        self.places
            .add(text)
            .map_err(|error| Wrong::new(error.to_string(), "there has to be some memory"))
    }

    fn load(&mut self, paths: &[PathBuf]) -> Result<Vec<NodeAbout>, Wrong> {
        for path in paths {
            self.places
                .thread(0)
                .enter(self.add(&format!("the loading of {}", path.display()))?);
            let loaded = objects::load(path);
            self.places.thread(0).leave();
            self.nodes.extend(loaded?);
        }
        Ok(self.nodes.iter().map(|node| node.about.clone()).collect())
    }

    fn build(&mut self, plan: &Plan) -> Result<Result<(), RefusedNode>, Wrong> {
        let (mut texts, mut whose) = (Vec::new(), Vec::new());
        for planned in &plan.nodes {
            let Some(node) = self.nodes.get(planned.number) else {
                return Err(Wrong::new(
                    "there is no such node",
                    "this process is for stopwatt alone",
                ));
            };
            let of = format!("the node `{}` of {}", planned.name, node.about.object);
            whose.push(of.clone());
            let mut text = |function: &str| self.add(&format!("{function}() of {of}"));
            texts.push(Texts {
                set_up: text("set_up")?,
                run: text("run")?,
                trace: text("trace")?,
                tear_down: text("tear_down")?,
            });
        }
        let mut built = Vec::new();
        for (number, plane) in graphs::planes(plan.load, plan.workers)
            .into_iter()
            .enumerate()
        {
            match self.graph(plan, plane, number, &texts)? {
                Ok(graph) => built.push(graph),
                Err(refused) => return Ok(Err(refused)),
            }
        }
        built[0].tracer.add(INPUT, plan.trace);
        (self.guard, self.whose) = (LINE - plan.private_bytes, whose.join(" or "));
        self.running = Some(Running::new(built, plan.trace > 0));
        Ok(Ok(()))
    }

    /// The graph of a worker, or the node that cannot be set up.
    fn graph(
        &self,
        plan: &Plan,
        plane: Plane,
        number: usize,
        texts: &[Texts],
    ) -> Result<Built, Wrong> {
        let mut foreign = HashMap::new();
        for (planned, texts) in plan.nodes.iter().zip(texts) {
            let node = &self.nodes[planned.number];
            let at = (self.places.thread(number), *texts);
            match Foreign::new(
                node,
                &planned.name,
                &planned.options,
                planned.private_at,
                at,
                self.shared.clone(),
            ) {
                Ok(made) => foreign.insert(planned.name.as_str(), made),
                Err(why) => {
                    return Ok(Err(RefusedNode {
                        node: planned.name.clone(),
                        why,
                    }));
                }
            };
        }
        let make = |name: &str| -> Box<dyn Node> {
            match (foreign.remove(name), standard::find(name)) {
                (Some(node), _) => Box::new(node),
                (None, node) => (node.expect("a plan has known nodes").make)(),
            }
        };
        let devices = graphs::devices(&plane);
        let (mut graph, first) = wiring::build(&plan.wiring, plane, devices, make);
        let input: Box<dyn Input> = match &plan.packets {
            Packets::Generator => Box::new(graphs::generator(plan.load)),
            Packets::Flows(flows) => {
                Box::new(Generator::new(INSIDE, flows.iter().map(packet).collect()))
            }
            Packets::Capture(path) => Box::new(capture(path)?),
        };
        let input = plan.load.paced(input);
        match plan.private_bytes {
            0 => graph.add_input(input, first),
            bytes => graph.add_input(Box::new(ClearedInput(input, bytes)), first),
        }
        Ok(Ok(graph))
    }
}

/// Rounds in which a write outside of a buffer is looked for.
const LOOKS: usize = 50;

/// A byte that no node writes by chance where there is no packet.
const NOT_WRITTEN: u8 = 0xa5;

/// Times that an input is polled for packets.
const POLLS: usize = 100;

/// Runs some frames while each node's writes are looked at; the first fault.
fn look(running: &mut Running, guard: usize, shared: &Shared, looks: usize) -> Option<Fault> {
    shared.is_looking.store(true, Relaxed);
    for graph in &mut running.graphs {
        for slot in graph.plane.pool.slots() {
            slot.header[..guard].fill(0);
            // A node that writes a byte again that is there already would not be seen.
            slot.data.fill(NOT_WRITTEN);
        }
        for _ in 0..looks {
            let is_idle = (0..POLLS).all(|_| graph.run_once() == 0);
            let is_told = shared
                .fault
                .lock()
                .expect("nothing panics with the lock")
                .is_some();
            if is_idle || is_told {
                break;
            }
        }
    }
    shared.is_looking.store(false, Relaxed);
    shared.take()
}

/// True if there are processes that this one started, or that those left to it.
fn has_children() -> bool {
    use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

/// True if a write behind a packet's buffer, or in front of its private data, has met the first
/// bytes of another one's line.
fn is_overwritten(pool: &Pool, guard: usize) -> bool {
    (0..pool.capacity() as u32)
        .any(|buffer| pool.header(buffer)[..guard].iter().any(|byte| *byte != 0))
}

/// The name of every input.
const INPUT: &str = "pg-input";

/// The packets of a capture file, again and again.
fn capture(path: &Path) -> Result<List, Wrong> {
    let read = disk::read(path, disk::MOST_BYTES).map_err(|error| error.to_string());
    let packets =
        read.and_then(|bytes| dataplane::pcap::read(&bytes).map_err(|error| error.to_string()));
    let packets = packets.map_err(|error| {
        Wrong::new(
            format!("{}: {error}", path.display()),
            "a capture file of Ethernet packets",
        )
    })?;
    Ok(List::new(INSIDE, INPUT, packets).again())
}

/// The packet of a flow.
fn packet(flow: &Flow) -> [u8; 64] {
    let mut packet = graphs::packet(flow.source, flow.destination, flow.ttl);
    packet[34..36].copy_from_slice(&flow.source_port.to_be_bytes());
    packet[36..38].copy_from_slice(&flow.destination_port.to_be_bytes());
    debug_assert!(packet.len() >= PACKET_BYTES as usize);
    packet
}

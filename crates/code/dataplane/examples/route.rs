//! A router with two interfaces, fed by a generator.
//!
//! ```text
//!   generator ─▶ ethernet-input ─▶ ip4-input ─▶ ip4-lookup ─▶ ip4-rewrite ─▶ east-output ─▶ east-tx ─▶ Discard
//!    4 flows                                       │              │
//!                                                  │              └─▶ drop: time to live ends
//!                                                  └─▶ drop: no route
//! ```
//!
//! It prints what a user of VPP would look at: the path of some packets, calls and clocks of each
//! node, and what was dropped and why.
//!
//! Run it with `cargo run --release -p dataplane --example route`.

use dataplane::buffers::Reuse;
use dataplane::fib::Prefix;
use dataplane::inputs::{Generator, udp_packet};
use dataplane::nodes::{Device, Discard};
use dataplane::plane::{Mac, Mode, Plane, Settings};
use dataplane::show;
use dataplane::standard::build;
use std::net::Ipv4Addr;

const WEST: Mac = Mac([2, 0xfe, 0, 0, 0, 1]);
const EAST: Mac = Mac([2, 0xfe, 0, 0, 0, 2]);
const SENDER: Mac = Mac([2, 0xfe, 0, 0, 0, 8]);
const NEXT_HOP: Mac = Mac([2, 0xfe, 0, 0, 0, 9]);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut plane = Plane::new(16 * 1024, Reuse::Hot, Settings::default());
    let west = plane.add_interface("west", WEST, Mode::Route);
    let east = plane.add_interface("east", EAST, Mode::Route);
    let next_hop = plane
        .add_neighbour(east, NEXT_HOP)
        .ok_or("the table of neighbours is full")?;
    plane
        .add_route(
            Prefix::new(Ipv4Addr::new(203, 0, 113, 0), 24).ok_or("24 bits are a length")?,
            next_hop,
        )
        .map_err(|_| "the table is full")?;

    let devices: Vec<Box<dyn Device>> = vec![Box::new(Discard), Box::new(Discard)];
    let (mut graph, first) = build(plane, devices);

    let source = Ipv4Addr::new(192, 0, 2, 1);
    let flow = |destination: [u8; 4], ttl| {
        udp_packet(WEST, SENDER, source, Ipv4Addr::from(destination), ttl)
    };
    let flows = vec![
        flow([203, 0, 113, 5], 64),
        flow([203, 0, 113, 6], 64),
        flow([198, 51, 100, 7], 64), // no route
        flow([203, 0, 113, 8], 1),   // its time to live ends here
    ];
    graph.add_input(Box::new(Generator::new(west, flows)), first);
    let input = graph
        .runtime()
        .first()
        .map(|row| row.name.clone())
        .unwrap_or_default();

    graph.tracer.add(&input, 3);
    while graph.balance().received < 1_000_000 {
        graph.run_once();
    }
    println!("{}", show::trace(graph.tracer.traces(), 3));
    for row in graph.errors().iter().filter(|row| row.count > 0) {
        println!("{} {}: {}", row.count, row.node, row.reason.text);
    }
    let balance = graph.balance();
    println!(
        "{balance:?}\nevery packet is accounted for: {}",
        balance.holds()
    );
    Ok(())
}

//! Packets through the graph that is measured: what goes in comes out or is counted, and the right
//! ones come out right.

use dataplane::buffers::Reuse;
use dataplane::checksum;
use dataplane::fib::Prefix;
use dataplane::frame::Frame;
use dataplane::graph::Graph;
use dataplane::inputs::{Packets, udp_packet};
use dataplane::nodes::Device;
use dataplane::plane::{Mac, Mode, Plane, Settings};
use dataplane::standard::build;
use dataplane::walk::{Shape, Strides};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

const US: Mac = Mac([2, 0, 0, 0, 0, 1]);
const OUT: Mac = Mac([2, 0, 0, 0, 0, 2]);
const PEER: Mac = Mac([2, 0, 0, 0, 0, 9]);
const NEXT: Mac = Mac([2, 0, 0, 0, 0, 8]);

type Sent = Arc<Mutex<Vec<Vec<u8>>>>;

/// Keeps what is sent.
#[derive(Default)]
struct Capture(Sent);

impl Device for Capture {
    fn send(&mut self, plane: &mut Plane, frame: &Frame) -> usize {
        let mut sent = self.0.lock().unwrap();
        for row in 0..frame.len {
            sent.push(plane.pool.data(frame.buffer[row])[..frame.length[row] as usize].to_vec());
        }
        frame.len
    }
}

/// Takes only the first few packets of a frame.
struct Full(usize);

impl Device for Full {
    fn send(&mut self, _plane: &mut Plane, frame: &Frame) -> usize {
        frame.len.min(self.0)
    }
}

fn prefix(address: [u8; 4], length: u8) -> Prefix {
    Prefix::new(address.into(), length).unwrap()
}

fn plane(mode: Mode, settings: Settings) -> Plane {
    let mut plane = Plane::new(4096, Reuse::Hot, settings);
    plane.add_interface("in", US, mode);
    let out = plane.add_interface("out", OUT, Mode::Route);
    let next = plane.add_neighbour(out, NEXT).unwrap();
    plane.add_route(prefix([20, 0, 0, 0], 8), next).unwrap();
    plane
        .add_route(prefix([20, 9, 0, 0], 16), dataplane::plane::DISCARD)
        .unwrap();
    plane
        .add_route(prefix([10, 0, 0, 1], 32), dataplane::plane::LOCAL)
        .unwrap();
    let peer = plane.add_neighbour(0, PEER).unwrap();
    plane.add_route(prefix([10, 0, 0, 9], 32), peer).unwrap();
    plane
}

/// Runs a graph and returns the packets that go out of the second interface. Out of the first one
/// go errors to the sender.
fn run_on(plane: Plane, packets: Vec<Vec<u8>>) -> (Graph, Vec<Vec<u8>>) {
    let sent = Sent::default();
    let devices: Vec<Box<dyn Device>> =
        vec![Box::<Capture>::default(), Box::new(Capture(sent.clone()))];
    let (mut graph, first) = build(plane, devices);
    graph.add_input(Box::new(Packets::new(0, "test-input", packets)), first);
    while graph.run_once() > 0 {}
    assert!(graph.balance().holds(), "{:?}", graph.balance());
    assert_eq!(
        graph.plane.pool.available(),
        graph.plane.pool.capacity(),
        "buffers leaked"
    );
    let sent = sent.lock().unwrap().clone();
    (graph, sent)
}

fn run(packets: Vec<Vec<u8>>) -> (Graph, Vec<Vec<u8>>) {
    run_on(plane(Mode::Route, Settings::default()), packets)
}

fn good(ttl: u8) -> Vec<u8> {
    udp_packet(
        US,
        PEER,
        Ipv4Addr::new(10, 0, 0, 9),
        Ipv4Addr::new(20, 1, 2, 3),
        ttl,
    )[..60]
        .to_vec()
}

/// A good packet, changed, with a checksum that is right again.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut packet = good(64);
    change(&mut packet);
    if packet.len() >= 34 {
        let mut header: [u8; 20] = packet[14..34].try_into().unwrap();
        checksum::write_header(&mut header);
        packet[14..34].copy_from_slice(&header);
    }
    packet
}

fn reasons(graph: &Graph) -> Vec<(String, &'static str, u64)> {
    graph
        .errors()
        .into_iter()
        .filter(|row| row.count > 0)
        .map(|row| (row.node, row.reason.text, row.count))
        .collect()
}

#[test]
fn a_packet_is_forwarded_with_ttl_checksum_and_addresses_right() {
    let (graph, sent) = run(vec![good(64)]);
    let expected = {
        let mut packet = udp_packet(
            NEXT,
            OUT,
            Ipv4Addr::new(10, 0, 0, 9),
            Ipv4Addr::new(20, 1, 2, 3),
            63,
        )[..60]
            .to_vec();
        packet[12] = 0x08;
        packet
    };
    assert_eq!(sent, [expected]);
    assert_eq!(graph.plane.interfaces[1].tx.packets, 1);
    assert_eq!(graph.plane.interfaces[1].tx.bytes, 60);
}

#[test]
fn every_kind_of_bad_packet_is_counted_under_its_reason() {
    let cases: Vec<(Vec<u8>, &str, &str)> = vec![
        (
            vec![0; 5],
            "ethernet-input",
            "ethernet header or payload truncated",
        ),
        (
            good(64)[..30].to_vec(),
            "ethernet-input",
            "ethernet header or payload truncated",
        ),
        (
            changed(|p| p.resize(1600, 0)),
            "ethernet-input",
            "packet longer than the interface's mtu",
        ),
        (
            changed(|p| p.resize(5000, 0)),
            "ethernet-input",
            "packet longer than the interface's mtu",
        ),
        (changed(|p| p[5] = 77), "ethernet-input", "l3 mac mismatch"),
        (
            changed(|p| p[12..14].copy_from_slice(&[0x12, 0x34])),
            "ethernet-input",
            "unknown ethernet type",
        ),
        (
            changed(|p| p[12..16].copy_from_slice(&[0x81, 0, 0, 7])),
            "ethernet-input",
            "packet of a vlan",
        ),
        (
            changed(|p| p[12..14].copy_from_slice(&[0x86, 0xdd])),
            "ethernet-input",
            "ip6 to the host",
        ),
        (
            changed(|p| p[12..14].copy_from_slice(&[0x08, 0x06])),
            "ethernet-input",
            "arp to the host",
        ),
        (
            changed(|p| p[..6].fill(0xff)),
            "ethernet-input",
            "ip4 for one host in a frame for several",
        ),
        (
            changed(|p| p[14] = 0x65),
            "ip4-input",
            "ip4 version or header length wrong",
        ),
        (
            changed(|p| p[14] = 0x44),
            "ip4-input",
            "ip4 version or header length wrong",
        ),
        (
            changed(|p| p[16..18].copy_from_slice(&[0, 200])),
            "ip4-input",
            "ip4 length > l2 length",
        ),
        (
            changed(|p| p[16..18].copy_from_slice(&[0, 19])),
            "ip4-input",
            "ip4 length > l2 length",
        ),
        (
            {
                let mut p = good(64);
                p[24] ^= 1;
                p
            },
            "ip4-input",
            "bad ip4 checksum",
        ),
        (
            changed(|p| p[26] = 224),
            "ip4-input",
            "ip4 source is of no host",
        ),
        (
            changed(|p| p[26] = 127),
            "ip4-input",
            "ip4 source is of no host",
        ),
        (
            changed(|p| p[26..30].fill(0)),
            "ip4-input",
            "ip4 source is of no host",
        ),
        (
            changed(|p| p[30] = 224),
            "ip4-lookup",
            "ip4 multicast or broadcast to the host",
        ),
        (
            changed(|p| p[30] = 127),
            "ip4-lookup",
            "ip4 destination is of no host",
        ),
        (
            changed(|p| p[30..34].fill(0)),
            "ip4-lookup",
            "ip4 destination is of no host",
        ),
        (changed(|p| p[30] = 30), "ip4-lookup", "no route"),
        (
            changed(|p| p[30..34].copy_from_slice(&[20, 9, 0, 1])),
            "ip4-lookup",
            "route drops",
        ),
        (
            changed(|p| p[30..34].copy_from_slice(&[10, 0, 0, 1])),
            "ip4-lookup",
            "packet to one of our addresses to the host",
        ),
        (good(1), "ip4-rewrite", "ip4 ttl <= 1"),
        (changed(|p| p[22] = 0), "ip4-rewrite", "ip4 ttl <= 1"),
    ];
    for (packet, node, reason) in &cases {
        let (graph, sent) = run(vec![packet.clone()]);
        assert_eq!(reasons(&graph), [(node.to_string(), *reason, 1)]);
        assert!(sent.is_empty());
    }
    // All of them together, among good ones, in every shape, stride and frame size.
    let mut mixed = Vec::new();
    for (packet, _, _) in &cases {
        for _ in 0..13 {
            mixed.push(good(64));
            mixed.push(packet.clone());
        }
    }
    for shape in Shape::ALL {
        for (strides, frame_size) in [
            (Strides::both(0), 64),
            (Strides { header: 1, data: 3 }, 256),
            (Strides::both(9), 1024),
        ] {
            let settings = Settings {
                shape,
                strides,
                frame_size,
                verify_checksum: true,
            };
            let (graph, sent) = run_on(plane(Mode::Route, settings), mixed.clone());
            assert_eq!(sent.len(), cases.len() * 13);
            assert!(sent.iter().all(|packet| *packet == sent[0]));
            for (_, node, reason) in &cases {
                let expected = 13
                    * cases
                        .iter()
                        .filter(|(_, n, r)| (n, r) == (node, reason))
                        .count() as u64;
                let counted = reasons(&graph)
                    .iter()
                    .find(|(n, r, _)| (n.as_str(), r) == (*node, reason))
                    .unwrap()
                    .2;
                assert_eq!(counted, expected, "{node}: {reason}");
            }
        }
    }
}

#[test]
fn without_verification_a_wrong_checksum_passes_and_stays_wrong_by_the_same() {
    let settings = Settings {
        verify_checksum: false,
        ..Settings::default()
    };
    let mut packet = good(64);
    packet[25] ^= 0x10;
    let (_, sent) = run_on(plane(Mode::Route, settings), vec![packet]);
    assert_eq!(sent.len(), 1);
    assert_ne!(checksum::sum(&sent[0][14..34]), 0xffff);
}

#[test]
fn padding_behind_a_packet_is_cut_off() {
    let mut padded = changed(|p| p[16..18].copy_from_slice(&[0, 30]));
    padded.resize(60, 0xaa);
    let (graph, sent) = run(vec![padded]);
    assert_eq!((sent.len(), sent[0].len()), (1, 44));
    assert_eq!(graph.plane.interfaces[1].tx.bytes, 44);
}

#[test]
fn a_tag_that_says_a_priority_alone_is_lost_on_the_way() {
    let mut tagged = good(64);
    tagged.splice(12..12, [0x81, 0x00, 0x60, 0]);
    let (_, sent) = run(vec![tagged, good(64)]);
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0], sent[1]);
}

#[test]
fn a_cross_connect_changes_nothing() {
    let mut tagged = good(64);
    tagged.splice(12..12, [0x81, 0x00, 0x60, 42]);
    let packets = vec![good(1), vec![2; 14], tagged, changed(|p| p[25] ^= 1)];
    let (graph, sent) = run_on(
        plane(Mode::CrossConnect { peer: 1 }, Settings::default()),
        packets.clone(),
    );
    assert_eq!(sent, packets);
    assert_eq!(graph.plane.interfaces[1].tx.packets, 4);
}

#[test]
fn packets_that_a_device_refuses_are_counted() {
    let devices: Vec<Box<dyn Device>> = vec![Box::new(Full(0)), Box::new(Full(3))];
    let (mut graph, first) = build(plane(Mode::Route, Settings::default()), devices);
    graph.add_input(
        Box::new(Packets::new(0, "test-input", vec![good(64); 10])),
        first,
    );
    graph.run_once();
    let balance = graph.balance();
    assert_eq!((balance.sent, balance.refused), (3, 7));
    assert!(balance.holds());
    assert_eq!(graph.plane.interfaces[1].tx.bytes, 180);
}

#[test]
fn a_pool_that_runs_dry_loses_nothing() {
    let mut small = plane(
        Mode::Route,
        Settings {
            frame_size: 256,
            ..Settings::default()
        },
    );
    small.pool = dataplane::buffers::Pool::new(100, Reuse::Cycle);
    let (_, sent) = run_on(small, vec![good(64); 1000]);
    assert_eq!(sent.len(), 1000);
}

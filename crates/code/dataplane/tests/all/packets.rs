//! Packets through the graph that is measured: what goes in comes out or is counted, and the right
//! ones come out right.

use dataplane::buffers::Reuse;
use dataplane::checksum;
use dataplane::fib::Prefix;
use dataplane::frame::Frame;
use dataplane::graph::{DROP, Graph, Node, Verdict};
use dataplane::inputs::{Packets, udp_packet};
use dataplane::nodes::{Device, Ip4Input};
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

/// A packet that ends at a node, for a reason.
type Ending = (Vec<u8>, &'static str, &'static str);

/// Packets that go no further than the first node.
fn bad_ethernet() -> Vec<Ending> {
    vec![
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
    ]
}

/// Packets whose IPv4 header is wrong.
fn bad_ip4() -> Vec<Ending> {
    vec![
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
    ]
}

/// Packets with a good header that are not sent on.
fn not_sent_on() -> Vec<Ending> {
    vec![
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
    ]
}

fn bad_packets() -> Vec<Ending> {
    [bad_ethernet(), bad_ip4(), not_sent_on()].concat()
}

#[test]
fn every_kind_of_bad_packet_is_counted_under_its_reason() {
    let cases = bad_packets();
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

/// Good packets that differ: in length, time to live, checksum and identification, in the route's
/// length, and in the neighbour. Each goes out of the second interface.
fn different(number: usize) -> Vec<u8> {
    changed(|packet| {
        let length = 60 + number % 40;
        packet.resize(length, number as u8);
        packet[16..18].copy_from_slice(&((length - 14) as u16).to_be_bytes());
        packet[18..20].copy_from_slice(&((number * 40_503) as u16).to_be_bytes());
        packet[22] = 2 + (number % 254) as u8;
        // Eight in a row go to one neighbour, and eight to all of them.
        let way = if (number / 8).is_multiple_of(2) {
            number / 16
        } else {
            number
        };
        packet[30] = [20, 21, 22, 23][way % 4];
    })
}

const OTHER: Mac = Mac([2, 0, 0, 0, 0, 7]);

/// A plane with a second neighbour behind the second interface, for 21/8, for a few addresses of
/// 22/8, and for all that has no other route. The longest packet that may be sent to it is short.
fn plane_with_two_neighbours(settings: Settings) -> Plane {
    let mut plane = plane(Mode::Route, settings);
    plane.interfaces[1].mtu = 300;
    let other = plane.add_neighbour(1, OTHER).unwrap();
    for (address, length) in [([21, 0, 0, 0], 8), ([22, 1, 2, 0], 29), ([0; 4], 0)] {
        plane.add_route(prefix(address, length), other).unwrap();
    }
    plane
}

/// As a router sends a packet of [`different`] on.
fn sent_on(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    let to = if packet[30] == 20 { NEXT } else { OTHER };
    packet[..6].copy_from_slice(&to.0);
    packet[6..12].copy_from_slice(&OUT.0);
    packet[22] -= 1;
    let mut header: [u8; 20] = packet[14..34].try_into().unwrap();
    checksum::write_header(&mut header);
    packet[14..34].copy_from_slice(&header);
    packet
}

#[test]
fn a_bad_packet_at_any_place_of_a_block_ends_alone_whatever_the_frames_size() {
    let mut cases = bad_packets();
    // There is a default route, by which these go on.
    cases.retain(|(_, _, reason)| *reason != "no route");
    let too_long = changed(|packet| {
        packet.resize(400, 0);
        packet[16..18].copy_from_slice(&386_u16.to_be_bytes());
        packet[30] = 21;
    });
    cases.push((too_long, "ip4-rewrite", "ip4 length > mtu of the output"));
    // This one goes out of the first interface.
    cases.push((
        changed(|packet| packet[30..34].copy_from_slice(&[10, 0, 0, 9])),
        "",
        "",
    ));
    let first = plane_with_two_neighbours(Settings::default());
    for (shape, frame_size, place) in (0..8)
        .flat_map(|place| [(Shape::Quad, 16, place), (Shape::Quad, 256, place)])
        .chain(
            (1..=15)
                .chain([255])
                .map(|size| (Shape::Quad, size, size % 8)),
        )
        .chain([(Shape::Single, 16, 3), (Shape::Dual, 255, 5)])
    {
        let (mut packets, mut expected) = (Vec::new(), Vec::new());
        // After each bad packet a block without one.
        for (number, (bad, _, _)) in cases.iter().enumerate() {
            for row in 0..16 {
                let good = different(number * 16 + row);
                if row == place {
                    packets.push(bad.clone());
                } else {
                    expected.push(sent_on(&good));
                    packets.push(good);
                }
            }
        }
        let mut plane = first.for_another_worker();
        plane.settings = Settings {
            shape,
            frame_size,
            ..Settings::default()
        };
        let (graph, sent) = run_on(plane, packets);
        let what = format!("{shape:?} {frame_size} {place}");
        assert!(sent == expected, "{what}");
        for (node, reason, count) in reasons(&graph) {
            let of_it = |case: &&Ending| (case.1, case.2) == (&*node, reason);
            let expected = cases.iter().filter(of_it).count() as u64;
            assert_eq!(count, expected, "{what} {node}: {reason}");
        }
        let ended: u64 = reasons(&graph).iter().map(|(_, _, count)| count).sum();
        let elsewhere = graph.plane.interfaces[0].tx.packets;
        assert_eq!((ended, elsewhere), (cases.len() as u64 - 1, 1), "{what}");
    }
}

#[test]
fn a_frame_of_any_size_is_sent_on_as_its_packets_are_alone() {
    let first = plane_with_two_neighbours(Settings::default());
    for count in (1..=17).chain([255, 256, 1024]) {
        let mut plane = first.for_another_worker();
        plane.settings.frame_size = count;
        let packets: Vec<_> = (0..count).map(different).collect();
        let expected: Vec<_> = packets.iter().map(|packet| sent_on(packet)).collect();
        let (graph, sent) = run_on(plane, packets);
        assert!(sent == expected, "{count}");
        assert_eq!(reasons(&graph), [], "{count}");
    }
}

#[test]
fn ip4_input_drops_what_is_shorter_than_a_header_whoever_hands_it_over() {
    let mut plane = plane(Mode::Route, Settings::default());
    let mut frame = Frame {
        len: 8,
        ..Frame::default()
    };
    plane.pool.allocate(&mut frame.buffer[..8]);
    for row in 0..8 {
        let packet = changed(|packet| packet[16..18].copy_from_slice(&[0, 16]));
        plane.pool.data_mut(frame.buffer[row])[..60].copy_from_slice(&packet);
        frame.length[row] = 30;
    }
    assert_eq!(Ip4Input.run(&mut plane, &mut frame), Verdict::All(DROP));
    let reason = Ip4Input.reasons()[frame.reason[7] as usize].text;
    assert_eq!(reason, "ip4 header truncated");
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

//! Packets through the whole graph: what goes in comes out or is counted, and the right ones come out right.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use dataplane::buffers::Reuse;
use dataplane::checksum;
use dataplane::frame::{FRAME_SIZES, Frame};
use dataplane::graph::Graph;
use dataplane::inputs::{Packets, udp_packet};
use dataplane::nodes::Device;
use dataplane::own::{OwnAddress, Owner};
use dataplane::plane::{Mac, Mode, Plane, Settings};
use dataplane::standard::{Ip4Path, build};
use dataplane::walk::{Shape, Strides};

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
        for lane in 0..frame.len {
            sent.push(plane.pool.data(frame.buffer[lane])[..frame.length[lane] as usize].to_vec());
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

fn plane(mode: Mode, settings: Settings) -> Plane {
    let mut plane = Plane::new(4096, Reuse::Hot, settings);
    plane.add_interface("in", US, mode);
    let out = plane.add_interface("out", OUT, Mode::Route);
    plane.interfaces[0].vlans.push(42);
    let next = plane.add_neighbour(out, NEXT).unwrap();
    plane.add_route("20.0.0.0/8".parse().unwrap(), next).unwrap();
    plane.add_route("20.9.0.0/16".parse().unwrap(), dataplane::plane::DISCARD).unwrap();
    let address = Ipv4Addr::new(10, 0, 0, 1);
    plane.add_address(OwnAddress { address, length: 24, interface: 0, owner: Owner::Kernel }).unwrap();
    let (side, now) = (plane.side(0), plane.now);
    plane.shared.control().add_static(side, Ipv4Addr::new(10, 0, 0, 9), PEER, now).unwrap();
    plane
}

/// What goes out of the second interface. Out of the first one go errors to the sender.
fn run_on(plane: Plane, path: Ip4Path, packets: Vec<Vec<u8>>) -> (Graph, Vec<Vec<u8>>) {
    let sent = Sent::default();
    let devices: Vec<Box<dyn Device>> = vec![Box::<Capture>::default(), Box::new(Capture(sent.clone()))];
    let (mut graph, first) = build(plane, devices, path);
    graph.add_input(Packets::new(0, "test-input", packets), first);
    while !graph.is_done() {
        graph.run_once();
    }
    assert!(graph.balance().holds(), "{:?}", graph.balance());
    let all = graph.plane.pool.available() as u64 + graph.plane.held;
    assert_eq!(all, graph.plane.pool.capacity() as u64, "buffers leaked");
    let sent = sent.lock().unwrap().clone();
    (graph, sent)
}

fn run(packets: Vec<Vec<u8>>) -> (Graph, Vec<Vec<u8>>) {
    run_on(plane(Mode::Route, Settings::default()), Ip4Path::Nodes, packets)
}

fn good(ttl: u8) -> Vec<u8> {
    udp_packet(US, PEER, Ipv4Addr::new(10, 0, 0, 9), Ipv4Addr::new(20, 1, 2, 3), ttl)[..60].to_vec()
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
    graph.errors().into_iter().filter(|row| row.count > 0).map(|row| (row.node, row.reason.text, row.count)).collect()
}

#[test]
fn a_packet_is_forwarded_with_ttl_checksum_and_addresses_right() {
    let (graph, sent) = run(vec![good(64)]);
    let expected = {
        let mut packet =
            udp_packet(NEXT, OUT, Ipv4Addr::new(10, 0, 0, 9), Ipv4Addr::new(20, 1, 2, 3), 63)[..60].to_vec();
        packet[12] = 0x08;
        packet
    };
    assert_eq!(sent, [expected]);
    assert_eq!(graph.plane.interfaces[1].tx.packets, 1);
    assert_eq!(graph.plane.interfaces[1].tx.bytes, 60);
    let shown = dataplane::show::hardware(&graph.report());
    assert!(shown.contains("a list of packets, 0 left") && shown.contains("nothing comes in here"), "{shown}");
}

#[test]
fn every_kind_of_bad_packet_is_counted_under_its_reason() {
    let cases: Vec<(Vec<u8>, &str, &str)> = vec![
        (vec![0; 5], "ethernet-input", "ethernet header or payload truncated"),
        (good(64)[..30].to_vec(), "ethernet-input", "ethernet header or payload truncated"),
        (changed(|p| p.resize(1600, 0)), "ethernet-input", "packet longer than the interface's mtu"),
        (changed(|p| p.resize(5000, 0)), "ethernet-input", "packet longer than the interface's mtu"),
        (changed(|p| p[5] = 77), "ethernet-input", "l3 mac mismatch"),
        (changed(|p| p[12..14].copy_from_slice(&[0x12, 0x34])), "ethernet-input", "unknown ethernet type"),
        (changed(|p| p[12..16].copy_from_slice(&[0x81, 0, 0, 7])), "ethernet-input", "unknown vlan"),
        (changed(|p| p[12..14].copy_from_slice(&[0x08, 0x06])), "arp-input", "arp malformed"),
        (changed(|p| p[12..14].copy_from_slice(&[0x86, 0xdd])), "ethernet-input", "ip6 to the host"),
        (changed(|p| p[..6].fill(0xff)), "ethernet-input", "ip4 for one host in a frame for several"),
        (changed(|p| p[14] = 0x65), "ip4-input", "ip4 version or header length wrong"),
        (changed(|p| p[14] = 0x44), "ip4-input", "ip4 version or header length wrong"),
        (changed(|p| p[16..18].copy_from_slice(&[0, 200])), "ip4-input", "ip4 length > l2 length"),
        (changed(|p| p[16..18].copy_from_slice(&[0, 19])), "ip4-input", "ip4 length > l2 length"),
        (
            {
                let mut p = good(64);
                p[24] ^= 1;
                p
            },
            "ip4-input",
            "bad ip4 checksum",
        ),
        (changed(|p| p[26] = 224), "ip4-input", "ip4 source is of no host, or our own"),
        (changed(|p| p[26] = 127), "ip4-input", "ip4 source is of no host, or our own"),
        (changed(|p| p[26..30].fill(0)), "ip4-input", "ip4 source is of no host, or our own"),
        (changed(|p| p[29] = 1), "ip4-input", "ip4 source is of no host, or our own"),
        (changed(|p| p[30] = 224), "ip4-lookup", "ip4 multicast or broadcast to the host"),
        (changed(|p| p[30] = 127), "ip4-lookup", "ip4 destination is of no host"),
        (changed(|p| p[30..34].fill(0)), "ip4-lookup", "ip4 destination is of no host"),
        (changed(|p| p[30] = 30), "ip4-lookup", "no route"),
        (changed(|p| p[30..34].copy_from_slice(&[20, 9, 0, 1])), "ip4-lookup", "route drops"),
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
    // All of them together, among good ones, in every shape, stride and frame size, by either path.
    let mut mixed = Vec::new();
    for (packet, _, _) in &cases {
        for _ in 0..13 {
            mixed.push(good(64));
            mixed.push(packet.clone());
        }
    }
    for path in [Ip4Path::Nodes, Ip4Path::Fused] {
        for shape in Shape::ALL {
            for (strides, frame_size) in
                [(Strides::both(0), 64), (Strides { header: 1, data: 3 }, 256), (Strides::both(9), 1024)]
            {
                let settings = Settings { shape, strides, frame_size, verify_checksum: true };
                let (graph, sent) = run_on(plane(Mode::Route, settings), path, mixed.clone());
                assert_eq!(sent.len(), cases.len() * 13);
                assert!(sent.iter().all(|packet| *packet == sent[0]));
                for (_, node, reason) in &cases {
                    let expected = 13 * cases.iter().filter(|(_, n, r)| (n, r) == (node, reason)).count() as u64;
                    let counted =
                        reasons(&graph).iter().find(|(n, r, _)| (n.as_str(), r) == (*node, reason)).unwrap().2;
                    assert_eq!(counted, expected, "{node}: {reason}");
                }
            }
        }
    }
}

/// A good packet with options, which are filled up to whole words.
fn with_options(options: &[u8]) -> Vec<u8> {
    let mut packet = good(64);
    let mut options = options.to_vec();
    options.resize(options.len().next_multiple_of(4), 0);
    packet[14] = 0x45 + (options.len() / 4) as u8;
    packet[16..18].copy_from_slice(&(46 + options.len() as u16).to_be_bytes());
    let end = 34 + options.len();
    packet.splice(34..34, options);
    packet[24..26].fill(0);
    let sum = !checksum::sum(&packet[14..end]);
    packet[24..26].copy_from_slice(&sum.to_le_bytes());
    packet
}

#[test]
fn options_are_filled_in_and_wrong_ones_are_told() {
    let address = Ipv4Addr::new(30, 0, 0, 1);
    let run = |options: &[u8]| {
        let mut plane = plane(Mode::Route, Settings::default());
        plane.add_address(OwnAddress { address, length: 32, interface: 1, owner: Owner::Us }).unwrap();
        let (graph, sent) = run_on(plane, Ip4Path::Nodes, vec![with_options(options)]);
        assert!(sent.iter().all(|packet| checksum::sum(&packet[14..34 + packet[14] as usize % 16 * 4 - 20]) == 0xffff));
        (reasons(&graph), sent.first().map(|packet| packet[34..34 + options.len()].to_vec()))
    };
    for (options, expected) in [
        (vec![1, 1, 1, 0], vec![1, 1, 1, 0]),
        (vec![0, 9, 9, 9], vec![0, 0, 0, 0]),
        (vec![148, 4, 0, 0], vec![148, 4, 0, 0]),
        (vec![7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0], vec![7, 11, 8, 30, 0, 0, 1, 0, 0, 0, 0]),
        (vec![7, 7, 8, 9, 9, 9, 9], vec![7, 7, 8, 9, 9, 9, 9]),
        (vec![68, 8, 9, 0x20, 1, 1, 1, 1], vec![68, 8, 9, 0x30, 1, 1, 1, 1]),
        (vec![68, 12, 5, 3, 9, 9, 9, 9, 0, 0, 0, 0], vec![68, 12, 5, 3, 9, 9, 9, 9, 0, 0, 0, 0]),
    ] {
        assert_eq!(run(&options), (vec![], Some(expected)), "{options:?}");
    }
    let (counted, sent) = run(&[68, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((counted, &sent.unwrap()[..8]), (vec![], &[68, 12, 13, 1, 10, 0, 0, 1][..]));
    for wrong in [
        &[7, 2, 0, 0][..],
        &[7, 7, 3, 0, 0, 0, 0],
        &[7, 7, 6, 0, 0, 0, 0],
        &[7, 50, 4, 0],
        &[7, 0, 4, 0],
        &[1, 1, 1, 7],
        &[7, 3, 4, 7, 3, 4],
        &[68, 8, 5, 1, 0, 0, 0, 0],
        &[68, 4, 5, 0xf0],
        &[148, 3, 0],
    ] {
        let expected = [("ip4-options".to_owned(), "ip4 option malformed", 1)];
        assert_eq!(run(wrong), (expected.to_vec(), None), "{wrong:?}");
    }
    let refused = [("ip4-options".to_owned(), "ip4 source route refused", 1)];
    assert_eq!(run(&[131, 7, 4, 1, 2, 3, 4]), (refused.to_vec(), None));
}

#[test]
fn without_verification_a_wrong_checksum_passes_and_stays_wrong_by_the_same() {
    let settings = Settings { verify_checksum: false, ..Settings::default() };
    let mut packet = good(64);
    packet[25] ^= 0x10;
    let (_, sent) = run_on(plane(Mode::Route, settings), Ip4Path::Nodes, vec![packet]);
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
fn a_known_vlan_loses_its_tag_on_the_way() {
    let mut tagged = good(64);
    tagged.splice(12..12, [0x81, 0x00, 0x60, 42]);
    let (_, sent) = run(vec![tagged, good(64)]);
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0], sent[1]);
}

#[test]
fn a_cross_connect_changes_nothing() {
    let mut tagged = good(64);
    tagged.splice(12..12, [0x81, 0x00, 0x60, 42]);
    let packets = vec![good(1), vec![2; 14], tagged, changed(|p| p[25] ^= 1)];
    let (graph, sent) =
        run_on(plane(Mode::CrossConnect { peer: 1 }, Settings::default()), Ip4Path::Nodes, packets.clone());
    assert_eq!(sent, packets);
    assert_eq!(graph.plane.interfaces[1].tx.packets, 4);
}

#[test]
fn packets_that_a_device_refuses_are_counted() {
    let devices: Vec<Box<dyn Device>> = vec![Box::new(Full(0)), Box::new(Full(3))];
    let (mut graph, first) = build(plane(Mode::Route, Settings::default()), devices, Ip4Path::Nodes);
    graph.add_input(Packets::new(0, "test-input", vec![good(64); 10]), first);
    graph.run_once();
    let balance = graph.balance();
    assert_eq!((balance.sent, balance.refused), (3, 7));
    assert!(balance.holds());
    assert_eq!(graph.plane.interfaces[1].tx.bytes, 180);
}

#[test]
fn a_pool_that_runs_dry_loses_nothing() {
    let mut small = plane(Mode::Route, Settings { frame_size: 256, ..Settings::default() });
    small.pool = dataplane::buffers::Pool::new(100, Reuse::Cycle);
    let (_, sent) = run_on(small, Ip4Path::Nodes, vec![good(64); 1000]);
    assert_eq!(sent.len(), 1000);
}

#[test]
fn any_bytes_at_all_are_forwarded_dropped_or_punted_and_counted() {
    let mut state = 0x1234_5678_9abc_def0_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..60 {
        let packets: Vec<Vec<u8>> = (0..500)
            .map(|_| {
                // Half of them begin as good packets with a few bytes changed, so that they get past the first test.
                let mut packet = good((random() % 256) as u8);
                packet.resize((random() % 2100) as usize, 0);
                if random() % 2 == 0 {
                    packet.iter_mut().for_each(|byte| *byte = random() as u8);
                } else {
                    for _ in 0..random() % 5 {
                        let at = (random() % 40) as usize;
                        if let Some(byte) = packet.get_mut(at) {
                            *byte = random() as u8;
                        }
                    }
                }
                packet
            })
            .collect();
        let count = packets.len() as u64;
        let settings = Settings {
            shape: Shape::ALL[round % 3],
            strides: Strides::both(round % 5),
            frame_size: FRAME_SIZES[round % 5],
            verify_checksum: round % 2 == 0,
        };
        let mode = if round % 4 == 3 { Mode::CrossConnect { peer: 1 } } else { Mode::Route };
        let path = if round % 3 == 2 { Ip4Path::Fused } else { Ip4Path::Nodes };
        let (graph, _) = run_on(plane(mode, settings), path, packets);
        assert_eq!(graph.balance().received, count);
        // Why an error was not sent is a reason beside the one for which it was to be sent.
        let rows = graph.errors();
        let counted: u64 = rows.iter().filter(|row| !row.node.starts_with("icmp")).map(|row| row.count).sum();
        assert_eq!(counted, graph.balance().dropped + graph.balance().punted, "every drop has its reason");
    }
}

#[test]
fn traces_follow_packets_to_their_end_and_no_others() {
    let sent = Sent::default();
    let devices: Vec<Box<dyn Device>> = vec![Box::new(Capture(sent.clone())), Box::new(Capture(sent))];
    let (mut graph, first) = build(plane(Mode::Route, Settings::default()), devices, Ip4Path::Nodes);
    graph.add_input(Packets::new(0, "test-input", vec![good(64), good(1), good(64), good(1)]), first);
    graph.tracer.add("test-input", 2);
    graph.run_once();
    let ways: Vec<Vec<&str>> =
        graph.tracer.traces().iter().map(|t| t.steps.iter().map(|s| s.node.as_str()).collect()).collect();
    let begin = ["test-input", "ethernet-input", "ip4-input", "ip4-lookup", "ip4-rewrite"];
    assert_eq!(ways.len(), 2);
    assert_eq!(ways[0], [&begin[..], &["out-output", "out-tx"]].concat());
    let back = ["icmp-time-exceeded", "ip4-lookup", "ip4-rewrite", "in-output", "in-tx"];
    assert_eq!(ways[1], [&begin[..], &back].concat());
    let text = dataplane::show::trace(&[graph.report()], 10);
    assert!(text.contains("error: ip4 ttl <= 1"), "a reason by its name: {text}");
    assert!(text.contains("Packet 2") && text.contains("UDP: 10.0.0.9 -> 20.1.2.3"), "{text}");
}

#[test]
fn a_capture_file_goes_in_and_comes_out() {
    use dataplane::pcap::{Writer, read};
    let mut file = Writer::new(Vec::new()).unwrap();
    for ttl in [64, 1, 3] {
        file.packet(&good(ttl)).unwrap();
    }
    let packets = read(&file.finish().unwrap()).unwrap();

    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("out-{}.pcap", std::process::id()));
    let out = Writer::new(std::io::BufWriter::new(std::fs::File::create(&path).unwrap())).unwrap();
    let devices: Vec<Box<dyn Device>> = vec![Box::new(Full(0)), Box::new(out)];
    let (mut graph, first) = build(plane(Mode::Route, Settings::default()), devices, Ip4Path::Nodes);
    graph.add_input(Packets::new(0, "pcap-input", packets), first);
    graph.run_once();
    let written = read(&std::fs::read(&path).unwrap()).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(written.iter().map(|packet| packet[22]).collect::<Vec<_>>(), [63, 2]);
}

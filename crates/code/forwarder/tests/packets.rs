//! Packets through the forwarder's graph: what goes in comes out or is counted, also beside the
//! common path.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use dataplane::buffers::Reuse;
use dataplane::checksum;
use dataplane::frame::{FRAME_SIZES, Frame};
use dataplane::graph::Graph;
use dataplane::inputs::{Packets, udp_packet};
use dataplane::nodes::{Device, Discard};
use dataplane::own::{OwnAddress, Owner};
use dataplane::plane::{Mac, Mode, Plane, Settings};
use dataplane::walk::{Shape, Strides};
use dataplane::wiring::Wiring;
use forwarder::control::Control;
use forwarder::nodes::{ICMP_PER_SECOND, registry};
use forwarder::{show, standard};

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

/// The way in which the work on IPv4 packets is divided into nodes.
#[derive(Clone, Copy)]
enum Path {
    Nodes,
    Fused,
}

impl Path {
    fn text(self) -> String {
        let fused = "l2-input ip4-fused arp-input\nip4-fused: error-drop error-punt ip4-input outputs\n";
        match self {
            Self::Nodes => standard::TEXT.to_owned(),
            Self::Fused => standard::TEXT.replacen("l2-input ip4-input arp-input\n", fused, 1),
        }
    }
}

fn plane(mode: Mode, settings: Settings) -> (Plane, Arc<Control>) {
    let control = Arc::<Control>::default();
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
    control.lock().add_static(&plane.tables, side, Ipv4Addr::new(10, 0, 0, 9), PEER, now).unwrap();
    (plane, control)
}

/// Runs a graph and returns the packets that go out of the second interface. Out of the first one
/// go errors to the sender.
fn run_on((plane, control): (Plane, Arc<Control>), path: Path, packets: Vec<Vec<u8>>) -> (Graph, Vec<Vec<u8>>) {
    let sent = Sent::default();
    let devices: Vec<Box<dyn Device>> = vec![Box::<Capture>::default(), Box::new(Capture(sent.clone()))];
    let (text, registry) = (path.text(), registry(&control, ICMP_PER_SECOND));
    let (mut graph, first) = Wiring::parse(&text, &registry).unwrap().build(plane, devices, &registry);
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

fn good(ttl: u8) -> Vec<u8> {
    udp_packet(US, PEER, Ipv4Addr::new(10, 0, 0, 9), Ipv4Addr::new(20, 1, 2, 3), ttl)[..60].to_vec()
}

fn reasons(graph: &Graph) -> Vec<(String, &'static str, u64)> {
    graph.errors().into_iter().filter(|row| row.count > 0).map(|row| (row.node, row.reason.text, row.count)).collect()
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
        let (mut plane, control) = plane(Mode::Route, Settings::default());
        plane.add_address(OwnAddress { address, length: 32, interface: 1, owner: Owner::Us }).unwrap();
        let (graph, sent) = run_on((plane, control), Path::Nodes, vec![with_options(options)]);
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
fn any_bytes_at_all_are_forwarded_dropped_or_punted_and_counted() {
    let mut random = fastrand::Rng::with_seed(0x1234_5678);
    for round in 0..60 {
        let packets: Vec<Vec<u8>> = (0..500)
            .map(|_| {
                // Half of them begin as good packets with a few bytes changed, so that they get
                // past the first test.
                let mut packet = good(random.u8(..));
                packet.resize(random.usize(..2100), 0);
                if random.bool() {
                    random.fill(&mut packet);
                } else {
                    for _ in 0..random.u8(..5) {
                        if let Some(byte) = packet.get_mut(random.usize(..40)) {
                            *byte = random.u8(..);
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
        let path = if round % 3 == 2 { Path::Fused } else { Path::Nodes };
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
    let (plane, control) = plane(Mode::Route, Settings::default());
    let (mut graph, first) = standard::build(plane, devices, &control);
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
    use forwarder::pcap::{Writer, read};
    let mut file = Writer::new(Vec::new()).unwrap();
    for ttl in [64, 1, 3] {
        file.packet(&good(ttl)).unwrap();
    }
    let packets = read(&file.finish().unwrap()).unwrap();

    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("out-{}.pcap", std::process::id()));
    let out = Writer::new(std::io::BufWriter::new(std::fs::File::create(&path).unwrap())).unwrap();
    let devices: Vec<Box<dyn Device>> = vec![Box::new(Discard), Box::new(out)];
    let (plane, control) = plane(Mode::Route, Settings::default());
    let (mut graph, first) = standard::build(plane, devices, &control);
    graph.add_input(Packets::new(0, "pcap-input", packets), first);
    graph.run_once();
    let shown = show::hardware(&graph.report());
    assert!(shown.contains("a list of packets, 0 left") && shown.contains("nothing comes in here"), "{shown}");
    let written = read(&std::fs::read(&path).unwrap()).unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(written.iter().map(|packet| packet[22]).collect::<Vec<_>>(), [63, 2]);
}

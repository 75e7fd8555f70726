//! Ordinary programs talk through the forwarder, with nothing set up before: TCP, UDP, ping and
//! traceroute between two namespaces whose interfaces keep their usual offloads.
//!
//! ```text
//!   namespace A: a0 ═══ in0 :namespace M: out0 ═══ (bridge in namespace R) ═══ b0 :namespace B
//!   10.0.1.2     10.0.1.1     forwarder     10.0.2.1                        10.0.2.2
//! ```
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use dataplane::checksum;
use dataplane::inputs::udp_packet;
use dataplane::plane::Mac;
use document::Document;
use forwarder::drivers::packet_socket::{Received, Receiver, Sender};
use forwarder_experiments::config::Config;
use support::{Namespaces, may_run, shown};

/// Bytes that are sent each way.
const BYTES: usize = 100_000_000;
const CHUNK: usize = 1 << 16;
const DATAGRAMS: u32 = 2000;

/// Content that depends on its place, so that bytes that are missing, twice or elsewhere are
/// noticed.
fn content(at: usize, into: &mut [u8]) {
    for (n, word) in into.chunks_mut(8).enumerate() {
        let number = ((at / 8 + n) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bytes = (number ^ (number >> 29)).to_le_bytes();
        word.copy_from_slice(&bytes[..word.len()]);
    }
}

fn send(stream: &mut TcpStream) {
    let (mut at, mut chunk) = (0, vec![0; CHUNK]);
    while at < BYTES {
        let length = CHUNK.min(BYTES - at);
        content(at, &mut chunk[..length]);
        stream.write_all(&chunk[..length]).unwrap();
        at += length;
    }
}

fn receive(stream: &mut TcpStream) {
    let (mut at, mut chunk, mut wanted) = (0, vec![0; CHUNK], vec![0; CHUNK]);
    while at < BYTES {
        let length = CHUNK.min(BYTES - at);
        stream.read_exact(&mut chunk[..length]).unwrap();
        content(at, &mut wanted[..length]);
        assert!(chunk[..length] == wanted[..length], "wrong content between {at} and {}", at + length);
        at += length;
    }
}

/// Takes 100 MB and then sends them; beside it answers every datagram.
fn server(folder: &Path) {
    let listener = TcpListener::bind("10.0.2.2:7000").unwrap();
    let socket = UdpSocket::bind("10.0.2.2:7000").unwrap();
    fs::write(folder.join("listening"), "").unwrap();
    thread::spawn(move || {
        let mut datagram = [0; 2048];
        while let Ok((length, from)) = socket.recv_from(&mut datagram) {
            let _ = socket.send_to(&datagram[..length], from);
        }
    });
    let (mut stream, from) = listener.accept().unwrap();
    assert_eq!(from.ip().to_string(), "10.0.1.2", "the forwarder changes no address");
    receive(&mut stream);
    send(&mut stream);
    // Until the client has all and closes.
    let _ = stream.read(&mut [0]);
}

fn client(folder: &Path) {
    let socket = UdpSocket::bind("10.0.1.2:0").unwrap();
    socket.connect("10.0.2.2:7000").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let mut answered = 0;
    for number in 0..DATAGRAMS {
        let mut datagram = vec![0; 4 + (number as usize * 37) % 1469];
        content(number as usize, &mut datagram);
        datagram[..4].copy_from_slice(&number.to_le_bytes());
        socket.send(&datagram).unwrap();
        let mut answer = [0; 2048];
        if let Ok(length) = socket.recv(&mut answer) {
            assert!(answer[..length] == datagram, "datagram {number}");
            answered += 1;
        }
    }
    fs::write(folder.join("answered"), answered.to_string()).unwrap();
    let mut stream = TcpStream::connect("10.0.2.2:7000").unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    let start = Instant::now();
    send(&mut stream);
    receive(&mut stream);
    println!("{BYTES} bytes each way in {:.1} s", start.elapsed().as_secs_f64());
}

/// The probe of ping and traceroute, destination and TTL, and the type, code and source of the
/// answer.
type Probe = ([u8; 4], u8, (u8, u8), [u8; 4]);

const PROBES: [Probe; 6] = [
    ([10, 0, 2, 2], 64, (0, 0), [10, 0, 2, 2]),
    ([10, 0, 2, 2], 1, (11, 0), [10, 0, 1, 1]),
    ([10, 0, 1, 1], 64, (0, 0), [10, 0, 1, 1]),
    ([10, 0, 2, 1], 64, (0, 0), [10, 0, 2, 1]),
    ([10, 0, 2, 77], 64, (3, 1), [10, 0, 1, 1]),
    ([99, 9, 9, 9], 64, (3, 0), [10, 0, 1, 1]),
];

fn expected_answers() -> String {
    PROBES.map(|(_, _, kind, from)| format!("{kind:?} {from:?}\n")).concat()
}

/// Sends each probe and notes the answer.
fn probe(folder: &Path) {
    let mut receiver = Receiver::new("a0").unwrap();
    let mut sender = Sender::new("a0").unwrap();
    let answers = PROBES.map(|(to, ttl, _, _)| {
        let (router, own) = (Mac([2, 0, 0, 0, 0, 0x10]), Mac([2, 0, 0, 0, 0, 0xa]));
        let mut packet = udp_packet(router, own, [10, 0, 1, 2].into(), to.into(), ttl)[..60].to_vec();
        packet[23] = 1;
        packet[34..42].copy_from_slice(&[8, 0, 0, 0, 7, 7, to[3], ttl]);
        let sum = !checksum::sum(&packet[34..]);
        packet[36..38].copy_from_slice(&sum.to_le_bytes());
        let mut header: [u8; 20] = packet[14..34].try_into().unwrap();
        checksum::write_header(&mut header);
        packet[14..34].copy_from_slice(&header);
        assert_eq!(sender.send([&packet[..]]), 1);
        let mark = &packet[38..42];
        // A reply has the mark where the request has it, an error in what it quotes.
        let is_answer = |bytes: &[u8]| {
            let icmp = bytes.get(23) == Some(&1) && bytes[12..14] == [8, 0];
            icmp && (bytes.get(38..42) == Some(mark) || bytes.get(66..70) == Some(mark))
        };
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline {
            match receiver.next_packet() {
                Some(Received { bytes, .. }) if is_answer(bytes) => {
                    return format!("{:?} {:?}\n", (bytes[34], bytes[35]), &bytes[26..30]);
                }
                Some(_) => {}
                None => receiver.wait(20).unwrap(),
            }
        }
        format!("no answer from {to:?}\n")
    });
    fs::write(folder.join("answers"), answers.concat()).unwrap();
}

/// Sends to B, and ARP for addresses that nobody has, until the file `enough` is there.
fn flood(folder: &Path) {
    let mut sender = Sender::new("a0").unwrap();
    let (router, own) = (Mac([2, 0, 0, 0, 0, 0x10]), Mac([2, 0, 0, 0, 0, 0xa]));
    let batch = [0, 1, 2, 3].map(|n| udp_packet(router, own, [10, 0, 1, 2].into(), [10, 0, 2, 2 + n].into(), 64));
    sender.send(batch.iter().map(|packet| &packet[..60]));
    fs::write(folder.join("flooding"), "").unwrap();
    while !support::is_there(folder, "enough") {
        sender.send(batch.iter().map(|packet| &packet[..60]));
        thread::sleep(Duration::from_micros(200));
    }
}

/// Sends from many ports: their packets take all queues of the interface.
fn ports() {
    for _ in 0..64 {
        let socket = UdpSocket::bind("10.0.1.2:0").unwrap();
        socket.connect("10.0.2.2:7000").unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        socket.send(b"which queue?").unwrap();
        let mut answer = [0; 64];
        assert_eq!(socket.recv(&mut answer).unwrap(), 12, "no answer to {:?}", socket.local_addr());
    }
}

/// Starts the forwarder of `refuse.toml` and notes why it refuses to.
fn refuse(folder: &Path) {
    let config = Document::open(&folder.join("refuse.toml")).and_then(|file| Config::read(&file)).unwrap();
    fs::write(folder.join("refused"), format!("{:?}", config.router().err().unwrap())).unwrap();
}

/// The role of a process inside a namespace; as a test of its own it does nothing.
#[test]
fn a_role_in_a_namespace() {
    let Some((role, folder)) = support::role() else { return };
    match role.as_str() {
        "server" => server(&folder),
        "client" => client(&folder),
        "probe" => probe(&folder),
        "flood" => flood(&folder),
        "ports" => ports(),
        "refuse" => refuse(&folder),
        "wait" => support::wait_for_ever(&folder),
        "forward" => support::forward(&folder),
        other => panic!("no role {other}"),
    }
}

/// If the kernel has the addresses, it answers for them.
const ADDRESSES_OF_THE_KERNEL: &str = r#"
neighbours.interval_ms = 100
[[interface]]
name = "in0"
[[interface]]
name = "out0"
"#;

/// The same addresses, which the kernel does not have.
const ADDRESSES_OF_OURS: &str = r#"
neighbours.interval_ms = 100
workers = 2
[[interface]]
name = "in0"
addresses = ["10.0.1.1/24"]
[[interface]]
name = "out0"
addresses = ["10.0.2.1/24"]
"#;

/// Two hosts and what lies between them, with the addresses that an administrator gives and nothing
/// else. With a bridge, the kernel in the middle has no addresses.
fn network(test: &str, bridge: bool) -> Namespaces {
    network_of_queues(test, bridge, 1)
}

/// The same, with `queues` queues on the cables to the forwarder.
fn network_of_queues(test: &str, bridge: bool, queues: u32) -> Namespaces {
    let made = Namespaces::new(test, &["a", "m", "b", "r"]);
    let at = |last| [2, 0, 0, 0, 0, last];
    made.cable_of_queues(queues, ("a", "a0", at(0xa)), ("m", "in0", at(0x10)));
    if bridge {
        made.ip("r", "link add br0 type bridge");
        made.ip("r", "link set br0 up");
        made.cable(("r", "r0", at(0x30)), ("m", "out0", at(0x20)));
        made.cable(("r", "r1", at(0x31)), ("b", "b0", at(0xb)));
        made.ip("r", "link set r0 master br0");
        made.ip("r", "link set r1 master br0");
    } else {
        made.cable_of_queues(queues, ("b", "b0", at(0xb)), ("m", "out0", at(0x20)));
        made.ip("m", "address add 10.0.1.1/24 dev in0");
        made.ip("m", "address add 10.0.2.1/24 dev out0");
    }
    made.ip("a", "address add 10.0.1.2/24 dev a0");
    made.ip("b", "address add 10.0.2.2/24 dev b0");
    made.ip("a", "route add default via 10.0.1.1");
    made.ip("b", "route add default via 10.0.2.1");
    made
}

/// Programs talk between two namespaces. `counted` is what the forwarder must have done often, or
/// this shows nothing.
fn talk(test: &str, bridge: bool, config: &str, counted: &str) {
    let namespaces = network(test, bridge);
    let said = namespaces.forwarding("m", config, || talk_to("b", &namespaces));
    check_talk(&namespaces, &said, &[counted]);
}

/// A talks to a server in a namespace.
fn talk_to(server: &str, namespaces: &Namespaces) {
    namespaces.run("a", "probe");
    let mut server = namespaces.start(server, "server");
    namespaces.wait_for("listening");
    namespaces.run("a", "client");
    assert!(server.succeeds());
}

/// `counted` is together what the forwarder must have done often.
fn check_talk(namespaces: &Namespaces, said: &str, counted: &[&str]) {
    assert_eq!(support::number(&namespaces.folder, "answered"), u64::from(DATAGRAMS), "{said}");
    let answers = fs::read_to_string(namespaces.folder.join("answers")).unwrap();
    assert_eq!(answers, expected_answers(), "{said}");
    let count: u64 = counted.iter().map(|counted| shown(said, counted, "packets")).sum();
    assert!(count > 100, "{counted:?}: {count}, so this shows nothing:\n{said}");
}

const SPLIT: &str = "af-packet-input-in0: large packet split";
const FINISHED: &str = "af-xdp-input-in0-0: checksum written that the sender left out";

#[test]
fn programs_talk_between_interfaces_with_their_usual_offloads() {
    if may_run("programs_talk_between_interfaces_with_their_usual_offloads") {
        talk("t", false, ADDRESSES_OF_THE_KERNEL, SPLIT);
    }
}

#[test]
fn programs_talk_over_a_bridge_with_addresses_that_only_the_forwarder_has() {
    if may_run("programs_talk_over_a_bridge_with_addresses_that_only_the_forwarder_has") {
        talk("g", true, ADDRESSES_OF_OURS, SPLIT);
    }
}

/// The kernel has the addresses and sees nothing that comes in: the forwarder answers. Checksums
/// that the sender leaves to a device have nothing to tell of them here.
#[test]
fn programs_talk_through_af_xdp_with_the_usual_offloads() {
    if may_run("programs_talk_through_af_xdp_with_the_usual_offloads") {
        let config = ADDRESSES_OF_THE_KERNEL.replace("name =", "driver = \"af-xdp\"\nname =");
        talk("x", false, &config, FINISHED);
    }
}

/// Two workers, each with one of an interface's two queues: packets of many ports come in on both,
/// and none is lost.
#[test]
fn programs_talk_through_the_queues_of_af_xdp() {
    if !may_run("programs_talk_through_the_queues_of_af_xdp") {
        return;
    }
    let namespaces = network_of_queues("q", false, 2);
    let config = format!("workers = 2\n{}", ADDRESSES_OF_THE_KERNEL.replace("name =", "driver = \"af-xdp\"\nname ="));
    let said = namespaces.forwarding("m", &config, || {
        namespaces.run("a", "probe");
        let mut server = namespaces.start("b", "server");
        namespaces.wait_for("listening");
        namespaces.run("a", "ports");
        namespaces.run("a", "client");
        assert!(server.succeeds());
    });
    // Which queue a connection takes is the kernel's choice; the datagrams of many ports take both.
    let counted = [FINISHED, "af-xdp-input-in0-1: checksum written that the sender left out"];
    check_talk(&namespaces, &said, &counted);
    for counted in counted {
        assert!(shown(&said, counted, "packets") > 0, "nothing came in for {counted}:\n{said}");
    }
}

/// Interfaces that have longer packets than a buffer holds are refused, with the command that
/// helps; after that command, programs talk.
#[test]
fn an_mtu_that_no_buffer_holds_is_refused_and_the_largest_that_one_holds_is_served() {
    if !may_run("an_mtu_that_no_buffer_holds_is_refused_and_the_largest_that_one_holds_is_served") {
        return;
    }
    let namespaces = network("m", false);
    let ends = [("a", "a0"), ("m", "in0"), ("m", "out0"), ("b", "b0")];
    let set = |mtu: u32| ends.map(|(letter, name)| namespaces.ip(letter, &format!("link set {name} mtu {mtu}")));
    let refused = |config: &str| {
        fs::write(namespaces.folder.join("refuse.toml"), config).unwrap();
        namespaces.run("m", "refuse");
        fs::read_to_string(namespaces.folder.join("refused")).unwrap()
    };
    set(9000);
    // Less in the file helps nothing: the kernel hands in what the interface takes.
    for config in [ADDRESSES_OF_THE_KERNEL, &ADDRESSES_OF_THE_KERNEL.replace("name =", "mtu = 1500\nname =")] {
        let said = refused(config);
        assert!(
            said.contains("interface `in0`: its MTU is 9000") && said.contains("ip link set in0 mtu 2030"),
            "{said}"
        );
    }
    set(1500);
    let said = refused(&ADDRESSES_OF_THE_KERNEL.replace("name =", "mtu = 1600\nname ="));
    assert!(said.contains("an mtu of 1600, and it takes 1500"), "{said}");
    set(2030);
    let said = namespaces.forwarding("m", ADDRESSES_OF_THE_KERNEL, || talk_to("b", &namespaces));
    check_talk(&namespaces, &said, &[SPLIT]);
}

/// A test that fails leaves no program behind.
#[test]
fn a_role_ends_with_whoever_started_it() {
    if !may_run("a_role_ends_with_whoever_started_it") {
        return;
    }
    let namespaces = Namespaces::new("e", &["a"]);
    let started = namespaces.start("a", "wait");
    namespaces.wait_for("waiting");
    let process = format!("/proc/{}", started.id());
    assert!(Path::new(&process).exists());
    drop(started);
    assert!(!Path::new(&process).exists(), "{process} goes on");
}

/// The far host is the kernel in the middle, behind a TAP device. With AF_XDP on the other side it
/// sees nothing of what comes in there.
#[test]
fn programs_talk_to_the_kernel_behind_a_tap_device() {
    if !may_run("programs_talk_to_the_kernel_behind_a_tap_device") {
        return;
    }
    let namespaces = Namespaces::new("p", &["a", "m"]);
    namespaces.cable(("a", "a0", [2, 0, 0, 0, 0, 0xa]), ("m", "in0", [2, 0, 0, 0, 0, 0x10]));
    namespaces.ip("a", "address add 10.0.1.2/24 dev a0");
    namespaces.ip("a", "route add default via 10.0.1.1");
    let config = ADDRESSES_OF_OURS
        .replace("workers = 2", "")
        .replace("name = \"in0\"", "name = \"in0\"\ndriver = \"af-xdp\"")
        .replace("name = \"out0\"", "name = \"tap0\"\ndriver = \"tap\"");
    let said = namespaces.forwarding("m", &config, || {
        namespaces.ip("m", "address add 10.0.2.2/24 dev tap0");
        namespaces.ip("m", "route add default via 10.0.2.1");
        talk_to("m", &namespaces);
        namespaces.ip("m", "link delete tap0");
        // It is noticed within a tenth of a second, and made again after one more.
        thread::sleep(Duration::from_millis(2500));
        namespaces.ip("m", "link show tap0");
    });
    check_talk(&namespaces, &said, &[FINISHED]);
    assert_eq!(shown(&said, "tap-input-tap0: interface went down or away", "packets"), 1, "{said}");
}

#[test]
fn an_interface_that_vanishes_under_load_stops_nothing_and_may_come_back() {
    if may_run("an_interface_that_vanishes_under_load_stops_nothing_and_may_come_back") {
        // Each of the two workers notices.
        vanishes("v", ADDRESSES_OF_OURS, "af-packet-input-out0", 2);
    }
}

#[test]
fn an_interface_that_vanishes_under_af_xdp_stops_nothing_and_may_come_back() {
    if may_run("an_interface_that_vanishes_under_af_xdp_stops_nothing_and_may_come_back") {
        let config = ADDRESSES_OF_OURS.replace("name =", "driver = \"af-xdp\"\nname =").replace("workers = 2", "");
        vanishes("w", &config, "af-xdp-input-out0-0", 1);
    }
}

/// The far interface is removed under load and made again; then programs talk as before. The input
/// notices so often.
fn vanishes(test: &str, config: &str, input: &str, noticed: u64) {
    let namespaces = network(test, false);
    for interface in ["in0", "out0"] {
        namespaces.ip("m", &format!("address flush dev {interface}"));
    }
    let said = namespaces.forwarding("m", config, || {
        let mut flood = namespaces.start("a", "flood");
        namespaces.wait_for("flooding");
        // An unanswered question for a neighbour is asked again after a second.
        thread::sleep(Duration::from_millis(1500));
        namespaces.ip("m", "link delete out0");
        thread::sleep(Duration::from_millis(1500));
        let at = |last| [2, 0, 0, 0, 0, last];
        namespaces.cable(("b", "b0", at(0xb)), ("m", "out0", at(0x20)));
        namespaces.ip("b", "address add 10.0.2.2/24 dev b0");
        namespaces.ip("b", "route add default via 10.0.2.1");
        // It is looked for every second.
        thread::sleep(Duration::from_millis(2500));
        fs::write(namespaces.folder.join("enough"), "").unwrap();
        assert!(flood.succeeds());
        // Until what still waits has had its errors: there is a limit to them.
        thread::sleep(Duration::from_millis(700));
        namespaces.run("a", "probe");
    });
    let answers = fs::read_to_string(namespaces.folder.join("answers")).unwrap();
    assert_eq!(answers, expected_answers(), "{said}");
    assert_eq!(shown(&said, &format!("{input}: interface went down or away"), "packets"), noticed, "{said}");
    let mirrored = "arp-input: arp: a neighbour has one of our addresses";
    assert_eq!(shown(&said, mirrored, "packets"), 0, "what goes out came in again:\n{said}");
    assert!(shown(&said, "out0", "tx-error") > 100, "{said}");
    let full = "ip4-resolve: queue of the neighbour is full, oldest dropped";
    assert!(shown(&said, full, "packets") > 100, "{said}");
}

//! Ordinary programs talk through the forwarder: TCP and UDP between two namespaces whose interfaces keep their usual offloads.
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

use support::{Namespaces, may_run, shown};

/// Bytes that are sent each way.
const BYTES: usize = 100_000_000;
const CHUNK: usize = 1 << 16;
const DATAGRAMS: u32 = 2000;

/// Content that depends on its place, so that bytes that are missing, twice or elsewhere are noticed.
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

/// What runs inside a namespace; as a test of its own it does nothing.
#[test]
fn a_role_in_a_namespace() {
    let Some((role, folder)) = support::role() else { return };
    match role.as_str() {
        "server" => server(&folder),
        "client" => client(&folder),
        "forward" => support::forward(&folder),
        other => panic!("no role {other}"),
    }
}

const CONFIG: &str = r#"
[[interface]]
name = "in0"
addresses = ["10.0.1.1"]
[[interface]]
name = "out0"
addresses = ["10.0.2.1"]
[[neighbour]]
address = "10.0.1.2"
interface = "in0"
mac = "02:00:00:00:00:0a"
[[neighbour]]
address = "10.0.2.2"
interface = "out0"
mac = "02:00:00:00:00:0b"
"#;

/// Two hosts and what lies between them, with the addresses that an administrator gives and nothing else.
fn network(test: &str, bridge: bool) -> Namespaces {
    let made = Namespaces::new(test, &["a", "m", "b", "r"]);
    let at = |last| [2, 0, 0, 0, 0, last];
    made.cable(("a", "a0", at(0xa)), ("m", "in0", at(0x10)));
    if bridge {
        made.ip("r", "link add br0 type bridge");
        made.ip("r", "link set br0 up");
        made.cable(("r", "r0", at(0x30)), ("m", "out0", at(0x20)));
        made.cable(("r", "r1", at(0x31)), ("b", "b0", at(0xb)));
        made.ip("r", "link set r0 master br0");
        made.ip("r", "link set r1 master br0");
    } else {
        made.cable(("b", "b0", at(0xb)), ("m", "out0", at(0x20)));
    }
    for (letter, interface, address) in
        [("m", "in0", "10.0.1.1"), ("m", "out0", "10.0.2.1"), ("a", "a0", "10.0.1.2"), ("b", "b0", "10.0.2.2")]
    {
        made.ip(letter, &format!("address add {address}/24 dev {interface}"));
    }
    made.ip("a", "route add default via 10.0.1.1");
    made.ip("b", "route add default via 10.0.2.1");
    made
}

fn talk(test: &str, bridge: bool) {
    let namespaces = network(test, bridge);
    let said = namespaces.forwarding("m", CONFIG, || {
        let mut server = namespaces.start("b", "server");
        namespaces.wait_for("listening");
        namespaces.run("a", "client");
        assert!(server.wait().unwrap().success());
    });
    assert_eq!(support::number(&namespaces.folder, "answered"), u64::from(DATAGRAMS), "{said}");
    let split = shown(&said, "af-packet-input-in0: large packet split", "packets");
    assert!(split > 100, "the sender left {split} packets to split, so this shows nothing:\n{said}");
}

#[test]
fn tcp_and_udp_between_interfaces_with_their_usual_offloads() {
    if may_run("tcp_and_udp_between_interfaces_with_their_usual_offloads") {
        talk("t", false);
    }
}

#[test]
fn tcp_and_udp_over_a_bridge() {
    if may_run("tcp_and_udp_over_a_bridge") {
        talk("g", true);
    }
}

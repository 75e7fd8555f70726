//! The same verdict as the kernel, for packets made of the edges of each field: what is forwarded,
//! byte by byte, and what is told to the sender.
//!
//! ```text
//!   namespace A: a0 ═══ in0 :namespace M: out0 ═══ b0 :namespace B
//!   sends, and hears errors   kernel or forwarder      hears what is forwarded
//! ```
#![cfg(target_os = "linux")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use dataplane::checksum;
use fastrand::Rng;
use forwarder::drivers::packet_socket::{Received, Receiver};
use forwarder::pcap;
use support::{Namespaces, mac, may_run};

const IN_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0x10];
const OUT_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0x20];
const A_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0xa];
const B_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0xb];

/// The number of packets.
const PACKETS: usize = 6000;
/// A mark in each packet's payload, before its number.
const MARK: [u8; 4] = *b"swdp";

/// One of the edges of a field.
fn any<T: Clone>(random: &mut Rng, edges: &[T]) -> T {
    edges[random.usize(..edges.len())].clone()
}

/// The fields, each with its edges.
#[derive(Clone)]
struct Fields {
    to: [u8; 6],
    from: [u8; 6],
    /// The kind, which stands between the addresses and the network header.
    kind: Vec<u8>,
    version: u8,
    /// In words; other than what the options take if it is given.
    header: Option<u8>,
    tos: u8,
    /// More or less than the packet has.
    length: i32,
    fragment: u16,
    ttl: u8,
    protocol: u8,
    /// The number added to the right checksum.
    checksum: u16,
    source: [u8; 4],
    destination: [u8; 4],
    options: Vec<u8>,
    payload: usize,
    padding: usize,
}

impl Fields {
    fn good() -> Self {
        Self {
            to: IN_MAC,
            from: A_MAC,
            kind: vec![8, 0],
            version: 4,
            header: None,
            tos: 0,
            length: 0,
            fragment: 0x4000,
            ttl: 64,
            protocol: 17,
            checksum: 0,
            source: [10, 0, 1, 2],
            destination: [20, 1, 2, 3],
            options: vec![],
            payload: 30,
            padding: 0,
        }
    }

    /// Sets one field to one of its edges.
    fn set(&mut self, field: usize, random: &mut Rng) {
        match field {
            0 => {
                self.to =
                    any(random, &[[0xff; 6], [1, 0, 0x5e, 1, 2, 3], [2, 0, 0, 0, 0, 0x11], IN_MAC, [0; 6], OUT_MAC])
            }
            1 => self.from = any(random, &[[3, 0, 0, 0, 0, 0xa], [0xff; 6], [0; 6], IN_MAC]),
            2 => {
                self.kind = any(
                    random,
                    &[
                        vec![0x81, 0, 0, 0, 8, 0],
                        vec![0x81, 0, 0xe0, 0, 8, 0],
                        vec![0x81, 0, 0, 1, 8, 0],
                        vec![0x81, 0, 0x0f, 0xff, 8, 0],
                        vec![0x86, 0xdd],
                        vec![0, 46],
                        vec![6, 0],
                        vec![0x81, 0, 0, 0, 0x81, 0, 0, 0, 8, 0],
                        vec![0x81, 0, 0, 0, 0x81, 0, 0, 0, 0x81, 0, 0xe0, 0, 8, 0],
                        vec![0x81, 0, 0, 0, 0x81, 0, 0, 1, 8, 0],
                        vec![0x81, 0, 0, 0, 0x88, 0xa8, 0, 0, 8, 0],
                        vec![0x88, 0xa8, 0, 0, 8, 0],
                        vec![0x88, 0xa8, 0, 0, 0x81, 0, 0, 0, 8, 0],
                        vec![0x88, 0xa8, 0, 1, 8, 0],
                        vec![0x88, 0xa8, 0, 0, 0x86, 0xdd],
                    ],
                )
            }
            3 => self.version = any(random, &[0, 3, 5, 6, 15]),
            4 => self.header = Some(any(random, &[0, 1, 4, 5, 6, 15])),
            5 => self.tos = any(random, &[1, 3, 0x1c, 0xe0, 0xff]),
            6 => self.length = any(random, &[-1, 1, -8, -30, -38, -39, -50, -58, 100, 30_000]),
            7 => {
                self.fragment = any(random, &[0, 0x8000, 0x2000, 0x6000, 1, 2, 0x1fff, 0x3fff, 0x2001, 0xffff, 0x4001])
            }
            8 => self.ttl = any(random, &[0, 1, 2, 127, 128, 255]),
            9 => self.protocol = any(random, &[0, 1, 2, 4, 6, 41, 132, 255]),
            10 => self.checksum = any(random, &[1, 0x100, 0xff, 0xffff, 0x8000]),
            11 => {
                self.source = any(
                    random,
                    &[
                        [0, 0, 0, 0],
                        [0, 1, 2, 3],
                        [127, 0, 0, 1],
                        [127, 255, 255, 255],
                        [128, 0, 0, 1],
                        [126, 1, 1, 1],
                        [1, 2, 3, 4],
                        [10, 0, 1, 1],
                        [10, 0, 2, 1],
                        [10, 0, 1, 255],
                        [10, 0, 2, 2],
                        [20, 1, 2, 3],
                        [169, 254, 1, 1],
                        [223, 255, 255, 255],
                        [224, 0, 0, 1],
                        [239, 1, 1, 1],
                        [240, 0, 0, 1],
                        [255, 255, 255, 254],
                        [255, 255, 255, 255],
                    ],
                )
            }
            12 => {
                self.destination = any(
                    random,
                    &[
                        [0, 0, 0, 0],
                        [0, 0, 0, 1],
                        [0, 1, 2, 3],
                        [0, 255, 255, 255],
                        [127, 0, 0, 1],
                        [127, 1, 2, 3],
                        [128, 0, 0, 1],
                        [10, 0, 1, 2],
                        [10, 0, 2, 2],
                        [10, 0, 1, 255],
                        [10, 0, 2, 255],
                        [20, 0, 0, 0],
                        [20, 9, 1, 1],
                        [20, 255, 255, 255],
                        [223, 255, 255, 255],
                        [224, 0, 0, 1],
                        [224, 0, 1, 1],
                        [239, 255, 255, 255],
                        [240, 0, 0, 1],
                        [255, 255, 255, 254],
                        [255, 255, 255, 255],
                    ],
                )
            }
            13 => {
                self.options = any(
                    random,
                    &[
                        vec![1, 1, 1, 1],
                        vec![0, 7, 7, 7],
                        vec![1, 0, 1, 1],
                        vec![148, 4, 0, 0],
                        vec![148, 3, 0, 0],
                        vec![7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                        vec![7, 7, 8, 0, 0, 0, 0, 0],
                        vec![7, 7, 5, 0, 0, 0, 0, 0],
                        vec![7, 7, 6, 0, 0, 0, 0, 0],
                        vec![7, 7, 3, 0, 0, 0, 0, 0],
                        vec![7, 2, 4, 0],
                        vec![7, 3, 4, 7, 3, 4, 0, 0],
                        vec![7, 41, 4, 0],
                        vec![7, 0, 4, 0],
                        vec![1, 1, 1, 7],
                        vec![131, 7, 4, 20, 1, 2, 3, 0],
                        vec![131, 7, 8, 20, 1, 2, 3, 0],
                        vec![137, 7, 4, 20, 1, 2, 3, 0],
                        vec![131, 2, 4, 0],
                        vec![68, 8, 9, 0x20, 1, 2, 3, 4],
                        vec![68, 8, 9, 0xf0, 1, 2, 3, 4],
                        vec![68, 8, 4, 0, 0, 0, 0, 0],
                        vec![68, 12, 5, 3, 20, 1, 2, 3, 0, 0, 0, 0],
                        vec![68, 8, 5, 3, 20, 1, 2, 3],
                        vec![68, 8, 5, 0, 0, 0, 0, 0],
                        vec![68, 8, 5, 1, 0, 0, 0, 0],
                        vec![68, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0],
                        vec![68, 3, 5, 0],
                        vec![130, 4, 1, 1],
                        vec![136, 4, 1, 1],
                        vec![200, 4, 1, 1],
                        vec![94, 3, 1, 1],
                        // CIPSO: good, of a domain of 0, too short, with a tag of no or too much
                        // length.
                        vec![134, 12, 0, 0, 0, 5, 1, 6, 0, 1, 0x80, 0],
                        vec![134, 12, 0, 0, 0, 0, 1, 6, 0, 1, 0x80, 0],
                        vec![134, 8, 0, 0, 0, 5, 1, 2],
                        vec![134, 6, 0, 0, 0, 5, 0, 0],
                        vec![134, 12, 0, 0, 0, 5, 1, 0, 0, 1, 0x80, 0],
                        vec![134, 12, 0, 0, 0, 5, 1, 9, 0, 1, 0x80, 0],
                    ],
                )
            }
            14 => self.payload = any(random, &[0, 1, 7, 8, 952, 953, 972, 973, 1000, 1471, 1472]),
            _ => self.padding = any(random, &[1, 6, 18, 100]),
        }
    }

    fn packet(&self, number: usize) -> Vec<u8> {
        let mut header = vec![0; 20];
        header.extend(&self.options);
        let words = self.header.unwrap_or((header.len() / 4) as u8);
        let mut payload = [&[0x10, 0, 0x20, 0, 0, 0, 0, 0][..], &MARK, &(number as u32).to_be_bytes()].concat();
        payload.resize(8 + self.payload, 0x5a);
        let length = (header.len() + payload.len()) as i32 + self.length;
        header[0] = self.version << 4 | words;
        header[1] = self.tos;
        header[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        header[4..6].copy_from_slice(&(number as u16).to_be_bytes());
        header[6..8].copy_from_slice(&self.fragment.to_be_bytes());
        (header[8], header[9]) = (self.ttl, self.protocol);
        header[12..16].copy_from_slice(&self.source);
        header[16..20].copy_from_slice(&self.destination);
        let mut packet = [&self.to[..], &self.from, &self.kind].concat();
        let l3 = packet.len();
        packet.extend(header);
        packet.extend(payload);
        packet.resize(packet.len() + self.padding, 0xee);
        // Over as many bytes as the header says it has.
        let end = packet.len().min(l3 + words as usize * 4).max(l3 + 20);
        let sum = u16::from_be_bytes((!checksum::sum(&packet[l3..end])).to_le_bytes()).wrapping_add(self.checksum);
        packet[l3 + 10..l3 + 12].copy_from_slice(&sum.to_be_bytes());
        packet
    }
}

const FIELDS: usize = 16;

/// Each field by itself first, many times; then two and three at once.
fn packets() -> Vec<Vec<u8>> {
    let mut random = Rng::with_seed(0x1234_5678_9abc_def1);
    let packets = (0..PACKETS).map(|number| {
        let mut fields = Fields::good();
        for turn in 0..=number * 3 / PACKETS {
            let field = if turn == 0 { number % FIELDS } else { random.usize(..FIELDS) };
            fields.set(field, &mut random);
        }
        fields.packet(number)
    });
    packets.collect()
}

/// The fate of each packet: the frames that B heard of it and the errors that A heard, by the
/// packet's number.
type Verdicts = BTreeMap<u32, Vec<String>>;

/// The number of the packet whose payload a frame or its quote has.
fn number_of(frame: &[u8]) -> Option<u32> {
    let at = frame.windows(4).position(|window| window == MARK)?;
    Some(u32::from_be_bytes(frame.get(at + 4..at + 8)?.try_into().ok()?))
}

fn hear(folder: &Path, interface: &str) {
    let mut receiver = Receiver::new(interface).unwrap();
    fs::write(folder.join(format!("ready-{interface}")), "").unwrap();
    let mut file = pcap::Writer::new(Vec::new()).unwrap();
    let mut last = Instant::now();
    while last.elapsed() < Duration::from_millis(700) || !support::is_there(folder, "sent-all") {
        match receiver.next_packet() {
            Some(Received { bytes, .. }) => {
                if bytes.len() >= 34 && bytes[12..14] == [8, 0] {
                    file.packet(bytes).unwrap();
                    last = Instant::now();
                }
            }
            None => receiver.wait(20).unwrap(),
        }
    }
    assert_eq!(receiver.kernel_drops().unwrap(), 0, "the capture itself lost packets");
    fs::write(folder.join(format!("heard-{interface}")), file.finish().unwrap()).unwrap();
}

/// The role of a process inside a namespace; as a test of its own it does nothing.
#[test]
fn a_role_in_a_namespace() {
    let Some((role, folder)) = support::role() else { return };
    match role.as_str() {
        "send" => support::send(&folder),
        "hear-a0" => hear(&folder, "a0"),
        "hear-b0" => hear(&folder, "b0"),
        "forward" => support::forward(&folder),
        other => panic!("no role {other}"),
    }
}

/// The packet that a frame is, or that it is an error about, and what is the same for every router:
/// an error's identification and options are its own.
fn heard_of(frame: &[u8], side: &str) -> (Option<u32>, String) {
    let icmp = 14 + (frame[14] & 15) as usize * 4;
    let from_the_router = matches!(frame[26..30], [10, 0, 1 | 2, 1]);
    if frame[23] == 1 && from_the_router && frame.len() >= icmp + 28 {
        let (head, quote) = (&frame[icmp..icmp + 8], &frame[icmp + 8..]);
        let number = u32::from(u16::from_be_bytes([quote[4], quote[5]]));
        let from = &frame[26..30];
        let what = format!("error on {side} {head:?} from {from:?} tos {} ttl {}", frame[15], frame[22]);
        // The sum is over what may differ.
        let what = what.replacen(&format!(", {}, {}, ", head[2], head[3]), ", ", 1);
        // The kernel's errors bring the packet's options along, and have less room for the quote.
        let quoted = if quote[0] & 15 > 5 { "some".to_owned() } else { quote.len().to_string() };
        return (Some(number), format!("{what} quotes {quoted}"));
    }
    // A later fragment has no mark; its identification is the number.
    let number = number_of(frame).unwrap_or_else(|| u32::from(u16::from_be_bytes([frame[18], frame[19]])));
    let mut shown = frame[..frame.len().min(90)].to_vec();
    // The time of day.
    if frame[14] & 15 > 6 && frame[34] == 68 && matches!(frame[37] & 15, 0 | 1) {
        shown[24..26].fill(0);
        let length = 34 + frame[35] as usize;
        let at = if frame[37] & 15 == 1 { 42 } else { 38 };
        shown[at.min(length)..(at + 4).min(length)].fill(0);
    }
    (Some(number), format!("{side} {shown:02x?}"))
}

fn verdicts(namespaces: &Namespaces, packets: &[Vec<u8>]) -> Verdicts {
    let mut file = pcap::Writer::new(Vec::new()).unwrap();
    for packet in packets {
        file.packet(packet).unwrap();
    }
    fs::write(namespaces.folder.join("send.pcap"), file.finish().unwrap()).unwrap();
    for file in ["ready-a0", "ready-b0", "sent-all"] {
        let _ = fs::remove_file(namespaces.folder.join(file));
    }
    let mut hearing = [namespaces.start("a", "hear-a0"), namespaces.start("b", "hear-b0")];
    namespaces.wait_for("ready-a0");
    namespaces.wait_for("ready-b0");
    namespaces.run("a", "send");
    fs::write(namespaces.folder.join("sent-all"), "").unwrap();
    for child in &mut hearing {
        assert!(child.succeeds());
    }
    let heard =
        |interface: &str| pcap::read(&fs::read(namespaces.folder.join(format!("heard-{interface}"))).unwrap()).unwrap();
    let mut verdicts = Verdicts::new();
    for (interface, side) in [("b0", "forwarded"), ("a0", "back")] {
        for frame in heard(interface) {
            let (number, what) = heard_of(&frame, side);
            if let Some(number) = number {
                verdicts.entry(number).or_default().push(what);
            }
        }
    }
    for all in verdicts.values_mut() {
        all.sort();
    }
    verdicts
}

/// Networks behind B.
const ROUTES: [&str; 5] = ["0.0.0.0/8", "20.0.0.0/8", "128.0.0.0/8", "223.0.0.0/8", "240.0.0.0/4"];

fn namespaces() -> Namespaces {
    let made = Namespaces::new("e", &["a", "m", "b"]);
    made.cable(("a", "a0", A_MAC), ("m", "in0", IN_MAC));
    made.cable(("b", "b0", B_MAC), ("m", "out0", OUT_MAC));
    made.ip("a", "link set a0 mtu 1700");
    made.ip("m", "link set in0 mtu 1700");
    made.ip("m", "link set out0 mtu 1000");
    made.ip("m", "address add 10.0.1.1/24 dev in0 broadcast +");
    made.ip("m", "address add 10.0.2.1/24 dev out0 broadcast +");
    made.ip("m", &format!("neighbour add 10.0.1.2 lladdr {} dev in0", mac(A_MAC)));
    made.ip("m", &format!("neighbour add 10.0.2.2 lladdr {} dev out0", mac(B_MAC)));
    for network in ROUTES {
        made.ip("m", &format!("route add {network} via 10.0.2.2"));
    }
    made.ip("m", "route add blackhole 20.9.0.0/16");
    for (key, value) in [
        ("net.ipv4.icmp_ratelimit", "0"),
        ("net.ipv4.icmp_msgs_per_sec", "1000000"),
        ("net.ipv4.icmp_msgs_burst", "1000000"),
        // What we do not do, and say so.
        ("net.ipv4.conf.all.send_redirects", "0"),
        ("net.ipv4.conf.in0.send_redirects", "0"),
        ("net.ipv4.conf.out0.send_redirects", "0"),
    ] {
        made.sysctl("m", key, value);
    }
    made
}

fn config() -> String {
    let routes: String =
        ROUTES.map(|network| format!("[[route]]\nprefix = \"{network}\"\nvia = \"10.0.2.2\"\n")).concat();
    format!(
        "icmp_errors_per_second = 1000000\n[[interface]]\nname = \"in0\"\n[[interface]]\nname = \"out0\"\n\
         [[neighbour]]\naddress = \"10.0.1.2\"\ninterface = \"in0\"\nmac = \"{}\"\n\
         [[neighbour]]\naddress = \"10.0.2.2\"\ninterface = \"out0\"\nmac = \"{}\"\n\
         {routes}[[route]]\nprefix = \"20.9.0.0/16\"\n",
        mac(A_MAC),
        mac(B_MAC)
    )
}

/// Differences that docs/forwarder.md lists: the kernel sends errors to the broadcast address of a
/// network, which RFC 1122 forbids.
fn is_listed(packet: &[u8]) -> bool {
    packet.windows(4).any(|window| window == [10, 0, 1, 255])
}

#[test]
fn each_packet_has_the_verdict_that_the_kernel_gives_it() {
    if !may_run("each_packet_has_the_verdict_that_the_kernel_gives_it") {
        return;
    }
    let namespaces = namespaces();
    let packets = packets();
    namespaces.sysctl("m", "net.ipv4.ip_forward", "1");
    let kernel = verdicts(&namespaces, &packets);
    namespaces.sysctl("m", "net.ipv4.ip_forward", "0");
    let mut ours = Verdicts::new();
    let said = namespaces.forwarding("m", &config(), || ours = verdicts(&namespaces, &packets));

    let forwarded = kernel.values().flatten().filter(|what| what.starts_with("forwarded")).count();
    let errors = kernel.values().flatten().filter(|what| what.starts_with("error")).count();
    println!("{PACKETS} packets: the kernel forwards {forwarded} frames and tells {errors} errors");
    assert!(forwarded > PACKETS / 5 && errors > PACKETS / 50, "the packets show too little");
    let different: Vec<u32> = (0..PACKETS as u32)
        .filter(|number| kernel.get(number) != ours.get(number) && !is_listed(&packets[*number as usize]))
        .collect();
    for number in different.iter().take(30) {
        let packet = &packets[*number as usize];
        println!("packet {number}: {:02x?}", &packet[..packet.len().min(70)]);
        println!("  kernel: {:?}\n  ours:   {:?}", kernel.get(number), ours.get(number));
    }
    assert!(different.is_empty(), "{} packets have another verdict:\n{said}", different.len());
}

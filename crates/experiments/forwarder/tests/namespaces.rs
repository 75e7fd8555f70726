//! The forwarder against the kernel's own forwarding, between network namespaces: the same packets
//! in, the same out.
//!
//! ```text
//!   namespace A: a0 ═══ in0 :namespace M: out0 ═══ b0 :namespace B
//!   sends captures' bytes   kernel or forwarder      captures
//! ```
//! Needs root and `ip`. The test starts itself again inside the namespaces, in a role given by the
//! environment.
#![cfg(target_os = "linux")]

mod support;

use std::fs;
use std::time::{Duration, Instant};

use dataplane::checksum;
use forwarder::drivers::packet_socket::{Received, Receiver, Sender};
use forwarder::pcap;
use support::{Namespaces, mac, may_run, number, shown};

const IN_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0x10];
const OUT_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0x20];
const A_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0xa];
const B_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0xb];

/// The three namespaces, with the kernel's routes in the middle.
fn namespaces(test: &str) -> Namespaces {
    let made = Namespaces::new(test, &["a", "m", "b"]);
    made.cable(("a", "a0", A_MAC), ("m", "in0", IN_MAC));
    made.cable(("b", "b0", B_MAC), ("m", "out0", OUT_MAC));
    made.ip("m", "address add 10.0.1.1/24 dev in0");
    made.ip("m", "address add 10.0.2.1/24 dev out0");
    made.ip("m", &format!("neighbour add 10.0.2.2 lladdr {} dev out0", mac(B_MAC)));
    made.ip("m", "route add 20.0.0.0/8 via 10.0.2.2");
    made.ip("m", "route add blackhole 20.9.0.0/16");
    made
}

/// The same for the forwarder.
fn config() -> String {
    format!(
        "[[interface]]\nname = \"in0\"\naddresses = [\"10.0.1.1\"]\n[[interface]]\nname = \"out0\"\naddresses = [\"10.0.2.1\"]\n\
         [[neighbour]]\naddress = \"10.0.2.2\"\ninterface = \"out0\"\nmac = \"{}\"\n\
         [[route]]\nprefix = \"20.0.0.0/8\"\nvia = \"10.0.2.2\"\n[[route]]\nprefix = \"20.9.0.0/16\"\n",
        mac(B_MAC)
    )
}

/// The packets of A that B captures.
fn captured(namespaces: &Namespaces, packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut file = pcap::Writer::new(Vec::new()).unwrap();
    for packet in packets {
        file.packet(packet).unwrap();
    }
    fs::write(namespaces.folder.join("send.pcap"), file.finish().unwrap()).unwrap();
    for file in ["ready", "sent-all"] {
        let _ = fs::remove_file(namespaces.folder.join(file));
    }
    let mut capture = namespaces.start("b", "capture");
    namespaces.wait_for("ready");
    namespaces.run("a", "send");
    fs::write(namespaces.folder.join("sent-all"), "").unwrap();
    assert!(capture.succeeds());
    pcap::read(&fs::read(namespaces.folder.join("captured.pcap")).unwrap()).unwrap()
}

/// The role of a process inside a namespace; as a test of its own it does nothing.
#[test]
fn a_role_in_a_namespace() {
    let Some((role, folder)) = support::role() else { return };
    match role.as_str() {
        "send" => support::send(&folder),
        "capture" => {
            let mut receiver = Receiver::new("b0").unwrap();
            fs::write(folder.join("ready"), "").unwrap();
            let mut file = pcap::Writer::new(Vec::new()).unwrap();
            let mut last = Instant::now();
            let mut all_are_sent = false;
            // Until all was sent and nothing came for a while. The while starts when all was sent:
            // on a busy machine the forwarder has its turn late.
            loop {
                match receiver.next_packet() {
                    Some(Received { bytes: packet, .. }) => {
                        // The kernels' own chatter is not ours.
                        if packet.get(12..14) == Some(&[8, 0]) && packet.get(30) == Some(&20) {
                            file.packet(packet).unwrap();
                            last = Instant::now();
                        }
                    }
                    None if !all_are_sent => {
                        (all_are_sent, last) = (support::is_there(&folder, "sent-all"), Instant::now());
                        receiver.wait(20).unwrap();
                    }
                    None if last.elapsed() > Duration::from_millis(1500) => break,
                    None => receiver.wait(20).unwrap(),
                }
            }
            assert_eq!(receiver.kernel_drops().unwrap(), 0, "the capture itself lost packets");
            fs::write(folder.join("captured.pcap"), file.finish().unwrap()).unwrap();
        }
        "flood" => {
            let batch: Vec<Vec<u8>> = (0..64).map(|n| packet(64, [20, 1, 2, n as u8], 18, n)).collect();
            let length = Duration::from_secs(number(&folder, "flood-seconds"));
            let mut sender = Sender::new("a0").unwrap();
            let (start, mut sent) = (Instant::now(), 0);
            while start.elapsed() < length {
                sent += sender.send(batch.iter().map(|packet| &packet[..]));
            }
            fs::write(folder.join("sent"), sent.to_string()).unwrap();
        }
        "sink" => {
            let mut receiver = Receiver::new("b0").unwrap();
            fs::write(folder.join("ready"), "").unwrap();
            let (mut last, mut received) = (Instant::now(), 0_u64);
            loop {
                match receiver.next_packet() {
                    Some(Received { bytes: packet, .. }) if packet.get(30) == Some(&20) => {
                        received += 1;
                        last = Instant::now();
                    }
                    Some(_) => {}
                    // Only an empty ring ends it: on a busy machine a second may pass while packets
                    // wait here.
                    None if last.elapsed() > Duration::from_secs(1) && support::is_there(&folder, "sent") => break,
                    None => receiver.wait(20).unwrap(),
                }
            }
            fs::write(folder.join("received"), received.to_string()).unwrap();
            fs::write(folder.join("sink-drops"), receiver.kernel_drops().unwrap().to_string()).unwrap();
        }
        "forward" => support::forward(&folder),
        other => panic!("no role {other}"),
    }
}

/// Packets that queues of the kernel dropped before any socket saw them, on all processors.
fn backlog_drops() -> u64 {
    let text = fs::read_to_string("/proc/net/softnet_stat").unwrap();
    text.lines().map(|line| u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap()).sum()
}

fn packet(ttl: u8, destination: [u8; 4], payload: usize, number: u16) -> Vec<u8> {
    let mut packet = Vec::new();
    packet.extend(IN_MAC);
    packet.extend(A_MAC);
    packet.extend([0x08, 0x00]);
    let mut header = [0x45, 0, 0, 0, 0, 0, 0x40, 0, ttl, 17, 0, 0, 10, 0, 1, 2, 0, 0, 0, 0];
    header[2..4].copy_from_slice(&((28 + payload) as u16).to_be_bytes());
    header[4..6].copy_from_slice(&number.to_be_bytes());
    header[16..20].copy_from_slice(&destination);
    checksum::write_header(&mut header);
    packet.extend(header);
    packet.extend([0x10, 0, 0x20, 0]);
    packet.extend(((8 + payload) as u16).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend((0..payload).map(|n| n as u8));
    packet
}

/// Good packets of every TTL and many sizes, among packets that neither may forward.
fn traffic() -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for number in 0..3000_u16 {
        let payload = [18, 18, 100, 471, 1472][number as usize % 5];
        let mut p = packet(number as u8, [20, (number % 9) as u8, (number >> 8) as u8, number as u8], payload, number);
        let mut resum = true;
        match number % 23 {
            3 => p[15] = number as u8 & 0xfc,
            5 => (p[24], resum) = (p[24] ^ 1, false),
            7 => p[14] = 0x65,
            9 => p[16] = 0x7f,
            11 => p.truncate(30),
            // A later fragment, and padding behind a short packet.
            13 => p[20..22].copy_from_slice(&[0, 40]),
            15 if payload < 1000 => p.resize(p.len() + 6, 0xee),
            17 => p[31] = 9,
            19 => p[5] = 0x77,
            21 => p[30] = 21,
            _ => {}
        }
        if resum && p.len() >= 34 {
            let mut header: [u8; 20] = p[14..34].try_into().unwrap();
            checksum::write_header(&mut header);
            p[14..34].copy_from_slice(&header);
        }
        packets.push(p);
    }
    packets
}

#[test]
fn the_forwarder_sends_what_the_kernel_sends() {
    if !may_run("the_forwarder_sends_what_the_kernel_sends") {
        return;
    }
    let namespaces = namespaces("k");
    let packets = traffic();
    namespaces.sysctl("m", "net.ipv4.ip_forward", "1");
    let kernel = captured(&namespaces, &packets);
    namespaces.sysctl("m", "net.ipv4.ip_forward", "0");

    let mut ours = Vec::new();
    let said = namespaces.forwarding("m", &config(), || ours = captured(&namespaces, &packets));

    assert!(kernel.len() > 1500, "the kernel forwarded {} packets", kernel.len());
    assert_eq!(ours.len(), kernel.len(), "{said}");
    for (number, (ours, kernel)) in ours.iter().zip(&kernel).enumerate() {
        assert_eq!(ours, kernel, "packet {number} of {}", kernel.len());
        assert_eq!(checksum::sum(&ours[14..34]), 0xffff);
    }
    assert!(said.contains("bad ip4 checksum") && said.contains("ip4 ttl <= 1"), "{said}");
}

/// A few seconds at full load; `STOPWATT_SOAK_SECONDS=600` makes it ten minutes.
#[test]
fn under_full_load_nothing_is_lost_but_in_the_kernels_queues_and_memory_does_not_grow() {
    if !may_run("under_full_load_nothing_is_lost_but_in_the_kernels_queues_and_memory_does_not_grow") {
        return;
    }
    let seconds: u64 = std::env::var("STOPWATT_SOAK_SECONDS").map_or(4, |text| text.parse().unwrap());
    let namespaces = namespaces("f");
    let folder = &namespaces.folder;
    fs::write(folder.join("flood-seconds"), seconds.to_string()).unwrap();
    let backlog = backlog_drops();
    let said = namespaces.forwarding("m", &config(), || {
        let mut sink = namespaces.start("b", "sink");
        namespaces.wait_for("ready");
        namespaces.run("a", "flood");
        assert!(sink.succeeds());
    });
    let backlog = backlog_drops() - backlog;

    let (sent, received) = (number(folder, "sent"), number(folder, "received"));
    let (ring, sink) = (shown(&said, "in0", "kernel queue full"), number(folder, "sink-drops"));
    let (rx, tx) = (shown(&said, "in0", "rx packets"), shown(&said, "out0", "tx packets"));
    let refused = shown(&said, "out0", "tx-error");
    println!(
        "{seconds} s: sent {sent}, forwarder in {rx} out {tx} refused {refused}, received {received}; dropped by the ring {ring}, the sink's ring {sink}, backlogs {backlog}"
    );
    assert!(received > 10_000, "{said}");
    assert_eq!(rx, tx + refused, "the forwarder itself lost packets:\n{said}");
    let lost = sent - received;
    if lost > ring + sink + backlog + refused {
        support::ip(&format!("-s -n {} link show", namespaces.name_of("m")));
    }
    assert!(lost <= ring + sink + backlog + refused, "{lost} lost, and the kernel reports fewer");
    let (early, late) = (number(folder, "memory-early"), number(folder, "memory-late"));
    assert!(late <= early + 4096, "memory grew from {early} kB to {late} kB");
}

//! The forwarder against the kernel's own forwarding, between network namespaces: the same packets in, the same out.
//!
//! ```text
//!   namespace A: a0 ═══ in0 :namespace M: out0 ═══ b0 :namespace B
//!   sends captures' bytes   kernel or forwarder      captures
//! ```
//! Needs root and `ip`. The test starts itself again inside the namespaces, in a role given by the environment.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use dataplane::af_packet::{Receiver, Sender};
use dataplane::checksum;
use dataplane::pcap;
use dataplane_experiments::Forward;
use experiment::{Conditions, Experiment, Folder, Memory, Request, Settings, World};
use recording::{Measure, Recording};
use std::sync::Arc;

const ROLE: &str = "STOPWATT_NETNS_ROLE";
const FOLDER: &str = "STOPWATT_NETNS_FOLDER";
const IN_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0x10];
const OUT_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0x20];
const A_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0xa];
const B_MAC: [u8; 6] = [2, 0, 0, 0, 0, 0xb];

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output();
    let output = output.unwrap_or_else(|e| panic!("cannot start `ip`: {e}; Debian: apt-get install iproute2"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`ip {arguments}` failed: {said}; network namespaces need root");
}

/// The three namespaces, removed at the end.
struct Namespaces {
    name: String,
    folder: PathBuf,
}

impl Namespaces {
    fn new(test: &str) -> Self {
        let name = format!("sw{}{test}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
        fs::create_dir_all(&folder).unwrap();
        let made = Self { name, folder };
        for role in ["a", "m", "b"] {
            ip(&format!("netns add {}", made.of(role)));
            made.sysctl(role, "net.ipv6.conf.all.disable_ipv6", "1");
            made.sysctl(role, "net.ipv6.conf.default.disable_ipv6", "1");
        }
        let (a, m, b) = (made.of("a"), made.of("m"), made.of("b"));
        ip(&format!(
            "link add a0 address {} netns {a} type veth peer name in0 address {} netns {m}",
            mac(A_MAC),
            mac(IN_MAC)
        ));
        ip(&format!(
            "link add b0 address {} netns {b} type veth peer name out0 address {} netns {m}",
            mac(B_MAC),
            mac(OUT_MAC)
        ));
        for (namespace, link) in [(&a, "a0"), (&m, "in0"), (&m, "out0"), (&b, "b0")] {
            ip(&format!("-n {namespace} link set {link} up"));
        }
        ip(&format!("-n {m} address add 10.0.1.1/24 dev in0"));
        ip(&format!("-n {m} address add 10.0.2.1/24 dev out0"));
        ip(&format!("-n {m} neighbour add 10.0.2.2 lladdr {} dev out0", mac(B_MAC)));
        ip(&format!("-n {m} route add 20.0.0.0/8 via 10.0.2.2"));
        ip(&format!("-n {m} route add blackhole 20.9.0.0/16"));
        fs::write(
            made.folder.join("forward.toml"),
            format!(
                "[[interface]]\nname = \"in0\"\naddresses = [\"10.0.1.1\"]\n[[interface]]\nname = \"out0\"\naddresses = [\"10.0.2.1\"]\n\
                 [[neighbour]]\naddress = \"10.0.2.2\"\ninterface = \"out0\"\nmac = \"{}\"\n\
                 [[route]]\nprefix = \"20.0.0.0/8\"\nvia = \"10.0.2.2\"\n[[route]]\nprefix = \"20.9.0.0/16\"\n",
                mac(B_MAC)
            ),
        )
        .unwrap();
        made
    }

    fn of(&self, role: &str) -> String {
        format!("{}{role}", self.name)
    }

    fn sysctl(&self, role: &str, key: &str, value: &str) {
        let path = format!("/proc/sys/{}", key.replace('.', "/"));
        let status = Command::new("ip")
            .args(["netns", "exec", &self.of(role), "sh", "-c", &format!("[ ! -e {path} ] || echo {value} > {path}")])
            .status();
        assert!(status.unwrap().success(), "{key}");
    }

    /// This test again, in a namespace, in a role.
    fn start(&self, namespace: &str, role: &str) -> Child {
        Command::new("ip")
            .args(["netns", "exec", &self.of(namespace)])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "a_role_in_a_namespace", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(FOLDER, &self.folder)
            .spawn()
            .unwrap()
    }

    /// What B captures of what A sends.
    fn captured(&self, packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut file = pcap::Writer::new(Vec::new()).unwrap();
        for packet in packets {
            file.packet(packet).unwrap();
        }
        fs::write(self.folder.join("send.pcap"), file.finish().unwrap()).unwrap();
        let _ = fs::remove_file(self.folder.join("ready"));
        let mut capture = self.start("b", "capture");
        let deadline = Instant::now() + Duration::from_secs(10);
        while !self.folder.join("ready").exists() {
            assert!(Instant::now() < deadline, "the capture does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(self.start("a", "send").wait().unwrap().success());
        assert!(capture.wait().unwrap().success());
        pcap::read(&fs::read(self.folder.join("captured.pcap")).unwrap()).unwrap()
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for role in ["a", "m", "b"] {
            let _ = Command::new("ip").args(["netns", "del", &self.of(role)]).status();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}

/// What runs inside a namespace; as a test of its own it does nothing.
#[test]
fn a_role_in_a_namespace() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let folder = PathBuf::from(std::env::var(FOLDER).unwrap());
    match role.as_str() {
        "send" => {
            let packets = pcap::read(&fs::read(folder.join("send.pcap")).unwrap()).unwrap();
            let mut sender = Sender::new("a0").unwrap();
            for batch in packets.chunks(64) {
                assert_eq!(sender.send(batch.iter().map(|packet| &packet[..])), batch.len());
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        "capture" => {
            let mut receiver = Receiver::new("b0").unwrap();
            fs::write(folder.join("ready"), "").unwrap();
            let mut file = pcap::Writer::new(Vec::new()).unwrap();
            let (start, mut last) = (Instant::now(), Instant::now());
            // Until nothing came for a while, and at least as long as a start may take.
            while last.elapsed() < Duration::from_millis(700) || start.elapsed() < Duration::from_secs(2) {
                match receiver.next_packet() {
                    Some((packet, _)) => {
                        // The kernels' own chatter is not ours.
                        if packet.get(12..14) == Some(&[8, 0]) && packet.get(30) == Some(&20) {
                            file.packet(packet).unwrap();
                            last = Instant::now();
                        }
                    }
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
            let (start, mut last, mut received) = (Instant::now(), Instant::now(), 0_u64);
            while last.elapsed() < Duration::from_secs(1) || start.elapsed() < Duration::from_secs(3) {
                match receiver.next_packet() {
                    Some((packet, _)) if packet.get(30) == Some(&20) => {
                        received += 1;
                        last = Instant::now();
                    }
                    Some(_) => {}
                    None => receiver.wait(20).unwrap(),
                }
            }
            fs::write(folder.join("received"), received.to_string()).unwrap();
            fs::write(folder.join("sink-drops"), receiver.kernel_drops().unwrap().to_string()).unwrap();
        }
        "forward" => {
            let seconds = number(&folder, "seconds");
            // What it takes once it runs, to compare with what it takes at its end.
            let early = folder.join("memory-early");
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(2500));
                fs::write(early, resident_kb().to_string()).unwrap();
            });
            let given =
                [("config", folder.join("forward.toml").display().to_string()), ("seconds", seconds.to_string())];
            let given = given.map(|(name, value)| (name.to_owned(), value));
            let request = Request {
                world: World::Host,
                settings: Settings::new(Forward.about(), World::Host, given).unwrap(),
                platforms: &Folder(folder.clone()),
                conditions: Conditions::default(),
                source_tree: None,
            };
            let mut sink = Memory::new(Arc::default());
            Forward.run(&request, &mut sink).unwrap();
            let recording = sink.finish();
            assert!(recording.header.complaints.is_empty(), "{:?}", recording.header.complaints);
            fs::write(folder.join("forwarded.txt"), counts(&recording)).unwrap();
            fs::write(folder.join("memory-late"), resident_kb().to_string()).unwrap();
        }
        other => panic!("no role {other}"),
    }
}

fn number(folder: &Path, name: &str) -> u64 {
    fs::read_to_string(folder.join(name)).unwrap().trim().parse().unwrap()
}

/// The counts of a recording, one per line: what of, metric, count.
fn counts(recording: &Recording) -> String {
    let line = |measure: &Measure| {
        let subject = measure.subject.map_or("", |name| recording.text(name));
        format!("{subject}\t{}\t{}\n", recording.text(measure.metric), measure.value)
    };
    recording.measures().iter().map(line).collect()
}

/// Memory of this process that is in place, in kB.
fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Packets that queues of the kernel dropped before any socket saw them, on all processors.
fn backlog_drops() -> u64 {
    let text = fs::read_to_string("/proc/net/softnet_stat").unwrap();
    text.lines().map(|line| u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap()).sum()
}

/// A counter of `show interface` for the interface whose name starts its line.
fn shown(said: &str, interface: &str, counter: &str) -> u64 {
    let start = format!("{interface}\t{counter}\t");
    said.lines().find_map(|line| line.strip_prefix(&start)).map_or(0, |count| count.parse().unwrap())
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
    let namespaces = Namespaces::new("k");
    let packets = traffic();
    namespaces.sysctl("m", "net.ipv4.ip_forward", "1");
    namespaces.sysctl("m", "net.ipv4.conf.all.rp_filter", "0");
    namespaces.sysctl("m", "net.ipv4.conf.in0.rp_filter", "0");
    let kernel = namespaces.captured(&packets);
    namespaces.sysctl("m", "net.ipv4.ip_forward", "0");

    fs::write(namespaces.folder.join("seconds"), "7").unwrap();
    let mut forwarder = namespaces.start("m", "forward");
    std::thread::sleep(Duration::from_millis(800));
    let ours = namespaces.captured(&packets);
    assert!(forwarder.wait().unwrap().success());
    let said = fs::read_to_string(namespaces.folder.join("forwarded.txt")).unwrap();

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
    let seconds: u64 = std::env::var("STOPWATT_SOAK_SECONDS").map_or(4, |text| text.parse().unwrap());
    let namespaces = Namespaces::new("f");
    let folder = &namespaces.folder;
    fs::write(folder.join("flood-seconds"), seconds.to_string()).unwrap();
    fs::write(folder.join("seconds"), (seconds + 5).to_string()).unwrap();
    let backlog = backlog_drops();
    let mut forwarder = namespaces.start("m", "forward");
    let mut sink = namespaces.start("b", "sink");
    std::thread::sleep(Duration::from_secs(2));
    assert!(namespaces.start("a", "flood").wait().unwrap().success());
    assert!(sink.wait().unwrap().success());
    assert!(forwarder.wait().unwrap().success());
    let backlog = backlog_drops() - backlog;

    let said = fs::read_to_string(folder.join("forwarded.txt")).unwrap();
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
    assert!(lost <= ring + sink + backlog + refused, "{lost} lost, and the kernel reports fewer");
    let (early, late) = (number(folder, "memory-early"), number(folder, "memory-late"));
    assert!(late <= early + 4096, "memory grew from {early} kB to {late} kB");
}

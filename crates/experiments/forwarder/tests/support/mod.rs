//! Network namespaces, links between them, and this test program again inside one of them.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dataplane::show::worker_name;
use experiment::{Conditions, Experiment, Folder, Memory, Request, Settings, World};
use forwarder::drivers::packet_socket::Sender;
use forwarder::pcap;
use forwarder_experiments::Forward;
use recording::{Measure, Recording};

const ROLE: &str = "STOPWATT_NETNS_ROLE";
const FOLDER: &str = "STOPWATT_NETNS_FOLDER";

/// True if a test that needs network namespaces can run; if not, says so under the test's name.
pub fn may_run(test: &str) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let is_root = status.lines().any(|line| line.starts_with("Uid:") && line.split_whitespace().nth(2) == Some("0"));
    if !is_root {
        eprintln!("SKIPPED {test}: network namespaces need root");
    }
    is_root
}

/// Runs `ip`.
pub fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output();
    let output = output.unwrap_or_else(|e| panic!("cannot start `ip`: {e}; Debian: apt-get install iproute2"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`ip {arguments}` failed: {said}; network namespaces need root");
    print!("{}", String::from_utf8_lossy(&output.stdout));
}

/// Namespaces with names of one letter, and a folder for what their programs tell each other;
/// removed at the end.
pub struct Namespaces {
    name: String,
    letters: &'static [&'static str],
    pub folder: PathBuf,
}

impl Namespaces {
    pub fn new(test: &str, letters: &'static [&'static str]) -> Self {
        let name = format!("sw{}{test}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&name);
        fs::create_dir_all(&folder).unwrap();
        let made = Self { name, letters, folder };
        for letter in letters {
            ip(&format!("netns add {}", made.name_of(letter)));
            for which in ["all", "default"] {
                made.sysctl(letter, &format!("net.ipv6.conf.{which}.disable_ipv6"), "1");
                made.sysctl(letter, &format!("net.ipv4.conf.{which}.rp_filter"), "0");
            }
            made.sysctl(letter, "net.ipv4.ip_forward", "0");
            ip(&format!("-n {} link set lo up", made.name_of(letter)));
        }
        made
    }

    /// The whole name of a namespace.
    pub fn name_of(&self, letter: &str) -> String {
        format!("{}{letter}", self.name)
    }

    /// Two interfaces that are each other's cable: namespace, name and Ethernet address of each.
    /// They keep the offloads that they have.
    pub fn cable(&self, one: (&str, &str, [u8; 6]), other: (&str, &str, [u8; 6])) {
        self.cable_of_queues(1, one, other);
    }

    /// The same, with `queues` queues each way at both ends.
    pub fn cable_of_queues(&self, queues: u32, one: (&str, &str, [u8; 6]), other: (&str, &str, [u8; 6])) {
        let end = |(letter, name, address): (&str, &str, [u8; 6])| {
            let queues = match queues {
                1 => String::new(),
                more => format!("numrxqueues {more} numtxqueues {more}"),
            };
            format!("{name} address {} {queues} netns {}", mac(address), self.name_of(letter))
        };
        ip(&format!("link add {} type veth peer {}", end(one), end(other)));
        for (letter, name, _) in [one, other] {
            self.ip(letter, &format!("link set {name} up"));
        }
    }

    /// Runs `ip` in a namespace.
    pub fn ip(&self, letter: &str, arguments: &str) {
        ip(&format!("-n {} {arguments}", self.name_of(letter)));
    }

    pub fn sysctl(&self, letter: &str, key: &str, value: &str) {
        let path = format!("/proc/sys/{}", key.replace('.', "/"));
        let script = format!("[ ! -e {path} ] || echo {value} > {path}");
        let status = Command::new("ip").args(["netns", "exec", &self.name_of(letter), "sh", "-c", &script]).status();
        assert!(status.unwrap().success(), "{key}");
    }

    /// This test program again, in a namespace, in a role.
    pub fn start(&self, letter: &str, role: &str) -> Started {
        let started = Command::new("ip")
            .args(["netns", "exec", &self.name_of(letter)])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "a_role_in_a_namespace", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(FOLDER, &self.folder)
            .spawn();
        Started(started.unwrap())
    }

    /// The same, to its end.
    pub fn run(&self, letter: &str, role: &str) {
        assert!(self.start(letter, role).succeeds(), "{role} in {letter}");
    }

    /// Waits until a role has written a file.
    pub fn wait_for(&self, file: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.folder.join(file).exists() {
            assert!(Instant::now() < deadline, "no `{file}` comes");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Runs the forwarder of `forward.toml` in a namespace while something is done; returns its
    /// counts, one per line.
    pub fn forwarding(&self, letter: &str, config: &str, during: impl FnOnce()) -> String {
        for file in ["stop", "forwarding"] {
            let _ = fs::remove_file(self.folder.join(file));
        }
        fs::write(self.folder.join("forward.toml"), config).unwrap();
        let mut forwarder = self.start(letter, "forward");
        self.wait_for("forwarding");
        during();
        fs::write(self.folder.join("stop"), "").unwrap();
        assert!(forwarder.succeeds(), "the forwarder failed");
        fs::read_to_string(self.folder.join("forwarded.txt")).unwrap()
    }
}

/// A program in a namespace, which ends with the test: one that fails leaves nobody who waits for a
/// peer.
pub struct Started(Child);

impl Started {
    /// Waits for its end.
    pub fn succeeds(&mut self) -> bool {
        self.0.wait().unwrap().success()
    }

    /// Its process: `ip` becomes the program that it starts.
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Where it has ended by itself, there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for letter in self.letters {
            let _ = Command::new("ip").args(["netns", "del", &self.name_of(letter)]).status();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// As `ip` wants it.
pub fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}

/// The role that this program was started in, and the folder.
pub fn role() -> Option<(String, PathBuf)> {
    Some((std::env::var(ROLE).ok()?, PathBuf::from(std::env::var(FOLDER).ok()?)))
}

/// True if a file that a role waits for is there. Where the whole folder is gone the test has
/// failed, and nobody waits any more.
pub fn is_there(folder: &Path, file: &str) -> bool {
    folder.join(file).exists() || !folder.exists()
}

/// The role `send`: sends the packets of `send.pcap` from interface a0, slowly enough for whoever
/// listens.
pub fn send(folder: &Path) {
    let packets = pcap::read(&fs::read(folder.join("send.pcap")).unwrap()).unwrap();
    let mut sender = Sender::new("a0").unwrap();
    for batch in packets.chunks(64) {
        assert_eq!(sender.send(batch.iter().map(|packet| &packet[..])), batch.len());
        // A forwarder that gets no time for a tenth of a second must not lose any for want of room
        // in its queue.
        std::thread::sleep(Duration::from_millis(4));
    }
}

/// The role `wait`: says that it is there, and stays.
pub fn wait_for_ever(folder: &Path) {
    fs::write(folder.join("waiting"), "").unwrap();
    std::thread::sleep(Duration::from_secs(600));
}

/// The role `forward`: forwards until the file `stop` is there, and leaves its counts.
pub fn forward(folder: &Path) {
    let (early, waiting, forwarding) = (folder.join("memory-early"), folder.to_owned(), folder.join("forwarding"));
    let config = fs::read_to_string(folder.join("forward.toml")).unwrap();
    let workers = if config.contains("workers = 2") { 2 } else { 1 };
    let mut sink = Memory::new(Arc::default());
    let progress = experiment::Sink::progress(&sink);
    std::thread::spawn(move || {
        let (start, mut noted) = (Instant::now(), false);
        while !is_there(&waiting, "stop") {
            std::thread::sleep(Duration::from_millis(20));
            // Workers start when everything is opened.
            if !forwarding.exists() && running_workers() >= workers {
                fs::write(&forwarding, "").unwrap();
            }
            // What it takes once it runs, to compare with what it takes at its end.
            if !noted && start.elapsed() > Duration::from_millis(2500) {
                fs::write(&early, resident_kb().to_string()).unwrap();
                noted = true;
            }
        }
        progress.cancel();
    });
    let given = [("config".to_owned(), folder.join("forward.toml").display().to_string())];
    let request = Request {
        world: World::Host,
        settings: Settings::new(Forward.about(), World::Host, given).unwrap(),
        platforms: &Folder(folder.to_owned()),
        conditions: Conditions::default(),
        source_tree: None,
        kept: None,
    };
    Forward.run(&request, &mut sink).unwrap();
    let recording = sink.finish();
    assert!(recording.header.complaints.is_empty(), "{:?}", recording.header.complaints);
    fs::write(folder.join("forwarded.txt"), counts(&recording)).unwrap();
    fs::write(folder.join("memory-late"), resident_kb().to_string()).unwrap();
}

/// The threads of this process that forward.
fn running_workers() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap().filter_map(|entry| Some(entry.ok()?.path().join("comm")));
    // A thread may end meanwhile.
    let names: Vec<String> = threads.filter_map(|path| fs::read_to_string(path).ok()).collect();
    (0..).take_while(|&number| names.iter().any(|name| name.trim() == worker_name(number))).count()
}

/// The counts of a recording, one per line: what of, metric, count.
fn counts(recording: &Recording) -> String {
    let line = |measure: &Measure| {
        let subject = measure.subject.map_or("", |name| recording.text(name));
        format!("{subject}\t{}\t{}\n", recording.text(measure.metric), measure.value)
    };
    recording.measures().iter().map(line).collect()
}

/// A count of [`Namespaces::forwarding`], of the interface or the reason whose name starts its
/// line.
pub fn shown(said: &str, subject: &str, counter: &str) -> u64 {
    let start = format!("{subject}\t{counter}\t");
    said.lines().find_map(|line| line.strip_prefix(&start)).map_or(0, |count| count.parse().unwrap())
}

/// Memory of this process that is in place, in kB.
fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A number that a role wrote into a file.
pub fn number(folder: &Path, name: &str) -> u64 {
    fs::read_to_string(folder.join(name)).unwrap().trim().parse().unwrap()
}

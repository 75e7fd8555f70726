//! Every parser of text and files against seeded rubbish: an answer or an error, never a panic.

use dataplane::fib::Prefix;
use dataplane::plane::Mac;
use dataplane::{pcap, show};
use dataplane_experiments::graphs::{GraphKind, Load, graph};
use dataplane_experiments::import;

struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize
    }

    /// A good input with some bytes changed, left out or doubled.
    fn spoil(&mut self, good: &[u8]) -> Vec<u8> {
        let mut bytes = good.to_vec();
        for _ in 0..1 + self.next() % 6 {
            if bytes.is_empty() {
                break;
            }
            let at = self.next() % bytes.len();
            match self.next() % 4 {
                0 => bytes[at] = self.next() as u8,
                1 => bytes[at] ^= 1 << (self.next() % 8),
                2 => bytes.truncate(at),
                _ => bytes.insert(at, bytes[at]),
            }
        }
        bytes
    }

    fn spoil_text(&mut self, good: &str) -> String {
        String::from_utf8_lossy(&self.spoil(good.as_bytes())).into_owned()
    }
}

const RUNTIME: &str = "Thread 1 vpp_wk_0 (lcore 1)\nTime 3.0, 10.000000 sec internal node vector rate 256.00 loops/sec 147460.13\n\
    Name State Calls Vectors Suspends Packet-Clocks Vectors/Call\nip4-lookup active 1000 256000 0 6.03e0 256.00\n\
    fib-walk \"any wait\" 0 0 2 6.03e3 0.00\n";

#[test]
fn spoilt_inputs_are_answered_or_refused() {
    let mut random = Random(0x5eed_0001);
    let mut file = pcap::Writer::new(Vec::new()).unwrap();
    for length in [60, 0, 1514] {
        file.packet(&vec![7; length]).unwrap();
    }
    let file = file.finish().unwrap();
    let mut loaded = graph(Load { buffers: 1024, routes: 3, ..Load::new(GraphKind::Ip4Route) });
    let (mut refused, mut answered) = (0, 0);
    for _ in 0..20_000 {
        let results = [
            pcap::read(&random.spoil(&file)).is_ok(),
            import::parse(&random.spoil_text(RUNTIME)).is_ok(),
            random.spoil_text("10.1.2.0/24").parse::<Prefix>().is_ok(),
            random.spoil_text("02:fe:00:00:00:01").parse::<Mac>().is_ok(),
            show::command(&mut loaded, &random.spoil_text("show trace max 3")).is_ok(),
            show::command(&mut loaded, &random.spoil_text("trace add pg-input 5")).is_ok(),
            show::command(&mut loaded, &random.spoil_text("show ip fib")).is_ok(),
        ];
        for ok in results {
            *(if ok { &mut answered } else { &mut refused }) += 1;
        }
    }
    assert!(answered > 1000 && refused > 1000, "{answered} answered, {refused} refused: too one-sided to tell");
}

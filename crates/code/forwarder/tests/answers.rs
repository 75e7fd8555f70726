//! Packets that the data plane sends by itself: ARP, echo replies, ICMP errors, fragments; and how
//! packets wait for a neighbour.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dataplane::buffers::Reuse;
use dataplane::checksum;
use dataplane::frame::Frame;
use dataplane::graph::{Graph, Input};
use dataplane::inputs::udp_packet;
use dataplane::nodes::Device;
use dataplane::own::{OwnAddress, Owner};
use dataplane::plane::{Mac, Mode, Plane, Settings};
use dataplane::wiring::Wiring;
use forwarder::control::{Control, Neighbours, Timing};
use forwarder::nodes::{ICMP_PER_SECOND, registry};
use forwarder::{show, standard};

const LEFT: Mac = Mac([2, 0, 0, 0, 0, 1]);
const RIGHT: Mac = Mac([2, 0, 0, 0, 0, 2]);
const A: Mac = Mac([2, 0, 0, 0, 0, 0xa]);
const B: Mac = Mac([2, 0, 0, 0, 0, 0xb]);
const A_ADDRESS: [u8; 4] = [10, 0, 1, 2];
const B_ADDRESS: [u8; 4] = [10, 0, 2, 2];

type Queue = Arc<Mutex<VecDeque<Vec<u8>>>>;

/// One end of a cable: what the test puts in comes in, what goes out it takes.
struct End {
    interface: u16,
    queue: Queue,
}

impl Input for End {
    fn name(&self) -> &str {
        "test-input"
    }

    fn interface(&self) -> u16 {
        self.interface
    }

    fn poll(&mut self, plane: &mut Plane, frame: &mut Frame) {
        let mut queue = self.queue.lock().unwrap();
        let mut bytes = 0;
        while frame.len < plane.settings.frame_size
            && let Some(packet) = queue.pop_front()
        {
            let row = frame.len;
            assert_eq!(plane.pool.allocate(&mut frame.buffer[row..=row]), 1);
            let data = plane.pool.data_mut(frame.buffer[row]);
            data[..packet.len()].copy_from_slice(&packet);
            frame.length[row] = packet.len() as u16;
            frame.len += 1;
            bytes += packet.len() as u64;
        }
        plane.interfaces[self.interface as usize].rx.add(frame.len as u64, bytes);
    }
}

impl Device for End {
    fn send(&mut self, plane: &mut Plane, frame: &Frame) -> usize {
        let mut queue = self.queue.lock().unwrap();
        for row in 0..frame.len {
            queue.push_back(plane.pool.data(frame.buffer[row])[..frame.length[row] as usize].to_vec());
        }
        frame.len
    }
}

/// A router with an address and a network on each side, and a route behind B.
struct Router {
    graph: Graph,
    control: Arc<Control>,
    to: [Queue; 2],
    from: [Queue; 2],
}

impl Router {
    fn new(change: impl FnOnce(&mut Plane, &mut Neighbours)) -> Self {
        Self::with_errors(ICMP_PER_SECOND, change)
    }

    /// The same with a rate of ICMP errors.
    fn with_errors(per_second: u32, change: impl FnOnce(&mut Plane, &mut Neighbours)) -> Self {
        let control = Arc::<Control>::default();
        let mut plane = Plane::new(2048, Reuse::Hot, Settings::default());
        for (name, mac) in [("left", LEFT), ("right", RIGHT)] {
            plane.add_interface(name, mac, Mode::Route);
        }
        control.lock().timing =
            Timing { interval: Duration::from_secs(5), queue: 4, queue_all: 6, ..Timing::default() };
        change(&mut plane, &mut control.lock());
        for (interface, third) in [(0, 1), (1, 2)] {
            let address = Ipv4Addr::new(10, 0, third, 1);
            plane.add_address(OwnAddress { address, length: 24, interface, owner: Owner::Us }).unwrap();
        }
        let (side, now) = (plane.side(1), plane.now);
        let via = control.lock().named(&plane.tables, side, B_ADDRESS.into(), now).unwrap();
        plane.add_route("20.0.0.0/8".parse().unwrap(), via).unwrap();
        let (to, from): ([Queue; 2], [Queue; 2]) = Default::default();
        let devices: Vec<Box<dyn Device>> =
            from.iter().map(|queue| Box::new(End { interface: 0, queue: queue.clone() }) as Box<dyn Device>).collect();
        let registry = registry(&control, per_second);
        let (mut graph, first) = Wiring::parse(standard::TEXT, &registry).unwrap().build(plane, devices, &registry);
        for (interface, queue) in to.iter().enumerate() {
            graph.add_input(End { interface: interface as u16, queue: queue.clone() }, first);
        }
        Self { graph, control, to, from }
    }

    /// Both hosts are known.
    fn acquainted(change: impl FnOnce(&mut Plane, &mut Neighbours)) -> Self {
        Self::new(change).with_hosts()
    }

    fn with_hosts(mut self) -> Self {
        for (side, mac, address) in [(0, A, A_ADDRESS), (1, B, B_ADDRESS)] {
            let answer = self.put(side, arp(1, mac, address, [10, 0, side as u8 + 1, 1]));
            assert_eq!(answer[side].len(), 1, "the answer to ARP");
        }
        self
    }

    /// Puts a packet in and returns what goes out of either side for it.
    fn put(&mut self, side: usize, packet: Vec<u8>) -> [Vec<Vec<u8>>; 2] {
        self.to[side].lock().unwrap().push_back(packet);
        self.graph.run_once();
        self.taken()
    }

    /// Lets some time pass and returns what goes out.
    fn wait(&mut self, milliseconds: u64) -> [Vec<Vec<u8>>; 2] {
        let until = self.graph.plane.tables.now() + Duration::from_millis(milliseconds);
        while self.graph.plane.tables.now() < until {
            self.graph.run_once();
            std::thread::sleep(Duration::from_millis(1));
        }
        self.taken()
    }

    fn taken(&mut self) -> [Vec<Vec<u8>>; 2] {
        assert!(self.graph.balance().holds(), "{:?}", self.graph.balance());
        let (held, available) = (self.graph.plane.held as usize, self.graph.plane.pool.available());
        assert_eq!(held + available, self.graph.plane.pool.capacity(), "buffers leaked");
        [0, 1].map(|side: usize| self.from[side].lock().unwrap().drain(..).collect())
    }

    fn count(&self, node: &str, reason: &str) -> u64 {
        let rows = self.graph.errors();
        let row = rows.iter().find(|row| row.node == node && row.reason.text == reason);
        row.unwrap_or_else(|| panic!("no reason `{reason}` of {node}")).count
    }
}

fn arp(operation: u8, sender: Mac, sender_address: [u8; 4], target: [u8; 4]) -> Vec<u8> {
    let mut packet = [&[0xff; 6][..], &sender.0, &[8, 6, 0, 1, 8, 0, 6, 4, 0, operation], &sender.0].concat();
    packet.extend(sender_address);
    packet.extend([0; 6]);
    packet.extend(target);
    packet.resize(60, 0);
    packet
}

/// A UDP packet of A to an address, with a payload of `bytes` and the option not to fragment or to.
fn packet(to: [u8; 4], ttl: u8, bytes: usize, may_fragment: bool) -> Vec<u8> {
    let mut packet = udp_packet(LEFT, A, A_ADDRESS.into(), to.into(), ttl)[..42].to_vec();
    packet.extend((0..bytes).map(|n| n as u8));
    let length = (packet.len() - 14) as u16;
    packet[16..18].copy_from_slice(&length.to_be_bytes());
    packet[20] = if may_fragment { 0 } else { 0x40 };
    resum(&mut packet);
    packet
}

fn resum(packet: &mut [u8]) {
    let mut header: [u8; 20] = packet[14..34].try_into().unwrap();
    checksum::write_header(&mut header);
    packet[14..34].copy_from_slice(&header);
}

/// Type and code of an ICMP error from the router's left address to A about a packet, whose start
/// it quotes.
fn error_about(error: &[u8], about: &[u8]) -> (u8, u8) {
    assert_eq!((&error[..6], &error[6..12], &error[12..14]), (&A.0[..], &LEFT.0[..], &[8, 0][..]));
    assert_eq!(checksum::sum(&error[14..34]), 0xffff);
    assert_eq!(checksum::sum(&error[34..]), 0xffff);
    assert_eq!((error[22], error[23], &error[30..34]), (64, 1, &A_ADDRESS[..]));
    assert_eq!(u16::from_be_bytes([error[16], error[17]]) as usize, error.len() - 14);
    let quoted = &error[42..];
    assert!(quoted.len() == (about.len() - 14).min(548) && quoted == &about[14..14 + quoted.len()], "the quote");
    (error[34], error[35])
}

#[test]
fn who_asks_for_our_address_gets_it_and_is_known_then() {
    let mut router = Router::new(|_, _| ());
    let [left, right] = router.put(0, arp(1, A, A_ADDRESS, [10, 0, 1, 1]));
    assert_eq!((left.len(), right.len()), (1, 0));
    assert_eq!(left[0][..14], [&A.0[..], &LEFT.0, &[8, 6]].concat());
    assert_eq!(left[0][20..42], [&[0, 2][..], &LEFT.0, &[10, 0, 1, 1], &A.0, &A_ADDRESS].concat());
    assert_eq!(left[0].len(), 60);
    let shown = show::neighbours(&router.graph.report(), &router.control);
    assert!(shown.contains("10.0.1.2") && shown.contains("02:00:00:00:00:0a") && shown.contains("known"), "{shown}");
    assert_eq!(router.put(0, arp(1, A, A_ADDRESS, [10, 0, 1, 77])), [vec![], vec![] as Vec<Vec<u8>>]);
}

#[test]
fn arp_that_is_wrong_changes_nothing_and_is_counted() {
    let mut router = Router::acquainted(|_, _| ());
    let mut group = arp(1, A, A_ADDRESS, [10, 0, 1, 1]);
    group[22] |= 1;
    for (packet, reason) in [
        (group, "arp malformed"),
        (arp(1, A, A_ADDRESS, [10, 0, 1, 1])[..41].to_vec(), "arp malformed"),
        (arp(7, A, A_ADDRESS, [10, 0, 1, 1]), "arp malformed"),
        (arp(1, B, [10, 0, 1, 1], [10, 0, 1, 1]), "arp: a neighbour has one of our addresses"),
        (arp(1, B, [10, 0, 2, 2], [10, 0, 1, 1]), "arp from outside the interface's networks"),
        (arp(2, B, [10, 0, 1, 99], [10, 0, 1, 1]), "arp that concerns others"),
    ] {
        let before = router.count("arp-input", reason);
        assert_eq!(router.put(0, packet), [vec![], vec![] as Vec<Vec<u8>>], "{reason}");
        assert_eq!(router.count("arp-input", reason), before + 1);
    }
    assert_eq!(router.control.lock().all().len(), 2);
    // Who tries an address that it does not have yet gets an answer.
    assert_eq!(router.put(0, arp(1, A, [0; 4], [10, 0, 1, 1]))[0].len(), 1);
}

#[test]
fn a_flood_of_arp_fills_the_table_and_no_more() {
    let mut router = Router::new(|_, neighbours| neighbours.timing.most = 20);
    for n in 2..=250 {
        router.put(0, arp(1, Mac([2, 1, 1, 1, 1, n]), [10, 0, 1, n], [10, 0, 1, 1]));
    }
    assert_eq!(router.control.lock().all().len(), 20);
    assert_eq!(router.count("arp-input", "arp: table of neighbours is full"), 249 - 19);
    let [_, right] = router.put(0, packet([10, 0, 2, 77], 64, 20, true));
    assert_eq!(right.len(), 0);
    assert_eq!(router.count("ip4-resolve", "table of neighbours is full"), 1);
}

#[test]
fn packets_wait_for_the_neighbour_in_order_and_only_so_many() {
    let mut router = Router::new(|_, _| ());
    let mut requests = Vec::new();
    for n in 1..=5 {
        let [left, right] = router.put(0, packet([20, 0, 0, n], 64, 20, true));
        assert_eq!(left.len(), 0);
        requests.extend(right);
    }
    // One request for all of them.
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0][..14], [&[0xff; 6][..], &RIGHT.0, &[8, 6]].concat());
    assert_eq!(requests[0][38..42], B_ADDRESS);
    assert_eq!(router.count("ip4-resolve", "queue of the neighbour is full, oldest dropped"), 1);
    for n in 3..=6 {
        router.put(0, packet([10, 0, 2, n], 64, 20, true));
    }
    assert_eq!(router.count("ip4-resolve", "queues of all neighbours are full"), 2);
    assert_eq!(router.graph.plane.held, 6);

    router.put(1, arp(2, B, B_ADDRESS, [10, 0, 2, 1]));
    let [_, right] = router.wait(20);
    let mut forwarded: Vec<_> = right.iter().filter(|packet| packet[13] == 0).collect();
    forwarded.retain(|packet| packet[..6] == B.0);
    assert_eq!(forwarded.iter().map(|packet| packet[33]).collect::<Vec<_>>(), [2, 3, 4, 5], "the oldest was dropped");
    assert!(forwarded.iter().all(|packet| packet[22] == 63 && checksum::sum(&packet[14..34]) == 0xffff));
    let [_, right] = router.put(0, packet([20, 0, 0, 9], 64, 20, true));
    assert_eq!(right.len(), 1, "no further request");
}

#[test]
fn a_neighbour_that_does_not_answer_is_unreachable_and_is_asked_for_again() {
    let mut router = Router::acquainted(|_, neighbours| neighbours.timing.interval = Duration::from_millis(30));
    let about = packet([10, 0, 2, 50], 64, 20, true);
    for _ in 0..2 {
        let [_, first] = router.put(0, about.clone());
        let [left, more] = router.wait(400);
        assert_eq!(first.len() + more.len(), 3, "requests");
        assert_eq!(left.len(), 1);
        assert_eq!(error_about(&left[0], &about), (3, 1));
        assert_eq!(router.graph.plane.held, 0);
    }
    assert_eq!(router.count("ip4-resolve", "neighbour does not answer"), 2);
}

#[test]
fn errors_say_what_is_wrong_and_quote_the_packet() {
    let mut router = Router::acquainted(|plane, _| plane.interfaces[1].mtu = 1000);
    for (about, expected, word) in [
        (packet([20, 0, 0, 1], 1, 20, true), (11, 0), [0, 0, 0, 0]),
        (packet([20, 0, 0, 1], 0, 1200, true), (11, 0), [0, 0, 0, 0]),
        (packet([30, 0, 0, 1], 64, 20, true), (3, 0), [0, 0, 0, 0]),
        (packet([20, 0, 0, 1], 64, 1200, false), (3, 4), [0, 0, 3, 232]),
        (packet([10, 0, 1, 1], 64, 20, true), (3, 3), [0, 0, 0, 0]),
    ] {
        let [left, right] = router.put(0, about.clone());
        assert_eq!((left.len(), right.len()), (1, 0), "{expected:?}");
        assert_eq!(error_about(&left[0], &about), expected);
        assert_eq!(left[0][38..42], word);
        assert_eq!(left[0][26..30], [10, 0, 1, 1]);
    }
    let mut strange = packet([10, 0, 1, 1], 64, 20, true);
    strange[23] = 99;
    resum(&mut strange);
    let [left, _] = router.put(0, strange.clone());
    assert_eq!(error_about(&left[0], &strange), (3, 2));
}

#[test]
fn no_error_is_sent_about_an_error_a_later_fragment_or_more_often_than_allowed() {
    let mut router = Router::with_errors(40, |_, _| ()).with_hosts();
    let mut error = packet([20, 0, 0, 1], 1, 20, true);
    (error[23], error[34]) = (1, 11);
    resum(&mut error);
    let mut fragment = packet([20, 0, 0, 1], 1, 20, true);
    fragment[21] = 5;
    resum(&mut fragment);
    for quiet in [error, fragment] {
        assert_eq!(router.put(0, quiet), [vec![], vec![] as Vec<Vec<u8>>]);
    }
    assert_eq!(router.count("icmp-time-exceeded", "icmp error not sent: packet is one that gets none"), 2);
    let answers: usize = (0..50).map(|_| router.put(0, packet([20, 0, 0, 1], 1, 20, true))[0].len()).sum();
    assert!((2..10).contains(&answers), "{answers} answers");
    let limited = router.count("icmp-time-exceeded", "icmp error not sent: rate limit");
    assert_eq!(limited as usize + answers, 50);
}

#[test]
fn an_echo_request_is_answered_with_what_it_brought() {
    let mut router = Router::acquainted(|_, _| ());
    // The far side's address, too.
    for address in [[10, 0, 1, 1], [10, 0, 2, 1]] {
        let mut request = packet(address, 1, 500, true);
        (request[23], request[34], request[35]) = (1, 8, 0);
        request[36..38].fill(0);
        let sum = !checksum::sum(&request[34..]);
        request[36..38].copy_from_slice(&sum.to_le_bytes());
        resum(&mut request);
        let [left, right] = router.put(0, request.clone());
        assert_eq!((left.len(), right.len()), (1, 0));
        let reply = &left[0];
        assert_eq!((&reply[..6], reply[22], reply[34], &reply[26..30]), (&A.0[..], 64, 0, &address[..]));
        assert_eq!(reply[30..34], A_ADDRESS);
        assert!(reply[38..] == request[38..], "identification, sequence, content");
        assert!(checksum::sum(&reply[14..34]) == 0xffff && checksum::sum(&reply[34..]) == 0xffff);
        request[60] ^= 1;
        router.put(0, request);
    }
    assert_eq!(router.count("ip4-local", "bad icmp checksum"), 2);
}

#[test]
fn a_packet_too_long_for_the_next_link_is_fragmented_if_it_may_be() {
    let mut router = Router::acquainted(|plane, _| plane.interfaces[1].mtu = 300);
    let whole = packet([20, 0, 0, 1], 64, 1400, true);
    let [left, right] = router.put(0, whole.clone());
    assert_eq!((left.len(), right.len()), (0, 6));
    let mut content = Vec::<u8>::new();
    for (number, part) in right.iter().enumerate() {
        assert!(part.len() <= 314 && checksum::sum(&part[14..34]) == 0xffff, "part {number}");
        assert_eq!(part[22], 63);
        let place = u16::from_be_bytes([part[20], part[21]]);
        assert_eq!((place & 0x1fff) as usize * 8, content.len());
        assert_eq!(place & 0x2000 != 0, number < 5);
        assert_eq!(u16::from_be_bytes([part[16], part[17]]) as usize, part.len() - 14);
        content.extend(&part[34..]);
    }
    assert!(content == whole[34..]);
}

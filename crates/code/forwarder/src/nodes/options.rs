//! `ip4-options`: headers with options (RFC 791, section 3.1). Routes are recorded and times
//! stamped, source routes are refused.

use std::net::Ipv4Addr;
use std::time::{SystemTime, UNIX_EPOCH};

use dataplane::checksum;
use dataplane::frame::Frame;
use dataplane::graph::{DROP, FIRST_ARC, Node, PUNT, Reason, Verdict};
use dataplane::plane::Plane;
use dataplane::trace::ip4_lines;

/// The place where the network header starts, and where its options do within it.
const L3: usize = 14;
const FIRST: usize = 20;

const LOOKUP: u8 = FIRST_ARC;
const PARAMETER_PROBLEM: u8 = FIRST_ARC + 1;

const END: u8 = 0;
const NOTHING: u8 = 1;
const RECORD_ROUTE: u8 = 7;
const TIMESTAMP: u8 = 68;
const LOOSE_ROUTE: u8 = 131;
const STRICT_ROUTE: u8 = 137;
const ROUTER_ALERT: u8 = 148;
/// A security label, CIPSO (FIPS 188).
const CIPSO: u8 = 134;

/// The request of a timestamp option, in the low four bits of its flags.
const TIME_ONLY: u8 = 0;
const TIME_AND_ADDRESS: u8 = 1;
const TIME_OF_NAMED: u8 = 3;

const MALFORMED: u8 = 0;
const SOURCE_ROUTE: u8 = 1;
const REASONS: [Reason; 2] = [Reason::error("ip4 option malformed"), Reason::error("ip4 source route refused")];

/// Arcs: drop, punt, ip4-lookup, icmp-parameter-problem.
#[derive(Default)]
pub struct Ip4Options;

/// The error: an option at this byte of the header, or a source route.
enum Wrong {
    At(usize),
    Route,
}

/// Milliseconds since midnight, universal time.
fn time_of_day() -> [u8; 4] {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    ((now.as_millis() % 86_400_000) as u32).to_be_bytes()
}

/// The place where a packet came in and leaves: our addresses there.
struct Here {
    came_in: [u8; 4],
    leaves: [u8; 4],
}

/// Fills in what the options of a header ask a router for, as the kernel does: the address that the
/// packet leaves from is recorded, and the one where it came in is stamped. `is_ours` says whether
/// an address is ours.
fn fill(header: &mut [u8], here: &Here, is_ours: impl Fn([u8; 4]) -> bool) -> Result<(), Wrong> {
    let (mut recorded, mut stamped, mut routed) = (false, false, false);
    let mut at = FIRST;
    while at < header.len() {
        match header[at] {
            END => {
                // Bytes behind the end have no meaning (RFC 791, section 3.1).
                header[at..].fill(END);
                break;
            }
            NOTHING => {
                at += 1;
                continue;
            }
            _ => {}
        }
        let length = header.get(at + 1).map_or(0, |length| *length as usize);
        if length < 2 || at + length > header.len() {
            return Err(Wrong::At(at));
        }
        let option = &mut header[at..at + length];
        match option[0] {
            LOOSE_ROUTE | STRICT_ROUTE => {
                check(at, length, 3, option, 4)?;
                if std::mem::replace(&mut routed, true) {
                    return Err(Wrong::At(at));
                }
            }
            RECORD_ROUTE => {
                if std::mem::replace(&mut recorded, true) {
                    return Err(Wrong::At(at));
                }
                check(at, length, 3, option, 4)?;
                let next = option[2] as usize;
                if next <= length {
                    let place = option.get_mut(next - 1..next + 3).ok_or(Wrong::At(at + 2))?;
                    place.copy_from_slice(&here.leaves);
                    option[2] += 4;
                }
            }
            TIMESTAMP => {
                if std::mem::replace(&mut stamped, true) {
                    return Err(Wrong::At(at));
                }
                check(at, length, 4, option, 5)?;
                stamp(at, option, here.came_in, &is_ours)?;
            }
            ROUTER_ALERT if length < 4 => return Err(Wrong::At(at + 1)),
            // Its head, and the domain by which labels are read. We know of no domain, like a
            // kernel that nobody has told of one, and a label that cannot be read is not passed on.
            CIPSO if length < 8 => return Err(Wrong::At(at + 1)),
            CIPSO => return Err(Wrong::At(at + 2)),
            _ => {}
        }
        at += length;
    }
    if routed { Err(Wrong::Route) } else { Ok(()) }
}

/// True if an option has a pointer, and one that points behind the option's own head.
fn check(at: usize, length: usize, head: usize, option: &[u8], least: u8) -> Result<(), Wrong> {
    if length < head {
        return Err(Wrong::At(at + 1));
    }
    if option[2] < least { Err(Wrong::At(at + 2)) } else { Ok(()) }
}

fn stamp(at: usize, option: &mut [u8], us: [u8; 4], is_ours: impl Fn([u8; 4]) -> bool) -> Result<(), Wrong> {
    let (next, flags) = (option[2] as usize, option[3]);
    if next > option.len() {
        // No room: who could not stamp counts itself.
        return match flags >> 4 {
            _ if flags & 15 == TIME_OF_NAMED => Ok(()),
            15 => Err(Wrong::At(at + 3)),
            count => {
                option[3] = (flags & 15) | (count + 1) << 4;
                Ok(())
            }
        };
    }
    if next + 3 > option.len() {
        return Err(Wrong::At(at + 2));
    }
    match flags & 15 {
        TIME_ONLY => {
            option[next - 1..next + 3].copy_from_slice(&time_of_day());
            option[2] += 4;
        }
        kind @ (TIME_AND_ADDRESS | TIME_OF_NAMED) => {
            let place = option.get_mut(next - 1..next + 7).ok_or(Wrong::At(at + 2))?;
            if kind == TIME_AND_ADDRESS {
                place[..4].copy_from_slice(&us);
            } else if !is_ours([place[0], place[1], place[2], place[3]]) {
                return Ok(());
            }
            place[4..].copy_from_slice(&time_of_day());
            option[2] += 8;
        }
        _ => {}
    }
    Ok(())
}

fn options(plane: &mut Plane, frame: &mut Frame, row: usize) -> (u8, u8) {
    let buffer = frame.buffer[row];
    let data = plane.pool.data(buffer);
    let destination = Ipv4Addr::new(data[30], data[31], data[32], data[33]);
    let bytes = |address: Option<Ipv4Addr>| address.map_or([0; 4], |address| address.octets());
    let leaves = bytes(plane.address_towards(destination, frame.rx));
    let here = Here { came_in: bytes(plane.own.speaker(frame.rx)), leaves };
    let own = plane.own.clone();
    let data = plane.pool.data_mut(buffer);
    let end = L3 + (data[L3] & 15) as usize * 4;
    let header = &mut data[L3..end];
    match fill(header, &here, |address| own.find(address.into()).is_some()) {
        Ok(()) => {
            header[10..12].fill(0);
            let sum = !checksum::sum(header);
            header[10..12].copy_from_slice(&sum.to_le_bytes());
            (LOOKUP, 0)
        }
        Err(Wrong::Route) => (DROP, SOURCE_ROUTE),
        // The kernel reads options before it looks where the packet goes, and tells the sender
        // itself.
        Err(Wrong::At(_)) if plane.interfaces[frame.rx as usize].kernel_sees => (PUNT, MALFORMED),
        Err(Wrong::At(at)) => {
            frame.adjacency[row] = at as u16;
            (PARAMETER_PROBLEM, MALFORMED)
        }
    }
}

impl Node for Ip4Options {
    fn name(&self) -> &str {
        "ip4-options"
    }

    fn reasons(&self) -> &'static [Reason] {
        &REASONS
    }

    fn reasoned_arcs(&self) -> u64 {
        0b11 | 1 << PARAMETER_PROBLEM
    }

    fn run(&mut self, plane: &mut Plane, frame: &mut Frame) -> Verdict {
        for row in 0..frame.len {
            (frame.next[row], frame.reason[row]) = options(plane, frame, row);
        }
        Verdict::Mixed
    }

    fn trace(&self, plane: &Plane, frame: &Frame, row: usize) -> Vec<String> {
        ip4_lines(plane, frame, row)
    }
}

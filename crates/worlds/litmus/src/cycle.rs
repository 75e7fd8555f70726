//! Tests from cycles of edges, as in "Fences in weak memory models" (Alglave, Maranget, Sarkar,
//! Sewell, 2010): edges within a thread, which may or may not keep order, joined by communication
//! between threads, which does. The test asks for the execution that goes round; if every edge
//! keeps order it is forbidden.

use std::fmt::Write as _;

/// The means that keep two accesses of a thread in order, or do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    ProgramOrder,
    BarrierFull,
    BarrierLoad,
    BarrierStore,
    Synchronization,
    Address,
    Data,
    Control,
    ControlBarrier,
}

/// The instruction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessKind {
    Plain,
    /// LDAR or STLR.
    Ordered,
    /// LDAPR.
    AcquirePc,
    /// LDADD of zero, or SWP, with these letters.
    Atomic(&'static str),
}

#[derive(Clone, Copy, Debug)]
struct Access {
    is_write: bool,
    how: AccessKind,
    location: usize,
    /// The value that is written, or is to be read.
    value: u64,
}

/// The size of all accesses of a test: the letter of its instructions, and its type in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    letter: &'static str,
    kind: &'static str,
}

const WORD: Size = Size { letter: "", kind: "" };
const SIZES: [Size; 4] = [WORD, WORD, Size { letter: "B", kind: "uint8_t" }, Size { letter: "H", kind: "uint16_t" }];

/// The accesses of a thread, and what is between them.
type Steps = (Access, Option<(Edge, Access)>);

/// A cycle.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// The edges, in words that name the test.
    pub name: String,
    threads: Vec<Steps>,
    size: Size,
    /// The last value of each location that is written more than once.
    last: Vec<Option<u64>>,
}

/// Numbers that look drawn: a linear congruential generator (Knuth's MMIX).
struct Generator(u64);

impl Generator {
    fn below(&mut self, options: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % options as u64) as usize
    }
}

const LOCATIONS: [&str; 4] = ["x", "y", "z", "w"];

impl Cycle {
    /// A cycle of two to four threads. The same number is the same cycle; with `atomics` some
    /// accesses are read-modify-writes in one instruction. `None` where what was drawn does not fit
    /// together.
    pub fn drawn(number: u64, atomics: bool) -> Option<Self> {
        let mut drawn = Generator(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        drawn.below(2);
        let threads = 2 + drawn.below(3);
        // Each thread has one access or two; the communication to the next one starts at its last.
        let pairs: Vec<bool> = (0..threads).map(|_| drawn.below(5) > 0).collect();
        let steps = pairs.iter().filter(|pair| **pair).count();
        if !(2..=LOCATIONS.len()).contains(&steps) {
            return None;
        }
        let shapes = shapes(&mut drawn, &pairs);
        // Communication between reads is none.
        let last_of = |shape: &(bool, Option<(Edge, bool)>)| shape.1.map_or(shape.0, |(_, second)| second);
        for (number, shape) in shapes.iter().enumerate() {
            if !last_of(shape) && !shapes[(number + 1) % threads].0 {
                return None;
            }
        }
        let mut how = |is_write: bool| match (drawn.below(if atomics { 8 } else { 6 }), is_write) {
            (0, _) => AccessKind::Ordered,
            (1, false) => AccessKind::AcquirePc,
            (6 | 7, _) => AccessKind::Atomic(["", "A", "L", "AL"][drawn.below(4)]),
            _ => AccessKind::Plain,
        };
        let mut cycle = Self { name: String::new(), threads: Vec::new(), size: WORD, last: vec![None; steps] };
        // The walk starts behind the last step within a thread, so that the accesses of a location
        // come one after the other.
        let start = pairs.iter().rposition(|pair| *pair)?;
        let mut location = 0;
        let mut writes = 0;
        let mut built: Vec<Option<Steps>> = vec![None; threads];
        let mut opened: Option<Access> = None;
        for offset in 0..=threads {
            let thread = (start + offset) % threads;
            let (first, second) = shapes[thread];
            let mut place = |is_write: bool, writes: &mut u64, location: usize| {
                *writes += u64::from(is_write);
                Access { is_write, how: how(is_write), location, value: *writes }
            };
            if offset == 0 {
                // Its second access opens the first location; its first one closes the last.
                let (_, is_write) = second?;
                opened = Some(place(is_write, &mut writes, 0));
                continue;
            }
            let access = place(first, &mut writes, location);
            let Some((within, is_write)) = second else {
                built[thread] = Some((access, None));
                continue;
            };
            if writes > 1 {
                cycle.last[location] = Some(writes);
            }
            writes = 0;
            if offset == threads {
                built[thread] = Some((access, opened.take().map(|second| (within, second))));
            } else {
                location += 1;
                built[thread] = Some((access, Some((within, place(is_write, &mut writes, location)))));
            }
        }
        cycle.threads = built.into_iter().collect::<Option<_>>()?;
        cycle.name = cycle.named(number);
        Some(cycle)
    }

    /// Gives all accesses one size: words, and half as often bytes or halfwords.
    pub fn sized(self, number: u64) -> Self {
        let size = SIZES[(number / 2 % SIZES.len() as u64) as usize];
        Self { name: format!("{}{}", self.name, size.letter), size, ..self }
    }

    fn named(&self, number: u64) -> String {
        let access = |access: &Access| {
            let how = match access.how {
                AccessKind::Plain => "",
                AccessKind::Ordered => "o",
                AccessKind::AcquirePc => "q",
                AccessKind::Atomic(letters) => match letters {
                    "" => "r",
                    "A" => "ra",
                    "L" => "rl",
                    _ => "ral",
                },
            };
            format!("{}{how}", if access.is_write { "W" } else { "R" })
        };
        let threads = self.threads.iter().map(|(first, second)| match second {
            None => access(first),
            Some((within, second)) => {
                let within = match within {
                    Edge::ProgramOrder => "po",
                    Edge::BarrierFull => "dmb",
                    Edge::BarrierLoad => "ld",
                    Edge::BarrierStore => "st",
                    Edge::Synchronization => "dsbst",
                    Edge::Address => "addr",
                    Edge::Data => "data",
                    Edge::Control => "ctrl",
                    Edge::ControlBarrier => "ctrlisb",
                };
                format!("{}{within}{}", access(first), access(second))
            }
        });
        format!("{}-{number}", threads.collect::<Vec<_>>().join("+"))
    }

    /// The accesses with their threads and registers: the first access of a thread has X0, the
    /// second X1.
    fn condition(
        &self,
        register: impl Fn(usize, usize) -> String,
        word: impl Fn(usize) -> String,
        and: &str,
    ) -> String {
        let mut parts = Vec::new();
        for (thread, (first, second)) in self.threads.iter().enumerate() {
            for (place, access) in
                [Some(first), second.as_ref().map(|(_, second)| second)].into_iter().flatten().enumerate()
            {
                if !access.is_write {
                    parts.push(format!("{}={}", register(thread, place), access.value));
                }
            }
        }
        for (location, last) in self.last.iter().enumerate() {
            parts.extend(last.map(|last| format!("{}={last}", word(location))));
        }
        parts.join(and)
    }

    /// The test as a stock `.litmus` file.
    pub fn stock(&self) -> String {
        let mut initial = String::new();
        if self.size != WORD {
            for location in &LOCATIONS[..self.last.len()] {
                let _ = write!(initial, "{} {location}; ", self.size.kind);
            }
        }
        let letter = self.size.letter;
        let columns: Vec<Vec<String>> = self
            .threads
            .iter()
            .enumerate()
            .map(|(thread, (first, second))| {
                let _ = write!(initial, "{thread}:X10={}; ", LOCATIONS[first.location]);
                let mut lines = instructions(first, 0, "", None, letter);
                if let Some((within, second)) = second {
                    let _ = write!(initial, "{thread}:X11={}; ", LOCATIONS[second.location]);
                    let mut offset = "";
                    let mut data = None;
                    match within {
                        Edge::ProgramOrder => {}
                        Edge::BarrierFull => lines.push("DMB SY".to_owned()),
                        Edge::BarrierLoad => lines.push("DMB LD".to_owned()),
                        Edge::BarrierStore => lines.push("DMB ST".to_owned()),
                        Edge::Synchronization => lines.push("DSB ST".to_owned()),
                        Edge::Address if matches!(second.how, AccessKind::Plain) => {
                            lines.push("EOR W5,W0,W0".to_owned());
                            offset = ",W5,SXTW";
                        }
                        Edge::Address => {
                            lines.push("EOR W5,W0,W0".to_owned());
                            lines.push("ADD X11,X11,W5,SXTW".to_owned());
                        }
                        Edge::Data => {
                            lines.push("EOR W5,W0,W0".to_owned());
                            lines.push(format!("ADD W5,W5,#{}", second.value));
                            data = Some("W5");
                        }
                        Edge::Control | Edge::ControlBarrier => {
                            lines.push(format!("CBNZ W0,L{thread}"));
                            lines.push(format!("L{thread}:"));
                            lines.extend((*within == Edge::ControlBarrier).then(|| "ISB".to_owned()));
                        }
                    }
                    lines.extend(instructions(second, 1, offset, data, letter));
                }
                lines
            })
            .collect();
        let mut text = format!("AArch64 {}\n{{ {initial}}}\n", self.name);
        let heads: Vec<String> = (0..columns.len()).map(|thread| format!("P{thread}")).collect();
        let _ = writeln!(text, " {} ;", heads.join(" | "));
        for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
            let cells: Vec<&str> = columns.iter().map(|column| column.get(row).map_or("", String::as_str)).collect();
            let _ = writeln!(text, " {} ;", cells.join(" | "));
        }
        let condition = self.condition(
            |thread, place| format!("{thread}:X{place}"),
            |location| format!("[{}]", LOCATIONS[location]),
            " /\\ ",
        );
        let _ = writeln!(text, "exists ({condition})");
        text
    }
}

fn instructions(access: &Access, place: usize, offset: &str, data: Option<&str>, size: &str) -> Vec<String> {
    let address = format!("[X1{place}{offset}]");
    let mut lines = Vec::new();
    // What is stored, or nought for an addition that only reads.
    let operand = match (access.is_write, data) {
        (true, Some(register)) => register.to_owned(),
        (true, None) => {
            lines.push(format!("MOV W{},#{}", 6 + place, access.value));
            format!("W{}", 6 + place)
        }
        (false, _) => "WZR".to_owned(),
    };
    lines.push(match (access.is_write, access.how) {
        (true, AccessKind::Atomic(letters)) => format!("SWP{letters}{size} {operand},W{},{address}", 8 + place),
        (true, AccessKind::Ordered) => format!("STLR{size} {operand},{address}"),
        (true, _) => format!("STR{size} {operand},{address}"),
        (false, AccessKind::Plain) => format!("LDR{size} W{place},{address}"),
        (false, AccessKind::Ordered) => format!("LDAR{size} W{place},{address}"),
        (false, AccessKind::AcquirePc) => format!("LDAPR{size} W{place},{address}"),
        (false, AccessKind::Atomic(letters)) => format!("LDADD{letters}{size} WZR,W{place},{address}"),
    });
    lines
}

/// Accesses of a thread: true if the first writes; the edge to the second, if there is one, and
/// true if that writes.
type Shape = (bool, Option<(Edge, bool)>);

fn shapes(drawn: &mut Generator, pairs: &[bool]) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    for pair in pairs {
        let first = drawn.below(2) == 1;
        let second = pair.then(|| {
            let is_write = drawn.below(2) == 1;
            let within = edges(first, is_write);
            (within[drawn.below(within.len())], is_write)
        });
        shapes.push((first, second));
    }
    shapes
}

/// Edges between two accesses of a thread: true for writes.
fn edges(first: bool, second: bool) -> &'static [Edge] {
    match (first, second) {
        (false, false) => &[
            Edge::ProgramOrder,
            Edge::BarrierFull,
            Edge::BarrierLoad,
            Edge::Address,
            Edge::Control,
            Edge::ControlBarrier,
        ],
        (false, true) => {
            &[Edge::ProgramOrder, Edge::BarrierFull, Edge::BarrierLoad, Edge::Address, Edge::Data, Edge::Control]
        }
        (true, true) => &[Edge::ProgramOrder, Edge::BarrierFull, Edge::BarrierStore, Edge::Synchronization],
        (true, false) => &[Edge::ProgramOrder, Edge::BarrierFull, Edge::BarrierLoad, Edge::Synchronization],
    }
}

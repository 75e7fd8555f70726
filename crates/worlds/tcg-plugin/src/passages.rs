//! Passages of each CPU: what they executed, and by which calls it was reached.

use crate::flow::{Flow, Instruction};
use std::collections::HashMap;
use std::fmt::Write;

/// A frame: a call that has not returned yet, or an exception.
#[derive(Clone, Copy, Debug)]
struct Frame {
    caller: usize,
    call: Instruction,
    is_exception: bool,
}

/// The executions of the passages of one kind.
#[derive(Debug)]
struct Tree {
    frames: Vec<Frame>,
    numbers: HashMap<(usize, Instruction, bool), usize>,
    executed: HashMap<(usize, Instruction), u64>,
    /// Exceptions taken, by frame, the instruction before, and the vector.
    taken: HashMap<(usize, Instruction, u64), u64>,
    passages: u64,
    /// Instructions that other CPUs executed in the meantime.
    others: u64,
}

impl Default for Tree {
    fn default() -> Self {
        let root = Frame {
            caller: 0,
            call: Instruction {
                address: 0,
                opcode: 0,
            },
            is_exception: false,
        };
        Self {
            frames: vec![root],
            numbers: HashMap::new(),
            executed: HashMap::new(),
            taken: HashMap::new(),
            passages: 0,
            others: 0,
        }
    }
}

/// The passage that a CPU is in, and those of its kind before.
#[derive(Debug, Default)]
struct Cpu {
    inside: bool,
    /// True once the function in which the passage began has returned.
    has_returned: bool,
    /// The frame that it is in.
    frame: usize,
    last: Option<Instruction>,
    tree: Tree,
}

/// The passages of all CPUs.
#[derive(Debug, Default)]
pub(crate) struct Passages {
    cpus: HashMap<u32, Cpu>,
    /// Tables of vectors, by their base addresses, into which exceptions were taken.
    vectors: Vec<u64>,
}

/// Bytes of a table of vectors, and of a vector.
const VECTORS: u64 = 0x800;
const VECTOR: u64 = 0x80;

impl Passages {
    /// True if a CPU is in a passage.
    pub(crate) fn is_inside(&self, cpu: u32) -> bool {
        self.cpus.get(&cpu).is_some_and(|cpu| cpu.inside)
    }

    /// A passage of a CPU begins with its next instruction; one that it is in goes on.
    pub(crate) fn begin(&mut self, cpu: u32) {
        let cpu = self.cpus.entry(cpu).or_default();
        if !cpu.inside {
            (cpu.inside, cpu.has_returned, cpu.frame, cpu.last) = (true, false, 0, None);
        }
    }

    /// Forgets the passage of a CPU if the function in which it began has returned: what was to end
    /// it did not come. True if it was forgotten.
    pub(crate) fn forget_returned(&mut self, cpu: u32) -> bool {
        self.cpus
            .get_mut(&cpu)
            .filter(|cpu| cpu.inside && cpu.has_returned)
            .map(|cpu| *cpu = Cpu::default())
            .is_some()
    }

    /// The passage of a CPU ends before its next instruction.
    pub(crate) fn end(&mut self, cpu: u32) {
        if let Some(cpu) = self.cpus.get_mut(&cpu)
            && std::mem::take(&mut cpu.inside)
        {
            cpu.tree.passages += 1;
        }
    }

    /// Follows a CPU to an instruction that it executes in a passage. Returns true if it came there
    /// by the return from the function in which the passage began.
    pub(crate) fn follow(&mut self, number: u32, now: Instruction) -> bool {
        let Some(cpu) = self.cpus.get_mut(&number).filter(|cpu| cpu.inside) else {
            return false;
        };
        let has_returned = cpu
            .last
            .is_some_and(|last| cpu.follow(last, now.address, &mut self.vectors));
        cpu.has_returned |= has_returned;
        has_returned
    }

    /// Counts the instruction to which a CPU was followed: if it is in a passage for that, and for
    /// the passages of others as another's.
    pub(crate) fn count(&mut self, number: u32, now: Instruction) {
        for (of, cpu) in self.cpus.iter_mut().filter(|(_, cpu)| cpu.inside) {
            if *of == number {
                *cpu.tree.executed.entry((cpu.frame, now)).or_default() += 1;
                cpu.last = Some(now);
            } else {
                cpu.tree.others += 1;
            }
        }
    }

    /// The passages of a CPU so far as text, after which others are counted; nothing where there
    /// was none.
    pub(crate) fn take(&mut self, cpu: u32) -> String {
        self.cpus
            .get_mut(&cpu)
            .map(|cpu| std::mem::take(&mut cpu.tree).text())
            .unwrap_or_default()
    }
}

impl Cpu {
    /// Goes from an instruction to the one that followed it. Returns true if that was the return
    /// from the frame in which the passage began.
    fn follow(&mut self, last: Instruction, address: u64, vectors: &mut Vec<u64>) -> bool {
        let flow = last.flow();
        let is_vector =
            || address.is_multiple_of(VECTOR) && vectors.contains(&(address & !(VECTORS - 1)));
        let is_exception = match flow {
            Flow::Next => address != last.next(),
            Flow::Jump(to) | Flow::Call(Some(to)) => address != to,
            Flow::Either(to) => address != to && address != last.next(),
            Flow::Call(None) | Flow::Register { .. } => is_vector(),
            Flow::Exception => true,
        };
        // What is executed again, as after an access that the emulator repeats, is no exception.
        if is_exception && flow != Flow::Exception && address == last.address {
            return false;
        }
        if is_exception {
            let base = address & !(VECTORS - 1);
            if address.is_multiple_of(VECTOR) && !vectors.contains(&base) {
                vectors.push(base);
            }
            *self
                .tree
                .taken
                .entry((self.frame, last, address))
                .or_default() += 1;
            self.call(last, true);
            return false;
        }
        self.go_on(last, address)
    }

    /// Goes from an instruction to where it leads. Returns true if that leaves the frame in which
    /// the passage began.
    fn go_on(&mut self, last: Instruction, address: u64) -> bool {
        match last.flow() {
            Flow::Call(_) => self.call(last, false),
            Flow::Register { returns } => {
                let Some(frame) = self.returned_to(address) else {
                    return returns && self.frame == 0;
                };
                let Frame {
                    caller,
                    call,
                    is_exception,
                } = self.tree.frames[frame];
                self.frame = caller;
                // What was interrupted may have been about to go elsewhere.
                if is_exception && call.flow() != Flow::Exception && address != call.address {
                    return self.go_on(call, address);
                }
            }
            _ => {}
        }
        false
    }

    fn call(&mut self, call: Instruction, is_exception: bool) {
        let tree = &mut self.tree;
        let new = tree.frames.len();
        let number = *tree
            .numbers
            .entry((self.frame, call, is_exception))
            .or_insert(new);
        if number == new {
            tree.frames.push(Frame {
                caller: self.frame,
                call,
                is_exception,
            });
        }
        self.frame = number;
    }

    /// The innermost frame that returns to an address.
    fn returned_to(&self, address: u64) -> Option<usize> {
        let mut frame = self.frame;
        while frame != 0 {
            let Frame {
                caller,
                call,
                is_exception,
            } = self.tree.frames[frame];
            // What was interrupted goes on where it was, or where it was about to go.
            let goes_on = address == call.next()
                || is_exception
                    && match call.flow() {
                        Flow::Jump(to) | Flow::Either(to) | Flow::Call(Some(to)) => address == to,
                        Flow::Call(None) | Flow::Register { .. } => true,
                        Flow::Next | Flow::Exception => false,
                    }
                || is_exception && address == call.address;
            if goes_on {
                return Some(frame);
            }
            frame = caller;
        }
        None
    }
}

impl Tree {
    fn text(self) -> String {
        let mut text = String::new();
        if self.passages == 0 {
            return text;
        }
        let _ = writeln!(text, "passages {} {}", self.passages, self.others);
        for (number, frame) in self.frames.iter().enumerate().skip(1) {
            let _ = writeln!(
                text,
                "call {number} {} {:x}",
                frame.caller, frame.call.address
            );
        }
        let mut taken: Vec<_> = self.taken.into_iter().collect();
        taken.sort_unstable();
        for ((frame, last, vector), count) in taken {
            let _ = writeln!(text, "taken {frame} {:x} {vector:x} {count}", last.address);
        }
        let mut executed: Vec<_> = self.executed.into_iter().collect();
        executed.sort_unstable();
        for ((frame, Instruction { address, opcode }), count) in executed {
            let _ = writeln!(text, "at {frame} {address:x} {opcode:x} {count}");
        }
        text.push_str("end\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOP: u32 = 0xd503_201f;
    const RET: u32 = 0xd65f_03c0;
    const ERET: u32 = 0xd69f_03e0;
    const SMC: u32 = 0xd400_0003;
    /// BL to 0x2000 from 0x1004.
    const BL: u32 = 0x9400_03ff;

    /// Executes an instruction on a CPU; returns true if its passage has returned.
    fn step(passages: &mut Passages, cpu: u32, (address, opcode): (u64, u32)) -> bool {
        let now = Instruction { address, opcode };
        let has_returned = passages.follow(cpu, now);
        if !has_returned {
            passages.count(cpu, now);
        }
        has_returned
    }

    /// Executes instructions on CPU 0; returns the number of those before the passage returned.
    fn execute(passages: &mut Passages, all: &[(u64, u32)]) -> usize {
        all.iter()
            .take_while(|now| !step(passages, 0, **now))
            .count()
    }

    #[test]
    fn what_is_called_is_counted_in_a_frame_of_its_own_and_the_callers_goes_on() {
        let mut passages = Passages::default();
        step(&mut passages, 0, (0, NOP));
        assert_eq!(passages.take(0), "", "nothing began");
        passages.begin(0);
        let turn = [
            (0x1000, NOP),
            (0x1004, BL),
            (0x2000, NOP),
            (0x2004, RET),
            (0x1008, NOP),
        ];
        assert_eq!(
            execute(&mut passages, &turn) + execute(&mut passages, &turn[..1]),
            6
        );
        passages.end(0);
        let counts = "passages 1 0\ncall 1 0 1004\ntaken 0 1008 1000 1\nat 0 1000 d503201f 1\nat 0 1004 940003ff 1\nat 0 1008 d503201f 1\n\
                      at 1 2000 d503201f 1\nat 1 2004 d65f03c0 1\n";
        // From 0x1008 nothing leads to 0x1000: an exception was taken.
        let text = passages.take(0);
        assert!(
            text.contains("taken 0 1008 1000 1\n") && text.contains("call 2 0 1008\n"),
            "{text}"
        );
        assert_eq!(
            text.lines().filter(|line| counts.contains(line)).count(),
            8,
            "{text}"
        );
    }

    #[test]
    fn an_smc_is_an_exception_and_comes_back() {
        let mut passages = Passages::default();
        passages.begin(0);
        let call = [(0x1000, SMC), (0x8400, NOP), (0x8404, ERET), (0x1004, NOP)];
        execute(&mut passages, &call);
        passages.end(0);
        let counts = "passages 1 0\ncall 1 0 1000\ntaken 0 1000 8400 1\nat 0 1000 d4000003 1\nat 0 1004 d503201f 1\nat 1 8400 d503201f 1\n\
                      at 1 8404 d69f03e0 1\nend\n";
        assert_eq!(passages.take(0), counts);
    }

    #[test]
    fn an_interrupt_behind_a_return_is_found_by_its_table_of_vectors() {
        let mut passages = Passages::default();
        passages.begin(0);
        // An SMC shows where the vectors are; then an interrupt is taken between a return and what
        // it returns to.
        let all = [
            (0x1000, SMC),
            (0x8400, ERET),
            (0x1004, BL),
            (0x2000, RET),
            (0x8280, ERET),
            (0x1008, NOP),
        ];
        let call = Instruction {
            address: 0x1004,
            opcode: BL,
        };
        let Flow::Call(Some(target)) = call.flow() else {
            panic!()
        };
        assert_eq!(target, 0x2000);
        execute(&mut passages, &all);
        passages.end(0);
        let text = passages.take(0);
        assert!(
            text.contains("taken 0 1000 8400 1\ntaken 2 2000 8280 1\n"),
            "{text}"
        );
        assert!(text.contains("at 0 1008 d503201f 1"), "{text}");
    }

    #[test]
    fn a_passage_without_an_end_ends_with_the_return_of_its_function() {
        let mut passages = Passages::default();
        passages.begin(0);
        let all = [
            (0x1000, NOP),
            (0x1004, BL),
            (0x2000, RET),
            (0x1008, RET),
            (0x3000, NOP),
        ];
        assert_eq!(execute(&mut passages, &all), 4);
        assert!(passages.is_inside(0), "whoever asks ends it");
        passages.end(0);
        assert!(!passages.take(0).contains("3000"));
    }

    #[test]
    fn a_passage_with_an_end_goes_on_where_its_function_returned_and_is_forgotten_if_it_begins_again()
     {
        let mut passages = Passages::default();
        passages.begin(0);
        for at in [(0x2000, NOP), (0x2004, RET), (0x1008, BL), (0x2000, NOP)] {
            let now = Instruction {
                address: at.0,
                opcode: at.1,
            };
            passages.follow(0, now);
            passages.count(0, now);
        }
        assert!(
            passages.forget_returned(0) && !passages.is_inside(0) && passages.take(0).is_empty()
        );
        passages.begin(0);
        assert_eq!(execute(&mut passages, &[(0x2000, NOP), (0x2004, RET)]), 2);
        assert!(!passages.forget_returned(0), "its function is at work");
    }

    #[test]
    fn cpus_are_counted_apart() {
        let mut passages = Passages::default();
        passages.begin(1);
        step(&mut passages, 0, (0x1000, NOP));
        step(&mut passages, 1, (0x2000, NOP));
        step(&mut passages, 0, (0x1004, NOP));
        passages.end(1);
        assert_eq!(passages.take(0), "");
        assert_eq!(
            passages.take(1),
            "passages 1 2\nat 0 2000 d503201f 1\nend\n"
        );
    }
}

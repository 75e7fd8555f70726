//! A core that reorders, at the scale of a loop's records: a window of instructions in front of the
//! oldest one that is not done, and lines that are on their way.
//!
//! ```text
//!   oldest, not done                                        newest
//!   ├── record 7: waits for its line ──┬── record 8 ──┬── … ──┤   window, in instructions
//!                                      │              │
//!                                      ▼              ▼
//!                              lines on their way, `fills` at most
//! ```
//!
//! The core takes up instructions in order, at the rate at which it does the loop with all lines
//! near, and finishes them in order. It takes up no more than a window of them beyond the oldest
//! that is not done. A load starts when its address is known and a fill buffer is free. A prefetch
//! stays in the window until it has a fill buffer, and is then done. Whatever a record computes
//! from its lines takes a chain of further time, which delays nobody unless the window is full.
//!
//! [`Core`](crate::Core) models a core that stalls after cycles of work; this one is for cores
//! whose window holds several records, or a part of one.

use random::XorShift;
use std::collections::VecDeque;

/// A core that reorders. Times are in one unit, which is the caller's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorderer {
    /// Instructions that can be under way at once.
    pub window: f64,
    /// Lines that can be on their way at once.
    pub fills: usize,
    /// Time to issue a prefetch, besides any waiting.
    pub prefetch: f64,
}

/// A line of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeLine {
    /// The line of the same record that holds this one's address: one before it in the list.
    pub after: Option<usize>,
}

/// A loop, as its records look to a core.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopShape {
    /// Lines of a record, in the order in which they are read.
    pub lines: Vec<ShapeLine>,
    /// Time per record where all lines are near.
    pub work: f64,
    /// Instructions per record.
    pub instructions: f64,
    /// Time from a record's last line to the end of what depends on it.
    pub chain: f64,
}

/// One run of a loop: what it executes, on which core and with which seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopRun<'a> {
    /// For each line the records by which its prefetch is ahead; 0 for none.
    pub ahead: &'a [usize],
    /// Records of a batch: no prefetch goes beyond it.
    pub batch: usize,
    /// For each line the times that it takes, each as likely as the others; none where it is near.
    pub latencies: &'a [&'a [f64]],
    /// The times that a line has a fill buffer, likewise. It is longer than the time that it takes
    /// where hardware asks for the line before the program does.
    pub held: &'a [f64],
    /// Records that are run.
    pub records: usize,
    /// Seed of all that is drawn.
    pub seed: u64,
}

/// Instructions of a prefetch: its address, and whether it is within the batch.
const PREFETCH_INSTRUCTIONS: f64 = 3.0;

/// Instructions of a load and of what finds its address.
const LOAD_INSTRUCTIONS: f64 = 2.0;

/// The parts of a window in which instructions are taken up, and the most parts at once.
const PARTS_OF_WINDOW: f64 = 8.0;
const MOST_PARTS: f64 = 64.0;

/// Nothing is known of a line.
const NOT_FETCHED: f64 = f64::INFINITY;

struct Run<'a> {
    core: Reorderer,
    shape: &'a LoopShape,
    how: LoopRun<'a>,
    random: XorShift,
    /// The time at which the next instruction is taken up.
    front: f64,
    /// Instructions taken up.
    position: f64,
    /// The instructions that are under way: the place of each, and when all up to there are done.
    under_way: VecDeque<(f64, f64)>,
    /// The time at which all that was taken up is done.
    done: f64,
    /// When each fill buffer is free.
    free: Vec<f64>,
    /// When each line of each record of this batch is there.
    there: Vec<f64>,
}

impl Run<'_> {
    /// Takes up instructions, which take `time` to be taken up. Many of them are taken up in parts:
    /// the first need not wait for what the last have no room beside.
    fn take_up(&mut self, instructions: f64, time: f64) {
        let parts = (instructions * PARTS_OF_WINDOW / self.core.window).ceil().clamp(1.0, MOST_PARTS);
        for _ in 0..parts as usize {
            self.position += instructions / parts;
            while let Some(&(place, done)) = self.under_way.front()
                && place <= self.position - self.core.window
            {
                self.front = self.front.max(done);
                self.under_way.pop_front();
            }
            self.front += time / parts;
        }
    }

    /// The instruction that was taken up last is done at a time, and not before anything older.
    fn done_at(&mut self, time: f64) {
        self.done = self.done.max(time);
        if self.done > self.front {
            self.under_way.push_back((self.position, self.done));
        }
    }

    /// Fetches a line if nobody has asked for it yet: when it has a buffer, and when it is there.
    fn fetch(&mut self, record: usize, line: usize, from: f64) -> (f64, f64) {
        let at = record * self.shape.lines.len() + line;
        if self.there[at] != NOT_FETCHED {
            return (from, self.there[at].max(from));
        }
        let latencies = self.how.latencies[line];
        if latencies.is_empty() {
            self.there[at] = from;
            return (from, from);
        }
        let draw = self.random.next();
        let of = |times: &[f64]| times.get((draw % times.len().max(1) as u64) as usize).copied().unwrap_or(0.0);
        let (drawn, held) = (of(latencies), of(self.how.held));
        let buffer = (0..self.free.len()).fold(
            0,
            |first, other| {
                if self.free[other] < self.free[first] { other } else { first }
            },
        );
        let start = self.free[buffer].max(from);
        self.free[buffer] = start + drawn.max(held);
        self.there[at] = start + drawn;
        (start, start + drawn)
    }

    /// Reads a line after those that lead to it; the time at which it is there.
    fn read(&mut self, record: usize, line: usize) -> f64 {
        let known = match self.shape.lines[line].after {
            Some(before) => self.read(record, before),
            None => self.front,
        };
        self.fetch(record, line, known.max(self.front)).1
    }

    fn prefetch(&mut self, record: usize, line: usize) {
        self.take_up(PREFETCH_INSTRUCTIONS, self.core.prefetch);
        let known = match self.shape.lines[line].after {
            // The address is read like any other value: that load is in the window until it is
            // done.
            Some(before) => self.read(record, before),
            None => self.front,
        };
        let (start, _) = self.fetch(record, line, known);
        self.done_at(start);
    }

    fn record(&mut self, record: usize) {
        for line in 0..self.shape.lines.len() {
            let ahead = self.how.ahead[line];
            if ahead > 0 && record + ahead < self.how.batch {
                self.prefetch(record + ahead, line);
            }
        }
        // The loads come first, and what is computed from them is taken up behind them.
        let loads = LOAD_INSTRUCTIONS * self.shape.lines.len() as f64;
        self.take_up(loads, 0.0);
        let ready = (0..self.shape.lines.len()).fold(self.front, |ready, line| ready.max(self.read(record, line)));
        self.done_at(ready);
        self.take_up((self.shape.instructions - loads).max(0.0), self.shape.work);
        self.done_at(ready + self.shape.chain);
    }
}

/// Time per record of a loop.
pub fn time_per_record(core: Reorderer, shape: &LoopShape, how: LoopRun<'_>) -> f64 {
    let batches = how.records.div_ceil(how.batch.max(1)).max(1);
    let mut run = Run {
        core,
        shape,
        how,
        random: XorShift::new(how.seed),
        front: 0.0,
        position: 0.0,
        under_way: VecDeque::new(),
        done: 0.0,
        free: vec![0.0; core.fills.max(1)],
        there: Vec::new(),
    };
    for _ in 0..batches {
        run.there.clear();
        run.there.resize(how.batch * shape.lines.len(), NOT_FETCHED);
        for record in 0..how.batch {
            run.record(record);
        }
    }
    run.front.max(run.done) / (batches * how.batch) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: Reorderer = Reorderer { window: 100.0, fills: 8, prefetch: 1.0 };

    fn shape(lines: &[Option<usize>], work: f64, instructions: f64) -> LoopShape {
        let lines = lines.iter().map(|after| ShapeLine { after: *after }).collect();
        LoopShape { lines, work, instructions, chain: 0.0 }
    }

    fn time(core: Reorderer, shape: &LoopShape, ahead: &[usize], latency: f64) -> f64 {
        let latencies = [latency];
        let latencies: Vec<&[f64]> = shape.lines.iter().map(|_| &latencies[..]).collect();
        time_per_record(
            core,
            shape,
            LoopRun { ahead, batch: 256, latencies: &latencies, held: &[], records: 2560, seed: 1 },
        )
    }

    #[test]
    fn a_window_of_one_record_waits_for_each_line_and_one_of_four_for_a_quarter() {
        let one = time(CORE, &shape(&[None], 20.0, 100.0), &[0], 300.0);
        assert!((one - 300.0).abs() < 25.0, "{one}");
        let four = time(CORE, &shape(&[None], 20.0, 25.0), &[0], 300.0);
        assert!((four - 75.0).abs() < 12.0, "{four}");
    }

    #[test]
    fn a_prefetch_far_enough_ahead_hides_the_line_and_one_too_near_hides_a_part() {
        let shape = shape(&[None], 40.0, 100.0);
        let [far, near] = [8, 2].map(|ahead| time(CORE, &shape, &[ahead], 300.0));
        assert!((40.0..55.0).contains(&far), "{far}");
        assert!((100.0..160.0).contains(&near), "{near}");
    }

    #[test]
    fn few_fill_buffers_bound_the_rate() {
        let shape = shape(&[None], 10.0, 50.0);
        let time = time(Reorderer { fills: 4, ..CORE }, &shape, &[32], 400.0);
        assert!((time - 100.0).abs() < 8.0, "four lines in 400: {time}");
    }

    #[test]
    fn a_line_behind_another_takes_both_and_its_prefetch_waits_for_the_first() {
        let chained = shape(&[None, Some(0)], 20.0, 100.0);
        let core = Reorderer { fills: 32, ..CORE };
        let none = time(core, &chained, &[0, 0], 300.0);
        assert!((none - 600.0).abs() < 30.0, "{none}");
        let second_alone = time(core, &chained, &[0, 8], 300.0);
        let both = time(core, &chained, &[32, 16], 300.0);
        assert!(both < 60.0 && second_alone > 250.0, "{both} {second_alone}");
    }

    #[test]
    fn the_first_records_of_a_batch_are_never_asked_for_ahead() {
        let shape = shape(&[None], 40.0, 100.0);
        let latencies = [300.0];
        let run = |batch| {
            let how = LoopRun { ahead: &[8], batch, latencies: &[&latencies], held: &[], records: 4096, seed: 1 };
            time_per_record(CORE, &shape, how)
        };
        assert!(run(8) > 280.0 && run(16) > run(256) * 2.0);
    }

    #[test]
    fn lines_that_are_near_cost_the_work_alone() {
        let shape = shape(&[None, None], 40.0, 100.0);
        let how = LoopRun { ahead: &[0, 0], batch: 64, latencies: &[&[], &[]], held: &[], records: 640, seed: 1 };
        assert_eq!(time_per_record(CORE, &shape, how), 40.0);
    }
}

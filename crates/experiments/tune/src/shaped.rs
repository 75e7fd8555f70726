//! A loop of a shape that is described, over lines of its own.

use dataplane::machine;
use std::ffi::c_void;
use std::hint::black_box;

/// A line of a record; the first word of one that leads to others is their place.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u64; 8]);

/// Records of some lines each. The n-th lines of all records lie one behind the other, so that no
/// two lines of a record are neighbours.
pub struct ShapedLoop {
    lines: Vec<Line>,
    count: usize,
    after: Vec<Option<usize>>,
    rounds: u32,
    chained: bool,
    result: u64,
}

const PRIME: u64 = 0x0100_0000_01b3;

/// Bytes of a line.
pub const LINE_BYTES: u64 = size_of::<Line>() as u64;

impl ShapedLoop {
    /// Makes `count` records with a line for each entry of `after`, which names the line that leads
    /// to it; `None` if there is no memory.
    pub fn new(count: usize, after: &[Option<usize>], rounds: u32, chained: bool) -> Option<Self> {
        let all = count.checked_mul(after.len())?;
        let mut lines = Vec::new();
        lines.try_reserve_exact(all).ok()?;
        for at in 0..all {
            let (record, line) = ((at % count) as u64, (at / count) as u64);
            let mut words = [record; 8];
            // What is read of a line for its record's result differs from line to line.
            words[1] = record.wrapping_mul(PRIME).rotate_left(line as u32 * 8 + 5);
            lines.push(Line(words));
        }
        Some(Self {
            lines,
            count,
            after: after.to_vec(),
            rounds,
            chained,
            result: 0,
        })
    }

    /// The records, as a loop's caller hands them over.
    pub fn records(&self) -> Vec<*mut c_void> {
        (0..self.count).map(|index| index as *mut c_void).collect()
    }

    /// The address of a record's first line.
    pub fn address(&self, record: usize) -> *const c_void {
        (&raw const self.lines[record]).cast()
    }

    /// Works on some records, with a prefetch distance for each line.
    pub fn run(&mut self, records: &[*mut c_void], ahead: &[u32]) {
        let result = match (self.after.len(), self.chained) {
            (1, true) => self.go::<1, true>(records, ahead),
            (1, false) => self.go::<1, false>(records, ahead),
            (2, true) => self.go::<2, true>(records, ahead),
            (2, false) => self.go::<2, false>(records, ahead),
            (3, true) => self.go::<3, true>(records, ahead),
            (3, false) => self.go::<3, false>(records, ahead),
            (_, true) => self.go::<0, true>(records, ahead),
            (_, false) => self.go::<0, false>(records, ahead),
        };
        self.result ^= black_box(result);
    }

    /// The loop; `LINES` is 0 for any number of them.
    #[inline(never)]
    fn go<const LINES: usize, const CHAINED: bool>(
        &self,
        records: &[*mut c_void],
        ahead: &[u32],
    ) -> u64 {
        let lines = if LINES == 0 { self.after.len() } else { LINES };
        let (after, ahead) = (&self.after[..lines], &ahead[..lines]);
        let mut all = 0;
        for (at, record) in records.iter().enumerate() {
            for (line, distance) in ahead.iter().enumerate() {
                let distance = *distance as usize;
                if distance > 0
                    && let Some(later) = records.get(at + distance)
                {
                    machine::prefetch(
                        &raw const self.lines[self.place(*later as usize, line, after)],
                    );
                }
            }
            let mut sum = 1;
            for line in 0..lines {
                sum ^= self.lines[self.place(*record as usize, line, after)].0[1];
            }
            all ^= work::<CHAINED>(sum, self.rounds);
        }
        all
    }

    /// The place of a record's line. Where another leads to it, that one is read.
    #[inline(always)]
    fn place(&self, record: usize, line: usize, after: &[Option<usize>]) -> usize {
        let mut index = record;
        if let Some(before) = after[line] {
            let before = match after[before] {
                None => before * self.count + record,
                Some(_) => self.place_behind(record, before),
            };
            // The value is the record's number, which only the load tells.
            index = self.lines[before].0[0] as usize;
        }
        line * self.count + index
    }

    /// The same for a line of which more than one leads to it.
    #[inline(never)]
    fn place_behind(&self, record: usize, line: usize) -> usize {
        let index = match self.after[line] {
            None => record,
            Some(before) => self.lines[self.place_behind(record, before)].0[0] as usize,
        };
        line * self.count + index
    }
}

/// Multiplications, each after the one before or in four chains.
#[inline(always)]
fn work<const CHAINED: bool>(seed: u64, rounds: u32) -> u64 {
    if CHAINED {
        return (0..rounds).fold(seed, |hash, round| {
            (hash ^ u64::from(round)).wrapping_mul(PRIME)
        });
    }
    let mut hashes = [seed; 4];
    for round in 0..rounds / 4 {
        for hash in &mut hashes {
            *hash = (*hash ^ u64::from(round)).wrapping_mul(PRIME);
        }
    }
    hashes
        .into_iter()
        .fold(0, |all, hash| all.rotate_left(7) ^ hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_record_lead_to_each_other() {
        let shaped = ShapedLoop::new(10, &[None, Some(0), Some(1), None], 3, true).unwrap();
        for record in 0..10 {
            for line in 0..4 {
                assert_eq!(
                    shaped.place(record, line, &shaped.after),
                    line * 10 + record
                );
            }
        }
    }

    #[test]
    fn the_result_does_not_depend_on_the_distances() {
        for lines in 1..=4 {
            for chained in [true, false] {
                let after: Vec<Option<usize>> =
                    (0..lines).map(|line: usize| line.checked_sub(1)).collect();
                let results = [0, 3, 1000].map(|ahead| {
                    let mut shaped = ShapedLoop::new(100, &after, 8, chained).unwrap();
                    let records = shaped.records();
                    shaped.run(&records[10..90], &vec![ahead; lines]);
                    shaped.result
                });
                assert!(
                    results
                        .iter()
                        .all(|result| *result == results[0] && *result != 0),
                    "{results:?}"
                );
            }
        }
    }

    #[test]
    fn more_records_than_there_is_memory_for_are_refused() {
        assert!(ShapedLoop::new(usize::MAX / 2, &[None, None, None], 0, true).is_none());
    }
}

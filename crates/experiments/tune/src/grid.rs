//! The cells that are measured: values of knobs, batches, working sets.

use crate::protocol::{KnobKind, LoopAbout};

/// A working set: the records that are gone through before one comes again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkingSet {
    /// Name of the working set: `warm`, `l2`, `llc`, `memory`.
    pub name: &'static str,
    /// Records of the working set.
    pub records: u64,
}

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The number of its working set.
    pub set: usize,
    /// Records of a call.
    pub batch: u64,
    /// A value for each knob.
    pub values: Vec<u32>,
}

/// Distances that are tried where there is one knob, and where there are two or more.
const LADDER: [u32; 13] = [0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32];
const SHORT_LADDER: [u32; 8] = [0, 1, 2, 4, 8, 12, 16, 32];
const SHORTEST_LADDER: [u32; 4] = [0, 4, 8, 32];

/// Most cells of a full product.
const PRODUCT_MAX: usize = 600;

/// Batches that are tried beside the one that is asked for.
pub const BATCHES: [u64; 7] = [16, 32, 64, 128, 256, 512, 1024];

/// The rest of the ladder: what is tried where the best of the shorter is its end.
const FURTHER: [u32; 8] = [48, 64, 96, 128, 192, 256, 512, 1000];

/// The cells of a loop.
pub struct Grid {
    /// The working sets, the largest last.
    pub sets: Vec<WorkingSet>,
    /// The batch that was asked for.
    pub batch: u64,
    /// The cells.
    pub cells: Vec<Cell>,
    /// The kind of each knob.
    kinds: Vec<KnobKind>,
    /// For each line the number of those that lead to it.
    depths: Vec<u32>,
    /// The largest value of each knob.
    limits: Vec<u32>,
    /// Values of choices in today's source.
    today: Vec<u32>,
}

/// The working sets of a loop: a batch, halves of the second and the last cache, and `memory`
/// bytes.
fn working_sets(about: &LoopAbout, batch: u64, caches: &[u64], memory: u64) -> Vec<WorkingSet> {
    let least = 2 * batch.max(1024);
    let most = about.most_records.unwrap_or(u64::MAX).max(least);
    let records = |bytes: u64| (bytes.min(memory) / about.record_bytes).clamp(least, most);
    let mut sets = vec![WorkingSet { name: "warm", records: batch }];
    // Which caches there are, the system says: the first is not worth a set of its own.
    let names: &[&str] = if caches.len() > 2 { &["l2", "llc"] } else { &["llc"] };
    for (name, bytes) in names.iter().zip(&caches[1.min(caches.len())..]) {
        sets.push(WorkingSet { name, records: records(bytes / 2) });
    }
    sets.push(WorkingSet { name: "memory", records: records(memory) });
    sets.dedup_by_key(|set| set.records);
    sets
}

impl Grid {
    /// The cells of a loop, for a batch, with working sets of half the second and the last cache
    /// and of `memory` bytes.
    pub fn new(about: &LoopAbout, batch: u64, caches: &[u64], memory: u64) -> Self {
        let sets = working_sets(about, batch, caches, memory);
        let mut grid = Self {
            sets,
            batch,
            cells: Vec::new(),
            kinds: about.knobs.iter().map(|knob| knob.kind).collect(),
            depths: depths(about),
            limits: about.knobs.iter().map(|knob| if knob.most == 0 { u32::MAX } else { knob.most }).collect(),
            today: about
                .knobs
                .iter()
                .map(|knob| if knob.kind == KnobKind::Choice { knob.today.max(knob.least) } else { 0 })
                .collect(),
        };
        let far = grid.sets.len() - 1;
        grid.add_products(about, far);
        for set in 0..=far {
            for &ahead in &LADDER {
                grid.add(set, batch, grid.all(ahead));
                grid.add(set, batch, grid.spread(ahead));
            }
        }
        for batch in BATCHES {
            for &ahead in &LADDER {
                grid.add(far, batch, grid.all(ahead));
                grid.add(far, batch, grid.spread(ahead));
            }
            grid.add(0, batch, grid.all(0));
        }
        grid
    }

    /// Adds every combination of the knobs, with the longest ladder that leaves few enough; with
    /// too many knobs one after the other.
    fn add_products(&mut self, about: &LoopAbout, far: usize) {
        let choices: Vec<Vec<u32>> = about
            .knobs
            .iter()
            .filter(|knob| knob.kind == KnobKind::Choice)
            .map(|knob| {
                let powers = (0..u32::BITS).map(|bit| 1 << bit);
                powers.filter(|value| (knob.least..=knob.most).contains(value)).collect()
            })
            .collect();
        let ladders: [&[u32]; 3] = [&LADDER, &SHORT_LADDER, &SHORTEST_LADDER];
        let distances = self.distances();
        let size = |ladder: &[u32]| {
            choices.iter().map(Vec::len).fold(ladder.len().saturating_pow(distances as u32), usize::saturating_mul)
        };
        let first = usize::from(distances > 1);
        let ladder = ladders[first..].iter().find(|ladder| size(ladder) <= PRODUCT_MAX);
        match ladder {
            Some(ladder) => {
                let axes: Vec<Vec<u32>> = {
                    let mut choices = choices.iter();
                    let axis = |kind: &KnobKind| match kind {
                        KnobKind::Distance => ladder.to_vec(),
                        KnobKind::Choice => choices.next().cloned().unwrap_or_default(),
                        KnobKind::Line => vec![0],
                    };
                    self.kinds.iter().map(axis).collect()
                };
                for values in product(&axes) {
                    self.add(far, self.batch, values);
                }
            }
            // Too many knobs for all their values together: one after the other.
            None => {
                for knob in (0..about.knobs.len()).filter(|knob| about.knobs[*knob].is_distance()) {
                    for &value in &SHORT_LADDER {
                        let mut values = self.all(8);
                        values[knob] = value;
                        self.add(far, self.batch, values);
                    }
                }
            }
        }
    }

    /// The number of distances.
    pub fn distances(&self) -> usize {
        self.kinds.iter().filter(|kind| **kind == KnobKind::Distance).count()
    }

    /// All distances alike, and choices as they are today.
    pub fn all(&self, ahead: u32) -> Vec<u32> {
        let value = |(kind, today): (&KnobKind, &u32)| if *kind == KnobKind::Distance { ahead } else { *today };
        self.kinds.iter().zip(&self.today).map(value).collect()
    }

    /// A line that others lead to is asked for at half the distance of the one before: it is there
    /// when the next is asked for.
    pub fn spread(&self, ahead: u32) -> Vec<u32> {
        let halved = |(value, depth): (u32, &u32)| value.checked_shr(*depth).unwrap_or(0);
        let values = self.all(ahead).into_iter().zip(&self.depths);
        values
            .zip(&self.kinds)
            .map(|((value, depth), kind)| if *kind == KnobKind::Distance { halved((value, depth)) } else { value })
            .collect()
    }

    /// The number of a cell.
    pub fn find(&self, set: usize, batch: u64, values: &[u32]) -> Option<usize> {
        self.cells.iter().position(|cell| cell.set == set && cell.batch == batch && cell.values == values)
    }

    /// Adds a cell that can be and is not there yet.
    fn add(&mut self, set: usize, batch: u64, values: Vec<u32>) -> bool {
        let fits = |((value, limit), kind): ((&u32, &u32), &KnobKind)| {
            value <= limit && (*kind != KnobKind::Distance || u64::from(*value) < batch)
        };
        let can_be = values.iter().zip(&self.limits).zip(&self.kinds).all(fits);
        if !can_be || self.find(set, batch, &values).is_some() {
            return false;
        }
        self.cells.push(Cell { set, batch, values });
        true
    }

    /// Adds cells beyond `best`, the best cell of the largest set at the batch that was asked for,
    /// if it is at an end of what was tried. Returns their number.
    pub fn extend(&mut self, best: usize) -> usize {
        let best = self.cells[best].clone();
        let before = self.cells.len();
        for knob in 0..best.values.len() {
            if self.kinds[knob] != KnobKind::Distance || best.values[knob] < self.longest(best.set, best.batch, knob) {
                continue;
            }
            for further in FURTHER.into_iter().filter(|further| *further > best.values[knob]).take(2) {
                let mut one = best.values.clone();
                one[knob] = further;
                self.add(best.set, best.batch, one);
                for values in [self.all(further), self.spread(further)] {
                    self.add(best.set, best.batch, values);
                }
            }
        }
        self.cells.len() - before
    }

    /// True if no longer distance than one of a cell's was tried: no batch and no ladder goes
    /// further. What does not prefetch is at no end.
    pub fn is_longest(&self, cell: usize) -> bool {
        let cell = &self.cells[cell];
        let longest = |knob: usize| cell.values[knob] == self.longest(cell.set, cell.batch, knob);
        (0..cell.values.len())
            .any(|knob| self.kinds[knob] == KnobKind::Distance && cell.values[knob] > 0 && longest(knob))
    }

    /// The largest value of a knob that was tried.
    fn longest(&self, set: usize, batch: u64, knob: usize) -> u32 {
        let tried = self.cells.iter().filter(|cell| cell.set == set && cell.batch == batch);
        tried.map(|cell| cell.values[knob]).max().unwrap_or(0)
    }
}

/// For each knob the number of lines that lead to its own.
pub fn depths(about: &LoopAbout) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::new();
    for knob in &about.knobs {
        depths.push(knob.after.map_or(0, |after| depths[after] + 1));
    }
    depths
}

/// Every combination of a value of each axis.
fn product(axes: &[Vec<u32>]) -> Vec<Vec<u32>> {
    axes.iter().fold(vec![Vec::new()], |sofar, axis| {
        sofar
            .iter()
            .flat_map(|values| {
                axis.iter().map(|value| {
                    let mut values = values.clone();
                    values.push(*value);
                    values
                })
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::KnobAbout;

    fn about(distances: usize, choice: bool) -> LoopAbout {
        let distance = |n: usize| KnobAbout { after: n.checked_sub(1), ..KnobAbout::distance(&format!("d{n}")) };
        let mut knobs: Vec<KnobAbout> = (0..distances).map(distance).collect();
        let unroll = KnobAbout { kind: KnobKind::Choice, least: 1, most: 4, today: 1, ..KnobAbout::distance("unroll") };
        knobs.extend(choice.then_some(unroll));
        LoopAbout { name: "loop".to_owned(), knobs, record_bytes: 128, most_records: None }
    }

    fn grid(distances: usize, choice: bool, batch: u64) -> Grid {
        Grid::new(&about(distances, choice), batch, &[32 << 10, 1 << 20, 32 << 20], 1 << 28)
    }

    #[test]
    fn every_combination_is_there_once_and_none_beyond_the_batch() {
        for (distances, choice) in [(1, false), (1, true), (2, true), (3, false), (7, false)] {
            let grid = grid(distances, choice, 64);
            for (at, cell) in grid.cells.iter().enumerate() {
                assert_eq!(grid.find(cell.set, cell.batch, &cell.values), Some(at));
                assert!(cell.values.iter().all(|value| u64::from(*value) < cell.batch));
            }
            assert!(grid.cells.len() < 1500, "{}", grid.cells.len());
        }
        let two = grid(2, false, 256);
        assert!(
            two.find(3, 256, &[32, 4]).is_some()
                && two.find(1, 256, &[4, 4]).is_some()
                && two.find(1, 256, &[12, 6]).is_some()
        );
        assert_eq!(two.sets.iter().map(|set| set.name).collect::<Vec<_>>(), ["warm", "l2", "llc", "memory"]);
        assert_eq!(two.sets[3].records, (1 << 28) / 128);
    }

    #[test]
    fn the_grid_grows_where_its_end_is_best_and_nowhere_else() {
        let mut grid = grid(2, false, 256);
        let inside = grid.find(3, 256, &[8, 8]).unwrap();
        assert_eq!(grid.extend(inside), 0);
        let end = grid.find(3, 256, &[32, 8]).unwrap();
        assert!(grid.extend(end) > 0);
        assert!(grid.find(3, 256, &[64, 8]).is_some() && grid.find(3, 256, &[64, 64]).is_some());
        let mut short = self::grid(1, false, 16);
        let end = short.find(3, 16, &[12]).unwrap();
        assert_eq!(short.extend(end), 0, "nothing lies beyond a batch");
    }
}

//! The points of a plan that an earlier, smaller one left: they are taken over and not run again.

use crate::dataset::{Dataset, POINTS_FILE};
use crate::error::Error;
use crate::fits::Fitting;
use crate::growth::Places;
use crate::manifest::Chunk;
use crate::plan::Plan;
use crate::read;
use recording::table::{self, Values};
use recording::{Header, Recording};
use std::collections::BTreeMap;

/// Says of each key what it is where nobody sets it.
type Usual<'p> = Box<dyn Fn(&str) -> Option<String> + Sync + 'p>;

/// The data sets that were set aside when the plan grew.
pub(crate) struct Earlier<'p> {
    plan: &'p Plan,
    usual: Usual<'p>,
    sets: Vec<Dataset>,
}

/// A point that was taken over.
pub(crate) struct Taken {
    /// Rows of the point, under the header of its chunk.
    pub(crate) recording: Recording,
    /// Frequency of the counter, where it is known.
    pub(crate) counter_hz: Option<u64>,
    /// The complaint of its experiment, if there was one.
    pub(crate) complaint: Option<String>,
}

impl<'p> Earlier<'p> {
    /// The data sets in the folder of one that grew.
    pub(crate) fn of(dataset: &Dataset, fitting: &'p Fitting) -> Self {
        Self {
            plan: &fitting.plan,
            usual: Box::new(|key| fitting.usual(key)),
            sets: dataset.earlier(),
        }
    }

    /// The chunks that are there, of which points are taken over.
    ///
    /// # Errors
    /// What is said of one cannot be read.
    pub(crate) fn each_chunk(&self, mut take: impl FnMut(u64, &Chunk)) -> Result<(), Error> {
        for set in &self.sets {
            for chunk in 0..set.size().1 {
                if let Some(said) = set.chunk(chunk)? {
                    take(chunk, &said);
                }
            }
        }
        Ok(())
    }

    /// Looks for points one after another.
    pub(crate) fn shelf(&self) -> Shelf<'_> {
        let places = self
            .sets
            .iter()
            .map(|set| (set, Places::new(set.plan(), &self.usual)))
            .collect();
        Shelf {
            plan: self.plan,
            places,
            held: None,
            used: BTreeMap::new(),
            named: BTreeMap::new(),
        }
    }
}

/// Finds points in earlier data sets. It holds the rows of the chunk that it found the last in:
/// neighbours in a plan are mostly neighbours in the one before.
pub(crate) struct Shelf<'e> {
    plan: &'e Plan,
    places: Vec<(&'e Dataset, Places<'e>)>,
    held: Option<LoadedChunk>,
    /// The platform files, and those named by settings, that points were made from that were taken
    /// over.
    pub(crate) used: BTreeMap<String, u32>,
    pub(crate) named: BTreeMap<String, u32>,
}

/// A chunk in memory.
struct LoadedChunk {
    set: usize,
    chunk: u64,
    /// Manifest and header of the chunk; `None` if it is not there or damaged.
    said: Option<(Chunk, Header)>,
    rows: BTreeMap<u64, Recording>,
    counters: BTreeMap<u64, u64>,
}

impl Shelf<'_> {
    /// The point of a number, if it was run before and did not fail.
    pub(crate) fn take(&mut self, number: u64) -> Option<Taken> {
        for set in 0..self.places.len() {
            let (dataset, places) = &self.places[set];
            let Some(there) = places.number_of(self.plan, number) else {
                continue;
            };
            let chunk = there / dataset.plan().chunk();
            if self
                .held
                .as_ref()
                .is_none_or(|held| (held.set, held.chunk) != (set, chunk))
            {
                self.held = Some(LoadedChunk::read(dataset, set, chunk));
            }
            let Some(held) = &mut self.held else { continue };
            let Some((said, header)) = &held.said else {
                continue;
            };
            if said.failed.iter().any(|failed| failed.point == there) {
                continue;
            }
            let complaint = said
                .complaints
                .iter()
                .find(|complaint| complaint.point == there);
            self.used
                .extend(said.inputs.iter().map(|(path, sum)| (path.clone(), *sum)));
            self.named
                .extend(said.named.iter().map(|(path, sum)| (path.clone(), *sum)));
            return Some(Taken {
                counter_hz: held.counters.get(&there).copied(),
                complaint: complaint.map(|complaint| complaint.why.clone()),
                recording: held
                    .rows
                    .remove(&there)
                    .unwrap_or_else(|| Recording::new(header.clone())),
            });
        }
        None
    }
}

impl LoadedChunk {
    /// Reads a chunk. One that cannot be read has no points: they are run.
    fn read(dataset: &Dataset, set: usize, chunk: u64) -> Self {
        let mut held = Self {
            set,
            chunk,
            said: None,
            rows: BTreeMap::new(),
            counters: BTreeMap::new(),
        };
        let Ok(Some(said)) = dataset.whole_chunk(chunk) else {
            return held;
        };
        // Without a header all of its points failed.
        let Some(header) = said.header.clone() else {
            return held;
        };
        let Ok(rows) = read::rows_of_chunk(dataset, chunk, &said, &header) else {
            return held;
        };
        let Ok(columns) = table::read(&dataset.chunk_folder(chunk).join(POINTS_FILE)) else {
            return held;
        };
        let of = |name: &str| match columns
            .iter()
            .find(|column| column.name == name)
            .map(|column| &column.values)
        {
            Some(Values::U64(values)) => values.as_slice(),
            _ => &[],
        };
        let counters = of("sweep_point").iter().zip(of("counter_hz"));
        held.counters = counters
            .filter_map(|(point, hz)| Some(((*point)?, (*hz)?)))
            .collect();
        (held.rows, held.said) = (rows, Some((said, header)));
        held
    }
}

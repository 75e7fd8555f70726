//! The values that a loop's knobs can have: where a search starts, and what lies beside a value.

use crate::protocol::{KnobAbout, KnobKind};
use itertools::Itertools;

/// Distances of a search, in records: each up to 16, then about an eighth apart.
const FINE: [u32; 46] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 32, 36, 40,
    44, 48, 56, 64, 72, 80, 96, 112, 128, 144, 160, 192, 224, 256, 320, 384, 512, 640, 768, 1000,
];

/// Distances whose combinations a search starts from; the first list that leaves few enough.
const COARSE: [&[u32]; 4] = [
    &[0, 2, 4, 8, 12, 16, 24, 32, 48],
    &[0, 4, 8, 16, 32],
    &[0, 8, 24],
    &[],
];

/// The distance of the last line in the rule of thumb, with each line before it twice as far.
const RULE: u32 = 12;

/// The distances of the first line that a person would try, each later line at half of it.
const TRIED: [u32; 4] = [4, 8, 16, 32];

/// The values of a loop's knobs, in batches of one size.
pub struct Space<'a> {
    knobs: &'a [KnobAbout],
    batch: u64,
}

/// A place where a search starts.
#[derive(Clone)]
pub struct Start {
    /// The name that the answer gives it.
    pub name: &'static str,
    /// A value for each knob.
    pub values: Vec<u32>,
}

impl<'a> Space<'a> {
    /// The values of knobs in batches of `batch` records, at least 1.
    pub fn new(knobs: &'a [KnobAbout], batch: u64) -> Self {
        Self { knobs, batch }
    }

    /// The least and the largest value of a knob. A distance beyond the end of a batch asks for
    /// nothing.
    fn range(&self, knob: &KnobAbout) -> (u32, u32) {
        let end = if knob.most == 0 { u32::MAX } else { knob.most };
        match knob.kind {
            KnobKind::Distance => (
                knob.least,
                end.min(u32::try_from(self.batch - 1).unwrap_or(u32::MAX))
                    .max(knob.least),
            ),
            KnobKind::Choice => (knob.least, end),
            KnobKind::Line => (0, 0),
        }
    }

    /// Values within the ranges of their knobs.
    pub fn fit(&self, values: &[u32]) -> Vec<u32> {
        self.knobs
            .iter()
            .zip(values)
            .map(|(knob, value)| {
                let (least, most) = self.range(knob);
                (*value).clamp(least, most)
            })
            .collect()
    }

    /// The values of a knob that a search tries, in order.
    pub fn ladder(&self, knob: usize) -> Vec<u32> {
        let knob = &self.knobs[knob];
        let (least, most) = self.range(knob);
        let mut values = match knob.kind {
            KnobKind::Distance => FINE.to_vec(),
            KnobKind::Choice => (0..u32::BITS).map(|bit| 1 << bit).collect(),
            KnobKind::Line => vec![0],
        };
        values.push(knob.today);
        if knob.kind == KnobKind::Distance {
            values.push(least);
        }
        values.retain(|value| (least..=most).contains(value));
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Values with a distance for each line by its place in the chain of lines: `ahead` of the
    /// lines that lead to it, and of those that it leads to. Choices are as today.
    fn by_place(&self, ahead: impl Fn(u32, u32) -> u32) -> Vec<u32> {
        let (depths, heights) = places(self.knobs);
        self.fit(
            &self
                .knobs
                .iter()
                .enumerate()
                .map(|(at, knob)| match knob.kind {
                    KnobKind::Distance => ahead(depths[at], heights[at]),
                    KnobKind::Choice | KnobKind::Line => knob.today,
                })
                .collect_vec(),
        )
    }

    /// Today's values.
    pub fn today(&self) -> Vec<u32> {
        self.fit(&self.knobs.iter().map(|knob| knob.today).collect_vec())
    }

    /// No prefetch, or the least distances that the loop takes.
    pub fn none(&self) -> Vec<u32> {
        self.by_place(|_, _| 0)
    }

    /// What stands beside the best in an answer, each once.
    pub fn named(&self) -> Vec<Start> {
        let mut all = vec![
            Start {
                name: "today",
                values: self.today(),
            },
            Start {
                name: "no prefetch",
                values: self.none(),
            },
            Start {
                name: "rule of thumb",
                values: self.by_place(|_, height| RULE << height.min(16)),
            },
        ];
        all.extend(TRIED.map(|ahead| Start {
            name: "4, 8, 16 or 32",
            values: self.by_place(|depth, _| ahead >> depth.min(31)),
        }));
        all
    }

    /// Where a search starts, each place once: at most about `most` of them.
    pub fn starts(&self, most: usize) -> Vec<Vec<u32>> {
        let mut all = self
            .named()
            .into_iter()
            .map(|start| start.values)
            .collect_vec();
        // Each line some records ahead of the one that it leads to, and the last as many.
        all.extend(
            [2, 3, 4, 6, 8, 12, 16, 24].map(|step| self.by_place(|_, height| step * (height + 1))),
        );
        all.extend([4, 8, 12, 16, 24, 32].map(|ahead| self.by_place(|_, _| ahead)));
        let axes = |coarse: &[u32]| -> Vec<Vec<u32>> {
            (0..self.knobs.len())
                .map(|knob| match self.knobs[knob].kind {
                    KnobKind::Distance => self
                        .ladder(knob)
                        .into_iter()
                        .filter(|value| coarse.contains(value))
                        .collect(),
                    KnobKind::Choice | KnobKind::Line => self.ladder(knob),
                })
                .collect()
        };
        let size = |axes: &[Vec<u32>]| axes.iter().map(Vec::len).fold(1, usize::saturating_mul);
        let axes = COARSE
            .iter()
            .map(|coarse| axes(coarse))
            .find(|axes| size(axes) <= most)
            .unwrap_or_default();
        if axes.len() == self.knobs.len() {
            all.extend(axes.into_iter().multi_cartesian_product());
        }
        once(all)
    }

    /// What lies `step` places beside some values: knob by knob, two distances against each other,
    /// all distances together, and every value of each choice.
    pub fn beside(&self, values: &[u32], step: usize) -> Vec<Vec<u32>> {
        let moved = |knob: usize, up: bool| {
            let ladder = self.ladder(knob);
            let at = ladder.partition_point(|value| *value < values[knob]);
            let to = if up {
                (at + step).min(ladder.len().saturating_sub(1))
            } else {
                at.saturating_sub(step)
            };
            ladder.get(to).copied().unwrap_or(values[knob])
        };
        let with = |knob: usize, value: u32| with(values, knob, value);
        let mut all = Vec::new();
        for (at, knob) in self.knobs.iter().enumerate() {
            match knob.kind {
                KnobKind::Distance => all.extend([false, true].map(|up| with(at, moved(at, up)))),
                KnobKind::Choice => {
                    all.extend(self.ladder(at).into_iter().map(|value| with(at, value)))
                }
                KnobKind::Line => {}
            }
        }
        for (one, other) in (0..values.len()).cartesian_product(0..values.len()) {
            if one != other && self.knobs[one].is_distance() && self.knobs[other].is_distance() {
                let mut both = with(one, moved(one, true));
                both[other] = moved(other, false);
                all.push(both);
            }
        }
        for up in [false, true] {
            all.push(
                (0..values.len())
                    .map(|at| {
                        if self.knobs[at].is_distance() && values[at] > 0 {
                            moved(at, up)
                        } else {
                            values[at]
                        }
                    })
                    .collect(),
            );
        }
        once(all)
    }

    /// A curve through some values for each knob, the others as they are: `points` at most each.
    pub fn curves(&self, values: &[u32], points: usize) -> Vec<Vec<u32>> {
        once(
            (0..self.knobs.len())
                .flat_map(|knob| {
                    let ladder = self.ladder(knob);
                    let every = ladder.len().div_ceil(points).max(1);
                    let at = ladder
                        .iter()
                        .position(|value| *value == values[knob])
                        .unwrap_or(0)
                        % every;
                    ladder
                        .into_iter()
                        .skip(at)
                        .step_by(every)
                        .map(move |value| with(values, knob, value))
                })
                .collect(),
        )
    }
}

/// Values with another one for a knob.
fn with(values: &[u32], knob: usize, value: u32) -> Vec<u32> {
    let mut other = values.to_vec();
    other[knob] = value;
    other
}

/// Each of some values once, in their order.
pub fn once(values: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    values.into_iter().unique().collect()
}

/// For each knob the number of lines that lead to its own, and of prefetched lines in the longest
/// chain that its own leads to.
pub fn places(knobs: &[KnobAbout]) -> (Vec<u32>, Vec<u32>) {
    let mut depths = Vec::new();
    for knob in knobs {
        depths.push(knob.after.map_or(0, |after| depths[after] + 1));
    }
    let mut heights = vec![0; knobs.len()];
    for (at, knob) in knobs
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, knob)| knob.is_distance())
    {
        if let Some(after) = knob.after {
            heights[after] = heights[after].max(heights[at] + 1);
        }
    }
    (depths, heights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::knobs;

    #[test]
    fn no_value_leaves_the_range_of_its_knob() {
        for (distances, choice) in [
            (1, false),
            (1, true),
            (2, true),
            (3, false),
            (7, false),
            (0, true),
        ] {
            let mut knobs = knobs(distances, choice);
            if let Some(first) = knobs.iter_mut().find(|knob| knob.is_distance()) {
                (first.least, first.most) = (3, 40);
            }
            let space = Space::new(&knobs, 32);
            let starts = space.starts(800);
            assert!(starts.len() < 900, "{}", starts.len());
            let all = starts
                .iter()
                .flat_map(|values| [1, 2, 4].map(|step| space.beside(values, step)))
                .flatten()
                .chain(space.curves(&starts[0], 9))
                .chain(starts.clone())
                .collect_vec();
            assert!(all.iter().all(|values| *values == space.fit(values)));
            assert!(
                all.iter()
                    .all(|values| values.iter().all(|value| *value < 32)),
                "beyond the batch"
            );
            assert!(
                distances == 0 || all.iter().all(|values| values[0] >= 3),
                "below the least"
            );
        }
    }

    #[test]
    fn rules_of_engineers_are_tried_with_any_number_of_lines() {
        let three = knobs(3, false);
        let space = Space::new(&three, 256);
        let starts = space.starts(800);
        for wanted in [
            [24, 16, 8],
            [48, 24, 12],
            [16, 8, 4],
            [8, 8, 8],
            [0, 0, 0],
            [36, 24, 12],
        ] {
            assert!(starts.contains(&wanted.to_vec()), "{wanted:?}");
        }
        assert!(space.beside(&[24, 18, 12], 1).contains(&vec![24, 18, 13]));
        assert!(
            space.beside(&[24, 18, 12], 1).contains(&vec![26, 20, 13]),
            "all together"
        );
        let only_a_choice = knobs(0, true);
        assert_eq!(Space::new(&only_a_choice, 256).starts(800), [[1], [2], [4]]);
    }
}

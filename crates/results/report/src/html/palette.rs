//! The colours of a page: a name has one colour, in whichever picture it stands.

use super::svg::COLOURS;
use crate::blocks::{Bars, Block, Cell, Paint};
use attribution::Spent;
use std::collections::HashMap;

/// The colours that a page gives to names.
#[derive(Default)]
pub(super) struct Palette(HashMap<String, usize>);

impl Palette {
    /// Numbers the names of all pictures and bars, in the order in which they first come.
    pub(super) fn new(blocks: &[Block]) -> Self {
        let mut palette = Self::default();
        palette.add(blocks);
        palette
    }

    fn add(&mut self, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Picture(picture) => picture.names().into_iter().for_each(|name| self.name(name)),
                Block::Table(table) => {
                    for cell in table.rows.iter().flatten() {
                        let Cell::Bars(Bars { parts, .. }) = cell else { continue };
                        for (paint, _) in parts {
                            if let Paint::Name(name) = paint {
                                self.name(name);
                            }
                        }
                    }
                }
                Block::Folded { blocks, .. } => self.add(blocks),
                _ => {}
            }
        }
    }

    fn name(&mut self, name: &str) {
        let name = bare(name);
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), self.0.len());
        }
    }

    /// The number of a name, from 0.
    pub(super) fn number(&self, name: &str) -> usize {
        self.0.get(bare(name)).copied().unwrap_or(0)
    }

    /// The number of a name's colour in the style sheet.
    pub(super) fn colour(&self, name: &str) -> usize {
        self.number(name) % COLOURS
    }

    /// The class of a part of a bar in the style sheet.
    pub(super) fn class(&self, paint: &Paint) -> String {
        match paint {
            Paint::Cause(cause) | Paint::Spent(Spent::Cause(cause)) => cause.row().class.to_owned(),
            // As the SCP's own lane is drawn.
            Paint::Spent(Spent::Scp) => "serves".to_owned(),
            Paint::Spent(Spent::Outside) => "world".to_owned(),
            Paint::Name(name) => format!("m{}", self.colour(name)),
        }
    }
}

/// A task that owns energy is the task that runs on a timeline.
fn bare(name: &str) -> &str {
    name.strip_prefix("task ").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::{Dot, Drawing, IntervalRow, Picture};

    #[test]
    fn a_name_has_the_same_colour_in_every_picture() {
        let interval = |series: &str| IntervalRow {
            name: String::new(),
            series: series.to_owned(),
            low: 0.0,
            middle: 0.0,
            high: 0.0,
            published: None,
        };
        let dot = |name: &str| Dot { name: name.to_owned(), x: [0.0; 3], y: [0.0; 3] };
        let axis = (String::new(), String::new());
        let drawings = [
            Drawing::Intervals(vec![interval("eas"), interval("hmp")]),
            Drawing::Dots { x: axis, dots: vec![dot("all-big"), dot("hmp")] },
        ];
        let blocks = drawings.map(|drawing| Block::Picture(Picture::new("", "", "", drawing)));
        let palette = Palette::new(&blocks);
        assert_eq!(["eas", "hmp", "all-big"].map(|name| palette.colour(name)), [0, 1, 2]);
        assert_eq!(palette.number("task hmp"), 1, "a task has the colour of the energy that it owns");
    }
}

//! The colours of a page: a name has one colour, in whichever picture it stands.

use crate::blocks::{Block, Paint};
use attribution::Spent;
use recording::distinct;
use std::collections::HashMap;

/// The classes of the style sheet's colours. The last one is grey; where there are more names than
/// colours it is that of all others.
const CLASSES: [&str; 8] = ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"];
const OTHER: usize = CLASSES.len() - 1;
/// The class of what no colour tells apart.
const PLAIN: &str = "mp";

/// The colours that a page gives to names.
pub struct Palette(HashMap<String, usize>);

impl Palette {
    /// The first names of each picture and of each table's bars have colours before all others.
    pub fn new(blocks: &[Block]) -> Self {
        const FIRST: usize = 5;
        let mut lists = Vec::new();
        add(&mut lists, blocks);
        let first = lists.iter().flat_map(|list| list.iter().take(FIRST));
        let others = lists.iter().flat_map(|list| list.iter().skip(FIRST));
        let names = distinct(first.chain(others).map(|name| bare(name)));
        Self(names.into_iter().map(str::to_owned).zip(0..).collect())
    }

    /// The class of a name's colour in the style sheet.
    fn name_class(&self, name: &str) -> &'static str {
        self.0
            .get(bare(name))
            .map_or(PLAIN, |&number| CLASSES[number.min(OTHER)])
    }

    /// True if a name shares its colour with others.
    fn is_other(&self, name: &str) -> bool {
        self.0.len() > CLASSES.len()
            && self
                .0
                .get(bare(name))
                .is_some_and(|&number| number >= OTHER)
    }

    /// The class of a part of a bar in the style sheet.
    pub fn class(&self, paint: &Paint) -> String {
        match paint {
            Paint::Spent(Spent::Cause(cause)) => crate::drawn::drawn(*cause).class.to_owned(),
            // As the SCP's own lane is drawn.
            Paint::Spent(Spent::Scp) => "serves".to_owned(),
            Paint::Spent(Spent::Outside) => "world".to_owned(),
            Paint::Name(name) => self.name_class(name).to_owned(),
        }
    }

    /// The colours of a picture with some names.
    pub fn of<'p>(&'p self, names: Vec<&'p str>) -> Colours<'p> {
        Colours {
            palette: Some(self),
            names,
        }
    }
}

/// The colours of one picture.
#[derive(Default)]
pub struct Colours<'p> {
    palette: Option<&'p Palette>,
    /// The names that colours stand for.
    pub names: Vec<&'p str>,
}

impl Colours<'_> {
    fn at(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| *other == name)
    }

    /// The class of a name.
    pub fn class(&self, name: &str) -> &'static str {
        self.palette
            .filter(|_| self.at(name).is_some())
            .map_or(PLAIN, |palette| palette.name_class(name))
    }

    /// True if a name shares its colour with others.
    pub fn is_other(&self, name: &str) -> bool {
        self.at(name).is_some() && self.palette.is_some_and(|palette| palette.is_other(name))
    }

    /// The number of a name in the picture, from 1; empty where it has no colour of its own.
    pub fn number(&self, name: &str) -> String {
        self.names
            .iter()
            .filter(|name| !self.is_other(name))
            .zip(1..)
            .find(|(other, _)| **other == name)
            .map_or_else(String::new, |(_, number)| number.to_string())
    }

    /// The class of the form of a name's marks.
    pub fn form(&self, name: &str) -> &'static str {
        ["s0", "s1", "s2", "s3"][self.at(name).unwrap_or(0) % 4]
    }
}

/// The names of each picture, and of the bars of each table.
fn add<'b>(lists: &mut Vec<Vec<&'b str>>, blocks: &'b [Block]) {
    for block in blocks {
        match block {
            Block::Picture(picture) => lists.push(picture.names()),
            Block::Table(table) => {
                let parts = table.bars().flat_map(|bars| &bars.parts);
                let names = parts.filter_map(|(paint, _)| match paint {
                    Paint::Name(name) => Some(name.as_str()),
                    _ => None,
                });
                lists.push(names.collect());
            }
            Block::Folded { blocks, .. } => add(lists, blocks),
            _ => {}
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
    use crate::blocks::{Bar, Curve, Drawing, Picture};

    fn curves(names: &[&str]) -> Block {
        let curve = |name: &&str| Curve {
            name: (*name).to_owned(),
            ..Curve::default()
        };
        let drawing = Drawing::Curves {
            x: String::new(),
            curves: names.iter().map(curve).collect(),
        };
        Block::Picture(Picture::new("", "", "", drawing))
    }

    #[test]
    fn a_name_has_the_same_colour_in_every_picture() {
        let blocks = [curves(&["eas", "hmp"]), curves(&["all-big", "hmp"])];
        let palette = Palette::new(&blocks);
        assert_eq!(
            ["eas", "hmp", "all-big"].map(|name| palette.name_class(name)),
            ["m0", "m1", "m2"]
        );
        assert_eq!(
            palette.name_class("task hmp"),
            "m1",
            "a task has the colour of the energy that it owns"
        );
        assert_eq!(
            palette.of(vec!["hmp"]).number("hmp"),
            "1",
            "numbers are the picture's own"
        );
    }

    #[test]
    fn of_many_names_those_that_take_most_have_colours_and_the_rest_is_grey() {
        let part = |number: usize| (format!("owner-{number}"), number as f64);
        let bar = Bar {
            name: String::new(),
            parts: (1..=13).map(part).collect(),
        };
        let blocks = [Block::Picture(Picture::new(
            "",
            "",
            "",
            Drawing::Bars(vec![bar]),
        ))];
        let palette = Palette::new(&blocks);
        let classes: std::collections::BTreeSet<&str> = (1..=13)
            .map(|number| palette.name_class(&format!("owner-{number}")))
            .collect();
        assert_eq!(classes.len(), CLASSES.len());
        assert!(
            !palette.is_other("owner-13")
                && palette.is_other("owner-6")
                && palette.is_other("owner-1")
        );
        assert!(!Palette::new(&[curves(&["a", "b", "c", "d", "e", "f", "g", "h"])]).is_other("h"));
    }
}

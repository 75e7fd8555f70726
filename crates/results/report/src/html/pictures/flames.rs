//! Flame graphs as SVG: each function below the one that called it, as wide as what it took.

use super::figures::Rows;
use crate::blocks::{Figure, Flame, Node, quantity};
use crate::html::palette::Palette;
use crate::html::svg::{LETTER, WIDTH, escape, fitting, text};
use std::fmt::Write;

/// Height of a function, in units of the picture.
const ROW: f64 = 18.0;
/// Narrower functions are left out.
const NARROWEST: f64 = 0.5;

pub(super) fn rows(flames: &[Flame]) -> Rows {
    let of = |flame: &Flame| {
        let row = |(stack, value): &(Vec<String>, f64)| {
            (vec![flame.name.clone(), stack.join(" > ")], Figure { value: *value, published: None })
        };
        flame.stacks.iter().map(row).collect::<Vec<_>>()
    };
    (vec!["of".to_owned(), "called by, and function".to_owned()], flames.iter().flat_map(of).collect())
}

/// The graphs one below the other, all to one scale; returns the height, too.
pub(super) fn draw(flames: &[Flame], unit: &str, palette: &Palette) -> (f64, String) {
    let trees: Vec<Node> = flames.iter().map(Flame::tree).collect();
    let longest = trees.iter().map(|tree| tree.total).fold(f64::MIN_POSITIVE, f64::max);
    let (mut out, mut top) = (String::new(), 0.0);
    for tree in &trees {
        text(&mut out, "name", (0.0, top + 14.0), &format!("{}: {} {unit}", tree.name, quantity(tree.total, unit)));
        let page = Page { unit, palette, scale: WIDTH / longest };
        page.level(&mut out, &tree.called, (0.0, top + ROW + 2.0));
        top += (tree.depth() as f64 + 1.0) * ROW + 10.0;
    }
    (top, out)
}

struct Page<'p> {
    unit: &'p str,
    palette: &'p Palette,
    scale: f64,
}

impl Page<'_> {
    fn level(&self, out: &mut String, nodes: &[Node], (mut at, top): (f64, f64)) {
        for node in nodes {
            let width = node.total * self.scale;
            if width >= NARROWEST {
                let _ = write!(
                    out,
                    "<rect class=\"m{}\" x=\"{at:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"16\"><title>{}: {} {}</title></rect>",
                    self.palette.colour(&node.name),
                    (width - 1.0).max(NARROWEST),
                    escape(&node.name),
                    quantity(node.total, self.unit),
                    escape(self.unit)
                );
                if width > 4.0 * LETTER {
                    text(out, "part", (at + width / 2.0, top + 12.0), &fitting(&node.name, width - 6.0));
                }
                self.level(out, &node.called, (at, top + ROW));
            }
            at += width;
        }
    }
}

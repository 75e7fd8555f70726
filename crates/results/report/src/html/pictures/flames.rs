//! Flame graphs: each function below the one that called it, as wide as what it took.

use crate::blocks::{Flame, Node, quantity};
use crate::html::palette::Colours;
use crate::html::plot::piece;
use maud::{Markup, html};

/// Height of a function in pixels.
const ROW: usize = 20;
/// Functions narrower than this, in percent, are left out.
const NARROWEST: f64 = 0.06;

/// The graphs one below the other, all to one scale.
pub fn draw(flames: &[Flame], unit: &str, colours: &Colours<'_>) -> Markup {
    let trees: Vec<Node> = flames.iter().map(Flame::tree).collect();
    let longest = trees
        .iter()
        .map(|tree| tree.total)
        .fold(f64::MIN_POSITIVE, f64::max);
    html! {
        @for tree in &trees {
            p.map-name { (tree.name) ": " (quantity(tree.total, unit).to_string()) " " (unit) }
            div.plane { div.area style=(format_args!("--high:{}px", tree.depth() * ROW)) {
                (level(&tree.called, (0.0, 0), 100.0 / longest, unit, colours))
            } }
        }
    }
}

fn level(
    nodes: &[Node],
    (mut at, depth): (f64, usize),
    scale: f64,
    unit: &str,
    colours: &Colours<'_>,
) -> Markup {
    html! {
        @for node in nodes {
            @let width = node.total * scale;
            @if width >= NARROWEST {
                @let style = format!("left:{at:.2}%;width:{width:.2}%;top:{}px", depth * ROW);
                @let title = format!("{}: {} {unit}", node.name, quantity(node.total, unit));
                (piece(colours.class(&node.name), &style, &title, &[&node.name]))
                (level(&node.called, (at, depth + 1), scale, unit, colours))
            }
            @let () = at += width;
        }
    }
}

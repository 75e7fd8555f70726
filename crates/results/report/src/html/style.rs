//! The page's style sheet and patterns: what is fixed, from `assets`, and what the table of causes
//! says.

use super::timeline::{AXIS, LANE};
use crate::drawn::{Colours, Pattern, drawn};
use attribution::Cause;
use std::fmt::Write;

const FIXED: &str = include_str!("../../assets/report.css");

/// The whole style sheet.
pub fn style_sheet() -> String {
    let mut css = without_indents(FIXED);
    let _ = write!(
        css,
        ":root{{--axis:{AXIS}px;--lane:{LANE}px;{}}}",
        variables(|cause| drawn(cause).light)
    );
    // Paper is white.
    let _ = write!(
        css,
        "@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}",
        variables(|cause| drawn(cause).dark)
    );
    for cause in Cause::ALL {
        let class = drawn(cause).class;
        let _ = match drawn(cause).pattern {
            Pattern::Plain => write!(css, ".{class}{{fill:var(--{class})}}"),
            _ => write!(
                css,
                ".{class}{{fill:url(#p-{class})}}.f-{class}{{fill:var(--{class})}}.s-{class}{{fill:var(--{class}-s)}}"
            ),
        };
    }
    let classes: Vec<String> = Cause::ALL
        .iter()
        .map(|cause| format!(".plot .{}", drawn(*cause).class))
        .collect();
    let _ = writeln!(
        css,
        "{}{{stroke:var(--raised);stroke-width:.6}}",
        classes.join(",")
    );
    css
}

/// A script or a style sheet without the blanks that lines begin with: a page has no room for them.
/// Neither has a text of several lines, whose blanks would count.
pub fn without_indents(source: &str) -> String {
    source
        .lines()
        .flat_map(|line| [line.trim_start(), "\n"])
        .collect()
}

/// Two colours for each cause, as variables.
fn variables(colours: impl Fn(Cause) -> Colours) -> String {
    let mut css = String::new();
    for cause in Cause::ALL {
        let (class, colours) = (drawn(cause).class, colours(cause));
        let _ = write!(css, "--{class}:{};", colours.ground);
        if colours.marks != colours.ground {
            let _ = write!(css, "--{class}-s:{};", colours.marks);
        }
    }
    css
}

/// The patterns of causes and the head of arrows, as an element that takes no room.
pub fn patterns() -> String {
    let mut svg = String::from(
        "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\" focusable=\"false\"><defs>\n",
    );
    for cause in Cause::ALL {
        let class = drawn(cause).class;
        let (side, turn) = match drawn(cause).pattern {
            Pattern::Plain => continue,
            Pattern::Stripes { distance, turn, .. } => (distance, turn),
            Pattern::Dots { distance, .. } => (distance, 0),
        };
        let turned = if turn == 0 {
            String::new()
        } else {
            format!(" patternTransform=\"rotate({turn})\"")
        };
        let _ = write!(
            svg,
            "<pattern id=\"p-{class}\" patternUnits=\"userSpaceOnUse\" width=\"{side}\" height=\"{side}\"{turned}>\
             <rect width=\"{side}\" height=\"{side}\" class=\"f-{class}\"/>"
        );
        match drawn(cause).pattern {
            Pattern::Plain => {}
            Pattern::Stripes { width, .. } => {
                let _ = write!(
                    svg,
                    "<rect width=\"{width}\" height=\"{side}\" class=\"s-{class}\"/>"
                );
            }
            Pattern::Dots {
                radius, centres, ..
            } => {
                for (x, y) in centres {
                    let _ = write!(
                        svg,
                        "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" class=\"s-{class}\"/>"
                    );
                }
            }
        }
        svg.push_str("</pattern>\n");
    }
    svg.push_str(
        "<marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\" \
         markerUnits=\"userSpaceOnUse\"><path class=\"arrow\" d=\"M0 1 7 4 0 7z\"/></marker>\n</defs></svg>\n",
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cause without a colour in each scheme would be drawn black, one without its pattern not at
    /// all.
    #[test]
    fn every_cause_has_its_colours_and_its_pattern_in_the_page() {
        let (css, svg) = (style_sheet(), patterns());
        for cause in Cause::ALL {
            let row = drawn(cause);
            for colours in [row.light, row.dark] {
                assert!(
                    css.contains(&format!("--{}:{};", row.class, colours.ground)),
                    "{cause:?}"
                );
            }
            let pattern = format!("id=\"p-{}\"", row.class);
            assert_eq!(
                svg.contains(&pattern),
                row.pattern != Pattern::Plain,
                "{cause:?}"
            );
            assert!(css.contains(&format!(".{}{{fill:", row.class)), "{cause:?}");
            assert!(
                !FIXED.contains(row.light.ground) && !FIXED.contains(row.dark.marks),
                "{cause:?} is in report.css too"
            );
        }
    }
}

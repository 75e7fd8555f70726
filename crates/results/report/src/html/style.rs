//! The page's style sheet and patterns, from `assets`.

const FIXED: &str = include_str!("../../assets/report.css");

/// The colours of causes, as variables for a light page and for a dark one, and what is filled with
/// them or with their patterns.
const CAUSES: &str = include_str!("../../assets/causes.css");

/// The patterns of causes and the head of arrows, as an element that takes no room.
pub const PATTERNS: &str = include_str!("../../assets/patterns.svg");

/// The whole style sheet.
pub fn style_sheet() -> String {
    let causes: String = CAUSES.lines().map(str::trim_start).collect();
    without_indents(FIXED) + &causes + "\n"
}

/// A script or a style sheet without the blanks that lines begin with: a page has no room for them.
/// Neither has a text of several lines, whose blanks would count.
pub fn without_indents(source: &str) -> String {
    source
        .lines()
        .flat_map(|line| [line.trim_start(), "\n"])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::drawn;
    use attribution::Cause;
    use std::collections::BTreeSet;

    /// A cause without a colour in each scheme would be drawn black, one without its pattern not at
    /// all; two that share their colours cannot be told apart.
    #[test]
    fn every_cause_has_its_colours_and_its_pattern_in_the_page() {
        let without_blanks = |text: &str| text.replace(' ', "");
        let causes = without_blanks(CAUSES);
        let (light, dark) = causes.split_once("@mediascreen").unwrap();
        for scheme in [light, dark] {
            let colours = |cause: Cause| {
                let name = drawn(cause).class;
                let of = |name: &str| Some(scheme.split_once(name)?.1[..7].to_owned());
                (
                    of(&format!("--{name}:")).unwrap(),
                    of(&format!("--{name}-s:")),
                )
            };
            let all: BTreeSet<_> = Cause::ALL.into_iter().map(colours).collect();
            assert_eq!(all.len(), Cause::ALL.len(), "{all:?}");
        }
        let css = without_blanks(&style_sheet());
        for cause in Cause::ALL {
            let class = drawn(cause).class;
            assert!(css.contains(&format!(".{class}{{fill:")), "{cause:?}");
            assert_eq!(
                css.contains(&format!("url(#p-{class})")),
                PATTERNS.contains(&format!("id=\"p-{class}\"")),
                "{cause:?}"
            );
        }
    }
}

//! How each cause is drawn: in a terminal by its colour, on a page by a class, whose colours and
//! pattern are in `assets/causes.css` and `assets/patterns.svg`.

use attribution::Cause;

/// The drawing of a cause.
pub struct Drawn {
    /// Colour in a terminal: the code of an SGR sequence.
    pub terminal: &'static str,
    /// Class in the page's style sheet; short, since a page says it thousands of times.
    pub class: &'static str,
    /// Colour and pattern in words.
    pub colour_words: &'static str,
    /// True if a label on it is light; else it is dark, and has a ground of its own.
    pub light_label: bool,
}

/// The drawing of a cause.
pub fn drawn(cause: Cause) -> &'static Drawn {
    &DRAWN[cause as usize]
}

/// A row for each cause, in the order of [`Cause::ALL`].
static DRAWN: [Drawn; Cause::ALL.len()] = [
    // Code
    row("34", "code", "blue", true),
    // WakeupPath
    row("36", "wake", "pale blue, dotted", false),
    // LockWait
    row("31", "lock", "red, rising stripes", false),
    // FlushL1
    row("32", "l1", "green", true),
    // FlushL2
    row("92", "l2", "dark green, lying stripes", true),
    // Interconnect
    row("37", "port", "grey", true),
    // ScpChannelWait
    row("33", "channel", "amber, falling stripes", false),
    // ScpWait
    row("93", "scp", "violet, standing stripes", false),
    // DeclaredOrder
    row("35", "order", "brown, dotted", false),
];

const fn row(
    terminal: &'static str,
    class: &'static str,
    colour_words: &'static str,
    light_label: bool,
) -> Drawn {
    Drawn {
        terminal,
        class,
        colour_words,
        light_label,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two causes that share a colour cannot be told apart in some output.
    #[test]
    fn causes_differ_in_everything_by_which_they_are_told_apart() {
        let distinct = |what: &str, of: &dyn Fn(&Drawn) -> String| {
            for (place, cause) in Cause::ALL.iter().enumerate() {
                let same = |other: &Cause| of(drawn(*other)) == of(drawn(*cause));
                let first = Cause::ALL.iter().position(same);
                assert_eq!(first, Some(place), "{what} of {cause:?} is another's");
            }
        };
        distinct("terminal colour", &|row| row.terminal.to_owned());
        distinct("class", &|row| row.class.to_owned());
        distinct("colour in words", &|row| row.colour_words.to_owned());
    }
}

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
    Drawn {
        terminal: "34",
        class: "code",
        colour_words: "blue",
        light_label: true,
    },
    // WakeupPath
    Drawn {
        terminal: "36",
        class: "wake",
        colour_words: "pale blue, dotted",
        light_label: false,
    },
    // LockWait
    Drawn {
        terminal: "31",
        class: "lock",
        colour_words: "red, rising stripes",
        light_label: false,
    },
    // FlushL1
    Drawn {
        terminal: "32",
        class: "l1",
        colour_words: "green",
        light_label: true,
    },
    // FlushL2
    Drawn {
        terminal: "92",
        class: "l2",
        colour_words: "dark green, lying stripes",
        light_label: true,
    },
    // Interconnect
    Drawn {
        terminal: "37",
        class: "port",
        colour_words: "grey",
        light_label: true,
    },
    // ScpChannelWait
    Drawn {
        terminal: "33",
        class: "channel",
        colour_words: "amber, falling stripes",
        light_label: false,
    },
    // ScpWait
    Drawn {
        terminal: "93",
        class: "scp",
        colour_words: "violet, standing stripes",
        light_label: false,
    },
    // DeclaredOrder
    Drawn {
        terminal: "35",
        class: "order",
        colour_words: "brown, dotted",
        light_label: false,
    },
];

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

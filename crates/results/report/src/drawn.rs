//! How each cause is drawn: in a terminal by its colour, on a page by two colours and a pattern.

use attribution::Cause;

/// The pattern over a cause's colour, so that causes can be told apart without it. Lengths in
/// pixels.
#[derive(PartialEq)]
pub enum Pattern {
    /// Nothing.
    Plain,
    /// Stripes.
    Stripes {
        /// From stripe to stripe.
        distance: f32,
        /// Width of a stripe.
        width: f32,
        /// 0 for standing stripes, 90 for lying ones, 45 for rising ones; degrees.
        turn: i16,
    },
    /// Dots.
    Dots {
        /// Side of the square that repeats.
        distance: f32,
        /// Radius of a dot.
        radius: f32,
        /// Centres of the dots in the square.
        centres: &'static [(f32, f32)],
    },
}

/// Colours of a cause on a page, as CSS writes them.
#[derive(Clone, Copy, Debug)]
pub struct Colours {
    /// The ground.
    pub ground: &'static str,
    /// The pattern on it; the ground's own where there is none.
    pub marks: &'static str,
}

/// The drawing of a cause.
pub struct Drawn {
    /// Colour in a terminal: the code of an SGR sequence.
    pub terminal: &'static str,
    /// Class in the page's style sheet; short, since a page says it thousands of times.
    pub class: &'static str,
    /// Colours on a light page.
    pub light: Colours,
    /// Colours on a dark page.
    pub dark: Colours,
    /// The pattern over the colour.
    pub pattern: Pattern,
    /// Colour and pattern in words.
    pub colour_words: &'static str,
    /// True if a label on it is light; else it is dark, and has a ground of its own.
    pub light_label: bool,
}

const fn colours(ground: &'static str, marks: &'static str) -> Colours {
    Colours { ground, marks }
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
        light: colours("#3f72a6", "#3f72a6"),
        dark: colours("#4d82b8", "#4d82b8"),
        pattern: Pattern::Plain,
        colour_words: "blue",
        light_label: true,
    },
    // WakeupPath
    Drawn {
        terminal: "36",
        class: "wake",
        light: colours("#cfe0ee", "#5b8db8"),
        dark: colours("#24384a", "#7fb0d9"),
        pattern: Pattern::Dots {
            distance: 6.0,
            radius: 1.0,
            centres: &[(3.0, 3.0)],
        },
        colour_words: "pale blue, dotted",
        light_label: false,
    },
    // LockWait
    Drawn {
        terminal: "31",
        class: "lock",
        light: colours("#f6d7d0", "#c2452d"),
        dark: colours("#4a211a", "#e0664c"),
        pattern: Pattern::Stripes {
            distance: 7.0,
            width: 2.4,
            turn: 45,
        },
        colour_words: "red, rising stripes",
        light_label: false,
    },
    // FlushL1
    Drawn {
        terminal: "32",
        class: "l1",
        light: colours("#7fc08f", "#7fc08f"),
        dark: colours("#4f9a63", "#4f9a63"),
        pattern: Pattern::Plain,
        colour_words: "green",
        light_label: true,
    },
    // FlushL2
    Drawn {
        terminal: "92",
        class: "l2",
        light: colours("#2c6e49", "#4f9068"),
        dark: colours("#24593b", "#4b9169"),
        pattern: Pattern::Stripes {
            distance: 6.0,
            width: 1.0,
            turn: 90,
        },
        colour_words: "dark green, lying stripes",
        light_label: true,
    },
    // Interconnect
    Drawn {
        terminal: "37",
        class: "port",
        light: colours("#8b8f97", "#8b8f97"),
        dark: colours("#6d727b", "#6d727b"),
        pattern: Pattern::Plain,
        colour_words: "grey",
        light_label: true,
    },
    // ScpChannelWait
    Drawn {
        terminal: "33",
        class: "channel",
        light: colours("#f8e4bf", "#c98a1b"),
        dark: colours("#46340f", "#dba338"),
        pattern: Pattern::Stripes {
            distance: 7.0,
            width: 2.4,
            turn: -45,
        },
        colour_words: "amber, falling stripes",
        light_label: false,
    },
    // ScpWait
    Drawn {
        terminal: "93",
        class: "scp",
        light: colours("#e6d8f0", "#8453a8"),
        dark: colours("#38264a", "#b182d6"),
        pattern: Pattern::Stripes {
            distance: 6.0,
            width: 1.8,
            turn: 0,
        },
        colour_words: "violet, standing stripes",
        light_label: false,
    },
    // DeclaredOrder
    Drawn {
        terminal: "35",
        class: "order",
        light: colours("#ece3d7", "#8d7456"),
        dark: colours("#352d22", "#b3946e"),
        pattern: Pattern::Dots {
            distance: 5.0,
            radius: 0.9,
            centres: &[(1.3, 1.3), (3.8, 3.8)],
        },
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
        distinct("light colours", &|row| format!("{:?}", row.light));
        distinct("dark colours", &|row| format!("{:?}", row.dark));
        distinct("colour in words", &|row| row.colour_words.to_owned());
    }
}

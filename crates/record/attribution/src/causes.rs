//! Every cause, one row each: what it is called, how it is recognised among a CPU's events, and how
//! it is drawn. Attribution, tables, the page's style sheet and pictures, and output for machines
//! read this table.
//!
//! Who adds a cause adds one row to the table at the end of the first part of this file.

use recording::metrics::{CACHE_FLUSH, Interval};

/// Points by which a cause is recognised in the stamps of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognition {
    /// The point that starts it.
    pub begin: &'static str,
    /// The point that ends it.
    pub end: &'static str,
    /// The least and the greatest argument with which the point starts it. It tells causes apart
    /// that begin at the same point.
    pub arguments: (u32, u32),
    /// The wait, if it is one: then the argument is the id of what the CPU waits for.
    pub wait: Option<WaitFor>,
}

/// Resource or CPU that a CPU waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// A lock that another CPU holds. What is left of an acquire while nobody else holds the lock
    /// is code.
    Lock,
    /// An answer of the SCP, which may have the command of another CPU in hand.
    Scp,
}

/// The pattern over a cause's colour, so that causes can be told apart without it. Lengths in
/// pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    /// The ground.
    pub ground: &'static str,
    /// The pattern on it; the ground's own where there is none.
    pub marks: &'static str,
}

/// A row of the table of causes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CauseRow {
    /// Name of the row in output for machines.
    pub name: &'static str,
    /// Name of the row in the words of the documents.
    pub title: &'static str,
    /// The activity of a CPU, as a sentence that ends with how long: "ran code for".
    pub sentence: &'static str,
    /// Name of the activity in a sentence, behind "goes to": "the firmware's code".
    pub activity: &'static str,
    /// For waits, what stands before and after the name of the CPU that was waited for: "for ... to
    /// release its lock".
    pub waited: (&'static str, &'static str),
    /// Letter of the row, the same in every output.
    pub letter: char,
    /// Colour of the row in a terminal: the code of an SGR sequence.
    pub terminal: &'static str,
    /// Class in the page's style sheet; short, since a page says it thousands of times.
    pub class: &'static str,
    /// Colours of the row on a light page.
    pub light: Colours,
    /// Colours of the row on a dark page.
    pub dark: Colours,
    /// The pattern over the colour.
    pub pattern: Pattern,
    /// Colour and pattern in words.
    pub colour_words: &'static str,
    /// True if a label on it is light; else it is dark, and has a ground of its own.
    pub light_label: bool,
    /// Points that show the cause; `None` for the rest, which no other cause claims.
    pub recognition: Option<Recognition>,
}

/// Locks from this id on are the platform's: the channels to its power controller.
const FIRST_CHANNEL_LOCK: u32 = 0x8000;

/// A flush of the caches is the interval of the metric.
const FLUSH: Interval = match CACHE_FLUSH.interval {
    Some(interval) => interval,
    None => panic!("the cache flush is an interval"),
};

const ANY: (u32, u32) = (0, u32::MAX);

const fn since(begin: &'static str, end: &'static str) -> Option<Recognition> {
    Some(Recognition {
        begin,
        end,
        arguments: ANY,
        wait: None,
    })
}

const fn waiting(
    begin: &'static str,
    end: &'static str,
    arguments: (u32, u32),
    wait: WaitFor,
) -> Option<Recognition> {
    Some(Recognition {
        begin,
        end,
        arguments,
        wait: Some(wait),
    })
}

const fn colours(ground: &'static str, marks: &'static str) -> Colours {
    Colours { ground, marks }
}

macro_rules! causes {
    ($(#[doc = $about:literal] $cause:ident = $row:expr;)*) => {
        /// The cause on which a CPU spent time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cause {
            $(#[doc = $about] $cause,)*
        }

        impl Cause {
            /// All causes, in the order in which tables show them.
            pub const ALL: [Self; [$(stringify!($cause)),*].len()] = [$(Self::$cause),*];

            /// Row of the table for the cause.
            pub const fn row(self) -> &'static CauseRow {
                match self {
                    $(Self::$cause => const { &$row },)*
                }
            }
        }
    };
}

causes! {
    /// Executing firmware: everything that no other cause claims.
    Code = CauseRow {
        name: "code",
        title: "code",
        sentence: "ran code for",
        activity: "the firmware's code",
        waited: ("", ""),
        letter: 'c',
        terminal: "34",
        class: "code",
        light: colours("#3f72a6", "#3f72a6"),
        dark: colours("#4d82b8", "#4d82b8"),
        pattern: Pattern::Plain,
        colour_words: "blue",
        light_label: true,
        recognition: None,
    };
    /// From reset to code that runs.
    Reset = CauseRow {
        name: "reset",
        title: "reset",
        sentence: "came out of reset in",
        activity: "the reset",
        waited: ("", ""),
        letter: 'r',
        terminal: "36",
        class: "reset",
        light: colours("#cfe0ee", "#5b8db8"),
        dark: colours("#24384a", "#7fb0d9"),
        pattern: Pattern::Dots { distance: 6.0, radius: 1.0, centres: &[(3.0, 3.0)] },
        colour_words: "pale blue, dotted",
        light_label: false,
        recognition: since("exit-hw-low-pwr", "reset-done"),
    };
    /// Waiting for a power domain's lock while another CPU held it.
    LockWait = CauseRow {
        name: "lock-wait",
        title: "lock wait",
        sentence: "waited for a lock for",
        activity: "waits for a lock",
        waited: ("for ", " to release its lock"),
        letter: 'L',
        terminal: "31",
        class: "lock",
        light: colours("#f6d7d0", "#c2452d"),
        dark: colours("#4a211a", "#e0664c"),
        pattern: Pattern::Stripes { distance: 7.0, width: 2.4, turn: 45 },
        colour_words: "red, rising stripes",
        light_label: false,
        recognition: waiting("lock-wait", "lock-acquired", (0, FIRST_CHANNEL_LOCK - 1), WaitFor::Lock),
    };
    /// Flushing the L1 data cache.
    FlushL1 = CauseRow {
        name: "cache-flush-l1",
        title: "L1 flush",
        sentence: "flushed the L1 for",
        activity: "flushing the L1",
        waited: ("", ""),
        letter: 'f',
        terminal: "32",
        class: "l1",
        light: colours("#7fc08f", "#7fc08f"),
        dark: colours("#4f9a63", "#4f9a63"),
        pattern: Pattern::Plain,
        colour_words: "green",
        light_label: true,
        recognition: since(FLUSH.first, FLUSH.last),
    };
    /// Flushing the L2 cache.
    FlushL2 = CauseRow {
        name: "cache-flush-l2",
        title: "L2 flush",
        sentence: "flushed the L2 for",
        activity: "flushing the L2",
        waited: ("", ""),
        letter: 'F',
        terminal: "92",
        class: "l2",
        light: colours("#2c6e49", "#4f9068"),
        dark: colours("#24593b", "#4b9169"),
        pattern: Pattern::Stripes { distance: 6.0, width: 1.0, turn: 90 },
        colour_words: "dark green, lying stripes",
        light_label: true,
        recognition: since("flushed-l2-lines", FLUSH.last),
    };
    /// Opening or closing a cluster's port of the interconnect.
    Interconnect = CauseRow {
        name: "interconnect",
        title: "interconnect",
        sentence: "opened or closed the interconnect's port in",
        activity: "the interconnect's port",
        waited: ("", ""),
        letter: 'i',
        terminal: "37",
        class: "port",
        light: colours("#8b8f97", "#8b8f97"),
        dark: colours("#6d727b", "#6d727b"),
        pattern: Pattern::Plain,
        colour_words: "grey",
        light_label: true,
        recognition: since("interconnect", "interconnect-end"),
    };
    /// Waiting for the SCP channel's lock while another CPU held it.
    ScpChannelWait = CauseRow {
        name: "scp-channel-wait",
        title: "SCP channel wait",
        sentence: "waited for the channel to the SCP for",
        activity: "the wait for the channel to the SCP",
        waited: ("for ", " to leave the SCP channel"),
        letter: 'S',
        terminal: "33",
        class: "channel",
        light: colours("#f8e4bf", "#c98a1b"),
        dark: colours("#46340f", "#dba338"),
        pattern: Pattern::Stripes { distance: 7.0, width: 2.4, turn: -45 },
        colour_words: "amber, falling stripes",
        light_label: false,
        recognition: waiting("lock-wait", "lock-acquired", (FIRST_CHANNEL_LOCK, u32::MAX), WaitFor::Lock),
    };
    /// Waiting for the SCP itself: for its slot or its response.
    ScpWait = CauseRow {
        name: "scp-wait",
        title: "SCP wait",
        sentence: "waited for the SCP for",
        activity: "the wait for the SCP",
        waited: ("while the SCP served ", ""),
        letter: 's',
        terminal: "93",
        class: "scp",
        light: colours("#e6d8f0", "#8453a8"),
        dark: colours("#38264a", "#b182d6"),
        pattern: Pattern::Stripes { distance: 6.0, width: 1.8, turn: 0 },
        colour_words: "violet, standing stripes",
        light_label: false,
        recognition: waiting("scp-wait", "scp-wait-end", ANY, WaitFor::Scp),
    };
    /// Kept back so that CPUs reach the SCP in the order that the case declares.
    DeclaredOrder = CauseRow {
        name: "declared-order",
        title: "declared order",
        sentence: "was kept back to the declared order for",
        activity: "the order that the case declares",
        waited: ("", ""),
        letter: 'o',
        terminal: "35",
        class: "order",
        light: colours("#ece3d7", "#8d7456"),
        dark: colours("#352d22", "#b3946e"),
        pattern: Pattern::Dots { distance: 5.0, radius: 0.9, centres: &[(1.3, 1.3), (3.8, 3.8)] },
        colour_words: "brown, dotted",
        light_label: false,
        recognition: since("order-wait", "order-wait-end"),
    };
}

impl Cause {
    /// Name of the cause in output for machines.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Name of the cause in the words of the documents.
    pub const fn title(self) -> &'static str {
        self.row().title
    }

    /// Resource or CPU that the CPU waits for, if the cause is a wait.
    pub fn wait(self) -> Option<WaitFor> {
        self.row()
            .recognition
            .and_then(|recognition| recognition.wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two causes that share a name, a letter or a colour cannot be told apart in some output.
    #[test]
    fn causes_differ_in_everything_by_which_they_are_told_apart() {
        let distinct = |what: &str, of: &dyn Fn(&CauseRow) -> String| {
            for (place, cause) in Cause::ALL.iter().enumerate() {
                let first = Cause::ALL
                    .iter()
                    .position(|other| of(other.row()) == of(cause.row()));
                assert_eq!(first, Some(place), "{what} of {cause:?} is another's");
            }
        };
        distinct("name", &|row| row.name.to_owned());
        distinct("title", &|row| row.title.to_owned());
        distinct("letter", &|row| row.letter.to_string());
        distinct("terminal colour", &|row| row.terminal.to_owned());
        distinct("class", &|row| row.class.to_owned());
        distinct("light colours", &|row| format!("{:?}", row.light));
        distinct("dark colours", &|row| format!("{:?}", row.dark));
        distinct("colour in words", &|row| row.colour_words.to_owned());
        distinct("recognition", &|row| format!("{:?}", row.recognition));
    }

    /// Recordings hold the one and documents say the other.
    #[test]
    fn a_cause_has_a_name_for_machines_and_a_title_for_people() {
        assert_eq!(
            (Cause::FlushL2.name(), Cause::FlushL2.title()),
            ("cache-flush-l2", "L2 flush")
        );
    }

    #[test]
    fn what_is_waited_for_is_said_with_the_one_who_had_it() {
        for cause in Cause::ALL {
            assert_eq!(
                cause.wait().is_some(),
                cause.row().waited != ("", ""),
                "{cause:?}"
            );
        }
    }
}

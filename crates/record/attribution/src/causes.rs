//! Every cause, one row each: what it is called, and how it is recognised among a CPU's events.
//! Attribution, tables and output for machines read this table; `report` draws them.
//!
//! Who adds a cause adds one row to the table at the end of the first part of this file.

use recording::metrics::{CACHE_FLUSH, Interval};

/// Points by which a cause is recognised in the stamps of a CPU.
#[derive(Clone, Copy, Debug)]
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WaitFor {
    /// A lock that another CPU holds. What is left of an acquire while nobody else holds the lock
    /// is code.
    Lock,
    /// An answer of the SCP, which may have the command of another CPU in hand.
    Scp,
}

/// A row of the table of causes.
pub struct CauseRow {
    /// Name of the row in output for machines.
    pub name: &'static str,
    /// Name of the row in the words of the documents.
    pub title: &'static str,
    /// Name of the activity in a sentence, behind "goes to": "the firmware's code".
    pub activity: &'static str,
    /// Letter of the row, the same in every output.
    pub letter: char,
    /// Points that show the cause; `None` for what no other cause claims of a call, and of the way
    /// back from a reset.
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

macro_rules! causes {
    ($(
        #[doc = $about:literal]
        $cause:ident = ($name:literal, $title:literal, $activity:literal, $letter:literal, $recognition:expr);
    )*) => {
        /// The cause on which a CPU spent time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Cause {
            $(#[doc = $about] $cause,)*
        }

        impl Cause {
            /// All causes, in the order in which tables show them.
            pub const ALL: [Self; [$(stringify!($cause)),*].len()] = [$(Self::$cause),*];

            /// Row of the table for the cause.
            pub const fn row(self) -> &'static CauseRow {
                match self {
                    $(Self::$cause => const {
                        &CauseRow {
                            name: $name,
                            title: $title,
                            activity: $activity,
                            letter: $letter,
                            recognition: $recognition,
                        }
                    },)*
                }
            }
        }
    };
}

causes! {
    /// Executing firmware in a call: everything that no other cause claims.
    Code = ("code", "code", "the firmware's code", 'c', None);
    // How much of it is the reset and how much is code no fit can tell: every wake-up has both.
    /// From reset to the normal world: the reset and the firmware's code.
    WakeupPath = ("wakeup-path", "wake-up path", "the wake-up path", 'w', None);
    /// Waiting for a power domain's lock while another CPU held it.
    LockWait = ("lock-wait", "lock wait", "waits for a lock", 'L', waiting("lock-wait", "lock-acquired", (0, FIRST_CHANNEL_LOCK - 1), WaitFor::Lock));
    /// Flushing the L1 data cache.
    FlushL1 = ("cache-flush-l1", "L1 flush", "flushing the L1", 'f', since(FLUSH.first, FLUSH.last));
    /// Flushing the L2 cache.
    FlushL2 = ("cache-flush-l2", "L2 flush", "flushing the L2", 'F', since("flushed-l2-lines", FLUSH.last));
    /// Opening or closing a cluster's port of the interconnect.
    Interconnect = ("interconnect", "interconnect", "the interconnect's port", 'i', since("interconnect", "interconnect-end"));
    /// Waiting for the SCP channel's lock while another CPU held it.
    ScpChannelWait = ("scp-channel-wait", "SCP channel wait", "the wait for the channel to the SCP", 'S', waiting("lock-wait", "lock-acquired", (FIRST_CHANNEL_LOCK, u32::MAX), WaitFor::Lock));
    /// Waiting for the SCP itself: for its slot or its response.
    ScpWait = ("scp-wait", "SCP wait", "the wait for the SCP", 's', waiting("scp-wait", "scp-wait-end", ANY, WaitFor::Scp));
    /// Kept back so that CPUs reach the SCP in the order that the case declares.
    DeclaredOrder = ("declared-order", "declared order", "the order that the case declares", 'o', since("order-wait", "order-wait-end"));
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
        distinct("recognition", &|row| {
            row.recognition
                .map_or(row.name.to_owned(), |it| format!("{it:?}"))
        });
    }

    /// Recordings hold the one and documents say the other.
    #[test]
    fn a_cause_has_a_name_for_machines_and_a_title_for_people() {
        assert_eq!(
            (Cause::FlushL2.name(), Cause::FlushL2.title()),
            ("cache-flush-l2", "L2 flush")
        );
    }
}

//! Requests to the process that runs a loop, and what it replies.

use itertools::Itertools;
use recording::facts::ComparedBy;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Origin of a loop.
#[derive(Clone, Serialize, Deserialize)]
pub struct Source {
    /// Path of the shared object.
    pub path: PathBuf,
    /// The loop's name; the first where none is named.
    pub name: Option<String>,
}

/// A knob of a loop.
#[derive(Clone, Serialize, Deserialize)]
pub struct KnobAbout {
    /// The name that tables have.
    pub name: String,
    /// The macro in the loop's source.
    pub define: Option<String>,
    /// Kind of the knob.
    pub kind: KnobKind,
    /// The least value.
    pub least: u32,
    /// The largest; 0 for a distance without a limit.
    pub most: u32,
    /// The value in the source today.
    pub today: u32,
    /// The knob whose line holds this one's address.
    pub after: Option<usize>,
}

/// The kind of a knob.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub enum KnobKind {
    /// A prefetch distance.
    Distance,
    /// A choice among powers of two.
    Choice,
    /// No knob, but a line that is never prefetched.
    Line,
}

impl KnobAbout {
    /// True for a prefetch distance.
    pub fn is_distance(&self) -> bool {
        self.kind == KnobKind::Distance
    }
}

/// A loop, as it describes itself.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct LoopAbout {
    /// Name of the loop.
    pub name: String,
    /// Knobs of the loop.
    pub knobs: Vec<KnobAbout>,
    /// Bytes of a record.
    pub record_bytes: u64,
    /// The most records that there can be; `None` for as many as fit memory.
    pub most_records: Option<u64>,
}

impl LoopAbout {
    /// The knobs that have a value of their own, with it.
    pub fn valued<'a>(
        &'a self,
        values: &'a [u32],
    ) -> impl Iterator<Item = (&'a KnobAbout, &'a u32)> {
        self.knobs
            .iter()
            .zip(values)
            .filter(|(knob, _)| knob.kind != KnobKind::Line)
    }

    /// The values of such knobs in words.
    pub fn words(&self, values: &[u32]) -> String {
        self.valued(values)
            .map(|(knob, value)| format!("{} {value}", knob.name))
            .join(", ")
    }
}

/// Records of a call, at least 1: from `least` to `most` of them, drawn anew for each call.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frames {
    /// The fewest.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl Frames {
    /// Calls of the same size.
    pub fn of(batch: u64) -> Self {
        Self {
            least: batch,
            most: batch,
        }
    }
}

impl std::fmt::Display for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.most == self.least {
            true => write!(f, "{}", self.most),
            false => write!(f, "{} to {}", self.least, self.most),
        }
    }
}

/// What is gone through, and how.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Cell {
    /// Records that are gone through before one comes again.
    pub records: u64,
    /// Records of a call.
    pub frames: Frames,
}

/// What is to be measured once.
#[derive(Clone, Serialize, Deserialize)]
pub struct Measure {
    /// The records.
    pub cell: Cell,
    /// A value for each knob.
    pub values: Vec<u32>,
    /// Ticks that it goes on at least.
    pub ticks: u64,
}

/// A request.
#[derive(Serialize, Deserialize)]
pub enum Request {
    /// Load a loop; the reply is its [`LoopAbout`].
    Open(Source),
    /// Make records, in place of those that there are; the reply is the bytes of memory that they
    /// take, as far as the system says, and `None` if there is no memory for them.
    SetUp {
        /// Their number.
        count: u64,
    },
    /// Measure; the reply is the ticks per record.
    Measure(Measure),
    /// Find out how calls can be compared; the reply is what was [`Learned`].
    Learn {
        /// Records of each call, together fewer than there are.
        frames: Vec<u64>,
        /// Values with which the loop does all of its work.
        values: Vec<u32>,
    },
    /// Make those calls with other values; the reply is true if they leave the same behind.
    Check {
        /// A value for each knob.
        values: Vec<u32>,
    },
}

/// How calls of a loop are compared.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub struct Learned {
    /// What is compared; `None` where nothing that calls leave behind is the same each time.
    pub by: Option<ComparedBy>,
    /// True if a second call on the same records leaves something else in them than the first,
    /// since it finds there what the first left.
    pub is_overwriting: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeOwned;
    use worker_process::protocol::{Reply, parse, write};

    /// Checks that a message arrives as it was sent.
    fn check<T: Serialize + DeserializeOwned>(message: &T) {
        let text = |message: &T| {
            let mut line = Vec::new();
            write(&mut line, message).unwrap();
            String::from_utf8(line).unwrap()
        };
        let sent = text(message);
        assert_eq!(text(&parse(sent.trim_end()).unwrap()), sent);
    }

    #[test]
    fn each_request_arrives_whole_or_not_at_all() {
        let measure = Measure {
            cell: Cell {
                records: 10,
                frames: Frames { least: 2, most: 3 },
            },
            values: vec![3, 4],
            ticks: 1 << 40,
        };
        for request in [
            Request::Open(Source {
                path: "a/b.so".into(),
                name: Some("acl".to_owned()),
            }),
            Request::SetUp { count: 7 },
            Request::Measure(measure),
            Request::Learn {
                frames: vec![1, 3],
                values: vec![1],
            },
            Request::Check { values: vec![1] },
        ] {
            check(&request);
        }
        for line in ["\"End\"", "{\"SetUp\":{}}", "{\"Close\":null}", ""] {
            let error = parse::<Request>(line).err().unwrap().to_string();
            assert!(
                error.starts_with(&format!("`{line}` is no message")),
                "{error}"
            );
        }
    }

    #[test]
    fn each_reply_arrives_whole_or_not_at_all() {
        let knobs = vec![KnobAbout {
            define: Some("S1".to_owned()),
            ..KnobAbout::distance("s1")
        }];
        let about = LoopAbout {
            name: "acl".to_owned(),
            knobs,
            record_bytes: 64,
            most_records: None,
        };
        check::<Reply<LoopAbout>>(&Ok(about));
        check::<Reply<Option<u64>>>(&Ok(Some(4)));
        check::<Reply<Learned>>(&Ok(Learned {
            by: Some(ComparedBy::Records),
            is_overwriting: true,
        }));
        check::<Reply<f64>>(&Ok(12.25));
    }
}

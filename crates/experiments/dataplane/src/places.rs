//! The place of a packet's lines before the loop of a stride study meets them.

use experiment::Error;

/// The cache level that holds a cache line.
#[derive(Clone, Copy, PartialEq)]
pub enum CacheLevel {
    /// The core's second-level cache, and not its first.
    L2,
    /// The last-level cache, and none before it.
    Llc,
    /// Memory: no cache has it.
    Dram,
}

impl CacheLevel {
    /// For settings: each place with what it means.
    pub const CHOICES: &[(&str, Self, &str)] = &[
        (
            "l2",
            Self::L2,
            "in the second-level cache, and not in the first",
        ),
        (
            "llc",
            Self::Llc,
            "in the last-level cache; on this machine only",
        ),
        ("dram", Self::Dram, "in no cache"),
    ];

    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::L2 => "l2",
            Self::Llc => "llc",
            Self::Dram => "dram",
        }
    }
}

/// The cache levels that hold a packet's two cache lines before a loop comes to the packet.
#[derive(Clone, Copy)]
pub struct CacheLevels {
    /// The metadata's.
    pub header: CacheLevel,
    /// The data's first.
    pub data: CacheLevel,
}

impl CacheLevels {
    /// Both in no cache: buffers that come again after many others.
    pub const COLD: Self = Self {
        header: CacheLevel::Dram,
        data: CacheLevel::Dram,
    };
    /// As on the slides: an earlier node has touched the metadata, and a device wrote the data.
    pub const RECEIVED: Self = Self {
        header: CacheLevel::L2,
        data: CacheLevel::Dram,
    };

    /// The same, but for what is given.
    pub fn with(self, header: Option<CacheLevel>, data: Option<CacheLevel>) -> Self {
        Self {
            header: header.unwrap_or(self.header),
            data: data.unwrap_or(self.data),
        }
    }

    /// Says what a modelled core lacks.
    ///
    /// # Errors
    /// A line is to lie in the last-level cache, which the model has not.
    pub fn on_a_model(self) -> Result<Self, Error> {
        if [self.header, self.data].contains(&CacheLevel::Llc) {
            Err(Error::usage(
                "the modelled core has no last-level cache",
                "l2 or dram",
            ))
        } else {
            Ok(self)
        }
    }
}

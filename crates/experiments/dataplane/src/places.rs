//! The place of a packet's lines before the loop of a stride study meets them.

use experiment::Error;

/// The place of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the core's second-level cache, and not in its first.
    L2,
    /// In the last-level cache, and in none before it.
    Llc,
    /// In no cache.
    Dram,
}

impl Place {
    /// For settings: each place with what it means.
    pub const CHOICES: &[(&str, Self, &str)] = &[
        ("l2", Self::L2, "in the second-level cache, and not in the first"),
        ("llc", Self::Llc, "in the last-level cache; on this machine only"),
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

/// The place of the two lines of a packet before a frame is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// The metadata's.
    pub header: Place,
    /// The data's first.
    pub data: Place,
}

impl Places {
    /// Both in no cache: buffers that come again after many others.
    pub const COLD: Self = Self { header: Place::Dram, data: Place::Dram };
    /// As on the slides: an earlier node has touched the metadata, and a device wrote the data.
    pub const RECEIVED: Self = Self { header: Place::L2, data: Place::Dram };

    /// The same, but for what is given.
    pub fn with(self, header: Option<Place>, data: Option<Place>) -> Self {
        Self { header: header.unwrap_or(self.header), data: data.unwrap_or(self.data) }
    }

    /// Says what a modelled core lacks.
    ///
    /// # Errors
    /// A line is to lie in the last-level cache, which the model has not.
    pub fn on_a_model(self) -> Result<Self, Error> {
        match [self.header, self.data].contains(&Place::Llc) {
            true => Err(Error::usage("the modelled core has no last-level cache", "l2 or dram")),
            false => Ok(self),
        }
    }
}

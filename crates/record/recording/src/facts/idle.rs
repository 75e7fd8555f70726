use super::{Facts, Power};
use serde::{Deserialize, Serialize};

/// Governors that were replayed on a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// The title of the platform's idle states.
    pub title: String,
    /// The power numbers, where the platform has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
}

impl Facts for Replay {}

/// Clocks that were read and divisions that were made on the machine at hand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// The kernel's clock source, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The reason for which this is taken to be a virtual machine; `None` where it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_machine: Option<String>,
}

impl Facts for Clocks {}

//! Which events are counted.

/// The events that are counted for each packet.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Events {
    /// The processor's.
    Hardware,
    /// The kernel's, which every machine has.
    Software,
}

#[cfg(target_os = "linux")]
impl Events {
    /// Name in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hardware => "hardware",
            Self::Software => "software",
        }
    }
}

//! The `power_state` argument: its two layouts and their fields.

use crate::state::Level;

/// Which layout the `power_state` argument has (PSCI DEN0022, 5.4.2).
///
/// ```
/// use psci::{PowerState, PowerStateFormat};
///
/// // Bit 30 is StateType in the extended format, and reserved in the original one.
/// assert!(PowerState::parse(PowerStateFormat::Extended, 1 << 30).unwrap().power_down);
/// assert_eq!(PowerState::parse(PowerStateFormat::Original, 1 << 30), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PowerStateFormat {
    /// StateID in bits 15:0, StateType in bit 16, PowerLevel in bits 25:24.
    #[default]
    Original,
    /// StateID in bits 27:0, StateType in bit 30.
    Extended,
}

/// The fields of a `power_state` argument (PSCI DEN0022, 5.4.2).
///
/// ```
/// use psci::{PowerState, PowerStateFormat};
///
/// let state = PowerState::parse(PowerStateFormat::Original, 0x0101_0003).unwrap();
/// assert!(state.power_down);
/// assert_eq!((state.level, state.state_id), (Some(1), 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerState {
    /// StateType: power-down rather than standby or retention.
    pub power_down: bool,
    /// PowerLevel; the extended format has none.
    pub level: Option<Level>,
    /// StateID: 16 bits in the original format, 28 in the extended one.
    pub state_id: u32,
}

impl PowerState {
    /// Takes the fields of `raw` apart; `None` if a reserved bit is set.
    #[inline]
    pub const fn parse(format: PowerStateFormat, raw: u32) -> Option<Self> {
        match format {
            PowerStateFormat::Original => {
                if raw & 0xfcfe_0000 != 0 {
                    return None;
                }
                let level = (raw >> 24 & 3) as Level;
                Some(Self {
                    power_down: raw & 1 << 16 != 0,
                    level: Some(level),
                    state_id: raw & 0xffff,
                })
            }
            PowerStateFormat::Extended => {
                if raw & 0xb000_0000 != 0 {
                    return None;
                }
                Some(Self {
                    power_down: raw & 1 << 30 != 0,
                    level: None,
                    state_id: raw & 0x0fff_ffff,
                })
            }
        }
    }
}

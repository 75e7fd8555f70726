//! The idle states of the emulated machine: one table, from which CPU_SUSPEND's argument is decoded
//! and the device tree is written, so that the two cannot disagree.
//!
//! Three levels: cores (0), clusters (1), the system (2). StateID has four bits a level, lowest
//! level first, and in bits 15:12 the highest level at which the caller is the last to go down (0
//! where nobody coordinates by it).

use psci::{CompositeState, Error, Level, LocalState, PowerStateFormat, SuspendRequest};

/// A domain keeps its contents.
pub const RETENTION: LocalState = LocalState(1);
/// A domain loses them.
pub const OFF: LocalState = LocalState(2);
/// The level of the system.
pub const TOP: Level = 2;

/// An idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleState {
    /// Name, as Linux shows it.
    pub name: &'static str,
    /// State of core, cluster and system.
    pub levels: [LocalState; 3],
    /// Time to enter in microseconds. These three are chosen, in the states' order: the machine has
    /// no power to save.
    pub entry_us: u32,
    /// Time to leave in microseconds.
    pub exit_us: u32,
    /// Shortest stay that pays, in microseconds.
    pub residency_us: u32,
}

/// The states, shallowest first.
pub const STATES: [IdleState; 5] = [
    IdleState {
        name: "core-retain",
        levels: [RETENTION, LocalState::RUN, LocalState::RUN],
        entry_us: 5,
        exit_us: 10,
        residency_us: 50,
    },
    IdleState {
        name: "core-off",
        levels: [OFF, LocalState::RUN, LocalState::RUN],
        entry_us: 20,
        exit_us: 40,
        residency_us: 300,
    },
    IdleState {
        name: "cluster-retain",
        levels: [OFF, RETENTION, LocalState::RUN],
        entry_us: 30,
        exit_us: 60,
        residency_us: 700,
    },
    IdleState {
        name: "cluster-off",
        levels: [OFF, OFF, LocalState::RUN],
        entry_us: 50,
        exit_us: 100,
        residency_us: 1500,
    },
    IdleState {
        name: "system-off",
        levels: [OFF, OFF, OFF],
        entry_us: 100,
        exit_us: 200,
        residency_us: 4000,
    },
];

impl IdleState {
    /// The highest level that leaves the running state.
    pub const fn level(&self) -> Level {
        let mut level = TOP;
        while level > 0 && self.levels[level as usize].0 == 0 {
            level -= 1;
        }
        level
    }

    /// True if the core loses its contents: StateType.
    pub const fn powers_down(&self) -> bool {
        self.levels[0].0 == OFF.0
    }

    const fn id(&self) -> u32 {
        self.levels[0].0 as u32 | (self.levels[1].0 as u32) << 4 | (self.levels[2].0 as u32) << 8
    }

    /// The `power_state` argument; `last_at_level` is for OS-initiated mode, 0 otherwise.
    pub const fn power_state(&self, format: PowerStateFormat, last_at_level: Level) -> u32 {
        let id = self.id() | (last_at_level as u32) << 12;
        match format {
            PowerStateFormat::Original => {
                id | (self.powers_down() as u32) << 16 | (self.level() as u32) << 24
            }
            PowerStateFormat::Extended => id | (self.powers_down() as u32) << 30,
        }
    }

    /// The state of every level.
    pub const fn composite(&self) -> CompositeState {
        CompositeState {
            levels: [
                self.levels[0],
                self.levels[1],
                self.levels[2],
                LocalState::RUN,
            ],
        }
    }
}

/// Bits 15:12 of StateID.
const LAST_AT_LEVEL: u32 = 0xf000;
/// PowerLevel, in the original format.
const POWER_LEVEL: u32 = 3 << 24;

/// A state as its arguments have it, nobody being the last at any level.
struct EncodedState {
    original: u32,
    extended: u32,
    composite: CompositeState,
}

/// The states again, computed once: decoding is on the way of every idle.
static ENCODED: [EncodedState; STATES.len()] = {
    let mut all = [const {
        EncodedState {
            original: 0,
            extended: 0,
            composite: CompositeState::RUN,
        }
    }; STATES.len()];
    let mut n = 0;
    while n < all.len() {
        all[n] = EncodedState {
            original: STATES[n].power_state(PowerStateFormat::Original, 0),
            extended: STATES[n].power_state(PowerStateFormat::Extended, 0),
            composite: STATES[n].composite(),
        };
        n += 1;
    }
    all
};

/// The request in a `power_state` argument.
///
/// In the original format PowerLevel says up to which level the request goes (PSCI DEN0022, 5.4.2),
/// so StateID's fields of the levels above are not part of it and are not read: 0x0001_2222 asks
/// for core-off. In the extended format StateID says all, and 0x4000_2222 asks for system-off.
///
/// # Errors
/// [`Error::InvalidParameters`]: no such state.
#[inline]
pub fn decode(format: PowerStateFormat, raw: u32) -> Result<SuspendRequest, Error> {
    let last_at_level = (raw >> 12 & 0xf) as Level;
    if last_at_level > TOP {
        return Err(Error::InvalidParameters);
    }
    let found = match format {
        PowerStateFormat::Original => {
            let find = |wanted| ENCODED.iter().find(|known| known.original == wanted);
            let state = raw & !LAST_AT_LEVEL;
            find(state).or_else(|| find(up_to_its_level(state)))
        }
        PowerStateFormat::Extended => ENCODED
            .iter()
            .find(|known| known.extended == raw & !LAST_AT_LEVEL),
    };
    match found {
        Some(known) => Ok(SuspendRequest {
            state: known.composite,
            last_at_level,
        }),
        None => Err(Error::InvalidParameters),
    }
}

/// An argument in the original format without StateID's fields above PowerLevel.
#[cold]
fn up_to_its_level(raw: u32) -> u32 {
    match (raw & POWER_LEVEL) >> 24 {
        0 => raw & !0xff0,
        1 => raw & !0xf00,
        _ => raw,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use psci::PowerState;

    const FORMATS: [PowerStateFormat; 2] = [PowerStateFormat::Original, PowerStateFormat::Extended];

    #[test]
    fn every_state_is_decoded_from_its_argument() {
        for format in FORMATS {
            for state in STATES {
                for last_at_level in 0..=TOP {
                    let raw = state.power_state(format, last_at_level);
                    assert_eq!(
                        decode(format, raw),
                        Ok(SuspendRequest {
                            state: state.composite(),
                            last_at_level
                        }),
                        "{raw:#x}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_arguments_are_those_that_users_write() {
        assert_eq!(
            STATES[1].power_state(PowerStateFormat::Original, 0),
            0x0001_0002
        );
        assert_eq!(
            STATES[3].power_state(PowerStateFormat::Original, 0),
            0x0101_0022
        );
        assert_eq!(
            STATES[3].power_state(PowerStateFormat::Extended, 1),
            0x4000_1022
        );
    }

    #[test]
    fn nothing_else_is_a_state() {
        // Wrong type, wrong level, a level too many, a hole, reserved bits, last at a level that
        // there is not.
        for raw in [
            0x2,
            0x0101_0002,
            0x0301_2222,
            0x0001_0020,
            0x0002_0000,
            0x0001_3002,
            0,
        ] {
            assert_eq!(
                decode(PowerStateFormat::Original, raw),
                Err(Error::InvalidParameters),
                "{raw:#x}"
            );
        }
        for raw in [
            0x2,
            0x4000_0020,
            0x4000_0220,
            0x4000_3002,
            0x5000_0002,
            0xc000_0002,
            0x4001_0002,
            0,
        ] {
            assert_eq!(
                decode(PowerStateFormat::Extended, raw),
                Err(Error::InvalidParameters),
                "{raw:#x}"
            );
        }
    }

    #[test]
    fn the_original_format_reads_state_ids_up_to_the_power_level() {
        let state = |raw| decode(PowerStateFormat::Original, raw).map(|request| request.state);
        for (raw, index) in [
            (0x0001_0222, 1),
            (0x0001_2222, 1),
            (0x0101_0222, 3),
            (0x0101_0912, 2),
            (0x0000_0221, 0),
        ] {
            assert_eq!(state(raw), Ok(STATES[index].composite()), "{raw:#x}");
        }
        for raw in [
            0x0001_0221,
            0x0101_0202,
            0x0201_0322,
            0x0301_0222,
            0x0002_0222,
        ] {
            assert_eq!(state(raw), Err(Error::InvalidParameters), "{raw:#x}");
        }
        assert_eq!(
            decode(PowerStateFormat::Extended, 0x4000_2222).map(|request| request.state),
            Ok(STATES[4].composite())
        );
    }

    /// Against the fields one by one.
    #[test]
    fn every_argument_is_decoded_as_its_fields_say() {
        let by_fields = |format, raw| {
            let fields = PowerState::parse(format, raw)?;
            let level = fields.level.unwrap_or(TOP);
            let local = |of: Level| {
                if of > level {
                    0
                } else {
                    fields.state_id >> (4 * of) & 0xf
                }
            };
            let known = STATES.iter().find(|state| {
                (0..=TOP).all(|of| u32::from(state.levels[usize::from(of)].0) == local(of))
                    && state.powers_down() == fields.power_down
                    && fields.level.is_none_or(|level| level == state.level())
            })?;
            let last_at_level = (fields.state_id >> 12 & 0xf) as Level;
            let nothing_above = fields.state_id >> 16 == 0 && last_at_level <= TOP;
            nothing_above.then_some(SuspendRequest {
                state: known.composite(),
                last_at_level,
            })
        };
        for format in FORMATS {
            let mut states = 0;
            for id in 0..=0xffff {
                for rest in [
                    0,
                    1 << 16,
                    1 << 17,
                    1 << 24,
                    1 << 24 | 1 << 16,
                    1 << 25,
                    1 << 25 | 1 << 16,
                    3 << 24 | 1 << 16,
                    1 << 30,
                    1 << 31,
                    5 << 28,
                ] {
                    let decoded = decode(format, rest | id).ok();
                    assert_eq!(
                        decoded,
                        by_fields(format, rest | id),
                        "{format:?} {:#x}",
                        rest | id
                    );
                    states += u32::from(decoded.is_some());
                }
            }
            assert!(states >= 15, "{format:?}: {states}");
        }
    }

    #[test]
    fn deeper_states_take_longer() {
        for pair in STATES.windows(2) {
            assert!(
                pair[0].residency_us < pair[1].residency_us && pair[0].exit_us < pair[1].exit_us
            );
            assert!(pair[0].entry_us + pair[0].exit_us < pair[0].residency_us);
        }
    }
}

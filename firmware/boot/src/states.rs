//! The idle states of the emulated machine: one table, from which CPU_SUSPEND's argument is decoded
//! and the device tree is written, so that the two cannot disagree.
//!
//! Three levels: cores (0), clusters (1), the system (2). StateID has four bits a level, lowest
//! level first, and in bits 15:12 the highest level at which the caller is the last to go down (0
//! where nobody coordinates by it).

use psci::{CompositeState, Error, Level, LocalState, PowerState, PowerStateFormat, SuspendRequest};

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
    IdleState { name: "system-off", levels: [OFF, OFF, OFF], entry_us: 100, exit_us: 200, residency_us: 4000 },
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
            PowerStateFormat::Original => id | (self.powers_down() as u32) << 16 | (self.level() as u32) << 24,
            PowerStateFormat::Extended => id | (self.powers_down() as u32) << 30,
        }
    }

    /// The state of every level.
    pub const fn composite(&self) -> CompositeState {
        CompositeState { levels: [self.levels[0], self.levels[1], self.levels[2], LocalState::RUN] }
    }
}

/// A state as its argument has it.
struct Encoded {
    id: u32,
    power_down: bool,
    level: Level,
    composite: CompositeState,
}

/// The states again, computed once: decoding is on the way of every idle.
static ENCODED: [Encoded; STATES.len()] = {
    let mut all =
        [const { Encoded { id: 0, power_down: false, level: 0, composite: CompositeState::RUN } }; STATES.len()];
    let mut n = 0;
    while n < all.len() {
        let state = &STATES[n];
        all[n] = Encoded {
            id: state.id(),
            power_down: state.powers_down(),
            level: state.level(),
            composite: state.composite(),
        };
        n += 1;
    }
    all
};

/// The request in a `power_state` argument.
///
/// # Errors
/// [`Error::InvalidParameters`]: no such state.
#[inline]
pub fn decode(format: PowerStateFormat, raw: u32) -> Result<SuspendRequest, Error> {
    let fields = PowerState::parse(format, raw).ok_or(Error::InvalidParameters)?;
    let last_at_level = (fields.state_id >> 12 & 0xf) as Level;
    let id = fields.state_id & !0xf000;
    let known = ENCODED.iter().find(|known| known.id == id).ok_or(Error::InvalidParameters)?;
    if last_at_level > TOP
        || known.power_down != fields.power_down
        || fields.level.is_some_and(|level| level != known.level)
    {
        return Err(Error::InvalidParameters);
    }
    Ok(SuspendRequest { state: known.composite, last_at_level })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: [PowerStateFormat; 2] = [PowerStateFormat::Original, PowerStateFormat::Extended];

    #[test]
    fn every_state_is_decoded_from_its_argument() {
        for format in FORMATS {
            for state in STATES {
                for last_at_level in 0..=TOP {
                    let raw = state.power_state(format, last_at_level);
                    assert_eq!(
                        decode(format, raw),
                        Ok(SuspendRequest { state: state.composite(), last_at_level }),
                        "{raw:#x}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_arguments_are_those_that_users_write() {
        assert_eq!(STATES[1].power_state(PowerStateFormat::Original, 0), 0x0001_0002);
        assert_eq!(STATES[3].power_state(PowerStateFormat::Original, 0), 0x0101_0022);
        assert_eq!(STATES[3].power_state(PowerStateFormat::Extended, 1), 0x4000_1022);
    }

    #[test]
    fn nothing_else_is_a_state() {
        // Wrong type, wrong level, a level too many, a hole, reserved bits, last at a level that
        // there is not.
        for raw in [0x2, 0x0101_0002, 0x0301_2222, 0x0001_0020, 0x0002_0000, 0x0001_3002, 0] {
            assert_eq!(decode(PowerStateFormat::Original, raw), Err(Error::InvalidParameters), "{raw:#x}");
        }
    }

    #[test]
    fn deeper_states_take_longer() {
        for pair in STATES.windows(2) {
            assert!(pair[0].residency_us < pair[1].residency_us && pair[0].exit_us < pair[1].exit_us);
            assert!(pair[0].entry_us + pair[0].exit_us < pair[0].residency_us);
        }
    }
}

//! The `power_state` argument, and what a composite state must look like.

use crate::platform::{CPU_LEVEL, CompositeState, LEVELS, Level, LocalState, Platform, PowerStateFormat};

/// The fields of a `power_state` argument (PSCI DEN0022, 5.4.2).
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
                Some(Self { power_down: raw & 1 << 16 != 0, level: Some(level), state_id: raw & 0xffff })
            }
            PowerStateFormat::Extended => {
                if raw & 0xb000_0000 != 0 {
                    return None;
                }
                Some(Self { power_down: raw & 1 << 30 != 0, level: None, state_id: raw & 0x0fff_ffff })
            }
        }
    }
}

/// Whether no level leaves the running state above one that keeps it: a parent cannot be off with a child on.
pub(crate) fn is_without_gaps(state: &CompositeState) -> bool {
    state.levels.windows(2).all(|pair| match pair {
        [below, above] => *below != LocalState::RUN || *above == LocalState::RUN,
        _ => true,
    })
}

/// Whether `state` can be asked of a tree whose highest level is `top`: the CPU itself leaves the running state, no level
/// is skipped, none is above the top, and no level loses its contents above one that keeps them.
pub(crate) fn is_sound<P: Platform>(platform: &P, state: &CompositeState, top: Level) -> bool {
    let highest = state.highest();
    if highest == CPU_LEVEL {
        // The CPU alone, which is most calls: there is no level above it that could be wrong.
        return state.at(CPU_LEVEL) != LocalState::RUN;
    }
    let loses = |level: Level| state.at(level) != LocalState::RUN && platform.is_power_down(level, state.at(level));
    state.at(CPU_LEVEL) != LocalState::RUN
        && highest <= top
        && is_without_gaps(state)
        && (1..LEVELS as Level).all(|level| loses(level - 1) || !loses(level))
}

/// The highest level that loses its contents in `state`.
pub(crate) fn highest_power_down<P: Platform>(platform: &P, state: &CompositeState) -> Option<Level> {
    (0..LEVELS as Level).rev().find(|&level| {
        let local = state.at(level);
        local != LocalState::RUN && platform.is_power_down(level, local)
    })
}

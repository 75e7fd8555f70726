//! Which composite states a platform and its tree can have.

use crate::platform::Platform;
use crate::state::{CPU_LEVEL, CompositeState, LEVELS, Level, LocalState};

/// True if `state` can be asked of a tree whose highest level is `top`: the CPU itself leaves the
/// running state, no level is skipped, none is above the top, and no level loses its contents above
/// one that keeps them.
pub(crate) fn is_sound<P: Platform>(platform: &P, state: &CompositeState, top: Level) -> bool {
    let highest = state.highest();
    if highest == CPU_LEVEL {
        // The CPU alone, which is most calls: there is no level above it that could be wrong.
        return state.at(CPU_LEVEL) != LocalState::RUN;
    }
    let loses = |level: Level| {
        state.at(level) != LocalState::RUN && platform.is_power_down(level, state.at(level))
    };
    state.at(CPU_LEVEL) != LocalState::RUN
        && highest <= top
        && state.is_without_gaps()
        && (1..LEVELS as Level).all(|level| loses(level - 1) || !loses(level))
}

/// The highest level that loses its contents in `state`.
pub(crate) fn highest_power_down<P: Platform>(
    platform: &P,
    state: &CompositeState,
) -> Option<Level> {
    (0..LEVELS as Level).rev().find(|&level| {
        let local = state.at(level);
        local != LocalState::RUN && platform.is_power_down(level, local)
    })
}

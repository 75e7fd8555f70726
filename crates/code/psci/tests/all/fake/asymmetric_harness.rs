//! The harness on the asymmetric board, whose `power_state` values it knows.

use super::asymmetric::{Asymmetric, state};
use super::harness::{Ending, Harness};
use super::machine::Options;
use psci::Outcome;
use psci::PowerStateFormat;
use psci::id;

/// Entry point and context id of [`Harness::suspend`].
pub const RESUME: (u64, u64) = (0x7000_0000, 0x5678);

impl Harness<Asymmetric> {
    /// The library on [`Asymmetric`], with CPU 0 booted.
    pub fn new(options: Options) -> Self {
        Self::on_board(Asymmetric, options)
            .unwrap_or_else(|error| panic!("the board is refused: {error}"))
    }

    /// The same, with CPUs 0 to `running` - 1 on and an empty log.
    pub fn running(options: Options, running: u16) -> Self {
        let harness = Self::new(options);
        for cpu in 1..running {
            harness.turn_on(cpu);
        }
        harness.clear_log();
        harness
    }

    /// CPU_SUSPEND with the states of the levels 0 to 2.
    pub fn suspend(&self, cpu: u16, levels: [u8; 3]) -> Ending<Outcome> {
        self.suspend_as_last(cpu, levels, 0)
    }

    /// The same, by a CPU that says it is the last one up to level `last_at`, as OS-initiated mode
    /// asks for.
    pub fn suspend_as_last(&self, cpu: u16, levels: [u8; 3], last_at: u8) -> Ending<Outcome> {
        let raw = self.power_state(levels, last_at);
        self.smc(
            cpu,
            id::CPU_SUSPEND | id::SMC64,
            [u64::from(raw), RESUME.0, RESUME.1],
        )
    }

    /// The `power_state` for states of the levels 0 to 2.
    pub fn power_state(&self, levels: [u8; 3], last_at: u8) -> u32 {
        let [cpu, cluster, group] = levels.map(u32::from);
        let id = cpu | cluster << 4 | group << 8 | u32::from(last_at) << 12;
        let down = u32::from(cpu >= 2);
        match self.fake.options.format {
            PowerStateFormat::Extended => id | down << 30,
            PowerStateFormat::Original => {
                id | down << 16
                    | u32::from(state([levels[0], levels[1], levels[2], 0]).highest()) << 24
            }
        }
    }
}

//! Platform, release and cost files: read, overridden by `--set`, checked.
//!
//! Three files describe a machine: the platform (hardware facts), the release (what firmware chose)
//! and the costs (fitted). Each is TOML with unknown keys refused; an error shows the line and says
//! what would be right.
//!
//! The simulation of `soc` is optimised for speed, and this, which is read once a run, for size.
#![forbid(unsafe_code)]

mod costs;
mod idle_states;
mod platform;
pub mod quantity;
mod release;
mod set;

pub use costs::{CoreCosts, Costs, PowerUnitCosts, ScpCosts};
pub use idle_states::{
    Beside, IdleDomain, IdlePlatform, IdleStateCost, LatencyLimit, Power, PowerDomain, Range,
    WattsPerUnit,
};
pub use platform::{
    AssumedTimes, CoreType, Domain, IdleState, MAX_CPUS, OperatingPoint, Platform, PowerUps,
    Topology, WorldCpu,
};
pub use release::{Levels, Release, ScpProtocol};

use document::{Document, Error, Result};

/// A whole machine: what the simulation is built from.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Hardware facts.
    pub platform: Platform,
    /// The firmware's choices.
    pub release: Release,
    /// Fitted costs.
    pub costs: Costs,
}

impl Machine {
    /// The time for which the power-up of a core keeps the SCP, in ps.
    pub fn core_on(&self) -> u64 {
        // One of the two is there, or the machine could not be read.
        self.costs
            .scp
            .core_on
            .or(self.platform.assumed.core_on)
            .unwrap_or_default()
    }

    /// True if firmware takes CPUs down without a message to the SCP.
    pub fn needs_power_units(&self) -> bool {
        !self
            .release
            .scp_messages
            .are_all(self.platform.topology.top_level)
    }
}

/// The three texts of a machine, before they are read.
#[derive(Clone)]
pub struct Sources {
    /// The platform file.
    pub platform: Document,
    /// The release file.
    pub release: Document,
    /// The costs file.
    pub costs: Document,
}

/// Why a key has no effect on any model, and what to set in its place; `None` for one that has.
fn describes(key: &str) -> Option<(&'static str, &'static str)> {
    let parts: Vec<&str> = key.split('.').collect();
    match parts.as_slice() {
        ["costs", "fit" | "release" | "session" | "borrowed", ..] => Some((
            "it says how the costs were found",
            "set a cost, such as costs.scp.core_off=\"90 us\"",
        )),
        ["borrows" | "domain" | "power", ..] | ["cores", _, "borrows"] => Some((
            "this part of the file is read before keys are set",
            "change it in the file",
        )),
        ["name" | "title"] | [.., "source" | "operating_points_source"] => Some((
            "it describes the machine for readers",
            "set what it describes",
        )),
        _ => None,
    }
}

/// The costs of a core that are cycles at its clock: code with caches on, and flushes, since the L2
/// of a cluster has its cores' clock. Code that runs with caches off waits for memory, and keeps its
/// time, as the SCP, memory and the interconnect do.
const CYCLES: [&str; 8] = [
    "smc",
    "context_save",
    "context_restore",
    "power_down",
    "flush_l1_line",
    "flush_l2_line",
    "hardware_flush_request",
    "interrupts_init",
];

impl Sources {
    /// Overrides one key: `costs.…` in the costs, `psci.…`, `firmware.…` and `lead` in the release,
    /// all others in the platform. `topology.clusters` takes a shape such as `4`, `16x4` or
    /// `4*cortex-a53+2*cortex-a57`.
    ///
    /// # Errors
    /// The key or the value cannot be placed, or the key describes and decides nothing. Whether a
    /// key is known is said by [`Sources::machine`]. Another clock of a core gives its code
    /// with caches on and its flushes other times.
    pub fn set(&mut self, key: &str, value: &str) -> Result {
        let first = key.split('.').next().unwrap_or_default();
        if let Some((why, help)) = describes(key) {
            return Err(Error::new(
                format!("--set {key} changes nothing: {why}"),
                help,
            ));
        }
        match (first, key) {
            ("costs", _) => set::set(
                &mut self.costs,
                key.strip_prefix("costs.").unwrap_or(key),
                value,
            ),
            ("psci" | "firmware" | "lead", _) => set::set(&mut self.release, key, value),
            (_, "topology.clusters") => platform::set_clusters(&mut self.platform, value),
            _ => match key
                .strip_prefix("cores.")
                .and_then(|of| of.strip_suffix(".clock"))
            {
                Some(core) => self.set_clock(core, key, value),
                None => set::set(&mut self.platform, key, value),
            },
        }
    }

    fn set_clock(&mut self, core: &str, key: &str, value: &str) -> Result {
        let before = Platform::read(&self.platform)?;
        let mut costs = Costs::read(&self.costs, &before)?;
        set::set(&mut self.platform, key, value)?;
        let after = Platform::read(&self.platform)?;
        let Some((before, after)) = before.cores.get(core).zip(after.cores.get(core)) else {
            return Ok(());
        };
        for cost in CYCLES.map(|name| format!("cores.{core}.{name}")) {
            let ps = costs.cost_mut(&cost).map_or(0, |ps| u128::from(*ps));
            let ps = ps * u128::from(before.clock) / u128::from(after.clock);
            set::set(&mut self.costs, &cost, &format!("{ps} ps"))?;
        }
        Ok(())
    }

    /// Reads and checks all three.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and line.
    pub fn machine(&self) -> Result<Machine> {
        let platform = Platform::read(&self.platform)?;
        let release = Release::read(&self.release, &platform)?;
        let costs = Costs::read(&self.costs, &platform)?;
        if !release.hardware_coherency {
            self.check_flush_costs(&platform)?;
        }
        if costs.scp.core_on.or(platform.assumed.core_on).is_none() {
            return Err(self.costs.wrong(
                0..0,
                "no `core_on` in [scp], and the platform assumes none",
                "add it, such as core_on = \"50 us\", or give [assumed] of the platform file one",
            ));
        }
        let machine = Machine {
            platform,
            release,
            costs,
        };
        if machine.costs.power_units.is_none() && machine.needs_power_units() {
            return Err(self.costs.wrong(
                0..0,
                format!(
                    "no [power_units], which {} needs: it takes CPUs down without a message to the SCP",
                    machine.release.name
                ),
                "add [power_units] with core_off and cluster_off, or parameters of these names to calibration.toml",
            ));
        }
        Ok(machine)
    }

    /// Software flushes the caches: a cost left out would make that free.
    fn check_flush_costs(&self, platform: &Platform) -> Result {
        let costs: toml::Table = self.costs.read_measured()?;
        let of_core = |core: &str| costs.get("cores")?.get(core)?.as_table();
        for core in platform.topology.cpus.iter().map(|cpu| &cpu.core_type) {
            for key in ["flush_l1_line", "flush_l2_line"] {
                if of_core(core).is_some_and(|costs| !costs.contains_key(key)) {
                    return Err(self.costs.wrong(
                        0..0,
                        format!("no `{key}` in [cores.{core}], and the release flushes caches by set/way"),
                        "add it, or set `psci.hardware_coherency` to true in the release",
                    ));
                }
            }
        }
        Ok(())
    }
}

//! Fitted costs: how long operations of the firmware take on a machine.

use super::Platform;
use crate::quantity::{picoseconds, some_picoseconds};
use document::{Document, Error, readers, within};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The cost of operations, in picoseconds unless said otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// An access to memory past the caches, and a line's maintenance that reaches memory.
    #[serde(deserialize_with = "picoseconds")]
    pub memory_access: u64,
    /// From exception entry to the PSCI handler and back in a call that is not a CPU's first after
    /// a power-up, so that the caches hold its code; `None`: as in the first.
    #[serde(default, deserialize_with = "some_picoseconds")]
    pub smc_warm: Option<u64>,
    /// Closing a cluster's port of the interconnect.
    #[serde(deserialize_with = "picoseconds")]
    pub interconnect_exit: u64,
    /// Opening that port again, for cores that have no such cost of their own.
    #[serde(default, deserialize_with = "some_picoseconds")]
    pub interconnect_enter: Option<u64>,
    /// Part of a flush that holds the port which all flushing cores share, in millionths: each
    /// other core that flushes at the same time makes a flush longer by this part.
    #[serde(deserialize_with = "millionths")]
    pub flush_port_share: u64,
    /// The time that hardware takes for a line of a cluster's shared cache, where caches stay
    /// coherent until the cluster loses power.
    #[serde(default, deserialize_with = "picoseconds")]
    pub hardware_shared_line: u64,
    /// The power controller.
    #[serde(skip)]
    pub scp: ScpCosts,
    /// The power units, on a machine whose firmware takes CPUs down without a message to the SCP.
    #[serde(skip)]
    pub power_units: Option<PowerUnitCosts>,
    /// Costs that depend on the core, by its type.
    #[serde(skip)]
    pub cores: BTreeMap<String, CoreCosts>,
}

/// The time that the SCP takes for a command, in picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScpCosts {
    /// From the doorbell to the command taken: frees an SCPI slot, yields an SCMI response.
    #[serde(deserialize_with = "picoseconds")]
    pub take: u64,
    /// Powering a core up, for which it serves nothing else; `None`: as the platform assumes.
    #[serde(default, deserialize_with = "some_picoseconds")]
    pub core_on: Option<u64>,
    /// Turning a core off, once it is in WFI.
    #[serde(deserialize_with = "picoseconds")]
    pub core_off: u64,
    /// The time by which a command keeps the SCP busy longer if it takes the cluster down as well.
    #[serde(deserialize_with = "picoseconds")]
    pub cluster_off: u64,
}

/// The time that the power units take, in picoseconds: hardware that takes a core's or a cluster's
/// power when it sees its cores in WFI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerUnitCosts {
    /// Taking a core's power, once it is in WFI and its caches are flushed.
    #[serde(deserialize_with = "picoseconds")]
    pub core_off: u64,
    /// The time by which it takes longer if the cluster goes down as well.
    #[serde(deserialize_with = "picoseconds")]
    pub cluster_off: u64,
}

/// The cost of operations on one type of core, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreCosts {
    /// From exception entry to the PSCI handler and back, in the first call after a power-up.
    #[serde(deserialize_with = "picoseconds")]
    pub smc: u64,
    /// Saving the normal world's system registers.
    #[serde(deserialize_with = "picoseconds")]
    pub context_save: u64,
    /// Restoring those registers.
    #[serde(deserialize_with = "picoseconds")]
    pub context_restore: u64,
    /// The firmware's work from the flush to the message: interrupt controller interface off,
    /// wake-up vector, message.
    #[serde(deserialize_with = "picoseconds")]
    pub power_down: u64,
    /// Flushing one line of the L1 data cache by set/way.
    #[serde(default, deserialize_with = "picoseconds")]
    pub flush_l1_line: u64,
    /// Flushing one line of the L2 cache by set/way.
    #[serde(default, deserialize_with = "picoseconds")]
    pub flush_l2_line: u64,
    /// The work of a core that stays coherent between the flush stamps: the writes that tell its
    /// hardware of the power-down.
    #[serde(default, deserialize_with = "picoseconds")]
    pub hardware_flush_request: u64,
    /// The time that hardware takes for one line of the core's own caches, on a core that stays
    /// coherent until it loses power.
    #[serde(default, deserialize_with = "picoseconds")]
    pub hardware_flush_line: u64,
    /// From reset to code that can run with the MMU on.
    #[serde(deserialize_with = "picoseconds")]
    pub warm_reset: u64,
    /// Opening the interconnect's port again, where cores differ: its code runs with caches off.
    /// `None`: as the costs that are shared say.
    #[serde(default, deserialize_with = "some_picoseconds")]
    pub interconnect_enter: Option<u64>,
    /// Setting up the interrupt controller's part of this CPU after CPU_ON.
    #[serde(deserialize_with = "picoseconds")]
    pub interrupts_init: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The release's name, for people who read the file.
    #[serde(rename = "release")]
    _release: String,
    /// The session of the board that the costs were fitted to, which `compare` reads.
    #[serde(default, rename = "session")]
    _session: String,
    /// The board whose costs these are, where they are another's.
    #[serde(default, rename = "borrowed")]
    _borrowed: String,
    shared: Costs,
    scp: ScpCosts,
    power_units: Option<PowerUnitCosts>,
    cores: BTreeMap<String, CoreCosts>,
}

readers! {
    /// A share of 1, in millionths.
    millionths: u64 = |from| {
        let help = "is no share: one is a part of 1, from 0.0 to 1.0";
        Ok((within(f64::deserialize(from)?, 0.0..=1.0, help)? * 1e6).round() as u64)
    };
}

impl Costs {
    /// A cost by its dotted key in the costs file, in picoseconds, or in millionths of a share;
    /// `None` if there is no such cost.
    pub fn cost_mut(&mut self, key: &str) -> Option<&mut u64> {
        Some(match key {
            "memory_access" => &mut self.memory_access,
            "smc_warm" => self.smc_warm.get_or_insert_default(),
            "interconnect_exit" => &mut self.interconnect_exit,
            "interconnect_enter" => self.interconnect_enter.get_or_insert_default(),
            "flush_port_share" => &mut self.flush_port_share,
            "hardware_shared_line" => &mut self.hardware_shared_line,
            "power_units.core_off" => &mut self.power_units.get_or_insert_default().core_off,
            "power_units.cluster_off" => &mut self.power_units.get_or_insert_default().cluster_off,
            "scp.take" => &mut self.scp.take,
            "scp.core_on" => self.scp.core_on.get_or_insert_default(),
            "scp.core_off" => &mut self.scp.core_off,
            "scp.cluster_off" => &mut self.scp.cluster_off,
            _ => {
                let (core, name) = key.strip_prefix("cores.")?.rsplit_once('.')?;
                let core = self.cores.get_mut(core)?;
                match name {
                    "smc" => &mut core.smc,
                    "context_save" => &mut core.context_save,
                    "context_restore" => &mut core.context_restore,
                    "power_down" => &mut core.power_down,
                    "flush_l1_line" => &mut core.flush_l1_line,
                    "flush_l2_line" => &mut core.flush_l2_line,
                    "hardware_flush_request" => &mut core.hardware_flush_request,
                    "hardware_flush_line" => &mut core.hardware_flush_line,
                    "warm_reset" => &mut core.warm_reset,
                    "interconnect_enter" => core.interconnect_enter.get_or_insert_default(),
                    "interrupts_init" => &mut core.interrupts_init,
                    _ => return None,
                }
            }
        })
    }

    /// Reads a costs file for a platform. Only the part before the first `[fit]` table is read: the
    /// rest says how the costs came about.
    ///
    /// # Errors
    /// What [`Document::read`] says; a share outside of 0 to 1; a core type of the platform without
    /// costs.
    pub fn read(document: &Document, platform: &Platform) -> Result<Self, Error> {
        let cut = document
            .text()
            .find("\n[fit")
            .map_or(document.text().len(), |at| at + 1);
        let document = Document::new(document.name(), &document.text()[..cut]);
        let mut file: File = document.read()?;
        let cores = &mut file.cores;
        for (own, core) in &platform.cores {
            let lent = core.borrows.as_ref().and_then(|lent| cores.get(lent));
            if let Some(costs) = lent.copied() {
                cores.insert(own.clone(), costs);
            }
        }
        for name in platform.topology.cpus.iter().map(|cpu| &cpu.core_type) {
            if !cores.contains_key(name) {
                let known: Vec<_> = cores.keys().cloned().collect();
                return Err(document.wrong(
                    0..0,
                    format!("no costs for the core type `{name}` of {}", platform.name),
                    format!("there are costs for: {}", known.join(", ")),
                ));
            }
            if cores[name]
                .interconnect_enter
                .or(file.shared.interconnect_enter)
                .is_none()
            {
                return Err(document.wrong(
                    0..0,
                    format!("no `interconnect_enter` in [cores.{name}] nor in [shared]"),
                    "add it to one of them, such as interconnect_enter = \"3 us\"",
                ));
            }
        }
        Ok(Self {
            scp: file.scp,
            power_units: file.power_units,
            cores: file.cores,
            ..file.shared
        })
    }
}

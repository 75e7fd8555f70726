//! The choices of a firmware release.

use super::Platform;
use document::{Document, Result};
use psci::{Level, LockKind, MessageOrder, PowerDown};
use serde::Deserialize;
use toml::Spanned;

/// Protocol between CPUs and the SCP.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScpProtocol {
    /// One-way: a sender waits until the slot is free, writes and goes on. The slot frees when the
    /// SCP takes the command.
    Scpi,
    /// Synchronous: a sender writes and polls for the response, holding the channel.
    Scmi,
}

/// Power levels at which a release does something, for each kind of call that takes a CPU down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    /// Levels at which CPU_SUSPEND and its like do it.
    pub suspend: Vec<u8>,
    /// Levels at which CPU_OFF does it.
    pub off: Vec<u8>,
}

impl Levels {
    /// Every level, in both kinds of calls.
    fn all(top: u8) -> Self {
        Self {
            suspend: (0..=top).collect(),
            off: (0..=top).collect(),
        }
    }

    /// True if `level` is among those of a kind of call.
    pub fn contain(&self, why: PowerDown, level: Level) -> bool {
        match why {
            PowerDown::Suspend => self.suspend.contains(&level),
            PowerDown::Off => self.off.contains(&level),
        }
    }

    /// True if this says something of every level in both kinds of calls.
    pub fn are_all(&self, top: u8) -> bool {
        (0..=top).all(|level| self.suspend.contains(&level) && self.off.contains(&level))
    }
}

/// A firmware release on a platform.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// Name of the release, as in the published figures.
    pub name: String,
    /// Full name.
    pub title: String,
    /// The source in which these choices are documented.
    pub source: String,
    /// The CPU that runs the procedures.
    pub lead: usize,
    /// Protocol between CPUs and the SCP.
    pub scp_protocol: ScpProtocol,
    /// Lock of the power domains and of the SCP channel.
    pub lock: LockKind,
    /// True if the SCP is told inside the ancestor locks.
    pub message_order: MessageOrder,
    /// Power-downs of which a message tells the SCP, by the highest level that goes down. Power
    /// units handle the others: they see each core's WFI by themselves.
    pub scp_messages: Levels,
    /// At which levels that a call asks for each CPU flushes the L2 of its cluster, whether or not
    /// the cluster goes down. The last of a cluster that goes down always does, on a machine that
    /// does not stay coherent.
    pub l2_flush: Levels,
    /// True if caches stay coherent during power-down: no flush by set/way.
    pub hardware_coherency: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: String,
    source: String,
    lead: Spanned<[u16; 2]>,
    firmware: Firmware,
    psci: PsciChoices,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Firmware {
    scp_protocol: ScpProtocol,
    #[serde(default)]
    scp_messages: FileLevels,
}

/// Levels as a file has them: what is left out has the value that is usual for the key.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileLevels {
    suspend: Option<Vec<u8>>,
    off: Option<Vec<u8>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PsciChoices {
    #[serde(with = "Lock")]
    lock: LockKind,
    #[serde(with = "ScpSend")]
    scp_send: MessageOrder,
    hardware_coherency: bool,
    l2_flush: Option<FileLevels>,
}

#[derive(Deserialize)]
#[serde(remote = "LockKind", rename_all = "lowercase")]
enum Lock {
    Bakery,
    Ticket,
}

#[derive(Deserialize)]
#[serde(remote = "MessageOrder", rename_all = "kebab-case")]
enum ScpSend {
    InsideLocks,
    OutsideLocks,
}

impl PsciChoices {
    /// Refuses a lock or a flush that does not go with the coherency of the CPUs.
    fn check_coherency(&self, document: &Document, platform: &Platform) -> Result {
        let wrong =
            |key, what: &str, help| Err(document.wrong(document.place("psci", key), what, help));
        match (self.hardware_coherency, platform.cache_for_hardware()) {
            (false, _) if self.lock == LockKind::Ticket => wrong(
                "lock",
                "a ticket lock needs CPUs that stay coherent while they power down",
                "use `bakery`, or set `psci.hardware_coherency` to true as well",
            ),
            (true, _) if self.l2_flush.is_some() => wrong(
                "l2_flush",
                "CPUs that stay coherent while they power down flush nothing",
                "leave `psci.l2_flush` out, or set `psci.hardware_coherency` to false",
            ),
            (false, Some(cache)) => wrong(
                "hardware_coherency",
                &format!("software does not flush {cache} of {}", platform.name),
                "set `psci.hardware_coherency` to true: hardware flushes private L2 caches and an L3",
            ),
            _ => Ok(()),
        }
    }
}

impl Release {
    /// Reads a release file for a platform.
    ///
    /// # Errors
    /// What [`Document::read`] says; a lead CPU or a power level that the platform lacks; a ticket
    /// lock without coherency, or caches that only hardware can flush; a policy of flushes with it.
    pub fn read(document: &Document, platform: &Platform) -> Result<Self> {
        let file: File = document.read()?;
        let [cluster, core] = *file.lead.get_ref();
        let cpus = &platform.topology.cpus;
        let lead = cpus
            .iter()
            .position(|cpu| (cpu.cluster, cpu.core) == (cluster, core));
        // A platform of another shape (`--set topology.clusters`) need not have the CPU that led on
        // the board.
        let lead = match lead {
            Some(lead) => lead,
            None if platform.topology.reshaped => 0,
            None => {
                return Err(document.wrong(
                    file.lead.span(),
                    format!(
                        "there is no CPU {core} in cluster {cluster} on {}",
                        platform.name
                    ),
                    "the lead is [cluster, core] with the cluster's label in the platform file",
                ));
            }
        };
        file.psci.check_coherency(document, platform)?;
        let top = platform.topology.top_level;
        let levels = |table, key, levels: FileLevels, usual: Levels| {
            let suspend = levels.suspend.unwrap_or(usual.suspend);
            let off = levels.off.unwrap_or(usual.off);
            match suspend.iter().chain(&off).find(|&&level| level > top) {
                None => Ok(Levels { suspend, off }),
                Some(level) => Err(document.wrong(
                    document.place(table, key),
                    format!("there is no power level {level}"),
                    format!("the platform's levels are 0, a CPU alone, to {top}, the whole tree; [] is none of them"),
                )),
            }
        };
        Ok(Self {
            scp_messages: levels(
                "firmware",
                "scp_messages",
                file.firmware.scp_messages,
                Levels::all(top),
            )?,
            l2_flush: levels(
                "psci",
                "l2_flush",
                file.psci.l2_flush.unwrap_or_default(),
                Levels::default(),
            )?,
            name: file.name,
            title: file.title,
            source: file.source,
            lead,
            scp_protocol: file.firmware.scp_protocol,
            lock: file.psci.lock,
            message_order: file.psci.scp_send,
            hardware_coherency: file.psci.hardware_coherency,
        })
    }
}

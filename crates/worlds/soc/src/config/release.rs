//! The choices of a firmware release.

use super::{ConfigError, Document, Platform};
use psci::{LockKind, MessageOrder};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use toml::Spanned;

/// How CPUs talk to the SCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScpProtocol {
    /// One-way: a sender waits until the slot is free, writes and goes on. The slot frees when the SCP takes the command.
    Scpi,
    /// Synchronous: a sender writes and polls for the response, holding the channel.
    Scmi,
}

/// Which CPUs flush the L2 that they share, on a machine that does not stay coherent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum L2Flush {
    /// The last of a cluster to go down, when the cluster goes with it.
    #[default]
    LastMan,
    /// Every CPU whose suspend asks for the cluster's power-down, whether or not the cluster goes down; else as [`L2Flush::LastMan`].
    EverySuspend,
    /// The same for CPU_OFF as well.
    EveryPowerDown,
}

/// A firmware release on a platform.
#[derive(Clone, Debug)]
pub struct Release {
    /// Its name, as in the published figures.
    pub name: String,
    /// Full name.
    pub title: String,
    /// The source in which these choices are documented.
    pub source: String,
    /// The CPU that runs the procedures.
    pub lead: usize,
    /// How CPUs talk to the SCP.
    pub scp_protocol: ScpProtocol,
    /// Lock of the power domains and of the SCP channel.
    pub lock: LockKind,
    /// Whether the SCP is told inside the ancestor locks.
    pub message_order: MessageOrder,
    /// Which CPUs flush their L2.
    pub l2_flush: L2Flush,
    /// Whether caches stay coherent during power-down: no flush by set/way.
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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PsciChoices {
    #[serde(deserialize_with = "lock")]
    lock: Spanned<LockKind>,
    #[serde(deserialize_with = "scp_send")]
    scp_send: MessageOrder,
    hardware_coherency: bool,
    l2_flush: Option<Spanned<L2Flush>>,
}

fn lock<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Spanned<LockKind>, D::Error> {
    let text = Spanned::<String>::deserialize(deserializer)?;
    let kind = match text.get_ref().as_str() {
        "bakery" => LockKind::Bakery,
        "ticket" => LockKind::Ticket,
        other => return Err(D::Error::custom(format!("`{other}` is no lock; expected `bakery` or `ticket`"))),
    };
    Ok(Spanned::new(text.span(), kind))
}

fn scp_send<'de, D: Deserializer<'de>>(deserializer: D) -> Result<MessageOrder, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "inside-locks" => Ok(MessageOrder::InsideLocks),
        "outside-locks" => Ok(MessageOrder::OutsideLocks),
        other => Err(D::Error::custom(format!("`{other}` is no order; expected `inside-locks` or `outside-locks`"))),
    }
}

impl Release {
    /// Reads a release file for a platform.
    ///
    /// # Errors
    /// What [`Document::read`] says; a lead CPU that the platform lacks; a ticket lock without coherency; a policy of flushes with it.
    pub fn read(document: &Document, platform: &Platform) -> Result<Self, ConfigError> {
        let file: File = document.read()?;
        let [cluster, core] = *file.lead.get_ref();
        let cpus = &platform.topology.cpus;
        let lead = cpus.iter().position(|cpu| (cpu.cluster, cpu.core) == (cluster, core));
        // A platform of another shape (`--set topology.clusters`) need not have the CPU that led on the board.
        let lead = match lead {
            Some(lead) => lead,
            None if platform.topology.reshaped => 0,
            None => {
                return Err(document.wrong(
                    file.lead.span(),
                    format!("there is no CPU {core} in cluster {cluster} on {}", platform.name),
                    "the lead is [cluster, core] with the cluster's label in the platform file",
                ));
            }
        };
        if *file.psci.lock.get_ref() == LockKind::Ticket && !file.psci.hardware_coherency {
            return Err(document.wrong(
                file.psci.lock.span(),
                "a ticket lock needs CPUs that stay coherent while they power down",
                "use `bakery`, or set `psci.hardware_coherency` to true as well",
            ));
        }
        if let Some(l2_flush) = file.psci.l2_flush.as_ref().filter(|_| file.psci.hardware_coherency) {
            return Err(document.wrong(
                l2_flush.span(),
                "CPUs that stay coherent while they power down flush nothing",
                "leave `psci.l2_flush` out, or set `psci.hardware_coherency` to false",
            ));
        }
        Ok(Self {
            l2_flush: file.psci.l2_flush.map(Spanned::into_inner).unwrap_or_default(),
            name: file.name,
            title: file.title,
            source: file.source,
            lead,
            scp_protocol: file.firmware.scp_protocol,
            lock: *file.psci.lock.get_ref(),
            message_order: file.psci.scp_send,
            hardware_coherency: file.psci.hardware_coherency,
        })
    }
}

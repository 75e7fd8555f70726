//! The PSCI library over this machine.

use crate::platform::{Virt, give_up};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use psci::{
    CpuDesc, CpuRecord, DomainDesc, DomainRecord, Psci, StorageRef, SystemRecord, Topology,
};
use spin::Once;

/// The library, made by the first CPU before any other runs.
pub static PSCI: Once<Psci<'static, Virt>> = Once::new();

/// The library over this machine: system, clusters, cores. What it works in stays for good.
pub fn make(virt: Virt, cpus: &[u64]) -> Psci<'static, Virt> {
    let virt: &'static Virt = Box::leak(Box::new(virt));
    let clusters = cpus.iter().map(|mpidr| mpidr >> 8).max().unwrap_or(0) as u16 + 1;
    let mut domains = alloc::vec![DomainDesc {
        parent: None,
        level: 2
    }];
    domains.extend((0..clusters).map(|_| DomainDesc {
        parent: Some(0),
        level: 1,
    }));
    let descriptions: Vec<_> = cpus
        .iter()
        .map(|&mpidr| CpuDesc {
            mpidr,
            parent: 1 + (mpidr >> 8) as u16,
        })
        .collect();
    let topology = Topology {
        domains: &domains,
        cpus: &descriptions,
    };

    let records: Vec<_> = cpus.iter().map(|_| CpuRecord::new(virt)).collect();
    let domain_records: Vec<_> = domains
        .iter()
        .map(|domain| DomainRecord::new(virt, domain.level))
        .collect();
    let words: Vec<_> = (0..cpus.len() * usize::from(topology.top()))
        .map(|_| psci::lock::BakeryWord::default())
        .collect();
    let storage = StorageRef {
        cpus: records.leak(),
        domains: domain_records.leak(),
        words: words.leak(),
        system: Box::leak(Box::new(SystemRecord::default())),
    };
    Psci::new(virt, &topology, storage)
        .unwrap_or_else(|error| give_up(&format!("power domains: {error:?}")))
}

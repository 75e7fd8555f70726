//! The device tree that the normal world is handed: what the machine's tree says, without what
//! belongs to the secure world, and with PSCI and the idle states in it.
//!
//! The tree lies in memory that anyone could have written, so nothing in it is believed before it
//! is checked.
//!
//! It is a crate of its own because it needs a heap: the payload has none, and shares the crate
//! `boot` with the EL3 image.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use boot::options::{Options, SuspendMode};
use boot::states::{IdleState, STATES};
use core::ops::Range;
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node, Property, ToPropertyValue};
use psci::Level;
use thiserror::Error;

/// The largest tree that is read, in bytes of its blocks (QEMU pads its own to a megabyte of
/// zeros).
pub const MAX_SIZE: usize = 1 << 20;
/// The deepest nesting of nodes that is read.
const MAX_DEPTH: usize = 16;
/// Affinity fields of an MPIDR that the interrupt controllers of this machine can address: Aff1 and
/// Aff0.
const AFFINITY: u64 = 0xffff;

/// Why a device tree cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TreeError {
    /// Not a flattened device tree.
    #[error("device tree: {0}")]
    Malformed(String),
    /// Larger than any tree of this machine.
    #[error("device tree: {0} bytes, more than the {MAX_SIZE} that are read")]
    TooLarge(usize),
    /// Nested more deeply than any tree of this machine.
    #[error("device tree: nodes are nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// A node that must be there is not.
    #[error("device tree: there is no {0}")]
    Missing(&'static str),
    /// A CPU whose `reg` is not an affinity of this machine.
    #[error(
        "device tree: /cpus/{node}: reg should be one cell or two with an affinity below 0x10000"
    )]
    Cpu {
        /// The node's name.
        node: String,
    },
    /// Two CPUs with one affinity.
    #[error("device tree: two CPUs have the affinity {0:#x}")]
    TwoCpus(u64),
    /// Memory that is empty or wraps.
    #[error("device tree: /{0}: reg should be an address and a size that fit 64 bits")]
    Memory(String),
    /// Memory in parts that do not follow one another.
    #[error(
        "device tree: memory ends at {end:#x} and goes on at {start:#x}; it should be one piece"
    )]
    Gap {
        /// The first address that is not memory.
        end: u64,
        /// The next that is.
        start: u64,
    },
    /// No phandle is left.
    #[error("device tree: phandles up to the last are in use")]
    Phandles,
}

/// A CPU of the tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cpu {
    /// Aff1 and Aff0 of its MPIDR.
    pub affinity: u64,
    /// Name of its node in /cpus; what follows the `@` need not be the affinity.
    pub node: String,
}

/// The machine that a tree describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The CPUs, by ascending affinity.
    pub cpus: Vec<Cpu>,
    /// Memory of the normal world.
    pub memory: Range<u64>,
}

/// Reads a tree and checks what is used of it.
///
/// # Errors
/// The first thing in it that cannot be used.
pub fn read(blob: &[u8]) -> Result<(DeviceTree, Machine), TreeError> {
    // The memory that holds a tree may be larger than the tree, whose size is in the second word.
    let size = blob.get(4..8).and_then(big_endian).unwrap_or(0) as usize;
    if size > MAX_SIZE {
        return Err(TreeError::TooLarge(size));
    }
    let fdt = Fdt::new(blob.get(..size).unwrap_or(blob))
        .map_err(|error| TreeError::Malformed(format!("{error}")))?;
    if !is_within(&fdt.root(), MAX_DEPTH) {
        return Err(TreeError::TooDeep);
    }
    let tree = DeviceTree::from_fdt(&fdt);
    let machine = Machine {
        cpus: cpus_of(&tree)?,
        memory: memory_of(&tree)?,
    };
    Ok((tree, machine))
}

/// Writes what the normal world is to see.
///
/// # Errors
/// [`TreeError::Phandles`]; [`TreeError::Missing`].
pub fn edit(
    tree: &mut DeviceTree,
    machine: &Machine,
    options: &Options<'_>,
) -> Result<(), TreeError> {
    hide_secure_world(&mut tree.root, MAX_DEPTH);
    let mut phandles = Phandles::after(&tree.root)?;
    tree.root.remove_child("psci");
    let cpus = tree
        .root
        .child_mut("cpus")
        .ok_or(TreeError::Missing("/cpus"))?;
    let added = match options.suspend_mode {
        SuspendMode::Platform => flat(options, &mut phandles)?,
        SuspendMode::OsInitiated => hierarchical(machine, options, &mut phandles)?,
    };
    let mut handles = Vec::new();
    for described in &machine.cpus {
        let cpu = cpus
            .child_mut(&described.node)
            .ok_or(TreeError::Missing("node of a CPU"))?;
        set(cpu, "enable-method", "psci");
        handles.push(phandle_of(cpu, &mut phandles)?);
        for name in ["cpu-idle-states", "power-domains", "power-domain-names"] {
            cpu.remove_property(name);
        }
        // Each CPU has a domain of its own, or none has.
        if let Some(domain) = added.cpu_domains.get(handles.len() - 1) {
            set(cpu, "power-domains", *domain);
            set(cpu, "power-domain-names", "psci");
        } else {
            set(cpu, "cpu-idle-states", added.handles.as_slice());
        }
    }
    cpus.remove_child("idle-states");
    cpus.remove_child("domain-idle-states");
    cpus.add_child(added.cpu_states);
    if let Some(domain) = added.domain_states {
        cpus.add_child(domain);
    }
    cpus.remove_child("cpu-map");
    cpus.add_child(cpu_map(machine, &handles));
    tree.root.add_child(added.psci);
    choose(&mut tree.root, options);
    Ok(())
}

/// True if nodes are nested no deeper than `left`.
fn is_within(node: &FdtNode<'_>, left: usize) -> bool {
    left > 0 && node.children().all(|child| is_within(&child, left - 1))
}

fn text(node: &DeviceTreeNode, name: &str) -> Option<String> {
    let property = node.property(name)?;
    let value = property.value().strip_suffix(b"\0")?;
    Some(String::from(core::str::from_utf8(value).ok()?))
}

fn big_endian(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        4 => Some(u64::from(u32::from_be_bytes(bytes.try_into().ok()?))),
        8 => Some(u64::from_be_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

fn cpus_of(tree: &DeviceTree) -> Result<Vec<Cpu>, TreeError> {
    let cpus = tree.root.child("cpus").ok_or(TreeError::Missing("/cpus"))?;
    let mut found = Vec::new();
    for cpu in cpus
        .children()
        .filter(|node| text(node, "device_type").as_deref() == Some("cpu"))
    {
        let affinity = cpu.property("reg").and_then(|reg| big_endian(reg.value()));
        let node = String::from(cpu.name());
        match affinity.filter(|affinity| affinity & !AFFINITY == 0) {
            Some(affinity) => found.push(Cpu { affinity, node }),
            None => return Err(TreeError::Cpu { node }),
        }
    }
    found.sort_unstable();
    match found
        .windows(2)
        .find(|pair| pair[0].affinity == pair[1].affinity)
    {
        Some(pair) => Err(TreeError::TwoCpus(pair[0].affinity)),
        None if found.is_empty() => Err(TreeError::Missing("CPU in /cpus")),
        None => Ok(found),
    }
}

/// The memory nodes of the normal world together. Two cells for address and size each, as on every
/// 64-bit machine.
fn memory_of(tree: &DeviceTree) -> Result<Range<u64>, TreeError> {
    let mut parts: Vec<Range<u64>> = Vec::new();
    for node in tree.root.children().filter(|node| {
        text(node, "device_type").as_deref() == Some("memory") && !belongs_to_secure_world(node)
    }) {
        let wrong = || TreeError::Memory(String::from(node.name()));
        for pair in node.property("reg").ok_or_else(wrong)?.value().chunks(16) {
            let (address, size) = pair.split_at_checked(8).ok_or_else(wrong)?;
            let size = big_endian(size)
                .filter(|&size| size > 0)
                .ok_or_else(wrong)?;
            let address = big_endian(address).ok_or_else(wrong)?;
            parts.push(address..address.checked_add(size).ok_or_else(wrong)?);
        }
    }
    parts.sort_unstable_by_key(|part| part.start);
    let mut parts = parts.into_iter();
    let mut memory = parts.next().ok_or(TreeError::Missing("memory"))?;
    for part in parts {
        if part.start != memory.end {
            return Err(TreeError::Gap {
                end: memory.end,
                start: part.start,
            });
        }
        memory.end = part.end;
    }
    Ok(memory)
}

/// `status` is for the normal world, `secure-status` for the other.
fn belongs_to_secure_world(node: &DeviceTreeNode) -> bool {
    text(node, "status").as_deref() == Some("disabled")
        && text(node, "secure-status").as_deref() == Some("okay")
}

fn hide_secure_world(node: &mut DeviceTreeNode, left: usize) {
    let names = |node: &DeviceTreeNode, hidden: fn(&DeviceTreeNode) -> bool| -> Vec<String> {
        node.children()
            .filter(|child| hidden(child))
            .map(|child| String::from(child.name()))
            .collect()
    };
    for name in names(node, belongs_to_secure_world) {
        node.remove_child(&name);
    }
    node.remove_child("secure-chosen");
    if left > 0 {
        for child in node.children_mut() {
            hide_secure_world(child, left - 1);
        }
    }
}

fn set(node: &mut DeviceTreeNode, name: &str, value: impl ToPropertyValue) {
    node.remove_property(name);
    node.add_property(DeviceTreeProperty::new_unchecked(name, value));
}

fn node(name: impl Into<String>) -> DeviceTreeNode {
    DeviceTreeNode::new_unchecked(name)
}

/// Numbers by which nodes refer to each other, beyond those in use.
struct Phandles(u32);

impl Phandles {
    fn after(root: &DeviceTreeNode) -> Result<Self, TreeError> {
        fn highest(node: &DeviceTreeNode) -> u32 {
            let own = node
                .property("phandle")
                .and_then(|p| big_endian(p.value()))
                .unwrap_or(0) as u32;
            node.children().map(highest).fold(own, u32::max)
        }
        Ok(Self(highest(root)))
    }

    fn next(&mut self) -> Result<u32, TreeError> {
        // The last number means "none".
        self.0 = self
            .0
            .checked_add(1)
            .filter(|&handle| handle != u32::MAX)
            .ok_or(TreeError::Phandles)?;
        Ok(self.0)
    }
}

fn phandle_of(node: &mut DeviceTreeNode, phandles: &mut Phandles) -> Result<u32, TreeError> {
    if let Some(handle) = node.property("phandle").and_then(|p| big_endian(p.value())) {
        return Ok(handle as u32);
    }
    let handle = phandles.next()?;
    set(node, "phandle", handle);
    Ok(handle)
}

/// What a way to coordinate adds to the tree.
struct Added {
    /// Nodes below /cpus that describe states.
    cpu_states: DeviceTreeNode,
    domain_states: Option<DeviceTreeNode>,
    /// Handles of the states that a CPU enters by itself.
    handles: Vec<u32>,
    psci: DeviceTreeNode,
    /// The power domain of each CPU, where the operating system coordinates.
    cpu_domains: Vec<u32>,
}

fn psci_node() -> DeviceTreeNode {
    let mut psci = node("psci");
    set(
        &mut psci,
        "compatible",
        ["arm,psci-1.0", "arm,psci-0.2"].as_slice(),
    );
    set(&mut psci, "method", "smc");
    psci
}

fn state_node(
    state: &IdleState,
    compatible: &str,
    last_at_level: Level,
    options: &Options<'_>,
    phandle: u32,
) -> DeviceTreeNode {
    let mut described = node(state.name);
    set(&mut described, "compatible", compatible);
    set(&mut described, "idle-state-name", state.name);
    let power_state = state.power_state(options.power_state, last_at_level);
    // No `local-timer-stop`: the emulated power-down leaves the CPU's timer running.
    for (name, value) in [
        ("arm,psci-suspend-param", power_state),
        ("entry-latency-us", state.entry_us),
        ("exit-latency-us", state.exit_us),
        ("min-residency-us", state.residency_us),
        ("phandle", phandle),
    ] {
        set(&mut described, name, value);
    }
    described
}

/// Every state in the list of every CPU; the firmware coordinates.
fn flat(options: &Options<'_>, phandles: &mut Phandles) -> Result<Added, TreeError> {
    let mut cpu = node("idle-states");
    set(&mut cpu, "entry-method", "psci");
    let mut handles = Vec::new();
    for state in &STATES {
        let handle = phandles.next()?;
        handles.push(handle);
        cpu.add_child(state_node(state, "arm,idle-state", 0, options, handle));
    }
    Ok(Added {
        cpu_states: cpu,
        domain_states: None,
        handles,
        psci: psci_node(),
        cpu_domains: Vec::new(),
    })
}

/// A power domain with its states, below its parent's.
fn power_domain(name: String, states: &[u32], parent: Option<u32>, handle: u32) -> DeviceTreeNode {
    let mut described = node(name);
    set(&mut described, "#power-domain-cells", 0u32);
    set(&mut described, "domain-idle-states", states);
    if let Some(parent) = parent {
        set(&mut described, "power-domains", parent);
    }
    set(&mut described, "phandle", handle);
    described
}

/// States of cores with the cores' domains, states of clusters and system with theirs.
fn hierarchical(
    machine: &Machine,
    options: &Options<'_>,
    phandles: &mut Phandles,
) -> Result<Added, TreeError> {
    let mut cpu = node("idle-states");
    set(&mut cpu, "entry-method", "psci");
    let mut domain = node("domain-idle-states");
    let mut by_level: [Vec<u32>; 3] = Default::default();
    for state in &STATES {
        let handle = phandles.next()?;
        let level = state.level();
        if let Some(handles) = by_level.get_mut(usize::from(level)) {
            handles.push(handle);
        }
        if level == 0 {
            cpu.add_child(state_node(state, "arm,idle-state", 0, options, handle));
        } else {
            domain.add_child(state_node(
                state,
                "domain-idle-state",
                level,
                options,
                handle,
            ));
        }
    }
    let [core_states, cluster_states, system_states] = &by_level;

    let mut psci = psci_node();
    let system = phandles.next()?;
    psci.add_child(power_domain(
        String::from("power-domain-system"),
        system_states,
        None,
        system,
    ));
    let mut clusters: Vec<(u64, u32)> = Vec::new();
    let mut cpu_domains = Vec::new();
    for mpidr in machine.cpus.iter().map(|cpu| cpu.affinity) {
        let cluster = match clusters.last() {
            Some(&(id, handle)) if id == mpidr >> 8 => handle,
            _ => {
                let handle = phandles.next()?;
                psci.add_child(power_domain(
                    format!("power-domain-cluster{}", mpidr >> 8),
                    cluster_states,
                    Some(system),
                    handle,
                ));
                clusters.push((mpidr >> 8, handle));
                handle
            }
        };
        let handle = phandles.next()?;
        psci.add_child(power_domain(
            format!("power-domain-cpu{mpidr:x}"),
            core_states,
            Some(cluster),
            handle,
        ));
        cpu_domains.push(handle);
    }
    Ok(Added {
        cpu_states: cpu,
        domain_states: Some(domain),
        handles: Vec::new(),
        psci,
        cpu_domains,
    })
}

fn cpu_map(machine: &Machine, handles: &[u32]) -> DeviceTreeNode {
    let mut map = node("cpu-map");
    let mut clusters: Vec<(u64, DeviceTreeNode, usize)> = Vec::new();
    for (mpidr, &handle) in machine.cpus.iter().map(|cpu| cpu.affinity).zip(handles) {
        if clusters.last().is_none_or(|(id, ..)| *id != mpidr >> 8) {
            clusters.push((mpidr >> 8, node(format!("cluster{}", clusters.len())), 0));
        }
        if let Some((_, cluster, cores)) = clusters.last_mut() {
            let mut core = node(format!("core{cores}"));
            set(&mut core, "cpu", handle);
            cluster.add_child(core);
            *cores += 1;
        }
    }
    for (_, cluster, _) in clusters {
        map.add_child(cluster);
    }
    map
}

fn choose(root: &mut DeviceTreeNode, options: &Options<'_>) {
    if root.child("chosen").is_none() {
        root.add_child(node("chosen"));
    }
    let Some(chosen) = root.child_mut("chosen") else {
        return;
    };
    if let Some(initrd) = &options.initrd {
        set(chosen, "linux,initrd-start", initrd.start);
        set(chosen, "linux,initrd-end", initrd.end);
    }
    if let Some(bootargs) = options.bootargs {
        set(chosen, "bootargs", bootargs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    /// A machine like QEMU's: CPUs, memory of both worlds, a UART of each.
    fn machine_tree(mpidrs: &[u64]) -> DeviceTree {
        let mut tree = DeviceTree::new();
        let mut cpus = node("cpus");
        for &mpidr in mpidrs {
            let mut cpu = node(format!("cpu@{mpidr:x}"));
            set(&mut cpu, "device_type", "cpu");
            set(&mut cpu, "reg", mpidr as u32);
            cpus.add_child(cpu);
        }
        tree.root.add_child(cpus);
        for (name, base, secure) in [
            ("memory@e000000", 0x0e00_0000u64, true),
            ("memory@40000000", 0x4000_0000, false),
        ] {
            let mut memory = node(name);
            set(&mut memory, "device_type", "memory");
            set(
                &mut memory,
                "reg",
                [base as u32 >> 31 >> 1, base as u32, 0, 0x4000_0000].as_slice(),
            );
            if secure {
                set(&mut memory, "status", "disabled");
                set(&mut memory, "secure-status", "okay");
            }
            tree.root.add_child(memory);
        }
        let mut uart = node("pl011@9040000");
        set(&mut uart, "status", "disabled");
        set(&mut uart, "secure-status", "okay");
        tree.root.add_child(uart);
        tree.root.add_child(node("pl011@9000000"));
        tree
    }

    fn edited(mpidrs: &[u64], options: &Options<'_>) -> DeviceTree {
        let blob = machine_tree(mpidrs).to_dtb();
        let (mut tree, machine) = read(&blob).unwrap();
        edit(&mut tree, &machine, options).unwrap();
        // What comes out is a tree that can be read again.
        let blob = tree.to_dtb();
        assert_eq!(read(&blob).unwrap().1, machine);
        tree
    }

    #[test]
    fn reads_cpus_and_memory_of_the_normal_world() {
        let (_, machine) = read(&machine_tree(&[0x101, 0, 1, 0x100]).to_dtb()).unwrap();
        assert!(
            machine
                .cpus
                .iter()
                .map(|cpu| cpu.affinity)
                .eq([0, 1, 0x100, 0x101])
        );
        assert_eq!(machine.memory, 0x4000_0000..0x8000_0000);
    }

    #[test]
    fn memory_in_several_nodes_is_one_piece() {
        let mut tree = machine_tree(&[0]);
        for (name, reg) in [
            ("memory@140000000", [1u32, 0x4000_0000, 1, 0]),
            ("memory@80000000", [0, 0x8000_0000, 0, 0xc000_0000]),
        ] {
            let mut memory = node(name);
            set(&mut memory, "device_type", "memory");
            set(&mut memory, "reg", reg.as_slice());
            tree.root.add_child(memory);
        }
        assert_eq!(
            read(&tree.to_dtb()).unwrap().1.memory,
            0x4000_0000..0x2_4000_0000
        );
    }

    #[test]
    fn hides_the_secure_world() {
        let tree = edited(&[0], &Options::default());
        for (path, there) in [
            ("/memory@e000000", false),
            ("/pl011@9040000", false),
            ("/pl011@9000000", true),
        ] {
            assert_eq!(tree.find_node(path).is_some(), there, "{path}");
        }
    }

    #[test]
    fn describes_idle_states_of_cpus() {
        let tree = edited(&[0, 1], &Options::default());
        let cpu = tree.find_node("/cpus/cpu@1").unwrap();
        assert_eq!(text(cpu, "enable-method").as_deref(), Some("psci"));
        assert_eq!(
            cpu.property("cpu-idle-states").unwrap().value().len(),
            4 * STATES.len()
        );
        let off = tree.find_node("/cpus/idle-states/cluster-off").unwrap();
        assert_eq!(
            off.property("arm,psci-suspend-param").unwrap().value(),
            0x0101_0022u32.to_be_bytes()
        );
        assert_eq!(
            text(tree.find_node("/psci").unwrap(), "method").as_deref(),
            Some("smc")
        );
    }

    #[test]
    fn describes_power_domains_for_os_initiated_mode() {
        let options = Options {
            suspend_mode: SuspendMode::OsInitiated,
            power_state: psci::PowerStateFormat::Extended,
            ..Options::default()
        };
        let tree = edited(&[0, 1, 0x100], &options);
        let handle = |path: &str, name: &str| {
            let node = tree.find_node(path).unwrap_or_else(|| panic!("no {path}"));
            big_endian(node.property(name).unwrap().value()).unwrap()
        };
        assert_eq!(
            handle("/cpus/cpu@100", "power-domains"),
            handle("/psci/power-domain-cpu100", "phandle")
        );
        assert_eq!(
            handle("/psci/power-domain-cpu100", "power-domains"),
            handle("/psci/power-domain-cluster1", "phandle")
        );
        assert_eq!(
            handle("/psci/power-domain-cluster1", "power-domains"),
            handle("/psci/power-domain-system", "phandle")
        );
        assert_eq!(
            handle(
                "/cpus/domain-idle-states/cluster-off",
                "arm,psci-suspend-param"
            ),
            0x4000_1022
        );
        assert!(
            tree.find_node("/cpus/cpu@0")
                .unwrap()
                .property("cpu-idle-states")
                .is_none()
        );
        assert!(tree.find_node("/cpus/cpu-map/cluster1/core0").is_some());
        assert!(tree.find_node("/cpus/cpu-map/cluster0/core2").is_none());
    }

    #[test]
    fn hands_over_kernel_arguments_and_initrd() {
        let options = Options {
            bootargs: Some("quiet"),
            initrd: Some(0x6800_0000..0x6900_0000),
            ..Options::default()
        };
        let tree = edited(&[0], &options);
        let chosen = tree.find_node("/chosen").unwrap();
        assert_eq!(text(chosen, "bootargs").as_deref(), Some("quiet"));
        assert_eq!(
            chosen.property("linux,initrd-end").unwrap().value(),
            0x6900_0000u64.to_be_bytes()
        );
    }

    #[test]
    fn refuses_what_cannot_be_a_tree_of_this_machine() {
        let message = |tree: &DeviceTree| read(&tree.to_dtb()).unwrap_err().to_string();
        assert!(
            read(b"no tree")
                .unwrap_err()
                .to_string()
                .starts_with("device tree: ")
        );
        assert_eq!(
            message(&DeviceTree::new()),
            "device tree: there is no /cpus"
        );
        assert_eq!(
            message(&machine_tree(&[])),
            "device tree: there is no CPU in /cpus"
        );
        assert!(message(&machine_tree(&[0x1_0000])).contains("/cpus/cpu@10000"));

        let mut tree = machine_tree(&[0]);
        set(
            tree.root.child_mut("memory@40000000").unwrap(),
            "reg",
            [u32::MAX; 4].as_slice(),
        );
        assert!(message(&tree).contains("/memory@40000000: reg"));

        let mut tree = machine_tree(&[0]);
        set(
            tree.root.child_mut("memory@40000000").unwrap(),
            "reg",
            [0u32, 0x4000_0000, 0, 0x1000, 0, 0x5000_0000, 0, 1].as_slice(),
        );
        let expected = "device tree: memory ends at 0x40001000 and goes on at 0x50000000; it should be one piece";
        assert_eq!(message(&tree), expected);

        let mut deep = node("deepest");
        for _ in 0..20 {
            let mut outer = node("deep");
            outer.add_child(deep);
            deep = outer;
        }
        let mut tree = machine_tree(&[0]);
        tree.root.add_child(deep);
        assert_eq!(read(&tree.to_dtb()).unwrap_err(), TreeError::TooDeep);

        let mut tree = machine_tree(&[0]);
        set(
            tree.root.child_mut("pl011@9000000").unwrap(),
            "phandle",
            u32::MAX - 1,
        );
        let (mut tree, machine) = read(&tree.to_dtb()).unwrap();
        assert_eq!(
            edit(&mut tree, &machine, &Options::default()),
            Err(TreeError::Phandles)
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        /// A good tree with a few bytes spoilt: read and edited, or refused, never a panic.
        #[test]
        fn spoilt_trees_do_no_harm(
            spoilt in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
            cut in any::<prop::sample::Index>(),
            cuts in any::<bool>(),
        ) {
            let mut blob = machine_tree(&[0, 1, 0x100]).to_dtb();
            for (at, byte) in spoilt {
                let at = at.index(blob.len());
                blob[at] = byte;
            }
            if cuts {
                blob.truncate(cut.index(blob.len()));
            }
            for suspend_mode in [SuspendMode::Platform, SuspendMode::OsInitiated] {
                if let Ok((mut tree, machine)) = read(&blob) {
                    let options = Options { suspend_mode, ..Options::default() };
                    if edit(&mut tree, &machine, &options).is_ok() {
                        let _ = tree.to_dtb();
                    }
                }
            }
        }
    }
}

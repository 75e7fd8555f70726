//! CPUs by how fast they are: all whose highest operating point has the same capacity are a class.

use crate::task::CpuSet;
use crate::view::View;

fn with(view: &dyn View, capacity: Option<u32>) -> CpuSet {
    CpuSet::from_cpus((0..view.cpus()).filter(|&cpu| Some(view.top_capacity(cpu)) == capacity))
}

fn capacities(view: &dyn View) -> impl Iterator<Item = u32> {
    (0..view.cpus()).map(|cpu| view.top_capacity(cpu))
}

/// The class of a CPU.
pub fn same(view: &dyn View, cpu: usize) -> CpuSet {
    with(view, Some(view.top_capacity(cpu)))
}

/// The fastest class.
pub fn fastest(view: &dyn View) -> CpuSet {
    with(view, capacities(view).max())
}

/// The slowest class.
pub fn slowest(view: &dyn View) -> CpuSet {
    with(view, capacities(view).min())
}

/// The next faster class; empty for the fastest.
pub fn faster(view: &dyn View, cpu: usize) -> CpuSet {
    let own = view.top_capacity(cpu);
    with(view, capacities(view).filter(|&other| other > own).min())
}

/// The next slower class; empty for the slowest.
pub fn slower(view: &dyn View, cpu: usize) -> CpuSet {
    let own = view.top_capacity(cpu);
    with(view, capacities(view).filter(|&other| other < own).max())
}

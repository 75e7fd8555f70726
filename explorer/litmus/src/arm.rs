//! Arm's memory model, as axioms: Arm Architecture Reference Manual for A-profile (DDI 0487),
//! section B2.3, "Definition of the Arm memory model".
//!
//! An execution is what each thread did, from which write each read took its value, and an order
//! of the writes of each location. It is allowed if three requirements hold, "Internal visibility",
//! "Atomic" and "External visibility"; the functions are named after them.

use crate::{
    relation::Relation,
    test::Kind::{self, BarrierFull, BarrierInstruction, BarrierLoad, BarrierStore, Read, Write},
    thread::Effect,
};

/// An effect of an execution.
#[derive(Clone, Copy)]
pub struct PlacedEffect {
    /// Thread of the effect.
    pub thread: usize,
    /// The effect.
    pub effect: Effect,
    /// Position of a write in the coherence order of its location, from 1. For a read, that of the
    /// write that it takes its value from, 0 for the initial one.
    pub place: usize,
}

fn same_location(one: &Effect, other: &Effect) -> bool {
    is_memory(one) && is_memory(other) && one.location == other.location
}

fn is_memory(effect: &Effect) -> bool {
    matches!(effect.kind, Read | Write)
}

/// Locally-ordered-before of a thread's effects, which lie in program order (B2.3,
/// "Locally-ordered-before": "Local write successor", "Dependency-ordered-before",
/// "Atomic-ordered-before" and "Barrier-ordered-before"). None of it depends on what other threads
/// do.
pub fn locally_ordered_before(effects: &[Effect]) -> Relation {
    let mut lob = Relation::empty(effects.len());
    for (to, second) in effects.iter().enumerate() {
        for (from, first) in effects[..to].iter().enumerate() {
            // Local write successor: a later write to the same location.
            let lws = second.kind == Write && same_location(first, second);
            if let Some(twin) = second.twin.filter(|_| lws) {
                lob.add(from, twin);
            }
            let is = lws
                || is_dependency_ordered_before(effects, from, to)
                || is_atomic_ordered_before(effects, from, to)
                || is_barrier_ordered_before(effects, from, to);
            if is {
                lob.add(from, to);
            }
        }
    }
    add_picked(&mut lob, effects);
    lob
}

/// Dependency-ordered-before. Pick-ordered-before is part of it: what picks orders as what depends,
/// up to a write or an ISB.
fn is_dependency_ordered_before(effects: &[Effect], from: usize, to: usize) -> bool {
    if effects[from].kind != Read {
        return false;
    }
    let second = &effects[to];
    let depends = |set: u64| set >> from & 1 == 1;
    let address_before = |end: usize| {
        effects[..end]
            .iter()
            .any(|effect| depends(effect.pick_address))
    };
    let by_address = is_memory(second) && depends(second.address);
    match second.kind {
        Write => {
            by_address
                || depends(second.pick | second.pick_address | second.pick_control)
                || address_before(to)
        }
        Read => {
            let mut between = effects[..to].iter().enumerate().skip(from + 1);
            by_address
                || between.any(|(at, effect)| match effect.kind {
                    BarrierInstruction => depends(effect.pick_control) || address_before(at),
                    Write => {
                        let is_own = effect.atomic_instruction && effect.pair == Some(from);
                        depends(effect.address | effect.data)
                            && !is_own
                            && is_local_read_successor(effects, at, to)
                    }
                    _ => false,
                })
        }
        _ => false,
    }
}

/// Atomic-ordered-before.
fn is_atomic_ordered_before(effects: &[Effect], from: usize, to: usize) -> bool {
    let (first, second) = (&effects[from], &effects[to]);
    let written = first.pair.filter(|_| first.kind == Read);
    written == Some(to)
        || (second.acquire || second.acquire_pc)
            && written
                .is_some_and(|write| write < to && is_local_read_successor(effects, write, to))
}

/// Barrier-ordered-before.
fn is_barrier_ordered_before(effects: &[Effect], from: usize, to: usize) -> bool {
    let (first, second) = (&effects[from], &effects[to]);
    let between = &effects[from + 1..to];
    let barrier = |kind: Kind| between.iter().any(|effect| effect.kind == kind);
    let is_write = second.kind == Write;
    let full_atomic = first.kind == Write
        && first.release
        && first.atomic_instruction
        && first
            .pair
            .and_then(|read| effects.get(read))
            .is_some_and(|read| read.acquire);
    // What comes after a DSB waits for it: behind one of stores, loads, too.
    let dsb_store = between
        .iter()
        .any(|effect| effect.is_synchronization && effect.kind == BarrierStore);
    let before = first.kind == Read
        && (first.acquire || first.acquire_pc || !first.no_return && barrier(BarrierLoad))
        || first.kind == Write && dsb_store
        || barrier(BarrierFull)
        || full_atomic
        || is_write && second.release;
    is_memory(first) && is_memory(second) && before
        || first.kind == Write
            && (first.release && second.acquire && second.kind == Read
                || is_write && barrier(BarrierStore))
}

/// "Pick-locally-ordered-before": what picks a value that a later read finds in memory comes before
/// the writes that the read comes before.
fn add_picked(lob: &mut Relation, effects: &[Effect]) {
    let is_carried = |effect: &&Effect| effect.kind == Read && effect.pick != 0;
    if !effects.iter().any(|effect| is_carried(&effect)) {
        return;
    }
    let closed = lob.closed();
    let carried = |(_, effect): &(usize, &Effect)| is_carried(effect);
    for (through, read) in effects.iter().enumerate().filter(carried) {
        for (to, write) in effects.iter().enumerate() {
            if write.kind == Write && closed.has(through, to) {
                (0..through)
                    .filter(|from| read.pick >> from & 1 == 1)
                    .for_each(|from| lob.add(from, to));
            }
        }
    }
}

/// Local read successor: a later read of the location of a write, with no write to it between them.
fn is_local_read_successor(effects: &[Effect], write: usize, read: usize) -> bool {
    effects[read].kind == Read
        && same_location(&effects[write], &effects[read])
        && effects[write + 1..read]
            .iter()
            .all(|effect| effect.kind != Write || !same_location(effect, &effects[read]))
}

/// The communication between two effects of one location, by their places: reads-from, coherence
/// order, and from-read ("coherence-after" a read).
fn communicates(from: &PlacedEffect, to: &PlacedEffect) -> bool {
    if !same_location(&from.effect, &to.effect) {
        return false;
    }
    match (from.effect.kind, to.effect.kind) {
        (Write, Read) => from.place == to.place,
        (Write, Write) | (Read, Write) => from.place < to.place,
        _ => false,
    }
}

/// True if the execution is allowed. The effects of a thread lie in program order, threads one
/// after the other; `locally` is their [`locally_ordered_before`], joined.
pub fn allows(effects: &[PlacedEffect], locally: &Relation) -> bool {
    is_internally_visible(effects) && is_atomic(effects) && is_externally_visible(effects, locally)
}

/// Internal visibility requirement: program order on each location, reads-from, coherence order and
/// from-read together have no cycle.
fn is_internally_visible(effects: &[PlacedEffect]) -> bool {
    let mut all = Relation::empty(effects.len());
    for (from, first) in effects.iter().enumerate() {
        for (to, second) in effects.iter().enumerate() {
            let in_order = from < to
                && first.thread == second.thread
                && same_location(&first.effect, &second.effect);
            if in_order || communicates(first, second) {
                all.add(from, to);
            }
        }
    }
    all.is_acyclic()
}

/// Atomic requirement: between the write that the read of a pair took its value from and the write
/// of the pair, no write of another thread comes in coherence order.
fn is_atomic(effects: &[PlacedEffect]) -> bool {
    let mut pairs = effects.iter().filter_map(|read| {
        let local = read.effect.pair.filter(|_| read.effect.kind == Read)?;
        let first = effects
            .iter()
            .position(|other| other.thread == read.thread)?;
        Some((read, &effects[first + local]))
    });
    pairs.all(|(read, write)| {
        effects.iter().all(|other| {
            other.effect.kind != Write
                || other.thread == read.thread
                || !same_location(&other.effect, &read.effect)
                || other.place <= read.place
                || other.place >= write.place
        })
    })
}

/// External visibility requirement: ordered-before has no cycle. It is locally-ordered-before and
/// observed-by, the communication between different threads.
fn is_externally_visible(effects: &[PlacedEffect], locally: &Relation) -> bool {
    let mut ordered = locally.clone();
    let mut begins = 0;
    for (to, second) in effects.iter().enumerate() {
        if to > 0 && effects[to - 1].thread != second.thread {
            begins = to;
        }
        // What an access observes, the other half of one single-copy atomic access does, too.
        let twin = second.effect.twin.map(|twin| begins + twin);
        for (from, first) in effects.iter().enumerate() {
            if first.thread != second.thread && communicates(first, second) {
                ordered.add(from, to);
                twin.into_iter().for_each(|twin| ordered.add(from, twin));
            }
        }
    }
    ordered.is_acyclic()
}

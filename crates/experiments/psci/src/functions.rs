//! Counts by function as the facts of a recording.

use itertools::Itertools;
use qemu::{Function, Images, Kind, Passages, Symbols};
use recording::facts::{FunctionCounts, Passage};
use std::collections::BTreeMap;

/// Name of the normal world that calls firmware.
pub const CALLER: &str = "caller";

/// Name of what no symbol names.
pub const UNNAMED: &str = "[no symbol]";

/// Costs that the emulator does not show, or that are not counted.
pub const NOT_COUNTED: [&str; 5] = [
    "Clocks, cache misses and values in registers: the emulator has none of the first two and tells plugins none of the third.",
    "Functions that the compiler inlined: their instructions are counted with the function that they are in.",
    "Accesses to memory are counted by instruction: a pair of registers is one load or store, and so is an atomic operation (a store).",
    "By function, instructions of other CPUs: only how many there were meanwhile. Those of AArch32 are not counted at all.",
    "An instruction that takes a fault is counted each time that it is begun.",
];

/// All passages of a build's call, which was made a number of times. `outside` is the name of what
/// lies in the normal world's memory and has no symbol.
pub fn passage(
    all: &[Passages],
    symbols: &Symbols,
    outside: &str,
    (build, call, calls): (&str, &str, u64),
) -> Passage {
    let name = |address: u64| {
        symbols.at(address).unwrap_or(if address >= Images::ENTRY {
            outside
        } else {
            UNNAMED
        })
    };
    let mut functions: BTreeMap<&str, FunctionCounts> = BTreeMap::new();
    let mut stacks: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
    for passages in all {
        for (name, function) in passages.functions(name) {
            functions
                .entry(name)
                .or_insert_with(|| FunctionCounts {
                    name: name.to_owned(),
                    ..FunctionCounts::default()
                })
                .add(&counts_of(function));
        }
        for (stack, count) in passages.stacks(name) {
            *stacks.entry(stack).or_default() += count;
        }
    }
    let mut functions = functions.into_values().collect_vec();
    functions.sort_by(|a, b| {
        b.instructions
            .cmp(&a.instructions)
            .then(a.name.cmp(&b.name))
    });
    let stacks = stacks.into_iter().map(|(stack, count)| {
        // A semicolon would look like another function.
        let stack = stack
            .iter()
            .map(|name| name.replace(';', ","))
            .collect_vec();
        format!("{} {count}\n", stack.join(";"))
    });
    Passage {
        build: build.to_owned(),
        call: call.to_owned(),
        calls,
        of_others: all.iter().map(|passages| passages.of_others).sum(),
        functions,
        stacks: stacks.collect(),
    }
}

fn counts_of(function: Function) -> FunctionCounts {
    let mut counts = FunctionCounts {
        instructions: function.instructions,
        exceptions: function.taken,
        ..FunctionCounts::default()
    };
    for (kind, count) in function.kinds {
        let place = match kind {
            Kind::Load => &mut counts.loads,
            Kind::Store => &mut counts.stores,
            Kind::Barrier => &mut counts.barriers,
            Kind::CacheMaintenance => &mut counts.cache_maintenance,
            Kind::Translation => &mut counts.translation_maintenance,
            Kind::Exception => &mut counts.exception_instructions,
            Kind::Wait => &mut counts.waits,
            Kind::SystemWrite(register) => counts.system_registers.entry(register).or_default(),
        };
        *place += count;
    }
    counts
}

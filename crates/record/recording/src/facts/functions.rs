use super::Facts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Instructions of passages by function: of calls of firmware, of a function of an image.
#[derive(Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Functions {
    /// Costs that were not counted, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_counted: Vec<String>,
    /// Calls that were read from the machine's clock, whose instructions were not counted one by
    /// one: by how many instructions each may be off, either way.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_clock: BTreeMap<String, u64>,
    /// The passages.
    pub passages: Vec<Passage>,
}

/// The passages of one kind in one build.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Passage {
    /// The build, as the variant of its measures.
    pub build: String,
    /// The call, as the subject of its measure; or the passage between two addresses.
    pub call: String,
    /// The number of calls that all counts are of together, from 1.
    pub calls: u64,
    /// Instructions that other CPUs executed meanwhile, of all calls together.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub of_others: u64,
    /// Functions, the one with the most instructions first.
    pub functions: Vec<FunctionCounts>,
    /// Instructions by who called whom, the outermost first: lines of names with `;` between them,
    /// a blank and the number, as tools for flame graphs read them.
    pub stacks: String,
}

/// The counts of a function itself, without those that it called.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionCounts {
    /// The name.
    pub name: String,
    /// Instructions.
    pub instructions: u64,
    /// Instructions that read memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub loads: u64,
    /// Instructions that write memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stores: u64,
    /// DSB, DMB, ISB and their kin.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub barriers: u64,
    /// DC and IC.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_maintenance: u64,
    /// TLBI and AT.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub translation_maintenance: u64,
    /// WFI and WFE.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waits: u64,
    /// SMC, HVC, SVC, BRK and ERET.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub exception_instructions: u64,
    /// Writes of system registers, by register.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub system_registers: BTreeMap<String, u64>,
    /// Exceptions that were taken in it, by kind and origin.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exceptions: BTreeMap<String, u64>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Functions {
    /// The passages of a build's call.
    pub fn passage(&self, build: &str, call: &str) -> Option<&Passage> {
        self.passages
            .iter()
            .find(|passage| passage.build == build && passage.call == call)
    }
}

impl Passage {
    /// Instructions of all calls together.
    pub fn instructions(&self) -> u64 {
        self.functions
            .iter()
            .map(|function| function.instructions)
            .sum()
    }

    /// A count for one call, in the mean.
    pub fn each(&self, count: u64) -> f64 {
        count as f64 / self.calls.max(1) as f64
    }

    /// The stacks, the outermost function of each first, with their instructions.
    pub fn folded(&self) -> impl Iterator<Item = (Vec<&str>, u64)> {
        self.stacks.lines().filter_map(|line| {
            let (stack, count) = line.rsplit_once(' ')?;
            Some((stack.split(';').collect(), count.parse().ok()?))
        })
    }
}

/// A count beside that of all instructions: its name, and what it is of a function.
pub type CountColumn = (&'static str, fn(&FunctionCounts) -> u64);

impl FunctionCounts {
    /// The counts beside that of all instructions, by the names that tables have for them.
    pub const OTHERS: [CountColumn; 9] = [
        ("loads", |function| function.loads),
        ("stores", |function| function.stores),
        ("barriers", |function| function.barriers),
        ("cache maintenance", |function| function.cache_maintenance),
        ("TLBI and AT", |function| function.translation_maintenance),
        ("system registers written", Self::system_register_writes),
        ("SMC, ERET and kin", |function| {
            function.exception_instructions
        }),
        ("exceptions taken", Self::exceptions_taken),
        ("waits", |function| function.waits),
    ];

    /// Adds another function's counts.
    pub fn add(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.loads += other.loads;
        self.stores += other.stores;
        self.barriers += other.barriers;
        self.cache_maintenance += other.cache_maintenance;
        self.translation_maintenance += other.translation_maintenance;
        self.waits += other.waits;
        self.exception_instructions += other.exception_instructions;
        for (of, from) in [
            (&mut self.system_registers, &other.system_registers),
            (&mut self.exceptions, &other.exceptions),
        ] {
            for (name, count) in from {
                *of.entry(name.clone()).or_default() += count;
            }
        }
    }

    /// Writes of all system registers.
    pub fn system_register_writes(&self) -> u64 {
        self.system_registers.values().sum()
    }

    /// All exceptions that were taken in it.
    pub fn exceptions_taken(&self) -> u64 {
        self.exceptions.values().sum()
    }
}

impl Facts for Functions {}

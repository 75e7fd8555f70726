//! The costs of the kernel's own work: data, a time each with what it is and where it is from.

use document::{Document, Error};
use serde::Deserialize;
use std::sync::LazyLock;
use toml::Spanned;

macro_rules! costs {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// The costs of the kernel's own work, in nanoseconds on a core of capacity 1024.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Costs {
            $($(#[$about])* pub $name: u64,)*
        }

        impl Costs {
            /// Their names, in the order of the fields.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// All of them with this time.
            const fn all(ns: u64) -> Self {
                Self { $($name: ns,)* }
            }

            /// The cost of a name; `None` if there is no such cost.
            pub fn named(&mut self, name: &str) -> Option<&mut u64> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

costs! {
    /// A context switch.
    context_switch,
    /// Entry and exit of an interrupt.
    interrupt,
    /// A timer that expires.
    timer,
    /// The scheduler's tick.
    tick,
    /// Waking a task, on the CPU that wakes.
    wake_up,
    /// A system call, besides what it does; at least 10.
    system_call,
    /// One turn of the idle loop: the tick is looked at, the governor is asked.
    idle_turn,
    /// Sending an interrupt to another CPU.
    ipi,
    /// Queueing a callback.
    queue_callback,
    /// The softirq that looks after callbacks, without invoking any.
    callback_softirq,
    /// Invoking a callback.
    callback,
    /// One step of a thread that waits for grace periods or hands callbacks over.
    rcu_thread,
    /// The time by which a task computes longer after it has moved to another cluster, for its
    /// caches are cold.
    migration,
}

/// A cost as a file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Name of the cost: one of [`Costs::NAMES`].
    pub name: String,
    /// The time in nanoseconds on a core of capacity 1024, at most [`MOST_NS`].
    pub ns: u64,
    /// The work that takes it.
    pub about: String,
    /// The source of the time, or that it is assumed.
    pub source: String,
}

/// The longest time that a cost may be.
pub const MOST_NS: u64 = 10_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRead {
    #[serde(rename = "title")]
    _title: String,
    cost: Vec<Spanned<Cost>>,
}

/// The file that is shipped.
const SHIPPED: &str = include_str!("../../../../data/platforms/kernel/costs.toml");

impl Costs {
    /// Reads a file of costs: each of them once.
    ///
    /// # Errors
    /// The file, the line, what is wrong and what would be right.
    pub fn read(document: &Document) -> Result<Vec<Cost>, Error> {
        let read: FileRead = document.read()?;
        let mut costs: Vec<Cost> = Vec::new();
        for cost in read.cost {
            let place = cost.span();
            let cost = cost.into_inner();
            let wrong =
                |message: &str, help: String| Err(document.wrong(place.clone(), message, help));
            if !Self::NAMES.contains(&cost.name.as_str()) {
                return wrong(
                    &format!("there is no cost `{}`", cost.name),
                    format!("there are: {}", Self::NAMES.join(", ")),
                );
            }
            if costs.iter().any(|other| other.name == cost.name) {
                return wrong(
                    &format!("there are two costs `{}`", cost.name),
                    "leave one of them out".to_owned(),
                );
            }
            let least = if cost.name == "system_call" { 10 } else { 0 };
            if !(least..=MOST_NS).contains(&cost.ns) {
                return wrong(
                    &format!("`{}` takes {} ns", cost.name, cost.ns),
                    format!("give it {least} to {MOST_NS} ns"),
                );
            }
            if cost.source.trim().is_empty() {
                let help = "say where the time is from, or that it is assumed".to_owned();
                return wrong(&format!("`{}` has no source", cost.name), help);
            }
            costs.push(cost);
        }
        match Self::NAMES
            .iter()
            .find(|name| !costs.iter().any(|cost| cost.name == **name))
        {
            Some(missing) => Err(document.wrong(
                0..0,
                format!("there is no [[cost]] `{missing}`"),
                "give it name, ns, about and source",
            )),
            None => Ok(costs),
        }
    }

    /// The costs of a file that was read.
    pub fn new(costs: &[Cost]) -> Self {
        let mut all = Self::all(0);
        for cost in costs {
            if let Some(ns) = all.named(&cost.name) {
                *ns = cost.ns;
            }
        }
        all
    }
}

impl Default for Costs {
    /// Those of the shipped file.
    fn default() -> Self {
        static SHIPPED_COSTS: LazyLock<Costs> = LazyLock::new(|| {
            let read = Costs::read(&Document::new("platforms/kernel/costs.toml", SHIPPED));
            Costs::new(&read.expect("a test reads the shipped file"))
        });
        *SHIPPED_COSTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let error = Costs::read(&Document::new("mine.toml", text)).expect_err("refused");
        let help = miette::Diagnostic::help(&error)
            .map(|help| help.to_string())
            .unwrap_or_default();
        format!("{error}; {help}")
    }

    #[test]
    fn the_shipped_file_has_every_cost_with_a_source() {
        let costs = Costs::read(&Document::new("costs.toml", SHIPPED)).unwrap();
        assert_eq!(costs.len(), Costs::NAMES.len());
        assert_eq!(Costs::default().context_switch, costs[0].ns);
        let mut changed = Costs::default();
        *changed.named("tick").unwrap() = 7;
        assert_eq!((changed.tick, changed.timer), (7, Costs::default().timer));
    }

    #[test]
    fn what_is_wrong_in_a_file_is_named_with_its_line() {
        let other = |from: &str, to: &str| refused(&SHIPPED.replacen(from, to, 1));
        let error = other("name = \"timer\"", "name = \"timers\"");
        assert!(
            error.contains("mine.toml:")
                && error.contains("no cost `timers`")
                && error.contains("idle_turn"),
            "{error}"
        );
        assert!(other("name = \"timer\"", "name = \"tick\"").contains("two costs `tick`"));
        assert!(other("ns = 300", "ns = 3").contains("10 to 10000000 ns"));
        assert!(other("ns = 300", "ns = -3").contains("mine.toml:"));
        let without = SHIPPED.rsplit_once("[[cost]]").unwrap().0;
        assert!(refused(without).contains("no [[cost]] `migration`"));
    }
}

//! The nodes of shared objects, with what they claim looked at before anything is called.
#![expect(unsafe_code, reason = "a shared object is called by its C interface")]

use super::protocol::NodeAbout;
use dataplane::graph::{Reason, Severity};
use itertools::Itertools;
use std::path::Path;
use stopwatt_loop::{
    ARCS_MAX, DropReason, ERROR, INFO, NODE_ABI, NODE_SYMBOL, Name, NodeTable, PRIVATE_MAX,
    REASONS_MAX,
};
use worker_process::Wrong;
use worker_process::shared_object::{tables, text};

/// A node whose table was looked at.
pub struct ObjectNode {
    /// Functions of the object node.
    pub table: NodeTable,
    /// Description of the object node.
    pub about: NodeAbout,
    /// Arcs of the object node.
    pub arcs: &'static [&'static str],
    /// Reasons of the object node.
    pub reasons: &'static [Reason],
    /// The other things that it counts.
    pub counters: Vec<Reason>,
}

/// The header that describes the interface.
const HEADER: &str = "stopwatt_node.h";

/// Loads a shared object, and looks at its nodes.
///
/// # Errors
/// It cannot be loaded, is not of this interface, or describes what cannot be.
pub fn load(path: &Path) -> Result<Vec<ObjectNode>, Wrong> {
    // SAFETY: the process is there for these nodes, and stopwatt_node.h says that of its function.
    let tables = unsafe { tables::<NodeTable>(path, NODE_SYMBOL, NODE_ABI, HEADER) }?;
    let shown = path.display().to_string();
    let nodes = tables
        .map(|table| checked(table?, &shown))
        .collect::<Result<Vec<_>, Wrong>>()?;
    if nodes.is_empty() {
        return Err(Wrong::new(
            format!("{shown} has no node"),
            "stopwatt_node(0) returned NULL",
        ));
    }
    Ok(nodes)
}

/// Refuses more of something than a node may have, and a table without `run`: what is wrong, and
/// what would be right.
fn within_limits(table: &NodeTable) -> Result<(), (String, String)> {
    for (what, count, most, is_null) in [
        ("arcs", table.arcs, ARCS_MAX, table.arc.is_null()),
        (
            "reasons",
            table.reasons,
            REASONS_MAX,
            table.reason.is_null(),
        ),
        (
            "counters",
            table.counters,
            REASONS_MAX,
            table.counter.is_null(),
        ),
    ] {
        if count as usize > most || (count > 0 && is_null) {
            let nowhere = if is_null {
                ", and no pointer to them"
            } else {
                ""
            };
            return Err((
                format!("it has {count} {what}{nowhere}"),
                format!("at most {most}, with a pointer to them"),
            ));
        }
    }
    if table.run.is_none() {
        let help = "it is needed; the other functions may be NULL";
        return Err(("`run` is missing".to_owned(), help.to_owned()));
    }
    if table.private_bytes as usize > PRIVATE_MAX {
        let message = format!(
            "it wants {} bytes of private data per packet",
            table.private_bytes
        );
        return Err((
            message,
            format!("up to {PRIVATE_MAX}, for all nodes of a graph together"),
        ));
    }
    Ok(())
}

/// The reasons for which a node drops packets; else what is wrong, and what would be right.
fn reasons(table: &NodeTable) -> Result<Vec<Reason>, (String, &'static str)> {
    let mut reasons = Vec::new();
    for at in 0..table.reasons as usize {
        // SAFETY: the interface says that `reason` points to that number of reasons.
        let DropReason {
            text: said,
            severity,
        } = unsafe { *table.reason.add(at) };
        // SAFETY: texts end, by the interface.
        let said = leaked(unsafe { text(said) }.unwrap_or_default());
        reasons.push(match severity {
            ERROR => Reason::error(said),
            INFO => Reason::info(said),
            other => {
                return Err((
                    format!("the reason `{said}` has severity {other}"),
                    "STOPWATT_ERROR or STOPWATT_INFO",
                ));
            }
        });
    }
    Ok(reasons)
}

fn checked(table: NodeTable, shown: &str) -> Result<ObjectNode, Wrong> {
    // SAFETY: names end, by the interface.
    let name = unsafe { text(table.name) }.unwrap_or_default();
    let refusal =
        |what: String, help: &str| Wrong::new(format!("{shown}, node `{name}`: {what}"), help);
    let refused = |what: String, help: &str| Err(refusal(what, help));
    if !is_name(&name) {
        return refused(
            "it has no name that a graph's file could say".to_owned(),
            "letters, digits and hyphens",
        );
    }
    within_limits(&table).map_err(|(what, help)| refusal(what, &help))?;
    // SAFETY: the interface says that `arc` and `counter` point to that number of names.
    let (arcs, counters) = unsafe {
        (
            names(table.arc, table.arcs),
            names(table.counter, table.counters),
        )
    };
    for (what, names) in [("an arc", &arcs), ("a counter", &counters)] {
        for (at, name) in names.iter().enumerate() {
            if name.is_empty() || names[..at].contains(name) {
                return refused(
                    format!("{what} is called `{name}`"),
                    "each has a name of its own",
                );
            }
        }
    }
    let reasons = reasons(&table).map_err(|(what, help)| refusal(what, help))?;
    // SAFETY: names end, by the interface.
    let private_name = unsafe { text(table.private_name) }.unwrap_or_default();
    Ok(ObjectNode {
        arcs: arcs
            .iter()
            .map(|name| leaked(name.clone()))
            .collect_vec()
            .leak(),
        counters: counters
            .iter()
            .map(|name| Reason {
                text: leaked(name.clone()),
                severity: Severity::Counter,
            })
            .collect(),
        reasons: reasons.leak(),
        about: NodeAbout {
            name,
            object: shown.to_owned(),
            arcs,
            private_name,
            private_bytes: table.private_bytes as usize,
        },
        table,
    })
}

/// True for what can be a node's name, in a graph's file and in the text of its wiring.
pub fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.'))
}

/// # Safety
/// There are `count` names that end.
unsafe fn names(first: *const Name, count: u32) -> Vec<String> {
    // SAFETY: by this function's own contract.
    (0..count as usize)
        .map(|at| unsafe { text((*first.add(at)).pointer()) }.unwrap_or_default())
        .collect()
}

/// The process has these texts for as long as it lives, as it has the shared object.
fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

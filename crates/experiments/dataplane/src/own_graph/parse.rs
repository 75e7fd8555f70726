//! The tables of a graph's file, as [`document::Document::read`] reads them: each word has its
//! place.

use super::protocol::Flow;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// A word of the file with its place.
pub type Word = Spanned<String>;

/// The tables of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    /// The graph's name.
    pub name: Option<Word>,
    /// `[packets]`.
    pub packets: Option<PacketsEntry>,
    /// Each `[[flow]]` with its place.
    #[serde(default, rename = "flow")]
    pub flows: Vec<Spanned<Flow>>,
    /// Each `[[node]]`.
    #[serde(default, rename = "node")]
    pub nodes: Vec<NodeEntry>,
}

/// The source of packets, and the node that they come to first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacketsEntry {
    /// Their source.
    pub from: Word,
    /// The first node.
    pub start: Option<Word>,
    /// The rule that chooses a packet's output; by routes where the file names no rule.
    #[serde(default)]
    pub mode: Mode,
}

/// The rule that chooses the output interface of a packet.
#[derive(Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// By routes.
    #[default]
    Route,
    /// A packet goes out of the other interface.
    CrossConnect,
}

/// A node, and where its arcs lead.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeEntry {
    /// Name of the node in the graph.
    pub name: Word,
    /// Name of the node in its shared object, where that is another one.
    pub kind: Option<Word>,
    /// Options of the node.
    pub options: Option<Word>,
    /// The arcs that are led somewhere, with where.
    #[serde(default)]
    pub next: BTreeMap<Word, Word>,
}

//! The text of a graph's file as tables, in which each word has its place.
//!
//! It is read by hand, since readers that are made of types have a hundred kilobytes for these few
//! keys.

use super::protocol::Flow;
use document::{DeTable, DeValue, Document, Error, Spanned, one_of};
use std::ops::Range;

/// A word of the file with its place.
pub struct Word {
    /// The word.
    pub text: String,
    /// Place of the word.
    pub place: Range<usize>,
}

/// The tables of a file.
#[derive(Default)]
pub struct Tables {
    /// The graph's name.
    pub name: Option<Word>,
    /// `[packets]`.
    pub packets: Option<PacketsEntry>,
    /// Each `[[flow]]` with its place.
    pub flows: Vec<(Flow, Range<usize>)>,
    /// Each `[[node]]`.
    pub nodes: Vec<NodeEntry>,
}

/// The source of packets, and the node that they come to first.
pub struct PacketsEntry {
    /// Their source.
    pub from: Word,
    /// The first node.
    pub start: Option<Word>,
    /// True if the interfaces are cross connected and do not route.
    pub cross_connect: bool,
}

/// A node, and where its arcs lead.
pub struct NodeEntry {
    /// Name of the node in the graph.
    pub name: Word,
    /// Name of the node in its shared object, where that is another one.
    pub kind: Option<Word>,
    /// Options of the node.
    pub options: Option<Word>,
    /// The arcs that are led somewhere, with where.
    pub next: Vec<(Word, Word)>,
}

type Value<'i> = Spanned<DeValue<'i>>;

/// Reads the tables of a file.
///
/// # Errors
/// It is no TOML, a key is unknown or missing, or a value is of another kind.
pub fn parse(document: &Document) -> Result<Tables, Error> {
    let parser = Parser(document);
    let root = document.table()?;
    let root = root.get_ref();
    parser.known(root, "a graph", &["name", "packets", "flow", "node"])?;
    let mut tables = Tables { name: parser.word(root, "name")?, ..Tables::default() };
    if let Some(value) = root.get("packets") {
        let table = parser.table(value, "packets")?;
        parser.known(table, "[packets]", &["from", "start", "mode"])?;
        let from = parser.needed(table, value, "from")?;
        let mode = parser.word(table, "mode")?;
        let cross_connect = match &mode {
            None => false,
            Some(mode) if mode.text == ROUTE => false,
            Some(mode) if mode.text == CROSS_CONNECT => true,
            Some(mode) => {
                let message = format!("there is no mode {}", document::quoted(&mode.text));
                return Err(document.wrong(mode.place.clone(), message, one_of(&mode.text, &[ROUTE, CROSS_CONNECT])));
            }
        };
        tables.packets = Some(PacketsEntry { from, start: parser.word(table, "start")?, cross_connect });
    }
    for value in parser.tables(root, "flow")? {
        let table = parser.table(value, "flow")?;
        parser.known(table, "a [[flow]]", &["source", "destination", "source_port", "destination_port", "ttl"])?;
        let address = |key: &str| {
            let word = parser.needed(table, value, key)?;
            let wrong =
                |_| document.wrong(word.place.clone(), format!("`{key}` is no IPv4 address"), "such as \"10.0.0.1\"");
            word.text.parse().map_err(wrong)
        };
        let number = |key: &str, most: u16, usual: u16| parser.number(table, key, most).map(|of| of.unwrap_or(usual));
        let flow = Flow {
            source: address("source")?,
            destination: address("destination")?,
            source_port: number("source_port", u16::MAX, 0x1000)?,
            destination_port: number("destination_port", u16::MAX, 0x2000)?,
            ttl: number("ttl", 255, 64)? as u8,
        };
        tables.flows.push((flow, value.span()));
    }
    for value in parser.tables(root, "node")? {
        let table = parser.table(value, "node")?;
        parser.known(table, "a [[node]]", &["name", "kind", "options", "next"])?;
        let mut next = Vec::new();
        if let Some(arcs) = table.get("next") {
            for (arc, to) in parser.table(arcs, "next")? {
                let arc = Word { text: arc.get_ref().to_string(), place: arc.span() };
                next.push((arc, parser.text(to, "an arc")?));
            }
        }
        tables.nodes.push(NodeEntry {
            name: parser.needed(table, value, "name")?,
            kind: parser.word(table, "kind")?,
            options: parser.word(table, "options")?,
            next,
        });
    }
    Ok(tables)
}

const ROUTE: &str = "route";
const CROSS_CONNECT: &str = "cross-connect";

struct Parser<'d>(&'d Document);

impl Parser<'_> {
    fn kind(&self, value: &Value<'_>, what: &str, help: &str) -> Error {
        self.0.wrong(value.span(), format!("`{what}` is of the kind {}", value.get_ref().type_str()), help)
    }

    /// Every key of a table is known.
    fn known(&self, table: &DeTable<'_>, whose: &str, known: &[&str]) -> Result<(), Error> {
        match table.keys().find(|key| !known.contains(&key.get_ref().as_ref())) {
            None => Ok(()),
            Some(key) => {
                let message = format!("{whose} has no key {}", document::quoted(key.get_ref()));
                Err(self.0.wrong(key.span(), message, one_of(key.get_ref(), known)))
            }
        }
    }

    fn table<'a, 'i>(&self, value: &'a Value<'i>, key: &str) -> Result<&'a DeTable<'i>, Error> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.kind(value, key, "write a table: keys with their values")),
        }
    }

    fn tables<'a, 'i>(&self, root: &'a DeTable<'i>, key: &str) -> Result<Vec<&'a Value<'i>>, Error> {
        match root.get(key).map(|value| (value, value.get_ref())) {
            None => Ok(Vec::new()),
            Some((_, DeValue::Array(all))) => Ok(all.iter().collect()),
            Some((value, _)) => Err(self.kind(value, key, &format!("write [[{key}]], as often as there are any"))),
        }
    }

    fn text(&self, value: &Value<'_>, key: &str) -> Result<Word, Error> {
        match value.get_ref() {
            DeValue::String(text) => Ok(Word { text: text.to_string(), place: value.span() }),
            _ => Err(self.kind(value, key, "write a text, in quotation marks")),
        }
    }

    fn word(&self, table: &DeTable<'_>, key: &str) -> Result<Option<Word>, Error> {
        table.get(key).map(|value| self.text(value, key)).transpose()
    }

    fn needed(&self, table: &DeTable<'_>, of: &Value<'_>, key: &str) -> Result<Word, Error> {
        let missing = || self.0.wrong(of.span(), format!("`{key}` is missing"), format!("write {key} = \"...\""));
        self.word(table, key)?.ok_or_else(missing)
    }

    fn number(&self, table: &DeTable<'_>, key: &str, most: u16) -> Result<Option<u16>, Error> {
        let Some(value) = table.get(key) else { return Ok(None) };
        let number = match value.get_ref() {
            DeValue::Integer(digits) => u16::from_str_radix(digits.as_str(), digits.radix()).ok(),
            _ => None,
        };
        let wrong = || self.0.wrong(value.span(), format!("`{key}` is no such number"), format!("0 to {most}"));
        number.filter(|number| *number <= most).map(Some).ok_or_else(wrong)
    }
}

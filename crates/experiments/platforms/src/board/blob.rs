//! The nodes of a device tree blob.
//!
//! They are read here, since the crate `dtoolkit` refuses names of more than 31 characters, which
//! trees of most boards have.

use document::{Error, Result, printable};

/// True if a file begins as a blob does.
pub fn is_blob(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xd0, 0x0d, 0xfe, 0xed])
}

/// A node; that of the root is the first.
pub struct Node<'t> {
    pub name: &'t str,
    pub parent: usize,
    properties: Vec<(&'t str, &'t [u8])>,
}

/// A tree's nodes, each after the one that it is in. A node goes by its position.
pub struct Tree<'t> {
    pub file: &'t str,
    pub nodes: Vec<Node<'t>>,
}

/// The nodes of a blob; `None` if it is damaged.
fn nodes(blob: &[u8]) -> Option<Vec<Node<'_>>> {
    let word = |at: usize| {
        blob.get(at..at + 4)?
            .try_into()
            .ok()
            .map(|word| u32::from_be_bytes(word) as usize)
    };
    let text =
        |at: usize| std::str::from_utf8(blob.get(at..)?.split(|byte| *byte == 0).next()?).ok();
    let (mut at, strings) = (word(8)?, word(12)?);
    let (mut nodes, mut open): (Vec<Node<'_>>, Vec<usize>) = (Vec::new(), Vec::new());
    loop {
        let token = word(at)?;
        at += 4;
        match token {
            1 => {
                let (name, parent) = (text(at)?, open.last().copied().unwrap_or(0));
                open.push(nodes.len());
                nodes.push(Node {
                    name,
                    parent,
                    properties: Vec::new(),
                });
                at = (at + name.len() + 1).next_multiple_of(4);
            }
            2 => drop(open.pop()?),
            3 => {
                let (length, name) = (word(at)?, word(at + 4)?);
                let value = blob.get(at + 8..at + 8 + length)?;
                nodes[*open.last()?]
                    .properties
                    .push((text(strings + name)?, value));
                at = (at + 8 + length).next_multiple_of(4);
            }
            4 => {}
            9 => return Some(nodes).filter(|nodes| open.is_empty() && !nodes.is_empty()),
            _ => return None,
        }
    }
}

impl<'t> Tree<'t> {
    /// Reads a blob; `file` is its name for people.
    pub fn read(file: &'t str, blob: &'t [u8]) -> Result<Self> {
        Ok(Self {
            file,
            nodes: nodes(blob).ok_or_else(|| {
                Error::new(
                    format!("{file} is a device tree that is cut off or damaged"),
                    "copy it again, whole",
                )
            })?,
        })
    }

    pub fn path(&self, at: usize) -> String {
        std::iter::successors(Some(at), |at| Some(self.nodes[*at].parent))
            .take_while(|at| *at != 0)
            .fold(String::new(), |path, at| {
                format!("/{}{path}", printable(self.nodes[at].name))
            })
    }

    pub fn value(&self, at: usize, property: &str) -> Option<&'t [u8]> {
        self.nodes[at]
            .properties
            .iter()
            .find(|(name, _)| *name == property)
            .map(|(_, value)| *value)
    }

    pub fn wrong(&self, at: usize, property: &str, what: &str, help: &str) -> Error {
        Error::new(
            format!("{}: {}: {property} {what}", self.file, self.path(at)),
            help,
        )
    }

    /// The numbers of a property; none where it is not there.
    pub fn cells(&self, at: usize, property: &str) -> Result<Vec<u32>> {
        let value = self.value(at, property).unwrap_or_default();
        let (cells, []) = value.as_chunks::<4>() else {
            return Err(self.wrong(
                at,
                property,
                &format!("has {} bytes", value.len()),
                "it should be whole numbers of 4 bytes each, such as <100>",
            ));
        };
        Ok(cells.iter().map(|cell| u32::from_be_bytes(*cell)).collect())
    }

    pub fn number(&self, at: usize, property: &str) -> Result<Option<u32>> {
        let cells = self.cells(at, property)?;
        match cells.len() {
            0 | 1 => Ok(cells.first().copied()),
            count => Err(self.wrong(
                at,
                property,
                &format!("has {count} numbers"),
                "it should be one, such as <100>",
            )),
        }
    }

    /// The first of a property's texts.
    pub fn text(&self, at: usize, property: &str) -> Option<String> {
        let text = self.value(at, property)?.split(|byte| *byte == 0).next()?;
        Some(printable(&String::from_utf8_lossy(text))).filter(|text| !text.is_empty())
    }

    /// The nodes that a property names by their phandles, the first `most` of them.
    pub fn named(&self, at: usize, property: &str, most: usize) -> Result<Vec<usize>> {
        self.cells(at, property)?
            .into_iter()
            .take(most)
            .map(|phandle| {
            (0..self.nodes.len()).find(|at| self.value(*at, "phandle") == Some(&phandle.to_be_bytes())).ok_or_else(|| {
                let help =
                    "name the node by its label, such as <&CPU_SLEEP>, and compile the tree again";
                self.wrong(
                    at,
                    property,
                    &format!("names a node by {phandle:#x}, which no phandle is"),
                    help,
                )
            })
        })
            .collect()
    }

    /// The node that a property names first.
    pub fn first(&self, at: usize, property: &str) -> Result<Option<usize>> {
        Ok(self.named(at, property, 1)?.pop())
    }

    pub fn is_on(&self, at: usize) -> bool {
        self.text(at, "status")
            .is_none_or(|status| status.starts_with("ok"))
    }
}

//! A quantity by who called whom.

/// A flame graph: the stacks of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Flame {
    /// The subject.
    pub name: String,
    /// Stacks, the outermost function first, each with what its innermost function took itself.
    pub stacks: Vec<(Vec<String>, f64)>,
}

/// A function in a stack, with what lies above it.
#[derive(Clone, Default, PartialEq)]
pub struct Node {
    pub name: String,
    /// With all that it called.
    pub total: f64,
    /// The functions that it called, in order of their names.
    pub called: Vec<Node>,
}

impl Flame {
    /// The stacks as one tree, whose root has the flame's name.
    pub fn tree(&self) -> Node {
        let mut root = Node {
            name: self.name.clone(),
            ..Node::default()
        };
        for (stack, value) in &self.stacks {
            let mut node = &mut root;
            node.total += value;
            for name in stack {
                let at = node
                    .called
                    .binary_search_by(|other| other.name.cmp(name))
                    .unwrap_or_else(|at| {
                        node.called.insert(
                            at,
                            Node {
                                name: name.clone(),
                                ..Node::default()
                            },
                        );
                        at
                    });
                node = &mut node.called[at];
                node.total += value;
            }
        }
        root
    }
}

impl Node {
    /// The greatest number of functions in a stack.
    pub fn depth(&self) -> usize {
        self.called
            .iter()
            .map(|node| 1 + node.depth())
            .max()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_that_begin_alike_share_a_stem() {
        let stacks = [
            (&["a", "b", "c"][..], 1.0),
            (&["a"], 2.0),
            (&["a", "b"], 4.0),
            (&["d"], 8.0),
        ];
        let stacks = stacks
            .map(|(stack, value)| (stack.iter().map(|name| (*name).to_owned()).collect(), value));
        let tree = Flame {
            name: "all".to_owned(),
            stacks: stacks.to_vec(),
        }
        .tree();
        assert_eq!((tree.total, tree.depth()), (15.0, 3));
        let of: Vec<_> = tree
            .called
            .iter()
            .map(|node| (node.name.as_str(), node.total))
            .collect();
        assert_eq!(of, [("a", 7.0), ("d", 8.0)]);
        assert_eq!(
            (
                tree.called[0].called[0].total,
                tree.called[0].called[0].called[0].total
            ),
            (5.0, 1.0)
        );
    }
}

//! A loop that is only described: the lines of a record, what leads to each, and the work.

use document::Document;
use serde::{Deserialize, Serialize};
use stopwatt_loop::KNOBS_MAX;

/// A described loop, as `--recipe FILE` reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Name of the described loop.
    pub name: String,
    /// Multiplications per record, after its lines are there.
    pub multiplications: u32,
    /// True if each multiplication needs the one before.
    #[serde(default = "yes")]
    pub chained: bool,
    /// The lines of a record, in the order in which they are read.
    pub line: Vec<RecipeLine>,
}

fn yes() -> bool {
    true
}

/// A line of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeLine {
    /// Name of the line.
    pub name: String,
    /// The line that holds this one's address.
    pub after: Option<String>,
}

/// Most multiplications of a record: a millisecond of work.
const MOST_WORK: u32 = 1_000_000;

impl Recipe {
    /// Reads a recipe.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn read(document: &Document) -> Result<Self, document::Error> {
        let recipe: Self = document.read()?;
        let wrong = |message: String, help: &str| Err(document.wrong_as_a_whole(message, help));
        if !(1..=KNOBS_MAX).contains(&recipe.line.len()) {
            return wrong(
                format!(
                    "a record has 1 to {KNOBS_MAX} lines, and this one has {}",
                    recipe.line.len()
                ),
                "write a [[line]] for each cache line that a record's work reads",
            );
        }
        if recipe.multiplications > MOST_WORK {
            return wrong(
                format!("`multiplications` is up to {MOST_WORK}"),
                "the work on one record, not on a batch",
            );
        }
        for (at, line) in recipe.line.iter().enumerate() {
            if recipe.line[..at]
                .iter()
                .any(|other| other.name == line.name)
            {
                return wrong(
                    format!("two lines are called `{}`", line.name),
                    "give each a name of its own",
                );
            }
            if let Some(after) = &line.after
                && !recipe.line[..at].iter().any(|other| other.name == *after)
            {
                let message = format!(
                    "line `{}` comes after `{after}`, which is no line before it",
                    line.name
                );
                return wrong(message, "`after` names a line that is described further up");
            }
        }
        Ok(recipe)
    }

    /// For each line the number of the one that holds its address.
    pub fn after(&self) -> Vec<Option<usize>> {
        let place = |name: &String| self.line.iter().position(|line| line.name == *name);
        self.line
            .iter()
            .map(|line| line.after.as_ref().and_then(place))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Recipe, String> {
        Recipe::read(&Document::new("loop.toml", text)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_recipe_says_which_line_leads_to_which() {
        let text = "name = \"parser\"\nmultiplications = 10\n[[line]]\nname = \"a\"\n[[line]]\nname = \"b\"\nafter = \"a\"\n";
        let recipe = read(text).unwrap();
        assert!(recipe.chained);
        assert_eq!(recipe.after(), [None, Some(0)]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let line = "[[line]]\nname = \"a\"\n";
        let head = "name = \"x\"\nmultiplications = 1\n";
        for (text, says) in [
            (format!("{head}{line}{line}"), "two lines are called `a`"),
            (format!("{head}{line}after = \"b\"\n"), "comes after `b`"),
            (
                format!("name = \"x\"\nmultiplications = 9000000\n{line}"),
                "is up to 1000000",
            ),
            (
                format!("{head}{}", "[[line]]\nname = \"\"\n".repeat(9)),
                "1 to 8 lines",
            ),
            (format!("{head}{line}mystery = 1\n"), "there is no key"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}

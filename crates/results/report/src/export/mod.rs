//! The formats of reports, and outputs for other programs that are no blocks: JSON and traces for
//! Perfetto. Stacks for flame graphs are those of the recording.

pub mod json;
pub mod perfetto;

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables and causes for the terminal.
    Text,
    /// Markdown tables.
    Markdown,
    /// Comma-separated values, a row per cell.
    Csv,
    /// JSON.
    Json,
    /// One self-contained page with the CPU timeline.
    Html,
    /// A trace for Perfetto, with every event.
    Perfetto,
    /// Instructions by who called whom, a line for each stack.
    Folded,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] = [
        Self::Text,
        Self::Markdown,
        Self::Csv,
        Self::Json,
        Self::Html,
        Self::Perfetto,
        Self::Folded,
    ];

    /// Its name on the command line, a line about it, and the endings of file names that mean it,
    /// the usual one first.
    const fn facts(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::Text => ("term", "Tables and causes for the terminal", &["txt"]),
            Self::Markdown => ("markdown", "Markdown tables", &["md", "markdown"]),
            Self::Csv => ("csv", "Comma-separated values, a row per cell", &["csv"]),
            Self::Json => ("json", "JSON", &["json"]),
            Self::Html => (
                "html",
                "One self-contained page with the CPU timeline",
                &["html", "htm"],
            ),
            Self::Perfetto => (
                "perfetto",
                "A trace for ui.perfetto.dev, with every event",
                &["pftrace", "perfetto-trace"],
            ),
            Self::Folded => (
                "folded",
                "Folded stacks of counts by function, for flame graphs of other tools",
                &["folded"],
            ),
        }
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        self.facts().0
    }

    /// A line about it.
    pub const fn about(self) -> &'static str {
        self.facts().1
    }

    /// The usual ending of a file of it, without the dot.
    pub const fn extension(self) -> &'static str {
        self.facts().2[0]
    }

    /// The format of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format that the ending of a file's name means.
    pub fn of_extension(extension: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.facts().2.contains(&extension))
    }
}

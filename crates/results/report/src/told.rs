//! What is told of several recordings, in every form.

use crate::blocks::Blocks;
use crate::{Style, html, markup, terminal};

/// What is told of several recordings: of a comparison, or of a what-if.
pub struct Told {
    pub(crate) title: String,
    /// The line below the title.
    pub(crate) lead: String,
    pub(crate) blocks: Blocks,
}

impl Told {
    /// In a terminal: its answers, or all of it.
    pub fn text(&self, all: bool, style: Style) -> String {
        terminal::story(&self.blocks, all, style)
    }

    /// As one self-contained page of at most [`crate::MOST_BYTES`].
    pub fn html(&self) -> String {
        html::plain_page(&self.title, &self.lead, &self.blocks)
    }

    /// As Markdown, for a comment on a change.
    pub fn markdown(&self) -> String {
        markup::markdown::document(&self.title, &[], self.blocks.all())
    }
}

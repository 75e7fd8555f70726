//! A story: its facts, and the way it is told.

use crate::blocks::Blocks;
use serde::Serialize;

/// The facts of a story. What it serializes to is its JSON.
pub trait Story: Serialize {
    /// Tells it: the answer first, then a picture, then tables; on demand the rest, and how it was
    /// made.
    fn tell(&self, told: &mut Blocks);
}

/// A story, told.
pub struct StoryContent {
    /// Its blocks.
    pub blocks: Blocks,
    /// True if it is tables of measures and nothing else.
    pub is_plain: bool,
}

impl StoryContent {
    pub fn new(story: &impl Story) -> Self {
        let mut blocks = Blocks::default();
        story.tell(&mut blocks);
        Self {
            blocks,
            is_plain: false,
        }
    }
}

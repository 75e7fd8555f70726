//! Blocks in a terminal.
//!
//! | file | what it lays out |
//! |---|---|
//! | `grid.rs` | tables and paragraphs in a terminal of any width |
//! | `layout.rs` | blocks, one below the other |
//! | `paint.rs` | words in the terminal's colours |
//! | `pictures.rs` | pictures, as bars and blocks of characters |
//! | `screen.rs` | the first screen of a story |

mod grid;
mod layout;
mod paint;
mod pictures;
mod screen;

use crate::blocks::Blocks;
use crate::style::Style;
pub use layout::render;

/// All blocks of a story, or, unless `all` are asked for, those of its first screen.
pub fn story(blocks: &Blocks, all: bool, style: Style) -> String {
    if all {
        render(blocks.all(), style)
    } else {
        screen::screen(blocks.all(), style)
    }
}

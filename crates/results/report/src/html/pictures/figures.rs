//! The figures of a picture as rows and cells, for its table.

use crate::blocks::Figure;

/// Headings of what names a row, and rows of names and figures.
pub(super) type Rows = (Vec<String>, Vec<(Vec<String>, Figure)>);
/// Headings, and rows of cells.
pub(super) type Cells = (Vec<String>, Vec<Vec<String>>);

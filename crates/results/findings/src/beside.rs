//! The one rule by which published figures stand beside a recording's.

use recording::Header;

/// True if figures that others published of a recording's platform may stand beside its own: no
/// setting makes it another board, which nobody measured. An import's settings name its source.
pub fn beside(header: &Header) -> bool {
    header.world == "import" || header.settings.is_empty()
}

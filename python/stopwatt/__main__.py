"""``python -m stopwatt``: the command, and what only Python adds to it."""

from __future__ import annotations

import sys

from . import _native


def main() -> int:
    """Runs the command, or ``sensitivity``."""
    if sys.argv[1:2] == ["sensitivity"]:
        from .sensitivity import main as sensitivity

        return sensitivity(sys.argv[2:])
    return _native.main(["stopwatt", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

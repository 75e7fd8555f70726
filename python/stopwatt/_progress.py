"""How far a run is, where somebody looks on."""

from __future__ import annotations

import sys
import time
from typing import Callable, Optional

Tell = Callable[[int, int, str], None]


def _line(done: int, total: int, doing: str) -> str:
    return f"{done}/{total} {doing}" if total else doing


def _is_notebook() -> bool:
    shell = sys.modules.get("IPython")
    shell = shell.get_ipython() if shell else None
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


class Shown:
    """Shows progress in a notebook, or on standard error if that is a terminal; says nothing elsewhere, nor in the first second."""

    def __init__(self, progress: object = None) -> None:
        self._given: Optional[Tell] = progress if callable(progress) else None
        self._asked = progress is not False
        self._begin = time.monotonic()
        self._said = 0.0
        self._handle = None
        self._on_terminal = False

    def __call__(self, done: int, total: int, doing: str) -> None:
        if self._given:
            self._given(done, total, doing)
            return
        now = time.monotonic()
        if not self._asked or now - self._begin < 1 or now - self._said < 0.2:
            return
        self._said = now
        line = _line(done, total, doing)
        if _is_notebook():
            from IPython.display import display

            text = {"text/plain": line}
            if self._handle is None:
                self._handle = display(text, raw=True, display_id=True)
            else:
                self._handle.update(text, raw=True)
        elif sys.stderr.isatty():
            self._on_terminal = True
            sys.stderr.write(f"\r{line[:100]}\033[K")
            sys.stderr.flush()

    def __enter__(self) -> "Shown":
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)
        if self._on_terminal:
            sys.stderr.write("\r\033[K")

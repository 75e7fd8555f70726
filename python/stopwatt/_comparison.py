"""Comparisons."""

from __future__ import annotations

import json
import os
from typing import Any, Optional, Sequence, Union

from . import _native
from ._frame import frame
from ._recording import Recording, open

Side = Union[Recording, str, "os.PathLike[str]", tuple[Union[Recording, str, "os.PathLike[str]"], str]]


class Comparison:
    """What changed between recordings, and whether that can be said. In a notebook it shows itself as a page."""

    def __init__(self, text: str, result: str, page: str, outcome: str) -> None:
        self.text = text
        #: ``"regression"``, ``"no-regression"``, or ``"cannot-be-judged"`` where a side lacks something, a condition differs or there are too few runs.
        self.outcome = outcome
        #: Whether something became worse by more than the threshold; None where that cannot be judged.
        self.regression: Optional[bool] = None if outcome == "cannot-be-judged" else outcome == "regression"
        self._result = result
        self._page = page

    @property
    def result(self) -> dict[str, Any]:
        """All of it, as ``stopwatt compare --format json`` prints it."""
        return json.loads(self._result)

    def _repr_html_(self) -> str:
        return frame(self._page, 560)

    def __repr__(self) -> str:
        return self.text


def _side(side: Union[Side, list[Side]]) -> tuple[list[_native.Recording], Optional[str]]:
    if isinstance(side, list):
        runs = [_side(run) for run in side]
        return [recording for run in runs for recording in run[0]], runs[0][1] if runs else None
    variant = None
    if isinstance(side, tuple):
        side, variant = side
    recording = side if isinstance(side, Recording) else open(side)
    return [recording._native], variant


def compare(
    base: Union[Side, list[Side]],
    *others: Union[Side, list[Side]],
    threshold: Optional[float] = None,
    metrics: Sequence[str] = (),
    all: bool = False,
) -> Comparison:
    """Compares recordings, of which the first is the base.

    A side is a recording or its folder; a pair of one and a text picks one of its variants: ``(recording, "juno-v2.12")``. A list of those
    is a side of several runs: of what was measured, a verdict needs three a side. Changes of
    fewer percent than ``threshold`` (1 if not given) do not matter. ``metrics`` are the measures to compare, and ``all`` keeps rows
    that did not change.

    Raises :class:`stopwatt.Error` if they cannot be compared.
    """
    sides = [_side(side) for side in (base, *others)]
    runs, variants = [side[0] for side in sides], [side[1] for side in sides]
    return Comparison(*_native.compare(runs, variants, threshold, list(metrics), all))

"""Sweeps: the same data set as ``stopwatt sweep`` leaves."""

from __future__ import annotations

import glob
import json
import os
import pathlib
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _native
from ._progress import Shown
from ._recording import Recording, open as open_recording

if TYPE_CHECKING:
    import pyarrow

File = Union[str, "os.PathLike[str]"]

#: A plan of more points is refused unless ``at_most`` allows them.
MOST_POINTS = 1_000_000


def plan_text(plan: File) -> str:
    """The text of a plan: of the file of that name, or the text itself if it has more than one line."""
    if isinstance(plan, str) and "\n" in plan:
        return plan
    try:
        return pathlib.Path(plan).read_text(encoding="utf-8")
    except OSError as error:
        raise _native.Error(f"cannot read the plan {plan}: {error}") from error


class Sweep:
    """The data set of a sweep, and what came of the last run."""

    def __init__(self, folder: File, outcome: dict[str, Any]) -> None:
        self.folder = os.fspath(folder)
        #: Points run, chunks, failures with their points and reasons, seconds.
        self.outcome = outcome

    def files(self, table: str = "measures") -> list[str]:
        """The Parquet files of ``measures``, ``points``, ``events`` or ``causes``, a file per chunk."""
        return sorted(glob.glob(os.path.join(glob.escape(self.folder), "data", "chunk=*", f"{table}.parquet")))

    def table(self, table: str = "measures") -> "pyarrow.Table":
        """All chunks as one Arrow table; ``sweep_point`` is the point's number. Needs pyarrow."""
        import pyarrow.dataset

        return pyarrow.dataset.dataset(self.files(table), format="parquet").to_table()

    def recording(self) -> Recording:
        """The data set as one recording, with a variant for each point, for reports and comparisons. At most 16 384 points."""
        return open_recording(self.folder)

    def __repr__(self) -> str:
        return f"<stopwatt.Sweep in {self.folder}: {self.outcome['points']} points run, {self.outcome['failures']} failed>"


def checked(outcome: dict[str, Any]) -> dict[str, Any]:
    """Raises :class:`stopwatt.Error` if a chunk could not be written."""
    if outcome["unwritten"]:
        lines = [f"chunk {it['chunk']} was not written: {it['why']}" for it in outcome["unwritten"]]
        raise _native.Error("\n".join([*lines, "run the same sweep again to go on"]))
    return outcome


def sweep(plan: File, output: File, *, at_most: int = MOST_POINTS, progress: object = None) -> Sweep:
    """Runs every point of a plan that is not there yet, on all cores, into the folder ``output``.

    ``plan`` is a TOML file or its text (``docs/sweeps.md``). Points that fail are in ``outcome["failed"]`` and are run again the next
    time; Ctrl-C keeps the chunks that are whole. Raises :class:`stopwatt.Error` for a plan that is wrong, or a disk that is full.
    """
    _native.begin_sweep(plan_text(plan), output, at_most)
    with Shown(progress) as shown:
        return Sweep(output, checked(json.loads(_native.run_sweep(output, tell=shown))))

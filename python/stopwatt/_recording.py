"""Recordings."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _native
from ._frame import frame

if TYPE_CHECKING:
    import pandas

_HEIGHT = 640


class Recording:
    """What a run left, whichever world it ran in: a simulation, an emulator, this machine, or somebody's log.

    ``measures``, ``events`` and ``causes`` are Arrow tables with the columns of ``docs/recording.md``. In a notebook a recording shows
    itself as its report: tables, and a timeline with a lane per CPU where it has events.
    """

    def __init__(self, native: _native.Recording) -> None:
        self._native = native

    @property
    def measures(self) -> _native.Table:
        """A row per figure: variant, case, mode, iteration, cpu, cluster, core, subject, role, metric, value, unit. Each value is in the
        unit of its row."""
        return self._native.measures

    @property
    def events(self) -> _native.Table:
        """A row per stamp: variant, case, mode, iteration, cpu, time, ticks, point, argument, argument_kind. ``time`` is in
        ``header["time"]["unit"]``, ``ticks`` in ticks of ``header["time"]["counter_hz"]``."""
        return self._native.events

    @property
    def causes(self) -> _native.Table:
        """A row per measured span and cause: variant, case, mode, iteration, cpu, metric, cause, on, holder, ticks. The ticks of a span's
        rows add up to the span."""
        return self._native.causes

    @property
    def header(self) -> dict[str, Any]:
        """What repeats the run: experiment, world, seed, platform, costs, versions, and in ``run`` what differs from run to run."""
        return json.loads(self._native.header_json())

    @property
    def folder(self) -> Optional[str]:
        """The folder that it was read from or written to first; None for one that is in memory only."""
        folder = self._native.folder
        return None if folder is None else os.fspath(folder)

    def to_pandas(self, table: str = "measures") -> "pandas.DataFrame":
        """``measures``, ``events`` or ``causes`` as a pandas data frame, texts as categoricals. Needs pandas and pyarrow."""
        import pyarrow

        if table not in ("measures", "events", "causes"):
            raise _native.Error(f"there is no table `{table}`; there are: measures, events, causes")
        return pyarrow.table(getattr(self, table)).to_pandas()

    def write(self, folder: Union[str, os.PathLike[str]]) -> None:
        """Writes it as a folder of Parquet files, whole or not at all; a recording that is there is replaced.

        Raises :class:`stopwatt.Error` if something else is there, or the system refuses."""
        self._native.write(folder)

    def report(self, format: str = "term") -> str:
        """The report as text: ``term``, ``md``, ``rst``, ``csv``, ``json`` or ``html`` (a page that needs nothing else)."""
        return self._native.report(format).decode()

    def perfetto(self) -> bytes:
        """A trace for ui.perfetto.dev."""
        return self._native.report("perfetto")

    def _repr_html_(self) -> str:
        return frame(self.report("html"), _HEIGHT)

    def __repr__(self) -> str:
        return repr(self._native)


def open(folder: Union[str, os.PathLike[str]]) -> Recording:
    """Opens a recording's folder, or the data set of a sweep, whose points are then variants of one recording.

    Raises :class:`stopwatt.Error` if it is none or is damaged: the text names the file and what would be right."""
    return Recording(_native.open_recording(folder))

"""Recordings."""

from __future__ import annotations

import html
import json
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _native
from ._frame import frame

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from . import findings

_HEIGHT = 640

#: Bytes that a notebook keeps of a recording that is shown. A page may have five times as many.
_MOST_SHOWN = 200_000


class Recording:
    """What a run left, whichever world it ran in: a simulation, an emulator, this machine, or somebody's log.

    ``measures``, ``events`` and ``causes`` are Arrow tables with the columns of ``docs/recording.md``. In a notebook a recording shows
    its answers, and ``page()`` its page: tables, and a timeline with a lane per CPU where it has events. It can be pickled and copied,
    so that joblib, multiprocessing, Ray and Dask return it from their workers.
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
    def findings(self) -> "findings.Findings":
        """What the experiment found, as an object of a class of :mod:`stopwatt.findings`, whose fields are the result.

        Raises :class:`stopwatt.UsageError` if there are no findings of its experiment, such as of figures that were imported: use its
        ``measures``."""
        from . import _findings

        return _findings.read(self._native.findings_json())

    @property
    def folder(self) -> Optional[str]:
        """The folder that it was read from or written to first; None for one that is in memory only."""
        folder = self._native.folder
        return None if folder is None else os.fspath(folder)

    def _table(self, table: str) -> _native.Table:
        if table not in ("measures", "events", "causes"):
            raise _native.UsageError(f"there is no table `{table}`; there are: measures, events, causes")
        return getattr(self, table)

    def to_arrow(self, table: str = "measures") -> "pyarrow.Table":
        """``measures``, ``events`` or ``causes`` as a table of pyarrow, without a copy. Needs pyarrow."""
        import pyarrow

        return pyarrow.table(self._table(table))

    def to_polars(self, table: str = "measures") -> "polars.DataFrame":
        """``measures``, ``events`` or ``causes`` as a data frame of polars. Needs polars."""
        import polars

        return polars.DataFrame(self._table(table))

    def to_pandas(self, table: str = "measures") -> "pandas.DataFrame":
        """``measures``, ``events`` or ``causes`` as a pandas data frame, texts as categoricals. Needs pandas and pyarrow."""
        return self.to_arrow(table).to_pandas()

    def write(self, folder: Union[str, os.PathLike[str]]) -> None:
        """Writes it as a folder of Parquet files, whole or not at all; a recording that is there is replaced.

        Raises :class:`stopwatt.Error` if something else is there, or the system refuses."""
        self._native.write(folder)

    def report(self, format: str = "term") -> str:
        """The report as text: ``answers``, ``term`` (all of it), ``md``, ``csv``, ``json`` or ``html`` (a page that needs
        nothing else)."""
        return self._native.report(format).decode()

    def perfetto(self) -> bytes:
        """A trace for ui.perfetto.dev."""
        return self._native.report("perfetto")

    def page(self) -> "Page":
        """The page with every table, picture and timeline, to be shown in a notebook: up to 1 MB."""
        return Page(self.report("html"))

    def __reduce__(self) -> tuple[Any, ...]:
        with tempfile.TemporaryDirectory() as folder:
            self.write(pathlib.Path(folder) / "recording")
            files = {path.name: path.read_bytes() for path in (pathlib.Path(folder) / "recording").iterdir()}
        return _restored, (files,)

    # Nothing of a recording changes, so a copy may be the same.
    def __copy__(self) -> "Recording":
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> "Recording":
        return self

    def _repr_html_(self) -> str:
        shown = html.escape(self.report("answers"))[:_MOST_SHOWN]
        return f"<pre>{shown}</pre><p><code>.page()</code> shows its page.</p>"

    def __repr__(self) -> str:
        return repr(self._native)


class Page:
    """A page that a notebook shows."""

    def __init__(self, page: str) -> None:
        #: The page as HTML that needs nothing else.
        self.html = page

    def _repr_html_(self) -> str:
        return frame(self.html, _HEIGHT)

    def __repr__(self) -> str:
        return f"<stopwatt page of {len(self.html)} characters>"


def _restored(files: dict[str, bytes]) -> Recording:
    """A recording from the files of its folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (pathlib.Path(folder) / name).write_bytes(content)
        return Recording(_native.open_recording(folder, True))


def open(folder: Union[str, os.PathLike[str]]) -> Recording:
    """Opens a recording's folder, or the data set of a sweep, whose points are then variants of one recording.

    Raises :class:`stopwatt.Error` if it is none or is damaged: the text names the file and what would be right."""
    return Recording(_native.open_recording(folder))

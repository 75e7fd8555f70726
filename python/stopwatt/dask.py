"""A plan on a Dask cluster: the data set that ``stopwatt sweep`` leaves, byte for byte."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
from typing import TYPE_CHECKING, Any, Iterator, Optional

from . import _native
from ._sweep import MOST_POINTS, File, Sweep, checked, plan_text

if TYPE_CHECKING:
    from distributed import Client


#: What malloc of glibc keeps of memory that was given back, and from what size on it asks the system anew, in ``<malloc.h>``.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
#: Where Dask says what its workers' malloc is to keep.
_TRIM_ENVIRON = "MALLOC_TRIM_THRESHOLD_"


@contextlib.contextmanager
def _memory_kept() -> Iterator[None]:
    """Lets malloc keep memory for the next point. Dask has its workers give each piece back to the system at once, which suits tables that
    are made once; a run asks for the same pieces again, and then takes a third longer."""
    asked = os.environ.get(_TRIM_ENVIRON, "")
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if asked.isdigit() and os.name == "posix" else None
    if mallopt is None:
        yield
        return
    mallopt(_TRIM_THRESHOLD, 1 << 28)
    mallopt(_MMAP_THRESHOLD, 1 << 25)
    try:
        yield
    finally:
        mallopt(_MMAP_THRESHOLD, 1 << 17)
        mallopt(_TRIM_THRESHOLD, int(asked))


def run_chunks(folder: str, chunks: list[int]) -> dict[str, Any]:
    """Runs some chunks of a data set on a worker."""
    with _memory_kept():
        # A task has one of the worker's threads.
        return json.loads(_native.run_sweep(folder, chunks, threads=1))


def sweep(
    client: "Client", plan: File, output: File, *, batch: Optional[int] = None, at_most: int = MOST_POINTS, retries: int = 10
) -> Sweep:
    """Runs every point of a plan that is not there yet on the workers of ``client``, into the folder ``output``, which they must share.

    A task runs ``batch`` chunks; if it is not given, each thread of the cluster gets about eight tasks. A task whose worker was killed runs
    again, ``retries`` times where Dask gives it up; chunks are there whole or not at all, so nothing is lost or doubled. Workers need this
    package at the same version.

    Raises :class:`stopwatt.Error` for a plan that is wrong, or a disk that is full.
    """
    from distributed import KilledWorker, as_completed

    folder = os.path.abspath(output)
    missing, _ = _native.begin_sweep(plan_text(plan), folder, at_most)
    threads = sum(client.nthreads().values()) or 1
    batch = batch or max(1, len(missing) // (8 * threads))
    batches = [missing[first : first + batch] for first in range(0, len(missing), batch)]

    def submit(chunks: list[int]) -> Any:
        return client.submit(run_chunks, folder, chunks, pure=False)

    left = {future: (chunks, retries) for chunks in batches for future in [submit(chunks)]}
    whole: dict[str, Any] = {"points": 0, "chunks": 0, "failures": 0, "failed": [], "complained": 0, "complaints": [], "unwritten": [], "seconds": 0.0}
    running = as_completed(list(left))
    for future in running:
        chunks, tries = left.pop(future)
        try:
            outcome = future.result()
        except KilledWorker:
            # Dask takes a task for guilty whose worker died several times; chance may have hit it.
            if tries == 0:
                raise
            again = submit(chunks)
            left[again] = (chunks, tries - 1)
            running.add(again)
            continue
        for key, value in whole.items():
            whole[key] = value + outcome[key]
    for named in ("failed", "complaints"):
        whole[named].sort(key=lambda point: point["point"])
    return Sweep(folder, checked(whole))

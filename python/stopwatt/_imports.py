"""Recordings of what was measured elsewhere, and fits. Options are those of the command, with ``_`` for ``-``."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
import warnings
from typing import Any, Optional, Union

from . import _native
from ._recording import Recording, open

File = Union[str, "os.PathLike[str]"]


def _options(options: dict[str, object]) -> list[str]:
    arguments: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(flag)
        elif isinstance(value, (list, tuple)):
            arguments.extend(part for one in value for part in (flag, str(one)))
        elif value is not None and value is not False:
            arguments.extend((flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)))
    return arguments


def _import(kind: str, file: File, output: Optional[File], options: dict[str, object]) -> Recording:
    def at(folder: File) -> Recording:
        arguments = ["import", kind, os.fspath(file), "--output", os.fspath(folder), "--format", "json", *_options(options)]
        _, _, noted = _native.command(arguments)
        for line in filter(None, noted.splitlines()):
            warnings.warn(line.removeprefix("warning: "), stacklevel=4)
        return open(folder)

    if output is not None:
        return at(output)
    with tempfile.TemporaryDirectory() as folder:
        return at(pathlib.Path(folder) / "recording")


def import_rt_instr(file: File, output: Optional[File] = None, **options: object) -> Recording:
    """The ``<RT_INSTR:...>`` lines of a UART log. Options: ``platform``, ``variant``, ``lenient``. What is left out is a warning."""
    return _import("rt-instr", file, output, options)


def import_rst(file: File, output: Optional[File] = None, **options: object) -> Recording:
    """The tables of a reStructuredText document. Options: ``platform``, ``prefix``, ``unit``, ``section``, ``as_published``, ``lenient``."""
    return _import("rst", file, output, options)


def import_csv(file: File, output: Optional[File] = None, **options: object) -> Recording:
    """CSV with the columns release, case, mode, cluster, core, metric, value, unit. Options: ``platform``, ``lenient``."""
    return _import("csv", file, output, options)


def import_vpp_runtime(file: File, output: Optional[File] = None, **options: object) -> Recording:
    """VPP's ``show runtime``. Options: ``variant``, ``counter_hz`` (in Hz)."""
    return _import("vpp-runtime", file, output, options)


def import_ftrace(file: File, output: Optional[File] = None, **options: object) -> Recording:
    """A trace of the Linux kernel. Options: ``variant``, ``lenient``."""
    return _import("ftrace", file, output, options)


def calibrate(platform: str = "juno-r1", release: Optional[list[str]] = None, check: bool = True) -> dict[str, Any]:
    """Fits the costs of a platform's releases to their declared cells and returns fits, gates and parameters with standard errors.

    With ``check``, nothing is written, and ``same`` says whether the costs files are what a fresh fit gives; without it, they are written
    into the data's folder, which must be a checkout.
    """
    options = {"platform": platform, "release": release or [], "check": check}
    status, printed, noted = _native.command(["calibrate", "--format", "json", *_options(options)])
    return {**json.loads(printed), "same": status == 0, "differs": noted.strip()}

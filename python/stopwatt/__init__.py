"""Where time and energy go in low-level Arm system software, and why.

An experiment runs and leaves a recording; tables, pictures and comparisons are read from recordings::

    import stopwatt

    recording = stopwatt.run("psci-latency", release="juno-2017")
    recording                                   # in a notebook: its answers
    recording.page()                            # its page, with the timeline
    recording.findings                          # what it found, as an object with types
    recording.measures                          # an Arrow table, taken without a copy by:
    pyarrow.table(recording.measures)
    polars.DataFrame(recording.measures)
    recording.to_pandas()

Nothing but Stopwatt itself is needed to import this; ``to_pandas`` needs pandas and pyarrow, ``stopwatt.dask`` needs dask.distributed,
``stopwatt.sensitivity`` needs SALib.
"""

import atexit
import importlib
import pathlib
import sys
from typing import TYPE_CHECKING

from . import _native
from ._comparison import Comparison, compare
from ._experiments import Experiment, experiments, run
from ._imports import calibrate, import_csv, import_ftrace, import_rst, import_rt_instr, import_vpp_runtime
from ._native import VERSION as __version__
from ._native import DataError, Error, RunError, Table, UsageError
from ._recording import Page, Recording, open
from ._sweep import Sweep, sweep
from ._what_if import WhatIf, what_if

if TYPE_CHECKING:
    from . import findings
else:

    def __getattr__(name):
        # Its many classes take a tenth of a second to make: they are made when they are first asked for.
        if name == "findings":
            return importlib.import_module(".findings", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# A process of Stopwatt's own, in which somebody's loop may crash, is this interpreter with this package.
_START = "import sys; sys.path[0] = sys.argv.pop(1); from stopwatt.__main__ import main; sys.exit(main())"
if sys.executable:
    _native.start_with([sys.executable, "-c", _START, str(pathlib.Path(__file__).resolve().parents[1])])
# Work that Ctrl-C left behind may clear up.
atexit.register(_native.end)

__all__ = [
    "Comparison",
    "DataError",
    "Error",
    "Experiment",
    "Page",
    "Recording",
    "RunError",
    "Sweep",
    "Table",
    "UsageError",
    "WhatIf",
    "__version__",
    "calibrate",
    "compare",
    "experiments",
    "findings",
    "import_csv",
    "import_ftrace",
    "import_rst",
    "import_rt_instr",
    "import_vpp_runtime",
    "open",
    "run",
    "sweep",
    "what_if",
]

"""What-ifs: an experiment with every combination of some settings."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Union

from . import _native
from ._experiments import settings_of, written
from ._recording import Page

if TYPE_CHECKING:
    import pandas

Values = Union[str, Iterable[object]]


class WhatIf:
    """What came out of every combination. It shows its answer, and ``page()`` its page."""

    def __init__(self, arguments: list[str], result: dict[str, Any]) -> None:
        self._arguments = arguments
        #: All of it, as ``stopwatt what-if --format json`` prints it; times are in microseconds.
        self.result = result

    @functools.cached_property
    def text(self) -> str:
        """Answer, chart and table. Every combination is run again for it."""
        return _printed(self._arguments, "term")

    @property
    def points(self) -> list[dict[str, Any]]:
        """The combinations, each with its ``settings``, ``cpus``, ``shortest``, ``median`` and ``longest``."""
        return self.result["points"]

    def to_pandas(self) -> "pandas.DataFrame":
        """A row per combination, with a column for each setting that was varied: numbers, where all its values are. Needs pandas."""
        import pandas

        figures = ("cpus", "shortest", "median", "longest")
        frame = pandas.DataFrame([{**point["settings"], **{name: point[name] for name in figures}} for point in self.points])
        for column in frame.columns.difference(figures):
            numbers = pandas.to_numeric(frame[column], errors="coerce")
            if numbers.notna().all():
                frame[column] = numbers
        return frame

    def page(self) -> Page:
        """The page, with how the CPUs scatter. Every combination is run again for it."""
        return Page(_printed(self._arguments, "html"))

    def __repr__(self) -> str:
        return self.text


def _printed(arguments: list[str], form: str) -> str:
    _, printed, _ = _native.command([*arguments, "--format", form])
    return printed


def what_if(experiment: str, vary: Mapping[str, Values], metric: str | None = None, **settings: object) -> WhatIf:
    """Runs an experiment with every combination of some settings, and says what came out.

    ``vary`` has keys with their values: settings of the experiment, or keys of the platform::

        stopwatt.what_if("psci-latency", {"scp.channels": [1, 2, 4], "topology.clusters": "1..16"})

    A text is taken as the command takes it; ``1..16`` stands for 1, 2, and so on to 16. Settings that hold for all are keywords.

    Raises :class:`stopwatt.Error` with the text that ``stopwatt what-if`` prints.
    """
    arguments = ["what-if", experiment]
    for key, values in vary.items():
        text = values if isinstance(values, str) else ",".join(str(value) for value in values)
        arguments.extend(("--vary", f"{key if '.' in key else key.replace('_', '-')}={text}"))
    if metric is not None:
        arguments.extend(("--metric", metric))
    with written(settings) as given:
        for name, value in settings_of({name: value for name, value in given.items() if value is not False}):
            if "." in name:
                arguments.extend(("--set", f"{name}={value}"))
            elif given.get(name.replace("-", "_"), given.get(name)) is True:
                arguments.append(f"--{name}")
            else:
                arguments.extend((f"--{name}", value))
        return WhatIf(arguments, json.loads(_printed(arguments, "json")))

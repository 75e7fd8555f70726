"""Experiments, from their own descriptions: one that is added to Stopwatt is here without a line of Python."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import keyword
import pathlib
import tempfile
import textwrap
from typing import Any, Iterable, Iterator, Mapping, Optional

from . import _native
from ._progress import Shown
from ._recording import Recording


def _texts(value: object) -> list[str]:
    """A setting's value as the command line has it; more than one for what may be given again."""
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, (list, tuple)):
        return [text for one in value for text in _texts(one)]
    if isinstance(value, float) and value.is_integer():
        return [repr(value)]
    return [str(value)]


def settings_of(given: Mapping[str, object]) -> list[tuple[str, str]]:
    """Names and values of settings; ``free_seeds`` is ``free-seeds``, ``for_`` is ``for``, and a dotted name is a key of the platform."""
    pairs = []
    for name, value in given.items():
        if value is None:
            continue
        name = name if "." in name else name.rstrip("_").replace("_", "-")
        if isinstance(value, Mapping):
            pairs.extend((name, f"{key}={text}") for key, one in value.items() for text in _texts(one))
        else:
            pairs.extend((name, text) for text in _texts(value))
    return pairs


@contextlib.contextmanager
def written(given: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Settings in whose place of a path a recording may stand: it is written to a folder meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        number = 0

        def path_of(value: object) -> object:
            nonlocal number
            if isinstance(value, (list, tuple)):
                return [path_of(one) for one in value]
            if not isinstance(value, Recording):
                return value
            number += 1
            path = pathlib.Path(folder) / str(number)
            value.write(path)
            return path

        yield {name: path_of(value) for name, value in given.items()}


def run(
    experiment: str,
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> Recording:
    """Runs an experiment and returns its recording, which is in memory until it is written.

    ``experiment`` is a name of :func:`experiments`, ``world`` one of its worlds (the first if not given). What it is told stands in
    ``settings`` or as keywords, with ``_`` for ``-``; a list gives a setting again, a dotted name sets a key of the platform, and where
    a path is asked for a :class:`Recording` may stand::

        stopwatt.run("psci-latency", platform="juno-r1", release=["juno-2017"], settings={"scp.channels": 2}, seed=7)

    The GIL is released, and Ctrl-C stops the run. A run that takes more than a second shows its progress in a notebook or a terminal;
    ``progress=False`` keeps it quiet, and a callable is called with steps done, steps in all (0 if not known) and what is going on.

    Raises :class:`stopwatt.Error` with the text that ``stopwatt run`` prints.
    """
    with written({**(settings or {}), **more}) as given, Shown(progress) as shown:
        return Recording(_native.run(experiment, world, settings_of(given), shown))


class Experiment:
    """An experiment: call it to run it. ``help()`` of it, or ``?`` in a notebook, shows its settings."""

    def __init__(self, about: dict[str, Any]) -> None:
        self.name: str = about["name"]
        self.title: str = about["title"]
        self.cases: list[str] = about["cases"]
        self.worlds: list[str] = [world["name"] for world in about["worlds"]]
        self.settings: dict[str, dict[str, Any]] = {setting["name"]: setting for setting in about["settings"]}
        self.__name__ = self.name.replace("-", "_")
        self.__doc__ = self._described()
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters = [
            inspect.Parameter(f"{name.replace('-', '_')}{'_' * keyword.iskeyword(name)}", kind, default=setting["default"])
            for name, setting in self.settings.items()
        ]
        world = inspect.Parameter("world", kind, default=self.worlds[0])
        self.__signature__ = inspect.Signature([world, *parameters], return_annotation=Recording)

    def _described(self) -> str:
        lines = [f"{self.title}.", "", f"Worlds: {', '.join(self.worlds)}.", ""]
        for name, setting in self.settings.items():
            unit = f" In {setting['unit']}." if setting["unit"] else ""
            default = f" Default: {setting['default']}." if setting["default"] is not None else ""
            where = f" Only in {', '.join(setting['worlds'])}." if setting["worlds"] else ""
            text = f"{setting['about']}{unit}{default}{where}"
            lines.append(f"{name.replace('-', '_')}:")
            lines.extend(textwrap.wrap(text, 96, initial_indent="    ", subsequent_indent="    "))
        return "\n".join(lines)

    def __call__(self, **settings: Any) -> Recording:
        return run(self.name, **settings)

    def __repr__(self) -> str:
        return f"<stopwatt.Experiment {self.name}: {self.title}>"


class Experiments(Mapping[str, Experiment]):
    """All experiments by their names; ``experiments().psci_latency`` is ``experiments()["psci-latency"]``."""

    def __init__(self, all: Iterable[Experiment]) -> None:
        self._all = {experiment.name: experiment for experiment in all}

    def __getitem__(self, name: str) -> Experiment:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __getattr__(self, name: str) -> Experiment:
        try:
            return self._all[name.replace("_", "-")]
        except KeyError:
            raise AttributeError(f"there is no experiment {name}; there are: {', '.join(self._all)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name.replace("-", "_") for name in self._all)]

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {experiment.title}" for name, experiment in self._all.items())


@functools.cache
def experiments() -> Experiments:
    """Every experiment, with its worlds, cases and settings."""
    _, printed, _ = _native.command(["list", "--format", "json"])
    return Experiments(Experiment(about) for about in json.loads(printed)["experiments"])

"""Writes the types of the experiments, from their own descriptions: python stubs.py > stopwatt/_experiments.pyi

Needs the package to be installed. An experiment that is added, or a setting, comes here without a line by hand.
"""

import json
import textwrap

from stopwatt import _native

HEAD = '''"""Experiments, each with its settings. Written by python/stubs.py from the experiments' descriptions."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Optional, Union

from ._recording import Recording

Path = Union[str, os.PathLike[str], Recording]

def settings_of(given: Mapping[str, object]) -> list[tuple[str, str]]: ...
def written(given: Mapping[str, object]) -> AbstractContextManager[dict[str, object]]: ...
def run(
    experiment: str,
    *,
    world: Optional[str] = None,
    settings: Optional[Mapping[str, object]] = None,
    progress: object = None,
    **more: object,
) -> Recording: ...

class Experiment:
    name: str
    title: str
    cases: list[str]
    worlds: list[str]
    settings: dict[str, dict[str, Any]]
    def __call__(self, **settings: Any) -> Recording: ...
'''


def type_of(setting):
    """The type of a setting's value; a text may stand for any number, as on the command line, but not for a word that is none."""
    if setting["kind"] == "number":
        return "float" if "." in (setting["default"] or "") else "int"
    if setting["kind"] == "choice":
        return f"Literal[{', '.join(repr(choice) for choice in setting['choices'])}]".replace("'", '"')
    return {
        "switch": "bool",
        "platform": "Path",
        "path": "Path",
        "releases": "Union[str, Sequence[str]]",
        "keys": "Union[str, Sequence[str], Mapping[str, object]]",
    }.get(setting["kind"], "Union[str, float, Sequence[Union[str, float]]]")


def class_name(name):
    return "_" + "".join(word.capitalize() for word in name.split("-"))


def experiment_class(about):
    worlds = ", ".join(f'"{world["name"]}"' for world in about["worlds"])
    parameters = [f"world: Optional[Literal[{worlds}]] = None"]
    for setting in about["settings"]:
        parameters.append(f"{setting['name'].replace('-', '_')}: Optional[{type_of(setting)}] = None")
    parameters.append("settings: Optional[Mapping[str, object]] = None")
    parameters.append("progress: object = None")
    listed = textwrap.indent(",\n".join(parameters), " " * 8)
    return f"\nclass {class_name(about['name'])}(Experiment):\n    def __call__(  # type: ignore[override]\n        self,\n        *,\n{listed},\n    ) -> Recording: ...\n"


def stubs():
    """The text of ``stopwatt/_experiments.pyi``."""
    _, printed, _ = _native.command(["list", "--format", "json"])
    abouts = json.loads(printed)["experiments"]
    properties = "".join(
        f"    @property\n    def {about['name'].replace('-', '_')}(self) -> {class_name(about['name'])}: ...\n" for about in abouts
    )
    return (
        HEAD
        + "".join(experiment_class(about) for about in abouts)
        + f"\nclass Experiments(Mapping[str, Experiment]):\n{properties}"
        + "    def __getitem__(self, name: str) -> Experiment: ...\n    def __iter__(self) -> Iterator[str]: ...\n"
        + "    def __len__(self) -> int: ...\n\ndef experiments() -> Experiments: ...\n"
    )


if __name__ == "__main__":
    print(stubs(), end="")

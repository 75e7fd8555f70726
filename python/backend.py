"""Builds the wheel with maturin, and writes the types of the experiments and of their findings into it: stopwatt/*.pyi.

`pip install ./python` and `cargo xtask` build with it. The types come from the extension's own descriptions, so the wheel is packed
twice: the extension of the first writes them, and the second has them. Cargo builds once.
"""

import json
import keyword
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import zipfile

if __name__ != "__main__":
    import maturin
    from maturin import build_editable, build_sdist, prepare_metadata_for_build_wheel  # noqa: F401 (steps of a build, as they are)

ROOT = pathlib.Path(__file__).parent

HEAD = '''"""Experiments, each with its settings. Written by python/backend.py from the experiments' descriptions."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Optional, Union, overload

from . import findings
from ._recording import Recording

Path = Union[str, os.PathLike[str], Recording]

def settings_of(given: Mapping[str, object]) -> list[tuple[str, str]]: ...
def written(given: Mapping[str, object]) -> AbstractContextManager[dict[str, object]]: ...

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


def recording_class(name, found):
    """A recording of an experiment, whose findings have one of some classes."""
    kinds = [f"findings.{one}" for one in found]
    kind = kinds[0] if len(kinds) == 1 else f"Union[{', '.join(kinds)}]"
    return f"\nclass {class_name(name)}Recording(Recording):\n    @property\n    def findings(self) -> {kind}: ...\n"


def run_of(experiment, recording):
    return (
        f"\n@overload\ndef run(\n    experiment: {experiment},\n    *,\n    world: Optional[str] = None,\n"
        "    settings: Optional[Mapping[str, object]] = None,\n    progress: object = None,\n    **more: object,\n"
        f") -> {recording}: ...\n"
    )


def experiment_class(about, recording):
    worlds = ", ".join(f'"{world["name"]}"' for world in about["worlds"])
    parameters = [f"world: Optional[Literal[{worlds}]] = None"]
    for setting in about["settings"]:
        parameters.append(f"{setting['name'].replace('-', '_')}{'_' * keyword.iskeyword(setting['name'])}: Optional[{type_of(setting)}] = None")
    parameters.append("settings: Optional[Mapping[str, object]] = None")
    parameters.append("progress: object = None")
    listed = textwrap.indent(",\n".join(parameters), " " * 8)
    return f"\nclass {class_name(about['name'])}(Experiment):\n    def __call__(  # type: ignore[override]\n        self,\n        *,\n{listed},\n    ) -> {recording}: ...\n"


def stubs(experiments, schema):
    """The text of ``stopwatt/_experiments.pyi``."""
    abouts = experiments["experiments"]
    found = {}
    for kind, names in schema["experiments"].items():
        for name in names:
            found.setdefault(name, []).append(kind)
    recordings = {about["name"]: f"{class_name(about['name'])}Recording" if about["name"] in found else "Recording" for about in abouts}
    properties = "".join(
        f"    @property\n    def {about['name'].replace('-', '_')}(self) -> {class_name(about['name'])}: ...\n" for about in abouts
    )
    return (
        HEAD
        + "".join(recording_class(about["name"], found[about["name"]]) for about in abouts if about["name"] in found)
        + "".join(run_of(f'Literal["{name}"]', recording) for name, recording in recordings.items() if name in found)
        + run_of("str", "Recording")
        + "".join(experiment_class(about, recordings[about["name"]]) for about in abouts)
        + f"\nclass Experiments(Mapping[str, Experiment]):\n{properties}"
        + "    def __getitem__(self, name: str) -> Experiment: ...\n    def __iter__(self) -> Iterator[str]: ...\n"
        + "    def __len__(self) -> int: ...\n\ndef experiments() -> Experiments: ...\n"
    )


def write_types():
    """Writes the types that the installed package, or the wheel on PYTHONPATH, describes."""
    from stopwatt import _native, _schema

    schema = json.loads(_native.findings_schema())
    (ROOT / "stopwatt/_experiments.pyi").write_text(stubs(json.loads(_native.command(["list", "--format", "json"])[1]), schema))
    (ROOT / "stopwatt/findings.pyi").write_text(_schema.Schema(schema).text())


def build_wheel(folder, settings=None, metadata=None):
    with tempfile.TemporaryDirectory() as first:
        wheel = pathlib.Path(first) / maturin.build_wheel(first, settings, metadata)
        zipfile.ZipFile(wheel).extractall(first)
        subprocess.run([sys.executable, __file__], env={**os.environ, "PYTHONPATH": first}, check=True)
    return maturin.build_wheel(folder, settings, metadata)


if __name__ == "__main__":
    # The folder of this file: its `stopwatt` has no extension.
    sys.path.pop(0)
    write_types()

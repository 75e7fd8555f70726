"""Writes the types of the experiments, from their own descriptions, and the classes of their findings: python stubs.py [stopwatt]

Needs the package to be installed. An experiment that is added, a setting, or a field of a finding comes here without a line by hand.
"""

import json
import keyword
import pathlib
import re
import sys
import textwrap

if __name__ == "__main__":
    # The package's own files, which lie beside this one, must not be what is imported.
    sys.path.pop(0)
from stopwatt import _native

HEAD = '''"""Experiments, each with its settings. Written by python/stubs.py from the experiments' descriptions."""

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
        parameters.append(f"{setting['name'].replace('-', '_')}: Optional[{type_of(setting)}] = None")
    parameters.append("settings: Optional[Mapping[str, object]] = None")
    parameters.append("progress: object = None")
    listed = textwrap.indent(",\n".join(parameters), " " * 8)
    return f"\nclass {class_name(about['name'])}(Experiment):\n    def __call__(  # type: ignore[override]\n        self,\n        *,\n{listed},\n    ) -> {recording}: ...\n"


def stubs():
    """The text of ``stopwatt/_experiments.pyi``."""
    _, printed, _ = _native.command(["list", "--format", "json"])
    abouts = json.loads(printed)["experiments"]
    found = {}
    for kind, names in json.loads(_native.findings_schema())["experiments"].items():
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


FINDINGS_HEAD = '''"""What experiments found: the classes of :attr:`stopwatt.Recording.findings`. Written by python/stubs.py from their schema.

A class has the name of its experiment, and its parts begin with that name; parts of several experiments have none before their own. A
field is a key of the JSON that ``stopwatt report --format json`` prints. One whose key is a keyword of Python, such as ``from``, has a
``_`` behind it. One that the JSON leaves out is None, 0 or empty. A number that is not finite is null in JSON, and ``nan`` here. Keys of
an object that differ from recording to recording, such as percentiles, are in ``by_name``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Union

'''


def words(schema, indent):
    """The description of a class or a field as a docstring on lines of its own, or nothing."""
    text = re.sub(r"\[(`[^`]*`)\]", r"\1", schema.get("description", ""))
    if not text:
        return ""
    lines = [line for part in text.split("\n\n") for line in [*textwrap.wrap(part, 120 - indent), ""]][:-1]
    end = "\n" + " " * indent if len(lines) > 1 else ""
    return textwrap.indent('"""' + "\n".join(lines), " " * indent) + end + '"""\n'


class Findings:
    """The classes of a schema."""

    def __init__(self, schema):
        self.parts = schema["$defs"]
        found = {name: one for of in schema["oneOf"] for name, one in of["properties"].items()}
        self.roots = {name: self.part_of(one) for name, one in found.items()}
        inside = {name: list(dict.fromkeys(self.below(one))) for name, one in found.items()}
        #: The classes in their order: each finding with its parts, then the parts of several.
        self.names = {}
        for root, parts in inside.items():
            for part in parts:
                alone = sum(part in others for others in inside.values()) == 1
                name = re.sub(r"\d+$", "", part)
                if part == self.roots[root]:
                    name = root
                elif alone and not name.startswith(root):
                    name = root + name
                self.names[part] = name
                if not alone:
                    self.names[part] = self.names.pop(part)
        if len(set(self.names.values())) < len(self.names):
            raise ValueError(f"two classes have one name: {sorted(self.names.values())}")

    def part_of(self, schema):
        return schema["$ref"].rpartition("/")[2] if "$ref" in schema else None

    def fields_of(self, part):
        """The fields of a class, those that are always there first, in Rust's order."""
        fields, required = self.parts[part].get("properties", {}), self.parts[part].get("required", [])
        return {key: fields[key] for key in [*required, *(key for key in fields if key not in required)]}

    def below(self, schema):
        """The parts in a schema that are classes, each before those in it."""
        if part := self.part_of(schema):
            fields = self.fields_of(part)
            if fields:
                yield part
            schema = {"allOf": list(fields.values())} if fields else self.parts[part]
        values = [schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", []), *schema.get("allOf", [])]
        for value in values:
            if isinstance(value, dict):
                yield from self.below(value)

    def type_of(self, schema):
        """The type of a value, as an annotation."""
        kind = schema.get("type")
        if part := self.part_of(schema):
            return self.names.get(part) or self.type_of(self.parts[part])
        if isinstance(kind, list):
            return self.union([self.type_of({**schema, "type": one}) for one in kind])
        if "anyOf" in schema:
            return self.union([self.type_of(one) for one in schema["anyOf"]])
        if kind == "array" and "maxItems" in schema:
            items = schema.get("prefixItems") or [schema["items"]] * schema["maxItems"]
            return f"tuple[{', '.join(map(self.type_of, items))}]"
        if kind == "array":
            return f"list[{self.type_of(schema['items'])}]"
        if kind == "object":
            return f"dict[str, {self.type_of(schema['additionalProperties'])}]"
        return {"string": "str", "number": "float", "integer": "int", "boolean": "bool", "null": "None"}[kind]

    def union(self, types):
        inner = [one for one in dict.fromkeys(types) if one != "None" and not (one == "int" and "float" in types)]
        union = inner[0] if len(inner) == 1 else f"Union[{', '.join(inner)}]"
        return f"Optional[{union}]" if "None" in types else union

    def default_of(self, kind, field):
        """The default of a field that may be left out: None, or what is empty or 0."""
        if kind.startswith(("list", "dict")):
            return f"field(default_factory={kind[:4]})"
        if kind.startswith("tuple"):
            return repr(tuple(field["default"]))
        return "None" if kind.startswith("Optional") else repr(field.get("default", 0))

    def class_of(self, part):
        required = self.parts[part].get("required", [])
        lines = []
        for key, field in self.fields_of(part).items():
            kind = self.type_of(field)
            default = "" if key in required else f" = {self.default_of(kind, field)}"
            if key == "by_name":
                raise ValueError(f"{part} has a key `by_name`, which is the name of what has other keys")
            lines.append(f"    {key}{'_' * keyword.iskeyword(key)}: {kind}{default}\n{words(field, 4)}")
        if more := self.parts[part].get("additionalProperties"):
            about = {"description": "The values whose keys differ from recording to recording, by key."}
            lines.append(f"    by_name: dict[str, {self.type_of(more)}]\n{words(about, 4)}")
        head = f"\n@dataclass(frozen=True, kw_only=True)\nclass {self.names[part]}:\n"
        return f"{head}{words(self.parts[part], 4)}\n{''.join(lines)}\n"

    def text(self):
        unions = {name: self.type_of(self.parts[part]) for name, part in self.roots.items() if part not in self.names}
        return (
            FINDINGS_HEAD
            + "".join(self.class_of(part) for part in self.names)
            + "".join(f"\n{name} = {union}\n{words(self.parts[self.roots[name]], 0)}" for name, union in unions.items())
            + "\nFindings = Union[\n" + "".join(f"    {name},\n" for name in self.roots) + "]\n"
            + '"""What any experiment found."""\n'
        )


def files():
    """The text of each file that is written, by its name."""
    return {"_experiments.pyi": stubs(), "findings.py": Findings(json.loads(_native.findings_schema())).text()}


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "stopwatt"
    for name, text in files().items():
        (folder / name).write_text(text)

"""The classes of :mod:`stopwatt.findings`, as the text of a module, from the schema of the findings."""

import keyword
import re
import textwrap

_HEAD = '''"""What experiments found: the classes of :attr:`stopwatt.Recording.findings`.

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


class Schema:
    """The findings' schema, and the classes that it describes."""

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
            _HEAD
            + "".join(self.class_of(part) for part in self.names)
            + "".join(f"\n{name} = {union}\n{words(self.parts[self.roots[name]], 0)}" for name, union in unions.items())
            + "\nFindings = Union[\n" + "".join(f"    {name},\n" for name in self.roots) + "]\n"
            + '"""What any experiment found."""\n'
        )

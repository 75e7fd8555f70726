"""Findings from their JSON."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import typing
from collections.abc import Callable
from typing import Any

from . import _native, findings

_Reader = Callable[[Any, str], Any]


def read(text: str) -> findings.Findings:
    """The finding of a JSON object whose one key is the name of the finding's class."""
    ((name, value),) = json.loads(text).items()
    return typing.cast(findings.Findings, _reader(getattr(findings, name))(value, name))


def _wrong(at: str, what: str) -> _native.DataError:
    return _native.DataError(f"{at} {what}, which `stopwatt.findings` does not describe")


@functools.cache
def _reader(kind: Any) -> _Reader:
    """A function that makes a value of a type, and is told where the value stands."""
    of = [_reader(one) for one in typing.get_args(kind)]
    if dataclasses.is_dataclass(kind):
        return functools.partial(_object, kind)
    if typing.get_origin(kind) is typing.Union:
        return functools.partial(_union, of)
    if typing.get_origin(kind) is list:
        return lambda value, at: [of[0](one, at) for one in _plain(list, value, at)]
    if typing.get_origin(kind) is dict:
        return lambda value, at: {key: of[1](one, f"{at}.{key}") for key, one in _plain(dict, value, at).items()}
    if typing.get_origin(kind) is tuple:
        return functools.partial(_tuple, of)
    return _float if kind is float else functools.partial(_plain, kind)


def _plain(kind: Any, value: Any, at: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _wrong(at, f"is {value!r}")
    return value


def _tuple(of: list[_Reader], value: Any, at: str) -> tuple[Any, ...]:
    if len(_plain(list, value, at)) != len(of):
        raise _wrong(at, f"has {len(value)} values")
    return tuple(read(one, at) for read, one in zip(of, value))


def _float(value: Any, at: str) -> float:
    # JSON has no word for a number that is not finite.
    return math.nan if value is None else float(_plain((int, float), value, at))


def _union(of: list[_Reader], value: Any, at: str) -> Any:
    wrong = None
    # `None` is the last of the types, and would be `nan` to the first.
    for read in reversed(of):
        try:
            return read(value, at)
        except _native.DataError as error:
            wrong = error
    raise wrong or _wrong(at, f"is {value!r}")


@functools.cache
def _fields(kind: Any) -> dict[str, tuple[str, Any, bool]]:
    """The fields of a class by their keys in JSON: name, type, and whether one must be there."""
    types = typing.get_type_hints(kind)
    missing = dataclasses.MISSING
    return {
        field.name.rstrip("_"): (field.name, types[field.name], field.default is missing and field.default_factory is missing)
        for field in dataclasses.fields(kind)
    }


def _object(kind: Any, value: Any, at: str) -> Any:
    fields = _fields(kind)
    if "by_name" in fields:
        more = {key: one for key, one in _plain(dict, value, at).items() if key not in fields}
        value = {key: one for key, one in value.items() if key in fields} | {"by_name": more}
    for key in _plain(dict, value, at).keys() - fields.keys():
        raise _wrong(at, f"has a key `{key}`")
    for key, (_, _, must) in fields.items():
        if must and key not in value:
            raise _wrong(at, f"lacks the key `{key}`")
    made = {fields[key][0]: _reader(fields[key][1])(one, f"{at}.{key}") for key, one in value.items()}
    return kind(**made)

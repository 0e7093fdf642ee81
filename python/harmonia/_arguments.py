"""What functions of the package take, as the simulator takes it."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _native
from ._scenario import Scenario, toml
from ._tables import KEPT

#: What stands for a scenario: a `Scenario`, a name, a path, TOML text, or a mapping of keys.
Source = str | os.PathLike[str] | Mapping[str, object] | Scenario

#: The files of a block trace: one, or several that are read as one; patterns of names too.
Trace = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

#: What would be read as more than one value of a set.
MANY = re.compile(r"[,\[\]{}\"']")


def traced(trace: Trace | None, format: str | None) -> tuple[list[str], str | None] | None:
    """Files and format."""
    if trace is None:
        if format is not None:
            raise TypeError("format: needs a trace")
        return None
    return files(trace), format


def files(trace: Trace) -> list[str]:
    """The names of the files."""
    return [os.fspath(file) for file in ([trace] if isinstance(trace, (str, os.PathLike)) else trace)]


def cached(wanted: bool) -> str | None:
    """The folder the command line uses too; none if there is no home."""
    places = [os.environ.get("XDG_CACHE_HOME", ""), os.path.join(os.environ.get("HOME", ""), ".cache")]
    absolute = [place for place in places if os.path.isabs(place)]
    return os.path.join(absolute[0], "harmonia", "aged") if wanted and absolute else None


def parallel(threads: int | None) -> int:
    """How many threads."""
    return threads if threads is not None else os.cpu_count() or 1


def kept(requests: bool | int) -> int | None:
    """How many requests are kept; none of them, and no intervals either, if that is not wanted."""
    if isinstance(requests, bool):
        return KEPT if requests else None
    if requests < 0:
        raise ValueError(f"requests={requests}: True, False, or the most requests to keep")
    return requests


def pairs(sets: Mapping[str, object] | Iterable[str]) -> list[str]:
    """``key=value`` of each set. Several values are given in a list; they sweep."""
    if isinstance(sets, str):
        raise TypeError("sets: a mapping or a list of 'key=value', not one string")
    if isinstance(sets, Mapping):
        return [f"{key}={_values(key, value)}" for key, value in sets.items()]
    return list(sets)


def _values(key: str, value: object) -> str:
    if not isinstance(value, (list, tuple)):
        return _value(value)
    if not value:
        raise ValueError(f"sets: {key} has an empty list of values")
    if _takes_lists(key) and not any(isinstance(one, (list, tuple)) for one in value):
        return toml(value)
    return ",".join(_one(one) for one in value)


def _one(value: object) -> str:
    """One of several values: quoted where a comma in it would separate."""
    if isinstance(value, (list, tuple, Mapping)) or (isinstance(value, str) and MANY.search(value)):
        return toml(value)
    return _value(value)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else toml(value) if isinstance(value, Mapping) else str(value)


@functools.cache
def _schema() -> dict[str, Any]:
    described: dict[str, Any] = json.loads(_native.schema_json())
    return described


def _takes_lists(key: str) -> bool:
    """Whether a value of this key may be a list."""
    node: Any = _schema()
    for part in key.split("."):
        inner = node.get("properties", {}).get(part) or node.get("additionalProperties")
        if not isinstance(inner, dict):
            return False
        node = inner
    return any(choice.get("type") == "array" for choice in [node, *node.get("anyOf", [])])

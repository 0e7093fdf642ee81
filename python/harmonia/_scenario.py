"""Scenarios as values: where one comes from, what was changed, and the same messages in Python's words."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, time
from typing import ParamSpec, TypeVar

from . import _native

P = ParamSpec("P")
T = TypeVar("T")

#: A key that TOML takes without quotes.
BARE = re.compile(r"[A-Za-z0-9_-]+")


class Scenario:
    """A scenario that was checked, and that can be changed.

    >>> small = Scenario("tiny", seed=2, array={"devices": 4})
    >>> large = small.with_({"array.devices": 8, "ssd.gc.victim": "fifo"})

    ``source`` is the name of a built-in scenario, a path, the text of a scenario file (anything with a line break), a
    mapping of its keys, or another scenario. Without one, the keys alone are the scenario. A file is read again at
    every use. Keys are given by name. A mapping as a value changes the keys that it names and leaves the others.

    Raises BadInput for what cannot be simulated.
    """

    __slots__ = ("_source", "_changes", "_toml")

    _source: tuple[str, bool]
    _changes: dict[str, object]
    _toml: str

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, object] | Scenario | None = None,
        /,
        **keys: object,
    ) -> None:
        if isinstance(source, Scenario):
            self._source, self._changes = source._source, dict(source._changes)
        elif source is None:
            self._source, self._changes = (_document(keys), True), {}
            keys = {}
        elif isinstance(source, Mapping):
            self._source, self._changes = (_document(source), True), {}
        else:
            self._source, self._changes = written(source), {}
        for key, value in flat(keys):
            # The last change is the last one applied.
            self._changes.pop(key, None)
            self._changes[key] = value
        self._toml = speaking(_native.check, self._source, self._sets(), None)

    def with_(self, changes: Mapping[str, object] | None = None, /, **keys: object) -> Scenario:
        """A scenario with these keys changed: ``with_(seed=2)``, or by their path ``with_({"array.devices": 4})``."""
        return Scenario(self, **{**(changes or {}), **keys})

    def to_toml(self) -> str:
        """The scenario as a file, with every key written out."""
        return self._toml

    def _sets(self) -> list[str]:
        return [f"{key}={toml(value)}" for key, value in self._changes.items()]

    def __repr__(self) -> str:
        changes = f".with_({self._changes!r})" if self._changes else ""
        return f"Scenario({self._source[0]!r}){changes}"

    def __eq__(self, other: object) -> bool:
        return self._toml == other._toml if isinstance(other, Scenario) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._toml)


def written(scenario: str | os.PathLike[str]) -> tuple[str, bool]:
    """What was written, and whether that is the text itself."""
    return os.fspath(scenario), isinstance(scenario, str) and "\n" in scenario


def opened(scenario: str | os.PathLike[str] | Mapping[str, object] | Scenario) -> tuple[tuple[str, bool], list[str]]:
    """The source of a scenario, and its own changes as sets. Nothing is checked that was not yet."""
    if isinstance(scenario, Scenario):
        return scenario._source, scenario._sets()
    if isinstance(scenario, Mapping):
        return (_document(scenario), True), []
    return written(scenario), []


def speaking(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Calls the simulator; what it refuses is said without the flags of the command line."""
    try:
        return call(*args, **kwargs)
    except _native.BadInput as error:
        error.args = (without_flags(str(error)),)
        raise


def without_flags(message: str) -> str:
    """A message as one would say it in Python: ``array.devices=0`` for ``--set array.devices=0``."""
    message = message.replace("--set flags", "sets")
    message = re.sub(r"--set (?=['\w.-]+\s*[=:])", "", message)
    message = message.replace("--set", "set")
    message = message.replace("`harmonia reproduce --list`", "`harmonia.claims()`")
    message = re.sub(r"`harmonia (policies|presets)`", r"`harmonia.\1()`", message)
    message = message.replace("`harmonia formats`", "`harmonia.trace.formats()`")
    message = re.sub(r"--([a-z]+) (\d+)", r"\1=\2", message)
    # Other flags are arguments of the same name.
    return re.sub(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)", lambda flag: flag[1].replace("-", "_"), message)


def _document(keys: Mapping[str, object]) -> str:
    return "".join(f"{key} = {toml(value)}\n" for key, value in flat(keys)) or "\n"


def flat(keys: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    """Keys by their path from the root, tables by the keys in them."""
    for key, value in keys.items():
        if not isinstance(key, str):
            raise TypeError(f"the key {key!r}: a string, not {type(key).__name__}")
        if not all(BARE.fullmatch(part) for part in key.split(".")):
            raise ValueError(f"{key!r} is not a key: letters, digits, `_` and `-`, with dots between them")
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{above}{key}.")
        else:
            yield above + key, value


def toml(value: object) -> str:
    """A value as TOML, on one line."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(int(value))
        case float():
            return repr(float(value))
        case os.PathLike():
            return toml(os.fspath(value))
        case str():
            # JSON's escapes are TOML's, but for pairs of surrogates and DEL.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case date() | time():
            return value.isoformat()
        case Mapping():
            return "{" + ", ".join(f"{key} = {toml(of)}" for key, of in flat(value)) + "}"
        case Sequence():
            return "[" + ", ".join(toml(of) for of in value) + "]"
    if hasattr(value, "item"):  # A scalar of NumPy.
        return toml(value.item())
    raise TypeError(f"{value!r}: a scenario has no values of the type {type(value).__name__}")

"""Simulate garbage collection in arrays of SSDs and compare ways of coordinating it.

>>> import harmonia
>>> report = harmonia.run("tiny")
>>> report["host"]["response_ns"]["all"]["mean"]            # doctest: +SKIP
>>> comparison = harmonia.compare("hpc-w", policies=["local", "reactive-inclusive", "ideal"])   # doctest: +SKIP

A scenario is a `Scenario`, the name of a built-in one, a path, its TOML text (anything with a line break is text), or
a mapping of its keys; docs/scenario.md lists them. Results are the reports that ``harmonia run --json`` prints, as
dictionaries whose keys are attributes too. What to know before believing them is a `HarmoniaWarning`.
The same seed gives the same report, whatever the number of threads.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from . import _native, trace as trace
from ._arguments import Source, Trace
from ._arguments import cached as _cache
from ._arguments import kept as _kept
from ._arguments import pairs as _sets
from ._arguments import parallel as _threads
from ._arguments import traced as _trace
from ._native import BadInput
from ._research import Tuning, claims, presets, reproduce, tune
from ._results import Comparison, HarmoniaWarning, NotKept, Report, Section, comparison_of, load, report_of
from ._scenario import Scenario, opened, speaking
from ._tables import Table

__all__ = [
    "BadInput",
    "Comparison",
    "HarmoniaWarning",
    "NotKept",
    "Report",
    "Scenario",
    "Section",
    "Source",
    "Table",
    "Trace",
    "Tuning",
    "check",
    "claims",
    "compare",
    "load",
    "policies",
    "presets",
    "replicate",
    "reproduce",
    "run",
    "schema",
    "trace",
    "tune",
    "version",
]

#: The version of Harmonia.
version: str = _native.version


def run(
    scenario: Source,
    *,
    sets: Mapping[str, object] | Iterable[str] = (),
    trace: Trace | None = None,
    format: str | None = None,
    requests: bool | int = True,
    threads: int | None = None,
    checked: bool = False,
    cache: bool = True,
) -> Report:
    """Simulate one scenario and return its report.

    ``sets`` changes keys, as ``{"array.devices": 4}`` or ``["array.devices=4"]``; in `compare` a list of values sweeps,
    as ``{"array.devices": [2, 4]}``, but for keys whose value is a list. ``trace`` replaces the load by a
    block trace: a file, plain or packed, a pattern of names, or several of them, which are read as one, merged by
    time (``format`` is detected if not given; ``sets`` has the rest, as ``{"workload.time_unit": "us"}``). What was
    passed over, mended or tolerated stands in the report's ``trace``. ``threads`` defaults to one per core. ``checked`` checks
    every invariant after every event, slowly. ``requests`` is how many requests are kept for `Report.requests`, over all
    runs of the call: True is 10 million, and False keeps none, nor intervals of collection. ``cache`` keeps aged arrays in the user's cache folder, as the command
    line does (``harmonia cache``); no result depends on it.

    Raises BadInput if what was asked for cannot be done, and stops on Ctrl-C.
    """
    source, own = opened(scenario)
    changes, keep = own + _sets(sets), _kept(requests)
    text, tables = speaking(
        _native.run, source, changes, _trace(trace, format), keep, _threads(threads), checked, _cache(cache)
    )
    return report_of(text, tables)


def compare(
    scenario: Source,
    *,
    policies: Iterable[str] | None = None,
    seeds: int | None = None,
    sets: Mapping[str, object] | Iterable[str] = (),
    trace: Trace | None = None,
    format: str | None = None,
    requests: bool | int = True,
    threads: int | None = None,
    checked: bool = False,
    cache: bool = True,
) -> Comparison:
    """Simulate one scenario under several coordination policies, all on copies of the same aged array.

    Without ``policies`` every coordination policy is tried that can win on this array. ``ideal`` stands for local
    coordination with garbage collection that takes no time. Reports come in the order of ``policies``; each has its
    name under ``label``. A list of values in ``sets`` sweeps, as does a
    comma: each value becomes a report of its own. Without ``seeds`` a comparison that takes only seconds runs with
    10, others with one. With several, each has an aged array of its own, reports
    come policy by policy, then by seed, and ``intervals`` are over seeds. Other arguments are those of `run`.
    """
    if isinstance(policies, str):
        raise TypeError(f"policies: a list of names such as [{policies!r}], not one string")
    names = None if policies is None else list(policies)
    chosen = (names, None if seeds is None else max(seeds, 0), False)
    return _comparison(scenario, chosen, _sets(sets), _trace(trace, format), requests, threads, checked, cache)


def replicate(
    scenario: Source,
    *,
    seeds: int,
    sets: Mapping[str, object] | Iterable[str] = (),
    trace: Trace | None = None,
    format: str | None = None,
    requests: bool | int = True,
    threads: int | None = None,
    checked: bool = False,
    cache: bool = True,
) -> Comparison:
    """Simulate one scenario with its own seed and those that follow, ``seeds`` in all, each on an aged array of its own.

    Reports come in the order of their seeds, with ``intervals`` over them. Other arguments are those of `run`.
    """
    alone = (None, max(seeds, 0), True)
    return _comparison(scenario, alone, _sets(sets), _trace(trace, format), requests, threads, checked, cache)


def _comparison(
    scenario: Source,
    runs: tuple[list[str] | None, int | None, bool],
    sets: list[str],
    trace: tuple[list[str], str | None] | None,
    requests: bool | int,
    threads: int | None,
    checked: bool,
    cache: bool,
) -> Comparison:
    source, own = opened(scenario)
    changes, keep = own + sets, _kept(requests)
    text, tables = speaking(
        _native.compare, source, runs, changes, trace, keep, _threads(threads), checked, _cache(cache)
    )
    return comparison_of(text, tables)


def check(
    scenario: Source,
    *,
    sets: Mapping[str, object] | Iterable[str] = (),
    trace: Trace | None = None,
    format: str | None = None,
) -> str:
    """Validate a scenario and return it as TOML with every key written out. Raises BadInput."""
    source, own = opened(scenario)
    return speaking(_native.check, source, own + _sets(sets), _trace(trace, format))


def policies() -> list[dict[str, Any]]:
    """Every registered policy: its ``kind``, ``name``, ``summary``, ``source`` and own ``keys``.

    Of a key there are ``name``, ``takes`` and ``meaning`` in words, its ``default``, and its JSON ``schema``.

    Coordination policies have ``needs``: the lowest ``interface`` they work with (``array.interface``), and whether they
    need ``redundancy``.
    """
    listed: list[dict[str, Any]] = json.loads(_native.policies_json())
    return listed


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 7) of scenario files: which keys there are, and what each takes and means.

    It knows the form of every value. ``check`` also knows which values go together.
    """
    described: dict[str, Any] = json.loads(_native.schema_json())
    return described


def __getattr__(name: str) -> Any:
    """``harmonia.plot`` needs more than the package itself, so it is imported when it is asked for."""
    if name == "plot":
        return importlib.import_module(".plot", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)

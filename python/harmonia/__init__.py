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
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _native, trace as trace
from ._arguments import Source, Trace
from ._arguments import cached as _cache
from ._arguments import kept as _kept
from ._arguments import pairs as _sets
from ._arguments import parallel as _threads
from ._arguments import traced as _trace
from ._native import Actions, ArrayView, BadInput, Candidate, Decision, DieView, Event, Load, Random, VictimView, WallClock
from ._policies import (
    Concurrency,
    Coordinator,
    HarmoniaPolicyError,
    Named,
    Policy,
    Schedule,
    Victim,
    duration_key,
    key,
    known,
    load_policies,
    split,
)
from ._research import Advice, Explanation, Tuning, advise, claims, explain, presets, reproduce, tune
from ._results import Comparison, HarmoniaWarning, NotKept, Report, Section, comparison_of, load, report_of, write_text
from ._scenario import Scenario, opened, speaking
from ._sweep import Sweep, sweep
from ._tables import Table

__all__ = [
    "Actions",
    "Advice",
    "ArrayView",
    "BadInput",
    "Candidate",
    "Comparison",
    "Concurrency",
    "Coordinator",
    "Decision",
    "DieView",
    "Event",
    "Explanation",
    "HarmoniaPolicyError",
    "HarmoniaWarning",
    "Load",
    "NotKept",
    "Policy",
    "Random",
    "Report",
    "Scenario",
    "Schedule",
    "Section",
    "Source",
    "Sweep",
    "Table",
    "Trace",
    "Tuning",
    "Victim",
    "VictimView",
    "WallClock",
    "advise",
    "check",
    "claims",
    "compare",
    "duration_key",
    "explain",
    "key",
    "known",
    "load",
    "load_policies",
    "policies",
    "presets",
    "replicate",
    "reproduce",
    "run",
    "schema",
    "sweep",
    "trace",
    "tune",
    "version",
]

#: The version of Harmonia.
version: str = _native.version


def run(
    scenario: Source,
    *,
    policies: Iterable[type[Policy]] = (),
    sets: Mapping[str, object] | Iterable[str] = (),
    trace: Trace | None = None,
    format: str | None = None,
    requests: bool | int = True,
    page: str | os.PathLike[str] | None = None,
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
    runs of the call: True is 10 million, and False keeps none, nor intervals of collection. ``cache`` keeps aged arrays
    in the user's cache folder, as the command line does (``harmonia cache``); no result depends on it. ``page`` is a
    file to write the page of results to, as ``--out`` does. ``policies`` are classes whose names the scenario may use,
    as in ``run("tiny", policies=[MyVictim], sets={"ssd.gc.victim": "my-victim"})``.

    Raises BadInput if what was asked for cannot be done, and stops on Ctrl-C.
    """
    source, own = opened(scenario)
    changes, keep = own + _sets(sets), (_kept(requests), page is not None)
    with known(split(policies)[1]):
        text, tables, written = speaking(
            _native.run, source, changes, _trace(trace, format), keep, _threads(threads), checked, _cache(cache)
        )
    if page is not None and written is not None:
        write_text(page, written)
    return report_of(text, tables)


def compare(
    scenario: Source,
    *,
    policies: Iterable[Named] | None = None,
    seeds: int | None = None,
    sets: Mapping[str, object] | Iterable[str] = (),
    trace: Trace | None = None,
    format: str | None = None,
    requests: bool | int = True,
    page: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    checked: bool = False,
    cache: bool = True,
) -> Comparison:
    """Simulate one scenario under several coordination policies, all on copies of the same aged array.

    Without ``policies`` every coordination policy is tried that can win on this array. ``ideal`` stands for local
    coordination with garbage collection that takes no time. A class derived from `Coordinator` is one of them, too;
    classes of other kinds can be named in the scenario, as in `run`. Reports come in the order of ``policies``; each has its
    name under ``label``. A list of values in ``sets`` sweeps, as does a
    comma: each value becomes a report of its own. Without ``seeds`` a comparison that takes only seconds runs with
    10, others with one. With several, each has an aged array of its own, reports
    come policy by policy, then by seed, and ``intervals`` are over seeds. Other arguments are those of `run`.
    """
    names, classes = (None, []) if policies is None else split(policies)
    # Classes of other kinds alone are no choice of coordination policies.
    chosen = (names if names or not classes else None, None if seeds is None else max(seeds, 0), False)
    with known(classes):
        return _comparison(scenario, chosen, _sets(sets), _trace(trace, format), (requests, page), threads, checked, cache)


def replicate(
    scenario: Source,
    *,
    seeds: int,
    policies: Iterable[type[Policy]] = (),
    sets: Mapping[str, object] | Iterable[str] = (),
    trace: Trace | None = None,
    format: str | None = None,
    requests: bool | int = True,
    page: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    checked: bool = False,
    cache: bool = True,
) -> Comparison:
    """Simulate one scenario with its own seed and those that follow, ``seeds`` in all, each on an aged array of its own.

    Reports come in the order of their seeds, with ``intervals`` over them. Other arguments are those of `run`.
    """
    alone = (None, max(seeds, 0), True)
    with known(split(policies)[1]):
        return _comparison(scenario, alone, _sets(sets), _trace(trace, format), (requests, page), threads, checked, cache)


def _comparison(
    scenario: Source,
    runs: tuple[list[str] | None, int | None, bool],
    sets: list[str],
    trace: tuple[list[str], str | None] | None,
    keep: tuple[bool | int, str | os.PathLike[str] | None],
    threads: int | None,
    checked: bool,
    cache: bool,
) -> Comparison:
    source, own = opened(scenario)
    changes, (requests, page) = own + sets, keep
    wanted = (_kept(requests), page is not None)
    text, tables, written = speaking(
        _native.compare, source, runs, changes, trace, wanted, _threads(threads), checked, _cache(cache)
    )
    if page is not None and written is not None:
        write_text(page, written)
    return comparison_of(text, tables)


def check(
    scenario: Source,
    *,
    policies: Iterable[type[Policy]] = (),
    sets: Mapping[str, object] | Iterable[str] = (),
    trace: Trace | None = None,
    format: str | None = None,
) -> str:
    """Validate a scenario and return it as TOML with every key written out. Raises BadInput."""
    source, own = opened(scenario)
    with known(split(policies)[1]):
        return speaking(_native.check, source, own + _sets(sets), _trace(trace, format))


def policies(more: Iterable[type[Policy]] = (), /) -> list[dict[str, Any]]:
    """Every registered policy, and those of ``more``: its ``kind``, ``name``, ``summary``, ``source`` and own ``keys``.

    Of a key there are ``name``, ``takes`` and ``meaning`` in words, its ``default``, and its JSON ``schema``.

    Coordination policies have ``needs``: the lowest ``interface`` they work with (``array.interface``), and whether they
    need ``redundancy``.
    """
    with known(split(more)[1]):
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

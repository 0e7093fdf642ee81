"""Campaigns of many runs: a search for good values, the papers' claims, and advice."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _native
from ._arguments import Source, Trace, cached, pairs, parallel, traced
from ._results import Section, warn
from ._scenario import Scenario, opened, speaking, without_flags

#: The values of one key: a range such as "1..8" or "3%..10%", a range of Python, or choices.
Values = str | range | Iterable[object]


class Tuning(Section):
    """What `tune` found, as printed by ``harmonia tune --json``, with the best scenario under ``tuned``."""

    best: Section
    default: Section
    points: list[Section]
    held_out: list[Section]

    tuned: Scenario


def tune(
    scenario: Source,
    *,
    objective: str,
    over: Mapping[str, Values],
    seeds: int = 5,
    budget: int = 300,
    keep: str | os.PathLike[str] | None = None,
    sets: Mapping[str, object] | Iterable[str] = (),
    trace: Trace | None = None,
    format: str | None = None,
    threads: int | None = None,
    checked: bool = False,
    cache: bool = True,
) -> Tuning:
    """Search for the values of keys that make a figure small.

    ``objective`` is the figure: ``"mean"``, ``"p99"``, ``"write-p99"``, ``"erases"`` and so on. ``over`` has the values of
    each key: ``{"ssd.gc.min_victims": range(1, 9), "ssd.gc.hard_threshold": "3%..10%", "ssd.gc.victim": ["greedy",
    "fifo"]}``. ``seeds`` is how many the search has, and as many more are held out to judge what it found. ``budget``
    is the most runs. ``keep`` names a folder that keeps finished runs, so that the same call goes on where it was
    stopped. Other arguments are those of `run`. See docs/tuning.md for what the warnings mean.
    """
    source, own = opened(scenario)
    search = (objective, [f"{key}={_values(values)}" for key, values in over.items()], max(seeds, 0), max(budget, 0))
    folder = None if keep is None else os.fspath(keep)
    text, tuned = speaking(
        _native.tune,
        source,
        search,
        own + pairs(sets),
        traced(trace, format),
        folder,
        parallel(threads),
        checked,
        cached(cache),
    )
    found = Tuning(json.loads(text, object_hook=Section))
    found.tuned = Scenario(tuned)
    warn({"code": warning["kind"], "text": warning["text"]} for warning in found["warnings"])
    return found


class Advice(Section):
    """What `advise` says, as printed by ``harmonia advise --json``. ``print`` shows it as the command does."""

    verdict: str
    why: str
    collection: list[Section]
    load: Section
    drives: list[Section]
    levers: list[Section]
    recommendation: Section

    _page: str = ""

    def __str__(self) -> str:
        return self._page


def advise(
    scenario: Source | None = None,
    *,
    drive: str | None = None,
    count: int | None = None,
    level: str | None = None,
    chunk: str | None = None,
    seeds: int = 1,
    sets: Mapping[str, object] | Iterable[str] = (),
    trace: Trace | None = None,
    format: str | None = None,
    threads: int | None = None,
    cache: bool = True,
) -> Advice:
    """Say whether garbage collection matters on an array under a load, and what would change it.

    The array is that of a scenario, or ``count`` drives of the preset ``drive`` under a RAID ``level`` (``chunk``: a size such as
    ``"64KiB"``), with a ``trace`` or a load in ``sets``, as in ``advise(trace="my-trace.csv", drive="samsung-pm9a3-960g", count=6,
    level="raid6")``. ``seeds`` is how many each run has. Other arguments are those of `run`. See docs/advise.md for the verdicts.
    """
    named = (drive, count, level)
    if not 1 <= seeds <= 1000:
        raise ValueError(f"seeds={seeds}: 1 to 1000")
    if scenario is not None:
        if any(part is not None for part in (*named, chunk)):
            raise TypeError("drive, count, level, chunk: the scenario says already what the array is")
        source, own = opened(scenario)
        drives = None
    elif drive is None or count is None or level is None:
        raise TypeError("advise needs a scenario, or drive, count and level")
    else:
        source, own, drives = None, [], (drive, min(max(count, 0), 65_535), level, chunk)
    text, page = speaking(
        _native.advise, source, drives, own + pairs(sets), traced(trace, format), seeds, parallel(threads), cached(cache)
    )
    advice = Advice(json.loads(text, object_hook=Section))
    advice._page = without_flags(page)
    warn(advice["warnings"])
    return advice


class Explanation(Section):
    """Where the time of single requests went, as printed by ``harmonia explain --json``. ``print`` shows it as the command does."""

    scenario: str
    seed: int
    measured: int
    requests: list[Section]

    _page: str = ""

    def __str__(self) -> str:
        return self._page


def explain(
    source: Source,
    *,
    slowest: int = 10,
    request: int | None = None,
    sets: Mapping[str, object] | Iterable[str] = (),
    trace: Trace | None = None,
    format: str | None = None,
    threads: int | None = None,
    cache: bool = True,
) -> Explanation:
    """Say where the response time of single requests went: the ``slowest``, or the one with the number ``request``.

    ``source`` is a scenario as for `run`, or a folder that ``harmonia run --out`` has written. Of a folder the same run is
    simulated again, and refused if it is not what the folder has; ``sets`` and ``trace`` are for scenarios. Each of
    ``requests`` has ``steps``, one after the other from arrival to finish, whose ``parts`` name cause, place and collections. Times
    are in ns.
    """
    for name, number in (("slowest", slowest), ("request", request)):
        if number is not None and not 0 <= number < 2**64:
            raise ValueError(f"{name}={number}: 0 or more")
    folder = os.fspath(source) if isinstance(source, (str, os.PathLike)) and os.path.isdir(source) else None
    scenario, own = opened(source) if folder is None else (("", False), [])
    text, page = speaking(
        _native.explain,
        scenario,
        folder,
        (slowest, request),
        own + pairs(sets),
        traced(trace, format),
        parallel(threads),
        cached(cache),
    )
    explanation = Explanation(json.loads(text, object_hook=Section))
    explanation._page = page
    return explanation


def reproduce(
    *ids: str,
    out: str | os.PathLike[str] = "reproduction",
    seeds: int | None = None,
    kept: bool = False,
    threads: int | None = None,
    cache: bool = True,
) -> list[Section]:
    """Test the papers' claims by simulation: each claim with what was measured, and its ``verdict``.

    ``ids`` names claims, experiments and readings; without any, all are tested, which takes many minutes. The verdicts of a
    reading say its name in ``reading``.
    Each variant runs with ``seeds`` seeds, 3 by default. Finished runs are kept in the folder ``out``, where the command
    line keeps them too. ``kept=True`` runs nothing and
    judges by what is there.
    """
    most = None if kept else 3 if seeds is None else seeds
    if most is not None and not 1 <= most <= 1000:
        raise ValueError(f"seeds={seeds}: 1 to 1000")
    folder = os.path.join(os.fspath(out), "runs")
    return _claims(speaking(_native.reproduce, list(ids), folder, most, parallel(threads), cached(cache)))


def claims(*ids: str) -> list[Section]:
    """The papers' claims, with their ``id``, ``source``, ``words`` and what is ``accepted``. Nothing runs."""
    return _claims(speaking(_native.reproduce, list(ids), None, None, 1, None))


def presets() -> list[dict[str, Any]]:
    """Every scenario, load and device that needs no file: its ``kind``, ``name``, ``summary`` and ``figures``.

    Of a figure there are ``key``, ``value``, and its ``provenance``: where the value comes from.
    """
    listed: list[dict[str, Any]] = json.loads(_native.presets_json())
    return listed


def _claims(text: str) -> list[Section]:
    listed: list[Section] = json.loads(text, object_hook=Section)
    return listed


def _values(values: Values) -> str:
    if isinstance(values, str):
        return values
    if isinstance(values, range) and len(values) > 1 and values.step > 0:
        step = f":{values.step}" if values.step > 1 else ""
        return f"{values[0]}..{values[-1]}{step}"
    return pairs({"": list(values)})[0].removeprefix("=")

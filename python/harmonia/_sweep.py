"""Sweeps: many runs of one scenario, on threads of this process or on any engine that takes tasks."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, overload

from . import _native
from ._arguments import cached, pairs, parallel
from ._results import Report, Section
from ._scenario import Scenario, flat, opened, speaking, toml

#: What a sweep file says, the scenario, and what is changed in all points.
Spec = tuple[str, tuple[str, bool], list[str]]


class Executor(Protocol):
    """What runs tasks: of ``concurrent.futures``, of submitit, or a client of Dask."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any: ...


class Sweep(Sequence[dict[str, Any]]):
    """The results of a sweep: one row for each point, in order, as dictionaries.

    A row has ``address``, ``label``, ``policy``, ``seed``, the swept keys, and figures such as ``mean_ns``, ``p99_ns`` and
    ``erases``. What cannot be said is None; ``refused`` says why a point could not run. ``folder`` has a file for each
    result, ``parquet`` is the path of all results of that folder as one table. ``run`` and ``known`` count the points that
    were simulated and those that were there.
    """

    def __init__(self, rows: list[dict[str, Any]], folder: Path, parquet: Path, run: int) -> None:
        self.rows = rows
        self.folder = folder
        self.parquet = parquet
        self.run = run
        self.known = len(rows) - run

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<Sweep of {len(self)} points in {str(self.folder)!r}>"

    def report(self, index: int) -> Report:
        """The whole report of a point. Raises ValueError if it was refused."""
        row = self.rows[index]
        with open(self.folder / f"{row['address']}.json", encoding="utf-8") as file:
            kept = json.load(file, object_hook=Section)
        if "measured" not in kept:
            raise ValueError(f"{row['label'] or row['address']}: was refused: {row['refused']}")
        return Report(kept["measured"])


def sweep(
    scenario: str | os.PathLike[str] | Mapping[str, object] | Scenario,
    axes: Mapping[str, object] | None = None,
    *,
    out: str | os.PathLike[str],
    policies: Iterable[str] | None = None,
    seeds: int | Iterable[int] = 1,
    method: str | Iterable[Mapping[str, object]] = "grid",
    samples: int | None = None,
    draw_seed: int = 1,
    skip_invalid: bool = False,
    sets: Mapping[str, object] | Iterable[str] = (),
    executor: Executor | None = None,
    batch: int | None = None,
    threads: int | None = None,
    checked: bool = False,
    cache: bool = True,
) -> Sweep:
    """Run many variants of a scenario and keep each result in the folder ``out`` as soon as it is there.

    ``axes`` has the values of each key, as ``{"array.devices": [2, 4], "ssd.gc.hard_threshold": "3%..10%"}``; a text is a
    range. ``method`` is ``"grid"`` for all combinations, ``"random"`` or ``"lhs"`` (a Latin hypercube) for so many
    ``samples``, or a list of combinations, each a mapping of keys. Every combination runs under each of ``policies`` and
    with the same ``seeds``: so many from the scenario's own on, or those listed. ``skip_invalid`` leaves out combinations
    that cannot be simulated.

    Results that are in the folder are not run again, whoever ran them. So a sweep that was stopped goes on by the same
    call.

    Without an ``executor`` the points run on ``threads`` of this process, one per core by default. An ``executor`` takes
    them as tasks of ``batch`` points, by default one for each policy: a ``dask.distributed.Client``, an executor of
    ``concurrent.futures``, or one of submitit, which makes them a job array. Its workers must see the folder ``out``.

    Raises BadInput before anything runs if a point cannot be simulated.
    """
    folder = Path(out).absolute()
    names = None if policies is None else _names(policies)
    design = _design(axes, names, seeds, method, samples, draw_seed, skip_invalid)
    source, own = opened(scenario)
    if not source[1] and os.path.exists(source[0]):
        source = (os.path.abspath(source[0]), False)
    spec = (design, source, own + pairs(sets))
    points = json.loads(speaking(_native.sweep_points, spec))
    addresses = list(dict.fromkeys(point["address"] for point in points))
    before = sum((folder / f"{address}.json").exists() for address in addresses)
    if executor is None:
        local = (parallel(threads), checked, cached(cache))
        run: int = json.loads(speaking(_native.sweep_run, spec, None, str(folder), *local))["run"]
    else:
        numbers = [point["point"] for point in points]
        size = batch or max(1, len(names or []))
        batches = [numbers[start : start + size] for start in range(0, len(numbers), size)]
        _submit(executor, [(spec, part, str(folder), checked, cache) for part in batches])
        run = len(addresses) - before
    rows = json.loads(_native.sweep_rows(str(folder), addresses))
    if len(rows) < len(addresses):
        raise RuntimeError(
            f"{len(addresses) - len(rows)} results are not in {folder}: do the workers see this folder?"
        )
    return Sweep(rows, folder, Path(_native.sweep_export(str(folder))), run)


def _names(policies: Iterable[str]) -> list[str]:
    """A result is found by what it was made of, and a class is not among that."""
    if isinstance(policies, str):
        raise TypeError(f"policies: a list of names such as [{policies!r}], not one string")
    names = list(policies)
    if classes := [name for name in names if not isinstance(name, str)]:
        raise TypeError(f"policies: names of built-in policies, not {classes[0]!r}: compare() takes classes")
    return names


def run_points(spec: Spec, points: list[int], out: str, checked: bool, cache: bool) -> int:
    """What a worker does: run these points, but for those whose results are there. Returns how many it ran."""
    done = json.loads(_native.sweep_run(spec, points, out, 1, checked, cached(cache)))
    return int(done["run"])


def _submit(executor: Any, tasks: list[tuple[Spec, list[int], str, bool, bool]]) -> None:
    """Hands over all tasks and waits for them."""
    if hasattr(executor, "get_executor"):  # A client of Dask.
        executor = executor.get_executor()
    as_one = getattr(executor, "batch", contextlib.nullcontext)  # One job array of submitit.
    with as_one():
        futures = [executor.submit(run_points, *task) for task in tasks]
    try:
        for future in futures:
            future.result()
    except BaseException:
        for future in futures:
            future.cancel()
        raise


def _design(
    axes: Mapping[str, object] | None,
    policies: list[str] | None,
    seeds: int | Iterable[int],
    method: str | Iterable[Mapping[str, object]],
    samples: int | None,
    draw_seed: int,
    skip_invalid: bool,
) -> str:
    """The arguments as a sweep file."""
    said: dict[str, object] = {
        "policies": policies,
        "seeds": seeds if isinstance(seeds, int) else list(seeds),
        "method": method if isinstance(method, str) else "list",
        "samples": samples,
        "draw_seed": draw_seed,
        "skip_invalid": skip_invalid,
    }
    lines = [f"{key} = {toml(value)}" for key, value in said.items() if value is not None]
    if axes:
        lines.append("[axes]")
        lines += [f'"{key}" = {toml(_values(value))}' for key, value in flat(axes)]
    for point in [] if isinstance(method, str) else method:
        lines.append("[[point]]")
        lines += [f'"{key}" = {toml(value)}' for key, value in flat(point)]
    return "\n".join(lines) + "\n"


def _values(values: object) -> object:
    """Values of an axis: a range is text, all else a list."""
    return list(values) if isinstance(values, Iterable) and not isinstance(values, str) else values

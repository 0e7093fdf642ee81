"""User time of both sides on the same work, in turns. Figures mean something on an idle machine only.

The slope is the time that the second half of the load adds, so that start and preparation do not count.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import ours
from .pairs import rate
from .results import Results
from .run import SCENARIOS, Programs, Work, execute


@dataclass(frozen=True)
class Case:
    name: str
    peer: str
    scenario: str
    keys: Mapping[str, str]
    requests: int
    full: Mapping[str, str]
    full_requests: int
    # MQSim replays a trace, or its closed loop would drain; DiskSim draws the load, so that reading is not timed.
    is_replayed: bool = False


# 64 dies of 4 planes of 260 blocks: 16 GiB.
ONE_SSD = {
    "ssd.geometry.channels": "8",
    "ssd.geometry.chips_per_channel": "8",
    "ssd.geometry.planes_per_die": "4",
    "ssd.geometry.blocks_per_plane": "260",
}
BY_DIE = {
    "ssd.ftl.allocation": "cwdp",
    "ssd.ftl.allocation_unit": "die",
    "ssd.gc.domain": "die",
    "ssd.gc.stop_threshold": "hard+1",
}
# Requests far enough apart that no queue grows without bound: neither side is timed on its queues.
CASES = [
    Case(
        "one SSD, 4 KiB random writes, blocking",
        "disksim",
        "own-pins-collecting",
        {**ONE_SSD, **BY_DIE, **rate(4000)},
        3_000_000,
        {},
        10_000_000,
    ),
    Case(
        "RAID-0 of 8, 4 KiB random writes, blocking",
        "disksim",
        "own-pins-collecting",
        {**ONE_SSD, **BY_DIE, **rate(8000), "array.devices": "8", "ssd.geometry.chips_per_channel": "2"},
        3_000_000,
        {},
        10_000_000,
    ),
    Case(
        "one SSD on shared buses, 4 KiB random writes, step by step",
        "mqsim",
        "shared-bus-collecting",
        {"ssd.geometry.chips_per_channel": "8", "ssd.geometry.blocks_per_plane": "250", **rate(50000)},
        3_000_000,
        {"ssd.geometry.blocks_per_plane": "1000", "ssd.gc.hard_threshold": "50"},
        10_000_000,
        is_replayed=True,
    ),
]


@dataclass(frozen=True)
class Sample:
    """One side, on a half of the load or all of it."""

    user_s: float
    requests: int
    page_operations: int


def page_operations(results: Results, host_pages: int) -> int:
    """Pages that the host wrote, pages read and programmed to move them, and erases."""
    return host_pages + 2 * (results.moved_pages or 0) + (results.erases or 0)


def slope(half: Sample, whole: Sample) -> tuple[float, float]:
    """us a request and ns a page operation."""
    seconds = whole.user_s - half.user_s
    requests, operations = whole.requests - half.requests, whole.page_operations - half.page_operations
    return seconds / max(requests, 1) * 1e6, seconds / max(operations, 1) * 1e9


def _measure(case: Case, requests: int, keys: Mapping[str, str], programs: Programs, folder: Path, turns: int) -> list[Sample]:
    file, told = SCENARIOS / f"{case.scenario}.toml", {**keys, "workload.requests": str(requests)}
    work = Work(programs, case.peer, file, told, folder, is_replayed=case.is_replayed)
    times: list[list[float]] = [[], []]
    for _ in range(turns):
        mine = execute(work.our_command(), folder)
        times[0].append(mine.user_s)
        results = ours.parse(mine.output)
        times[1].append(execute(work.peer_command(), folder).user_s)
    both = (results, work.peer_results())
    work.clean()
    return [
        Sample(statistics.median(taken), requests, page_operations(result, work.host_pages))
        for taken, result in zip(times, both, strict=True)
    ]


def heading() -> str:
    return (
        "| case | requests | ours, s | peer, s | ratio | us a request by slope | ratio | ns a page operation by slope"
        " | ratio | page operations |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    )


def line(name: str, half: list[Sample], whole: list[Sample]) -> str:
    """Ours / theirs; ratios are theirs over ours."""
    (ours_request, ours_operation), (their_request, their_operation) = map(slope, half, whole)
    mine, theirs = whole
    apart = (mine.page_operations / max(theirs.page_operations, 1) - 1) * 100
    return (
        f"| {name} | {mine.requests:,} | {mine.user_s:.2f} | {theirs.user_s:.2f} | {theirs.user_s / mine.user_s:.1f}"
        f" | {ours_request:.3f} / {their_request:.3f} | {their_request / ours_request:.1f}"
        f" | {ours_operation:.0f} / {their_operation:.0f} | {their_operation / ours_operation:.1f} | {apart:+.1f}% |"
    )


def measure(case: Case, programs: Programs, folder: Path, turns: int, is_full: bool) -> str:
    """A row; the programs run in turns, each as often."""
    keys = {**case.keys, **(case.full if is_full else {})}
    requests = case.full_requests if is_full else case.requests
    half, whole = (_measure(case, part, keys, programs, folder, turns) for part in (requests // 2, requests))
    return line(case.name, half, whole)

"""A load that arrives at random as a trace, drawn once from the scenario's seed, which both simulators replay."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .scenario import SECTOR, Scenario, Unsupported


class Request(NamedTuple):
    time_ns: int
    sector: int
    sectors: int
    is_read: bool


def requests(scenario: Scenario) -> Iterator[Request]:
    """Whole aligned pages, uniform or one behind the other, with exponential gaps.

    A load that also reads, on a device that was never written, first writes every position once.
    """
    load = scenario.load
    if load.rate is None:
        raise Unsupported("workload.arrival: only a load with a rate becomes a trace")
    if load.pattern not in ("uniform", "sequential"):
        raise Unsupported(f"workload.address.pattern = {load.pattern!r}: pairs are uniform or sequential")
    draws = random.Random(scenario.seed)
    sectors = load.request_bytes // SECTOR
    positions = scenario.footprint_pages * scenario.page_size // load.request_bytes
    first_writes = positions if scenario.fill == 0 and load.read_fraction > 0 else 0
    time = 0.0
    for index in range(load.requests):
        time += draws.expovariate(load.rate) * 1e9
        in_turn = load.pattern == "sequential" or index < first_writes
        position = index % positions if in_turn else draws.randrange(positions)
        is_read = index >= first_writes and draws.random() < load.read_fraction
        yield Request(round(time), position * sectors, sectors, is_read)


def write_disksim(path: Path, scenario: Scenario) -> None:
    """time (ms) device sector count flags (bit 0: read)."""
    with path.open("w") as file:
        for time, sector, sectors, is_read in requests(scenario):
            file.write(f"{time // 10**6}.{time % 10**6:06} 0 {sector} {sectors} {int(is_read)}\n")


def write_mqsim(path: Path, scenario: Scenario) -> None:
    """time (ns) device sector count type (0 = write, 1 = read)."""
    with path.open("w") as file:
        for time, sector, sectors, is_read in requests(scenario):
            file.write(f"{time} 0 {sector} {sectors} {int(is_read)}\n")

"""A scenario with every key resolved, as `harmonia check` prints it: what Harmonia and its peer are both told."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SECTOR = 512
SIZES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
TIMES = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}


class Unsupported(Exception):
    """A peer has no rule for what a scenario asks for."""


def quantity(text: str, units: dict[str, int]) -> float:
    """`25us` in ns, `4KiB` in bytes."""
    match = re.fullmatch(r"([0-9.]+)\s*([A-Za-z]+)", text)
    if match is None or match[2] not in units:
        raise ValueError(f"{text!r}: expected a number and one of {', '.join(units)}")
    return float(match[1]) * units[match[2]]


def nanoseconds(value: str) -> float:
    return 0.0 if value == "none" else quantity(value, TIMES)


def size(value: str) -> int:
    return round(quantity(value, SIZES))


def bandwidth(value: str) -> float:
    """Bytes a second."""
    return quantity(value.removesuffix("/s"), SIZES)


def blocks(value: str | int, total: int) -> int:
    """A share of `total` blocks, floored, or a number of blocks."""
    if isinstance(value, int):
        return value
    return int(float(value.removesuffix("%")) * total / 100 + 1e-9)


@dataclass(frozen=True)
class Load:
    """Requests that arrive at random, or a number of them kept outstanding."""

    requests: int
    read_fraction: float
    request_bytes: int
    pattern: str
    footprint: float
    rate: float | None
    queue_depth: int | None


@dataclass(frozen=True)
class Scenario:
    """The keys that peers know."""

    text: str
    seed: int
    devices: int
    stripe_unit: int
    fill: float
    channels: int
    chips: int
    dies: int
    planes: int
    blocks: int
    pages: int
    page_size: int
    summary_pages: int
    own_pins: bool
    read_ns: float
    program_ns: float
    erase_ns: float
    transfer_ns: float
    command_ns: tuple[float, float, float]
    copyback: str
    link: float
    allocation: str
    unit: str
    frontiers: str
    multi_plane: bool
    reserved: str | int
    hard_threshold: str | int
    stop_threshold: str | int
    schedule: str
    load: Load

    @property
    def elements(self) -> int:
        return self.channels * self.chips * self.dies

    @property
    def unit_blocks(self) -> int:
        """Blocks of an allocation unit."""
        return self.blocks if self.unit == "plane" else self.blocks * self.planes

    @property
    def units(self) -> int:
        return self.elements * self.planes * self.blocks // self.unit_blocks

    @property
    def reserved_blocks(self) -> int:
        """Blocks of an allocation unit that hold no data of the host."""
        return blocks(self.reserved, self.unit_blocks)

    @property
    def member_pages(self) -> int:
        """Pages that the host can address on one member."""
        return self.units * (self.unit_blocks - self.reserved_blocks) * (self.pages - self.summary_pages)

    @property
    def usable_bytes(self) -> int:
        per_unit = self.stripe_unit // self.page_size if self.devices > 1 else 1
        return self.member_pages // per_unit * per_unit * self.page_size * self.devices

    @property
    def footprint_pages(self) -> int:
        """Pages that the load addresses."""
        share = self.load.footprint if self.load.footprint <= 1 else self.load.footprint / self.usable_bytes
        return int(self.usable_bytes * share) // self.page_size


def _same(value: Any) -> str:
    if isinstance(value, list):
        raise Unsupported("ssd.timing: peers are compared with one time for all pages")
    return str(value)


def _commands(timing: dict[str, Any]) -> tuple[float, float, float]:
    command = timing.get("command", "0ns")
    if isinstance(command, str):
        return (nanoseconds(command),) * 3
    read, program, erase = (nanoseconds(command.get(kind, "0ns")) for kind in ("read", "program", "erase"))
    return read, program, erase


def _load(workload: dict[str, Any]) -> Load:
    if workload["kind"] != "synthetic" or workload["size"]["distribution"] != "fixed":
        raise Unsupported("workload: pairs have a synthetic load of one size")
    arrival = workload["arrival"]
    if arrival["process"] not in ("poisson", "closed"):
        raise Unsupported(f"workload.arrival.process = {arrival['process']!r}: pairs have poisson or closed")
    footprint = workload["address"]["footprint"]
    return Load(
        requests=workload["requests"],
        read_fraction=float(workload.get("read_fraction", 0)),
        request_bytes=size(workload["size"]["mean"]),
        pattern=workload["address"]["pattern"],
        footprint=float(footprint) if isinstance(footprint, (int, float)) else float(size(footprint)),
        rate=arrival.get("rate"),
        queue_depth=arrival.get("queue_depth"),
    )


def parse(text: str) -> Scenario:
    """What `harmonia check` prints."""
    root = tomllib.loads(text)
    ssd, array = root["ssd"], root["array"]
    geometry, timing, ftl, gc = ssd["geometry"], ssd["timing"], ssd["ftl"], ssd["gc"]
    if array["level"] != "raid0":
        raise Unsupported(f"array.level = {array['level']!r}: peers are compared on raid0")
    schedule = gc["schedule"]
    return Scenario(
        text=text,
        seed=root["seed"],
        devices=array["devices"],
        stripe_unit=size(array["stripe_unit"]),
        fill=root["precondition"]["fill"],
        channels=geometry["channels"],
        chips=geometry["chips_per_channel"],
        dies=geometry["dies_per_chip"],
        planes=geometry["planes_per_die"],
        blocks=geometry["blocks_per_plane"],
        pages=geometry["pages_per_block"],
        page_size=size(geometry["page_size"]),
        summary_pages=geometry["summary_pages"],
        own_pins=geometry["own_pins"],
        read_ns=nanoseconds(_same(timing["read"])),
        program_ns=nanoseconds(_same(timing["program"])),
        erase_ns=nanoseconds(timing["erase"]),
        transfer_ns=nanoseconds(timing["transfer"]),
        command_ns=_commands(timing),
        copyback=timing["copyback"],
        link=bandwidth(ssd["link"]["bandwidth"]),
        allocation=ftl["allocation"],
        unit=ftl["allocation_unit"],
        frontiers=ftl["frontiers"],
        multi_plane=ftl["multi_plane"],
        reserved=ftl["reserved_blocks"],
        hard_threshold=gc["hard_threshold"],
        stop_threshold=gc["stop_threshold"],
        schedule=schedule if isinstance(schedule, str) else schedule["policy"],
        load=_load(root["workload"]),
    )

"""Which pairs there are: a scenario of this folder, keys that both sides change, and how far apart they may be.

A row with a `rule` is about a difference: one side follows another rule, which the row names. It differs, and the pair
`gone` shows that the difference goes once both have the same rule. `ours` are keys that only Harmonia changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

Keys = Mapping[str, str]
# Percent.
ALIKE: Mapping[str, float] = {"mean_us": 1.0}
BUS: Mapping[str, float] = {"mean_us": 2.0}
COLLECTING: Mapping[str, float] = {"mean_us": 5.0, "write_amplification": 1.0}


@dataclass(frozen=True)
class Pair:
    name: str
    peer: str
    scenario: str
    within: Mapping[str, float]
    keys: Keys = field(default_factory=dict)
    ours: Keys = field(default_factory=dict)
    rule: str = ""
    gone: str = ""


ONE_DIE = {"ssd.geometry.channels": "1", "ssd.geometry.chips_per_channel": "1", "workload.requests": "100000"}
# So much spare that nothing is collected.
NO_COLLECTION = {"ssd.ftl.reserved_blocks": "50%", "ssd.geometry.blocks_per_plane": "400"}
LARGE_BLOCKS = {"ssd.geometry.pages_per_block": "512"}
WRITES = {"workload.read_fraction": "0"}
SEQUENTIAL = {"workload.address.pattern": "sequential"}


def rate(requests_a_second: int) -> Keys:
    return {"workload.arrival.rate": str(requests_a_second)}


def depth(outstanding: int) -> Keys:
    return {"workload.arrival.queue_depth": str(outstanding)}


def several(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def dies(a_channel: int) -> Keys:
    return {"ssd.geometry.chips_per_channel": str(a_channel)}


def _disksim() -> list[Pair]:
    def pair(name: str, *keys: Keys) -> Pair:
        return Pair(name, "disksim", "own-pins", ALIKE, {k: v for part in keys for k, v in part.items()})

    writes = {**ONE_DIE, **NO_COLLECTION, **LARGE_BLOCKS, **WRITES, **rate(1000)}
    mixed = {**NO_COLLECTION, **LARGE_BLOCKS, "workload.read_fraction": "0.5", "workload.requests": "100000"}
    slow = {**mixed, **rate(6000), "ssd.link.bandwidth": "40MB/s"}
    link = "one request holds the link; a read waits for it to send its command, and what is done goes first"
    return [
        pair("random reads, rho 0.3", rate(18377)),
        pair("random reads, rho 0.6", rate(36753)),
        pair("random reads, rho 0.8", rate(49005)),
        pair("one die, random reads", ONE_DIE, rate(4000)),
        pair("one die, sequential reads", ONE_DIE, SEQUENTIAL, rate(4000)),
        pair("one die, random writes", writes),
        pair("one die, sequential writes", writes, SEQUENTIAL),
        pair("random reads of 32 KiB", {"workload.size.mean": "32KiB", "workload.requests": "100000"}, rate(800)),
        pair("half reads, fast link", mixed, rate(6000)),
        Pair(
            "one die, random writes, blocks of 16 pages", "disksim", "own-pins", ALIKE,
            {**writes, "ssd.geometry.pages_per_block": "16", "ssd.geometry.blocks_per_plane": "8000"},
            rule="DiskSim adds the summary page to the response of the write that fills a block; the larger the block, the less",
            gone="one die, random writes",
        ),
        Pair(
            "half reads, link of 40 MB/s", "disksim", "own-pins", ALIKE, slow,
            rule=link, gone="half reads, fast link",
        ),
        Pair(
            "half reads, link of 40 MB/s, in order", "disksim", "own-pins", ALIKE, slow,
            ours={"ssd.link.order": "arrival"}, rule=f"a part of it: {link}", gone="half reads, fast link",
        ),
    ]


def _disksim_collecting() -> list[Pair]:
    def pair(name: str, keys: Keys, ours: Keys | None = None, rule: str = "", gone: str = "") -> Pair:
        return Pair(name, "disksim", "own-pins-collecting", COLLECTING, keys, ours or {}, rule, gone)

    by_die = {
        "ssd.ftl.allocation": "cwdp",
        "ssd.ftl.allocation_unit": "die",
        "ssd.gc.domain": "die",
        "ssd.gc.stop_threshold": "hard+1",
        **rate(500),
    }
    half_reads = {"workload.read_fraction": "0.5", "workload.size.mean": "8KiB", **rate(700)}
    raid = {
        "array.devices": "8",
        "ssd.geometry.blocks_per_plane": "320",
        "workload.requests": "1200000",
        **rate(8000),
    }
    fixed = {"ssd.ftl.allocation": "cwdp"}
    most_free = "DiskSim's write goes to the plane of its die with the most free pages; ours to a fixed one"
    return [
        pair("random writes", {}),
        pair("random writes, fixed planes", fixed),
        pair("random writes, blocks by die", by_die),
        pair("half reads of 8 KiB", half_reads),
        pair("70% reads", {"workload.read_fraction": "0.7", **rate(1800)}),
        pair("RAID-0 of 8, random writes", raid),
        pair("RAID-0 of 8, half reads", {**raid, "workload.read_fraction": "0.5", **rate(12000)}),
        pair("random writes, ours with fixed planes", {}, fixed, most_free, "random writes"),
        pair("half reads of 8 KiB, ours with fixed planes", half_reads, fixed, most_free, "half reads of 8 KiB"),
        pair(
            "RAID-0 of 8, random writes, ours with fixed planes", raid, fixed, most_free, "RAID-0 of 8, random writes"
        ),
        pair(
            "random writes, blocks by die, ours stops at hard",
            by_die,
            {"ssd.gc.stop_threshold": "hard"},
            "DiskSim collects until one block more than its threshold is free",
            "random writes, blocks by die",
        ),
    ]


def _mqsim() -> list[Pair]:
    def pair(name: str, *keys: Keys) -> Pair:
        within = BUS if "reads" in name else ALIKE
        return Pair(name, "mqsim", "shared-bus", within, {k: v for part in keys for k, v in part.items()})

    def stream(n: int) -> Keys:
        """MQSim's stream begins anywhere, under this seed at a page, and turns back one page before its end."""
        return {**SEQUENTIAL, **dies(n), **depth(16), "workload.address.footprint": f"{(1024 * n - 1) * 4}KiB", "seed": "8"}

    empty = {**WRITES, "precondition.fill": "0", "ssd.geometry.blocks_per_plane": "2000", "workload.requests": "100000"}
    none = {"ssd.timing.command": "0ns"}
    fifo = {"ssd.timing.command.order": "fifo"}
    cycles = "commands take the bus in MQSim and wait behind pages; ours take no time"
    order = "MQSim sends out all pages that were read before a command; ours first come, first served"

    def differs(name: str, keys: Keys, ours: Keys, rule: str, gone: str) -> Pair:
        return Pair(name, "mqsim", "shared-bus", BUS, keys, ours, rule, gone)

    return [
        *(pair(f"random reads, depth 64, {several(n, 'die')} a channel", dies(n)) for n in (1, 2, 4)),
        pair("random reads, depth 16, 4 dies a channel", dies(4), depth(16)),
        *(pair(f"sequential reads, depth 16, {several(n, 'die')} a channel", stream(n)) for n in (1, 2, 4)),
        *(pair(f"random writes, depth {n}", empty, depth(n)) for n in (1, 4, 16, 64)),
        *(pair(f"random writes, depth {n}, 4 dies a channel", empty, depth(n), dies(4)) for n in (16, 64)),
        *(
            differs(
                f"random reads, depth 64, {several(n, 'die')} a channel, ours without commands",
                dies(n), none, cycles, f"random reads, depth 64, {several(n, 'die')} a channel",
            )
            for n in (2, 4)
        ),
        differs(
            "sequential reads, depth 16, 4 dies a channel, ours without commands",
            stream(4), none, cycles, "sequential reads, depth 16, 4 dies a channel",
        ),
        differs(
            "random reads, depth 64, 4 dies a channel, ours in order",
            dies(4), fifo, order, "random reads, depth 64, 4 dies a channel",
        ),
    ]


def _mqsim_collecting() -> list[Pair]:
    def pair(name: str, keys: Keys, ours: Keys | None = None, rule: str = "", gone: str = "") -> Pair:
        return Pair(name, "mqsim", "shared-bus-collecting", COLLECTING, keys, ours or {}, rule, gone)

    joint = "planes of a die that collect share commands in MQSim, and not here"
    planes = {"ssd.geometry.planes_per_die": "2", "ssd.ftl.multi_plane": "true", "workload.requests": "1500000"}
    four = {"ssd.geometry.channels": "2", **dies(4), "workload.requests": "1000000"}
    return [
        pair("random writes, collecting", {}),
        pair("random writes, collecting, 4 dies a channel", four),
        pair(
            "random writes, collecting, ours with two blocks more in use",
            {},
            {"ssd.gc.hard_threshold": "18"},
            "MQSim keeps as many blocks empty as its threshold and one for pages of the mapping table",
            "random writes, collecting",
        ),
        *(
            replace(
                pair(f"random writes, collecting, {n} planes a die", planes | keys, {}, joint, "random writes, collecting"),
                within={"mean_us": 2.0},
            )
            for n, keys in ((2, {}), (4, {"ssd.geometry.planes_per_die": "4", **rate(12000)}))
        ),
    ]


PAIRS = [*_disksim(), *_disksim_collecting(), *_mqsim(), *_mqsim_collecting()]

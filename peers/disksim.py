"""Parameters for DiskSim 4.0 with the SSD extension of Microsoft Research, and the figures of its output.

The extension has elements with pins of their own, a summary page in each block, and one link for the whole SSD. The link
is a bus between controller and SSD. Everything above it takes no time: driver, controller and the bus above that.
"""

from __future__ import annotations

import re
from pathlib import Path

from .results import Results, Unreadable
from .scenario import SECTOR, Scenario, Unsupported, blocks

# Bytes that a sector takes on the pins: its data and 16 bytes beside them.
SECTOR_ON_PINS = 528
ELEMENTS_MAX = 64
# No limit on what is outstanding.
QUEUE = 10_000_000
# DiskSim looks for it in the folder that it runs in.
STATISTICS_FILE = "statdefs"

Block = dict[str, "str | int | float | Block"]

STATISTICS = {
    "iodriver": ("driver", "size locality blocking interference queue crit idle intarr streak stamp per-device"),
    "bus": ("bus", "idle arbwait"),
    "ctlr": (
        "controller",
        "cache size locality blocking interference queue crit idle intarr streak stamp per-device",
    ),
    "device": ("device", "queue crit idle intarr size seek latency xfer acctime interfere buffer"),
}
# Every histogram that DiskSim asks for; nothing of them is read here, so all have the same bounds.
HISTOGRAMS = (
    "Queue time,Inter-sleep time,Inter-think time,Instantaneous queue length,Response time,Inter-arrival time,"
    "Read inter-arrival,Write inter-arrival,Read request size,Write request size,Request size,Access size,"
    "Idle period length,Streak length,Trace queue time,Trace response time,Trace access time,Trace access diff time,"
    "Trace write access time,Trace write access diff time,Trace rotation miss time,Physical access time,Seek distance,"
    "Sub-optimal mapping penalty,Seek time,Rotational latency,Transfer time,Positioning time,Access time,"
    "Arbitration wait time,Bus idle period length,Inter-request distance,Time limit duration,Empty queue delay,"
    "Initiate next delay,Batch size"
).split(",")


def histograms() -> str:
    """The file of statistics' definitions."""
    return "".join(
        f"\n{name}\nDistribution size: 10\nScale/Equals: 1/0\n1 2 3 4 5 6 7 8 9\n" for name in HISTOGRAMS
    )


def _value(value: str | int | float | Block) -> str:
    if isinstance(value, dict):
        return _body(str(value["kind"]), value)
    return f"{value:.9f}" if isinstance(value, float) else str(value)


def _body(head: str, block: Block) -> str:
    lines = [f"  {key} = {_value(value)}" for key, value in block.items() if key != "kind"]
    return f"{head} {{\n" + ",\n".join(lines) + "\n}"


def _statistics() -> Block:
    stats: Block = {
        f"{part} stats": {"kind": f"disksim_{part}_stats"} | {f"Print {prefix} {what} stats": 0 for what in names.split()}
        for part, (prefix, names) in STATISTICS.items()
    }
    flow = ("per-process", "per-CPU", "all interrupt", "sleep")
    return stats | {"process flow stats": {"kind": "disksim_pf_stats"} | {f"Print {what} stats": 0 for what in flow}}


def _queue() -> Block:
    """First come, first served."""
    return {
        "kind": "disksim_ioqueue",
        "Scheduling policy": 1,
        "Cylinder mapping strategy": 0,
        "Write initiation delay": 0.0,
        "Read initiation delay": 0.0,
        "Sequential stream scheme": 0,
        "Maximum concat size": 0,
        "Overlapping request scheme": 0,
        "Sequential stream diff maximum": 0,
        "Scheduling timeout scheme": 0,
        "Timeout time/weight": 0,
        "Timeout scheduling": 1,
        "Scheduling priority scheme": 0,
        "Priority scheduling": 1,
    }


def _bus(kind: int, sector_ms: float) -> Block:
    return {
        "type": kind,
        "Arbitration type": 1,
        "Arbitration time": 0.0,
        "Read block transfer time": sector_ms,
        "Write block transfer time": sector_ms,
        "Print stats": 0,
    }


def _pool(scenario: Scenario) -> tuple[int, int]:
    """Copy-back and allocation pool: 1 = element, 2 = plane."""
    letters = scenario.allocation
    match scenario.unit, scenario.copyback, letters:
        case "die", "plane", _ if letters.startswith("cwd"):
            return 0, 1
        case "plane", "plane", "cwd":
            return 1, 1
        case "plane", "plane", "cwdp":
            return 1, 2
    raise Unsupported(
        f"ssd.ftl.allocation = {letters!r}, allocation_unit = {scenario.unit!r}, copyback = {scenario.copyback!r}:"
        " DiskSim has cwd(p) by die, and cwd and cwdp by plane, with copyback = plane"
    )


def check(scenario: Scenario) -> None:
    """Refuses what the extension has no rule for."""
    # By die it goes on until one block more is free; by plane every collection takes one block.
    stop = "hard+1" if scenario.unit == "die" else "hard"
    rules = [
        (scenario.stop_threshold == stop, f"ssd.gc.stop_threshold: {stop} with blocks by {scenario.unit}"),
        (scenario.frontiers == "shared", "ssd.ftl.frontiers: shared"),
        (not scenario.multi_plane, "ssd.ftl.multi_plane: false"),
        (scenario.own_pins, "ssd.geometry.own_pins: true"),
        (scenario.summary_pages == 1, "ssd.geometry.summary_pages: 1"),
        (scenario.elements <= ELEMENTS_MAX, f"dies: {ELEMENTS_MAX} at most"),
        (scenario.fill == 1, "precondition.fill: 1"),
        (scenario.schedule == "blocking", "ssd.gc.schedule: blocking"),
        (scenario.command_ns == (0, 0, 0), "ssd.timing.command: 0"),
        (scenario.blocks * scenario.planes % 8 == 0, "blocks of a die: a multiple of 8"),
        (isinstance(scenario.reserved, str), "ssd.ftl.reserved_blocks: a share"),
        (isinstance(scenario.hard_threshold, str), "ssd.gc.hard_threshold: a share"),
        (scenario.load.queue_depth is None, "workload.arrival: a rate"),
    ]
    for holds, rule in rules:
        if not holds:
            raise Unsupported(f"DiskSim has only {rule}")
    planes = scenario.elements * scenario.planes
    if blocks(scenario.reserved, scenario.blocks) * planes != scenario.reserved_blocks * scenario.units:
        raise Unsupported("ssd.ftl.reserved_blocks: DiskSim floors it by plane; choose blocks_per_plane so that both agree")


def _ssd(scenario: Scenario) -> Block:
    copy_back, pool = _pool(scenario)
    return {
        "Reserve pages percentage": str(scenario.reserved).removesuffix("%"),
        "Minimum free blocks percentage": str(scenario.hard_threshold).removesuffix("%"),
        "Write policy": 2,
        "Cleaning policy": 2,
        "Planes per package": scenario.planes,
        "Blocks per plane": scenario.blocks,
        "Plane block mapping": 3,
        "Copy back": copy_back,
        "Number of parallel units": 1,
        "Allocation pool logic": pool,
        "Elements per gang": 1,
        "Gang share": 1,
        "Cleaning in background": 0,
        "Command overhead": 0.0,
        "Bus transaction latency": 0.0,
        "Bulk sector transfer time": 0,
        "Flash chip elements": scenario.elements,
        "Page size": scenario.page_size // SECTOR,
        "Pages per block": scenario.pages,
        "Blocks per element": scenario.blocks * scenario.planes,
        "Element stride pages": 1,
        "Never disconnect": 1,
        "Print stats": 1,
        "Max queue length": QUEUE,
        "Scheduler": _queue(),
        "Timing model": 1,
        "Chip xfer latency": scenario.transfer_ns / 1e6 / (scenario.page_size // SECTOR * SECTOR_ON_PINS),
        "Page read latency": scenario.read_ns / 1e6,
        "Page write latency": scenario.program_ns / 1e6,
        "Block erase latency": scenario.erase_ns / 1e6,
    }


def parameters(scenario: Scenario) -> str:
    """The parameter file, which lies beside STATISTICS_FILE."""
    check(scenario)
    names = [f"ssd{index}" for index in range(scenario.devices)]
    sector_ms = SECTOR / scenario.link * 1e3
    driver: Block = {"type": 1, "Constant access time": 0.0, "Scheduler": _queue(), "Use queueing in subsystem": 1}
    controller: Block = {
        "type": 1,
        "Scale for delays": 0.0,
        "Bulk sector transfer time": 0.0,
        "Maximum queue length": QUEUE,
        "Print stats": 0,
    }
    parts = [
        _body(
            "disksim_global Global",
            {"Init Seed": scenario.seed, "Real Seed": scenario.seed, "Stat definition file": STATISTICS_FILE},
        ),
        _body("disksim_iosim Sim", {"I/O Trace Time Scale": 1.0}),
        _body("disksim_stats Stats", _statistics()),
        _body("disksim_iodriver DRIVER", driver),
        _body("disksim_bus TOP", _bus(1, 0.0)),
        _body("disksim_bus LINK", _bus(2, sector_ms)),
        _body("disksim_ctlr CONTROLLER", controller),
        _body("ssdmodel_ssd SSD", _ssd(scenario)),
        "instantiate [ statistics ] as Stats\ninstantiate [ driver ] as DRIVER\ninstantiate [ top ] as TOP",
        *(
            f"instantiate [ link{index} ] as LINK\ninstantiate [ controller{index} ] as CONTROLLER\n"
            f"instantiate [ {name} ] as SSD"
            for index, name in enumerate(names)
        ),
        "topology disksim_iodriver driver [ disksim_bus top ["
        + ",".join(
            f" disksim_ctlr controller{index} [ disksim_bus link{index} [ ssdmodel_ssd {name} [] ] ]"
            for index, name in enumerate(names)
        )
        + " ] ]",
        _body("disksim_logorg array", _organisation(scenario, names)),
    ]
    return "\n\n".join(parts) + "\n"


def _organisation(scenario: Scenario, names: list[str]) -> Block:
    unit = scenario.stripe_unit // SECTOR
    return {
        "Addressing mode": "Array",
        "Distribution scheme": "Striped",
        "Redundancy scheme": "Noredun",
        "devices": f"[ {', '.join(names)} ]",
        "Stripe unit": unit,
        "Synch writes for safety": 0,
        "Number of copies": 2,
        "Copy choice on read": 6,
        "RMW vs. reconstruct": 0.5,
        "Parity stripe unit": unit,
        "Parity rotation type": 1,
        "Time stamp interval": 0.0,
        "Time stamp start time": 1e12,
        "Time stamp stop time": 1e13,
        "Time stamp file name": "stamps",
    }


def synthetic(scenario: Scenario) -> str:
    """A load of the same law that DiskSim draws itself, appended to its parameters."""
    load = scenario.load
    if load.rate is None or load.pattern != "uniform":
        raise Unsupported("workload: DiskSim draws uniform loads with a rate")
    never = "[ normal, 1000.0, 0.0 ]"
    sectors = load.request_bytes // SECTOR
    generator: Block = {
        "kind": "disksim_synthgen",
        "Storage capacity per device": scenario.footprint_pages * scenario.page_size // SECTOR,
        "devices": "[ array ]",
        "Blocking factor": sectors,
        "Probability of sequential access": 0.0,
        "Probability of local access": 0.0,
        "Probability of read access": load.read_fraction,
        "Probability of time-critical request": 0.0,
        "Probability of time-limited request": 0.0,
        "Time-limited think times": never,
        "General inter-arrival times": f"[ exponential, 0.0, {1e3 / load.rate:.9f} ]",
        "Sequential inter-arrival times": never,
        "Local inter-arrival times": never,
        "Local distances": never,
        "Sizes": f"[ uniform, {sectors}.0, {sectors}.0 ]",
    }
    source: Block = {
        "Number of I/O requests to generate": load.requests,
        "Maximum time of trace generated": 1e9,
        "System call/return with each request": 0,
        "Think time from call to request": 0.0,
        "Think time from request to return": 0.0,
        "Generators": f"[ {_value(generator)} ]",
    }
    process: Block = {"Number of processors": 1, "Process-Flow Time Scale": 1.0}
    return _body("disksim_pf Proc", process) + "\n\n" + _body("disksim_synthio Synthio", source) + "\n"


def command(disksim: Path, parameter_file: Path, output: Path, trace: Path | None) -> list[str]:
    """Without a trace, DiskSim draws the load."""
    source = ["0", "1"] if trace is None else [str(trace), "0"]
    return [str(disksim), str(parameter_file), str(output), "ascii", *source]


def _number(text: str, name: str) -> float:
    found = re.search(rf"^{name}:?\s+([0-9.]+)", text, re.MULTILINE)
    if found is None:
        raise Unreadable(f"DiskSim's output has no line {name!r}")
    return float(found[1])


def parse(text: str, host_pages: int) -> Results:
    """The output file of a run whose load wrote so many pages."""
    moved = sum(int(value) for value in re.findall(r"Pages moved:\s+(\d+)", text))
    erases = sum(int(value) for value in re.findall(r"Number of cleans:\s+(\d+)", text))
    return Results(
        requests=int(_number(text, "Overall I/O System Total Requests handled")),
        mean_us=_number(text, "Overall I/O System Response time average") * 1e3,
        maximum_us=_number(text, "Overall I/O System Response time maximum") * 1e3,
        write_amplification=(host_pages + moved) / host_pages if host_pages else None,
        erases=erases,
        moved_pages=moved,
    )

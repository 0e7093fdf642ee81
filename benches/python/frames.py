#!/usr/bin/env python3
"""How long 10 million requests of 4 KiB take from the simulator into a frame of Polars, and whether they are copied.

    python benches/python/frames.py [REQUESTS]

Prints a line for the run without and with requests kept, for the way into a frame, and for memory. Nothing is asserted
on time. It fails if a column of numbers lies elsewhere in the frame than where the simulator put it.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import TypeVar

import harmonia
import polars as pl
import pyarrow

T = TypeVar("T")

#: As many as one call keeps by default.
MOST = 10_000_000

#: Four small drives under random requests of 4 KiB, of which a tenth are writes, at a rate that they keep up with.
SETS = {
    "workload.warmup": 0,
    "workload.read_fraction": 0.9,
    "workload.size": {"distribution": "fixed", "mean": "4KiB"},
    "workload.arrival": {"process": "poisson", "rate": 2000.0},
}


def main() -> None:
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else MOST
    warnings.simplefilter("ignore", harmonia.HarmoniaWarning)
    sets = {**SETS, "workload.requests": requests}
    timed("run, requests=False", lambda: harmonia.run("tiny", sets=sets, requests=False))
    report = timed("run, requests=True", lambda: harmonia.run("tiny", sets=sets))
    before = resident()
    frame = timed("into a frame of Polars", lambda: pl.DataFrame(report.requests))
    print(f"{'more memory for the frame':28} {resident() - before:8.1f} MiB, for {frame.estimated_size('mb'):,.0f} MiB of columns")
    assert len(frame) == requests
    copied = [name for name in frame.columns if is_copied(report.requests, frame, name)]
    print(f"{'columns copied':28} {len(copied)} of {len(frame.columns)}: {', '.join(copied) or 'none'}")
    wide = [name for name in copied if frame[name].dtype in (pl.Int64, pl.UInt64)]
    if wide:
        sys.exit(f"frames: copied {', '.join(wide)}")
    timed("p99 of each operation", lambda: frame.group_by("operation").agg(pl.col("response_ns").quantile(0.99)))


def timed(what: str, do: Callable[[], T]) -> T:
    start = time.perf_counter()
    result = do()
    print(f"{what:28} {time.perf_counter() - start:8.3f} s", flush=True)
    return result


def is_copied(table: harmonia.Table, frame: pl.DataFrame, name: str) -> bool:
    chunks = pyarrow.chunked_array(frame[name]).chunks
    return table._table.addresses(name) != [chunk.buffers()[1].address for chunk in chunks]


def resident() -> float:
    """Of this process, in MiB."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


if __name__ == "__main__":
    main()

"""Runs Harmonia and reads its report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .results import Results


def sets(keys: Mapping[str, str]) -> list[str]:
    """The options of the command that change keys."""
    return [argument for key, value in keys.items() for argument in ("--set", f"{key}={value}")]


def check_command(harmonia: Path, file: Path, keys: Mapping[str, str]) -> list[str]:
    return [str(harmonia), "check", str(file), *sets(keys)]


def run_command(
    harmonia: Path, file: Path, keys: Mapping[str, str], trace: Path | None = None, trace_format: str = "disksim"
) -> list[str]:
    """One run on one thread; of a trace, if one is given."""
    command = [str(harmonia), "run", str(file), *sets(keys), "--json", "--threads", "1", "--no-cache"]
    if trace is not None:
        command += ["--trace", str(trace), "--format", trace_format]
    return command


def parse(text: str) -> Results:
    """A report of one run as JSON."""
    report: dict[str, Any] = json.loads(text)
    response, array = report["host"]["response_ns"]["all"], report["array"]
    return Results(
        requests=report["host"]["requests"],
        mean_us=response["mean"] / 1e3,
        maximum_us=response["max"] / 1e3,
        write_amplification=array["write_amplification"] if array["host_pages_written"] else None,
        erases=array["erases"],
        moved_pages=array["gc_pages_moved"],
    )

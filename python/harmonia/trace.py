"""Block traces: what they hold, as a table, in another format, or as a synthetic load like them.

>>> harmonia.trace.info("web_3.csv").rows                                # doctest: +SKIP
>>> polars.DataFrame(harmonia.trace.read("web_*.csv.gz"))                    # doctest: +SKIP

A trace is a file, plain or packed (gz, zst), a pattern of names, or several of them, which are read as one, merged by
time. Its ``format`` is found out from the content if it is not given. Further keywords say how it is read; they are the
keys of ``[workload]`` for that, such as ``time_unit="us"`` or ``skip_bad=10``: see docs/traces.md.
"""

from __future__ import annotations

import json
import os
from typing import Any

from . import _native
from ._arguments import Trace, files, pairs
from ._results import Section, warn
from ._scenario import Scenario, speaking, without_flags
from ._tables import Table

__all__ = ["convert", "fit", "formats", "info", "read"]


def info(trace: Trace, *, format: str | None = None, **reading: object) -> Section:
    """What the trace holds, as printed by ``harmonia trace info --json``: requests, span, sizes, footprint."""
    described: Section = json.loads(speaking(_native.trace_info, _reading(trace, format, reading)), object_hook=Section)
    _warn(described["warnings"])
    return described


def read(trace: Trace, *, format: str | None = None, most: int | None = None, **reading: object) -> Table:
    """Every request, or the first ``most``: ``time_ns``, ``operation``, ``offset``, ``length`` and ``volume``,
    and ``handle`` where the trace has a column for placement handles."""
    if most is not None and most < 0:
        raise ValueError(f"most={most}: 0 or more")
    limit = 2**63 - 1 if most is None else most
    return Table(speaking(_native.trace_read, _reading(trace, format, reading), limit))


def convert(
    trace: Trace,
    out: str | os.PathLike[str],
    *,
    to: str | None = None,
    force: bool = False,
    exact: bool = False,
    format: str | None = None,
    **reading: object,
) -> Section:
    """Write the trace to the file ``out`` in the format ``to``, and return what was written, changed and dropped.

    ``out`` is packed if it ends in .gz or .zst, and Parquet if it ends in .parquet. ``force`` replaces a file that is
    there. With ``exact`` nothing is written if a request would be changed or dropped.
    """
    name = os.fspath(out)
    if os.path.isdir(name):
        raise _native.BadInput(f"out {name}: is a folder: name a file in it")
    if os.path.exists(name):
        if not force:
            raise _native.BadInput(f"out {name}: exists; force=True replaces it")
        if any(os.path.exists(file) and os.path.samefile(file, name) for file in files(trace)):
            raise _native.BadInput(f"out {name}: is one of the files that are read: name another")
    part = f"{name}.{os.getpid()}.part"
    try:
        text = speaking(_native.trace_convert, _reading(trace, format, reading), (part, name), to, exact)
        os.replace(part, name)
    finally:
        if os.path.exists(part):
            os.remove(part)
    written: Section = json.loads(text, object_hook=Section)
    return written


def fit(trace: Trace, *, array_bytes: int | None = None, format: str | None = None, **reading: object) -> Scenario:
    """A synthetic load like the trace, as a scenario whose array is still to be chosen.

    ``array_bytes`` is the array's logical size: a larger footprint is squeezed into it. Where the fit is not what it
    promises, a `HarmoniaWarning` says so.
    """
    text, warnings = speaking(_native.trace_fit, _reading(trace, format, reading), array_bytes)
    _warn(warnings)
    return Scenario(text)


def formats() -> list[dict[str, Any]]:
    """Every format that can be read: ``name``, ``summary``, ``source``, and whether it is ``writable``."""
    listed: list[dict[str, Any]] = json.loads(_native.formats_json())
    return listed


def _reading(trace: Trace, format: str | None, reading: dict[str, object]) -> tuple[list[str], str | None, list[str]]:
    return files(trace), format, pairs({f"workload.{key}": value for key, value in reading.items()})


def _warn(texts: list[str]) -> None:
    warn({"code": "trace", "text": without_flags(text)} for text in texts)

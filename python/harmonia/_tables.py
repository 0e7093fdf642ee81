"""Tables of results, which data-frame libraries read where they lie."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import pandas
    import polars

#: Most requests that the runs of one call keep together, unless it says otherwise.
KEPT = 10_000_000


class Table:
    """A table with the Arrow PyCapsule interface: ``polars.DataFrame(table)`` and ``pyarrow.table(table)`` read it
    without a copy of its numbers, and so does a query of DuckDB that names it.

    ``columns`` are the names of its columns, and ``len(table)`` is the number of its rows. ``total`` is how many rows
    there would be if all had been kept, and ``complete`` whether they are.
    """

    __slots__ = ("_table",)

    _table: _native.Table

    def __init__(self, table: _native.Table) -> None:
        self._table = table

    @property
    def columns(self) -> list[str]:
        return self._table.columns

    @property
    def total(self) -> int:
        return self._table.total

    @property
    def complete(self) -> bool:
        return len(self) == self.total

    def to_polars(self) -> polars.DataFrame:
        """As a frame of Polars, which has to be installed."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a frame of pandas, which has to be installed, as has PyArrow."""
        import pyarrow

        frame: pandas.DataFrame = pyarrow.table(self).to_pandas()
        return frame

    def __len__(self) -> int:
        return len(self._table)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    # A table never changes, so a copy is the same one.
    def __copy__(self) -> Table:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        return self

    def __repr__(self) -> str:
        return f"<harmonia.Table of {len(self):,} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        names = "".join(f"<li>{html.escape(name)}</li>" for name in self.columns)
        return f"<p>Table of {len(self):,} rows. Read it with <code>polars.DataFrame(..)</code>.</p><ul>{names}</ul>"


def table(columns: Iterable[tuple[str, str, Sequence[Any]]]) -> Table:
    """A small table of (name, kind, values); the kinds are integer, float and text."""
    return Table(_native.Table([(name, kind, list(values)) for name, kind, values in columns]))


def joined(runs: Iterable[tuple[str, int, Table]]) -> Table:
    """Tables of several runs as one, with each run's label and seed in front."""
    return Table(_native.Table.joined([(label, seed, table._table) for label, seed, table in runs]))


#: The report's names of the parts of a response time, and what tables and figures call them, in the order drawn.
PARTS = dict(_native.blame_parts)

#: The lists that a report has of each device over time.
OVER_TIME = ("channels_in_gc", "empty_blocks", "queue_depth", "victims_erased")
#: One more, of devices with a write cache.
FILLED = "write_cache_filled"


def blame_of(report: dict[str, Any]) -> Table:
    """One row for each part of the response time."""
    blame, requests = report["host"]["blame_ns"], report["host"]["requests"]
    sums = [float(blame.get(name, 0)) for name in PARTS]
    total = sum(sums)
    return table(
        [
            ("part", "text", list(PARTS.values())),
            ("total_ns", "float", sums),
            ("mean_ns", "float", [part / requests if requests else None for part in sums]),
            ("share", "float", [part / total if total else None for part in sums]),
        ]
    )


def over_time_of(report: dict[str, Any]) -> Table:
    """One row for each device and bucket of time; ``write_cache_filled`` where a device has a write cache."""
    of_device: list[int] = []
    start: list[int] = []
    values: dict[str, list[float]] = {name: [] for name in OVER_TIME}
    filled: list[float | None] = []
    for device, section in enumerate(report["devices"]):
        lists = section.get("over_time")
        if not lists:
            continue
        buckets = len(lists[OVER_TIME[0]])
        of_device += [device] * buckets
        start += [bucket * lists["bucket_ns"] for bucket in range(buckets)]
        for name in OVER_TIME:
            values[name] += map(float, lists[name])
        filled += lists.get(FILLED) or [None] * buckets
    return table(
        [
            ("device", "integer", of_device),
            ("start_ns", "integer", start),
            *((name, "float", of_name) for name, of_name in values.items()),
            *([(FILLED, "float", filled)] if any(share is not None for share in filled) else []),
        ]
    )


def figures_of(intervals: dict[str, Any]) -> Table:
    """One row for each variant and figure of a comparison."""
    rows: dict[str, list[Any]] = {
        name: [] for name in ("run", "figure", "mean", "half_width", "change", "change_half_width")
    }
    significant: list[str | None] = []
    for variant in intervals["variants"]:
        for figure, own in variant["metrics"].items():
            if own is None:
                continue
            versus = (variant["versus_baseline"] or {}).get(figure) or {}
            relative = versus.get("relative") or {}
            rows["run"].append(variant["label"])
            rows["figure"].append(figure)
            rows["mean"].append(own["mean"])
            rows["half_width"].append(own["half_width"])
            rows["change"].append(relative.get("mean"))
            rows["change_half_width"].append(relative.get("half_width"))
            significant.append({True: "yes", False: "no", None: None}[versus.get("significant")])
    kinds = {"run": "text", "figure": "text"}
    columns = [(name, kinds.get(name, "float"), values) for name, values in rows.items()]
    return table([*columns, ("significant", "text", significant)])

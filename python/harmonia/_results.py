"""Results: what a run printed, by item and by attribute, with a table for notebooks, kept in files."""

from __future__ import annotations

import contextlib
import copy
import html
import json
import os
import sys
import warnings
from collections.abc import Iterable
from typing import Any

from . import _native
from ._scenario import without_flags
from ._tables import Table, blame_of, figures_of, joined, over_time_of


class HarmoniaWarning(UserWarning):
    """What to know before believing a result. ``code`` is the short name that the result has under ``warnings``."""

    code: str

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class Section(dict[str, Any]):
    """A part of a report. Its keys are attributes too, where no method of dictionaries has their name."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            there = ", ".join(self)
            raise AttributeError(f"no {name!r} in this part of the report; there are {there}", name=name, obj=self) from None


class NotKept(LookupError):
    """A table that the report does not have."""


class Report(Section):
    """A report as printed by ``harmonia run --json``: ``report["host"]`` and ``report.host`` are the same.

    Parts that a run has no use for are not there: ``trace``, ``label`` and ``warnings`` among them. ``requests``,
    ``gc_intervals``, ``over_time`` and ``blame`` are tables (`Table`). The first two are there only in the process that
    ran it: files and pickles do not have them.
    """

    version: str
    seed: int
    simulated_ns: int
    scenario: Section
    host: Section
    array: Section
    devices: list[Section]
    precondition: Section
    engine: Section

    _kept: tuple[Table, Table] | None = None

    @property
    def requests(self) -> Table:
        """Every measured request: its times, address, and what it waited for. The columns are those of ``--parquet``."""
        return self._of_run("requests", 0)

    @property
    def gc_intervals(self) -> Table:
        """When each device collected garbage, on the clock of `requests`."""
        return self._of_run("gc_intervals", 1)

    @property
    def over_time(self) -> Table:
        """What went on inside devices, bucket by bucket. ``start_ns`` counts from where measuring began."""
        return over_time_of(self)

    @property
    def blame(self) -> Table:
        """Where the response time went: its parts, as sums, as means of a request, and as shares."""
        return blame_of(self)

    def _of_run(self, name: str, position: int) -> Table:
        if self._kept is None:
            raise NotKept(f"{name} were not kept: run it with requests=True; files and pickles never have them")
        table = self._kept[position]
        if not table.complete:
            text = f"{name} has the first {len(table):,} of {table.total:,} rows; requests=N keeps more"
            warn([{"code": "requests-cut", "text": text}])
        return table

    def __copy__(self) -> Report:
        return self._with_tables(Report(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Report:
        return self._with_tables(Report(copy.deepcopy(dict(self), memo)))

    def _with_tables(self, other: Report) -> Report:
        other._kept = self._kept
        return other

    def __getstate__(self) -> None:
        """Pickles leave the tables out."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the report as JSON, in the form of ``harmonia run --json``; `load` reads it."""
        _write(path, self)

    def _repr_html_(self) -> str:
        return _table([self])


class Comparison(list[Report]):
    """Reports, variant by variant, each with all of its seeds; and how far to trust them.

    ``intervals`` is the section of that name of ``harmonia compare --json``: the ``method``, its ``confidence``, and
    for each of ``variants`` a mean with the half-width of its interval for every figure, and what it changes against
    the first, with whether that is ``significant``. ``winners`` is that section too: who has the lowest ``mean``,
    ``p99``, ``read_p99`` and the fewest ``erases``; from a million requests a variant on ``read_p999`` too. Several
    ``labels`` are a tie. No labels mean that nobody can be named; ``void`` has the code of the warning that says why.
    ``warnings`` is what to know before believing it, as dictionaries of ``code`` and ``text``. What cannot be said is
    None.
    """

    intervals: dict[str, Any]
    winners: dict[str, Any]
    warnings: list[dict[str, Any]]

    def __init__(
        self,
        reports: Iterable[Report],
        intervals: dict[str, Any],
        winners: dict[str, Any],
        warnings: list[dict[str, Any]],
    ) -> None:
        super().__init__(reports)
        self.intervals = intervals
        self.winners = winners
        self.warnings = warnings

    @property
    def requests(self) -> Table:
        """`Report.requests` of all runs, with ``run`` and ``seed`` in front."""
        return joined((*_run(report), report.requests) for report in self)

    @property
    def gc_intervals(self) -> Table:
        """`Report.gc_intervals` of all runs, with ``run`` and ``seed`` in front."""
        return joined((*_run(report), report.gc_intervals) for report in self)

    @property
    def over_time(self) -> Table:
        """`Report.over_time` of all runs, with ``run`` and ``seed`` in front."""
        return joined((*_run(report), report.over_time) for report in self)

    @property
    def blame(self) -> Table:
        """`Report.blame` of all runs, with ``run`` and ``seed`` in front."""
        return joined((*_run(report), report.blame) for report in self)

    @property
    def figures(self) -> Table:
        """``intervals`` as a table: each figure of each variant, and what it changes against the first."""
        return figures_of(self.intervals)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the comparison as JSON; `load` reads it."""
        judged = {"intervals": self.intervals, "winners": self.winners, "warnings": self.warnings}
        _write(path, {"runs": list(self), **judged})

    def _repr_html_(self) -> str:
        return _table(self) + "".join(f"<p>{html.escape(warning['text'])}</p>" for warning in self.warnings)


def load(path: str | os.PathLike[str]) -> Report | Comparison:
    """Reads what ``save`` wrote, or the JSON that the command line printed. Raises ValueError for any other file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        read = json.loads(text, object_hook=Section)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: is not JSON: {error}") from None
    if isinstance(read, Section) and {"runs", "intervals", "winners", "warnings"} <= read.keys():
        return _comparison(read)
    if isinstance(read, Section) and str(read.get("schema")).startswith("harmonia-report/"):
        return Report(read)
    raise ValueError(f"{os.fspath(path)}: is neither a report nor a comparison of Harmonia")


#: Requests and intervals of each run, as the simulator gives them.
Kept = list[tuple[_native.Table, _native.Table]]


def report_of(text: str, kept: Kept) -> Report:
    """The report of a run that has just ended; its warnings are given at the line that asked for it."""
    report = Report(json.loads(text, object_hook=Section))
    _keep([report], kept)
    warn(report.get("warnings", []))
    return report


def comparison_of(text: str, kept: Kept) -> Comparison:
    """As `report_of`, for several runs: the warnings are those of the comparison."""
    comparison = _comparison(json.loads(text, object_hook=Section))
    _keep(comparison, kept)
    warn(comparison.warnings)
    return comparison


def _comparison(read: Section) -> Comparison:
    return Comparison(map(Report, read["runs"]), read["intervals"], read["winners"], read["warnings"])


def _keep(reports: list[Report], kept: Kept) -> None:
    for report, (requests, intervals) in zip(reports, kept):
        report._kept = Table(requests), Table(intervals)


def _run(report: Report) -> tuple[str, int]:
    return report.get("label") or report["scenario"]["name"], report["seed"]


def warn(said: Iterable[dict[str, Any]]) -> None:
    """Gives warnings at the line outside this package that asked for what they are about."""
    # From here to the first line outside this package.
    inside = os.path.dirname(__file__)
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == inside:
        level, frame = level + 1, frame.f_back
    for warning in said:
        warnings.warn(HarmoniaWarning(without_flags(warning["text"]), warning["code"]), stacklevel=level)


def _write(path: str | os.PathLike[str], value: object) -> None:
    """A value as JSON."""
    write_text(path, json.dumps(value))


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Whole or not at all: a file that is there stays until the new one is complete."""
    part = f"{os.fspath(path)}.{os.getpid()}.part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(part)
        raise


def _table(reports: Iterable[Report]) -> str:
    """One row for each run; a figure that cannot be said is a dash."""
    titles = ["run", "seed", "requests", "mean, ms", "p99, ms", "read p99, ms", "erases"]
    rows = []
    for report in reports:
        response = report["host"]["response_ns"]
        times = [response["all"]["mean"], response["all"]["p99"], response.get("read", {}).get("p99")]
        cells = [*_run(report), report["host"]["requests"]]
        cells += ["–" if time is None else f"{time / 1e6:.3f}" for time in times]
        rows.append([*cells, report["array"]["erases"]])
    head = "".join(f"<th>{title}</th>" for title in titles)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

"""Results: what a run printed, by item and by attribute, with a table for notebooks, kept in files."""

from __future__ import annotations

import contextlib
import html
import json
import os
import sys
import warnings
from collections.abc import Iterable
from typing import Any

from ._scenario import without_flags


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


class Report(Section):
    """A report as printed by ``harmonia run --json``: ``report["host"]`` and ``report.host`` are the same.

    Parts that a run has no use for are not there: ``trace``, ``label`` and ``warnings`` among them.
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


def report_of(text: str) -> Report:
    """The report of a run that has just ended; its warnings are given at the line that asked for it."""
    report = Report(json.loads(text, object_hook=Section))
    _warn(report.get("warnings", []))
    return report


def comparison_of(text: str) -> Comparison:
    """As `report_of`, for several runs: the warnings are those of the comparison."""
    comparison = _comparison(json.loads(text, object_hook=Section))
    _warn(comparison.warnings)
    return comparison


def _comparison(read: Section) -> Comparison:
    return Comparison(map(Report, read["runs"]), read["intervals"], read["winners"], read["warnings"])


def _warn(said: list[dict[str, Any]]) -> None:
    # From here to the first line outside this package.
    inside = os.path.dirname(__file__)
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == inside:
        level, frame = level + 1, frame.f_back
    for warning in said:
        warnings.warn(HarmoniaWarning(without_flags(warning["text"]), warning["code"]), stacklevel=level)


def _write(path: str | os.PathLike[str], value: object) -> None:
    """Whole or not at all: a file that is there stays until the new one is complete."""
    text = json.dumps(value)
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
        cells = [report.get("label") or report["scenario"]["name"], report["seed"], report["host"]["requests"]]
        cells += ["–" if time is None else f"{time / 1e6:.3f}" for time in times]
        rows.append([*cells, report["array"]["erases"]])
    head = "".join(f"<th>{title}</th>" for title in titles)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

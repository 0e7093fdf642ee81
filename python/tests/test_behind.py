"""Are the tables of docs/behind-the-cache.md those of the results that are kept, and do their intervals tell what they should?"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def behind() -> Any:
    sys.path.insert(0, str(ROOT / "experiments"))
    try:
        return importlib.import_module("behind")
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def kept(behind: Any) -> Any:
    return json.loads(behind.RESULTS.read_text(encoding="utf-8"))


def test_the_page_is_fresh(behind: Any, kept: Any) -> None:
    page = behind.PAGE.read_text(encoding="utf-8")
    made = behind.filled(page, behind.parts(kept, [*behind.LOADS, *behind.TRACES]))
    assert made == page, "docs/behind-the-cache.md is stale: run `make behind` and commit it"


def test_results_are_those_of_the_declared_cells(behind: Any, kept: Any) -> None:
    assert behind.RESULTS.read_text(encoding="utf-8") == behind.compact(kept)
    declared = {
        behind.key(load, level, drive, share, scheme[1])
        for load in [*behind.LOADS, *behind.TRACES]
        for level, drive, share, scheme in behind.cells(load)
    }
    served = {behind.key(load, level, drive, "served") for load in [*behind.LOADS, *behind.TRACES] for level, drive in behind.arrays()}
    assert set(kept) == declared | served
    assert all(len(kept[key]) == behind.SEEDS for key in declared)


def runs(*p99: float) -> list[dict[str, list[float | None]]]:
    return [{"read": [50.0, value, None]} for value in p99]


def test_a_change_is_told_only_where_seeds_agree(behind: Any) -> None:
    base = runs(100.0, 200.0, 300.0)
    halved = behind.change(runs(50.0, 101.0, 149.0), base, "read", 1)
    assert -0.52 < halved[1] < halved[0] < halved[2] < -0.48
    assert behind.percent(halved).startswith("**-50 (")
    mixed = behind.change(runs(50.0, 250.0, 290.0), base, "read", 1)
    assert mixed[1] < 0 < mixed[2] and "**" not in behind.percent(mixed)


def test_three_equal_changes_have_the_interval_of_student(behind: Any) -> None:
    # Log ratios 0, 0.1 and 0.2: 0.1 on average, 0.1 / sqrt(3) of standard error, and 4.303 of that on each side.
    base, grown = runs(1.0, 1.0, 1.0), runs(1.0, 1.1051709, 1.2214028)
    assert behind.change(grown, base, "read", 1) == pytest.approx((0.10517, -0.13794, 0.41685), abs=1e-4)


def test_no_change_is_shown_where_requests_or_seeds_are_too_few(behind: Any) -> None:
    base = runs(100.0, 200.0, 300.0)
    assert behind.percent(behind.change(base, base, "read", 2)) == "-"
    assert behind.percent(behind.change(None, base, "read", 1)) == "-"
    assert not behind.is_told(behind.change(runs(50.0), runs(100.0), "read", 1))


def test_only_what_stands_between_the_marks_is_made(behind: Any) -> None:
    page = "by hand\n<!-- made: behind, rates -->\nold\n<!-- end -->\nby hand\n"
    assert behind.filled(page, {"rates": "new\n"}) == page.replace("old", "new")

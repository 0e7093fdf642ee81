"""Are the tables and the figure of docs/latency-and-lifetime.md those of the results that are kept? Are years what they should be?"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def years() -> Any:
    sys.path.insert(0, str(ROOT / "experiments"))
    try:
        return importlib.import_module("years")
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def kept(years: Any) -> Any:
    return json.loads(years.RESULTS.read_text(encoding="utf-8"))


def test_the_page_is_fresh(years: Any, kept: Any) -> None:
    page = years.PAGE.read_text(encoding="utf-8")
    made = years.filled(page, years.parts(kept, years.LOADS), "years")
    assert made == page, "docs/latency-and-lifetime.md is stale: run `make years` and commit it"


def test_the_figure_has_every_point_of_the_results(years: Any, kept: Any) -> None:
    picture = years.PICTURE.read_text(encoding="utf-8")
    points = [point for load in years.LOADS for point in years.points(kept, load)]
    missing = [point for point in points if f">{point['name']}: {point['x']:g} by {point['y']:g}<" not in picture]
    assert not missing, "docs/latency-and-lifetime.svg is stale: run `make years` and commit it"
    # Those of the legend have no name.
    assert picture.count(" by ") == len(points) > 60


def test_results_are_those_of_the_declared_cells(years: Any, kept: Any) -> None:
    assert years.RESULTS.read_text(encoding="utf-8") == years.compact(kept)
    declared = {years.key(load, scheme[2]) for load, scheme in years.cells(years.LOADS)}
    assert set(kept) == declared
    assert all(len(kept[key]) == years.SEEDS for key in declared)


def report(amplification: float | None) -> dict[str, Any]:
    """Of a run in which users write a tenth of `DAILY` to six drives of a terabyte each, twice."""
    daily = 480e9
    life = {"drive_writes_per_day": 2 * daily / 6 / 1e12, "flash_bytes_per_day": None, "years": {"cycles": None}}
    if amplification:
        flash = 2 * daily / 6 * amplification / 2
        life.update(flash_bytes_per_day=flash, years={"cycles": 3000 * 1e12 / flash / 365})
    percentiles = {level: 1 for level in ("p50", "p99", "p999")}
    array = {
        "lifetime": {"host_bytes_per_day": daily},
        "write_amplification": 1.0,
        "write_amplification_whole_cycles": amplification,
    }
    response = {"read": percentiles, "write": percentiles}
    return {"array": array, "devices": [{"lifetime": life}] * 6, "host": {"response_ns": response}}


def test_years_are_cycles_of_all_flash_over_what_is_programmed_a_day(years: Any) -> None:
    found = years.figures(report(8.0))
    # `DAILY` times 8 a day into six terabytes that endure 3,000 cycles.
    assert found["years"] == [pytest.approx(6e12 * 3000 / (4.8e12 * 8.0) / 365, rel=1e-3)]
    # A terabyte a day for five years, and each drive takes 1.6 a day at `DAILY`.
    assert found["rated"] == [pytest.approx(5 / 1.6, rel=1e-3)]
    assert found["collected"] == 0.125


def test_years_are_not_told_where_nothing_was_collected(years: Any) -> None:
    assert years.figures(report(None))["years"] == [None]


def test_two_levers_stand_beside_the_product_of_each(years: Any) -> None:
    assert years.beside((0.2, 0.1, 0.3), [(0.5, 0, 0), (-0.5, 0, 0)]) == "**+20 (+10 to +30)**, alone -25"

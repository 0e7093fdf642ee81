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
    made = years.filled(page, years.parts(kept, years.LOADS, years.PUBLISHED), "years")
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
    declared = {years.key(load, scheme[2]) for load, scheme in years.cells([*years.LOADS, *years.PUBLISHED])}
    # Floating stripes cannot be aged by a trace.
    floating = {years.key(trace, "gaftl, floating") for trace in years.PUBLISHED}
    assert set(kept) == declared - floating
    assert all(len(runs) == years.SEEDS for runs in kept.values())


def test_published_traces_are_those_that_were_replayed(years: Any, kept: Any) -> None:
    for trace in years.PUBLISHED:
        local, spare = (kept[years.key(trace, scheme)] for scheme in ("local", "a tenth left empty"))
        assert {run["trace"] for run in [*local, *spare]} == {trace.rows}


def report(amplification: float | None, daily: float = 480e9) -> dict[str, Any]:
    """Of a run in which users write a tenth of `DAILY` to six drives of a terabyte each, twice."""
    life: dict[str, Any] = {"drive_writes_per_day": 2 * daily / 6 / 1e12, "flash_bytes_per_day": None, "years": {"cycles": None}}
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


def test_the_rating_lasts_for_no_number_of_years_where_nothing_is_written(years: Any) -> None:
    assert years.figures(report(None, daily=0.0))["rated"] == [None]


def cell(tail: int | None = 400_000, collected: float = 1.0, written: float = 1.2) -> list[dict[str, Any]]:
    """Three seeds that agree, of a trace whose users write a gigabyte a day."""
    one = {"read": [1, 1, tail], "write": [1, 1, 1], "years": [1.5], "rated": [3.0], "collected": collected}
    return [{**one, "daily": 10**9, "written": [written], "trace": "abc"}] * 3


def own_trace(years: Any) -> Any:
    [trace] = years.traces_of(["own.csv:1"])
    return trace


def row(table: list[str], name: str) -> list[str]:
    rows = ([entry.strip() for entry in line.strip("|").split("|")] for line in table)
    return next(found for found in rows if name in found)


@pytest.mark.parametrize("is_refused", [True, False])
def test_a_trace_that_is_refused_or_has_too_few_reads_has_dashes(years: Any, is_refused: bool) -> None:
    trace = own_trace(years)
    store = {} if is_refused else {years.key(trace, scheme[2]): cell(None) for _, scheme in years.cells([trace])}
    table = years.parts(store, [years.LOADS[0]], [trace])["traces"].splitlines()
    assert row(table, "local")[2:] == (["-", "-"] if is_refused else ["-", "1.20 bytes a byte"])
    assert row(table, trace.name)[2:] == (["-", "-"] if is_refused else ["1 GB", "over a century"])
    assert years.points(store, trace) == []


def test_the_page_is_written_before_tables_of_traces_are_shown(
    years: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page, results = tmp_path / "page.md", tmp_path / "results.json"
    page.write_text("<!-- made: years, pairs -->\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(years, "PAGE", page)
    monkeypatch.setattr(years, "RESULTS", results)
    # A simulator that refuses every scenario.
    monkeypatch.setattr(sys, "argv", ["years.py", "false", str(tmp_path), "own.csv:1", "--keep"])
    years.main()
    assert results.exists() and "| ioda + nvram | - |" in page.read_text(encoding="utf-8")
    assert "| own x 1 | own.csv | - | - |" in capsys.readouterr().out


def test_traces_keep_their_cells_apart_from_loads_and_from_one_another(years: Any) -> None:
    traces = years.traces_of(["reads.csv:1", "reads.csv:0.5", "a/own.csv:1", "b/own.csv:1"])
    assert [trace.name for trace in traces] == ["reads x 1", "reads x 0.5", "a/own.csv x 1", "b/own.csv x 1"]
    assert len({years.key(load, "local") for load in [*years.LOADS, *traces]}) == 7
    # Alone, each is called by its name, and neither finds the cells of the other.
    alone = [years.traces_of([f"{folder}/own.csv:1"])[0] for folder in "ab"]
    assert {trace.name for trace in alone} == {"own x 1"}
    assert years.key(alone[0], "local") != years.key(alone[1], "local")


def test_both_tables_mark_years_of_what_put_collection_off(years: Any) -> None:
    load = years.LOADS[1]
    store = {years.key(load, scheme[2]): cell() for _, scheme in years.cells([load])}
    for late in ("ioda", "ioda + nvram"):
        store[years.key(load, late)] = cell(collected=0.8)
    made = {part: table.splitlines() for part, table in years.parts(store, [load], []).items()}
    assert row(made["schemes"], "ioda")[2:4] == ["0 (0 to 0)", "0 (0 to 0) †"]
    assert row(made["schemes"], "plm")[3] == "0 (0 to 0)"
    assert row(made["pairs"], "ioda + nvram")[1:] == ["0 (0 to 0), alone 0", "0 (0 to 0) †, alone 0 †"]
    assert row(made["pairs"], "ioda, a tenth left empty")[2] == "0 (0 to 0), alone 0 †"


def test_under_a_trace_only_what_does_not_tie_has_a_row(years: Any) -> None:
    trace = own_trace(years)
    store = {years.key(trace, scheme[2]): cell() for _, scheme in years.cells([trace])}
    store[years.key(trace, "hedge")] = cell(380_000)
    store[years.key(trace, "gaftl")] = cell(written=1.5)
    store[years.key(trace, "plm")] = cell(collected=0.8)
    del store[years.key(trace, "serial + nvram")]
    table = years.parts(store, [years.LOADS[0]], [trace])["traces"]
    rows = table.splitlines()
    assert row(rows, "hedge")[2:] == ["**-5 (-5 to -5)**", "0 (0 to 0)"]
    assert row(rows, "gaftl")[2:] == ["0 (0 to 0)", "**+25 (+25 to +25)**"]
    assert row(rows, "plm")[2:] == ["0 (0 to 0)", "0 (0 to 0) †"]
    [ties] = [line for line in rows if line.startswith("Ties")]
    tied = set(ties.rstrip(".").split(": ")[1].split("; "))
    assert tied > {"ioda", "ideal", "RAID-10"}
    assert not tied & {"hedge", "gaftl", "plm", "local", "serial + nvram"}


def test_years_of_a_trace_are_those_of_its_own_hours(years: Any) -> None:
    [fast] = years.traces_of(["own.csv:0.01"])
    run = {**report(8.0, daily=480e9), "trace": {"hash": "abc"}}
    found = fast.figures(run)
    # A hundredth of what it writes when it is played a hundred times as fast.
    assert (found["daily"], found["trace"], found["written"]) == (4.8e9, "abc", [8.0])
    assert years.own_years([found] * 3) == pytest.approx(1000 * found["years"][0])
    assert years.in_years(99.0) == "99"


def test_a_trace_runs_on_the_array_that_is_named_for_it(years: Any) -> None:
    trace = own_trace(years)
    spare = next(scheme for scheme in years.SCHEMES if scheme[2] == "a tenth left empty")
    arguments, keys = trace.arguments(False, spare[4])
    assert arguments[:2] == ["--trace", "own.csv"] and "--drive" in arguments
    # No scale, no array and no addresses but those of the drive, the command and the trace.
    assert not any(key.startswith(("ssd.scale", "ssd.preset", "array.", "workload.address")) for key in keys)
    assert "precondition.fill=0.9" in keys


def test_the_page_keeps_a_published_trace_that_is_not_given_again(
    years: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = years.Published("known", "somewhere", "abc")
    results = tmp_path / "results.json"
    monkeypatch.setattr(years, "PUBLISHED", [published])
    monkeypatch.setattr(years, "RESULTS", results)
    given, fast = years.traces_of(["own.csv:1", "own.csv:0.5"])
    tails = ((given, 1), (fast, 2))
    store = {years.key(trace, one[2]): cell(tail) for trace, tail in tails for _, one in years.cells([trace])}
    assert years.kept(store, [fast]) == {}, "at another speed it is another load"
    other = {name: [{**run, "trace": "other"} for run in runs] for name, runs in store.items()}
    assert years.kept(other, [given]) == {}, "another trace"
    found = years.kept(store, [fast, given])
    assert {name.split("/")[0] for name in found} == {"known"} and len(found) == len(years.cells([published]))
    assert found["known/hedge"][0]["read"][2] == 1
    results.write_text(json.dumps(found), encoding="utf-8")
    assert years.kept({}, []) == found


def test_what_rounds_to_zero_has_no_sign(years: Any) -> None:
    assert years.percent((-0.004, -0.006, 0.011)) == "0 (-1 to +1)"
    assert years.percent((0.003, -0.05, 0.10)) == "0 (-5 to +10)"


def test_two_levers_stand_beside_the_product_of_each(years: Any) -> None:
    assert years.beside((0.2, 0.1, 0.3), [(0.5, 0, 0), (-0.5, 0, 0)]) == "**+20 (+10 to +30)**, alone -25"

"""Do figures show the results, for one run and for several, as vectors?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import altair as alt
import harmonia
import polars as pl
import pytest
from harmonia import plot

pytestmark = pytest.mark.filterwarnings("ignore::harmonia.HarmoniaWarning")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> harmonia.Comparison:
    return harmonia.compare("tiny", policies=["local", "reactive-inclusive", "ideal"], seeds=2, cache=False)


def data(chart: alt.TopLevelMixin) -> dict[str, list[dict[str, Any]]]:
    """What the chart draws, by the name that Altair gives the data."""
    drawn: dict[str, list[dict[str, Any]]] = chart.to_dict()["datasets"]
    return drawn


def test_a_tail_is_a_share_of_slower_requests(compared: harmonia.Comparison) -> None:
    (rows,) = data(plot.tail(compared)).values()
    curve = pl.DataFrame(rows).filter(pl.col("run") == "local")
    assert curve["share"].is_sorted(descending=True) and curve["ms"].is_sorted()
    times = pl.DataFrame(compared.requests).filter(pl.col("run").cast(pl.String) == "local")["response_ns"] / 1e6
    assert curve["share"][-1] == 1 / len(times)
    for row in curve.sample(20, seed=1).iter_rows(named=True):
        slower = (times > row["ms"]).sum() / len(times)
        assert slower <= row["share"] <= (times >= row["ms"]).sum() / len(times)
    reads = pl.DataFrame(next(iter(data(plot.tail(compared[0], operation="read")).values())))
    assert reads["share"].min() == pytest.approx(1 / compared[0].host.read_requests)
    with pytest.raises(ValueError, match="there are no trims to draw"):
        plot.tail(compared, operation="trim")


def test_strips_show_all_time_in_collection(compared: harmonia.Comparison) -> None:
    report = compared[0]
    rows = pl.DataFrame(next(rows for rows in data(plot.over_time(report)).values() if "share" in rows[0]))
    requests = pl.DataFrame(report.requests)
    begin, end = requests.select(pl.col("arrival_ns").min(), pl.col("finish_ns").max()).row(0)
    width = -(-(end - begin) // 120)
    busy = dict(rows.group_by("device").agg(pl.col("share").sum() * width).iter_rows())
    intervals = pl.DataFrame(report.gc_intervals)
    # Collection before the first arrival is not on the picture.
    drawn = pl.min_horizontal("end_ns", pl.lit(end)) - pl.max_horizontal("start_ns", pl.lit(begin))
    expected = dict(intervals.group_by("device").agg(drawn.clip(0).sum()).iter_rows())
    for device in range(len(report.devices)):
        assert busy[device] == pytest.approx(expected[device]), device
    assert rows["share"].max() <= 1.0 + 1e-9  # type: ignore[operator]
    assert len(plot.over_time(compared).to_dict()["vconcat"]) == 3


def test_bars_sum_to_the_mean(compared: harmonia.Comparison) -> None:
    (rows,) = data(plot.blame(compared)).values()
    bars = pl.DataFrame(rows).group_by("run").agg(pl.col("ms").sum())
    means = dict(bars.iter_rows())
    ideal = [run.host.response_ns.all.mean for run in compared if run.label == "ideal"]
    assert means["ideal"] == pytest.approx(sum(ideal) / len(ideal) / 1e6)
    assert not any(row["run"] == "ideal" and row["part"] == "GC queue" for row in rows)


def test_a_comparison_has_its_intervals(compared: harmonia.Comparison) -> None:
    rows = next(iter(data(plot.compare(compared, "p99")).values()))
    of_ideal = next(row for row in rows if row["run"] == "ideal")
    p99 = compared.intervals["variants"][2]["metrics"]["p99"]
    assert of_ideal["value"] == pytest.approx(p99["mean"] / 1e6)
    assert of_ideal["high"] - of_ideal["low"] == pytest.approx(2 * p99["half_width"] / 1e6)
    with pytest.raises(ValueError, match="figure='nonsense': this comparison has mean, "):
        plot.compare(compared, "nonsense")


def test_figures_are_saved_as_vectors(compared: harmonia.Comparison, tmp_path: Path) -> None:
    charts = {
        "tail": plot.tail(compared),
        "over-time": plot.over_time(compared[0]),
        "blame": plot.blame(compared),
        "compare": plot.compare(compared),
    }
    for name, chart in charts.items():
        chart.save(str(tmp_path / f"{name}.svg"))
        assert (tmp_path / f"{name}.svg").read_text().startswith("<svg"), name
        json.dumps(chart.to_dict())
    charts["tail"].save(str(tmp_path / "tail.pdf"))
    assert (tmp_path / "tail.pdf").read_bytes().startswith(b"%PDF")

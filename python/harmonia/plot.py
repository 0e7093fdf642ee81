"""Figures of results, as Altair charts: ``pip install 'harmonia-ssd[plot]'``.

>>> import harmonia
>>> from harmonia import plot
>>> plot.tail(harmonia.compare("tiny")).save("tail.pdf")                     # doctest: +SKIP

`tail` shows how many requests are slower than a time, `over_time` when requests were slow and who collected, `blame`
where response times went, and `compare` a figure of each variant with its interval. Charts can be changed as any chart
of Altair (``.properties(width=300)``), and saved as vectors (PDF, SVG) or pixels (PNG).

Colours are those of Okabe and Ito, which people who see few colours tell apart.
"""

from __future__ import annotations

import math
from typing import Any, Literal

try:
    import altair as alt
    import polars as pl
except ImportError as error:
    raise ImportError(f"harmonia.plot needs Altair and Polars: pip install 'harmonia-ssd[plot]' ({error})") from None

from ._results import Comparison, Report
from ._tables import PARTS

__all__ = ["blame", "compare", "over_time", "tail"]

#: The first is the baseline's.
COLOURS = ["#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A8A8A", "#000000"]
#: Parts of a response time keep their colours from figure to figure.
PART_COLOURS = ["#56B4E9", "#0072B2", "#8A8A8A", "#009E73", "#D55E00", "#CC79A7", "#E69F00", "#F0E442", "#000000", "#BBBBBB"]
#: Figures that are times.
TIMES = {"mean", "stddev", "p50", "p95", "p99", "p999", "p9999", "read_p99", "read_p999"}

Operation = Literal["read", "write", "trim", "flush"]
#: What is drawn of a comparison, or of one run of it.
Results = Report | Comparison


def tail(results: Results, *, operation: Operation | None = None, points: int = 200) -> alt.Chart:
    """How many requests are slower than a time: the complementary distribution of response times, both axes logarithmic.

    Requests of all seeds of a variant are taken together. ``operation`` draws those alone.
    """
    requests = _requests(results, operation)
    curves = []
    for run in _runs(results):
        times = requests.filter(pl.col("run") == run)["response_ns"].sort()
        if len(times) > 0:
            curves.append(_curve(times, points).with_columns(run=pl.lit(run)))
    frame = pl.concat(curves) if curves else pl.DataFrame({"ms": [], "share": [], "run": []})
    chart: alt.Chart = (
        alt.Chart(frame)
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("ms:Q", title="response time, ms", **_logarithmic(frame["ms"])),
            y=alt.Y("share:Q", title="requests that are slower", **_logarithmic(frame["share"], format="~%")),
            color=_colour(results),
        )
        .properties(width=360, height=240)
    )
    return chart


def over_time(results: Results, *, buckets: int = 120, operation: Operation | None = None) -> alt.VConcatChart:
    """When requests were slow, and which devices collected garbage meanwhile.

    For each run there are the median and the 99th percentile of the requests that arrived in each of ``buckets`` equal
    spans of time. The strip below has a row for each device: the darker, the more of the span it collected. Of several
    seeds the first is drawn.
    """
    if buckets < 1:
        raise ValueError(f"buckets={buckets}: 1 or more")
    runs = [results] if isinstance(results, Report) else _first_seeds(results)
    drawn = (_run_over_time(report, buckets, operation) for report in runs)
    chart: alt.VConcatChart = alt.vconcat(*drawn).resolve_scale(y="independent")
    return chart


def blame(results: Results) -> alt.Chart:
    """Where response times went: the mean of a request part by part, over all seeds of a variant."""
    frame = (
        _in_runs(results, "blame")
        .group_by("run", "part", maintain_order=True)
        .agg(ms=pl.col("mean_ns").mean() / 1e6, share=pl.col("share").mean())
        .filter(pl.col("ms") > 0)
    )
    parts = [part for part in PARTS.values() if part in set(frame["part"])]
    places = {part: place for place, part in enumerate(PARTS.values())}
    colours = [PART_COLOURS[places[part]] for part in parts]
    frame = frame.with_columns(place=pl.col("part").replace_strict(places, return_dtype=pl.Int64))
    chart: alt.Chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("ms:Q", title="mean response time, ms"),
            y=alt.Y("run:N", sort=_runs(results), title=None),
            color=alt.Color("part:N", scale=alt.Scale(domain=parts, range=colours), title=None),
            order=alt.Order("place:Q"),
            tooltip=["run", "part", alt.Tooltip("ms:Q", format=".4~g"), alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=360)
    )
    return chart


def compare(comparison: Comparison, figure: str = "mean") -> alt.LayerChart:
    """A figure of each variant, with the interval that holds its true value with 95%.

    ``figure`` is one of `Comparison.figures`: ``"mean"``, ``"p99"``, ``"erases"`` and so on.
    """
    figures = pl.DataFrame(comparison.figures)
    frame = figures.filter(pl.col("figure") == figure)
    if frame.is_empty():
        known = ", ".join(figures["figure"].unique(maintain_order=True))
        raise ValueError(f"figure={figure!r}: this comparison has {known}")
    unit, scale = ("ms", 1e6) if figure in TIMES else (None, 1.0)
    half = pl.col("half_width").fill_null(0.0)
    frame = frame.with_columns(
        value=pl.col("mean") / scale, low=(pl.col("mean") - half) / scale, high=(pl.col("mean") + half) / scale
    )
    title = figure.replace("_", " ") + (f", {unit}" if unit else "")
    runs = alt.Y("run:N", sort=_runs(comparison), title=None)
    base = alt.Chart(frame).encode(y=runs, color=_colour(comparison, legend=False))
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, scale=alt.Scale(zero=False)), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("value:Q"), tooltip=["run", "mean", "half_width", "change", "significant"]
    )
    chart: alt.LayerChart = (bars + dots).properties(width=360)
    return chart


def _curve(times: pl.Series, points: int) -> pl.DataFrame:
    """Of sorted times, at shares that a logarithmic axis has at equal distances: each time, and who is slower."""
    count = len(times)
    decades = math.log10(count) if count > 1 else 1.0
    shares = (10 ** (-decades * point / max(points - 1, 1)) for point in range(points))
    slower = sorted({min(count, max(1, round(share * count))) for share in shares}, reverse=True)
    values = times.gather([count - rank for rank in slower])
    return pl.DataFrame({"ms": values / 1e6, "share": [rank / count for rank in slower]}).filter(pl.col("ms") > 0)


def _run_over_time(report: Report, buckets: int, operation: Operation | None) -> alt.VConcatChart:
    requests = _requests(report, operation)
    begin, end = _span(requests, "arrival_ns", "finish_ns")
    width = max(1, -(-(end - begin) // buckets))
    seconds = (pl.col("bucket") * width + begin) / 1e9
    response = (
        requests.with_columns(bucket=(pl.col("arrival_ns") - begin) // width)
        .group_by("bucket")
        .agg(median=pl.col("response_ns").median() / 1e6, p99=pl.col("response_ns").quantile(0.99) / 1e6)
        .sort("bucket")
        .with_columns(s=seconds)
        .unpivot(["median", "p99"], index="s", variable_name="figure", value_name="ms")
    )
    across = alt.X("s:Q", title=None, axis=alt.Axis(labels=False), scale=alt.Scale(nice=False, zero=False))
    devices = len(report["devices"])
    lines = (
        alt.Chart(response, title=_name(report))
        .mark_line(interpolate="step-after")
        .encode(
            x=across,
            y=alt.Y("ms:Q", title="response, ms", **_logarithmic(response["ms"])),
            color=alt.Color("figure:N", scale=alt.Scale(domain=["p99", "median"], range=COLOURS[:2]), title=None),
        )
        .properties(width=560, height=120)
    )
    collected = _collected(pl.DataFrame(report.gc_intervals), begin, width, buckets)
    strip = (
        alt.Chart(collected.with_columns(s=seconds, until=seconds + width / 1e9))
        .mark_rect()
        .encode(
            x=alt.X("s:Q", title="time, s", scale=alt.Scale(nice=False, zero=False)),
            x2="until:Q",
            y=alt.Y("device:O", title="device", scale=alt.Scale(domain=list(range(devices)))),
            opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
            color=alt.value(COLOURS[0]),
            tooltip=["device", alt.Tooltip("share:Q", format=".0%", title="of the span collecting")],
        )
        .properties(width=560, height=max(24, 10 * devices))
    )
    chart: alt.VConcatChart = alt.vconcat(lines, strip).resolve_scale(x="shared")
    return chart


def _logarithmic(values: pl.Series, format: str = "~g") -> dict[str, Any]:
    """A logarithmic axis around these values, with a line at each power of ten, or at each digit within one or two."""
    low, high = float(values.min() or 1.0), float(values.max() or 1.0)  # type: ignore[arg-type]
    low, high = low / 1.1, high if high == 1.0 else high * 1.1
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1,) if len(decades) > 3 else (1, 2, 5)
    lines = [digit * 10.0**decade for decade in decades for digit in digits]
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    return {"scale": scale, "axis": alt.Axis(values=[line for line in lines if low <= line <= high], format=format)}


def _collected(intervals: pl.DataFrame, begin: int, width: int, buckets: int) -> pl.DataFrame:
    """By device and bucket, the share of the bucket in which the device collected."""
    first, last = (pl.col("start_ns") - begin) // width, (pl.col("end_ns") - 1 - begin) // width
    overlap = pl.min_horizontal("end_ns", pl.col("until")) - pl.max_horizontal("start_ns", pl.col("from"))
    return (
        intervals.with_columns(bucket=pl.int_ranges(first.clip(0), last.clip(-1, buckets - 1) + 1))
        .explode("bucket")
        .drop_nulls("bucket")
        .with_columns(from_=pl.col("bucket") * width + begin)
        .rename({"from_": "from"})
        .with_columns(until=pl.col("from") + width)
        .group_by("device", "bucket")
        .agg(share=overlap.sum() / width)
        .sort("device", "bucket")
    )


def _requests(results: Results, operation: Operation | None) -> pl.DataFrame:
    columns = ["run", "operation", "arrival_ns", "finish_ns", "response_ns"]
    frame = _in_runs(results, "requests").select(columns)
    if operation is not None:
        frame = frame.filter(pl.col("operation").cast(pl.String) == operation)
    if frame.is_empty():
        raise ValueError(f"there are no {operation or 'request'}s to draw")
    return frame


def _in_runs(results: Results, table: str) -> pl.DataFrame:
    """A table of all runs, with their names in front."""
    frame = pl.DataFrame(getattr(results, table))
    if isinstance(results, Report):
        return frame.with_columns(run=pl.lit(_name(results)))
    return frame.with_columns(pl.col("run").cast(pl.String))


def _span(frame: pl.DataFrame, first: str, last: str) -> tuple[int, int]:
    begin, end = frame.select(pl.col(first).min(), pl.col(last).max()).row(0)
    return int(begin), int(end)


def _first_seeds(comparison: Comparison) -> list[Report]:
    first: dict[str, Report] = {}
    for report in comparison:
        first.setdefault(_name(report), report)
    return list(first.values())


def _runs(results: Results) -> list[str]:
    reports = [results] if isinstance(results, Report) else results
    return list(dict.fromkeys(map(_name, reports)))


def _name(report: Report) -> str:
    name: str = report.get("label") or report["scenario"]["name"]
    return name


def _colour(results: Results, legend: bool = True) -> alt.Color:
    runs = _runs(results)
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(runs))]
    scale = alt.Scale(domain=runs, range=colours)
    return alt.Color("run:N", scale=scale, title=None) if legend else alt.Color("run:N", scale=scale, legend=None)

"""Do other libraries read tables where they lie, and do the tables say what the report says?"""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import harmonia
import polars as pl
import pyarrow
import pytest

FEW = {"workload.requests": 800}

pytestmark = pytest.mark.filterwarnings("ignore::harmonia.HarmoniaWarning")


def address(series: pl.Series) -> int:
    """Where the only chunk of a series has its values."""
    (chunk,) = pyarrow.chunked_array(series).chunks
    return int(chunk.buffers()[1].address)


def test_requests_and_intervals_sum_to_the_report() -> None:
    report = harmonia.run("tiny")
    requests, intervals = pl.DataFrame(report.requests), pl.DataFrame(report.gc_intervals)
    assert len(requests) == len(report.requests) == report.requests.total == report.host.requests
    response = report.host.response_ns.all
    assert requests["response_ns"].mean() == pytest.approx(response.mean) and requests["response_ns"].max() == response.max
    for part in ("service", "transfer", "queue_host", "queue_gc", "parity", "link", "stripe_wait"):
        assert requests[f"{part}_ns"].sum() == report.host.blame_ns[part], part
    operations = requests["operation"].cast(pl.String)
    assert (operations == "read").sum() == report.host.read_requests
    assert (operations == "write").sum() == report.host.write_requests
    waited = requests["gc_member"].drop_nulls().value_counts()
    assert dict(waited.iter_rows()) == {
        member: device.gc_waits.requests for member, device in enumerate(report.devices) if device.gc_waits.requests
    }
    fractions = report.array.devices_in_gc_fraction
    collecting = sum(devices * fraction for devices, fraction in enumerate(fractions)) * report.simulated_ns
    assert (intervals["end_ns"] - intervals["start_ns"]).sum() == pytest.approx(collecting)
    assert set(intervals["device"]) == set(range(len(report.devices)))


def test_no_library_copies_the_numbers() -> None:
    report = harmonia.run("tiny", sets=FEW)
    table = report.requests
    frame, arrow = pl.DataFrame(table), pyarrow.table(table)
    for name in table.columns:
        if frame[name].dtype in (pl.Int64, pl.UInt64):
            assert [address(frame[name])] == table._table.addresses(name), name
            assert [arrow[name].chunk(0).buffers()[1].address] == table._table.addresses(name), name
    compared = harmonia.compare("tiny", policies=["local", "ideal"], seeds=1, sets=FEW)
    both = pl.DataFrame(compared.requests)["response_ns"]
    assert [address(chunk) for chunk in both.get_chunks()] == compared.requests._table.addresses("response_ns")


def test_every_library_reads_the_same() -> None:
    table = harmonia.run("tiny", sets=FEW).requests
    frame = table.to_polars()
    assert frame.columns == table.columns == list(table.to_pandas().columns)
    assert table.to_pandas()["response_ns"].tolist() == frame["response_ns"].to_list()
    query = 'select operation, count(*), sum(response_ns)::int64 from "table" group by 1 order by 1'
    counted: Any = duckdb.sql(query)
    expected = frame.group_by(pl.col("operation").cast(pl.String)).agg(pl.len(), pl.col("response_ns").sum()).sort("operation")
    assert counted.fetchall() == expected.rows()
    assert pyarrow.schema(table).names == table.columns


def test_frames_outlive_what_they_were_read_from() -> None:
    report = harmonia.run("tiny", sets=FEW)
    frame, total = pl.DataFrame(report.requests), report.host.blame_ns.service
    del report
    gc.collect()
    harmonia.run("tiny", sets=FEW)
    assert frame["service_ns"].sum() == total


def test_requests_are_kept_up_to_a_bound() -> None:
    cut = harmonia.run("tiny", sets=FEW, requests=100)
    with pytest.warns(harmonia.HarmoniaWarning, match="requests has the first 100 of 720 rows; requests=N keeps more"):
        requests = cut.requests
    assert (len(requests), requests.total, requests.complete) == (100, 720, False)
    whole = pl.DataFrame(harmonia.run("tiny", sets=FEW).requests)
    assert pl.DataFrame(requests).equals(whole.head(100))
    compared = harmonia.compare("tiny", policies=["local", "ideal"], seeds=2, sets=FEW, requests=100)
    with pytest.warns(harmonia.HarmoniaWarning, match="first 25 of 720"):
        assert len(compared.requests) == 4 * 25
    for none in (harmonia.run("tiny", sets=FEW, requests=False), pickle.loads(pickle.dumps(cut))):
        with pytest.raises(harmonia.NotKept, match="requests were not kept: run it with requests=True"):
            none.requests
        with pytest.raises(harmonia.NotKept):
            none.gc_intervals
    with pytest.raises(ValueError, match="requests=-1: True, False, or the most requests to keep"):
        harmonia.run("tiny", sets=FEW, requests=-1)


def test_reports_are_the_same_whoever_watches() -> None:
    kept, not_kept = (harmonia.run("tiny", sets=FEW, requests=requests) for requests in (True, False))
    for device in kept.devices:
        del device["over_time"]
    assert {**kept, "engine": None} == {**not_kept, "engine": None} and len(not_kept.over_time) == 0


def test_a_copy_has_the_tables() -> None:
    report = harmonia.run("tiny", sets=FEW)
    for other in (copy.copy(report), copy.deepcopy(report)):
        assert other == report and other.host.requests == report.host.requests
        assert len(other.requests) == len(report.requests)
    assert pickle.loads(pickle.dumps(report)) == report


def test_runs_of_a_comparison_are_one_table() -> None:
    compared = harmonia.compare("tiny", policies=["local", "ideal"], seeds=2, sets=FEW)
    for name in ("requests", "gc_intervals", "over_time", "blame"):
        joined = pl.DataFrame(getattr(compared, name))
        assert joined.columns[:2] == ["run", "seed"]
        for report in compared:
            mine = (pl.col("run").cast(pl.String) == report.label) & (pl.col("seed") == report.seed)
            assert joined.filter(mine).drop("run", "seed").equals(pl.DataFrame(getattr(report, name))), name
    assert len(joined) == sum(len(report.blame) for report in compared)
    # Categories of pandas are all different, though two seeds have one label.
    assert list(compared.requests.to_pandas()["run"].cat.categories) == ["local", "ideal"]


def test_small_tables_say_what_the_report_says(tmp_path: Path) -> None:
    compared = harmonia.compare("tiny", policies=["local", "ideal"], seeds=2)
    compared.save(tmp_path / "a.json")
    loaded = harmonia.load(tmp_path / "a.json")
    assert isinstance(loaded, harmonia.Comparison)
    assert pl.DataFrame(loaded.figures).equals(pl.DataFrame(compared.figures))
    report = loaded[0]
    blame = pl.DataFrame(report.blame)
    assert blame["total_ns"].sum() == pytest.approx(sum(report.host.blame_ns.values()))
    assert blame["mean_ns"].sum() == pytest.approx(report.host.response_ns.all.mean)
    assert blame["share"].sum() == pytest.approx(1.0)
    over_time = pl.DataFrame(report.over_time)
    for device, section in enumerate(report.devices):
        mine = over_time.filter(pl.col("device") == device)
        assert mine["empty_blocks"].to_list() == section.over_time.empty_blocks
        assert mine["start_ns"].to_list()[:2] == [0, section.over_time.bucket_ns]
    figures = pl.DataFrame(compared.figures)
    mean = figures.filter((pl.col("figure") == "mean") & (pl.col("run") == "ideal")).row(0, named=True)
    ideal = compared.intervals["variants"][1]
    assert mean["mean"] == ideal["metrics"]["mean"]["mean"]
    versus = ideal["versus_baseline"]["mean"]
    assert mean["change"] == versus["relative"]["mean"]
    assert mean["significant"] == ("yes" if versus["significant"] else "no")


def test_tables_are_what_parquet_files_are(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "harmonia._command", "run", "tiny", "--parquet", "--out", str(tmp_path)]
    subprocess.run([*command, "--set", "workload.requests=800", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    report = harmonia.run("tiny", sets=FEW)
    for name in ("requests", "gc_intervals"):
        file = pl.read_parquet(tmp_path / f"{name}.parquet").drop("run", "seed")
        table = pl.DataFrame(getattr(report, name)).with_columns(pl.col(pl.Categorical).cast(pl.String))
        assert file.equals(table), name


def test_a_table_shows_what_it_is() -> None:
    table = harmonia.run("tiny", sets=FEW).gc_intervals
    assert repr(table) == f"<harmonia.Table of {len(table):,} rows: device, start_ns, end_ns>"
    assert "<li>device</li>" in table._repr_html_()

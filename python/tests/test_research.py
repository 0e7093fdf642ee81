"""Are tuning, claims, presets and traces what the command line has, in Python's words?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import harmonia
import polars as pl
import pytest

FEW = {"workload.requests": 800}
TRACE = Path(__file__).parents[2] / "fuzz/seeds/msr_reader/rows.csv"

pytestmark = pytest.mark.filterwarnings("ignore::harmonia.HarmoniaWarning")


def test_tuning_finds_a_scenario(tmp_path: Path) -> None:
    arguments = {"objective": "mean", "over": {"ssd.gc.min_victims": range(1, 4)}, "seeds": 2, "budget": 40}
    found = harmonia.tune("tiny", sets=FEW, keep=tmp_path, **arguments)  # type: ignore[arg-type]
    assert found.schema == "harmonia-tune/1" and found.best.sets and found.budget == 40
    assert found.over[0] == {"key": "ssd.gc.min_victims", "range": "1..3"}
    assert any(tmp_path.iterdir())
    tuned = harmonia.run(found.tuned)
    assert [f"ssd.gc.min_victims={tuned.scenario.ssd.gc.min_victims}"] == found.best.sets
    # Text is as good a scenario as a name.
    text = harmonia.check("tiny", sets=FEW)
    assert harmonia.tune(text, **arguments).points == found.points  # type: ignore[arg-type]


def test_tuning_refuses_what_it_cannot_do() -> None:
    with pytest.raises(harmonia.BadInput, match="nonsense"):
        harmonia.tune("tiny", objective="nonsense", over={"ssd.gc.min_victims": "1..3"})
    with pytest.raises(harmonia.BadInput) as refused:
        harmonia.tune("tiny", objective="mean", over={})
    assert str(refused.value).startswith("error: nothing is varied: over is missing")


def test_advice_is_that_of_the_command() -> None:
    drives = {"drive": "tiny-test", "count": 3, "level": "raid5"}
    load = {"workload.preset": "hpc-w", "workload.size.mean": "4KiB", "workload.requests": 3000}
    said = harmonia.advise(**drives, sets=load)  # type: ignore[arg-type]
    assert said.schema == "harmonia-advice/1" and said.seeds == [1] and len(said.drives) == 3
    assert said.verdict in ["matters", "do-nothing", "overload", "too-short", "cannot-tell"]
    assert any("100% full" in text for text in said.assumed)
    assert str(said).startswith("3 x tiny-test, raid5: ") and "What to do:" in str(said)
    # Of a scenario nothing is assumed.
    assert harmonia.advise("tiny", sets=FEW).assumed == []


def test_advice_refuses_what_is_no_array() -> None:
    with pytest.raises(TypeError, match="the scenario says already"):
        harmonia.advise("tiny", count=3)
    with pytest.raises(TypeError, match="a scenario, or drive, count and level"):
        harmonia.advise(drive="tiny-test")
    with pytest.raises(harmonia.BadInput, match="count=2: "):
        harmonia.advise(drive="tiny-test", count=2, level="raid5", sets={"workload.preset": "hpc-w"})
    with pytest.raises(harmonia.BadInput, match="drive tiny-tset: there is no such drive"):
        harmonia.advise(drive="tiny-tset", count=3, level="raid5", sets={"workload.preset": "hpc-w"})


def test_an_explanation_is_that_of_the_command(tmp_path: Path) -> None:
    said = harmonia.explain("tiny", slowest=2, sets=FEW)
    assert said.schema == "harmonia-explanation/1" and len(said.requests) == 2
    for request in said.requests:
        steps = request.steps
        assert steps[0].from_ns == request.arrival_ns and steps[-1].from_ns + steps[-1].ns == request.finish_ns
        assert sum(part.ns for step in steps for part in step.parts) == request.response_ns
    number = said.requests[0].request
    assert f"Request {number:,} (" in str(said)
    assert harmonia.explain("tiny", request=number, sets=FEW).requests == said.requests[:1]
    # A folder has the run; the same requests, by the same way.
    folder = tmp_path / "results"
    flags = [flag for key, value in FEW.items() for flag in ("--set", f"{key}={value}")]
    subprocess.run([sys.executable, "-m", "harmonia._command", "run", "tiny", "--out", str(folder), *flags], check=True, capture_output=True)
    assert harmonia.explain(folder, slowest=2) == said
    with pytest.raises(harmonia.BadInput, match="its scenario cannot be changed"):
        harmonia.explain(folder, sets={"seed": 2})
    with pytest.raises(harmonia.BadInput, match="is not among the"):
        harmonia.explain(folder, request=10**9)
    with pytest.raises(ValueError, match="slowest=-1: 0 or more"):
        harmonia.explain("tiny", slowest=-1)


def test_claims_are_listed_and_judged(tmp_path: Path) -> None:
    (claim,) = harmonia.claims("skew-erases")
    assert claim.id == "skew-erases" and claim.verdict == "not-measured"
    assert len(harmonia.claims()) > 20
    (judged,) = harmonia.reproduce("skew-erases", out=tmp_path, kept=True)
    assert judged.verdict == "not-measured"
    with pytest.raises(harmonia.BadInput, match=r"did you mean `response-hpc-w`\? `harmonia.claims\(\)` lists them"):
        harmonia.claims("respons-hpc-w")
    with pytest.raises(ValueError, match="seeds=0: 1 to 1000"):
        harmonia.reproduce("skew-erases", out=tmp_path, seeds=0)


def test_presets_say_where_their_figures_come_from() -> None:
    known = {preset["name"]: preset for preset in harmonia.presets()}
    assert known["tiny"]["kind"] == "scenario" and known["tlc-nvme-1t"]["kind"] == "device"
    assert all(figure["provenance"] for figure in known["tlc-nvme-1t"]["figures"])
    harmonia.check(known["hpc-w"]["name"])


def test_lists_of_values_sweep() -> None:
    def devices(source: harmonia.Source, values: object) -> list[int]:
        runs = harmonia.compare(source, policies=["local"], seeds=1, sets={**FEW, "array.devices": values})
        return [run.scenario.array.devices for run in runs]

    assert devices("tiny", [2, 3]) == devices("tiny", "2,3") == devices(harmonia.Scenario("tiny"), (2, 3)) == [2, 3]
    text = harmonia.check("tiny")
    assert devices(text, [2]) == [2] and devices(text, [2, 3]) == [2, 3]
    victims = harmonia.compare("tiny", policies=["local"], seeds=1, sets={**FEW, "ssd.gc.victim": ["greedy", "fifo"]})
    assert [run.scenario.ssd.gc.victim for run in victims] == ["greedy", "fifo"]
    tables = [{"policy": "d-choices", "d": 2}, {"policy": "d-choices", "d": 5}]
    choices = harmonia.compare("tiny", policies=["local"], seeds=1, sets={**FEW, "ssd.gc.victim": tables})
    assert [run.scenario.ssd.gc.victim["d"] for run in choices] == [2, 5]
    with pytest.raises(ValueError, match="array.devices has an empty list"):
        devices("tiny", [])


def test_keys_that_take_lists_get_one() -> None:
    failure = {"array.level": "raid5", "array.failure": [{"device": 1, "at": "1ms"}]}
    report = harmonia.run("tiny", sets={**FEW, **failure})
    assert report.scenario.array.failure[0]["device"] == 1


def test_placement_handles_of_a_trace_are_a_column_where_it_has_one(tmp_path: Path) -> None:
    table = tmp_path / "load.csv"
    table.write_text("0.1011,W,0,8192,3\n0.2022,W,0,8192,\n0.3033,R,0,8192,3\n0.4045,W,0,8192,0\n")
    columns = '"time,op,offset,size,handle"'
    frame = pl.DataFrame(harmonia.trace.read(table, columns=columns))
    assert frame["handle"].to_list() == [3, None, None, 0]
    told = harmonia.trace.info(table, columns=columns).handles
    assert told == {"writes": 2, "different": 2, "highest": 3}


def test_a_trace_is_described_read_and_converted(tmp_path: Path) -> None:
    info = harmonia.trace.info(TRACE)
    table = harmonia.trace.read(TRACE)
    frame = pl.DataFrame(table)
    assert info.format == "msr" and len(frame) == info.rows > 0
    assert frame.columns == ["time_ns", "operation", "offset", "length", "volume"]
    reads = (frame["operation"].cast(pl.String) == "read").mean()
    assert reads == pytest.approx(info.read_percent / 100)
    assert len(harmonia.trace.read(TRACE, most=2)) == 2 and not harmonia.trace.read(TRACE, most=2).complete
    out = tmp_path / "again.parquet"
    written = harmonia.trace.convert(TRACE, out)
    assert written.written == len(frame) and written.bytes == out.stat().st_size
    assert pl.DataFrame(harmonia.trace.read(out)).drop("volume").equals(frame.drop("volume"))
    with pytest.raises(harmonia.BadInput, match="again.parquet: exists; force=True replaces it"):
        harmonia.trace.convert(TRACE, out)
    with pytest.raises(harmonia.BadInput, match="is one of the files that are read"):
        harmonia.trace.convert(out, out, force=True)
    with pytest.raises(harmonia.BadInput, match="the name does not tell the format: choose one of"):
        harmonia.trace.convert(TRACE, tmp_path / "a.txt")
    harmonia.trace.convert(TRACE, out, force=True)
    assert [file.name for file in tmp_path.iterdir()] == ["again.parquet"]


def test_how_a_trace_is_read_is_said_with_keys_of_a_scenario() -> None:
    late = harmonia.trace.info(TRACE, time_unit="10ns")
    assert late.span_s == pytest.approx(0.1 * harmonia.trace.info(TRACE).span_s)
    with pytest.raises(harmonia.BadInput, match="did you mean `time_unit`"):
        harmonia.trace.info(TRACE, tme_unit="us")
    with pytest.raises(harmonia.BadInput, match="nowhere.csv"):
        harmonia.trace.info("nowhere.csv")
    with pytest.raises(harmonia.BadInput, match="nonsense"):
        harmonia.trace.info(TRACE, format="nonsense")
    assert {"msr", "fio", "csv"} <= {each["name"] for each in harmonia.trace.formats()}


def test_a_trace_becomes_a_scenario() -> None:
    fitted = harmonia.trace.fit(TRACE)
    assert isinstance(fitted, harmonia.Scenario)
    assert f"requests = {harmonia.trace.info(TRACE).rows}" in fitted.to_toml()

"""Does the Python package say what the simulator says, refuse what it refuses, and stop when asked to?"""

from __future__ import annotations

import _thread
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import harmonia
import jsonschema
import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TINY = {"workload.requests": 2000}


#: What these runs mean does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::harmonia.HarmoniaWarning")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Never the cache of whoever runs the tests."""
    home = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    return home


def without_engine(report: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key != "engine"}


def test_a_run_is_a_report() -> None:
    report = harmonia.run("tiny", sets=TINY)
    assert report["schema"].startswith("harmonia-report/")
    assert report["version"] == harmonia.version
    assert report["host"]["requests"] > 0
    response, blame = report["host"]["response_ns"]["all"], report["host"]["blame_ns"]
    assert sum(blame.values()) == pytest.approx(response["mean"] * response["count"], rel=1e-12)


def test_the_same_seed_is_the_same_report_on_any_number_of_threads() -> None:
    one, two = (harmonia.compare("tiny", sets=TINY, threads=threads) for threads in (1, 2))
    assert [without_engine(report) for report in one] == [without_engine(report) for report in two]


def test_a_comparison_keeps_its_order_and_sweeps() -> None:
    policies = ["ideal", "local"]
    assert [run["label"] for run in harmonia.compare("tiny", policies=policies, seeds=1, sets=TINY)] == policies
    swept = harmonia.compare("tiny", policies=["local"], seeds=1, sets=["workload.requests=2000", "seed=1,2"])
    assert [run["seed"] for run in swept] == [1, 2]


def test_seeds_come_policy_by_policy_with_intervals_over_them() -> None:
    comparison = harmonia.compare("tiny", policies=["local", "ideal"], seeds=3, sets=TINY)
    asked = [(label, seed) for label in ("local", "ideal") for seed in (1, 2, 3)]
    assert [(run["label"], run["seed"]) for run in comparison] == asked
    assert comparison.intervals["method"] == "replications"
    local, ideal = comparison.intervals["variants"]
    means = [run["host"]["response_ns"]["all"]["mean"] for run in comparison[:3]]
    assert local["metrics"]["mean"]["mean"] == pytest.approx(sum(means) / 3, rel=1e-12)
    assert ideal["versus_baseline"]["mean"]["paired"] and local["versus_baseline"] is None
    alone = harmonia.replicate("tiny", seeds=2, sets={**TINY, "array.coordination.policy": "local"})
    assert [without_engine(run)["host"] for run in alone] == [run["host"] for run in comparison[:2]]


def test_one_seed_has_batches_for_every_figure() -> None:
    intervals = harmonia.compare("tiny", policies=["local"], seeds=1).intervals
    metrics = intervals["variants"][0]["metrics"]
    assert intervals["method"] == "batch-means"
    for figure in ("mean", "p99", "erases", "write_amplification_whole_cycles"):
        assert metrics[figure]["half_width"] > 0, figure


def test_a_comparison_without_policies_tries_those_that_can_win() -> None:
    labels = [run["label"] for run in harmonia.compare("tiny", seeds=1, sets=TINY)]
    assert labels[0] == "local" and labels[-1] == "ideal" and "proactive-soft-limit" in labels
    assert "gclock" not in labels, "it can only lose on RAID-0"
    alone = [run["label"] for run in harmonia.compare("tiny", seeds=1, sets={**TINY, "array.devices": 1})]
    assert alone == ["local", "ideal"]
    with pytest.raises(TypeError, match="a list such as"):
        harmonia.compare("tiny", policies="local")


def test_a_cheap_comparison_has_ten_seeds_and_what_means_nothing_has_no_winner() -> None:
    policies = ["local", "reactive-inclusive"]
    cheap = harmonia.compare("tiny", policies=policies)
    assert len(cheap) == 20 and cheap.winners["mean"]["labels"] == ["reactive-inclusive"]
    assert cheap.warnings == []
    few = harmonia.compare("tiny", policies=policies, sets={"workload.requests": 800})
    assert few.winners["mean"]["labels"] == [] and few.winners["mean"]["void"] == "few-requests"
    assert few.warnings[0]["code"] == "few-requests" and "requests were measured" in few.warnings[0]["text"]
    assert few[0]["warnings"][0]["code"] == "few-requests"


@pytest.mark.parametrize("seeds", [0, -1, 10**9])
def test_so_many_seeds_are_refused(seeds: int) -> None:
    with pytest.raises(harmonia.BadInput, match="1 to 1000 seeds"):
        harmonia.replicate("tiny", seeds=seeds)


def test_text_a_file_and_a_mapping_are_the_same_scenario(tmp_path: Path) -> None:
    text = harmonia.check("tiny", sets=TINY)
    file = tmp_path / "mine.toml"
    file.write_text(text)
    assert harmonia.check(text) == harmonia.check(file) == harmonia.check(str(file)) == text
    assert harmonia.check("tiny", sets=["workload.requests=2000"]) == text
    assert "align = false" in harmonia.check("tiny", sets={"workload.align": False})


def test_bad_input_names_its_place() -> None:
    with pytest.raises(harmonia.BadInput, match="greedy") as caught:
        harmonia.check('[workload]\npreset = "hpc-w"\n[ssd.gc]\nvictim = "gredy"\n')
    assert isinstance(caught.value, ValueError)
    assert (caught.value.key, caught.value.line) == ("ssd.gc.victim", 4)
    with pytest.raises(harmonia.BadInput, match="no-such-scenario"):
        harmonia.run("no-such-scenario")
    with pytest.raises(harmonia.BadInput):
        harmonia.compare("tiny", policies=["no-such-policy"])
    with pytest.raises(TypeError):
        harmonia.check("tiny", sets="seed=2")


def test_a_trace_is_one_file_or_several_or_a_pattern(tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("1000,h,0,Write,0,4096,1\nnonsense\n1040,h,0,Write,4096,512,1\n")
    second.write_text("1020,h,0,Read,4096,4096,1\n")
    sets: dict[str, object] = {"workload.skip_bad": 1, "workload.time_unit": "us"}
    report = harmonia.run("tiny", trace=[first, str(second)], format="msr", sets=sets)
    trace = report["trace"]
    assert (trace["files"], trace["rows"], trace["bad"]) == ([str(first), str(second)], 3, 1)
    assert trace["bad_examples"][0].startswith(f"{first}:2: found `nonsense`")
    again = harmonia.run("tiny", trace=tmp_path / "?.csv", sets=sets)
    assert (again["host"], again["trace"]["hash"]) == (report["host"], trace["hash"])
    [compared] = harmonia.compare("tiny", policies=["local"], trace=(second,), sets=sets)
    assert (compared["trace"]["rows"], compared["trace"]["format"]) == (1, "msr")
    assert "trace" not in harmonia.run("tiny", sets=TINY)
    resolved = harmonia.check("tiny", trace=str(second), sets={"workload.align": True, **sets})
    assert 'time_unit = "1us"' in resolved and "align = true" in resolved


def test_what_is_wrong_with_a_trace_is_said_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("1000,h,0,Write,0,4096,1\nnonsense\n")
    with pytest.raises(harmonia.BadInput, match=r"a\.csv:2: found `nonsense`"):
        harmonia.run("tiny", trace=file, format="msr")
    with pytest.raises(harmonia.BadInput, match="names no file"):
        harmonia.run("tiny", trace=[])
    with pytest.raises(harmonia.BadInput, match="workload.end"):
        harmonia.check("tiny", trace=file, sets={"workload.start": "2s", "workload.end": "1s"})
    with pytest.raises(TypeError, match="needs a trace"):
        harmonia.run("tiny", format="msr")


def test_policies_come_from_the_registries() -> None:
    names = {(policy["kind"], policy["name"]) for policy in harmonia.policies()}
    assert {("coordination", "local"), ("victim", "greedy"), ("schedule", "ideal")} <= names


def test_the_interpreter_runs_on_while_a_simulation_does() -> None:
    done = threading.Event()

    def simulate() -> None:
        harmonia.run("tiny", sets={"workload.requests": 60000})
        done.set()

    worker = threading.Thread(target=simulate)
    ticks = 0
    worker.start()
    while not done.is_set():
        time.sleep(0.001)
        ticks += 1
    worker.join()
    assert ticks > 3, "the interpreter lock was held"


def test_aged_arrays_are_kept_where_the_command_line_keeps_them(own_cache: Path) -> None:
    sets = {
        "array.devices": 1,
        "workload.requests": 200,
        "workload.warmup": 0,
        "precondition.overwrite": 0,
        "ssd.geometry.blocks_per_plane": 64,
    }
    if shutil.disk_usage(own_cache).free < 3 << 30:
        pytest.skip("the disk is so full that nothing is kept")
    without = harmonia.run("hpc-w", sets=sets, cache=False)
    assert not list(own_cache.iterdir())
    first, second = (harmonia.run("hpc-w", sets=sets) for _ in range(2))
    assert len(list((own_cache / "harmonia" / "aged").glob("*.aged"))) == 1
    assert without_engine(first) == without_engine(second) == without_engine(without)


def test_ctrl_c_ends_a_run() -> None:
    # A shell that starts us in the background has SIGINT ignored, and Python leaves it so.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            harmonia.run("tiny", sets={"workload.requests": 100_000_000})
    finally:
        signal.signal(signal.SIGINT, previous)
    assert time.monotonic() - began < 10


def test_what_befell_members_stands_in_the_report() -> None:
    sets = ["workload.requests=2000", "array.level=raid5", "array.spares=1", 'array.failure=[{ device = 1, at = "0.3s" }]']
    report = harmonia.run("tiny", sets=sets)
    failures = report["array"]["failures"]
    assert [(event["what"], event["device"]) for event in failures["events"]][:2] == [("failed", 1), ("replaced", 1)]
    reads = [phase["read"]["count"] for phase in failures["response_ns"].values()]
    assert sum(reads) == report["host"]["read_requests"]
    assert report["devices"][4]["spare"] and report["devices"][4]["in_place_of"] == 1
    with pytest.raises(harmonia.BadInput, match="nothing to rebuild a spare from"):
        harmonia.check("tiny", sets=["array.spares=1"])


def examples() -> list[dict[str, Any]]:
    """All scenarios of this repository, read as TOML."""
    files = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
    assert len(files) > 10
    return [tomllib.loads(file.read_text()) for file in files]


def test_the_schema_accepts_every_example() -> None:
    schema = harmonia.schema()
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    for example in examples():
        assert [error.message for error in validator.iter_errors(example)] == []


def test_the_schema_accepts_what_check_prints() -> None:
    validator = jsonschema.Draft7Validator(harmonia.schema())
    sets = {"array.coordination.policy": "serial", "array.coordination.patience": "5ms", "ssd.gc.victim": "d-choices"}
    for scenario in ("hpc-w", "raid5-hpc-w", "mongodb-like"):
        resolved = tomllib.loads(harmonia.check(scenario, sets=sets if scenario == "raid5-hpc-w" else {}))
        assert [error.message for error in validator.iter_errors(resolved)] == []


@pytest.mark.parametrize(
    "text",
    [
        "array.devises = 4",
        "array.devices = 0",
        "array.devices = '4'",
        "array.stripe_unit = '4 kib'",
        "array.coordination = { policy = 'seriall' }",
        "array.coordination = { policy = 'serial', window = '5ms' }",
        "array.coordination = { policy = 'serial', patience = 5 }",
        "array.coordination = { policy = 'reactive-inclusive', fire_at = 'sofd' }",
        "ssd.gc.victim = { policy = 'd-choices', d = 0 }",
        "ssd.preset = 'msr'",
        "workload.read_fraction = 1.5",
        "workload.stream.a.arrival = { proces = 'fixed' }",
        "array.member = [{ index = 1, gc = { domain = 'plan' } }]",
    ],
)
def test_the_schema_refuses_what_check_refuses(text: str) -> None:
    validator = jsonschema.Draft7Validator(harmonia.schema())
    assert list(validator.iter_errors(tomllib.loads(text))), text
    with pytest.raises(harmonia.BadInput):
        harmonia.check(text + "\n")

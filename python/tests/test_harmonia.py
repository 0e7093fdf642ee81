"""Does the Python package say what the simulator says, refuse what it refuses, and stop when asked to?"""

from __future__ import annotations

import _thread
import signal
import threading
import time
from pathlib import Path
from typing import Any

import harmonia
import pytest

TINY = {"workload.requests": 2000}


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
    assert [run["label"] for run in harmonia.compare("tiny", policies=policies, sets=TINY)] == policies
    swept = harmonia.compare("tiny", policies=["local"], sets=["workload.requests=2000", "seed=1,2"])
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


def test_one_seed_has_batches_and_no_interval_of_erases() -> None:
    intervals = harmonia.compare("tiny", policies=["local"], sets=TINY).intervals
    metrics = intervals["variants"][0]["metrics"]
    assert intervals["method"] == "batch-means" and metrics["mean"]["half_width"] > 0
    assert metrics["erases"]["half_width"] is None


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

"""Does a sweep have every point once, on threads, on processes, and when a worker is killed?"""

from __future__ import annotations

import concurrent.futures
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import harmonia
import pytest

#: Points that take no time.
TINY = harmonia.Scenario("tiny", workload={"requests": 300}, precondition={"overwrite": 1})


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never the cache of whoever runs the tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def figures(rows: Iterator[dict[str, Any]] | harmonia.Sweep) -> list[dict[str, Any]]:
    """All but what the machine adds."""
    return [{key: value for key, value in row.items() if key != "wall_ns"} for row in rows]


def test_two_hundred_points_on_two_threads_in_one_call(tmp_path: Path) -> None:
    axes = {"workload.read_fraction": [0.1, 0.3, 0.5, 0.7, 0.9], "array": {"devices": [2, 4]}}
    policies = ["local", "reactive-inclusive", "reactive-selective", "ideal"]
    swept = harmonia.sweep(TINY, axes, policies=policies, seeds=5, threads=2, out=tmp_path)
    assert (len(swept), swept.run, swept.known) == (200, 200, 0)
    assert len(list(tmp_path.glob("*.json"))) == 200
    names = {(row["policy"], row["workload.read_fraction"], row["array.devices"], row["seed"]) for row in swept}
    assert len(names) == 200
    # A row is what a run of its own gives.
    row = swept[-1]
    sets = {"workload.read_fraction": 0.9, "array.devices": 4, "seed": 5, "ssd.gc.schedule": "ideal"}
    alone = harmonia.run(TINY, sets={**sets, "array.coordination.policy": "local"})
    assert row["policy"] == "ideal" and row["seed"] == 5
    assert (row["mean_ns"], row["erases"]) == (alone["host"]["response_ns"]["all"]["mean"], alone["array"]["erases"])
    assert swept.report(-1)["host"] == alone["host"]
    assert swept.parquet == tmp_path / "results.parquet" and swept.parquet.read_bytes()[:4] == b"PAR1"
    again = harmonia.sweep(TINY, axes, policies=policies, seeds=5, out=tmp_path)
    assert (again.run, again.known, list(again)) == (0, 200, list(swept))


def test_methods_draw_what_they_say(tmp_path: Path) -> None:
    axes = {"ssd.gc.min_victims": range(1, 5), "workload.read_fraction": "0.1..0.9:0.1"}
    drawn = harmonia.sweep(TINY, axes, method="lhs", samples=4, out=tmp_path)
    assert sorted(row["ssd.gc.min_victims"] for row in drawn) == [1, 2, 3, 4]
    drawn = harmonia.sweep(TINY, axes, method="random", samples=6, draw_seed=3, out=tmp_path)
    assert len({(row["ssd.gc.min_victims"], row["workload.read_fraction"]) for row in drawn}) == 6
    points: list[dict[str, object]] = [{"array.devices": 2}, {"array.devices": 4, "ssd.gc.victim": "fifo"}]
    listed = harmonia.sweep(TINY, method=points, seeds=[7, 3], out=tmp_path)
    assert [(row["array.devices"], row["seed"]) for row in listed] == [(2, 7), (2, 3), (4, 7), (4, 3)]
    assert [row["ssd.gc.victim"] for row in listed] == ["greedy", "greedy", "fifo", "fifo"]


def test_what_cannot_be_simulated_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(harmonia.BadInput, match="ssd.gc.victim.*gredy") as raised:
        harmonia.sweep(TINY, {"ssd.gc.victim": ["greedy", "gredy"]}, out=tmp_path / "none")
    assert raised.value.key == "ssd.gc.victim"
    assert not (tmp_path / "none").exists()
    skipped = harmonia.sweep(TINY, {"ssd.gc.victim": ["greedy", "gredy"]}, skip_invalid=True, out=tmp_path)
    assert len(skipped) == 1


def test_processes_give_what_threads_give(tmp_path: Path) -> None:
    axes = {"array.devices": [2, 3]}
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        many = harmonia.sweep(TINY, axes, policies=["local", "ideal"], seeds=2, executor=executor, out=tmp_path / "a")
    one = harmonia.sweep(TINY, axes, policies=["local", "ideal"], seeds=2, out=tmp_path / "b")
    assert figures(many) == figures(one) and len(one) == 8


def test_a_killed_worker_loses_nothing_and_counts_nothing_twice(tmp_path: Path) -> None:
    distributed = pytest.importorskip("dask.distributed")
    longer = TINY.with_({"workload.requests": 4000})
    axes, seeds = {"array.devices": [2, 3, 4]}, 20
    killed: list[int] = []

    def kill_one(cluster: Any) -> None:
        """Waits until some results are there, then kills a worker while others are still missing."""
        while len(list(tmp_path.glob("*.json"))) < 5:
            time.sleep(0.01)
        pid = next(iter(cluster.workers.values())).pid
        os.kill(pid, signal.SIGKILL)
        killed.append(len(list(tmp_path.glob("*.json"))))

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        killer = threading.Thread(target=kill_one, args=(cluster,), daemon=True)
        killer.start()
        swept = harmonia.sweep(longer, axes, seeds=seeds, executor=client, out=tmp_path)
        killer.join()
    assert killed and killed[0] < 60, "the worker was killed before the end"
    assert len(swept) == 60 == len({row["address"] for row in swept})
    assert sorted(file.stem for file in tmp_path.glob("*.json")) == sorted(row["address"] for row in swept)
    assert all(json.loads(file.read_text()) for file in tmp_path.glob("*.json"))
    alone = harmonia.sweep(longer, axes, seeds=seeds, out=tmp_path / "alone")
    assert figures(swept) == figures(alone)

"""Are policies written in Python policies like any other: equal where they are ports, alone, copied, gone when they are done?"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import random
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import harmonia
import pytest
from harmonia import _policies
from harmonia._policies import made
from ports import (
    Keyed,
    PyAfterReads,
    PyBlocking,
    PyDChoices,
    PyFixed,
    PyGreedy,
    PyIoParallel,
    PyReactiveSelective,
    PyReadMatch,
    PySlowGreedy,
)

TINY = {"workload.requests": 2000}

#: What these runs mean does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::harmonia.HarmoniaWarning")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Never the cache of whoever runs the tests."""
    home = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    return home


def told(report: dict[str, Any], policy: str) -> str:
    """What a report says, as if its policy were called `port`."""
    kept = {key: value for key, value in report.items() if key not in ("engine", "label")}
    return json.dumps(kept, sort_keys=True).replace(f'"{policy}"', '"port"')


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"array.coordination.fire_at": "soft"},
        {"array.coordination.fire_at": "soft", "array.coordination.delay": "3ms"},
        {"array.coordination.fire_at": "soft", "array.coordination.delay": "1ms", "array.level": "raid5"},
    ],
)
def test_a_port_of_reactive_selective_equals_the_built_in_one(keys: dict[str, object], threads: int) -> None:
    names = ["reactive-selective", "py-reactive-selective"]
    both = [
        harmonia.run(
            "tiny",
            policies=[PyReactiveSelective],
            sets={**TINY, **keys, "array.coordination.policy": name},
            threads=threads,
        )
        for name in names
    ]
    assert told(both[0], names[0]) == told(both[1], names[1])
    assert both[1].array["coordination"]["forced"] > 0
    assert ("array.coordination.delay" in keys) == (both[1].array["coordination"]["delays"] > 0)


#: Dies of two planes that work together, and collect on their own.
PLANES = {"ssd.ftl.multi_plane": True, "ssd.ftl.priority": "reads-first", "ssd.gc.domain": "die"}


@pytest.mark.parametrize("more", [{}, PLANES])
@pytest.mark.parametrize(
    "port, key, built_in",
    [
        (PyGreedy, "ssd.gc.victim", "greedy"),
        (PySlowGreedy, "ssd.gc.victim", "greedy"),
        (PyDChoices, "ssd.gc.victim", "d-choices"),
        (PyReadMatch, "ssd.gc.victim", "read-match"),
        (PyBlocking, "ssd.gc.schedule", "blocking"),
        (PyAfterReads, "ssd.gc.schedule", "after-reads"),
        (PyIoParallel, "ssd.gc.schedule", "io-parallel"),
        (PyFixed, "ssd.gc.concurrency.policy", "conv-0-allch"),
    ],
)
def test_ports_of_the_other_kinds_equal_the_built_in_ones(
    port: type[harmonia.Policy], key: str, built_in: str, more: dict[str, object]
) -> None:
    names = [built_in, _policies.name_of(port)]
    both = [
        harmonia.run("tiny", policies=[port], sets={**TINY, **more, key: name}, checked=True, cache=False) for name in names
    ]
    assert told(both[0], names[0]) == told(both[1], names[1])
    assert both[0].array["erases"] > 0


class Anything(harmonia.Schedule):
    """Does anything that the view offers."""

    gives_way = "between-steps"

    def needs(self) -> Mapping[str, bool]:
        return {"pairs": True, "suspend": True, "begins_at_soft": True, "fresh_blocks": True}

    def next(self, now: int, view: harmonia.DieView) -> harmonia.Decision:
        draw = DRAW.randrange
        found = [view.head, view.first("read"), view.first("write"), view.find_read(draw(view.planes), draw(8))]
        decisions: list[Callable[[], harmonia.Decision]] = [
            *(view.serve_head, view.wait, view.gc_step, view.gc_move, view.erase, view.collect, view.suspend, view.resume),
            lambda: view.wait(now + 1 + draw(2_000_000)),
            lambda: view.gc_step(pairs=True),
            lambda: view.collect(instant=True),
            *(functools.partial(view.serve, one, alone=alone) for one in found if one for alone in (False, True)),
        ]
        DRAW.shuffle(decisions)
        for decide in decisions:
            with contextlib.suppress(ValueError):
                return decide()
        raise AssertionError(f"nothing is possible: {view.gc}, {view.head}, {view.running}, {view.suspended}")


DRAW = random.Random()


@pytest.mark.parametrize("seed", range(6))
def test_a_schedule_cannot_break_its_die(seed: int) -> None:
    DRAW.seed(seed)
    suspends = {"ssd.timing.suspend_erase": "20us", "ssd.timing.suspend_program": "20us", "ssd.timing.resume": "10us"}
    sets = {
        "workload.requests": 500,
        "workload.warmup": 0,
        "ssd.ftl.multi_plane": bool(seed % 2),
        "ssd.geometry.own_pins": seed % 3 > 0,
        "ssd.timing.copyback": ["die", "plane", "none"][seed % 3],
        "ssd.gc.domain": ["die", "channel", "device"][seed // 2 % 3],
        "ssd.gc.schedule": "anything",
        **(suspends if seed > 1 else {}),
    }
    report = harmonia.run("tiny", policies=[Anything], sets=sets, checked=True, threads=1)
    assert report["array"]["erases"] > 0


def test_thirty_lines_against_four_built_in_policies(tmp_path: Path) -> None:
    """The example of the page, as it stands there."""
    page = (Path(__file__).parents[2] / "docs" / "python-policies.md").read_text(encoding="utf-8")
    example = page.split("```python\n")[1].split("```")[0]
    assert len(example.strip().splitlines()) <= 30
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(example.replace('"hpc-w"', '"tiny"'), "example", "exec"), names)
    comparison = names["comparison"]
    labels = [report["label"] for report in comparison]
    assert list(dict.fromkeys(labels)) == ["local", "reactive-inclusive", "reactive-selective", "proactive-idle", "neighbours"]
    assert comparison[-1].array["coordination"]["forced"] > 0


def test_collecting_at_night(tmp_path: Path) -> None:
    """The example of the page, as it stands there: a trace of two days tells it what time of day it is."""
    page = (Path(__file__).parents[2] / "docs" / "python-policies.md").read_text(encoding="utf-8")
    example = next(block for block in page.split("```python\n")[1:] if "class AtNight" in block).split("```")[0]
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(example, "example", "exec"), names)
    asked: list[tuple[float, str, str]] = []
    example_class: Any = names["AtNight"]

    class AtNight(example_class):  # type: ignore[misc]
        def on(self, now: int, event: harmonia.Event, view: harmonia.ArrayView, actions: harmonia.Actions) -> None:
            super().on(now, event, view, actions)
            assert view.clock is not None and view.clock.utc(0) == 1_538_413_200 * 10**9
            asked.append((view.clock.time_of_day(now) / 3.6e12, event.kind, repr(actions)))

    # Every ten minutes from 2018-10-01 17:00 UTC on.
    rows = "".join(f"{1_538_413_200 + 600 * row},{row * 8 % 1024},8,1,1\n" for row in range(288))
    (tmp_path / "t.csv").write_text(rows)
    load = {"kind": "trace", "format": "tencent", "path": str(tmp_path / "t.csv")}
    sets = {"array.coordination.policy": "at-night"}
    scenario = {"ssd": {"preset": "tiny-test"}, "array": {"devices": 2}, "workload": load}
    report = harmonia.run(scenario, policies=[AtNight], sets=sets)
    assert report.trace.begins_utc_ns == 1_538_413_200 * 10**9
    assert [hour for hour, _, _ in asked] == pytest.approx([17, 22, 6, 22, 6])
    assert ["Force" in actions for _, _, actions in asked] == [False, True, False, True, False]
    asked.clear()
    harmonia.run(scenario, policies=[AtNight], sets={**sets, "array.coordination.ahead_of_utc": 9})
    assert [hour for hour, _, _ in asked] == pytest.approx([17, 21, 13, 21, 13])
    assert ["Force" in actions for _, _, actions in asked] == [True, False, True, False, True]
    with pytest.raises(ValueError, match="the load has no clock times"):
        harmonia.run("tiny", policies=[AtNight], sets={**sets, **TINY})


def test_threads_do_not_show() -> None:
    run = functools.partial(
        harmonia.compare,
        "tiny",
        policies=["local", PyReactiveSelective, PyDChoices],
        sets={**TINY, "ssd.gc.victim": "py-dchoices"},
        seeds=3,
    )
    one, two = ([told(report, "") for report in run(threads=threads)] for threads in (1, 2))
    assert one == two and len(one) == 6


def test_a_class_is_listed_while_it_is_passed_and_not_after() -> None:
    listed = {policy["name"]: policy for policy in harmonia.policies([Keyed, PyGreedy])}
    assert listed["keyed"]["summary"] == "Has keys of every type." and listed["keyed"]["source"] == "a test"
    assert [key["name"] for key in listed["keyed"]["keys"]] == ["members", "share", "eager", "mode", "label", "patience"]
    assert listed["keyed"]["keys"][0]["takes"] == "a whole number, 1 to 8"
    assert listed["keyed"]["keys"][5]["default"] == "25us"
    assert listed["py-greedy"]["kind"] == "victim"
    assert not {"keyed", "py-greedy"} & {policy["name"] for policy in harmonia.policies()}
    with pytest.raises(harmonia.BadInput, match="py-greedy"):
        harmonia.check("tiny", sets={"ssd.gc.victim": "py-greedy"})
    with harmonia.known([PyGreedy]):
        scenario = harmonia.Scenario("tiny", ssd={"gc": {"victim": "py-greedy"}})
        assert 'victim = "py-greedy"' in scenario.to_toml()
    assert harmonia.run(scenario, policies=[PyGreedy], sets=TINY)["array"]["erases"] > 0


def test_a_class_can_be_defined_again_but_not_beside_itself() -> None:
    def greedy(best: bool) -> type[harmonia.Victim]:
        class Again(harmonia.Victim):
            def choose(self, view: harmonia.VictimView, rng: harmonia.Random) -> int | None:
                closed = [block for block in view.closed() if view.valid[block] < view.data_pages]
                return (min if best else max)(closed, key=lambda block: view.valid[block], default=None)

        return Again

    def erases(victim: type[harmonia.Victim]) -> int:
        sets = {**TINY, "ssd.gc.victim": "again", "precondition.overwrite": 0.5}
        return int(harmonia.run("tiny", policies=[victim], sets=sets)["array"]["erases"])

    assert erases(greedy(True)) < erases(greedy(False)), "the second is not the first, aged arrays included"
    with harmonia.known([greedy(True)]), pytest.raises(ValueError, match="`again` already.*under way.*another name"):
        harmonia.policies([greedy(False)])
    with pytest.raises(ValueError, match="victim policy called `greedy` already"):
        harmonia.policies([type("Mine", (PyGreedy,), {"name": "greedy"})])
    with pytest.raises(ValueError, match="cannot be called 'ideal'"):
        harmonia.policies([type("Ideal", (Keyed,), {"name": "ideal"})])


def test_views_are_gone_with_their_call() -> None:
    kept: list[Any] = []

    class Keeper(PyReactiveSelective):
        name = "keeper"

        def on(self, now: int, event: harmonia.Event, view: harmonia.ArrayView, actions: harmonia.Actions) -> None:
            if not kept:
                # Nobody else can look either, not even meanwhile.
                other = threading.Thread(target=lambda: kept.append(pytest.raises(RuntimeError, len, view)))
                other.start()
                other.join()
                kept.extend([view, actions, event, view[0]])

    harmonia.run("tiny", policies=[Keeper], sets={**TINY, "array.coordination.policy": "keeper"})
    looked, view, actions, event, member = kept
    assert "gone with the call" in str(looked.value)
    for late in (view.capable, lambda: view[0], lambda: view.members):
        with pytest.raises(RuntimeError, match="gone with the call"):
            late()
    with pytest.raises(RuntimeError, match="set a timer"):
        actions.hold(0)
    assert event.kind == "start" and member.capable and member.status is None
    with pytest.raises(AttributeError, match="the event `start` has no `device`"):
        event.device


def test_runs_share_no_object_and_copies_share_nothing() -> None:
    made_of: list[object] = []

    class Counts(PyReactiveSelective):
        name = "counts"

        def __init__(self) -> None:
            super().__init__()
            self.log: list[int] = []
            made_of.append(self)

        def on(self, now: int, event: harmonia.Event, view: harmonia.ArrayView, actions: harmonia.Actions) -> None:
            assert not self.log or self.log[-1] <= now, "time goes back where two runs share an object"
            self.log.append(now)
            super().on(now, event, view, actions)

    harmonia.compare("tiny", policies=[Counts], seeds=4, sets=TINY, threads=2)
    assert len({id(one) for one in made_of}) == len(made_of) >= 4
    policy = made(Counts, '{"delay": "2ms", "fire_at": "soft"}', {"devices": 2, "redundancy": 0, "message_latency": 0})
    twin = copy.deepcopy(policy)
    assert isinstance(policy, Counts) and isinstance(twin, Counts) and twin.delay == 2_000_000
    twin.log.append(1)
    assert policy.log == []


def test_what_ages_by_a_python_victim_is_not_kept_on_disk(own_cache: Path) -> None:
    big = {**TINY, "ssd.geometry.blocks_per_plane": 1024, "precondition.overwrite": 0.1}
    for victim, classes, kept in (("py-greedy", [PyGreedy], 0), ("py-read-match", [PyReadMatch], 1)):
        harmonia.run("tiny", policies=classes, sets={**big, "ssd.gc.victim": victim})
        assert len(list(own_cache.rglob("*.aged"))) == kept, victim


def test_a_file_of_policies(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import harmonia\n"
        "from harmonia import Victim\n"
        "class Lazy(Victim):\n"
        "    def choose(self, view, rng):\n"
        "        return view.random_closed(rng)\n"
        "    may_take_full = True\n"
    )
    (lazy,) = harmonia.load_policies(file)
    assert harmonia.run("tiny", policies=[lazy], sets={**TINY, "ssd.gc.victim": "lazy"})["array"]["erases"] > 0
    classes, others = _policies.policy_files(["run", "tiny", "--policy-file", str(file), "--json"])
    assert [one.__name__ for one in classes] == ["Lazy"] and others == ["run", "tiny", "--json"]
    assert _policies.policy_files([f"--policy-file={file}"])[1] == []
    with pytest.raises(ValueError, match="expected a Python file"):
        _policies.policy_files(["--policy-file"])
    file.write_text("1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        harmonia.load_policies(file)
    file.write_text("from harmonia import Victim\n")
    with pytest.raises(ValueError, match="defines no policy"):
        harmonia.load_policies(file)
    with pytest.raises(FileNotFoundError):
        harmonia.load_policies(tmp_path / "none.py")

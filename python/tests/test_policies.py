"""Are policies written in Python policies like any other: equal where they are ports, checked, stopped, copied?"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import random
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import harmonia
import pytest
from harmonia import _policies
from harmonia._policies import keys_of, made

TINY = {"workload.requests": 2000}

#: What these runs mean does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::harmonia.HarmoniaWarning")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Never the cache of whoever runs the tests."""
    home = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    return home


class PyReactiveSelective(harmonia.Coordinator):
    """The first member at its hard threshold makes those at their soft threshold collect."""

    fire_at = harmonia.key("hard", "Which threshold makes the array fire.", choices=["soft", "hard"])
    delay = harmonia.duration_key("0us", "How long the array waits after a soft notice, at most; 0: it fires at once.")

    def __init__(self) -> None:
        if self.delay and self.fire_at == "hard":
            raise ValueError("a member at hard already collects, expected fire_at = 'soft' with a delay")
        self.registered = [False] * self.devices
        self.wait: tuple[int, int, int | None] | None = None  # The member, until when, and writes it had left.
        self.waits = self.cut_short = 0

    def interests(self) -> Mapping[str, bool]:
        return {"devices": True}

    def counters(self) -> Mapping[str, int]:
        return {"delays": self.waits, "delays_cut_short": self.cut_short}

    def on(self, now: int, event: harmonia.Event, view: harmonia.ArrayView, actions: harmonia.Actions) -> None:
        match event.kind:
            case "soft-threshold":
                self.registered[event.device] = True
            case "gc-ended":
                self.registered[event.device] = event.registered
            case "failure":
                self.registered[event.device] = False
        if self.fires(now, event, view, actions):
            self.wait = None
            for member in view.capable():
                if self.registered[member]:
                    actions.force(member)

    def fires(self, now: int, event: harmonia.Event, view: harmonia.ArrayView, actions: harmonia.Actions) -> bool:
        if event.kind == "hard-threshold":
            return True
        if event.kind == "soft-threshold" and self.fire_at == "soft":
            if self.delay == 0:
                return True
            if self.wait is None:
                self.waits += 1
                self.wait = (event.device, now + self.delay, None)
                self.look(now, actions)
            return False
        if event.kind == "timer" and event.number == self.waits:
            return self.look(now, actions)
        if event.kind == "status":
            return self.hear(event.device, view)
        return False

    def look(self, now: int, actions: harmonia.Actions) -> bool:
        if self.wait is None:
            return False
        member, until, _ = self.wait
        if now >= until:
            return True
        actions.query(member)
        actions.timer(min(now + -(-self.delay // 4), until), self.waits)
        return False

    def hear(self, member: int, view: harmonia.ArrayView) -> bool:
        status = view[member].status
        if self.wait is None or status is None or self.wait[0] != member:
            return False
        left, before = status.writes_until_hard, self.wait[2]
        sunk = 0 if before is None else max(before - left, 0)
        self.wait = (member, self.wait[1], left)
        self.cut_short += left <= sunk
        return left <= sunk


class PyGreedy(harmonia.Victim):
    """Fewest valid pages; ties to the least worn, then the lowest index."""

    def choose(self, view: harmonia.VictimView, rng: harmonia.Random) -> int | None:
        best = view.fewest_valid()
        return best[0] if best is not None and best[1] < view.data_pages else None


class PySlowGreedy(harmonia.Victim):
    """The same from the columns of the view."""

    def choose(self, view: harmonia.VictimView, rng: harmonia.Random) -> int | None:
        valid, erases = view.valid, view.erases
        closed = [block for block in view.closed() if valid[block] < view.data_pages]
        return min(closed, key=lambda block: (valid[block], erases[block], block), default=None)


class PyDChoices(harmonia.Victim):
    """The fewest valid pages among `d` random blocks."""

    d = harmonia.key(3, "Number of candidates.", least=1, most=1000)
    may_take_full = True

    def choose(self, view: harmonia.VictimView, rng: harmonia.Random) -> int | None:
        best = view.random_closed(rng)
        for _ in range(1, self.d):
            other = view.random_closed(rng)
            if best is None or other is None:
                return None
            if (view.closed_valid(other) or 0) < (view.closed_valid(best) or 0):
                best = other
        return best


class PyReadMatch(harmonia.Victim):
    """Of the blocks with the fewest valid pages, the one that can be paired with the most waiting reads."""

    uses_reads = True
    ages_as = "greedy"

    def choose(self, view: harmonia.VictimView, rng: harmonia.Random) -> int | None:
        first = view.fewest_valid()
        if first is None or first[1] == view.data_pages:
            return None
        best, reads, erases = first[0], set(view.queued_reads()), view.erases
        candidates = [best, *(block for block in view.all_fewest() if block != best)][:10]

        def rank(block: int) -> tuple[int, bool, int, int]:
            own = view.plane_of(block)
            pairs = sum(plane != own and view.is_valid(block, page) for plane, page in reads)
            return -pairs, block != best, erases[block], block

        return min(candidates, key=rank)


class PyBlocking(harmonia.Schedule):
    """An event runs to its end before the die serves the host again."""

    def next(self, now: int, view: harmonia.DieView) -> harmonia.Decision:
        collection = view.gc
        if collection.state == "idle":
            return view.serve_head()
        if collection.state == "wanted":
            return view.gc_move() if collection.moves_use_bus else view.collect()
        return {"erase": view.erase, "away": view.wait}.get(collection.phase, view.gc_move)()


class PyAfterReads(PyBlocking):
    """As blocking, but waiting reads go before an event starts."""

    gives_way = "to-reads"

    def needs(self) -> Mapping[str, bool]:
        return {"queues": True}

    def next(self, now: int, view: harmonia.DieView) -> harmonia.Decision:
        collection = view.gc
        begins = collection.state == "wanted" or (collection.state == "job" and collection.phase == "choose")
        read = view.first("read") if begins and not collection.hard else None
        return view.serve(read) if read is not None and read.ready <= now else super().next(now, view)


class PyIoParallel(harmonia.Schedule):
    """While one plane collects, its siblings serve matching host operations in the same commands."""

    def needs(self) -> Mapping[str, bool]:
        return {"pairs": True, "fresh_blocks": True}

    def next(self, now: int, view: harmonia.DieView) -> harmonia.Decision:
        collection = view.gc
        if collection.state == "idle":
            return view.serve_head()
        phase = "choose" if collection.state == "wanted" else collection.phase
        if phase in ("erase", "away"):
            return view.erase() if phase == "erase" else view.wait()
        return view.gc_step(pairs=True)


class PyFixed(harmonia.Concurrency):
    """So many channels from a utilisation on."""

    start = harmonia.key(0.0, "Utilisation below which nothing is collected.", least=0, most=1)

    def limit(self, now: int, load: harmonia.Load) -> tuple[int, bool]:
        allowed = self.channels if load.utilisation >= self.start else 0
        return allowed, allowed > 0


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


class Keyed(harmonia.Coordinator):
    """Has keys of every type.

    This is not in the summary.
    """

    name = "keyed"
    source = "a test"
    members = harmonia.key(2, "How many members.", least=1, most=8)
    share = harmonia.key(0.5, "A share.", least=0, most=1)
    eager = harmonia.key(False, "Whether it hurries.")
    mode = harmonia.key("calm", "How it goes.", choices=["calm", "wild"])
    label = harmonia.key("", "Any text.")
    patience = harmonia.duration_key("25us", "How long it waits.")
    seen: list[object] = []

    def __init__(self) -> None:
        if self.mode == "wild" and not self.eager:
            raise ValueError("who is wild is eager, expected eager = true")
        Keyed.seen.append((self.members, self.share, self.eager, self.mode, self.label, self.patience, self.devices))

    def interests(self) -> Mapping[str, bool]:
        return {}

    def on(self, now: int, event: harmonia.Event, view: harmonia.ArrayView, actions: harmonia.Actions) -> None:
        pass


def keyed(**keys: object) -> str:
    sets = {f"array.coordination.{key}": value for key, value in {"policy": "keyed", **keys}.items()}
    return harmonia.check("tiny", policies=[Keyed], sets=sets)


def test_keys_are_those_of_scenarios() -> None:
    assert 'patience = "2ms"' in keyed(patience="2ms")
    keyed(members=3, share=1, eager=True, mode="wild", label='"a b"', patience="1.5ms")
    assert Keyed.seen[-1] == (3, 1.0, True, "wild", "a b", 1_500_000, 4)
    keyed()
    assert Keyed.seen[-1] == (2, 0.5, False, "calm", "", 25_000, 4)


@pytest.mark.parametrize(
    "keys, key, said",
    [
        ({"members": 9}, "members", "members is out of range\n |\n = help: allowed: 1 to 8"),
        ({"members": 1.5}, "members", "allowed: a whole number"),
        ({"members": "true"}, "members", "allowed: a whole number"),
        ({"share": -1}, "share", "share is out of range"),
        ({"share": '"much"'}, "share", "allowed: a number"),
        ({"eager": 1}, "eager", "allowed: true or false"),
        ({"mode": "mild"}, "mode", "allowed: calm or wild"),
        ({"label": 3}, "label", "allowed: text"),
        ({"patience": "soon"}, "patience", "`soon` is not a duration"),
        ({"patience": 25}, "patience", 'a time such as "25us"'),
        ({"pacience": "1us"}, "pacience", "did you mean `patience`?"),
        ({"mode": "wild"}, "mode", "who is wild is eager"),
    ],
)
def test_what_a_key_does_not_take_is_refused_in_the_usual_words(keys: dict[str, object], key: str, said: str) -> None:
    with pytest.raises(harmonia.BadInput) as refused:
        keyed(**keys)
    assert refused.value.key == f"array.coordination.{key}"
    assert said in str(refused.value)
    if key != "pacience":
        assert isinstance(refused.value.__cause__, ValueError)


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


@pytest.mark.parametrize(
    "policies, said",
    [
        ("local", r"a list such as \['local'\]"),
        (PyGreedy, r"a list such as \[PyGreedy\]"),
        ([3], "names and classes, not 3"),
        ([int], "is not a policy, expected a class derived from one of harmonia.Coordinator"),
        ([type("Half", (harmonia.Victim,), {})], "Half has no method `choose`, which a victim policy needs"),
    ],
)
def test_what_is_no_policy_is_refused(policies: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        harmonia.compare("tiny", policies=policies, sets=TINY)


class Failing(Keyed):
    name = "failing"

    def interests(self) -> Mapping[str, bool]:
        return {"devices": True}

    def on(self, now: int, event: harmonia.Event, view: harmonia.ArrayView, actions: harmonia.Actions) -> None:
        if now > 10_000_000:
            raise LookupError("nobody is there")


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_stops_the_run_with_its_traceback_and_the_simulated_time(threads: int) -> None:
    with pytest.raises(LookupError, match="nobody is there") as raised:
        harmonia.compare("tiny", policies=["local", Failing, "ideal"], seeds=4, threads=threads)
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert frames[-1].name == "on" and frames[-1].line == 'raise LookupError("nobody is there")'
    if hasattr(raised.value, "__notes__"):
        (note,) = raised.value.__notes__
        assert "raised by Failing.on, at " in note and "us of simulated time" in note
        assert int(note.split("(")[1].split(" ns")[0]) > 10_000_000
    else:
        assert isinstance(raised.value.__cause__, harmonia.HarmoniaPolicyError)
    assert "failing" not in {policy["name"] for policy in harmonia.policies()}, "it is taken back"


def test_before_notes_the_cause_says_where() -> None:
    class Old(Exception):
        add_note = None  # type: ignore[assignment]

    error = Old()
    _policies.note(error, "there")
    assert isinstance(error.__cause__, harmonia.HarmoniaPolicyError) and str(error.__cause__) == "there"


def test_a_victim_that_raises_stops_ageing_on_all_threads() -> None:
    class Angry(harmonia.Victim):
        def choose(self, view: harmonia.VictimView, rng: harmonia.Random) -> int | None:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match=r"^no\b"):
        harmonia.run("tiny", policies=[Angry], sets={"ssd.gc.victim": "angry"}, threads=2)


def test_a_mistake_in_the_constructor_is_raised_as_it_is() -> None:
    class Broken(Keyed):
        def __init__(self) -> None:
            raise KeyError("nothing")

    with pytest.raises(KeyError, match="nothing"):
        harmonia.run("tiny", policies=[Broken], sets={"array.coordination.policy": "keyed"})


def wrong_on(answer: Callable[[harmonia.Actions, int], object]) -> type[Any]:
    class Wrong(Failing):
        name = "wrong"

        def on(self, now: int, event: harmonia.Event, view: harmonia.ArrayView, actions: harmonia.Actions) -> Any:
            return answer(actions, event.device if event.kind != "start" else 0)

    return Wrong


@pytest.mark.parametrize(
    "policy, key, error, said",
    [
        (wrong_on(lambda actions, member: [member]), "array.coordination.policy", TypeError, "Wrong.on returned .*actions.force"),
        (wrong_on(lambda actions, member: actions.force(4)), "array.coordination.policy", ValueError, "device 4: .* 0 to 3"),
        (wrong_on(lambda actions, member: actions.hold(-1)), "array.coordination.policy", ValueError, "device -1"),
        (
            wrong_on(lambda actions, member: actions.force(0, "soon")),  # type: ignore[arg-type]
            "array.coordination.policy",
            ValueError,
            '"all-reserve"',
        ),
        (wrong_on(lambda actions, member: actions.window(0, 5, 5)), "array.coordination.policy", ValueError, "end after"),
    ],
)
def test_wrong_actions_are_explained(policy: type[Any], key: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        harmonia.run("tiny", policies=[policy], sets={**TINY, key: "wrong"})


def answering(base: type[Any], method: str, answer: Callable[..., object], **more: object) -> type[Any]:
    """A policy whose method answers as given."""
    return type("Wrong", (base,), {"name": "wrong", method: lambda self, *args: answer(*args), **more})


@pytest.mark.parametrize(
    "policy, key, error, said",
    [
        (answering(PyGreedy, "choose", lambda view, rng: "3"), "ssd.gc.victim", TypeError, "a closed block or None"),
        (answering(PyGreedy, "choose", lambda view, rng: -1), "ssd.gc.victim", TypeError, "a closed block or None"),
        (answering(PyGreedy, "choose", lambda view, rng: 10**6), "ssd.gc.victim", IndexError, "there is no such block"),
        (
            answering(PyGreedy, "choose", lambda view, rng: ({*range(len(view))} - {*view.closed()}).pop()),
            "ssd.gc.victim",
            ValueError,
            "is not closed",
        ),
        (
            answering(PyGreedy, "choose", lambda view, rng: max(view.closed(), key=lambda block: view.valid[block])),
            "ssd.gc.victim",
            ValueError,
            "has no invalid page",
        ),
        (answering(PyBlocking, "next", lambda now, view: None), "ssd.gc.schedule", TypeError, r"view.serve_head\(\)"),
        (answering(PyBlocking, "next", lambda now, view: view.erase()), "ssd.gc.schedule", ValueError, "nothing to collect"),
        (answering(PyBlocking, "next", lambda now, view: view.wait(now)), "ssd.gc.schedule", ValueError, "expected"),
        (answering(PyBlocking, "next", lambda now, view: view.first("read")), "ssd.gc.schedule", ValueError, '"queues": True'),
        (answering(PyFixed, "limit", lambda now, load: 1.5), "ssd.gc.concurrency.policy", TypeError, r"\(4, True\)"),
        (answering(PyFixed, "rank", lambda *_: -1), "ssd.gc.concurrency.policy", TypeError, "from 0 on, or None"),
        (answering(PyFixed, "next_look", lambda now, load: now), "ssd.gc.concurrency.policy", ValueError, "a later time"),
    ],
)
def test_wrong_answers_are_explained(policy: type[Any], key: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        harmonia.run("tiny", policies=[policy], sets={**TINY, key: "wrong"})


@pytest.mark.parametrize(
    "policy, said",
    [
        (answering(Keyed, "interests", lambda: ["devices"]), "a mapping from devices, arrivals"),
        (answering(Keyed, "interests", lambda: {"members": True}), "a mapping from devices, arrivals"),
        (answering(Keyed, "interests", lambda: {"devices": 1}), "to True or False"),
        (answering(Keyed, "counters", lambda: {"fired": -1}), "whole numbers that never fall"),
        (answering(Keyed, "counters", lambda: {"forced": 1}), "every report has `forced` already"),
        (type("Wrong", (Keyed,), {"name": "wrong", "interface": "all"}), 'interface is \'all\', expected "nothing"'),
        (type("Wrong", (Keyed,), {"name": "wrong", "at_once": "two"}), "a number of members"),
    ],
)
def test_what_a_coordinator_says_of_itself_is_checked(policy: type[Any], said: str) -> None:
    with pytest.raises((TypeError, harmonia.BadInput), match=said):
        harmonia.run("tiny", policies=[policy], sets={**TINY, "array.coordination.policy": "wrong"})


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


def test_what_has_no_memory_cannot_remember() -> None:
    class Remembers(PyGreedy):
        def choose(self, view: harmonia.VictimView, rng: harmonia.Random) -> int | None:
            self.last = super().choose(view, rng)
            return self.last

    with pytest.raises(AttributeError, match="has no memory"):
        harmonia.run("tiny", policies=[Remembers], sets={"ssd.gc.victim": "remembers"})


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


def test_a_key_says_what_it_means() -> None:
    with pytest.raises(TypeError, match="needs its meaning"):
        harmonia.key(3, "")
    with pytest.raises(ValueError, match="out of range"):
        harmonia.key(3, "Too small.", least=4)
    with pytest.raises(ValueError, match="not a duration"):
        harmonia.duration_key("soon", "When.")
    with pytest.raises(ValueError, match="the key `devices` has the name"):
        harmonia.policies([type("Mine", (Keyed,), {"name": "mine", "devices": harmonia.key(1, "Taken.")})])
    assert list(keys_of(PyReactiveSelective)) == ["fire_at", "delay"]

"""Are keys of policies in Python checked, their exceptions raised, and their wrong answers explained?"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import harmonia
import pytest
from harmonia import _policies
from harmonia._policies import keys_of
from ports import Keyed, PyBlocking, PyFixed, PyGreedy, PyReactiveSelective

TINY = {"workload.requests": 2000}

#: What these runs mean does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::harmonia.HarmoniaWarning")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Never the cache of whoever runs the tests."""
    home = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    return home


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


def test_what_has_no_memory_cannot_remember() -> None:
    class Remembers(PyGreedy):
        def choose(self, view: harmonia.VictimView, rng: harmonia.Random) -> int | None:
            self.last = super().choose(view, rng)
            return self.last

    with pytest.raises(AttributeError, match="has no memory"):
        harmonia.run("tiny", policies=[Remembers], sets={"ssd.gc.victim": "remembers"})


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

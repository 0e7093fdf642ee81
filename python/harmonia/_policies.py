"""Policies written in Python: four classes to derive from, keys of their own, and who knows them by name."""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import inspect
import json
import os
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeVar, cast

from . import _native
from ._native import Actions, ArrayView, Candidate, Decision, DieView, Event, Load, Random, VictimView

T = TypeVar("T", bool, int, float, str)

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9.]+)*")


class HarmoniaPolicyError(RuntimeError):
    """Where and when a policy raised: the cause of its exception before Python 3.11, which has notes for that."""


class Key:
    """A key of a policy's own: `key` and `duration_key` make one."""

    def __init__(self, default: object, meaning: str, schema: dict[str, object]) -> None:
        if not (isinstance(meaning, str) and meaning.strip()):
            raise TypeError("a key needs its meaning: one sentence for lists, as in key(3, 'Number of candidates.')")
        self.meaning = meaning
        self.schema = schema
        self.default = default
        self.name = "the default"
        self.value = self.read(default)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, policy: object | None, owner: type) -> object:
        return self if policy is None else self.value

    def read(self, written: object) -> object:
        """What a policy finds if this is written. Raises ValueError for what the key does not take."""
        kind, choices = self.schema["type"], cast("Sequence[str] | None", self.schema.get("enum"))
        is_number = isinstance(written, (int, float)) and not isinstance(written, bool)
        if "format" in self.schema:
            if not isinstance(written, str):
                raise ValueError(f'{self.name} is {written!r}, expected a time such as "25us" or "1.5ms"')
            return _native.duration_ns(written)
        if kind == "boolean" and not isinstance(written, bool):
            raise ValueError(f"{self.name} is {written!r}, expected true or false")
        if kind in ("integer", "number"):
            whole = kind == "integer"
            if not is_number or (whole and not isinstance(written, int)):
                raise ValueError(f"{self.name} is {written!r}, expected a {'whole ' if whole else ''}number")
            return self._within(cast(float, written)) if whole else float(self._within(cast(float, written)))
        if kind == "string" and not isinstance(written, str):
            raise ValueError(f"{self.name} is {written!r}, expected text")
        if choices and written not in choices:
            raise ValueError(f"{self.name} is {written!r}, expected {' or '.join(choices)}")
        return written

    def _within(self, number: float) -> float:
        least, most = (cast("float | None", self.schema.get(bound)) for bound in ("minimum", "maximum"))
        if (least is not None and number < least) or (most is not None and number > most):
            bounds = f"{least} to {most}" if least is not None and most is not None else None
            bounds = bounds or (f"{least} or more" if most is None else f"at most {most}")
            raise ValueError(f"{self.name} is out of range, expected {bounds}")
        return number


def key(
    default: T,
    meaning: str,
    *,
    least: float | None = None,
    most: float | None = None,
    choices: Sequence[str] | None = None,
) -> T:
    """A key of a policy's own, as a class attribute: ``depth = harmonia.key(4, "How deep to look.", least=1)``.

    Scenarios set it beside the name of the policy, as in ``array.coordination.depth = 2``. In the policy ``self.depth``
    is what is set, or the default. Its type is that of the default: True or False, a whole number, a number, or text.
    ``least`` and ``most`` bound a number, and ``choices`` lists the texts.
    """
    if isinstance(default, bool):
        schema: dict[str, object] = {"type": "boolean"}
    elif isinstance(default, int):
        schema = {"type": "integer"}
    elif isinstance(default, float):
        schema = {"type": "number"}
    elif isinstance(default, str):
        schema = {"type": "string"}
    else:
        raise TypeError(f"{default!r}: a key is True or False, a whole number, a number or text")
    bounds = {"minimum": least, "maximum": most, "enum": None if choices is None else list(choices)}
    schema |= {name: bound for name, bound in bounds.items() if bound is not None}
    return cast(T, Key(default, meaning, schema))


def duration_key(default: str, meaning: str) -> int:
    """As `key`, for a time. It is written as ``"25us"``; the policy finds whole nanoseconds."""
    return cast(int, Key(default, meaning, {"type": "string", "format": "duration"}))


class Policy(ABC):
    """What the four kinds of policies have in common.

    ``name`` is what scenarios call the policy. Without one it is made of the name of the class: ``MyPolicy`` is
    ``my-policy``. The first paragraph of the class's documentation is its summary in lists, and ``source`` says where it
    comes from.

    Every run, or device of a run, has an object of its own. Its keys, and what it is told of the array or device, are
    there when ``__init__`` is called, which takes no arguments. A run that is cloned copies it with ``copy.deepcopy``.
    Times are whole nanoseconds of simulated time.
    """

    name: ClassVar[str] = ""
    source: ClassVar[str] = "a class in Python"
    _kind: ClassVar[str] = ""
    _told: ClassVar[tuple[str, ...]] = ()


class Coordinator(Policy):
    """Decides which members of an array collect, and when: ``array.coordination.policy``.

    ``devices``, ``redundancy`` (members that reads can do without at once) and ``message_latency`` tell of the array.
    """

    _kind: ClassVar[str] = "coordination"
    _told: ClassVar[tuple[str, ...]] = ("devices", "redundancy", "message_latency", "policy")

    devices: int
    redundancy: int
    message_latency: int

    #: What members must reveal and accept at least.
    interface: Literal["nothing", "log", "window", "busy", "command"] = "command"
    #: Whether it keeps members from collecting at the same time.
    keeps_apart: bool = False
    #: Whether it does what ``local`` does as long as no member fails.
    waits_for_failures: bool = False
    #: How many members may collect at the same time, if it keeps them apart.
    at_once: int = 1
    #: What reads do about members that collect; None leaves that to ``array.reads``.
    reads: Literal["wait", "avoid", "avoid-any", "avoid-cheaper"] | None = None

    @abstractmethod
    def interests(self) -> Mapping[str, bool]:
        """The kinds of events it wants to see, such as ``{"devices": True}``. Asked once.

        ``devices``: thresholds, and the begin and end of collection. ``arrivals`` and ``completions``: every host
        request. ``answers``: how long members took for each operation. The fewer, the faster the run.
        """

    @abstractmethod
    def on(self, now: int, event: Event, view: ArrayView, actions: Actions) -> None:
        """Reacts to one event: adds to ``actions``, which are carried out in order."""

    def cautions(self) -> Sequence[str]:
        """What about its keys cannot work on this array, for the warnings of the run."""
        return ()

    def counters(self) -> Mapping[str, int]:
        """What it has counted since the run began, for the report. The names are always the same."""
        return {}


class _Pure(Policy):
    """Answers follow from what is asked and nothing else, because one object is asked by several threads."""

    def __setattr__(self, name: str, value: object) -> None:
        if "_is_made" in vars(self):
            raise AttributeError(
                f"self.{name} cannot be set after __init__: a {self._kind} policy has no memory, and its answer follows "
                "from the view alone. A coordinator can remember."
            )
        super().__setattr__(name, value)


class Victim(_Pure):
    """Chooses the block to collect: ``ssd.gc.victim``. Its choice follows from the view and the random numbers alone."""

    _kind: ClassVar[str] = "victim"
    _told: ClassVar[tuple[str, ...]] = ("policy",)

    #: Whether it may take a block without an invalid page.
    may_take_full: bool = False
    #: Whether it looks at ``view.queued_reads()``.
    uses_reads: bool = False
    #: The built-in victim policy by which devices age in its place, such as ``"greedy"``: ageing asks often.
    ages_as: str | None = None

    @abstractmethod
    def choose(self, view: VictimView, rng: Random) -> int | None:
        """The number of a closed block, or None if collecting none would free a page."""


class Schedule(_Pure):
    """Decides what a die does next, host operations or collection: ``ssd.gc.schedule``. It has no memory."""

    _kind: ClassVar[str] = "schedule"
    _told: ClassVar[tuple[str, ...]] = ("policy",)

    #: The deadline of requests that have none of their own, in nanoseconds after they arrived; None: not looked at.
    deadlines: int | None = None
    #: Which host operations go ahead of a collection while every unit of the die is above its hard threshold.
    gives_way: Literal["never", "to-reads", "between-steps", "always"] = "never"

    def needs(self) -> Mapping[str, bool]:
        """What it relies on, such as ``{"queues": True}``. Asked once.

        ``queues``: looks for more than the head. ``pairs``: takes host operations along in the steps of collection.
        ``suspend``: is asked when work arrives while collection runs. ``begins_at_soft``: events begin at the soft
        threshold. ``fresh_blocks``: at the start of an event every plane opens a block.
        """
        return {}

    @abstractmethod
    def next(self, now: int, view: DieView) -> Decision:
        """A decision of the view, such as ``view.serve_head()``."""


class Concurrency(Policy):
    """Says how many channels of a device collect at once: ``ssd.gc.concurrency.policy``.

    ``channels`` tells how many the device has.
    """

    _kind: ClassVar[str] = "concurrency"
    _told: ClassVar[tuple[str, ...]] = ("channels", "policy")

    channels: int

    #: Whether every event may start at once. Then nothing else is asked.
    admits_all: bool = False
    #: Whether it is asked when a host operation is done, too.
    follows_host: bool = False

    @abstractmethod
    def limit(self, now: int, load: Load) -> int | tuple[int, bool]:
        """How many channels may collect, and whether dies may start although no threshold asks for it (False)."""

    def rank(self, now: int, candidate: Candidate, load: Load) -> int | None:
        """The die of highest rank starts first; None: not now."""
        return candidate.invalid

    def started(self, candidate: Candidate) -> None:
        """A die has got its turn."""

    def next_look(self, now: int, load: Load) -> int | None:
        """When it wants to be asked again even if nothing happens until then."""
        return None


#: What stands for a policy where several are named: a name, or a class.
Named = str | type[Policy]

KINDS = (Coordinator, Victim, Schedule, Concurrency)


def split(policies: Iterable[Named]) -> tuple[list[str], list[type[Policy]]]:
    """The names of coordination policies, and all classes."""
    if isinstance(policies, (str, type)):
        shown = repr(policies) if isinstance(policies, str) else policies.__name__
        raise TypeError(f"policies: a list such as [{shown}], not one alone")
    listed = list(policies)
    for policy in listed:
        if not isinstance(policy, (str, type)):
            raise TypeError(f"policies: names and classes, not {policy!r}")
    classes = [policy for policy in listed if isinstance(policy, type)]
    compared = [policy for policy in listed if isinstance(policy, str) or issubclass(policy, Coordinator)]
    return [policy if isinstance(policy, str) else name_of(policy) for policy in compared], classes


@contextlib.contextmanager
def known(classes: Sequence[type[Policy]]) -> Iterator[None]:
    """Scenarios may name these policies meanwhile."""
    chosen = list(dict.fromkeys(classes))
    _native.lend_policies(chosen)
    try:
        yield
    finally:
        _native.take_back_policies(chosen)


def name_of(policy: type[Policy]) -> str:
    """What scenarios call a policy."""
    base = next((kind for kind in KINDS if isinstance(policy, type) and issubclass(policy, kind)), None)
    if base is None:
        kinds = ", ".join(f"harmonia.{kind.__name__}" for kind in KINDS)
        raise TypeError(f"{policy!r} is not a policy, expected a class derived from one of {kinds}")
    name = policy.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", policy.__name__).replace("_", "-").lower()
    if not NAME.fullmatch(name) or name == "ideal":
        raise ValueError(
            f"{policy.__name__}: a policy cannot be called {name!r}, expected small letters, digits and `-`, "
            "as in name = 'my-policy'"
        )
    return name


def keys_of(policy: type[Policy]) -> dict[str, Key]:
    """Its keys, those of its bases first."""
    bodies = [vars(base) for base in reversed(policy.__mro__)]
    names = dict.fromkeys(name for body in bodies for name in body)
    found = {name: inspect.getattr_static(policy, name) for name in names}
    return {name: value for name, value in found.items() if isinstance(value, Key)}


def described(policy: type[Policy]) -> str:
    """What lists say of a policy, as JSON. Raises for a class that cannot be one."""
    name = name_of(policy)
    missing = sorted(getattr(policy, "__abstractmethods__", ()))
    if missing:
        raise TypeError(f"{policy.__name__} has no method `{missing[0]}`, which a {policy._kind} policy needs")
    keys = keys_of(policy)
    for taken in keys.keys() & {*policy._told}:
        raise ValueError(f"{policy.__name__}: the key `{taken}` has the name of something else, expected another name")
    paragraph = (inspect.cleandoc(vars(policy).get("__doc__") or "")).split("\n\n")[0]
    about = [
        {"name": own, "meaning": key.meaning, "default": key.default, "schema": key.schema} for own, key in keys.items()
    ]
    summary = " ".join(paragraph.split()) or "a class in Python"
    return json.dumps({"kind": policy._kind, "name": name, "summary": summary, "source": policy.source, "keys": about})


def made(policy: type[Policy], own: str, told: Mapping[str, int]) -> Policy:
    """A policy with these keys, as JSON, that is told this."""
    keys = keys_of(policy)
    read = {name: keys[name].read(value) for name, value in json.loads(own).items()}
    new = policy.__new__(policy)
    vars(new).update(read, **told)
    cast(Any, new).__init__()
    vars(new)["_is_made"] = True
    return new


def note(error: BaseException, text: str) -> None:
    """Says where an exception comes from, below its message."""
    add = getattr(error, "add_note", None)
    if add is not None:
        add(text)
    elif error.__cause__ is None:
        error.__cause__ = HarmoniaPolicyError(text)


def load_policies(path: str | os.PathLike[str]) -> list[type[Policy]]:
    """The policies that a Python file defines, in their order. Raises what the file raises."""
    place = os.fspath(path)
    module_name = "harmonia_policies_" + re.sub(r"\W", "_", os.path.abspath(place))
    spec = importlib.util.spec_from_loader(
        module_name, importlib.machinery.SourceFileLoader(module_name, place), origin=place
    )
    if spec is None or spec.loader is None:
        raise ValueError(f"{place}: is no Python file")
    module = importlib.util.module_from_spec(spec)
    # Where `copy` and `dataclasses` look for it.
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    there = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Policy)]
    own = [value for value in there if value.__module__ == module_name and not inspect.isabstract(value)]
    if not own:
        raise ValueError(f"{place}: defines no policy, expected a class derived from harmonia.Coordinator or the like")
    return own


def policy_files(arguments: Sequence[str]) -> tuple[list[type[Policy]], list[str]]:
    """The policies of each ``--policy-file FILE`` of a command line, and its other arguments."""
    classes: list[type[Policy]] = []
    others: list[str] = []
    left = iter(arguments)
    for argument in left:
        option, equals, path = argument.partition("=")
        if argument == "--":
            others += [argument, *left]
        elif option != "--policy-file":
            others.append(argument)
        elif equals or (path := next(left, "")):
            classes += load_policies(path)
        else:
            raise ValueError("--policy-file: expected a Python file behind it")
    return classes, others

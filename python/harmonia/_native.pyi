# What crates/py exports; `python -m mypy.stubtest harmonia._native` compares it with the built module.

from collections.abc import Sequence
from typing import Any, Literal, final

__all__ = [
    "Actions",
    "ArrayView",
    "BadInput",
    "Candidate",
    "Completion",
    "Decision",
    "DieView",
    "Event",
    "Gc",
    "Load",
    "Member",
    "Queued",
    "Random",
    "Request",
    "Running",
    "Status",
    "Table",
    "VictimView",
    "WallClock",
    "advise",
    "blame_parts",
    "check",
    "command",
    "compare",
    "duration_ns",
    "explain",
    "formats_json",
    "lend_policies",
    "policies_json",
    "presets_json",
    "reproduce",
    "run",
    "schema_json",
    "sweep_export",
    "sweep_points",
    "sweep_rows",
    "sweep_run",
    "take_back_policies",
    "trace_convert",
    "trace_fit",
    "trace_info",
    "trace_read",
    "tune",
    "version",
]

version: str

# The report's names of the parts of a response time, and what tables call them, in the order drawn.
blame_parts: list[tuple[str, str]]

class BadInput(ValueError):
    key: str | None
    line: int | None
    column: int | None

@final
class Table:
    # (name, kind, values): the kinds are integer, float and text.
    def __new__(cls, columns: list[tuple[str, str, list[Any]]]) -> Table: ...
    # (label, seed, table) of each run.
    @staticmethod
    def joined(runs: list[tuple[str, int, Table]]) -> Table: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def total(self) -> int: ...
    # Where the values of a column lie, batch by batch.
    def addresses(self, column: str) -> list[int]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

# Requests and intervals of each run.
_Tables = list[tuple[Table, Table]]

# A scenario is (what was written, whether that is text); a trace is (files, format); runs are (policies,
# seeds of each, whether the scenario's own policy alone is meant); None is the default of either.

def run(
    scenario: tuple[str, bool],
    sets: list[str],
    trace: tuple[list[str], str | None] | None,
    keep: tuple[int | None, bool],
    threads: int,
    checked: bool,
    cache: str | None,
) -> tuple[str, _Tables, str | None]: ...
def compare(
    scenario: tuple[str, bool],
    runs: tuple[list[str] | None, int | None, bool],
    sets: list[str],
    trace: tuple[list[str], str | None] | None,
    keep: tuple[int | None, bool],
    threads: int,
    checked: bool,
    cache: str | None,
) -> tuple[str, _Tables, str | None]: ...
def check(
    scenario: tuple[str, bool], sets: list[str], trace: tuple[list[str], str | None] | None
) -> str: ...
def tune(
    scenario: tuple[str, bool],
    search: tuple[str, list[str], int, int],
    sets: list[str],
    trace: tuple[list[str], str | None] | None,
    folder: str | None,
    threads: int,
    checked: bool,
    cache: str | None,
) -> tuple[str, str]: ...
def reproduce(
    ids: list[str], folder: str | None, seeds: int | None, threads: int, cache: str | None
) -> str: ...

# Of advice the array is a scenario, or named by its drives: (drive, count, level, chunk).
def advise(
    scenario: tuple[str, bool] | None,
    drives: tuple[str, int, str, str | None] | None,
    sets: list[str],
    trace: tuple[list[str], str | None] | None,
    seeds: int,
    threads: int,
    cache: str | None,
) -> tuple[str, str]: ...

# Requests of a scenario or of a folder with a result; asked is (how many of the slowest, the number of one).
def explain(
    scenario: tuple[str, bool],
    folder: str | None,
    asked: tuple[int, int | None],
    sets: list[str],
    trace: tuple[list[str], str | None] | None,
    threads: int,
    cache: str | None,
) -> tuple[str, str]: ...

# How a trace is read: (files, format, keys of [workload] as key=value).
_Reading = tuple[list[str], str | None, list[str]]

def trace_info(reading: _Reading) -> str: ...
def trace_read(reading: _Reading, most: int) -> Table: ...
def trace_convert(reading: _Reading, names: tuple[str, str], to: str | None, exact: bool) -> str: ...
def trace_fit(reading: _Reading, room: int | None) -> tuple[str, list[str]]: ...
def formats_json() -> str: ...
def presets_json() -> str: ...
def command(arguments: list[str]) -> int: ...
def policies_json() -> str: ...
def schema_json() -> str: ...

# A sweep is (what a sweep file says, scenario, sets).

def sweep_points(spec: tuple[str, tuple[str, bool], list[str]]) -> str: ...
def sweep_run(
    spec: tuple[str, tuple[str, bool], list[str]],
    points: list[int] | None,
    out: str,
    threads: int,
    checked: bool,
    cache: str | None,
) -> str: ...
def sweep_rows(out: str, addresses: list[str]) -> str: ...
def sweep_export(out: str) -> str: ...
def duration_ns(text: str) -> int: ...

# Policies written in Python are known by their names between these two.
def lend_policies(classes: Sequence[type]) -> None: ...
def take_back_policies(classes: Sequence[type]) -> None: ...

# What policies look at, and what they can do. A view belongs to one call and is gone with it. Times are whole nanoseconds.

@final
class Event:
    """Something that happened, as delivered to the controller. An attribute that its kind does not have is an AttributeError."""

    @property
    def kind(
        self,
    ) -> Literal[
        "start",
        "soft-threshold",
        "hard-threshold",
        "gc-started",
        "gc-ended",
        "window-warning",
        "drained",
        "answered",
        "status",
        "arrival",
        "completion",
        "timer",
        "failure",
        "replacement",
        "rebuilt",
    ]: ...
    @property
    def device(self) -> int:
        """The member: of all kinds but start, arrival, completion and timer."""
    @property
    def registered(self) -> bool:
        """gc-ended: whether the member is still at its soft threshold or below."""
    @property
    def operation(self) -> Literal["read", "write", "trim", "flush"]:
        """answered: what it was."""
    @property
    def latency(self) -> int:
        """answered: from submission to answer."""
    @property
    def number(self) -> int:
        """timer: the number it was set with."""
    @property
    def request(self) -> Request:
        """arrival: the host request."""
    @property
    def completion(self) -> Completion:
        """completion: the host request and when it was done."""

@final
class Request:
    """A host request. Offset and length are bytes."""

    @property
    def id(self) -> int: ...
    @property
    def arrival(self) -> int: ...
    @property
    def operation(self) -> Literal["read", "write", "trim", "flush"]: ...
    @property
    def offset(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def volume(self) -> int: ...
    @property
    def handle(self) -> int | None:
        """The placement handle that a trace says of a write, counted from 0."""
    @property
    def member(self) -> int | None: ...

@final
class Completion:
    """A host request that is done."""

    @property
    def id(self) -> int: ...
    @property
    def arrival(self) -> int: ...
    @property
    def operation(self) -> Literal["read", "write", "trim", "flush"]: ...
    @property
    def offset(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def finish(self) -> int | None: ...
    @property
    def gc_affected(self) -> bool:
        """Whether it waited for garbage collection, on whatever die, bus or log."""
    @property
    def met_gc(self) -> bool:
        """Whether one of its page operations met a collection of its die between arrival and service, delayed or not."""

@final
class ArrayView:
    """What has been delivered to the controller so far: ``view[device]`` is a member, ``len(view)`` their number."""

    @property
    def members(self) -> tuple[Member, ...]: ...
    @property
    def clock(self) -> WallClock | None:
        """The wall clock of the recorded load. None where it has none: it is synthetic, or a trace that does not tell when
        it was recorded, or one replayed in a closed loop."""
    def capable(self) -> list[int]:
        """The members that understand messages."""
    def __len__(self) -> int: ...
    def __getitem__(self, device: int, /) -> Member: ...

@final
class WallClock:
    """Which moment of UTC a simulated time stands for. It stays as it is when the call is over."""

    def utc(self, now: int) -> int:
        """UTC at this simulated time, in nanoseconds since 1970."""
    def time_of_day(self, now: int) -> int:
        """Nanoseconds since midnight UTC."""
    def next(self, now: int, time_of_day: int) -> int:
        """When it is this time of day next, in simulated time: later than ``now``."""

@final
class Member:
    """What the controller knows of one member. It stays as it is when the call is over."""

    @property
    def status(self) -> Status | None:
        """The last status received."""
    @property
    def as_of(self) -> int:
        """When that status was true."""
    @property
    def capable(self) -> bool:
        """Whether it understands messages."""
    @property
    def collecting(self) -> bool:
        """Whether the last delivered word is that it collects."""

@final
class Status:
    """What an SSD told of itself."""

    @property
    def free_min(self) -> int:
        """Fewest free blocks of any allocation unit."""
    @property
    def free_total(self) -> int:
        """Free blocks of the whole SSD."""
    @property
    def below_soft(self) -> bool: ...
    @property
    def below_hard(self) -> bool: ...
    @property
    def gc_active(self) -> bool: ...
    @property
    def gc_remaining(self) -> int:
        """Estimated time until collection is done."""
    @property
    def writes_until_hard(self) -> int:
        """Page writes it can surely take before a unit reaches its hard threshold."""
    @property
    def fragmentation(self) -> float:
        """Invalid pages among written ones, 0 to 1."""
    @property
    def queue_depth(self) -> int:
        """Page operations waiting or running."""
    @property
    def last_activity(self) -> int:
        """When it last started or finished a host operation."""
    @property
    def wear_mean(self) -> float:
        """Mean erases per block."""
    @property
    def window(self) -> Literal["none", "deterministic", "non-deterministic"]: ...
    @property
    def window_writes(self) -> int:
        """Page writes it can take before collection is forced, if they spread evenly."""

@final
class Actions:
    """What a coordinator wants done, in order. Devices are members by their number, from 0."""

    def force(self, device: int, stop: Literal["internal", "all-reserve"] = "internal") -> None:
        """Makes a member collect: to its own stop threshold, or in idle time until all of its reserve is free."""
    def hold(self, device: int) -> None:
        """Asks a member not to collect in the background."""
    def release(self, device: int) -> None:
        """Ends a hold."""
    def query(self, device: int) -> None:
        """Asks a member for its status: the event ``status`` says that the view has it."""
    def timer(self, at: int, number: int = 0) -> None:
        """Delivers the event ``timer`` with this number at that time."""
    def reserve(self, device: int) -> None:
        """Keeps new operations from a member; once it has none left, the event ``drained`` says so."""
    def end_reservation(self, device: int) -> None:
        """Ends a reservation."""
    def avoid(self, device: int) -> None:
        """Reads that can do without this member shall."""
    def use(self, device: int) -> None:
        """Ends that."""
    def window(self, device: int, begin: int, end: int) -> None:
        """Gives a member a window to collect in. It holds outside of it."""

@final
class VictimView:
    """The blocks of one allocation unit, by their numbers from 0; ``len(view)`` of them.

    Columns (``valid``, ``erases``, ``closed_at``) are memory views by block, which NumPy takes without a copy.
    """

    @property
    def now(self) -> int | None: ...
    @property
    def data_pages(self) -> int:
        """Data pages of a block."""
    @property
    def valid(self) -> memoryview[int]:
        """Valid pages."""
    @property
    def erases(self) -> memoryview[int]:
        """Erases so far."""
    @property
    def closed_at(self) -> memoryview[int]:
        """Position in the order of closing, of closed blocks."""
    def closed(self) -> list[int]:
        """The closed blocks: only these can be collected."""
    def closed_valid(self, block: int) -> int | None:
        """Valid pages of a closed block, None in any other state."""
    def fewest_valid(self) -> tuple[int, int] | None:
        """The closed block with the fewest valid pages (ties: least worn, then lowest), and how many. Costs next to nothing."""
    def all_fewest(self) -> list[int]:
        """All closed blocks that have as few."""
    def random_closed(self, rng: Random) -> int | None:
        """Any closed block, each with the same probability; None if no closed block has an invalid page."""
    def plane_of(self, block: int) -> int:
        """The plane of the die in which a block lies."""
    def is_valid(self, block: int, page: int) -> bool:
        """Whether a data page holds live data."""
    def queued_reads(self) -> list[tuple[int, int]]:
        """Host reads that wait, as plane and page offset; for policies with ``uses_reads``."""
    def __len__(self) -> int: ...

@final
class Random:
    """The random stream of a unit. The same seed gives the same numbers on any number of threads."""

    def below(self, bound: int) -> int:
        """A whole number from 0 to below ``bound``."""
    def unit(self) -> float:
        """A number from 0 to below 1."""
    def chance(self, p: float) -> bool:
        """True with probability ``p``."""

@final
class DieView:
    """A die and its queue. Decisions are made by its methods; what is not possible now is a ValueError."""

    @property
    def head(self) -> Queued | None:
        """The host operation whose turn it is, ready or not."""
    @property
    def gc(self) -> Gc: ...
    @property
    def running(self) -> Running | None:
        """What runs, when asked whether to suspend it; otherwise the die is idle."""
    @property
    def suspended(self) -> Running | None:
        """What was suspended and has yet to be resumed."""
    @property
    def free(self) -> int:
        """Fewest free blocks of any unit of the die."""
    @property
    def hard(self) -> int:
        """Hard threshold, in free blocks."""
    @property
    def soft(self) -> int:
        """Soft threshold, in free blocks."""
    @property
    def planes(self) -> int: ...
    @property
    def multi_plane(self) -> bool:
        """Whether host operations of several planes join in one command."""
    @property
    def bus_free_at(self) -> int | None: ...
    def waiting(self, kind: Literal["read", "write"]) -> int:
        """How many wait."""
    def first(self, kind: Literal["read", "write"]) -> Queued | None:
        """The first that waits."""
    def find_read(self, plane: int, page: int) -> Queued | None:
        """The first waiting read of a page offset in a plane."""
    def first_write(self, plane: int) -> Queued | None:
        """The first waiting write that will go to a plane."""
    def each_waiting(self) -> list[tuple[Queued, int, int]]:
        """All that waits in the order of service, each with its time on the die and on the host link."""
    def step_time(self) -> int | None:
        """What the step of collection that is due takes."""
    def serve_head(self) -> Decision:
        """Serves the operation whose turn it is, or waits for it."""
    def serve(self, operation: Queued, *, alone: bool = False) -> Decision:
        """Serves an operation that this view has found, with those of other planes that can join it unless ``alone``."""
    def wait(self, until: int | None = None) -> Decision:
        """Does nothing until then, or until something arrives."""
    def gc_step(self, *, pairs: bool = False) -> Decision:
        """The next half of a page move, or the next victim, with host operations of other planes if it ``pairs``."""
    def gc_move(self) -> Decision:
        """A whole page move, or the half that is due."""
    def erase(self) -> Decision:
        """Erases the victim, of which all pages are moved."""
    def collect(self, *, instant: bool = False) -> Decision:
        """The whole collection that is wanted as one command."""
    def suspend(self) -> Decision:
        """Suspends what runs."""
    def resume(self) -> Decision:
        """Goes on with what was suspended."""

@final
class Queued:
    """An operation that waits in the queue of a die."""

    @property
    def kind(self) -> Literal["read", "write"]: ...
    @property
    def ready(self) -> int:
        """When it can start; may lie in the future."""
    @property
    def deadline(self) -> int | None:
        """When its request should be done, for schedules with ``deadlines``."""

@final
class Decision:
    """What a die does next: an answer to the question that its view belongs to."""

@final
class Running:
    """A program or erase of garbage collection that runs or is suspended."""

    @property
    def ends(self) -> int: ...
    @property
    def remaining(self) -> int: ...
    @property
    def suspendable(self) -> bool: ...

@final
class Gc:
    """Where the garbage collection of a die stands. A ``job`` has the other attributes; an AttributeError without."""

    @property
    def state(self) -> Literal["idle", "wanted", "job"]: ...
    @property
    def hard(self) -> bool:
        """Whether a unit of the die is at its hard threshold, so that collection must not yield."""
    @property
    def moves_use_bus(self) -> bool:
        """wanted: page moves take turns on a shared bus."""
    @property
    def pinned(self) -> bool:
        """The page that was read lies in the plane's register: nothing but its program can come next."""
    @property
    def phase(self) -> Literal["choose", "read", "program", "away", "erase"]: ...
    @property
    def unit(self) -> int: ...
    @property
    def victim(self) -> int: ...
    @property
    def cursor(self) -> int:
        """The page that moves next."""
    @property
    def source_plane(self) -> int: ...
    @property
    def destination(self) -> tuple[int, int]:
        """Plane and page offset of the next moved page."""

@final
class Load:
    """A device as a concurrency policy sees it; lists are by channel."""

    @property
    def utilisation(self) -> float:
        """Share of blocks that are not erased."""
    @property
    def active(self) -> int:
        """Channels that collect, or are about to."""
    @property
    def depth(self) -> list[int]:
        """Host page operations at the dies of a channel."""
    @property
    def idle_since(self) -> list[int | None]:
        """Since when a channel has had none; None while it has."""

@final
class Candidate:
    """A die that could start."""

    @property
    def channel(self) -> int: ...
    @property
    def die(self) -> int: ...
    @property
    def invalid(self) -> int:
        """Invalid pages of its greedy victim."""

"""Built-in policies once more, in Python. Tests hold them against the built-in ones, and a benchmark compares their cost."""

from __future__ import annotations

from collections.abc import Mapping

import harmonia


class PyReactiveSelective(harmonia.Coordinator):
    """The first member at its hard threshold makes those at their soft threshold collect."""

    fire_at = harmonia.key("hard", "Which threshold makes the array fire.", choices=["soft", "hard"])
    delay = harmonia.duration_key("0us", "How long the array waits after a soft notice, at most; 0: it fires at once.")

    def __init__(self) -> None:
        if self.delay and self.fire_at == "hard":
            raise ValueError("a member at hard collects without an order, expected fire_at = 'soft' with a delay")
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

"""What is left of collection, and of coordination, behind a write cache? Six drives of one kind on RAID-5, 6 and 10, as tables.

    python3 experiments/behind.py HARMONIA FOLDER [TRACE...]

runs what FOLDER/behind.json does not have yet, keeps every finished cell there, and prints all of it as Markdown. `make
behind` calls it, and writes the tables of docs/behind-the-cache.md, which has those of published traces. A cell is one scheme on one array under one load at one
rate, with three seeds. Rates are shares of what the array itself serves when requests never pause, which is measured first.
All runs of a seed start from the same aged array and have the same requests, so schemes are compared seed by seed.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import statistics

from ladder import Store, run_all

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "behind-the-cache.md"
RESULTS = ROOT / "experiments" / "behind.json"

SEEDS = 3
# Student's t of two degrees of freedom, 95%: three seeds.
T = 4.303
ARRAY = [
    "array.devices=6",
    "array.stripe_unit=64KiB",
    "ssd.preset=samsung-pm9a3-960g",
    "ssd.scale=1/160",
]
# The preset collects a little at all times. The variant has no drive's name: a whole drive collects at once, from one block
# above its hard threshold until three are free above it.
DRIVES = {
    "steady": [],
    "bursty": [
        "ssd.gc.trigger=bursts",
        "ssd.gc.domain=device",
        "ssd.gc.soft_threshold=hard+1",
        "ssd.gc.stop_threshold=hard+3",
    ],
}
LEVELS = ["raid5", "raid6", "raid10"]
BELOW = [0.25, 0.5, 0.75]
KNEE = 0.95
RATES = [*BELOW, KNEE]

# (rung, name, policy, further keys), the lowest rung first. A hedged read is sent after about the p95 of reads, as its source
# has it. Windows hold a collection, and a round of six is shorter than what the drives have between their thresholds.
SCHEMES = [
    ("nothing", "hedge", "hedge", ["array.coordination.delay=250us"]),
    ("window", "plm", "plm", ["array.coordination.non_deterministic=40ms"]),
    ("busy", "ioda", "ioda", ["array.coordination.window=40ms", "array.coordination.buffer=10ms"]),
    ("command", "in turn", "gclock", ["array.reads=avoid"]),
    ("command", "together", "reactive-selective", ["array.coordination.fire_at=soft"]),
    ("bought", "a tenth left empty", "local", ["precondition.fill=0.9", "workload.address.footprint=0.9"]),
    ("bought", "RAID-10", "local", ["array.level=raid10"]),
]
# Windows put collection off as long as there is room. These runs begin when the room is used up.
SETTLED = [(rung, f"{name}, settled", policy, keys) for rung, name, policy, keys in SCHEMES if rung in ("window", "busy")]
BASE = ("", "local", "local", [])
BOUND = ("-", "ideal", "ideal", [])
PERCENTILES = ["p50", "p99", "p999"]


class Load:
    """A built-in load or a trace, at any rate."""

    def __init__(self, title, scenario, keys, requests, warmup, rates=RATES, compared=None, settle=0):
        self.title, self.scenario, self.keys = title, scenario, keys
        self.requests, self.warmup = requests, warmup
        # Shares of what the array serves, and those at which all schemes are compared, with the drives.
        self.rates, self.compared = rates, compared or {}
        # Further requests of the warm-up until the room between the thresholds is used up; 0: not tried.
        self.settle = settle

    def counted(self, more=0):
        """Requests and warm-up, of which the former count the latter too."""
        return [f"workload.requests={self.requests + more}", f"workload.warmup={self.warmup + more}"]

    def at(self, rate, more=0):
        """Scenario and keys for so many requests a second, of which so many more warm up."""
        return [self.scenario], [*self.keys, *self.counted(more), f"workload.arrival.rate={rate:.6g}"]

    def full(self):
        """The same without a pause. Free blocks settle for longer."""
        closed = 'workload.arrival={ process = "closed", queue_depth = 384 }'
        return [self.scenario], [*self.keys, *self.counted(self.warmup), closed]


class Trace(Load):
    """A trace, replayed again and again by drives that it has aged. Its rate is changed by playing it faster."""

    def __init__(self, path):
        keys = ["workload.repeat=1000", "precondition.overwrite_space=load"]
        super().__init__(f"the trace {pathlib.Path(path).stem}", "hpc-w", keys, 120000, 60000, compared=ONCE)
        self.path, self.own_rate = path, None

    def at(self, rate, more=0):
        scale = self.own_rate / rate if self.own_rate else 1.0
        return [self.scenario, "--trace", self.path], [*self.keys, *self.counted(more), f"workload.time_scale={scale:.6g}"]

    def full(self):
        keys = [*self.keys, *self.counted(), "workload.replay=closed", "workload.queue_depth=384"]
        return [self.scenario, "--trace", self.path], keys

    def is_known(self, run):
        """From a run at its own rate: that rate, and whose cells the page has if it is a published one."""
        self.own_rate = served(run)
        for published, rows in PUBLISHED:
            if run["trace"]["hash"] == rows:
                self.title = published.title


class Published(Load):
    """A trace that anybody can get: the page has its cells."""

    def __init__(self, name):
        super().__init__(name, "hpc-w", [], 0, 0, compared=ONCE)


# Half of all requests read. The large ones are as large as those of the HPC loads.
HALF = "workload.read_fraction=0.5"
# At the knee schemes are tried on the drives that keep up there.
ALL = {0.5: list(DRIVES), KNEE: ["steady"]}
ONCE = {0.5: list(DRIVES)}
LOADS = [
    Load("4 KiB", "hpc-w", ["workload.size.mean=4KiB", HALF], 180000, 120000, compared=ALL, settle=620000),
    Load("511 KB", "hpc-w", [HALF], 5000, 2500, rates=[0.5]),
]
# With the hash of the rows that a run replays.
PUBLISHED = [
    (Published("web_3"), "ed053af4e865fc4c8a5eb4ba9378c5ba"),
    (Published("alibaba"), "0334c96aaebb6a4a42914f746fb30ea0"),
]
TRACES = [load for load, _ in PUBLISHED]


def served(run):
    """Requests a second."""
    return run["host"]["requests"] / run["simulated_ns"] * 1e9


def figures(run):
    array, response = run["array"], run["host"]["response_ns"]
    return {
        **{kind: [response[kind][level] for level in PERCENTILES] for kind in ("read", "write")},
        "written": [array["write_amplification"]],
        "n_g": round(sum(members * share for members, share in enumerate(array["devices_in_gc_fraction"])), 3),
        "served": round(served(run)),
    }


class Measuring:
    """Fills the store, as many cells at once as there are processors."""

    def __init__(self, harmonia, store, seeds=SEEDS):
        self.harmonia, self.store, self.seeds = harmonia, store, seeds

    def runs(self, scenario, keys, policy, seeds):
        # The last of two values of a key counts, so that a scheme may have another level.
        chosen = {key.split("=", 1)[0]: key for key in [*ARRAY, *keys]}
        return run_all(self.harmonia, [*scenario, "--quiet", "--threads", "1"], list(chosen.values()), policy, seeds)

    def saturation(self, load, level, drive):
        name = key(load, level, drive, "served")
        if name in self.store.cells:
            return None
        scenario, keys = load.full()
        done = self.runs(scenario, [*keys, f"array.level={level}", *DRIVES[drive]], "local", 1)
        return name, done and round(served(done[0]))

    def cell(self, load, level, drive, share, scheme):
        _, called, policy, keys = scheme
        if isinstance(load, Trace):
            # A trace says where requests go.
            keys = [key for key in keys if not key.startswith("workload.address.")]
        name = key(load, level, drive, share, called)
        full = self.store.cells.get(key(load, level, drive, "served"))
        if name in self.store.cells or not full:
            return None
        scenario, own = load.at(full * share, load.settle if scheme in SETTLED else 0)
        done = self.runs(scenario, [*own, f"array.level={level}", *DRIVES[drive], *keys], policy, self.seeds)
        return name, done and [figures(run) for run in done]

    def all(self, tasks):
        """Two processes, each of one thread: a process with two threads would wait for the longer of its seeds."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for done in concurrent.futures.as_completed([pool.submit(*task) for task in tasks]):
                found = done.result()
                if found and found[1]:
                    self.store.keep(*found)


def key(load, *parts):
    """What a cell is called in the store."""
    return "/".join([load.title, *map(str, parts)])


def arrays():
    return [(level, drive) for level in LEVELS for drive in DRIVES]


def cells(load):
    """Every (level, drive, share, scheme) of a load."""
    for level, drive in arrays():
        for share in load.rates:
            yield level, drive, share, BASE
            yield level, drive, share, BOUND
            for scheme in SCHEMES if drive in load.compared.get(share, []) else []:
                if f"array.level={level}" not in scheme[3]:
                    yield level, drive, share, scheme
            if load.settle and level != "raid6" and share == 0.5:
                yield from ((level, drive, share, scheme) for scheme in SETTLED)


def measure(measuring, loads):
    for load in loads:
        if isinstance(load, Trace):
            scenario, keys = load.at(None)
            for run in measuring.runs(scenario, [*keys, "array.level=raid5"], "local", 1) or []:
                load.is_known(run)
    measuring.all([(measuring.saturation, load, *array) for load in loads for array in arrays()])
    every = [(measuring.cell, load, *cell) for load in loads for cell in cells(load)]
    measuring.all(every)


# What is made of it.


def change(runs, base, kind, place):
    """Change of a percentile against the same seed of the base: mean and both ends of its interval, as shares. `None` where a
    seed has too few requests for that percentile."""
    pairs = [(run[kind][place], other[kind][place]) for run, other in zip(runs or [], base or [])]
    if not pairs or any(None in pair for pair in pairs):
        return None
    ratios = [math.log(run / other) for run, other in pairs]
    mean = statistics.fmean(ratios)
    half = T * statistics.stdev(ratios) / math.sqrt(SEEDS) if len(ratios) == SEEDS else math.inf
    return tuple(math.exp(value) - 1 if value < 50 else math.inf for value in (mean, mean - half, mean + half))


def is_told(found):
    """Whether the interval leaves no doubt which of both is larger, by a percent at least."""
    return found is not None and abs(found[0]) >= 0.01 and (found[1] > 0 or found[2] < 0)


def percent(found):
    """`+12 (+9 to +15)`, bold where it is beyond chance."""
    if found is None:
        return "-"
    mean, low, high = (f"{100 * value:+.0f}" if abs(value) < 10 else ">1000" for value in found)
    text = f"{mean} ({low} to {high})" if high != ">1000" else mean
    return unsigned(f"**{text}**" if is_told(found) else text)


def unsigned(text):
    """Without the sign of a figure that is rounded to 0."""
    return re.sub(r"[+-]0\b", "0", text)


def micro(ns):
    us = ns / 1e3
    return f"{us:,.0f}" if us >= 100 else f"{us:.3g}"


def average(runs, kind, place):
    values = [run[kind][place] for run in runs or []]
    return statistics.fmean(values) if values and None not in values else None


def spelled(level):
    return level.upper().replace("RAID", "RAID-")


SHOWN = [("read", place) for place in range(3)] + [("write", place) for place in range(3)]


def title(kind, place):
    return "flash writes" if kind == "written" else f"{kind} {['p50', 'p99', 'p99.9'][place]}"


def cost_table(store, load):
    """Percentiles with and without collection."""
    shown = measured(store, load, SHOWN)
    rows = [
        f"| drive | level | share | {' | '.join(title(*of) for of in shown)} | n x g |",
        "|---|---|--:|" + "--:|" * (len(shown) + 1),
    ]
    for drive in DRIVES:
        for level in LEVELS:
            for share in load.rates:
                base, bound = (store.get(key(load, level, drive, share, scheme[1])) for scheme in (BASE, BOUND))
                if not base or not bound:
                    continue
                row = [cost(base, bound, *of) for of in shown]
                n_g = statistics.fmean(run["n_g"] for run in base)
                rows.append(f"| {drive} | {spelled(level)} | {offered(share, base, bound)} | {' | '.join(row)} | {n_g:.1f} |")
    return rows if len(rows) > 2 else []


def offered(share, base, bound):
    """The share, and how much of it is served where that is less. Without collection arrays keep up."""
    kept_up = statistics.fmean(run["served"] / other["served"] for run, other in zip(base, bound))
    return f"{share:.0%}" if kept_up > 0.97 else f"{share:.0%}, {kept_up:.0%} of it served"


def measured(store, load, figures):
    """Those of the figures that the load has enough requests for."""
    name = key(load, LEVELS[0], next(iter(DRIVES)), load.rates[0], BASE[1])
    return [of for of in figures if average(store.get(name), *of) is not None]


def cost(base, bound, kind, place):
    with_it, without = average(base, kind, place), average(bound, kind, place)
    if with_it is None or without is None:
        return "-"
    text = f"{micro(with_it)} / {micro(without)}"
    return f"**{text}**" if is_told(change(base, bound, kind, place)) else text


def scheme_table(store, load, share):
    """Each scheme against `local`."""
    shown = measured(store, load, [("read", 1), ("read", 2), ("write", 1), ("written", 0)])
    drives = load.compared[share]
    columns = [f"{drive}: {title(*of)}" for drive in drives for of in shown]
    rows = [f"| level | drives offer | scheme | {' | '.join(columns)} |", "|---|---|---|" + "--:|" * len(columns)]
    for level in LEVELS:
        for rung, scheme, *_ in [*SCHEMES, *SETTLED, BOUND]:
            row = []
            for drive in drives:
                runs, base = (store.get(key(load, level, drive, share, of)) for of in (scheme, BASE[1]))
                row += [percent(change(runs, base, *of)) for of in shown if (scheme, of[0]) != (BOUND[1], "written")]
                # How much is collected says nothing where it takes no time.
                row += ["-"] * (scheme == BOUND[1])
            if set(row) - {"-"}:
                rows.append(f"| {spelled(level)} | {rung.strip('-')} | {scheme} | {' | '.join(row)} |")
    return rows if len(rows) > 2 else []


def saturations(store, loads):
    rows = ["| load | " + " | ".join(f"{spelled(level)}, {drive}" for level, drive in arrays()) + " |"]
    rows.append("|---|" + "--:|" * len(arrays()))
    for load in loads:
        row = [store.get(key(load, *array, "served")) for array in arrays()]
        if any(row):
            rows.append(f"| {load.title} | " + " | ".join(f"{value:,.0f}" if value else "-" for value in row) + " |")
    return rows


def parts(store, loads):
    """Every table by the name that the page has for it."""
    made = {"saturation": saturations(store, loads)}
    for load in loads:
        made[f"cost, {load.title}"] = cost_table(store, load)
        for share in load.compared:
            made[f"schemes, {load.title}, {share:.0%}"] = scheme_table(store, load, share)
    return {part: "\n".join(rows) + "\n" for part, rows in made.items() if rows}


END = "<!-- end -->\n"


def filled(page, made, maker="behind"):
    """The page with all that this maker makes in it made anew."""
    begin = f"<!-- made: {maker}, "
    head, *pieces = page.split(begin)
    for piece in pieces:
        part, rest = piece.split(" -->\n", 1)
        head += f"{begin}{part} -->\n{made[part]}{END}{rest.split(END, 1)[1]}"
    return head


def compact(cells):
    """One line a cell, in order."""
    lines = [f"{json.dumps(key)}: {json.dumps(cells[key])}" for key in sorted(cells)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("harmonia")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("traces", nargs="*")
    parser.add_argument("--keep", action="store_true", help="write the page and the results that it is made of")
    arguments = parser.parse_args()
    loads = [*LOADS, *map(Trace, arguments.traces)]
    store = Store(arguments.folder / "behind.json")
    measuring = Measuring(arguments.harmonia, store)
    measure(measuring, loads)
    for part, table in parts(store.cells, loads).items():
        print(f"\n## {part}\n\n{table}")
    if arguments.keep:
        # Of published traces that were not given the cells stay as they are.
        pages = {load.title for load in [*LOADS, *TRACES]}
        own = json.loads(RESULTS.read_text(encoding="utf-8"))
        own = {cell: of for cell, of in [*own.items(), *store.cells.items()] if cell.split("/", 1)[0] in pages}
        RESULTS.write_text(compact(own), encoding="utf-8")
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), parts(own, [*LOADS, *TRACES])), encoding="utf-8")


if __name__ == "__main__":
    main()

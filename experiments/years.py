"""What does latency cost in years? Coordinators, schedules and what can be bought, on RAID-5 of six drives, as tables and a figure.

    python3 experiments/years.py HARMONIA FOLDER [TRACE:TIME_SCALE ...]

runs what FOLDER/years.json does not have yet, keeps every finished cell there, and prints all of it as Markdown. `make years`
calls it, and writes the tables of docs/latency-and-lifetime.md. A cell is one scheme under one load, with three seeds. All runs
of a seed start from the same aged array and have the same requests, so schemes are compared seed by seed. Only those that warm up
for longer (SETTLES) measure later requests of a trace.

Years are those of the average drive, by write amplification over whole collection cycles. A scheme that puts collection off is not
credited for what it did not collect. Hosts of a trace may write so little that wear takes centuries. So schemes are compared by
flash writes there, which are the inverse of years at any rate.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import statistics
import sys

from behind import ARRAY, SEEDS, average, change, compact, filled, is_told, micro, percent, unsigned
from ladder import Store, run_all

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "latency-and-lifetime.md"
RESULTS = ROOT / "experiments" / "years.json"
PICTURE = ROOT / "docs" / "latency-and-lifetime.svg"

# What blocks endure is an assumption. The rating is that of the drive, as SSD-iq lists it.
CYCLES = 3000
RATED = {"drive_writes_a_day": 1, "years": 5}
# What users write a day: the capacity of the RAID-5 once.
DAILY = 5 * 960e9

RATING = f"ssd.rating.cycles={CYCLES}"
FIXED = [*ARRAY, "array.level=raid5", RATING]
AVOID = "array.reads=avoid"
NVRAM = "array.nvram=16MiB"
SOFT = "array.coordination.fire_at=soft"
PLM = ["array.coordination.non_deterministic=40ms"]
IODA = ["array.coordination.window=40ms", "array.coordination.buffer=10ms"]
SPARE = ["precondition.fill=0.9", "workload.address.footprint=0.9"]
FLOATING = ["array.coordination.stripes=floating", "array.coordination.thin=false"]
# Another trigger than that of the drive, whose schedule has to let the host go first.
FOREGROUND = "ssd.gc.trigger=foreground"

# (what is needed of drives or buyers, lever, name, policy, further keys), the cheapest first.
SCHEMES = [
    ("nothing", "reading around", "sit-out", "sit-out", []),
    ("nothing", "reading around", "hedge", "hedge", ["array.coordination.delay=250us"]),
    ("window", "windows", "plm", "plm", PLM),
    ("busy", "windows", "ioda", "ioda", IODA),
    ("command", "reading around", "local + avoid", "local", [AVOID]),
    ("command", "together", "reactive-inclusive", "reactive-inclusive", [SOFT]),
    ("command", "together", "reactive-selective", "reactive-selective", [SOFT]),
    ("command", "together", "proactive-soft-limit", "proactive-soft-limit", []),
    ("command", "together", "proactive-idle", "proactive-idle", ["array.coordination.idle_threshold=1ms"]),
    ("command", "in turn", "gcsync + avoid", "gcsync", [AVOID, *IODA]),
    ("command", "in turn", "gclock + avoid", "gclock", [AVOID]),
    ("command", "in turn", "serial + avoid", "serial", [AVOID]),
    ("command", "in turn", "ttflash", "ttflash", []),
    ("command", "parking", "local + nvram", "local", [NVRAM]),
    ("command", "parking", "serial + nvram", "serial", [NVRAM]),
    ("command", "free stripes", "gaftl", "gaftl", ["array.free_stripes=4096", "array.coordination.stripes=rows"]),
    ("command", "free stripes", "gaftl, floating", "gaftl", FLOATING),
    ("drive", "schedule", "slack", "local", ["ssd.gc.schedule=slack"]),
    ("drive", "schedule", "preemptive, foreground", "local", [FOREGROUND]),
    ("drive", "schedule", "after-reads", "local", [FOREGROUND, "ssd.gc.schedule=after-reads"]),
    ("drive", "schedule", "stepwise", "local", [FOREGROUND, "ssd.gc.schedule=stepwise"]),
    ("drive", "schedule", "blocking", "local", [FOREGROUND, "ssd.gc.schedule=blocking"]),
    ("bought", "bought", "a tenth left empty", "local", SPARE),
    ("bought", "bought", "RAID-10", "local", ["array.level=raid10"]),
    # The room that GAFTL needs, without GAFTL.
    ("bought", "bought", "room of free stripes", "local", ["array.free_stripes=4096"]),
    ("bought", "bought", "room of floating stripes", "local", ["array.level=draid1:4d:1s"]),
]
BASE = ("", "local", "local", "local", [])
BOUND = ("", "ideal", "ideal", "ideal", [])
# (name, the two schemes that it joins, policy, further keys).
PAIRS = [
    ("hedge, a tenth left empty", ("hedge", "a tenth left empty"), "hedge", ["array.coordination.delay=250us", *SPARE]),
    ("ioda, a tenth left empty", ("ioda", "a tenth left empty"), "ioda", [*IODA, *SPARE]),
    ("gclock + avoid, a tenth left empty", ("gclock + avoid", "a tenth left empty"), "gclock", [AVOID, *SPARE]),
    ("ioda + nvram", ("ioda", "local + nvram"), "ioda", [*IODA, NVRAM]),
    ("gclock + avoid + nvram", ("gclock + avoid", "local + nvram"), "gclock", [AVOID, NVRAM]),
    ("RAID-10, hedge", ("RAID-10", "hedge"), "hedge", ["array.level=raid10", "array.coordination.delay=250us"]),
    ("RAID-10, a tenth left empty", ("RAID-10", "a tenth left empty"), "local", ["array.level=raid10", *SPARE]),
]
JOINED = [("", "pair", name, policy, keys) for name, _, policy, keys in PAIRS]
# Schedules under which the array does not keep up: tried under one load.
BEHIND = ("after-reads", "stepwise", "blocking")
# The figure leaves out schemes with more than so many times the p99.9 of `local`.
FAR = 3
# Windows put collection off as long as there is room. These runs begin when most of the room is used up.
SETTLES = ("plm", "ioda")


class Load:
    """A generated load: name, what it is, keys, requests, how many of them warm up, and how many more where windows settle."""

    def __init__(self, name, title, keys, requests, warmup, settle):
        self.name, self.title, self.keys = name, title, keys
        self.requests, self.warmup, self.settle = requests, warmup, settle
        self.stored = name

    def own(self, settles):
        more = self.settle if settles else 0
        return [*self.keys, f"workload.requests={self.requests + more}", f"workload.warmup={self.warmup + more}"]

    def arguments(self, settles, keys):
        """The scenario, and the keys of a scheme that has these. The last of two values of a key counts."""
        return ["hpc-w"], list({key.split("=", 1)[0]: key for key in [*FIXED, *self.own(settles), *keys]}.values())

    def figures(self, run):
        return figures(run)


class Trace(Load):
    """A trace, replayed again and again on an array that is named as for anybody's trace. Floating stripes cannot be aged by it."""

    def __init__(self, path, time_scale, called):
        name = f"{called} x {time_scale:g}"
        keys = [f"workload.time_scale={time_scale:.6g}", "workload.repeat=1000", "precondition.overwrite_space=load"]
        super().__init__(name, f"the trace {name}", keys, 150000, 40000, 40000)
        self.path, self.time_scale, self.source = path, time_scale, path
        # Files of one name may come one after the other.
        self.stored = f"{pathlib.Path(path).resolve()} x {time_scale:g}, on named drives"

    def arguments(self, settles, keys):
        said = dict(key.split("=", 1) for key in FIXED)
        array = ["--drive", said["ssd.preset"], "--count", said["array.devices"]]
        array += ["--level", said["array.level"], "--chunk", said["array.stripe_unit"]]
        # The addresses are those of the trace.
        keys = [key for key in keys if not key.startswith("workload.address.")]
        return ["--trace", self.path, *array], [RATING, *self.own(settles), *keys]

    def figures(self, run):
        """With the rows that were replayed, and what users write in a day of the trace's own hours."""
        array, rows = run["array"], run["trace"]["hash"]
        daily = array["lifetime"]["host_bytes_per_day"] * self.time_scale
        amplification = array["write_amplification_whole_cycles"]
        written = [amplification and round(amplification, 4)]
        return {**figures(run), "trace": rows, "daily": round(daily), "written": written}


class Published:
    """A trace that anybody can get: the page has its cells. `rows` is the hash of those that a run of `local` replays."""

    def __init__(self, name, source, rows):
        self.name = self.stored = name
        self.source, self.rows = source, rows

    def is_that(self, trace, store):
        """Whether this trace was given, at its own speed."""
        runs = store.get(key(trace, BASE[2])) or [{}]
        return trace.time_scale == 1 and runs[0].get("trace") == self.rows


def traces_of(arguments):
    """The traces of `PATH:TIME_SCALE`, called by the names of their files, or by their paths where two files have one name."""
    split = [argument.rpartition(":") for argument in arguments]
    stems = {path: pathlib.Path(path).stem for path, _, _ in split}
    shared = {stem for stem, count in collections.Counter(stems.values()).items() if count > 1}
    return [Trace(path, float(scale), path if stems[path] in shared else stems[path]) for path, _, scale in split]


HALF = "workload.read_fraction=0.5"
SMALL = "workload.size.mean=4KiB"
# Half of what the array serves of uniform requests of 4 KiB (docs/behind-the-cache.md).
RATE = "workload.arrival.rate=155000"
ON_OFF = 'workload.arrival={ process = "on-off", rate = 25000, burst_rate = 100000, burst_length = 1000 }'
READS = ["workload.read_fraction=0.8", "workload.arrival.rate=250000"]
LOADS = [
    Load("uniform", "4 KiB, uniform", [SMALL, HALF, RATE], 120000, 60000, 120000),
    Load("reads", "4 KiB, 80% reads", [SMALL, *READS], 200000, 100000, 200000),
    Load("pauses", "16 KiB, bursts", ["workload.size.mean=16KiB", HALF, ON_OFF], 80000, 40000, 40000),
]
PUBLISHED = [
    Published(
        "web_3",
        "MSR Cambridge, a week of volume 3 of a web server ([SNIA IOTTA](https://iotta.snia.org), set 388)",
        "deb39b3f17d0badc6b4c169fe721f592",
    ),
    Published(
        "alibaba",
        "Alibaba, an hour of one of 1,000 volumes ([block-traces](https://github.com/alibaba/block-traces))",
        "c20885092f96f5d976fae02fda79f11d",
    ),
]
# Wear that takes so many years ends no drive.
CENTURY = 100


def figures(run):
    """Percentiles, the years by cycles and by the rating, and what was collected of what had to be."""
    array, response = run["array"], run["host"]["response_ns"]
    drives = [drive["lifetime"] for drive in run["devices"]]
    # Years at the rate of the run become those at `DAILY`.
    slower = array["lifetime"]["host_bytes_per_day"] / DAILY
    rated = RATED["years"] * RATED["drive_writes_a_day"]
    # 0 where requests only read.
    fastest = max(drive["drive_writes_per_day"] for drive in drives)
    # Bytes that the flash of a drive takes, of which those that collected know. All drives of these arrays wear alike.
    taken = [drive["years"]["cycles"] * drive["flash_bytes_per_day"] for drive in drives if drive["years"]["cycles"]]
    amplification = array["write_amplification_whole_cycles"]
    known = taken and amplification
    return {
        **{kind: [response[kind][level] for level in ("p50", "p99", "p999")] for kind in ("read", "write")},
        "years": [round(statistics.fmean(taken) * len(drives) / DAILY / amplification, 4) if known else None],
        "rated": [round(rated / fastest * slower, 4) if fastest else None],
        "collected": round(array["write_amplification"] / amplification, 3) if known else 0.0,
    }


class Measuring:
    """Fills the store, as many cells at once as there are processors."""

    def __init__(self, harmonia, store):
        self.harmonia, self.store = harmonia, store

    def cell(self, load, scheme):
        _, _, name, policy, keys = scheme
        scenario, chosen = load.arguments(policy in SETTLES, keys)
        done = run_all(self.harmonia, [*scenario, "--quiet", "--threads", "1"], chosen, policy, SEEDS)
        return key(load, name), done and [load.figures(run) for run in done]

    def all(self, loads):
        """Two processes, each of one thread: a process with two threads would wait for the longer of its seeds."""
        left = [cell for cell in cells(loads) if key(cell[0], cell[1][2]) not in self.store.cells]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            tasks = [pool.submit(self.cell, *cell) for cell in left]
            try:
                for count, done in enumerate(concurrent.futures.as_completed(tasks), 1):
                    name, found = done.result()
                    print(f"{count} of {len(left)}", end=" ", file=sys.stderr)
                    if found:
                        self.store.keep(name, found)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


def key(load, scheme):
    """What a cell is called in the store."""
    return f"{load.stored}/{scheme}"


def cells(loads):
    """Two levers are tried together under generated loads."""
    both = [(load, scheme) for load in loads for scheme in [BASE, *SCHEMES, *(JOINED if load in LOADS else []), BOUND]]
    return [(load, scheme) for load, scheme in both if scheme[2] not in BEHIND or load is LOADS[0]]


# What is made of it.


def scheme_table(store, loads):
    """Each scheme against `local`, whose own figures are in the first row."""
    columns = [f"{load.name}: {of}" for load in loads for of in ("read p99.9", "years")]
    columns.append(f"{loads[0].name}: rated")
    rows = [f"| drives offer | scheme | {' | '.join(columns)} |", "|---|---|" + "--:|" * len(columns)]
    for needs, _, name, *_ in [BASE, *SCHEMES, BOUND]:
        row = []
        for load in loads:
            runs, base = store.get(key(load, name)), store.get(key(load, BASE[2]))
            if name == BASE[2]:
                tail, years = average(base, "read", 2), average(base, "years", 0)
                row.append("-" if tail is None else f"{micro(tail)} us")
                row.append("-" if years is None else f"{years:.3g}{caution('years', base)}")
            else:
                row += [shown(runs, base, "read", 2), shown(runs, base, "years", 0)]
        rated = average(store.get(key(loads[0], name)), "rated", 0)
        rows.append(f"| {needs} | {name} | {' | '.join(row)} | {'-' if rated is None else f'{rated:.2f}'} |")
    return rows


def caution(kind, *cells):
    """The mark of years and of flash writes where the runs of a cell put collection off."""
    is_put_off = any(statistics.fmean(run["collected"] for run in runs) < 0.9 for runs in cells)
    return " †" if kind in ("years", "written") and is_put_off else ""


def shown(runs, base, kind, place):
    """A change in percent, or how many times as long where that says more."""
    found = change(runs, base, kind, place)
    if found is None:
        return "-"
    if kind == "read" and found[0] >= 2 and is_told(found):
        return f"**x {found[0] + 1:.0f}**"
    return percent(found) + caution(kind, runs)


def pair_table(store, loads):
    """Two levers together beside the product of what each does alone."""
    columns = [f"{load.name}: {of}" for load in loads for of in ("read p99.9", "years")]
    rows = [f"| together | {' | '.join(columns)} |", "|---|" + "--:|" * len(columns)]
    for name, alone, *_ in PAIRS:
        row = []
        for load in loads:
            base = store.get(key(load, BASE[2]))
            for kind, place in (("read", 2), ("years", 0)):
                both, each = store.get(key(load, name)), [store.get(key(load, one)) for one in alone]
                found, single = change(both, base, kind, place), [change(one, base, kind, place) for one in each]
                if None in [found, *single]:
                    row.append("-")
                else:
                    row.append(beside(found, single, caution(kind, both), caution(kind, *each)))
        rows.append(f"| {name} | {' | '.join(row)} |")
    return rows


def beside(found, single, mark="", alone_mark=""):
    """`-10 (-12 to -8), alone -11`: the change by both, and the product of the changes by each, with their marks."""
    product = math.prod(1 + one[0] for one in single) - 1
    return f"{percent(found)}{mark}, alone {unsigned(f'{100 * product:+.0f}')}{alone_mark}"


def trace_part(store, traces):
    """What is known of each trace, then each scheme against `local`. Those that tie in every column have one line together."""
    rows = ["| trace | of | users write a day | years of `local`, the trace repeated endlessly |", "|---|---|--:|--:|"]
    for trace in traces:
        base = store.get(key(trace, BASE[2]))
        daily = "-" if not base else f"{statistics.fmean(run['daily'] for run in base) / 1e9:.2g} GB"
        years = own_years(base)
        told = [daily, in_years(years) if years is not None else "none collected" if base else "-"]
        rows.append(f"| {trace.name} | {trace.source} | {' | '.join(told)} |")
    columns = [f"{trace.name}: {of}" for trace in traces for of in ("read p99.9", "flash writes")]
    rows += ["", f"| drives offer | scheme | {' | '.join(columns)} |", "|---|---|" + "--:|" * len(columns)]
    tied, left = [], []
    for needs, _, name, *_ in [BASE, *SCHEMES, BOUND]:
        row, is_tie = [], name != BASE[2]
        for trace in traces:
            runs, base = store.get(key(trace, name)), store.get(key(trace, BASE[2]))
            if name == BASE[2]:
                row += own_figures(base)
                continue
            for kind, place in (("read", 2), ("written", 0)):
                found = change(runs, base, kind, place)
                is_tie &= found is not None and not is_told(found) and not caution(kind, runs)
                row.append("none collected" if runs and found is None and kind == "written" else shown(runs, base, kind, place))
        if is_tie:
            tied.append(name)
        elif name == BASE[2] or set(row) != {"-"}:
            rows.append(f"| {needs} | {name} | {' | '.join(row)} |")
        else:
            left.append(name)
    told = [("Ties with `local` in every column", tied), ("Not run", left)]
    for what, names in told:
        rows += ["", f"{what}: {'; '.join(names)}."] if names else []
    return rows


def own_years(runs):
    """Years of the average drive if the hours of a trace go on day and night."""
    years = average(runs, "years", 0)
    return None if years is None else years * DAILY / max(statistics.fmean(run["daily"] for run in runs), 1)


def in_years(years):
    return f"{years:.2g}" if years < CENTURY else "over a century"


def own_figures(base):
    """p99.9 of reads, and bytes programmed for one that users write."""
    tail, written = average(base, "read", 2), average(base, "written", 0)
    return ["-" if tail is None else f"{micro(tail)} us", "-" if written is None else f"{written:.2f} bytes a byte"]


def picture(store, loads):
    """What the figure shows: for each load the points of all levers, as means over seeds."""
    return {
        "title": "What does latency cost in years?",
        "x_title": f"years to {CYCLES:,} cycles",
        "y_title": "p99.9 of reads, us",
        "panels": [{"title": load.title, "points": points(store, load)} for load in loads],
    }


def points(store, load):
    """Without schemes that take so much longer that others could not be told apart."""
    base = average(store.get(key(load, BASE[2])), "read", 2)
    if base is None:
        return []
    found = []
    for _, lever, name, *_ in [BASE, *SCHEMES, *JOINED]:
        runs = store.get(key(load, name))
        years, tail = average(runs, "years", 0), average(runs, "read", 2)
        if None not in (years, tail) and tail <= FAR * base:
            found.append({"series": lever, "name": name, "x": round(years, 3), "y": round(tail / 1e3, 1)})
    return found


def parts(store, loads, traces):
    """Every table by the name that the page has for it."""
    made = {"schemes": scheme_table(store, loads), "pairs": pair_table(store, loads), "traces": trace_part(store, traces)}
    return {part: "\n".join(rows) + "\n" for part, rows in made.items()}


def kept(store, traces):
    """The cells that the page is made of, those of published traces under their names: as given, or else as they were."""
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    found = {key(load, scheme[2]): store.get(key(load, scheme[2])) for load, scheme in cells(LOADS)}
    for published, scheme in cells(PUBLISHED):
        name = key(published, scheme[2])
        given = next((trace for trace in traces if published.is_that(trace, store)), None)
        found[name] = store.get(key(given, scheme[2])) if given else before.get(name)
    return {name: runs for name, runs in found.items() if runs}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("harmonia")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("traces", nargs="*")
    parser.add_argument("--keep", action="store_true", help="write the page and the results that it is made of")
    arguments = parser.parse_args()
    traces = traces_of(arguments.traces)
    store = Store(arguments.folder / "years.json")
    Measuring(arguments.harmonia, store).all([*LOADS, *traces])
    if arguments.keep:
        own = kept(store.cells, traces)
        RESULTS.write_text(compact(own), encoding="utf-8")
        (arguments.folder / "points.json").write_text(json.dumps(picture(own, LOADS)), encoding="utf-8")
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(filled(page, parts(own, LOADS, PUBLISHED), "years"), encoding="utf-8")
    for part, table in parts(store.cells, LOADS, traces).items():
        print(f"\n## {part}\n\n{table}")


if __name__ == "__main__":
    main()

"""Which policy, at which price? Schemes of every rung of `array.interface` on RAID-5 and RAID-6, as tables.

    python3 experiments/ladder.py HARMONIA FOLDER [TRACE:TIME_SCALE ...]

runs what FOLDER/ladder.json does not have yet, keeps every finished cell there, and prints all of it as Markdown. `make
ladder` calls it. Each load runs at three rates, which are chosen so that under `local` 0.3, 0.6 and 0.9 members collect
on average (n x g: members times the share of time in which one collects). Below 1, members can collect in turn.
"""

import json
import pathlib
import statistics
import subprocess
import sys

LEVELS = ["raid5", "raid6"]
TARGETS = [0.3, 0.6, 0.9]
SEEDS = 3
# Room between the thresholds, so that members can wait for their window; a chunk of which a large request meets all members
# and a small one a single member.
ARRAY = ["array.stripe_unit=64KiB", "ssd.gc.soft_threshold=7%"]
# Requests of a run, and their rate a second. Enough reads for p99. The tails have a load of their own, which runs at one rate:
# three seeds of it are a million requests.
HPC = {"hpc-w": (12000, 476.5), "hpc-r": (14500, 476.5), "hpc-r, a million requests": (345000, 476.5)}
TAILS = "hpc-r, a million requests"
TAIL_TARGETS = [0.6]
TRACE_REQUESTS = 50000
NVRAM = "array.nvram=16MiB"
AVOID = "array.reads=avoid"

# (rung, name, policy, further keys), the lowest rung first; `ideal` is the bound.
SCHEMES = [
    ("nothing", "local", "local", []),
    ("nothing", "sit-out", "sit-out", []),
    ("nothing", "hedge", "hedge", []),
    ("log", "local + avoid", "local", [AVOID]),
    ("window", "plm", "plm", []),
    ("window", "ioda windows", "ioda", ["array.coordination.mode=windows"]),
    ("busy", "local + avoid", "local", [AVOID]),
    ("busy", "local + avoid + nvram", "local", [AVOID, NVRAM]),
    ("busy", "ioda", "ioda", ["array.coordination.mode=all"]),
    ("busy", "ioda + nvram", "ioda", ["array.coordination.mode=all", NVRAM]),
    ("command", "reactive-selective", "reactive-selective", []),
    ("command", "gclock + avoid + nvram", "gclock", [AVOID, NVRAM]),
    ("command", "ttflash", "ttflash", []),
    ("command", "ttflash + nvram", "ttflash", [NVRAM]),
    ("command", "serial + nvram", "serial", [NVRAM]),
    ("-", "ideal", "ideal", []),
]
PERCENTILES = ["p50", "p95", "p99", "p999", "p9999"]


class Load:
    """A synthetic load or a trace, at any multiple of its rate."""

    def __init__(self, name, trace=None, time_scale=1.0):
        self.name, self.trace, self.time_scale = name, trace, time_scale

    def arguments(self, rate):
        if self.trace:
            keys = [
                f"workload.time_scale={self.time_scale / rate:.6g}",
                f"workload.requests={TRACE_REQUESTS}",
                f"workload.warmup={TRACE_REQUESTS // 10}",
            ]
            return ["hpc-w", "--trace", self.trace], keys
        requests, base = HPC[self.name]
        keys = [f"workload.requests={requests}", f"workload.arrival.rate={base * rate:.6g}"]
        return [self.name.partition(",")[0]], keys

    def targets(self):
        return TAIL_TARGETS if self.name == TAILS else TARGETS


def loads(traces):
    yield from (Load(name) for name in HPC if name != TAILS)
    for trace in traces:
        path, _, scale = trace.rpartition(":")
        yield Load(pathlib.Path(path).stem, path, float(scale))
    yield Load(TAILS)


def run_all(harmonia, scenario, keys, policy, seeds):
    """The runs of one policy, one a seed; `None` where it is refused, after saying why."""
    sets = [part for key in keys for part in ("--set", key)]
    command = [harmonia, "compare", *scenario, *sets, "--policies", policy, "--seeds", str(seeds), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{policy} {' '.join(keys)}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(done.stdout)["runs"]


def compare(harmonia, load, rate, policy, keys, seeds):
    scenario, own = load.arguments(rate)
    return run_all(harmonia, scenario, ARRAY + own + keys, policy, seeds)


def collecting(run):
    """Members that collect, on average over time: n x g."""
    return sum(members * share for members, share in enumerate(run["array"]["devices_in_gc_fraction"]))


def figures(run):
    array, response = run["array"], run["host"]["response_ns"]
    return {
        "reads": {level: response["read"][level] for level in PERCENTILES},
        "write_mean": response["write"]["mean"],
        "write_amplification": array["write_amplification_whole_cycles"],
        "erases": array["erases"],
        "nvram_bytes": array.get("nvram", {}).get("high_water_bytes"),
        "reconstruct_pages": array.get("reconstruct", {}).get("extra_pages"),
        "n_g": collecting(run),
    }


def measure(harmonia, store, load, level):
    """Adds the missing cells of one load on one level to the store."""
    levels = [f"array.level={level}"]

    def cell(key, run):
        if key not in store.cells and (measured := run()) is not None:
            store.keep(key, measured)
        return store.cells.get(key)

    def unscaled():
        runs = compare(harmonia, load, 1.0, "local", levels, 1)
        return runs and collecting(runs[0])

    members = cell(f"{level}/{load.name}/n x g", unscaled)
    if not members:
        print(f"{load.name}, {level}: no collection at its own rate; give a longer trace", file=sys.stderr)
        return
    for target in load.targets():
        for rung, name, policy, keys in SCHEMES:
            interface = [] if rung == "-" else [f"array.interface={rung}"]

            def runs():
                done = compare(harmonia, load, target / members, policy, levels + interface + keys, SEEDS)
                return done and [figures(run) for run in done]

            cell(f"{level}/{load.name}/{target}/{rung}/{name}", runs)


class Store:
    """Finished cells, kept in a file that is replaced as a whole, so that stopping loses at most one."""

    def __init__(self, path):
        self.path = path
        self.cells = json.loads(path.read_text()) if path.exists() else {}

    def keep(self, key, measured):
        self.cells[key] = measured
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.cells, indent=1))
        part.replace(self.path)
        print(key, file=sys.stderr)


def mean(values, shown):
    """The mean over seeds, or a dash where a seed has none."""
    return "-" if any(value is None for value in values) else shown(statistics.fmean(values))


def milliseconds(ns):
    return f"{ns / 1e6:.3g}" if ns < 1e9 else f"{ns / 1e6:,.0f}"


def percentiles(load):
    return PERCENTILES if load.name == TAILS else PERCENTILES[:3]


def row(load, rung, name, runs):
    cells = [mean([run["reads"][level] for run in runs], milliseconds) for level in percentiles(load)]
    for key, shown in [
        ("write_mean", milliseconds),
        ("nvram_bytes", lambda size: f"{size / 2**20:.2g}"),
        ("reconstruct_pages", "{:,.0f}".format),
        ("write_amplification", "{:.2f}".format),
        ("n_g", "{:.2f}".format),
    ]:
        cells.append(mean([run[key] for run in runs], shown))
    return f"| {rung.strip('-')} | {name} | " + " | ".join(cells) + " |"


def tables(store, load, level):
    columns = [name.replace("p99", "p99.", 1) if name > "p99" else name for name in percentiles(load)]
    columns += ["writes", "NVRAM", "read besides", "WA", "n x g"]
    for target in load.targets():
        rows = []
        for rung, name, _, _ in SCHEMES:
            runs = store.cells.get(f"{level}/{load.name}/{target}/{rung}/{name}")
            if runs:
                rows.append(row(load, rung, name, runs))
        if rows:
            print(f"\n## {level.upper().replace('RAID', 'RAID-')}, {title(load.name)}, n x g = {target}\n")
            print("| rung | scheme | " + " | ".join(columns) + " |")
            print("|---|---|" + "--:|" * len(columns))
            print("\n".join(rows))


def title(load):
    return load.replace("hpc-w", "HPC(W)").replace("hpc-r", "HPC(R)")


HEAD = """# The ladder, table by table

This page has every figure behind [Which policy, at which price?](knowing.md), which says what they show and what rungs and schemes are.
`make ladder` makes the tables.

Each array has eight `msr-slc-32g` of 32 GiB, a stripe unit of 64 KiB, a soft threshold of 7% and a hard one of 5%. Each figure
is the mean of three seeds. The columns are:

- *p50* to *p99.99*: percentiles of the response times of reads, in ms.
- *writes*: the mean response time of writes, in ms.
- *NVRAM*: the most that was parked at once, in MiB.
- *read besides*: the pages that were read to rebuild others.
- *WA*: [write amplification](glossary.md#write-amplification) over whole cycles of collection.
- *n x g*: the number of SSDs that collect at a time, on average.

The rate of a load is the one at which `local` has the n x g of the heading."""


def main():
    harmonia, folder, *traces = sys.argv[1:]
    store = Store(pathlib.Path(folder) / "ladder.json")
    chosen = list(loads(traces))
    for load in chosen:
        for level in LEVELS:
            measure(harmonia, store, load, level)
    print(HEAD)
    for level in LEVELS:
        for load in chosen:
            tables(store, load, level)


if __name__ == "__main__":
    main()

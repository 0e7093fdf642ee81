"""What does relocation buy over parking? GAFTL beside serialised collection with NVRAM on RAID-5 and RAID-6, as tables.

    python3 experiments/relocation.py HARMONIA FOLDER [TRACE:TIME_SCALE ...]

runs what FOLDER/relocation.json does not have yet, keeps every finished cell there, and prints all of it as Markdown:
result 9 of docs/knowing.md. `make relocation` calls it. As in ladder.py each load runs at rates at which under `local` so many members
collect on average (n x g). Here the share of the space that holds data and is overwritten varies too.
"""

import dataclasses
import pathlib
import sys

from ladder import SEEDS, Store, collecting, mean, milliseconds, run_all

NVRAM = "array.nvram=16MiB"
ROWS = ["array.coordination.stripes=rows"]
# The same under every scheme, so that all have the same array: 16 MiB of each member.
COMMON = ["ssd.gc.soft_threshold=7%"]
CHIPS = ["ssd.geometry.channels=1", "ssd.geometry.chips_per_channel=1", "array.stripe_unit=4KiB", "array.free_stripes=4096"]
SSDS = ["array.stripe_unit=64KiB", "array.free_stripes=256"]
SMALL = ["workload.size.mean=4KiB", "workload.read_fraction=0.5", "workload.requests=60000", "workload.warmup=5000"]
LARGE = ["workload.requests=12000"]
OF_A_TRACE = ["workload.remap=wrap", "workload.requests=50000", "workload.warmup=5000"]


@dataclasses.dataclass
class Array:
    """An array under a load that comes at any multiple of a rate."""

    name: str
    level: str
    keys: list[str]
    """What it and its load are."""
    rate: float
    """Requests a second, or one over the factor of a trace's times, at which n x g is looked at first."""
    fills: list[float]
    """Shares of the space that hold data and are overwritten."""
    targets: list[float]
    """n x g."""
    trace: str | None = None

    def title(self):
        return f"{self.level.upper().replace('RAID', 'RAID-')}, {self.name}"

    def run(self, harmonia, fill, times, policy, further, seeds):
        """The runs of a policy, one a seed, at a multiple of the rate."""
        keys = [*COMMON, f"array.level={self.level}", *self.keys, f"precondition.fill={fill}"]
        if self.trace:
            keys += [*OF_A_TRACE, f"workload.time_scale={1 / (self.rate * times):.6g}"]
        else:
            keys += [f"workload.address.footprint={fill}", f"workload.arrival.rate={self.rate * times:.6g}"]
        scenario = ["hpc-w", "--trace", self.trace] if self.trace else ["hpc-w"]
        return run_all(harmonia, scenario, keys + further, policy, seeds)


def arrays(traces):
    small, large = "eight chips, 4 KiB requests, half of them reads", "eight SSDs of 64 dies, HPC(W)"
    yield Array(small, "raid5", CHIPS + SMALL, 400, [0.7, 0.85, 1.0], [0.3, 0.4, 0.5, 0.6, 0.9])
    yield Array(large, "raid5", SSDS + LARGE, 476.5, [0.7, 1.0], [0.3, 0.6])
    yield Array(small, "raid6", CHIPS + SMALL, 400, [0.7], [0.3, 0.5, 0.6])
    yield Array(large, "raid6", SSDS + LARGE, 476.5, [0.7], [0.3])
    for trace in traces:
        path, _, scale = trace.rpartition(":")
        name = f"eight chips, {pathlib.Path(path).stem}"
        yield Array(name, "raid5", CHIPS, 1 / float(scale), [0.7], [0.3, 0.6], path)


SCHEMES = [
    ("local", "local", []),
    ("serial + nvram", "serial", [NVRAM]),
    ("gaftl", "gaftl", ROWS),
    ("gaftl + nvram", "gaftl", [*ROWS, NVRAM]),
    ("ideal", "ideal", []),
]


def figures(run):
    array, response = run["array"], run["host"]["response_ns"]
    counters = array["coordination"]
    met = response["met_gc_read"]["count"] + response["met_gc_write"]["count"]
    return {
        "reads": response["read"]["mean"],
        "reads_p99": response["read"]["p99"],
        "writes": response["write"]["mean"],
        "writes_p99": response["write"]["p99"],
        "met": met / run["host"]["requests"],
        "erases": array["erases"],
        "nvram_bytes": array.get("nvram", {}).get("high_water_bytes"),
        "waits_full": counters.get("waits_full"),
        "n_g": collecting(run),
    }


def measure(harmonia, store, array):
    """Adds the missing cells of an array to the store."""
    for fill in array.fills:
        start = f"{array.title()}/{fill}/n x g"
        if start not in store.cells:
            runs = array.run(harmonia, fill, 1.0, "local", [], 1)
            if not runs:
                continue
            store.keep(start, collecting(runs[0]))
        for target in array.targets:
            for scheme, policy, further in SCHEMES:
                key = f"{array.title()}/{fill}/{target}/{scheme}"
                if key in store.cells:
                    continue
                runs = array.run(harmonia, fill, target / store.cells[start], policy, further, SEEDS)
                if runs:
                    store.keep(key, [figures(run) for run in runs])


COLUMNS = [
    ("reads", milliseconds),
    ("reads_p99", milliseconds),
    ("writes", milliseconds),
    ("writes_p99", milliseconds),
    ("met", "{:.1%}".format),
    ("waits_full", "{:,.0f}".format),
    ("nvram_bytes", lambda size: f"{size / 2**20:.2g}"),
    ("erases", "{:,.0f}".format),
    ("n_g", "{:.2f}".format),
]
HEAD = "| in use | n x g of local | scheme | reads | reads, p99 | writes | writes, p99 | met GC | full | NVRAM | erases | n x g |"


def table(store, array):
    rows = []
    for fill in array.fills:
        for target in array.targets:
            for scheme, _, _ in SCHEMES:
                runs = store.cells.get(f"{array.title()}/{fill}/{target}/{scheme}")
                if runs:
                    cells = [mean([run[key] for run in runs], shown) for key, shown in COLUMNS]
                    rows.append(f"| {fill:.0%} | {target} | {scheme} | " + " | ".join(cells) + " |")
    if rows:
        print(f"\n### {array.title()}\n\n{HEAD}\n|--:|--:|---|" + "--:|" * len(COLUMNS))
        print("\n".join(rows))


INTRODUCTION = """## Relocation beside parking

`make relocation` makes these tables. Under `gaftl`, writes to the SSD that collects go to stripes that are kept free on the
others; under `serial` they are parked in NVRAM. The share of the space that holds data and is overwritten varies too (*in use*).
Every scheme has the same array: the free stripes, 16 MiB of each SSD, are taken from the capacity under all of them. A chip is
one of the 64 dies of `msr-slc-32g`. Each figure is the mean of three seeds. Traces are played as fast
as gives the n x g. The columns are:

- *reads* and *writes*: means and p99 of response times, in ms.
- *met GC*: the share of requests that met a collection.
- *full*: the rows whose write found no free stripe.
- *NVRAM*: the most that was parked at once, in MiB.
- *n x g*: the number of SSDs that collect at a time under the scheme, on average."""


def main():
    harmonia, folder, *traces = sys.argv[1:]
    store = Store(pathlib.Path(folder) / "relocation.json")
    chosen = list(arrays(traces))
    for array in chosen:
        measure(harmonia, store, array)
    print(INTRODUCTION)
    for array in chosen:
        table(store, array)


if __name__ == "__main__":
    main()

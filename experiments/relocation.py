"""What does relocation buy over parking? GAFTL beside serialised collection with NVRAM on RAID-5, as tables.

    python3 experiments/relocation.py HARMONIA FOLDER

runs what FOLDER/relocation.json does not have yet, keeps every finished cell there, and prints all of it as Markdown: the last
section of docs/ladder.md. `make relocation` calls it. As in ladder.py each load runs at rates at which under `local` so many members
collect on average (n x g). Here the share of the space that holds data and is overwritten varies too.
"""

import pathlib
import sys

from ladder import SEEDS, Store, collecting, mean, milliseconds, run_all

NVRAM = "array.nvram=16MiB"
# The same under every scheme, so that all have the same array: 16 MiB of each member.
COMMON = ["array.level=raid5", "ssd.gc.soft_threshold=7%"]
CHIP = ["ssd.geometry.channels=1", "ssd.geometry.chips_per_channel=1"]
SMALL = ["workload.size.mean=4KiB", "workload.read_fraction=0.5", "workload.requests=60000", "workload.warmup=5000"]

# Name, keys, requests a second at which n x g is looked at first, shares of the space in use, and n x g.
ARRAYS = [
    (
        "eight chips, 4 KiB requests, half of them reads",
        [*CHIP, *SMALL, "array.stripe_unit=4KiB", "array.free_stripes=4096"],
        400,
        [0.7, 0.85, 1.0],
        [0.3, 0.4, 0.5, 0.6, 0.9],
    ),
    (
        "eight SSDs of 64 dies, HPC(W)",
        ["array.stripe_unit=64KiB", "array.free_stripes=256", "workload.requests=12000"],
        476.5,
        [0.7, 1.0],
        [0.3, 0.6],
    ),
]
SCHEMES = [
    ("local", "local", []),
    ("serial + nvram", "serial", [NVRAM]),
    ("gaftl", "gaftl", []),
    ("gaftl + nvram", "gaftl", [NVRAM]),
    ("ideal", "ideal", []),
]


def figures(run):
    array, response = run["array"], run["host"]["response_ns"]
    counters = array["coordination"]
    met = response["gc_affected_read"]["count"] + response["gc_affected_write"]["count"]
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


def compare(harmonia, keys, policy, seeds):
    return run_all(harmonia, ["hpc-w"], COMMON + keys, policy, seeds)


def measure(harmonia, store):
    """Adds the missing cells to the store."""
    for name, keys, rate, fills, targets in ARRAYS:
        for fill in fills:
            filled = [*keys, f"precondition.fill={fill}", f"workload.address.footprint={fill}"]

            def at(requests):
                return [*filled, f"workload.arrival.rate={requests:.6g}"]

            start = f"{name}/{fill}/n x g"
            if start not in store.cells:
                runs = compare(harmonia, at(rate), "local", 1)
                if not runs:
                    continue
                store.keep(start, collecting(runs[0]))
            for target in targets:
                for scheme, policy, further in SCHEMES:
                    key = f"{name}/{fill}/{target}/{scheme}"
                    if key in store.cells:
                        continue
                    runs = compare(harmonia, at(rate * target / store.cells[start]) + further, policy, SEEDS)
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


def tables(store):
    for name, _, _, fills, targets in ARRAYS:
        rows = []
        for fill in fills:
            for target in targets:
                for scheme, _, _ in SCHEMES:
                    runs = store.cells.get(f"{name}/{fill}/{target}/{scheme}")
                    if runs:
                        cells = [mean([run[key] for run in runs], shown) for key, shown in COLUMNS]
                        rows.append(f"| {fill:.0%} | {target} | {scheme} | " + " | ".join(cells) + " |")
        if rows:
            print(f"\n### RAID-5, {name}\n\n{HEAD}\n|--:|--:|---|" + "--:|" * len(COLUMNS))
            print("\n".join(rows))


INTRODUCTION = """## Relocation beside parking

`make relocation` makes these tables. Under `gaftl`, writes to the SSD that collects go to stripes that are kept free on the
others; under `serial` they are parked in NVRAM. The share of the space that holds data and is overwritten varies too (*in use*).
Every scheme has the same array: the free stripes, 16 MiB of each SSD, are taken from the capacity under all of them. A chip is
one of the 64 dies of `msr-slc-32g`. Each figure is the mean of three seeds. The columns are:

- *reads* and *writes*: means and p99 of response times, in ms.
- *met GC*: the share of requests that met a collection.
- *full*: the rows whose write found no free stripe.
- *NVRAM*: the most that was parked at once, in MiB.
- *n x g*: the number of SSDs that collect at a time under the scheme, on average."""


def main():
    harmonia, folder = sys.argv[1:]
    store = Store(pathlib.Path(folder) / "relocation.json")
    measure(harmonia, store)
    print(INTRODUCTION)
    tables(store)


if __name__ == "__main__":
    main()

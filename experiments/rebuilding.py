"""What do schemes cost while a member is missing, and while a spare is rebuilt? RAID-5 and RAID-6, as tables.

    python3 experiments/rebuilding.py HARMONIA FOLDER

runs what FOLDER/rebuilding.json does not have yet, keeps every finished cell there, and prints all of it as Markdown. `make
rebuilding` calls it. The array and its load are those of `raid5-rebuild`. The SSD fails before the measured part of a run,
which ends before the rebuild does: each run is in one state from its beginning to its end.
"""

import json
import pathlib
import subprocess
import sys

from ladder import Store, mean

SEEDS = 3
REQUESTS = 12000
FAILURE = 'array.failure=[{ device = 2, at = "1s" }]'
# What is set for each state.
STATES = {
    "healthy": ["array.failure=[]", "array.spares=0"],
    "degraded": [FAILURE, "array.spares=0"],
    "rebuilding": [FAILURE, "array.spares=1"],
}
# The state that the report names for each.
PHASES = {"healthy": "whole", "degraded": "degraded", "rebuilding": "rebuilding"}
# (name, policy, further keys)
SCHEMES = [
    ("local", "local", []),
    ("reactive-inclusive", "reactive-inclusive", []),
    ("gclock", "gclock", []),
    ("gclock, reads avoid", "gclock", ["array.reads=avoid"]),
    ("serial", "serial", []),
    ("ioda", "ioda", []),
    ("ttflash", "ttflash", []),
    ("plm", "plm", []),
    ("sit-out", "sit-out", []),
    ("spare-the-rebuild", "spare-the-rebuild", []),
    ("ideal", "ideal", []),
]
# SSDs that collect a little at a time, from a soft threshold on, and pause for requests: something can be deferred.
EARLY = ["ssd.gc.schedule=preemptive", "ssd.gc.soft_threshold=hard+4"]
EARLY_SCHEMES = [
    ("local", "local", EARLY),
    ("spare-the-rebuild", "spare-the-rebuild", EARLY),
    ("spare-the-rebuild, while = rebuild", "spare-the-rebuild", [*EARLY, "array.coordination.while=rebuild"]),
]
# (title, level, schemes)
TABLES = [
    ("RAID-5", "raid5", SCHEMES),
    ("RAID-6", "raid6", SCHEMES),
    ("RAID-5, SSDs collect early", "raid5", EARLY_SCHEMES),
]


def measure(harmonia, level, state, policy, keys):
    """Mean and p99 of reads and writes of each seed; `None` where the scheme is refused, after saying why."""
    own = [f"array.level={level}", f"workload.requests={REQUESTS}", *STATES[state], *keys]
    sets = [part for key in own for part in ("--set", key)]
    command = [harmonia, "compare", "raid5-rebuild", *sets, "--policies", policy, "--seeds", str(SEEDS), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{level} {state} {policy}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return [figures(run, state) for run in json.loads(done.stdout)["runs"]]


def figures(run, state):
    response = run["host"]["response_ns"]
    if failures := run["array"].get("failures"):
        phases = failures["response_ns"]
        response = phases[PHASES[state]]
        counted = response["read"]["count"] + response["write"]["count"]
        if counted != run["host"]["requests"]:
            sys.exit(f"only {counted} of {run['host']['requests']} requests arrived while the array was {state}")
    rebuild = (run["array"].get("failures") or {}).get("rebuild") or {}
    return {
        "reads": [response["read"]["mean"], response["read"]["p99"]],
        "writes": [response["write"]["mean"], response["write"]["p99"]],
        "rate": rebuild.get("rate"),
    }


def milliseconds(ns):
    return f"{ns / 1e6:#.3g}"


def row(name, cells):
    """One scheme: reads, then writes; mean and p99 in each state."""
    values = []
    for kind in ("reads", "writes"):
        for state in STATES:
            runs = cells.get(state)
            figures = [mean([run[kind][place] for run in runs], milliseconds) for place in (0, 1)] if runs else ["-"]
            values.append(" / ".join(figures))
    runs = cells.get("rebuilding")
    values.append(mean([run["rate"] for run in runs], lambda rate: f"{rate / 1e6:.0f}") if runs else "-")
    return f"| {name} | " + " | ".join(values) + " |"


def table(store, title, schemes):
    columns = [f"{kind}, {state}" for kind in ("reads", "writes") for state in STATES]
    print(f"\n{title}:\n")
    print("| policy | " + " | ".join([*columns, "MB/s"]) + " |")
    print("|---|" + "--:|" * (len(columns) + 1))
    for name, *_ in schemes:
        cells = {state: store.cells.get(f"{title}/{name}/{state}") for state in STATES}
        if all(cells.values()):
            print(row(name, cells))


def main():
    harmonia, folder = sys.argv[1:]
    store = Store(pathlib.Path(folder) / "rebuilding.json")
    for title, level, schemes in TABLES:
        for name, policy, keys in schemes:
            for state in STATES:
                key = f"{title}/{name}/{state}"
                if key not in store.cells and (runs := measure(harmonia, level, state, policy, keys)):
                    store.keep(key, runs)
    for title, _, schemes in TABLES:
        table(store, title, schemes)


if __name__ == "__main__":
    main()

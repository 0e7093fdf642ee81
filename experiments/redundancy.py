"""Tables of docs/redundancy.md: every coordination policy on RAID-0, 10, 5 and 6.

    python3 experiments/redundancy.py FOLDER...

reads the comparisons that `make redundancy` wrote (FOLDER/UNIT-LOAD.json) and prints their tables as Markdown. Nothing is
simulated here.
"""

import json
import math
import pathlib
import sys

LEVELS = ["raid0", "raid10", "raid5", "raid6"]
T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}


def mean(values):
    return sum(values) / len(values)


def interval(values):
    """Half of a 95% confidence interval over seeds, by Student's t."""
    if len(values) < 2:
        return None
    middle = mean(values)
    variance = sum((value - middle) ** 2 for value in values) / (len(values) - 1)
    return T_95[len(values)] * math.sqrt(variance / len(values))


def milliseconds(ns):
    return f"{ns / 1e6:.3g}" if ns < 1e9 else f"{ns / 1e6:.0f}"


def with_interval(values):
    half = interval(values)
    text = milliseconds(mean(values))
    return text if half is None else f"{text} ± {milliseconds(half)}"


def known(values):
    return None if any(value is None for value in values) else values


def group(runs):
    """Runs by policy and level, one a seed."""
    groups = {}
    for run in runs:
        array = run["scenario"]["array"]
        ideal = run["scenario"]["ssd"]["gc"]["schedule"] == "ideal"
        policy = "ideal" if ideal else array["coordination"]["policy"]
        groups.setdefault(policy, {}).setdefault(array["level"], []).append(run)
    return groups


def table(title, groups, cell):
    print(f"\n{title}\n")
    print("| policy | " + " | ".join(level.upper().replace("RAID", "RAID-") for level in LEVELS) + " |")
    print("|---|" + "--:|" * len(LEVELS))
    for policy, levels in groups.items():
        cells = [cell(levels[level], groups["local"][level]) if level in levels else "" for level in LEVELS]
        print(f"| {policy} | " + " | ".join(cells) + " |")


def mean_cell(runs, _local):
    return with_interval([run["host"]["response_ns"]["all"]["mean"] for run in runs])


def change_cell(runs, local):
    if runs is local:
        return "baseline"
    of = lambda some: [run["host"]["response_ns"]["all"]["mean"] for run in some]
    changes = [100 * (one / base - 1) for one, base in zip(of(runs), of(local))]
    half = interval(changes)
    spread = "" if half is None else f" ± {half:.1f}"
    return f"{mean(changes):+.1f}%{spread}"


def percentile_cell(kind, percentile):
    def cell(runs, _local):
        values = known([run["host"]["response_ns"][kind][percentile] for run in runs])
        return "-" if values is None else with_interval(values)

    return cell


def affected_cell(runs, _local):
    def share(run):
        response = run["host"]["response_ns"]
        affected = response["met_gc_read"]["count"] + response["met_gc_write"]["count"]
        return 100 * affected / run["host"]["requests"]

    return f"{mean([share(run) for run in runs]):.0f}%"


def amplification_cell(runs, _local):
    return f"{mean([run['array']['write_amplification'] for run in runs]):.2f}"


def blame_cell(runs, _local):
    def shares(run):
        blame, phases = run["host"]["blame_ns"], run["host"]["blame_phases_ns"]
        total = sum(blame.values())
        gc = 100 * blame["queue_gc"] / total
        before = 100 * (phases["parity"]["gc"]) / total
        return gc, before

    gc, parity = (mean(list(values)) for values in zip(*(shares(run) for run in runs)))
    return f"{gc:.0f}% ({parity:.0f}%)"


def main():
    for folder in sys.argv[1:]:
        for path in sorted(pathlib.Path(folder).glob("*.json")):
            groups = group(json.loads(path.read_text())["runs"])
            print(f"\n## {path.stem}")
            table("Mean response time, ms", groups, mean_cell)
            table("Mean against local", groups, change_cell)
            table("p99 of reads, ms", groups, percentile_cell("read", "p99"))
            table("p99 of writes, ms", groups, percentile_cell("write", "p99"))
            table("Requests that met garbage collection", groups, affected_cell)
            table("Share of response time spent waiting for GC (of it, in parity operations)", groups, blame_cell)
            table("Write amplification", groups, amplification_cell)


if __name__ == "__main__":
    main()

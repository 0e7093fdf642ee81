#!/usr/bin/env python3
"""What does a policy written in Python cost beside the same one built in?

    python benches/python/policies.py [--requests N] [--rounds N]

Each pair of runs starts from the same aged array and has the same results. Times are those of the runs without ageing or
reading the array. The best of several rounds in turn is compared, on one thread. Exit status 1: a coordinator costs more
than it may.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import harmonia
from harmonia._policies import name_of

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "tests"))
from ports import PyBlocking, PyGreedy, PyReactiveSelective, PySlowGreedy  # noqa: E402

#: What a coordinator may cost at most on HPC(W), as a share of the time without it.
MOST = 0.15

CASES: list[tuple[str, str, str, type[Any], str]] = [
    ("coordinator", "array.coordination.policy", "reactive-selective", PyReactiveSelective, "on"),
    ("victim, asks for the fewest valid", "ssd.gc.victim", "greedy", PyGreedy, "choose"),
    ("victim, looks at every block", "ssd.gc.victim", "greedy", PySlowGreedy, "choose"),
    ("schedule", "ssd.gc.schedule", "blocking", PyBlocking, "next"),
]


def counting(policy: type[Any], method: str, calls: list[int]) -> type[Any]:
    """The same policy, which counts how often it is asked."""
    ask = getattr(policy, method)

    def counted(self: Any, *args: Any) -> Any:
        calls[0] += 1
        return ask(self, *args)

    return type(policy.__name__, (policy,), {method: counted, "name": "counting"})


def seconds(requests: int, key: str, name: str, classes: list[type[Any]]) -> float:
    sets = {"workload.requests": requests, "workload.warmup": 0, key: name}
    report = harmonia.run("hpc-w", policies=classes, sets=sets, threads=1)
    return float(report["engine"]["wall_ns"]) / 1e9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", harmonia.HarmoniaWarning)
    print(f"{'policy in Python, on hpc-w':<36}{'time over built-in':>20}{'us a call':>12}{'calls':>10}")
    cost = 0.0
    for title, key, built_in, policy, method in CASES:
        # A victim would be asked some million times while the array ages.
        port = type(policy.__name__, (policy,), {"ages_as": "greedy"}) if method == "choose" else policy
        calls = [0]
        seconds(options.requests, key, "counting", [counting(port, method, calls)])
        rounds = [
            (seconds(options.requests, key, built_in, []), seconds(options.requests, key, name_of(port), [port]))
            for _ in range(options.rounds)
        ]
        native, python = (min(times) for times in zip(*rounds))
        ratio = python / native
        print(f"{title:<36}{ratio:>20.3f}{(python - native) / calls[0] * 1e6:>12.2f}{calls[0]:>10}", flush=True)
        cost = ratio - 1 if title == "coordinator" else cost
    if cost > MOST:
        print(f"a coordinator costs {cost:.1%}, at most {MOST:.0%} is allowed", file=sys.stderr)
    return int(cost > MOST)


if __name__ == "__main__":
    sys.exit(main())

"""python -m peers --harmonia FILE [--disksim FILE] [--mqsim FILE] [--what results|speed|all]"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from . import ours, speed, table
from .pairs import PAIRS, Pair
from .results import Results, Unreadable
from .run import SCENARIOS, Failed, Programs, Work, execute
from .scenario import Unsupported
from .verdict import differences, verdict

TITLES = {"disksim": "DiskSim", "mqsim": "MQSim"}
HELP = "peers: nothing to compare with; give DISKSIM=/path/to/disksim (with the SSD extension) or MQSIM=/path/to/MQSim"


class Runner:
    """Runs pairs; a peer's run that several rows share is done once."""

    def __init__(self, programs: Programs, folder: Path) -> None:
        self.programs = programs
        self.folder = folder
        self.peer_runs: dict[tuple[str, ...], Results] = {}

    def row(self, pair: Pair) -> table.Row:
        work = Work(self.programs, pair.peer, SCENARIOS / f"{pair.scenario}.toml", pair.keys, self.folder)
        mine = ours.parse(execute(work.our_command(pair.ours), self.folder).output)
        key = (pair.peer, pair.scenario, *(f"{name}={value}" for name, value in sorted(pair.keys.items())))
        if key not in self.peer_runs:
            execute(work.peer_command(), self.folder)
            self.peer_runs[key] = work.peer_results()
        work.clean()
        theirs = self.peer_runs[key]
        apart = differences(mine, theirs)
        return table.Row(pair, mine, theirs, apart, verdict(pair, apart))


def results(programs: Programs, folder: Path, only: str) -> bool:
    """Prints one table for each peer; whether all rows are as expected."""
    runner = Runner(programs, folder)
    is_fine = True
    for peer in programs.peers:
        print(f"\n{TITLES[peer]}: Harmonia / {TITLES[peer]} (difference in percent of the latter)\n\n{table.heading()}")
        rows = []
        for pair in PAIRS:
            if pair.peer != peer or only not in pair.name:
                continue
            try:
                rows.append(runner.row(pair))
            except (Failed, Unreadable, Unsupported) as error:
                print(f"| {pair.name} | FAILED: {error} |", flush=True)
                is_fine = False
                continue
            print(table.line(rows[-1]), flush=True)
        if rules := table.rules(rows):
            print(f"\nRows that differ by a rule:\n\n{rules}")
        is_fine = is_fine and all(row.verdict.is_expected for row in rows)
    return is_fine


def speeds(programs: Programs, folder: Path, turns: int, is_full: bool, only: str) -> bool:
    is_fine = True
    print(f"\nSpeed: user time, medians of {turns} in turns, Harmonia / peer\n\n{speed.heading()}")
    for case in speed.CASES:
        if case.peer in programs.peers and only in case.name:
            try:
                row = speed.measure(case, programs, folder, turns, is_full)
            except (Failed, Unreadable, Unsupported) as error:
                row, is_fine = f"| {case.name} | FAILED: {error} |", False
            print(row, flush=True)
    return is_fine


def main() -> int:
    parser = argparse.ArgumentParser(prog="peers", description=__doc__)
    parser.add_argument("--harmonia", type=Path, required=True)
    parser.add_argument("--disksim", type=Path)
    parser.add_argument("--mqsim", type=Path)
    parser.add_argument("--what", choices=["results", "speed", "all"], default="all")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="speed at full size")
    options = parser.parse_args()
    given = {peer: path.resolve() for peer in TITLES if (path := getattr(options, peer)) is not None}
    if not given:
        print(HELP)
        return 0
    for path in (options.harmonia, *given.values()):
        if not path.is_file():
            print(f"peers: {path}: no such file", file=sys.stderr)
            return 2
    programs = Programs(options.harmonia.resolve(), given)
    is_fine = True
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        if options.what != "speed":
            is_fine = results(programs, Path(name), options.only)
        if options.what != "results":
            is_fine &= speeds(programs, Path(name), options.turns, options.full, options.only)
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())

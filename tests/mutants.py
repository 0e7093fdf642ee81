#!/usr/bin/env python3
"""How many planted bugs do the tests let live? A random sample of mutants, each tested by its own crate alone.

    python3 tests/mutants.py FOLDER [--count 300] [--seed 1] [--at-most N]

Takes the last commit, not what is changed since. FOLDER keeps what is known of this commit and seed, so that a run that was
stopped goes on; --at-most ends it after so many mutants more. `make mutants` calls it. cargo-mutants makes the mutants:
https://mutants.rs. One of them takes from half a minute (metrics) to several (array).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {
    "harmonia-array": "crates/array/src/controller/**/*.rs",
    "harmonia-ssd": "crates/ssd/src/die/**/*.rs",
    "harmonia-metrics": "crates/metrics/src/**/*.rs",
}
OUTCOMES = {"CaughtMutant": "caught", "MissedMutant": "survived", "Timeout": "caught", "Unviable": "unviable"}
"""A mutant that never ends is found out."""
TIMEOUT = 900
"""Seconds that the tests of a crate may take."""
SURVIVORS_AT_MOST = 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-most", type=int)
    arguments = parser.parse_args()
    commit = subprocess.check_output(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, text=True).strip()
    folder = arguments.folder.resolve()
    tree = checked_out(folder, commit)
    known = Known(folder / f"{commit}-{arguments.seed}.json")
    sample = sampled(tree, arguments.count, arguments.seed)
    print(f"mutants: {len(sample)} of commit {commit}, seed {arguments.seed}", flush=True)
    left = [mutant for mutant in sample if mutant[1] not in known.outcomes]
    begun = time.monotonic()
    for number, (package, name) in enumerate(left[: arguments.at_most], start=1):
        outcome = tested(tree, folder, package, name)
        known.keep(name, outcome)
        each = (time.monotonic() - begun) / number
        print(f"{len(sample) - len(left) + number}/{len(sample)}, {each:.0f} s each: {outcome}: {name}", flush=True)
    report(sample, known.outcomes)


class Known:
    """What became of mutants, by name; on disk after each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcomes: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}

    def keep(self, name: str, outcome: str) -> None:
        self.outcomes[name] = outcome
        whole = self.path.with_suffix(".part")
        whole.write_text(json.dumps(self.outcomes, indent=1))
        whole.replace(self.path)


def checked_out(folder: Path, commit: str) -> Path:
    """The tree of a commit, so that a run that is stopped leaves no bug in the real one; its builds stay."""
    tree = folder / "tree"
    mark = tree / "commit"
    if not mark.exists() or mark.read_text() != commit:
        tree.mkdir(parents=True, exist_ok=True)
        with subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "-x"], cwd=tree, stdin=archive.stdout, check=True)
        mark.write_text(commit)
    return tree


def mutants(*arguments: str) -> list[str]:
    return ["cargo", "mutants", "--colors=never", *arguments]


def sampled(tree: Path, count: int, seed: int) -> list[tuple[str, str]]:
    """Packages and names of mutants, in an order that begins with a fair sample of all."""
    every = []
    for package, files in ROOMS.items():
        listed = subprocess.check_output(mutants("--list", "-p", package, "--file", files), cwd=tree, text=True)
        every += [(package, name) for name in sorted(listed.splitlines())]
    return random.Random(seed).sample(every, min(count, len(every)))


def tested(tree: Path, folder: Path, package: str, name: str) -> str:
    out = folder / "out"
    one = mutants("-p", package, "--file", ROOMS[package], "--re", f"^{re.escape(name)}$", "--in-place")
    one += ["--baseline=skip", f"--timeout={TIMEOUT}", "--output", str(out)]
    # Builds are kept from one mutant to the next. Without debug information they link in half the time.
    kept = {"CARGO_TARGET_DIR": str(folder / "target"), "CARGO_PROFILE_DEV_DEBUG": "false"}
    run = subprocess.run(one, cwd=tree, env=os.environ | kept, capture_output=True, text=True)
    outcomes = json.loads((out / "mutants.out" / "outcomes.json").read_text())["outcomes"]
    tested = [outcome["summary"] for outcome in outcomes if outcome["scenario"] != "Baseline"]
    if len(tested) != 1 or tested[0] not in OUTCOMES:
        sys.exit(f"mutants: {name}: {tested}\n{run.stdout}{run.stderr}")
    return OUTCOMES[tested[0]]


def report(sample: list[tuple[str, str]], outcomes: dict[str, str]) -> None:
    print("\n| crate | tested | caught | survived |\n|---|--:|--:|--:|")
    survivors, viable = [], 0
    for package in ROOMS:
        of_package = [(name, outcomes.get(name)) for crate, name in sample if crate == package]
        lived = [name for name, outcome in of_package if outcome == "survived"]
        caught = sum(outcome == "caught" for _, outcome in of_package)
        print(f"| {package} | {caught + len(lived)} | {caught} | {len(lived)} |")
        survivors += lived
        viable += caught + len(lived)
    for name in survivors:
        print(f"survived: {name}")
    if viable and len(survivors) > SURVIVORS_AT_MOST * viable:
        sys.exit(f"mutants: {len(survivors)} of {viable} survived, more than one in ten")


if __name__ == "__main__":
    main()

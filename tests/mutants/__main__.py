"""How many planted bugs do the tests let live? A random sample of mutants, each tested by its own crate alone.

    python3 tests/mutants FOLDER [--package NAME] [--count 300] [--seed 1] [--draw N --draw-seed S] [--at-most N]

Takes the last commit, not what is changed since. FOLDER keeps what is known of this commit and seed, so that a run that was
stopped goes on; --at-most ends it after so many mutants more. --package samples one crate alone. --draw takes so many of the
sample, by a seed of their own.
`make mutants` calls it.

cargo-mutants (https://mutants.rs) says which mutants there are. It leaves out functions that only prefetch (.cargo/mutants.toml).
Most mutants are planted behind a switch and built at once (planting.py),
and tested by those modules of tests that come by them, the quick ones first, until a test fails. The rest cargo-mutants plants,
builds and tests one by one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planting import REACHED, VARIABLE, Mutant, Planted

ROOT = Path(__file__).resolve().parent.parent.parent
ROOMS = {
    "harmonia-array": "crates/array/src/**/*.rs",
    "harmonia-ssd": "crates/ssd/src/**/*.rs",
    "harmonia-metrics": "crates/metrics/src/**/*.rs",
}
OUTCOMES = {"CaughtMutant": "caught", "MissedMutant": "survived", "Timeout": "caught", "Unviable": "unviable"}
"""A mutant that never ends is found out."""
TIMEOUT = 900
"""Seconds that the tests of a crate may take."""
PATIENCE = 5
"""A test that takes so many times as long as without a mutant, and a minute, never ends."""
LIMITED = ["prlimit", f"--as={8 << 30}"]
"""What never ends may also take all memory."""
SURVIVORS_AT_MOST = 0.1
LONG = {"all", "contents", "registry", "harmonia_array"}
"""Programs whose long tests `make simulations` runs: they are marked as ignored."""
LONGEST = ["in_many_histories", "coverage_to_look_at"]
"""Ignored tests of other programs, which `make check` never runs."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--package", choices=ROOMS, help="the crate to sample; all without it")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draw", type=int, help="mutants to draw of the sample; all without it")
    parser.add_argument("--draw-seed", type=int, default=1)
    parser.add_argument("--at-most", type=int)
    arguments = parser.parse_args()
    commit = subprocess.check_output(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, text=True).strip()
    folder = arguments.folder.resolve()
    tree = checked_out(folder / "tree", commit)
    known = Known(folder / f"{commit}-{arguments.seed}.json")
    if said := outdated(tree):
        sys.exit(f"mutants: .cargo/mutants.toml has expressions that no mutant matches: {', '.join(said)}")
    packages = [arguments.package] if arguments.package else list(ROOMS)
    sample = sampled(tree, packages, arguments.count, arguments.seed)
    if arguments.draw is not None:
        sample = random.Random(arguments.draw_seed).sample(sample, min(arguments.draw, len(sample)))
    print(f"mutants: {len(sample)} of commit {commit}, seed {arguments.seed}", flush=True)
    left = [mutant for mutant in sample if mutant["name"] not in known.outcomes][: arguments.at_most]
    if left:
        test(left, folder, commit, tree, known)
    report(sample, known.outcomes)


class Known:
    """What became of mutants, by name; on disk after each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcomes: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
        self.begun, self.new = time.monotonic(), 0

    def keep(self, name: str, outcome: str, of: int) -> None:
        self.outcomes[name] = outcome
        whole = self.path.with_suffix(".part")
        whole.write_text(json.dumps(self.outcomes, indent=1))
        whole.replace(self.path)
        self.new += 1
        print(f"{self.new}/{of}, {(time.monotonic() - self.begun) / self.new:.0f} s each: {outcome}: {name}", flush=True)


def checked_out(tree: Path, commit: str) -> Path:
    """The tree of a commit, so that a run that is stopped leaves no bug in the real one; its builds stay."""
    mark = tree / "commit"
    if not mark.exists() or mark.read_text() != commit:
        tree.mkdir(parents=True, exist_ok=True)
        with subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "-x"], cwd=tree, stdin=archive.stdout, check=True)
        mark.write_text(commit)
    return tree


def mutants(*arguments: str) -> list[str]:
    return ["cargo", "mutants", "--colors=never", *arguments]


def sampled(tree: Path, packages: list[str], count: int, seed: int) -> list[Mutant]:
    """Mutants in an order that begins with a fair sample of all."""
    every: list[Mutant] = []
    for package in packages:
        listed = subprocess.check_output(mutants("--list", "--json", "-p", package, "--file", ROOMS[package]), cwd=tree)
        every += sorted(json.loads(listed), key=lambda mutant: str(mutant["name"]))
    return random.Random(seed).sample(every, min(count, len(every)))


def outdated(tree: Path) -> list[str]:
    """Expressions of .cargo/mutants.toml that leave out nothing: the function has another name by now, or none of it can be mutated."""
    left_out = re.findall(r"""^ *['"](.*)['"],?(?: *#.*)?$""", (tree / ".cargo" / "mutants.toml").read_text(), re.MULTILINE)
    listed = [mutants("--list", "--no-config", "-p", package, "--file", files) for package, files in ROOMS.items()]
    every = "".join(subprocess.check_output(listing, cwd=tree, text=True) for listing in listed)
    return [expression for expression in left_out if not re.search(expression, every, re.MULTILINE)]


def test(sample: list[Mutant], folder: Path, commit: str, tree: Path, known: Known) -> None:
    """Those that could be planted first, several at once; then the rest."""
    copy = folder / "planted"
    # Files of another commit or with other mutants must not stay.
    subprocess.run(["rm", "-rf", str(copy)], check=True)
    planted = Planted(checked_out(copy, commit), sample)
    builder = Builder(copy, folder / "target-planted")
    packages = sorted({mutant["package"] for mutant in sample})
    while errors := builder.errors(packages):
        if not planted.drop(errors):
            sys.exit(f"mutants: what is planted cannot be built: {errors}")
    left = [sample[number] for number in planted.left]
    print(f"mutants: {len(planted.edits)} are planted behind switches, {len(left)} are built one by one", flush=True)
    tests = {package: builder.tests(package) for package in packages}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(outcome, number, tests[sample[number]["package"]]): sample[number] for number in sorted(planted.edits)}
        for done in as_completed(running):
            known.keep(running[done]["name"], done.result(), len(sample))
    for mutant in left:
        known.keep(mutant["name"], one_by_one(tree, folder, mutant), len(sample))


@dataclass
class Test:
    """A program of tests, or those in one of its modules, and how long they take without a mutant."""

    program: str
    folder: Path
    module: str = ""
    has_long: bool = False
    seconds: float = TIMEOUT
    reached: frozenset[int] = field(default=frozenset())
    """The mutants it comes by."""

    def measure(self) -> bool:
        """Runs without a mutant, and notes how long that takes and what it comes by. Whether it passes."""
        notes, begun = Path(f"{self.program}.{self.module}.reached"), time.monotonic()
        notes.unlink(missing_ok=True)
        passed = self.runs({REACHED: str(notes)})
        self.seconds = time.monotonic() - begun
        self.reached = frozenset(map(int, notes.read_text().split())) if notes.exists() else frozenset()
        return passed

    def passes(self, mutant: int) -> bool:
        return mutant not in self.reached or self.runs({VARIABLE: str(mutant)})

    @property
    def only(self) -> list[str]:
        long = ["--include-ignored", *(f"--skip={name}" for name in LONGEST)]
        return [*([f"{self.module}::"] if self.module else []), *(long if self.has_long else [])]

    def by_module(self) -> list[Test]:
        """The same, module by module: a mutant need not wait for those that do not come by it."""
        listed = subprocess.check_output([self.program, "--list", "--format=terse"], cwd=self.folder, text=True)
        names = [line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")]
        modules = sorted({name.partition("::")[0] if "::" in name else "" for name in names})
        return [self] if "" in modules else [Test(self.program, self.folder, module, self.has_long) for module in modules]

    def runs(self, more: dict[str, str]) -> bool:
        """Whether all tests pass; ends with the first that fails."""
        quiet: dict[str, Any] = {"stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
        limited = [*LIMITED, self.program, *self.only]
        # A program of its own group: what it starts ends with it.
        with subprocess.Popen(limited, cwd=self.folder, env=os.environ | more, start_new_session=True, **quiet) as run:
            alarm = threading.Timer(min(TIMEOUT, PATIENCE * self.seconds + 60), ended, [run])
            alarm.start()
            try:
                return not any(line.endswith(" FAILED\n") for line in run.stdout or ()) and run.wait() == 0
            finally:
                alarm.cancel()
                ended(run)


def ended(run: subprocess.Popen[str]) -> None:
    if run.poll() is None:
        os.killpg(run.pid, signal.SIGKILL)


class Builder:
    """Builds the tree that has mutants planted. Without debug information programs link in half the time."""

    def __init__(self, tree: Path, target: Path) -> None:
        self.tree = tree
        settings = {"CARGO_TARGET_DIR": str(target), "CARGO_PROFILE_DEV_DEBUG": "false", "RUSTFLAGS": "--cap-lints=warn"}
        self.environment = os.environ | settings

    def messages(self, *arguments: str) -> list[dict[str, Any]]:
        run = ["cargo", *arguments, "--locked", "--message-format=json"]
        done = subprocess.run(run, cwd=self.tree, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 and not any(is_error(message) for message in said):
            sys.exit(done.stderr)
        return said

    def errors(self, packages: list[str]) -> set[tuple[str, int]]:
        """Files and bytes at which the compiler finds fault."""
        chosen = [argument for package in packages for argument in ("-p", package)]
        said = self.messages("check", "--lib", "--keep-going", *chosen)
        spans = [span for message in said if is_error(message) for span in message["message"]["spans"] if span["is_primary"]]
        return {(span["file_name"], span["byte_start"]) for span in spans}

    def tests(self, package: str) -> list[Test]:
        """The programs of a crate's tests, module by module, that pass without a mutant, the quickest first."""
        made = [message for message in self.messages("test", "--no-run", "--lib", "--tests", "-p", package) if message.get("executable")]
        tests = []
        for program in made:
            name = program["target"]["name"]
            for test in Test(program["executable"], Path(program["manifest_path"]).parent, has_long=name in LONG).by_module():
                if test.measure():
                    tests.append(test)
                else:
                    print(f"mutants: {package}: {' '.join([name, *test.only])} does not hold with switches in the code, left out", flush=True)
        print(f"mutants: {package}: {len(tests)} groups of tests, {sum(test.seconds for test in tests):.0f} s", flush=True)
        return sorted(tests, key=lambda test: test.seconds)


def is_error(message: dict[str, Any]) -> bool:
    return bool(message["reason"] == "compiler-message" and message["message"]["level"] == "error")


def outcome(number: int, tests: list[Test]) -> str:
    """A mutant that no test comes by survives."""
    return "survived" if all(test.passes(number) for test in tests) else "caught"


def one_by_one(tree: Path, folder: Path, mutant: Mutant) -> str:
    out, name = folder / "out", mutant["name"]
    asked = LIMITED + mutants("-p", mutant["package"], "--file", mutant["file"], "--re", f"^{re.escape(name)}$", "--in-place")
    asked += ["--baseline=skip", f"--timeout={TIMEOUT}", "--output", str(out)]
    asked += ["--", "--", "--include-ignored", *(f"--skip={name}" for name in LONGEST)]
    kept = {"CARGO_TARGET_DIR": str(folder / "target"), "CARGO_PROFILE_DEV_DEBUG": "false"}
    run = subprocess.run(asked, cwd=tree, env=os.environ | kept, capture_output=True, text=True)
    outcomes = json.loads((out / "mutants.out" / "outcomes.json").read_text())["outcomes"]
    # cargo-mutants 27.0.0 tests fields left out of a literal whatever was asked for.
    tested = [one["summary"] for one in outcomes if one["scenario"] != "Baseline" and one["scenario"]["Mutant"]["name"] == name]
    # Two may have one name, where one operator stands inside another's operand; often one of them cannot be built.
    viable = {summary for summary in tested if summary != "Unviable"} or set(tested)
    if len(viable) != 1 or not viable <= OUTCOMES.keys():
        sys.exit(f"mutants: {name}: {tested}\n{run.stdout}{run.stderr}")
    return OUTCOMES[viable.pop()]


def report(sample: list[Mutant], outcomes: dict[str, str]) -> None:
    print("\n| crate | tested | caught | survived |\n|---|--:|--:|--:|")
    survivors, viable = [], 0
    for package in ROOMS:
        of_package = [(mutant["name"], outcomes.get(mutant["name"])) for mutant in sample if mutant["package"] == package]
        if not of_package:
            continue
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

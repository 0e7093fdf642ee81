#!/usr/bin/env python3
"""Where does the processor time of `make check` go?

`python3 tests/times.py FOLDER STEP...` runs each step with make and writes FOLDER/times.md: processor time by step, by crate
that is compiled and by program that is run. A step that failed ends it. `make times` does this for all steps of `make check`
and puts the tables into CONTRIBUTING.md.

It is its own wrapper around rustc and around every program that cargo runs, so building and running are counted apart.
What is in neither (rustdoc and the tests of documentation, Python, the browser, shells) is `other`. Time of a step that runs
on two cores at once counts twice; waiting does not count.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Where CONTRIBUTING.md has the tables.
BEGIN, END = "<!-- times: written by `make times` -->\n", "<!-- end of times -->\n"
LOG = "HARMONIA_TIMES_LOG"
STEP = "HARMONIA_TIMES_STEP"


def processor_seconds() -> float:
    """User and system time of all children that have ended, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def after(words: list[str], flag: str) -> list[str]:
    """Every word that follows `flag`."""
    return [words[at + 1] for at, word in enumerate(words[:-1]) if word == flag]


def described(command: list[str]) -> tuple[str, str]:
    """What a wrapped command does (`build` or `run`) and for whom.

    rustc is told the crate's name; a program that cargo runs knows its package from the environment.
    """
    names = after(command, "--crate-name")
    package = os.environ.get("CARGO_PKG_NAME", "?")
    if Path(command[0]).name.startswith(("rustc", "clippy-driver")):
        if not names or names == ["___"]:
            return "build", "(questions to rustc)"
        if not package.startswith("harmonia"):
            return "build", "(dependencies)"
        kind = "tests" if "--test" in command else after(command, "--crate-type")[0]
        return "build", f"{package} {names[0]} ({kind})"
    return "run", f"{package} {Path(command[0]).name.rsplit('-', 1)[0]}"


def wrapped(command: list[str]) -> int:
    """Runs the command and adds a line to the log."""
    began = time.monotonic()
    code = subprocess.call(command, close_fds=False)  # rustc needs the descriptors of the jobserver
    what, name = described(command)
    line = {
        "step": os.environ.get(STEP, "?"),
        "what": what,
        "name": name,
        "cpu": processor_seconds(),
        "wall": time.monotonic() - began,
    }
    with open(os.environ[LOG], "a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")
    return code if code >= 0 else 128 - code


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; all columns but the first are numbers."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def written(steps: list[dict[str, float | str]], parts: list[dict[str, float | str]], most: int = 40) -> str:
    """The tables: by step, and those crates and programs that take `most`."""
    spent: dict[tuple[str, str], float] = defaultdict(float)
    named: dict[tuple[str, str], float] = defaultdict(float)
    for part in parts:
        spent[str(part["step"]), str(part["what"])] += float(part["cpu"])
        named[str(part["what"]), str(part["name"])] += float(part["cpu"])
    rows = []
    for step in steps:
        name, cpu = str(step["step"]), float(step["cpu"])
        build, run = spent[name, "build"], spent[name, "run"]
        # What a program starts is in its own time as well: a test that calls cargo has built inside its run.
        rows.append([name, *(f"{value:.0f}" for value in (cpu, build, run, max(0.0, cpu - build - run), float(step["wall"])))])
    sums = [sum(float(row[column]) for row in rows) for column in range(1, 6)]
    rows.append(["all", *(f"{value:.0f}" for value in sums)])
    pages = [table(["step", "processor s", "building", "running", "other", "elapsed s"], rows)]
    for what, title in (("build", "built"), ("run", "run")):
        longest = sorted(((cpu, name) for (kind, name), cpu in named.items() if kind == what), reverse=True)[:most]
        pages.append(table([title, "processor s"], [[name, f"{cpu:.1f}"] for cpu, name in longest]))
    return "\n".join(pages)


def publish(tables: str) -> None:
    """Puts the tables into CONTRIBUTING.md."""
    page = ROOT / "CONTRIBUTING.md"
    before, begun, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not begun or not ended:
        sys.exit(f"times: CONTRIBUTING.md lacks {BEGIN!r} or {END!r}")
    page.write_text(f"{before}{BEGIN}\n{tables}\n{END}{after}", encoding="utf-8")


def main(folder: Path, names: list[str]) -> int:
    """Runs the steps one after the other; what was measured is written after each."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "times.jsonl"
    log.write_text("", encoding="utf-8")
    me = str(Path(__file__).resolve())
    host = subprocess.run(["rustc", "--print", "host-tuple"], check=True, capture_output=True, text=True).stdout.strip()
    runner = f"CARGO_TARGET_{host.upper().replace('-', '_')}_RUNNER"
    steps: list[dict[str, float | str]] = []
    for name in names:
        environment = {**os.environ, LOG: str(log.resolve()), STEP: name, "RUSTC_WRAPPER": me, runner: me}
        began, before = time.monotonic(), processor_seconds()
        print(f"== {name}", flush=True)
        code = subprocess.call(["make", "--no-print-directory", *name.split()], env=environment)
        steps.append({"step": name, "cpu": processor_seconds() - before, "wall": time.monotonic() - began})
        parts = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        (folder / "times.md").write_text(written(steps, parts), encoding="utf-8")
        if code != 0:
            print(f"times: `make {name}` failed", file=sys.stderr)
            return code
    publish(written(steps, parts, most=12))
    return 0


if __name__ == "__main__":
    if LOG in os.environ:
        sys.exit(wrapped(sys.argv[1:]))
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))

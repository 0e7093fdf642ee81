#!/usr/bin/env python3
"""Which files of crates/array does a plain write on RAID-5 enter? None of an option, and the table in ARCHITECTURE.md says it.

    python3 tests/plain_write.py            # compares with the table; exits with 1 if it differs, or if an option is entered
    python3 tests/plain_write.py --write    # writes the table

Runs crates/array/examples/plain_write.rs, built without optimisation, under callgrind, which names every function that is entered.
Needs valgrind.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
SOURCES = ROOT / "crates/array/src"
BEGIN, END = "<!-- plain write: written by `make plain-write` -->", "<!-- end of plain write -->"

#: Rooms that only an option, a fault, another level or a policy that does more than listen has any use for.
OPTIONS = [
    *(f"controller/{name}" for name in """ahead background bitmap caching clean copying depth failure faults hedges horizon inboxes jobs link
    log logging marking mirrors nvram parking power refusals resuming rounds standing_in tidying trails""".split()),
    *(f"planner/{name}" for name in "around mirrored parity/cached parity/declustered parity/degraded parity/resync striped".split()),
    *(f"layout/{name}" for name in "declustered mirrored shares".split()),
    *"schemes stand_ins stored stripe_cache".split(),
]


def entered() -> list[str]:
    """The files, by path from `src`, in which a function is entered."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "plain-write"
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(target),
        "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
        "CARGO_PROFILE_DEV_DEBUG": "line-tables-only",
    }
    build = ["cargo", "build", "--locked", "--quiet", "-p", "harmonia-array", "--example", "plain_write"]
    subprocess.run(build, cwd=ROOT, env=environment, check=True)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind"
        program = str(target / "debug/examples/plain_write")
        callgrind = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no"]
        subprocess.run([*callgrind, "--toggle-collect=*one_plain_write*", program], check=True)
        text = out.read_text()
    names = re.findall(r"^c?f[lie]=.*crates/array/src/([\w/]+)\.rs$", text, re.MULTILINE)
    return sorted(name for name in set(names) if (SOURCES / f"{name}.rs").exists())


def is_option(name: str) -> bool:
    """Whether a file belongs to an option."""
    return any(name == option or name.startswith(f"{option}/") for option in OPTIONS)


def table(files: list[str]) -> str:
    """The table, with the first line of each file's documentation."""

    def about(name: str) -> str:
        lines = (SOURCES / f"{name}.rs").read_text().splitlines()
        text = " ".join(line.removeprefix("//!").strip() for line in lines[:3] if line.startswith("//! "))
        sentence = re.split(r"(?<=[.:])\s", text)[0].rstrip(".:")
        return re.sub(r"\[`?([^`\]]+)`?\](\([^)]*\))?", r"\1", sentence)

    rows = [f"| [{name}](crates/array/src/{name}.rs) | {about(name)} |" for name in files]
    left = OPTIONS
    return "\n".join(
        ["| entered | what it is |", "|---|---|", *rows, "", "Not entered, of options, other levels and faults: " + ", ".join(f"`{name}`" for name in left) + "."]
    )


def main() -> int:
    if shutil.which("valgrind") is None:
        print("plain-write: install valgrind (Debian, Ubuntu: apt-get install valgrind)", file=sys.stderr)
        return 1
    if unknown := [name for name in OPTIONS if not ((SOURCES / f"{name}.rs").exists() or (SOURCES / name).is_dir())]:
        print(f"plain-write: OPTIONS names what is not there: {', '.join(unknown)}", file=sys.stderr)
        return 1
    files = entered()
    if "controller/planning" not in files:
        print(f"plain-write: a write is planned, but only these were entered: {files}", file=sys.stderr)
        return 1
    if options := [name for name in files if is_option(name)]:
        print(f"plain-write: a write with every option off enters {', '.join(options)}", file=sys.stderr)
        return 1
    text = PAGE.read_text()
    head, _, rest = text.partition(BEGIN)
    old, _, tail = rest.partition(END)
    new = f"\n\n{table(files)}\n\n"
    if "--write" in sys.argv[1:]:
        PAGE.write_text(head + BEGIN + new + END + tail)
    elif old != new:
        print("plain-write: the table in ARCHITECTURE.md is not what a write enters: make plain-write", file=sys.stderr)
        return 1
    print(f"plain-write: {len(files)} files of crates/array entered, none of an option")
    return 0


if __name__ == "__main__":
    sys.exit(main())

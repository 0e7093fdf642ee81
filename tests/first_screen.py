#!/usr/bin/env python3
"""Is what `run` and `compare` print first one screen: at most 25 lines of 100 columns, with the answer on it?

    python3 tests/first_screen.py HARMONIA          # some built-in scenarios on small drives
    python3 tests/first_screen.py HARMONIA --all    # all of them

Each scenario has its own array, load and policies, but toy drives and few requests, where it takes them. So there is more to warn of
than on its own drives: the screens are no shorter than those of a user.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

LINES_MOST, COLUMNS = 25, 100
ROOT = Path(__file__).resolve().parent.parent
#: What needs most lines: a cross of warnings, a failure, an overload, a trace, ties.
SOME = ["tiny", "hpc-r", "draid-rebuild", "raid5-hpc-w", "raid6-trace", "nvme-mixed", "tpc-h"]
TINY = ["ssd.preset=tiny-test"]
FEW = ["workload.requests=3000", "workload.warmup=300"]
#: What is not run on toy drives: its files or its own fraction of a drive do not fit.
OWN_DRIVES = ["cassandra-like", "rocksdb-like", "jesd219", "ssd-iq", "raid5-rebuild"]


def screen(harmonia: str, command: str, name: str) -> list[str]:
    """What is printed first."""
    text = (ROOT / f"examples/{name}.toml").read_text()
    is_trace = 'kind = "trace"' in text
    # A load that is as long as a time stays so.
    length = ["workload.warmup=0"] if is_trace else [] if "\nduration = " in text else FEW
    sets = [*(TINY if name not in OWN_DRIVES else []), *length]
    words = [harmonia, command, name, "-q", "--seeds", "1", *(word for text in sets for word in ("--set", text))]
    words += ["--trace", str(ROOT / "fuzz/seeds/msr_reader/rows.csv")] if is_trace else []
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": str(COLUMNS)})
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout.splitlines()


def wrong_with(lines: list[str]) -> str:
    """Why this is no first screen; nothing if it is."""
    text = " ".join(" ".join(lines).split())
    answers = ["Garbage collection matters here", "Garbage collection does not matter here", "does not keep up with the load",
               "too short to say whether", "cannot tell whether", "Requests take"]
    if len(lines) > LINES_MOST:
        return f"{len(lines)} lines, at most {LINES_MOST}"
    if not any(answer in text for answer in answers) or "p99.9" not in text or "--details" not in text:
        return "the answer is not on it"
    # The heading is one line, however long.
    return "; ".join(f"a line of {len(line)} columns" for line in lines[1:] if len(line) > COLUMNS)


def main(harmonia: str, *options: str) -> int:
    names = sorted(path.stem for path in ROOT.glob("examples/*.toml")) if "--all" in options else SOME
    longest, wrong = 0, []
    for name in names:
        for command in ("run", "compare"):
            lines = screen(harmonia, command, name)
            longest = max(longest, len(lines))
            if why := wrong_with(lines):
                wrong.append("\n".join([f"first screen: {command} {name}: {why}", *lines]))
    print("\n".join([*wrong, f"first screen: {len(names)} scenarios, at most {longest} lines"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *sys.argv[2:]))

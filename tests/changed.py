#!/usr/bin/env python3
"""Can what changed have broken a step of `make check`? Exits with 0 if it can, and with 1 if the step may be left out.

    python3 tests/changed.py newcomer       # prints the file that is the reason, or since when nothing has changed

`.ci/whole` names the last commit that passed with every step (`make whole` writes it). What differs from that commit, in the
working tree too, decides: a step runs if one of the files that it depends on does. STEPS lists them. In doubt a step runs: where
the commit is unknown or no ancestor, where a rule for all steps applies, or where HARMONIA_CHECK=all says so.
`make nightly` runs everything.
"""

from __future__ import annotations

import os
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WHOLE = ".ci/whole"

#: What every step stands on: how it is built and run. `*` matches any number of folders.
ALWAYS = ["Cargo.toml", "Cargo.lock", "Makefile", ".ci/run", "clippy.toml", "tests/changed.py", "tests/steps.py"]

#: What each step that may be left out can be broken by.
STEPS = {
    # Whatever a simulation goes through, and the tests that simulate for long.
    "simulations": [
        "crates/types/*",
        "crates/engine/*",
        "crates/flash/*",
        "crates/ssd/*",
        "crates/array/*",
        "crates/trace/*",
        "crates/workload/*",
        "crates/metrics/*",
        "crates/scenario/*",
        "crates/run/*",
        "crates/calibrate/*",
    ],
    # Adding a policy touches a registry, the shapes of policies, and what is made of their keys. That the rest builds and
    # lists what is registered, other steps test.
    "newcomer": [
        "CONTRIBUTING.md",
        "tests/newcomer*",
        "crates/types/src/registry*",
        "crates/array/src/coordination/mod.rs",
        "crates/array/src/coordination/tests*",
        "crates/array/src/config*",
        "crates/array/tests/registry.rs",
        "crates/ssd/src/interface*",
        "crates/ssd/src/gc/*/mod.rs",
        "crates/ssd/src/placement/mod.rs",
        "crates/ssd/tests/registry.rs",
        "crates/scenario/src/schema/*",
        "crates/scenario/src/policies*",
        "crates/run/examples/*",
        "crates/cli/src/commands/policies*",
    ],
    # The page is made by its crate from a report, and by these from names, tables and pictures.
    "browser": [
        "tests/browser/conftest.py",
        "tests/browser/test_page.py",
        "tests/browser/requirements.txt",
        "crates/page/*",
        "crates/figure/*",
        "crates/tables/*",
        "crates/metrics/src/*",
        "crates/run/src/*",
        "crates/cli/src/*",
    ],
    # Whatever is a page of the site, and what makes and tests the site.
    "site-test": [
        "site/*",
        "docs/*",
        "*.md",
        "tests/browser/conftest.py",
        "tests/browser/test_site.py",
        "tests/browser/requirements.txt",
    ],
    # Whatever parses, and whatever replays what was parsed.
    "fuzz": [
        "fuzz/*",
        "crates/trace/*",
        "crates/workload/*",
        "crates/types/*",
        "crates/scenario/src/*",
        "crates/run/src/*",
        "crates/flash/src/presets*",
        "crates/array/src/config*",
        "crates/array/src/layout/*",
    ],
}


def git(*arguments: str) -> str | None:
    """What git prints, or nothing where it fails."""
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else None


def changed(commit: str) -> list[str] | None:
    """Files that differ from that commit or are new; nothing where that cannot be known."""
    if git("merge-base", "--is-ancestor", commit, "HEAD") is None:
        return None
    differ = git("diff", "--name-only", "--no-renames", commit)
    new = git("ls-files", "--others", "--exclude-standard")
    return None if differ is None or new is None else sorted({*differ.splitlines(), *new.splitlines()})


def reason(step: str) -> str | None:
    """Why the step runs; nothing if it may be left out."""
    if os.environ.get("HARMONIA_CHECK") == "all":
        return "HARMONIA_CHECK=all"
    try:
        commit = (ROOT / WHOLE).read_text(encoding="utf-8").strip()
    except OSError:
        return f"{WHOLE} is not there"
    files = changed(commit)
    if files is None:
        return f"{commit[:12]} of {WHOLE} is no ancestor of what is checked out"
    for file in files:
        if any(fnmatch(file, pattern) for pattern in [*ALWAYS, *STEPS[step]]):
            return f"{file} changed since {commit[:12]}"
    return None


def left_out(step: str) -> str:
    """That a step is left out, and what runs it."""
    return f"{step}: left out, nothing it depends on has changed since {WHOLE}; HARMONIA_CHECK=all runs it"


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] not in STEPS:
        print(f"changed: name a step: {', '.join(STEPS)}", file=sys.stderr)
        return 2
    step = sys.argv[1]
    why = reason(step)
    if why is None:
        print(left_out(step))
        return 1
    print(f"{step}: runs, {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

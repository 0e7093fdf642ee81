#!/usr/bin/env python3
"""Does CONTRIBUTING.md still lead a newcomer to a working coordinator with one file and one line?

Copies the tree, adds the policy printed in CONTRIBUTING.md exactly as told, and asserts that it builds, passes its
own tests and the invariant suite, and is listed by the command and in the generated docs page.

    python3 tests/newcomer.py            # the build goes to target/, the copy to target/newcomer
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
COPY = TARGET / "newcomer"
FOLDER = Path("crates/array/src/coordination")
POLICY = "example-policy"
KEPT_OUT = {"target", ".git", ".venv", "demo", "__pycache__", "corpus", "artifacts"}


def main() -> None:
    copy_tree()
    file, line = printed_policy()
    add(file, line)
    # Dependencies come from the target folder of the project itself, so little is built anew.
    tests = cargo("test", "-p", "harmonia-array", "--lib", "--test", "registry", "--", "--nocapture")
    check("coordination::example_policy::tests" in tests, "its own tests did not run")
    check(f"policy {POLICY}\n" in tests, "the invariant suite did not run it")
    listed = json.loads(cargo("run", "--quiet", "-p", "harmonia-cli", "--", "policies", "--json"))
    check(POLICY in [entry["name"] for entry in listed["coordination"]], "`harmonia policies` does not list it")
    cargo("run", "--quiet", "-p", "harmonia-cli", "--", "compare", "tiny", "--policies", f"local,{POLICY}", "--json")
    cargo("run", "--quiet", "-p", "harmonia-scenario", "--example", "pages")
    page = f"policies/coordination-{POLICY}.md"
    check(f"({page})" in (COPY / "docs/policies.md").read_text(), "docs/policies.md does not list it")
    check("| `array.coordination.neighbours` | a whole number | 1 |" in (COPY / "docs" / page).read_text(),
          "its page does not say what its key is")
    shutil.rmtree(COPY)
    print(f"newcomer: {POLICY} builds, is tested, listed and documented with one file and one line")


def copy_tree() -> None:
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT, COPY, ignore=lambda _, names: [name for name in names if name in KEPT_OUT], symlinks=True)


def printed_policy() -> tuple[str, str]:
    """The file and the registry's new entry, as CONTRIBUTING.md prints them."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    block = re.search(r"```rust\n(.*?)```", page, re.DOTALL)
    entry = re.search(r"^\+pub const REGISTRY.* (\w+)::ENTRY\]", page, re.MULTILINE)
    if block is None or entry is None:
        sys.exit("newcomer: CONTRIBUTING.md no longer prints the policy and its line")
    return block[1], entry[1]


def add(file: str, module: str) -> None:
    path = COPY / FOLDER / f"{module}.rs"
    check(not path.exists(), f"{path.name} is in the tree already")
    path.write_text(file)
    registry = COPY / FOLDER / "mod.rs"
    text = registry.read_text()
    text, modules = re.subn(r"^mod local;$", f"mod {module};\nmod local;", text, count=1, flags=re.MULTILINE)
    text, entries = re.subn(
        r"(pub const REGISTRY: &\[Entry<Build>\] = &\[[^\]]*)\]", rf"\g<1>    {module}::ENTRY,\n]", text, count=1
    )
    check(modules == 1 and entries == 1, "coordination/mod.rs has no place for the line")
    registry.write_text(text)


def cargo(*arguments: str) -> str:
    environment = os.environ | {"CARGO_TARGET_DIR": str(TARGET), "XDG_CACHE_HOME": str(TARGET / "cache")}
    result = subprocess.run(
        ["cargo", *arguments], cwd=COPY, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if result.returncode != 0:
        sys.exit(f"newcomer: cargo {' '.join(arguments)} failed\n{result.stdout}\n{result.stderr}")
    return result.stdout


def check(holds: bool, otherwise: str) -> None:
    if not holds:
        sys.exit(f"newcomer: {otherwise}")


if __name__ == "__main__":
    main()

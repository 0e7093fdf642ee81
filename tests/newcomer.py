#!/usr/bin/env python3
"""Does CONTRIBUTING.md still lead a newcomer to a working policy of every kind with one file and one line?

Copies the tree, adds the coordinator printed in CONTRIBUTING.md exactly as told and the small policies of tests/newcomer,
and asserts that they build, pass their own tests and the invariant suites, run with a key of their own, and that the
command, the schema for editors and the generated docs pages say what their keys are.

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
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
COPY = TARGET / "newcomer"
TEMPLATES = ROOT / "tests/newcomer"
FOLDER = Path("crates/array/src/coordination")
POLICY = "example-policy"
#: Of each other kind: its folder, the table that names it, its key, and what the docs say of that.
OTHERS = {
    "victim": ("crates/ssd/src/gc/victim", "ssd.gc.victim", "looks=9", "| a whole number, 1 to 100 | 4 |"),
    "schedule": ("crates/ssd/src/gc/schedule", "ssd.gc.schedule", "polite=true", "| true or false | false |"),
    "concurrency": ("crates/ssd/src/gc/concurrency", "ssd.gc.concurrency", "from=0.3", "| a number, 0 to 1 | 0.5 |"),
}
KEPT_OUT = {"target", ".git", ".venv", "demo", "__pycache__", "corpus", "artifacts"}


def main() -> None:
    copy_tree()
    without_other_tests()
    file, line = printed_policy()
    add(FOLDER, file, line)
    for kind, (folder, *_) in OTHERS.items():
        add(Path(folder), (TEMPLATES / f"example_{kind}.rs").read_text(), f"example_{kind}")
    # Dependencies come from the target folder of the project itself, so little is built anew. What a crate is built with
    # depends on all that is built along with it: these programs share everything below them.
    own = cargo("test", "-p", "harmonia-array", "--lib", "example_")
    check("coordination::example_policy::tests" in own, "its own tests did not run")
    cargo("test", "--quiet", "--no-run", "--test", "registry", "--test", "command")
    # Of the others, this suite is run elsewhere.
    tests = cargo("test", "--test", "registry", "--", "--nocapture", HARMONIA_POLICY="example-")
    check(f"policy {POLICY}\n" in tests, "the invariant suite did not run it")
    listed = json.loads(built("harmonia", "policies", "--json"))
    schema = json.loads(built("harmonia", "schema"))
    cargo("run", "--quiet", "--example", "pages")
    built("harmonia", "compare", "tiny", "--policies", f"local,{POLICY}", "--json")
    told(listed, schema, "coordination", POLICY, "array.coordination", "neighbours", "| a whole number, 0 to 65535 | 1 |")
    for kind, (_, table, pair, said) in OTHERS.items():
        key, value = pair.split("=")
        name = f"example-{kind}"
        check(f"{kind} {name}" in tests, f"the invariant suite did not run {name}")
        told(listed, schema, kind, name, table, key, said)
        sets = ["--set", f"{table}.policy={name}", "--set", f"{table}.{pair}"]
        report = json.loads(built("harmonia", "run", "tiny", "--checked", "--json", *sets))
        held = report["scenario"]["ssd"]["gc"][kind]
        check(held == {"policy": name, key: json.loads(value)}, f"{name} ran as {held}")
    shutil.rmtree(COPY)
    print("newcomer: a policy of every kind builds, is tested, runs and is documented with one file and one line")


def told(
    listed: dict[str, Any], schema: dict[str, Any], kind: str, policy: str, table: str, key: str, said: str
) -> None:
    """A policy's key is in the lists, the schema and the docs."""
    keys = [known["name"] for entry in listed[kind] if entry["name"] == policy for known in entry["keys"]]
    check(keys == [key], f"`harmonia policies` says of {policy}: {keys}")
    text = json.dumps(schema)
    check(f"{policy}: " in text and f'"{key}"' in text, f"`harmonia schema` does not know {key} of {policy}")
    page = f"policies/{kind}-{policy}.md"
    check(f"({page})" in (COPY / "docs/policies.md").read_text(), f"docs/policies.md does not list {policy}")
    row = f"| `{table}.{key}` {said}"
    check(row in (COPY / "docs" / page).read_text(), f"{page} does not say what its key is: {row}")


def copy_tree() -> None:
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT, COPY, ignore=lambda _, names: [name for name in names if name in KEPT_OUT], symlinks=True)


def without_other_tests() -> None:
    """`make test` runs the unit tests of the tree. Compiling them here, too, would take as long as all else together.

    Those of other policies stay: the new one's have helpers in common with them.
    """
    for file in (COPY / "crates/array/src").rglob("*.rs"):
        if file.parent != COPY / FOLDER:
            file.write_text(file.read_text().replace("#[cfg(test)]", "#[cfg(any())]"))


def printed_policy() -> tuple[str, str]:
    """The file and the registry's new entry, as CONTRIBUTING.md prints them."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    block = re.search(r"```rust\n(.*?)```", page, re.DOTALL)
    entry = re.search(r"^\+pub const REGISTRY.* (\w+)::ENTRY\]", page, re.MULTILINE)
    if block is None or entry is None:
        sys.exit("newcomer: CONTRIBUTING.md no longer prints the policy and its line")
    return block[1], entry[1]


def add(folder: Path, file: str, module: str) -> None:
    path = COPY / folder / f"{module}.rs"
    check(not path.exists(), f"{path.name} is in the tree already")
    path.write_text(file)
    registry = COPY / folder / "mod.rs"
    text = registry.read_text()
    text, modules = re.subn(r"^mod ", f"mod {module};\nmod ", text, count=1, flags=re.MULTILINE)
    text, entries = re.subn(
        r"(pub const REGISTRY: &\[Entry<Build>\] =\s*&\[[^\]]*?),?\s*\]", rf"\g<1>, {module}::ENTRY]", text, count=1
    )
    check(modules == 1 and entries == 1, f"{folder}/mod.rs has no place for the line")
    registry.write_text(text)


def cargo(*arguments: str, **variables: str) -> str:
    return output("cargo", *arguments, **variables)


def built(program: str, *arguments: str) -> str:
    return output(str(TARGET / "debug" / program), *arguments)


def output(*command: str, **variables: str) -> str:
    environment = os.environ | {"CARGO_TARGET_DIR": str(TARGET), "XDG_CACHE_HOME": str(TARGET / "cache")} | variables
    result = subprocess.run(
        command, cwd=COPY, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if result.returncode != 0:
        sys.exit(f"newcomer: {' '.join(command)} failed\n{result.stdout}\n{result.stderr}")
    return result.stdout


def check(holds: bool, otherwise: str) -> None:
    if not holds:
        sys.exit(f"newcomer: {otherwise}")


if __name__ == "__main__":
    main()

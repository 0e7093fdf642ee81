#!/usr/bin/env python3
"""Does a wheel run where there is no Rust? Installs this machine's in a fresh environment, without a registry.

    python3 tests/wheel.py FOLDER_OF_WHEELS

Asserts the tag in its name, that nothing else has to be installed, and that package and command give the same report.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

#: What wheels promise: CPython 3.10 or later, and glibc 2.17 or later.
TAGS = ["cp310-abi3", "manylinux_2_17_{machine}"]


def main() -> None:
    folder = Path(sys.argv[1])
    wheels = sorted(folder.glob("*.whl"))
    tags = [tag.format(machine=platform.machine()) for tag in TAGS]
    ours = [wheel for wheel in wheels if all(tag in wheel.name for tag in tags)]
    if len(ours) != 1:
        sys.exit(f"wheels: one for this machine was expected in {folder}, there are {[wheel.name for wheel in wheels]}")
    with tempfile.TemporaryDirectory() as scratch:
        environment = {
            "PATH": f"{scratch}/venv/bin:/usr/bin:/bin",
            "HOME": scratch,
            "PYTHONWARNINGS": "ignore",
        }
        if shutil.which("cargo", path=environment["PATH"]) or shutil.which("rustc", path=environment["PATH"]):
            sys.exit("wheels: Rust is in /usr/bin, so this cannot be tested here")

        def out(*command: str) -> str:
            run = subprocess.run(command, env=environment, cwd=scratch, check=True, stdout=subprocess.PIPE, text=True)
            return run.stdout

        subprocess.run([sys.executable, "-m", "venv", f"{scratch}/venv"], check=True)
        out("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", os.fspath(ours[0].resolve()))
        package = (
            "import harmonia, json; report = harmonia.run('tiny', requests=False); "
            "print(json.dumps([report, len(harmonia.run('tiny').requests)]))"
        )
        report, requests = json.loads(out("python", "-c", package))
        printed = json.loads(out("harmonia", "run", "tiny", "--json", "--quiet"))
        if {**report, "engine": None} != {**printed, "engine": None} or requests != report["host"]["requests"]:
            sys.exit("wheels: package and command differ")
        version = out("harmonia", "--version").strip()
    size = ours[0].stat().st_size / 2**20
    others = [wheel.name for wheel in wheels if wheel not in ours]
    print(f"wheels: {ours[0].name} ({size:.1f} MiB) installs and runs without Rust: {version}")
    for name in others:
        print(f"wheels: {name} was built and not run: it is for another machine")


if __name__ == "__main__":
    main()

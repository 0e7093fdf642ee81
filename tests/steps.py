#!/usr/bin/env python3
"""Runs the steps of `make check`.

    python3 tests/steps.py fmt clippy test -- fuzz,python browser,site-test

Steps before `--` run one after the other, and show what they print. Behind it stand rows of steps, joined by commas. Two rows run
at once, each one step after the other, because most of these steps keep about one core busy. What a step of a row prints is shown when the
step has ended. A step that fails ends everything, and what it printed comes last. tests/changed.py says which steps may be left out.
"""

from __future__ import annotations

import io
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import changed  # noqa: E402

#: Rows that run at once.
LANES = 2
#: What the steps of rows share is built before: a row must not replace it while another uses it.
MAKE = ["make", "--no-print-directory", "--old-file=command"]


def is_left_out(step: str) -> bool:
    """Whether nothing that the step depends on has changed; says so."""
    if step not in changed.STEPS:
        return False
    why = changed.reason(step)
    print(f"{step}: runs, {why}" if why else changed.left_out(step), flush=True)
    return why is None


class Rows:
    """Rows of steps that wait, and the processes that run."""

    def __init__(self, rows: list[list[str]], began: float) -> None:
        self.waiting: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
        for row in rows:
            self.waiting.put(row)
        self.began = began
        self.lock = threading.Lock()
        self.running: set[subprocess.Popen[str]] = set()
        self.failed: tuple[str, str] | None = None

    def lane(self) -> None:
        """Runs one row after another until none is left or a step has failed. What goes wrong here is a failure as well."""
        try:
            while self.failed is None:
                for step in self.waiting.get_nowait():
                    if not self.step(step):
                        return
        except queue.Empty:
            return
        except BaseException:
            with self.lock:
                self.failed = self.failed or ("tests/steps.py", traceback.format_exc())
                self.stop()

    def step(self, step: str) -> bool:
        """Runs a step; whether the next one may follow."""
        with self.lock:
            if self.failed is not None:
                return False
            print(f"== {step} begins ({time.monotonic() - self.began:.0f} s)", flush=True)
            process = subprocess.Popen(
                [*MAKE, step],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self.running.add(process)
        printed = process.communicate()[0]
        with self.lock:
            self.running.discard(process)
            if self.failed is not None:
                return False
            if process.returncode != 0:
                self.failed = (step, printed)
                self.stop()
                return False
            print(f"== {step} ({time.monotonic() - self.began:.0f} s)\n{printed}", end="", flush=True)
        return True

    def stop(self) -> None:
        """Ends what runs, with all that it has started."""
        for process in self.running:
            try:
                os.killpg(process.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass


def main(arguments: list[str]) -> int:
    """Runs all steps; 0 if each has passed."""
    if "--" not in arguments:
        print(__doc__, file=sys.stderr)
        return 2
    middle = arguments.index("--")
    began = time.monotonic()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for step in arguments[:middle]:
        print(f"== {step} ({time.monotonic() - began:.0f} s)", flush=True)
        if not is_left_out(step) and subprocess.call(["make", "--no-print-directory", step], cwd=ROOT) != 0:
            return 1
    rows = [[step for step in row.split(",") if not is_left_out(step)] for row in arguments[middle + 1 :]]
    rest = Rows(rows, began)
    lanes = [threading.Thread(target=rest.lane, daemon=True) for _ in range(LANES)]
    try:
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
    except KeyboardInterrupt:
        with rest.lock:
            rest.failed = ("", "")
            rest.stop()
        return 130
    if rest.failed is not None:
        step, printed = rest.failed
        print(f"== {step} has failed\n{printed}", end="", flush=True)
        return 1
    print("check: all passed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Is the command that a wheel installs the `harmonia` command?"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import harmonia
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::harmonia.HarmoniaWarning")

COMMAND = str(Path(sysconfig.get_path("scripts")) / "harmonia")


def harmonia_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=120)


def test_it_is_installed_and_says_what_it_is() -> None:
    assert harmonia_command("--version").stdout == f"harmonia {harmonia.version}\n"
    module = subprocess.run([sys.executable, "-m", "harmonia._command", "--version"], capture_output=True, text=True)
    assert module.stdout == f"harmonia {harmonia.version}\n"


def test_it_prints_the_report_that_python_has() -> None:
    ran = harmonia_command("run", "tiny", "--json", "--set", "workload.requests=800", "--quiet")
    assert (ran.returncode, ran.stderr) == (0, "")
    printed, report = json.loads(ran.stdout), harmonia.run("tiny", sets={"workload.requests": 800}, requests=False)
    assert {**printed, "engine": None} == {**report, "engine": None}


def test_bad_input_exits_with_2_and_one_message() -> None:
    refused = harmonia_command("run", "tiny", "--set", "array.devices=0")
    assert refused.returncode == 2 and refused.stdout == ""
    assert refused.stderr.startswith("error: --set array.devices=0: ") and "Traceback" not in refused.stderr
    assert harmonia_command("nonsense").returncode == 2


def test_ctrl_c_stops_it_in_order(tmp_path: Path) -> None:
    out_folder = tmp_path / "out"
    arguments = [COMMAND, "run", "hpc-w", "--set", "workload.requests=100000000", "--out", str(out_folder), "--no-cache"]
    running = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # It listens for Ctrl-C before it makes the folder.
    while running.poll() is None and not out_folder.exists():
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, "", "interrupted\n")
    assert list(out_folder.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_ctrl_c_ends_what_does_not_listen_for_it() -> None:
    with subprocess.Popen([COMMAND, "check", "/dev/stdin"], stdin=subprocess.PIPE) as waiting:
        while waiting.poll() is None and not reads_its_input(waiting.pid):
            time.sleep(0.05)
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(timeout=60) == -signal.SIGINT


def reads_its_input(process: int) -> bool:
    """Whether the pipe of its standard input is open a second time, under the name that it was given."""
    folder = Path(f"/proc/{process}/fd")
    links = []
    for file in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # Closed meanwhile.
            links.append(os.readlink(file))
    return links.count(os.readlink(folder / "0")) > 1


LAZY = """\
import harmonia


class Lazy(harmonia.Coordinator):
    def interests(self):
        return {"devices": True}

    def on(self, now, event, view, actions):
        %s
"""


def test_a_file_of_policies_is_known_to_the_command(tmp_path: Path) -> None:
    file = tmp_path / "lazy.py"
    file.write_text(LAZY % "pass")
    compared = harmonia_command("compare", "tiny", "--policies", "local,lazy", "--seeds", "1", "--json", "--policy-file", str(file))
    assert compared.returncode == 0, compared.stderr
    local, lazy = json.loads(compared.stdout)["runs"]
    assert lazy["array"]["coordination"]["policy"] == "lazy" and lazy["host"] == local["host"]


def test_an_exception_of_a_policy_ends_the_command_with_its_traceback(tmp_path: Path) -> None:
    file = tmp_path / "lazy.py"
    file.write_text(LAZY % "raise LookupError(\"too lazy\")")
    ran = harmonia_command("run", "tiny", "--set", "array.coordination.policy=lazy", f"--policy-file={file}")
    assert (ran.returncode, ran.stdout) == (1, "") and "LookupError: too lazy" in ran.stderr
    assert "lazy.py" in ran.stderr and "of simulated time" in ran.stderr
    missing = harmonia_command("policies", "--policy-file", str(tmp_path / "none.py"))
    assert missing.returncode == 2 and missing.stderr.startswith("error: ") and "none.py" in missing.stderr

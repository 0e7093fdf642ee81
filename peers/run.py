"""Runs both sides of a pair in a folder of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import disksim, load, mqsim, ours
from .results import Results
from .scenario import Scenario, parse

SCENARIOS = Path(__file__).parent / "scenarios"
# A peer that takes longer has stopped making progress.
TIME_LIMIT_S = 3600


class Failed(Exception):
    """A simulator ended with an error."""


@dataclass(frozen=True)
class Programs:
    """Where the simulators are; a peer that is not given is left out."""

    harmonia: Path
    peers: Mapping[str, Path]


@dataclass(frozen=True)
class Timed:
    output: str
    user_s: float


def execute(command: list[str], folder: Path) -> Timed:
    """Runs a command to its end; its user time is its own, read when it is reaped."""
    out, err = folder / "stdout", folder / "stderr"
    with out.open("w") as stdout, err.open("w") as stderr:
        process = subprocess.Popen(command, cwd=folder, stdout=stdout, stderr=stderr)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        told = (err.read_text(errors="replace") + out.read_text(errors="replace")).strip()[-1000:]
        raise Failed(f"{' '.join(command)}\nended with {process.returncode}: {told}")
    return Timed(out.read_text(errors="replace"), usage.ru_utime)


def without_load(keys: Mapping[str, str]) -> dict[str, str]:
    """Keys of a scenario whose load a trace has replaced."""
    return {key: value for key, value in keys.items() if not key.startswith("workload.")}


@dataclass
class Work:
    """One scenario with keys: its resolved form, its trace, and a command for either side."""

    programs: Programs
    peer: str
    file: Path
    keys: Mapping[str, str]
    folder: Path
    # Both replay a trace; if not, each draws a load of the same law.
    is_replayed: bool = True
    scenario: Scenario = field(init=False)
    trace: Path | None = field(init=False, default=None)
    host_pages: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        told = execute(ours.check_command(self.programs.harmonia, self.file, self.keys), self.folder)
        self.scenario = parse(told.output)
        if not self.is_replayed:
            pages = self.scenario.load.request_bytes // self.scenario.page_size
            writes = self.scenario.load.requests * (1 - self.scenario.load.read_fraction)
            self.host_pages = round(writes * pages)
        elif self.scenario.load.rate is not None:
            self.trace = self.folder / "requests.trace"
            (load.write_disksim if self.peer == "disksim" else load.write_mqsim)(self.trace, self.scenario)
            pages = self.scenario.load.request_bytes // self.scenario.page_size
            self.host_pages = pages * sum(not request.is_read for request in load.requests(self.scenario))

    def our_command(self, more: Mapping[str, str] | None = None) -> list[str]:
        keys = {**self.keys, **(more or {})}
        if self.trace is not None:
            keys = without_load(keys)
        return ours.run_command(self.programs.harmonia, self.file, keys, self.trace, self.peer)

    def peer_command(self) -> list[str]:
        """Writes the files of parameters, too."""
        program = self.programs.peers[self.peer]
        if self.peer == "disksim":
            drawn = "" if self.trace is not None else disksim.synthetic(self.scenario)
            (self.folder / disksim.STATISTICS_FILE).write_text(disksim.histograms())
            (self.folder / "parameters").write_text(disksim.parameters(self.scenario) + drawn)
            return disksim.command(program, self.folder / "parameters", self.folder / "output", self.trace)
        for name, text in (
            ("ssd.xml", mqsim.device(self.scenario)),
            ("load.xml", mqsim.workload(self.scenario, self.trace)),
        ):
            (self.folder / name).write_text(mqsim.in_names_of(program, text))
        return mqsim.command(program, self.folder / "ssd.xml", self.folder / "load.xml")

    def peer_results(self) -> Results:
        """Of the command that ran last."""
        if self.peer == "disksim":
            return disksim.parse((self.folder / "output").read_text(errors="replace"), self.host_pages)
        return mqsim.parse((self.folder / "load_scenario_1.xml").read_text(errors="replace"), self.scenario)

    def clean(self) -> None:
        """Traces are large."""
        if self.trace is not None:
            self.trace.unlink(missing_ok=True)

# What crates/py exports; `python -m mypy.stubtest harmonia._native` compares it with the built module.

__all__ = [
    "BadInput",
    "Table",
    "check",
    "command",
    "compare",
    "formats_json",
    "policies_json",
    "presets_json",
    "reproduce",
    "run",
    "schema_json",
    "trace_convert",
    "trace_fit",
    "trace_info",
    "trace_read",
    "tune",
    "version",
]

from typing import Any, final

version: str

class BadInput(ValueError):
    key: str | None
    line: int | None
    column: int | None

@final
class Table:
    # (name, kind, values): the kinds are integer, float and text.
    def __new__(cls, columns: list[tuple[str, str, list[Any]]]) -> Table: ...
    # (label, seed, table) of each run.
    @staticmethod
    def joined(runs: list[tuple[str, int, Table]]) -> Table: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def total(self) -> int: ...
    # Where the values of a column lie, batch by batch.
    def addresses(self, column: str) -> list[int]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

# Requests and intervals of each run.
_Tables = list[tuple[Table, Table]]

# A scenario is (what was written, whether that is text); a trace is (files, format); runs are (policies,
# seeds of each, whether the scenario's own policy alone is meant); None is the default of either.

def run(
    scenario: tuple[str, bool],
    sets: list[str],
    trace: tuple[list[str], str | None] | None,
    keep: int | None,
    threads: int,
    checked: bool,
    cache: str | None,
) -> tuple[str, _Tables]: ...
def compare(
    scenario: tuple[str, bool],
    runs: tuple[list[str] | None, int | None, bool],
    sets: list[str],
    trace: tuple[list[str], str | None] | None,
    keep: int | None,
    threads: int,
    checked: bool,
    cache: str | None,
) -> tuple[str, _Tables]: ...
def check(
    scenario: tuple[str, bool], sets: list[str], trace: tuple[list[str], str | None] | None
) -> str: ...
def tune(
    scenario: tuple[str, bool],
    search: tuple[str, list[str], int, int],
    sets: list[str],
    trace: tuple[list[str], str | None] | None,
    folder: str | None,
    threads: int,
    checked: bool,
    cache: str | None,
) -> tuple[str, str]: ...
def reproduce(
    ids: list[str], folder: str | None, seeds: int | None, threads: int, cache: str | None
) -> str: ...

# How a trace is read: (files, format, keys of [workload] as key=value).
_Reading = tuple[list[str], str | None, list[str]]

def trace_info(reading: _Reading) -> str: ...
def trace_read(reading: _Reading, most: int) -> Table: ...
def trace_convert(reading: _Reading, names: tuple[str, str], to: str | None, exact: bool) -> str: ...
def trace_fit(reading: _Reading, room: int | None) -> tuple[str, list[str]]: ...
def formats_json() -> str: ...
def presets_json() -> str: ...
def command(arguments: list[str]) -> int: ...
def policies_json() -> str: ...
def schema_json() -> str: ...

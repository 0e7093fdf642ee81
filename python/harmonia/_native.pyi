# What crates/py exports; `python -m mypy.stubtest harmonia` compares it with the built module.

__all__ = [
    "BadInput",
    "check",
    "compare",
    "policies_json",
    "run",
    "schema_json",
    "sweep_export",
    "sweep_points",
    "sweep_rows",
    "sweep_run",
    "version",
]

version: str

class BadInput(ValueError):
    key: str | None
    line: int | None
    column: int | None

# A scenario is (what was written, whether that is text); a trace is (files, format); runs are (policies,
# seeds of each, whether the scenario's own policy alone is meant); None is the default of either.

def run(
    scenario: tuple[str, bool],
    sets: list[str],
    trace: tuple[list[str], str | None] | None,
    threads: int,
    checked: bool,
    cache: str | None,
) -> str: ...
def compare(
    scenario: tuple[str, bool],
    runs: tuple[list[str] | None, int | None, bool],
    sets: list[str],
    trace: tuple[list[str], str | None] | None,
    threads: int,
    checked: bool,
    cache: str | None,
) -> str: ...
def check(
    scenario: tuple[str, bool], sets: list[str], trace: tuple[list[str], str | None] | None
) -> str: ...
def policies_json() -> str: ...
def schema_json() -> str: ...

# A sweep is (what a sweep file says, scenario, sets).

def sweep_points(spec: tuple[str, tuple[str, bool], list[str]]) -> str: ...
def sweep_run(
    spec: tuple[str, tuple[str, bool], list[str]],
    points: list[int] | None,
    out: str,
    threads: int,
    checked: bool,
    cache: str | None,
) -> str: ...
def sweep_rows(out: str, addresses: list[str]) -> str: ...
def sweep_export(out: str) -> str: ...
